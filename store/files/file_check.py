"""The checks of a file before it is written: nothing of a stranger in its shape, no damage in its pages.

The shape is checked whenever a file is opened. Reading pages costs 33 ms a megabyte, so that is done before the first
write, only where a seal beside the database does not say that nobody touched it since, and of a large file in part:
``benchconsole check-db`` reads all of it. Nothing is repaired.
"""

import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from benchconsole.store.errors import ForeignError
from benchconsole.store.files.connection import make_damage_error, make_page_error
from benchconsole.store.schema import tables
from benchconsole.store.sqlite import Connection

SEAL_SECONDS = 7 * 86400.0
"""Every page is read again after a week, whatever the seal says: disks forget, too."""

WHOLE_BYTES = 16 * 2**20
"""Files up to this size are read whole: half a second at most."""
_FEW_ROWS = 5_000
"""Tables up to so many rows are read whole in a large file too, unless one row may hold a lot."""
_WITHOUT_ROWS = frozenset(("absorbed",))
"""Tables that are sorted by their key."""
_LONG_ROWS = frozenset(("output", "kept_report", "checklist_attachment", "session", "fact"))

_STRANGE = "do not write to it; what is in it can be copied out with sqlite3, and this one was left as it is"


def require_shape(connection: Connection, path: Path, *, newest: bool) -> None:
    """Hold the tables against ours, before anything of them is read or written.

    ForeignError for triggers, which would run at our next write, and for a view, a virtual table or a
    computed column in the place of ours, which would run whenever we look. With ``newest`` all tables
    and columns must be there, else DamagedError. Tables and columns of others beside ours are left alone.
    """
    triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    if triggers:
        raise ForeignError(f"it has a trigger that this program did not make ({triggers[0][0]})", _STRANGE, path)
    present = _present_tables(connection)
    for table, columns in tables.columns().items():
        kind, has, computed = present.get(table, ("table", (), ()))
        if kind != "table" or computed:
            what = f"{kind} {table}" if kind != "table" else f"computed column {table}.{computed[0]}"
            raise ForeignError(f"it has a {what} in the place of ours", _STRANGE, path)
        if newest and not set(columns) <= set(has):
            raise make_damage_error(ValueError(f"{table} lacks {', '.join(sorted(set(columns) - set(has)))}"), path)


def _present_tables(connection: Connection) -> Mapping[str, tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Kind, columns and computed columns of whatever has the name of a table of ours."""
    present = {}
    rows = connection.execute("SELECT name, type, sql FROM sqlite_master WHERE type IN ('table', 'view')").fetchall()
    for name, kind, sql in rows:
        if name.lower() not in tables.columns():
            continue
        virtual = kind == "table" and str(sql).upper().startswith("CREATE VIRTUAL")
        columns = connection.execute("SELECT name, hidden FROM pragma_table_xinfo(?)", (name,)).fetchall()
        present[name.lower()] = (
            "virtual table" if virtual else str(kind),
            tuple(column for column, _ in columns),
            tuple(column for column, hidden in columns if hidden),
        )
    return present


def require_whole(connection: Connection, path: Path) -> None:
    """Read every page and compare; DamagedError when they contradict each other."""
    (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != "ok":
        raise make_page_error(str(found), path)


def require_sound(connection: Connection, path: Path) -> bool:
    """Read what decides whether writing is safe; whether that was every page. DamagedError where pages contradict.

    Of a large file that is each table with few short rows, and of the others the way to the last row, which new rows
    come behind. SQLite itself refuses a page that is no page, and each row is held against its columns when it is read.
    """
    if path.stat().st_size <= WHOLE_BYTES:
        require_whole(connection, path)
        return True
    for table in sorted(tables.columns().keys() - _WITHOUT_ROWS):
        (last,) = connection.execute(f"SELECT max(rowid) FROM {table}").fetchone()  # noqa: S608 - a table of ours
        if (last or 0) <= _FEW_ROWS and table not in _LONG_ROWS:
            (found,) = connection.execute(f"PRAGMA quick_check({table})").fetchone()
            if found != "ok":
                raise make_page_error(str(found), path)
    return False


# -- the seal


def _seal(path: Path) -> Path:
    return path.with_name(f"{path.name}-checked")


def look_at(path: Path) -> list[int] | None:
    """How a file looks from outside; None while it has a journal, which would change it when it is opened."""
    for suffix in ("-wal", "-journal"):
        with suppress(FileNotFoundError):
            if path.with_name(path.name + suffix).stat().st_size:
                return None
    status = path.stat()
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def sealed(path: Path, now: float) -> float | None:
    """When every page was last read, if nobody has touched the file since a console left it; else None.

    A seal that another user wrote, or that is no file, says nothing.
    """
    try:
        handle = os.open(_seal(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, encoding="utf-8") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                return None
            seal = json.loads(file.read(1000))
        read, look = float(seal["read"]), seal["look"]
        return read if look == look_at(path) and 0 <= now - read < SEAL_SECONDS else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def unseal(path: Path) -> None:
    """Let the next console that opens the file read every page."""
    with suppress(OSError):
        _seal(path).unlink(missing_ok=True)


def seal(path: Path, read: float) -> None:
    """Note how the file looks now that a console leaves it; ``read`` is when every page was last read."""
    with suppress(OSError):  # without a seal the next console reads every page, which is only slower
        look = look_at(path)
        _seal(path).unlink(missing_ok=True)
        if look is None:
            return
        handle = os.open(_seal(path), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps({"read": read, "look": look}) + "\n")
