"""Owns what was left in the file: what commands said and nodes told is most of a result, and is read when looked at.

What was committed never changes, so that the last few that were looked at are kept. Refuses to write.
"""

import sqlite3
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar, overload

from probes.model import Fact, KeptOutputs, Output
from store import results
from store.database import Database
from store.listing import session_number

LOOKED_AT = 8
"""Tests whose outputs, and whose facts, are kept: a screen draws the same ones many times."""

T = TypeVar("T")


class Place(NamedTuple):
    """Which stored result: of this attempt at the round of ``test``."""

    database: Database
    session: str
    attempt: int
    test: str


class Left(Sequence[T]):
    """Parts of one stored result. How many there are is known, all else is in the file.

    Reading raises StoreError. Equal to any sequence of the same parts. May be read in any thread.
    """

    __slots__ = ("_count", "_place")

    def __init__(self, place: Place, count: int) -> None:
        self._place = place
        self._count = count

    @abstractmethod
    def _fetched(self) -> tuple[T, ...]:
        """All of them, from the file."""

    def _read(self) -> tuple[T, ...]:
        return self._fetched() if self._count else ()

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._read()[index]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and self._read() == tuple(other)

    def __hash__(self) -> int:
        return hash((type(self), self._place))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._place.test!r}, attempt {self._place.attempt}, {self._count} in the file)"


class LeftOutputs(Left[Output], KeptOutputs):
    """What the commands of one stored test said; what the longest of them took is known too."""

    __slots__ = ("_ran",)

    def __init__(self, place: Place, count: int, ran: float) -> None:
        super().__init__(place, count)
        self._ran = ran

    @property
    def ran(self) -> float:
        """Seconds that the longest of the commands took."""
        return self._ran

    def _fetched(self) -> tuple[Output, ...]:
        return outputs_at(self._place)


class LeftFacts(Left[Fact]):
    """What a node told in one stored test. They stay ``at_hand`` until somebody lets go of them.

    So a round is judged by what its nodes told, also where the file has gone since.
    """

    __slots__ = ("_at_hand",)

    def __init__(self, place: Place, count: int, at_hand: Sequence[Fact] | None = None) -> None:
        super().__init__(place, count)
        self._at_hand = at_hand

    def let_go(self) -> None:
        """From here on they are in the file only."""
        self._at_hand = None

    def _fetched(self) -> tuple[Fact, ...]:
        at_hand = self._at_hand
        return facts_at(self._place) if at_hand is None else tuple(at_hand)


@lru_cache(maxsize=LOOKED_AT)
def outputs_at(place: Place) -> tuple[Output, ...]:
    """What the commands of this result said; empty when it did not run."""
    return outputs(place.database, place.session, place.test, attempt=place.attempt)


@lru_cache(maxsize=LOOKED_AT)
def facts_at(place: Place) -> tuple[Fact, ...]:
    """What the node told in this result."""
    with place.database.reading() as connection:
        told = connection.execute(
            """SELECT name, text, number, unit, pairs FROM fact JOIN labels ON labels.id = labels_id
            WHERE result_id = ? ORDER BY fact.id""",
            (_result(connection, place.database, place.session, place.test, attempt=place.attempt),),
        )
        return tuple(results.fact_of(row) for row in told)


def outputs(database: Database, key: str, test: str, *, attempt: int | None = None) -> tuple[Output, ...]:
    """What the commands of one test said, in ``attempt`` or else in the last one; empty when it did not run."""
    with database.reading() as connection:
        said = connection.execute(
            """SELECT node, argv, stdout, stderr, exit_status, signal, seconds, truncated
            FROM output WHERE result_id = ? ORDER BY id""",
            (_result(connection, database, key, test, attempt=attempt),),
        )
        return tuple(results.output_of(row) for row in said)


def _result(
    connection: sqlite3.Connection, database: Database, key: str, test: str, *, attempt: int | None
) -> int | None:
    """The number in the file of the newest result of a test, in ``attempt`` if given; None without one."""
    found = connection.execute(
        """SELECT result.id FROM test JOIN attempt ON attempt.round_id = test.round_id
        JOIN result ON result.attempt_id = attempt.id AND result.test_id = test.id
        WHERE session_id = ? AND test.key = ? AND (attempt.number = ? OR ? IS NULL)
        ORDER BY result.id DESC LIMIT 1""",
        (session_number(connection, key, database.path), test, attempt, attempt),
    ).fetchone()
    return None if found is None else int(found[0])
