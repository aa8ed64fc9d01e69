"""One SQLite connection: opened and set up, its journal mode, its transactions, and the meaning of its errors.

The journal is WAL or a rollback journal, by the library that runs and by the file system.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path

import apsw

from benchconsole.store.errors import (
    ConflictError,
    DamagedError,
    ForeignError,
    FullError,
    LockedError,
    ReadOnlyError,
    RefusedError,
    StoreError,
)
from benchconsole.store.files.filesystem import MEMORY_MAPS_WORK
from benchconsole.store.sqlite import NO_CODE, Connection, SqliteError, open_connection, read_code

BUSY_SECONDS = 30.0
"""How long a write waits for another process before it counts as a forgotten lock."""

CACHE_KIBIBYTES = 16 * 1024
"""A whole group of results fits: pages that spill over would be written, and synced, before the commit."""

LONGEST = 256 * 2**20
"""Bytes of the largest value that is read or written; a larger one would fill the memory, not the store."""

LOOK_SECONDS = 5.0
"""How long a question waits at most: a person waits in front of a screen."""

NEWEST = (3, 51, 3)
_BACKPORTS = ((3, 50, 7), (3, 44, 6))

_RECOVER = (
    "nothing was changed; copy the file, then try: sqlite3 DAMAGED '.recover' | sqlite3 RESCUED, "
    "or go back to the newest .backup beside it"
)
_WAIT = "end that process, or try again later"
_CHECK = "check the mode, the directory and the mount, or use another file"
_REPORT = "report this as a fault of the program"
_FAULTS: dict[int, tuple[type[StoreError], str, str]] = {
    apsw.SQLITE_BUSY: (LockedError, "another process holds it", _WAIT),
    apsw.SQLITE_LOCKED: (LockedError, "another process holds it", _WAIT),
    apsw.SQLITE_READONLY: (ReadOnlyError, "it cannot be written", _CHECK),
    apsw.SQLITE_PERM: (ReadOnlyError, "it cannot be written", _CHECK),
    apsw.SQLITE_CANTOPEN: (ReadOnlyError, "it cannot be opened", _CHECK),
    apsw.SQLITE_FULL: (
        FullError,
        "no room left on the disk",
        "free some space and resume; what was acknowledged is kept",
    ),
    apsw.SQLITE_IOERR: (
        StoreError,
        "the disk gave an error",
        "look at the kernel log; what was acknowledged is kept",
    ),
    apsw.SQLITE_CORRUPT: (DamagedError, "the database is damaged", _RECOVER),
    apsw.SQLITE_NOTADB: (ForeignError, "this is not a database", "name another file; this one was left as it is"),
    apsw.SQLITE_CONSTRAINT: (ConflictError, "this is stored already or does not fit", _REPORT),
    apsw.SQLITE_TOOBIG: (
        RefusedError,
        "a value is larger than a database can hold",
        "limit the output of that probe",
    ),
}


class Mode(StrEnum):
    """How a file may be touched, as SQLite spells it in a URI."""

    WRITE = "mode=rw"
    READ = "mode=ro"
    FROZEN = "mode=ro&immutable=1"


def wal_is_safe(version: tuple[int, ...]) -> bool:
    """Whether this library has the repair of the WAL-reset fault (two writers could lose pages)."""
    return version >= NEWEST or any(version[:2] == repaired[:2] and version >= repaired for repaired in _BACKPORTS)


def journal_for(version: tuple[int, ...], file_system: str) -> tuple[str, str]:
    """The journal mode to use (``wal`` or ``truncate``) and the reason in words."""
    shown = ".".join(str(part) for part in version)
    if file_system not in MEMORY_MAPS_WORK:
        return "truncate", f"WAL needs shared memory, which file system {file_system} is not known to give"
    if not wal_is_safe(version):
        return "truncate", f"SQLite {shown} has the WAL-reset fault (repaired in 3.51.3, 3.50.7, 3.44.6)"
    return "wal", f"SQLite {shown} is repaired and {file_system} is local"


def make_error(error: SqliteError | UnicodeDecodeError, path: Path) -> StoreError:
    """The error of ours that says what ``error`` means for the database at ``path``."""
    if isinstance(error, UnicodeDecodeError):
        return DamagedError(f"a text in it is not readable ({error})", _RECOVER, path)
    code = read_code(error)
    if code == NO_CODE:
        return StoreError(f"SQLite refused: {error}", _REPORT, path)
    if code == apsw.SQLITE_ERROR and "no such" in str(error):
        return DamagedError(f"a part of it is missing ({error})", _RECOVER, path)
    kind, found, do = _FAULTS.get(code, (StoreError, "SQLite refused", _REPORT))
    return kind(f"{found} ({error})", do, path)


_WHOLE = frozenset(
    (
        *(apsw.SQLITE_FULL, apsw.SQLITE_IOERR, apsw.SQLITE_CORRUPT, apsw.SQLITE_NOTADB),
        *(apsw.SQLITE_READONLY, apsw.SQLITE_BUSY, apsw.SQLITE_LOCKED, apsw.SQLITE_NOMEM),
        *(apsw.SQLITE_CANTOPEN, apsw.SQLITE_PERM, apsw.SQLITE_PROTOCOL, apsw.SQLITE_INTERRUPT),
    )
)


def concerns_file(error: Exception, connection: Connection) -> bool:
    """Whether ``error`` is about the file, so that the transaction cannot go on, not about what was to be written."""
    if not connection.in_transaction:
        return True
    return isinstance(error, SqliteError) and read_code(error) in _WHOLE


def make_damage_error(error: Exception, path: Path) -> DamagedError:
    """A row that cannot be turned back into what was stored."""
    return DamagedError(f"a row in it cannot be understood ({type(error).__name__}: {error})", _RECOVER, path)


def make_page_error(found: str, path: Path) -> DamagedError:
    """Pages that contradict each other, as SQLite says on one line or several."""
    return DamagedError(f"the database is damaged ({' '.join(found.replace('*', '').split())})", _RECOVER, path)


@contextmanager
def translate_errors(path: Path) -> Iterator[None]:
    """Turn every SqliteError of the block into the StoreError that it means."""
    try:
        yield
    except (SqliteError, UnicodeDecodeError) as error:
        raise make_error(error, path) from error


def connect(path: Path, mode: Mode, *, busy: float = BUSY_SECONDS) -> Connection:
    """A connection to an existing file in autocommit, with our settings; SqliteError when it fails.

    Everything is read back through checks that a hostile file cannot switch off; a reader is barred from writing.
    """
    connection = open_connection(f"{path.absolute().as_uri()}?{mode.value}", busy=busy)
    try:
        connection.limit(apsw.SQLITE_LIMIT_LENGTH, LONGEST)
        last = f"cache_size = -{CACHE_KIBIBYTES}" if mode is Mode.WRITE else "query_only = ON"
        on = ("cell_size_check = ON", "foreign_keys = ON", "fullfsync = ON")
        for setting in ("trusted_schema = OFF", *on, "synchronous = FULL", last):
            connection.execute(f"PRAGMA {setting}")
    except BaseException:
        connection.close()
        raise
    return connection


def set_journal(connection: Connection, journal: str) -> str:
    """Ask for ``journal`` (``wal`` or ``truncate``); the mode in force: while others have the file open, WAL stays."""
    statement = "PRAGMA journal_mode = WAL" if journal == "wal" else "PRAGMA journal_mode = TRUNCATE"
    with suppress(SqliteError):
        connection.execute(statement).fetchone()
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    return str(mode)


@contextmanager
def immediate(connection: Connection) -> Iterator[None]:
    """One write transaction, committed or undone whole. Locked first: a reader that turns writer fails unwaited."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has undone it already after some errors
            with suppress(SqliteError):
                connection.execute("ROLLBACK")
        raise


@contextmanager
def savepoint(connection: Connection) -> Iterator[None]:
    """A part of a transaction that can be undone alone; call it inside ``immediate``."""
    connection.execute("SAVEPOINT piece")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK TO piece")
            connection.execute("RELEASE piece")
        raise
    connection.execute("RELEASE piece")
