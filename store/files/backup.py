"""Copies of a database in use: whole under their name, or not there."""

import glob
import os
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path

from benchconsole.store.errors import StoreError
from benchconsole.store.files.connection import VACUUM_INTO
from benchconsole.store.files.filesystem import make_private, sync_directory, take_name


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
