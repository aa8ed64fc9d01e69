"""The database file: found, recognised, created, upgraded, and the connections to it."""

import os
import shlex
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import apsw
from msgspec import Struct

from benchconsole.store.errors import (
    DamagedError,
    ForeignError,
    MissingError,
    ReadOnlyError,
    StoreError,
    TooNewError,
    TooOldError,
)
from benchconsole.store.files import file_check
from benchconsole.store.files.connection import (
    BUSY_SECONDS,
    LOOK_SECONDS,
    Mode,
    connect,
    immediate,
    journal_for,
    make_damage_error,
    make_error,
    set_journal,
    translate_errors,
)
from benchconsole.store.files.filesystem import NETWORK, identity, kind_of, make_directory, make_private
from benchconsole.store.files.idle_readers import IdleReaders
from benchconsole.store.files.ownership import find_driver_at_work
from benchconsole.store.files.upgrade import upgrade
from benchconsole.store.schema import tables
from benchconsole.store.sqlite import REFUSALS, Connection, SqliteError, library_version, read_start

EMPTYING_MILLISECONDS = 200
"""So long the last act of a writer waits for readers."""

_MAKING = threading.Lock()
"""Held while a file is made, which opens and closes it: no thread has it open with SQLite yet (``read_start``)."""

_MAGIC = b"SQLite format 3\0"
_ELSEWHERE = "name another file; this one was left as it is"


class DatabaseFacts(Struct, frozen=True):
    """Facts of the database for ``doctor``. ``shape`` is the number of its shape, ``newest`` of the newest known."""

    path: Path
    sqlite: str
    shape: int
    newest: int
    file_system: str
    journal: str
    because: str
    warning: str


