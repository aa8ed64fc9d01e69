"""SQLite as this package uses it: connections and rows of the ``apsw`` library, which brings its own modern SQLite.

The SQLite of a Python or a distribution may be years old. Two libraries of SQLite in one process drop each other's
locks (https://www.sqlite.org/howtocorrupt.html, 2.2.1), so nothing here or beside it opens a database with another.
For the same reason nothing opens its file but SQLite: the start of one is read with ``read_start``.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, cast

import apsw

SqliteError = apsw.Error
ConstraintError = apsw.ConstraintError

REFUSALS = (
    *(apsw.SQLError, apsw.PermissionsError, apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError),
    *(apsw.InterruptError, apsw.IOError, apsw.FullError, apsw.CantOpenError, apsw.ProtocolError),
)
"""The file or its place refuses now, and may not later. Damage is not among them."""

_STATEMENTS = 256
"""Statements that a connection keeps ready."""

NO_CODE = -1
"""The code of an error that the library itself found, for instance a wrong number of values."""


class Rows(Protocol):
    """The answer to a statement; each row is a tuple of int, float, str, bytes and None."""

    def fetchone(self) -> Any:  # noqa: ANN401 - a row, or None where there is none left
        ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Connection(Protocol):
    """One connection in autocommit. May be used in any thread, by one at a time."""

    @property
    def in_transaction(self) -> bool: ...

    def execute(self, statement: str, values: Sequence[object] = (), /) -> Rows:
        """Run a statement up to its first row, or to its end where it has none."""

    def last_insert_rowid(self) -> int: ...

    def changes(self) -> int:
        """Rows that the last statement inserted, changed or deleted."""

    def limit(self, kind: int, value: int = -1, /) -> int:
        """The limit of this kind (``apsw.SQLITE_LIMIT_...``), set to ``value`` unless that is -1."""

    def close(self) -> None: ...


def open_connection(uri: str, *, busy: float) -> Connection:
    """A connection to ``uri``, which waits ``busy`` seconds for a lock; SqliteError."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(uri, flags=flags, statementcachesize=_STATEMENTS)
    connection.set_busy_timeout(round(busy * 1000))
    return cast(Connection, connection)


def read_start(path: Path, length: int) -> bytes:
    """The first bytes of a file, read through SQLite; SqliteError.

    Whoever opens the file of a database beside SQLite, and closes it, drops every lock that this process has on it
    (https://www.sqlite.org/howtocorrupt.html, 2.2). SQLite itself closes its descriptors once no lock is left.
    """
    flags = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READONLY
    file = apsw.VFSFile("", str(path.resolve()), [flags, 0])  # it follows no symlink
    try:
        return file.xRead(min(length, file.xFileSize()), 0)
    finally:
        file.xClose()


def open_memory() -> Connection:
    """A connection to an empty database in memory."""
    return cast(Connection, apsw.Connection(":memory:"))


def library_version() -> tuple[int, ...]:
    """The version of the SQLite that runs, for instance (3, 51, 3)."""
    return tuple(int(part) for part in apsw.sqlite_lib_version().split("."))


def read_code(error: Exception) -> int:
    """The primary result code of an error (``apsw.SQLITE_FULL``); ``NO_CODE`` where SQLite gave none."""
    return int(getattr(error, "result", NO_CODE))
