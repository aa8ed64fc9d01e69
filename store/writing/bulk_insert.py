"""Many rows into a table at once: one statement for up to 256 of them.

The driver lets go of the interpreter lock for every statement and may wait for it for
milliseconds afterwards while a busy event loop has it: few long statements keep the writer fast
where many short ones would starve.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain

import apsw

from benchconsole.store.sqlite import Connection

_AT_ONCE = (256, 32, 4, 1)


@lru_cache(maxsize=256)
def _make_statement(table: str, columns: tuple[str, ...], count: int) -> str:
    row = f"({', '.join('?' * len(columns))})"
    names = ", ".join(columns)
    return f"INSERT INTO {table} ({names}) VALUES {', '.join([row] * count)}"  # noqa: S608 - names of ours


def insert_rows(connection: Connection, table: str, columns: tuple[str, ...], rows: Iterable[Iterable[object]]) -> None:
    """``insert_values`` for rows that are not many."""
    insert_values(connection, table, columns, list(chain.from_iterable(rows)))


def insert_values(connection: Connection, table: str, columns: tuple[str, ...], values: Sequence[object]) -> None:
    """Insert rows whose values are listed one row after the other in ``values``.

    ``table`` and ``columns`` are names of ours, never text from elsewhere. Raises SqliteError; rows
    before the one at fault may be in, so call it inside a savepoint.
    """
    width = len(columns)
    limit = connection.limit(apsw.SQLITE_LIMIT_VARIABLE_NUMBER) // width
    start, count = 0, len(values) // width
    while count:
        size = next(each for each in _AT_ONCE if each <= count and (each <= limit or each == 1))
        connection.execute(_make_statement(table, columns, size), values[start : start + size * width])
        start += size * width
        count -= size
