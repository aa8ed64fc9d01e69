"""Owns the way of a file from one shape to the next: a copy beside it first, then all steps or none.

Refuses to know the steps themselves (``store.schema``).
"""

import glob
import os
import secrets
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from store import schema
from store.connection import VACUUM_INTO, damaged, immediate
from store.driving import refuse_upgrade, somebody_at_work
from store.errors import LockedError, StoreError
from store.filesystem import make_private, sync_directory, take_name

_TRIES = 5


def copy_into(connection: sqlite3.Connection, target: Path) -> None:
    """Write a copy of a database in use to ``target``, whole or not at all, mode 0600.

    ``target`` must not exist (StoreError). A copy that is killed leaves a ``.part`` beside it,
    which the next one to the same name removes. Call it outside a transaction.
    """
    if sqlite3.sqlite_version_info < VACUUM_INTO:
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} cannot copy a database in use", "use SQLite 3.27 or newer", target
        )
    if os.path.lexists(target):
        raise _taken(target)
    _sweep(target)
    part = target.with_name(f"{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        make_private(part)
        connection.execute("VACUUM INTO ?", (str(part),))
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        take_name(part, target)
    except FileExistsError as error:
        raise _taken(target) from error
    finally:
        part.unlink(missing_ok=True)
    sync_directory(target.parent)


def _taken(target: Path) -> StoreError:
    return StoreError("something is there already", "choose a name that is free", target)


def _sweep(target: Path) -> None:
    """Remove what copies to this name left behind whose process is gone."""
    for part in target.parent.glob(f"{glob.escape(target.name)}.*-*.part"):
        pid = part.name.removeprefix(f"{target.name}.").partition("-")[0]
        if pid.isascii() and pid.isdigit() and not (Path("/proc") / pid).exists():
            with suppress(OSError):
                part.unlink()


def _free_name(path: Path, version: int) -> Path:
    found = path.with_name(f"{path.name}.v{version}.backup")
    count = 1
    while found.exists() or found.is_symlink():
        count += 1
        found = path.with_name(f"{path.name}.v{version}-{count}.backup")
    return found


def upgrade(connection: sqlite3.Connection, path: Path, steps: Sequence[schema.Step], *, now: float) -> Path | None:
    """Bring the file to the last of ``steps`` and return the copy made before (None: it was empty).

    Raises DrivenError while an older program is at work on it, LockedError when others keep
    writing to it, FullError when there is no room for the copy; the file is then as it was.
    """
    # A table that is made again would take the rows that refer to it along; what refers to what is checked below.
    connection.execute("PRAGMA foreign_keys = OFF")
    for _ in range(_TRIES):
        before = schema.version(connection)
        if before >= len(steps):
            return None
        backup = None
        (seen,) = connection.execute("PRAGMA data_version").fetchone()
        if before:
            backup = _free_name(path, before)
            copy_into(connection, backup)
        with immediate(connection):
            (still,) = connection.execute("PRAGMA data_version").fetchone()
            if still == seen and schema.version(connection) == before:
                who = somebody_at_work(connection, now) if before else None
                if who is not None:
                    _forget(backup)
                    raise refuse_upgrade(path, who)
                schema.apply(connection, steps)
                _require_references(connection, path)
                return backup
        # Somebody wrote between the copy and the lock: that copy would not be the last state.
        _forget(backup)
    raise LockedError("other processes keep writing to it while it should be upgraded", "end them first", path)


def _require_references(connection: sqlite3.Connection, path: Path) -> None:
    lost = connection.execute("PRAGMA foreign_key_check").fetchone()
    if lost is not None:
        raise damaged(ValueError(f"a row of {lost[0]} refers to one of {lost[2]} that is not there"), path)


def _forget(backup: Path | None) -> None:
    if backup is not None:
        backup.unlink(missing_ok=True)
