"""SQLite without our settings and errors, for tests that look into a database or spoil it.

It is the library that the store uses: a second one in the same process would drop the locks of the first.
"""

from pathlib import Path
from typing import cast

import apsw

from benchconsole.store.sqlite import Connection


def connect(path: Path | str, *, named: bool = False) -> Connection:
    """A connection in autocommit to a file, made where it is missing; ``named``: rows are dicts by column."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(5_000)
    if named:
        connection.row_trace = _name_columns
    return cast(Connection, connection)


def _name_columns(cursor: apsw.Cursor, row: tuple[object, ...]) -> dict[str, object]:
    return {column[0]: value for column, value in zip(cursor.get_description(), row, strict=True)}
