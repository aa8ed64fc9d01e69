"""Outputs and facts that stay in the file: they are most of a result, and are read when somebody looks at them.

Committed rows never change, so the last few that were read are cached.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from benchconsole.probes.model.fetched_sequence import FetchedSequence
from benchconsole.probes.model.kept_facts import KeptFacts
from benchconsole.probes.model.measuring import Fact, KeptOutputs, Output
from benchconsole.store.codec.long_words import restore_words
from benchconsole.store.codec.rows import FactRow, OutputRow, parse_fact, parse_labels, parse_output
from benchconsole.store.files.database import Database
from benchconsole.store.reading.session_list import find_number
from benchconsole.store.sqlite import Connection

CACHED_RESULTS = 8
"""Tests whose outputs, and whose facts, are kept: a screen draws the same ones many times."""

T = TypeVar("T")


class AttemptAddress(NamedTuple):
    """Which stored attempt at a round; its results have it as one object."""

    database: Database
    session: str
    number: int


@lru_cache(maxsize=CACHED_RESULTS)
def share_address(database: Database, session: str, number: int) -> AttemptAddress:
    """The address of an attempt, as one object for all of its results that are written one by one."""
    return AttemptAddress(database, session, number)


class LazyParts(FetchedSequence[T]):
    """Parts of the stored result of ``test``. How many there are is known, all else is in the file.

    Reading raises StoreError. May be read in any thread.
    """

    __slots__ = ("_attempt", "_count", "_test")

    def __init__(self, attempt: AttemptAddress, test: str, count: int) -> None:
        self._attempt = attempt
        self._test = test
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __hash__(self) -> int:
        return hash((type(self), self._attempt, self._test))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._test!r}, attempt {self._attempt.number}, {self._count} in the file)"


class StoredOutputs(LazyParts[Output], KeptOutputs):
    """The outputs of one stored test; the seconds of the longest command are known too."""

    __slots__ = ("_ran",)

    def __init__(self, attempt: AttemptAddress, test: str, count: int, ran: float) -> None:
        super().__init__(attempt, test, count)
        self._ran = ran

    @property
    def ran(self) -> float:
        return self._ran

    def _fetch(self) -> tuple[Output, ...]:
        return read_outputs(self._attempt, self._test) if len(self) else ()


class StoredFacts(LazyParts[Fact], KeptFacts):
    """The facts from one stored test, ``at_hand`` until released: a round is judged also where the file has gone."""

    __slots__ = ("_at_hand",)

    def __init__(self, attempt: AttemptAddress, test: str, count: int, at_hand: Sequence[Fact] | None = None) -> None:
        super().__init__(attempt, test, count)
        self._at_hand = at_hand

    @property
    def place(self) -> tuple[AttemptAddress, str] | None:
        """The attempt and the test whose facts must be read from the file; None where they are at hand."""
        return (self._attempt, self._test) if self._at_hand is None else None

    @classmethod
    def fetch_together(cls, told: Sequence[KeptFacts], name: str | None) -> list[tuple[Fact, ...]]:
        from benchconsole.store.reading.fact_reading import read_stored_facts  # here: it reads as sessions are read

        return read_stored_facts(told, name)

    def release(self) -> None:
        self._at_hand = None

    def _fetch(self) -> tuple[Fact, ...]:
        at_hand = self._at_hand
        if at_hand is not None or not len(self):
            return tuple(at_hand or ())
        return read_facts(self._attempt, self._test)


_OUTPUTS = f"SELECT {', '.join(OutputRow._fields)} FROM output WHERE result_id = ? ORDER BY id"  # noqa: S608
_FACTS = """SELECT pairs, name, text, number, unit FROM fact JOIN labels ON labels.id = labels_id
    WHERE result_id = ? ORDER BY fact.id"""


@lru_cache(maxsize=CACHED_RESULTS)
def read_outputs(attempt: AttemptAddress, test: str) -> tuple[Output, ...]:
    """The outputs of this result; empty when it did not run."""
    with attempt.database.reading() as connection:
        rows = connection.execute(_OUTPUTS, (_find_result(connection, attempt, test),)).fetchall()
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
def read_facts(attempt: AttemptAddress, test: str) -> tuple[Fact, ...]:
    """The facts of this result."""
    with attempt.database.reading() as connection:
        rows = connection.execute(_FACTS, (_find_result(connection, attempt, test),))
        return tuple(parse_fact(FactRow(parse_labels(pairs), *row)) for pairs, *row in rows)


def _find_result(connection: Connection, attempt: AttemptAddress, test: str) -> int | None:
    row = connection.execute(
        """SELECT result.id FROM test JOIN attempt ON attempt.round_id = test.round_id
        JOIN result ON result.attempt_id = attempt.id AND result.test_id = test.id
        WHERE session_id = ? AND test.key = ? AND attempt.number = ?""",
        (find_number(connection, attempt.session, attempt.database.path), test, attempt.number),
    ).fetchone()
    return None if row is None else int(row[0])
