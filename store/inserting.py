"""Owns how many rows go into a table at once: one statement for up to 256 of them.

The driver lets go of the interpreter lock for every statement and may wait for it for
milliseconds afterwards while a busy event loop has it: few long statements keep the writer fast
where many short ones would starve. Refuses to know what the rows mean.
"""

import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache

_AT_ONCE = (256, 32, 4, 1)


@lru_cache(maxsize=256)
def _statement(into: str, width: int, count: int, otherwise: str) -> str:
    row = f"({', '.join('?' * width)})"
    return f"INSERT INTO {into} VALUES {', '.join([row] * count)} {otherwise}"  # noqa: S608 - marks, and texts of ours


def insert(
    connection: sqlite3.Connection, into: str, width: int, values: Sequence[object], *, otherwise: str = ""
) -> None:
    """Insert rows that stand one after the other in ``values``, ``width`` values each.

    ``into`` is ``table (column, ...)`` and ``otherwise`` an ``ON CONFLICT`` clause, both written in
    this package. Raises sqlite3.Error; rows before the one at fault may be in, so call it inside a
    savepoint.
    """
    limit = connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER) // width
    start, count = 0, len(values) // width
    while count:
        size = next(each for each in _AT_ONCE if each <= count and (each <= limit or each == 1))
        connection.execute(_statement(into, width, size, otherwise), values[start : start + size * width])
        start += size * width
        count -= size


def flat(rows: Iterable[Iterable[object]]) -> list[object]:
    """Rows one after the other, as ``insert`` takes them."""
    return [value for row in rows for value in row]