@dataclass(eq=False)
class Database:
    """One file. ``read_only`` is the reason why it cannot be written, None when it can."""

    path: Path
    mode: Mode
    facts: DatabaseFacts
    read_only: StoreError | None
    busy: float
    clock: Callable[[], float]

    def __post_init__(self) -> None:
        self._identity = identity(self.path)
        self._read_whole: float | None = None
        self._readers = IdleReaders(self.path)

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        create: bool = True,
        busy: float = BUSY_SECONDS,
        steps: Sequence[tables.Step] = tables.STEPS,
        clock: Callable[[], float] = time.time,
    ) -> "Database":
        """Open the database at ``path``, made or upgraded where that is needed and possible.

        ``busy`` is how many seconds to wait for a lock. A file that cannot be written, or that a
        newer program wrote, is opened for reading. Raises MissingError (``create`` is False and
        nothing is there), ForeignError, DamagedError, LockedError, ReadOnlyError, FullError.
        """
        path = path.absolute()
        with _MAKING:
            if not path.exists():
                _make(path, create=create)
        mark = _recognise(path)
        writable = os.access(path, os.W_OK) and os.access(path.resolve().parent, os.W_OK)
        mode = Mode.WRITE if writable else _reading_mode(path, busy)
        with translate_errors(path):
            if writable:
                _prepare(path, steps, busy, clock(), marked=mark != 0)
            with closing(connect(path, mode, busy=busy)) as connection:
                _require_ours(connection, path)
                shape = _read_shape(connection, path)
                file_check.require_shape(connection, path, newest=shape == tables.newest())
        read_only = _why_not(path, shape, tables.newest(steps), writable=writable, new=mark is None)
        facts = _facts(path, shape, tables.newest(steps))
        return cls(path, mode, facts, read_only, busy, clock)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A connection for a few short queries; what SQLite raises, and a row that makes no sense, is a StoreError."""
        file = identity(self.path)
        with self.asking(lambda: self._readers.take() or self.connect_reader()) as connection:
            try:
                yield connection
            except BaseException:  # a statement of it may still be under way
                connection.close()
                raise
            self._readers.give_back(connection, file)

    def close_readers(self) -> None:
        """Close the connections that ``reading`` keeps for the next question."""
        self._readers.close()

    def connect_reader(self, busy: float | None = None) -> Connection:
        """A connection that is barred from writing; it waits ``busy`` seconds for a lock."""
        connection = connect(self.path, self.mode, busy=min(self.busy, LOOK_SECONDS) if busy is None else busy)
        connection.execute("PRAGMA query_only = ON")
        return connection

    @contextmanager
    def asking(self, give: Callable[[], Connection]) -> Iterator[Connection]:
        """``reading`` with a connection that ``give`` opens, or has open, and that stays open."""
        if identity(self.path) is None:
            raise MissingError("the database has gone", "put it back, or open another", self.path)
        try:
            yield give()
        except SqliteError as error:
            if isinstance(self.read_only, TooNewError):
                raise self.read_only from error
            raise make_error(error, self.path) from error
        except (ValueError, TypeError, KeyError) as error:
            raise make_damage_error(error, self.path) from error

    def open_writer(self) -> Connection:
        """The one connection that writes, with the pages read first; the reason of ``read_only`` if there is one.

        Of a large file not all pages are read (``files.file_check``). None are read again where nobody has touched the
        file since a console left it whole, nor while another console is at work on it, which has read them. Give the
        connection back with ``close_writer``.
        """
        if self.read_only is not None:
            raise self.read_only
        self.require_in_place()
        with translate_errors(self.path):
            connection = connect(self.path, Mode.WRITE, busy=self.busy)
            try:
                now = self.clock()
                self._read_whole = file_check.sealed(self.path, now)
                if self._read_whole is None and find_driver_at_work(connection, now) is None:
                    self._read_whole = now if file_check.require_sound(connection, self.path) else None
                set_journal(connection, self.facts.journal)
            except BaseException:
                connection.close()
                raise
        return connection

    def close_writer(self, connection: Connection) -> None:
        """Close the connection that wrote, and note that the file is whole as it stands now.

        Others that look on keep a WAL; it is emptied for the next console, unless one of them is in the middle of it.
        """
        if self.facts.journal == "wal":
            with suppress(SqliteError):  # a WAL that stays is read by whoever opens the file next
                connection.execute(f"PRAGMA busy_timeout = {EMPTYING_MILLISECONDS}")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.close()
        if self._read_whole is not None and identity(self.path) == self._identity:
            file_check.seal(self.path, self._read_whole)

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """``open_writer`` and ``close_writer`` around a block; SqliteError becomes StoreError."""
        connection = self.open_writer()
        try:
            with translate_errors(self.path):
                yield connection
        finally:
            self.close_writer(connection)

    @contextmanager
    def transaction(self, connection: Connection) -> Iterator[None]:
        """One write transaction; after the block it is on the disk, under the name it was opened with."""
        self.require_in_place()
        try:
            with translate_errors(self.path), immediate(connection):
                shape = tables.read_shape(connection)
                if shape != self.facts.shape:
                    raise _too_new(self.path, shape, self.facts.newest)
                yield
        except DamagedError:
            self._read_whole = None
            file_check.unseal(self.path)
            raise
        # Written to a file that has no name any more would be written to nowhere.
        self.require_in_place()

    def require_in_place(self) -> None:
        """MissingError when the file was moved, deleted or replaced since it was opened."""
        if identity(self.path) != self._identity:
            raise MissingError(
                "the database was moved, deleted or replaced while in use",
                "put it back and resume; what is not in it was not acknowledged",
                self.path,
            )


def _make(path: Path, *, create: bool) -> None:
    """Make an empty file with its directory; MissingError where it is not to be made, ReadOnlyError."""
    if not create:
        raise MissingError("there is no database here", "run something first, or name another file", path)
    try:
        make_directory(path.parent)
        make_private(path)
    except OSError as error:
        lacks = f"no database can be made here ({error.strerror})"
        raise ReadOnlyError(lacks, "name another file with --db or BENCHCONSOLE_DB", path) from error


def _leftover(path: Path, suffix: str) -> int:
    """Size of a journal beside the database in bytes, 0 when there is none."""
    try:
        return path.with_name(path.name + suffix).stat().st_size
    except OSError:
        return 0


def _recognise(path: Path) -> int | None:
    """The mark in the header (0: none yet), None for an empty file; no journal is played back yet."""
    if not path.is_file():
        raise ForeignError("this is no file", _ELSEWHERE, path)
    try:
        header = read_start(path, 100)
    except SqliteError as error:
        raise ReadOnlyError(f"it cannot be read ({error})", "check its mode and owner", path) from error
    if not header:
        if _leftover(path, "-wal") or _journal_pages(path):
            raise DamagedError("the database is empty but its journal is not", "restore both from a backup", path)
        return None
    if not header.strip(b"\0") and _journal_pages(path) == 0 and _leftover(path, "-journal"):
        return None  # the power went while it was made: SQLite plays the journal back, and it is empty again
    if not header.startswith(_MAGIC):
        raise ForeignError("this is not a database", _ELSEWHERE, path)
    if len(header) < 100:
        raise DamagedError("the database is cut off in its header", "restore it from a backup", path)
    (application,) = struct.unpack(">I", header[68:72])
    if application not in (0, tables.APPLICATION):
        raise ForeignError("this is the database of another program", _ELSEWHERE, path)
    return int(application)


def _journal_pages(path: Path) -> int:
    """How many pages the database had when its rollback journal was begun; 0 for a fresh one."""
    try:
        with path.with_name(f"{path.name}-journal").open("rb") as file:
            header = file.read(20)
    except OSError:
        return 0
    return int.from_bytes(header[16:20], "big") if len(header) == 20 else 0


def _require_ours(connection: Connection, path: Path) -> None:
    """ForeignError when the tables are not ours: they may be there without a mark in the header."""
    # The tables first: another console may make them, and their mark with them, between the two statements.
    (count,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if application != tables.APPLICATION and (application or count):
        raise ForeignError("this is the database of another program", _ELSEWHERE, path)


def _prepare(path: Path, steps: Sequence[tables.Step], busy: float, now: float, *, marked: bool) -> None:
    if not marked:
        # First without touching a byte: merely closing a writer would tidy up a stranger's log. A database in
        # use, or to be recovered, is for the writer to see.
        with suppress(*REFUSALS), closing(connect(path, Mode.READ, busy=0)) as connection:
            _require_ours(connection, path)
    with closing(connect(path, Mode.WRITE, busy=busy)) as connection:
        _require_ours(connection, path)
        if _read_shape(connection, path) < tables.newest(steps):
            file_check.require_shape(connection, path, newest=False)
            set_journal(connection, journal_for(library_version(), kind_of(path))[0])
            upgrade(connection, path, steps, now=now)


def _reading_mode(path: Path, busy: float) -> Mode:
    """How to look at a file that cannot be written: frozen only where no log could be missed."""
    try:
        with closing(connect(path, Mode.READ, busy=busy)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except REFUSALS as error:
        if _leftover(path, "-wal") or _leftover(path, "-journal"):
            raise ReadOnlyError(
                "it has a journal that can only be read where the directory can be written",
                "copy the database and its journal to a directory of yours",
                path,
            ) from error
        return Mode.FROZEN
    except SqliteError as error:
        raise make_error(error, path) from error
    return Mode.READ


def _read_shape(connection: Connection, path: Path) -> int:
    """The number of the shape; TooOldError for one of a development version."""
    shape = tables.read_shape(connection)
    if 0 < shape < tables.FIRST:
        raise TooOldError(
            f"found shape {shape} of a development version, expected {tables.FIRST}",
            "move the file away, or read it with the version that wrote it",
            path,
        )
    return shape


def _too_new(path: Path, shape: int, newest: int) -> TooNewError:
    return TooNewError(
        f"a newer program has written it (shape {shape}, this program knows {newest})",
        "upgrade benchconsole to write to it; looking at it may work",
        path,
    )


def _why_not(path: Path, shape: int, newest: int, *, writable: bool, new: bool) -> StoreError | None:
    """The reason why nothing can be written; raises ReadOnlyError when it cannot even be read."""
    if shape > newest:
        return _too_new(path, shape, newest)
    if writable:
        return None
    if shape < newest:
        what = "it is empty" if new else "it has an older shape"
        raise ReadOnlyError(f"{what} and cannot be written", "copy it to a place that can be written", path)
    return ReadOnlyError(
        "the file or its directory cannot be written", "look at it, or name another file to run with", path
    )


def _facts(path: Path, shape: int, newest: int) -> DatabaseFacts:
    kind = kind_of(path)
    journal, because = journal_for(library_version(), kind)
    mode = stat.S_IMODE(path.stat().st_mode)
    warnings = []
    if kind in NETWORK:
        warnings.append(f"{kind} is a network file system: keep the database on a local disk, locks may not hold there")
    if mode & stat.S_IWOTH:
        warnings.append(f"every user may write to the database (mode {mode:04o}): chmod o-w {shlex.quote(str(path))}")
    warning = "; ".join(warnings)
    return DatabaseFacts(path, apsw.sqlite_lib_version(), shape, newest, kind, journal, because, warning)
