"""Owns outputs that were left in the file: what commands said is most of the bytes, and is read when looked at.

What was committed never changes, so that the last few that were looked at are kept. Refuses to write.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import overload

from probes.model import KeptOutputs, Output
from store import results
from store.database import Database
from store.listing import session_number

LOOKED_AT = 8
"""Tests whose outputs are kept: a screen draws the same ones many times."""


class LeftOutputs(KeptOutputs):
    """The outputs of one stored result. How many there are and what took longest is known, all else is in the file.

    Reading raises StoreError. Equal to any sequence of the same outputs. May be read in any thread.
    """

    __slots__ = ("_attempt", "_count", "_database", "_ran", "_session", "_test")

    def __init__(self, database: Database, session: str, attempt: int, test: str, count: int, ran: float) -> None:
        self._database = database
        self._session = session
        self._test = test
        self._attempt = attempt
        self._count = count
        self._ran = ran

    @property
    def ran(self) -> float:
        """Seconds that the longest of the commands took."""
        return self._ran

    def _read(self) -> tuple[Output, ...]:
        return _fetched(self._database, self._session, self._test, self._attempt) if self._count else ()

    @overload
    def __getitem__(self, index: int) -> Output: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Output]: ...

    def __getitem__(self, index: int | slice) -> Output | Sequence[Output]:
        return self._read()[index]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Output]:
        return iter(self._read())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and self._read() == tuple(other)

    def __hash__(self) -> int:
        return hash((self._session, self._test, self._attempt))

    def __repr__(self) -> str:
        return f"LeftOutputs({self._test!r}, attempt {self._attempt}, {self._count} outputs)"


@lru_cache(maxsize=LOOKED_AT)
def _fetched(database: Database, session: str, test: str, attempt: int) -> tuple[Output, ...]:
    return outputs(database, session, test, attempt=attempt)


def outputs(database: Database, key: str, test: str, *, attempt: int | None = None) -> tuple[Output, ...]:
    """What the commands of one test said, in ``attempt`` or else in the last one; empty when it did not run."""
    with database.reading() as connection:
        found = connection.execute(
            """SELECT result.id FROM test JOIN attempt ON attempt.round_id = test.round_id
            JOIN result ON result.attempt_id = attempt.id AND result.test_id = test.id
            WHERE session_id = ? AND test.key = ? AND (attempt.number = ? OR ? IS NULL)
            ORDER BY result.id DESC LIMIT 1""",
            (session_number(connection, key, database.path), test, attempt, attempt),
        ).fetchone()
        if found is None:
            return ()
        said = connection.execute(
            """SELECT node, argv, stdout, stderr, exit_status, signal, seconds, truncated
            FROM output WHERE result_id = ? ORDER BY id""",
            found,
        )
        return tuple(results.output_of(row) for row in said)
