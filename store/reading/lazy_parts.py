"""Outputs and facts that stay in the file: they are most of a result, and are read when somebody looks at them.

Committed rows never change, so the last few that were read are cached.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from benchconsole.probes.model.fetched_sequence import FetchedSequence
from benchconsole.probes.model.measuring import Fact, KeptOutputs, Output
from benchconsole.store.codec.long_words import restore_words
from benchconsole.store.codec.rows import FactRow, OutputRow, parse_fact, parse_labels, parse_output
from benchconsole.store.files.database import Database
from benchconsole.store.reading.session_list import find_number
from benchconsole.store.sqlite import Connection

CACHED_RESULTS = 8
"""Tests whose outputs, and whose facts, are kept: a screen draws the same ones many times."""

T = TypeVar("T")


class ResultAddress(NamedTuple):
    """Which stored result: of this attempt at the round of ``test``."""

    database: Database
    session: str
    attempt: int
    test: str


class LazyParts(FetchedSequence[T]):
    """Parts of one stored result. How many there are is known, all else is in the file.

    Reading raises StoreError. May be read in any thread.
    """

    __slots__ = ("_address", "_count")

    def __init__(self, address: ResultAddress, count: int) -> None:
        self._address = address
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __hash__(self) -> int:
        return hash((type(self), self._address))

    def __repr__(self) -> str:
        address = self._address
        return f"{type(self).__name__}({address.test!r}, attempt {address.attempt}, {self._count} in the file)"


class StoredOutputs(LazyParts[Output], KeptOutputs):
    """The outputs of one stored test; the seconds of the longest command are known too."""

    __slots__ = ("_ran",)

    def __init__(self, address: ResultAddress, count: int, ran: float) -> None:
        super().__init__(address, count)
        self._ran = ran

    @property
    def ran(self) -> float:
        return self._ran

    def _fetch(self) -> tuple[Output, ...]:
        return read_outputs(self._address) if len(self) else ()


class StoredFacts(LazyParts[Fact]):
    """The facts from one stored test, ``at_hand`` until released: a round is judged also where the file has gone."""

    __slots__ = ("_at_hand",)

    def __init__(self, address: ResultAddress, count: int, at_hand: Sequence[Fact] | None = None) -> None:
        super().__init__(address, count)
        self._at_hand = at_hand

    def release(self) -> None:
        self._at_hand = None

    def _fetch(self) -> tuple[Fact, ...]:
        at_hand = self._at_hand
        if at_hand is not None or not len(self):
            return tuple(at_hand or ())
        return read_facts(self._address)


_OUTPUTS = f"SELECT {', '.join(OutputRow._fields)} FROM output WHERE result_id = ? ORDER BY id"  # noqa: S608
_FACTS = """SELECT pairs, name, text, number, unit FROM fact JOIN labels ON labels.id = labels_id
    WHERE result_id = ? ORDER BY fact.id"""


@lru_cache(maxsize=CACHED_RESULTS)
def read_outputs(address: ResultAddress) -> tuple[Output, ...]:
    """The outputs of this result; empty when it did not run."""
    with address.database.reading() as connection:
        rows = connection.execute(_OUTPUTS, (_find_result(connection, address),)).fetchall()
        return tuple(read_output(connection, OutputRow._make(row)) for row in rows)


def read_output(connection: Connection, row: OutputRow) -> Output:
    """The output of a stored row; ValueError for one that is not what was stored."""

    def find_word(number: int) -> str:
        found = connection.execute("SELECT text FROM word WHERE id = ?", (number,)).fetchone()
        if found is None:
            raise ValueError(f"a command line with the word {number}, which is not there")
        return str(found[0])

    return parse_output(row._replace(argv=restore_words(row.argv, find_word)))


@lru_cache(maxsize=CACHED_RESULTS)
def read_facts(address: ResultAddress) -> tuple[Fact, ...]:
    """The facts of this result."""
    with address.database.reading() as connection:
        rows = connection.execute(_FACTS, (_find_result(connection, address),))
        return tuple(parse_fact(FactRow(parse_labels(pairs), *row)) for pairs, *row in rows)


def _find_result(connection: Connection, address: ResultAddress) -> int | None:
    row = connection.execute(
        """SELECT result.id FROM test JOIN attempt ON attempt.round_id = test.round_id
        JOIN result ON result.attempt_id = attempt.id AND result.test_id = test.id
        WHERE session_id = ? AND test.key = ? AND attempt.number = ?""",
        (find_number(connection, address.session, address.database.path), address.test, address.attempt),
    ).fetchone()
    return None if row is None else int(row[0])
