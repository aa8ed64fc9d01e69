"""The upgrade of a file to the newest shape: a copy beside it first, then all steps or none."""

import glob
import os
import secrets
from collections.abc import Sequence
from contextlib import closing, suppress
from itertools import count
from pathlib import Path

from benchconsole.store.errors import DamagedError, DrivenError, LockedError, TakenError
from benchconsole.store.files import file_check
from benchconsole.store.files.connection import Mode, connect, immediate, make_damage_error, translate_errors
from benchconsole.store.files.filesystem import make_private, sync_directory, take_name
from benchconsole.store.files.ownership import find_driver_at_work
from benchconsole.store.schema import tables
from benchconsole.store.sqlite import Connection

_TRIES = 5


def _free_name(path: Path, version: int) -> Path:
    name, numbers = path.with_name(f"{path.name}.v{version}.backup"), count(2)
    while os.path.lexists(name):
        _remove_parts(name)  # a copy that is killed as it takes its name leaves both
        name = path.with_name(f"{path.name}.v{version}-{next(numbers)}.backup")
    return name


def upgrade(connection: Connection, path: Path, steps: Sequence[tables.Step], *, now: float) -> None:
    """Bring the file to the last of ``steps``, with a copy beside it first unless it was empty.

    Raises DrivenError while an older program is at work on it, LockedError when others keep
    writing to it, FullError when there is no room for the copy; the file is then as it was.
    """
    # A table that is made again would take the rows that refer to it along; what refers to what is checked below.
    connection.execute("PRAGMA foreign_keys = OFF")
    for _ in range(_TRIES):
        before = tables.read_shape(connection)
        if before >= tables.newest(steps):
            return
        backup = None
        (seen,) = connection.execute("PRAGMA data_version").fetchone()
        if before:
            backup = _free_name(path, before)
            try:
                copy_into(connection, backup)
            except TakenError:
                continue  # another process is upgrading the file, too, and had the name first
        with immediate(connection):
            (still,) = connection.execute("PRAGMA data_version").fetchone()
            if still == seen and tables.read_shape(connection) == before:
                who = find_driver_at_work(connection, now) if before else None
                if who is not None:
                    _forget(backup)
                    # The upgrade would break the next write of an older program.
                    raise DrivenError(
                        f"it has an older shape and {who} is writing to it",
                        "end that one first; the upgrade follows",
                        path,
                    )
                tables.apply(connection, steps)
                lost = connection.execute("PRAGMA foreign_key_check").fetchone()
                if lost is not None:
                    what = f"a row of {lost[0]} refers to one of {lost[2]} that is not there"
                    raise make_damage_error(ValueError(what), path)
                return
        # Somebody wrote between the copy and the lock: that copy would not be the last state.
        _forget(backup)
    raise LockedError("other processes keep writing to it while it should be upgraded", "end them first", path)


def _forget(backup: Path | None) -> None:
    if backup is not None:
        backup.unlink(missing_ok=True)


def _remove_parts(target: Path) -> None:
    """Remove what copies to this name left behind whose process is gone."""
    for part in target.parent.glob(f"{glob.escape(target.name)}.*-*.part"):
        pid = part.name.removeprefix(f"{target.name}.").partition("-")[0]
        if pid.isascii() and pid.isdigit() and not (Path("/proc") / pid).exists():
            with suppress(OSError):
                part.unlink()


def copy_into(connection: Connection, target: Path) -> None:
    """Write a copy of a database in use to ``target``, whole or not at all, mode 0600.

    Every page of it is read before it takes its name (DamagedError). ``target`` must not exist
    (TakenError). A copy that is killed leaves a ``.part`` beside it, which the next one to the same
    name removes. Call it outside a transaction.
    """
    taken = TakenError("something is there already", "choose a name that is free", target)
    _remove_parts(target)
    if os.path.lexists(target):
        raise taken
    part = target.with_name(f"{target.name}.{os.getpid()}-{secrets.token_hex(4)}.part")
    try:
        make_private(part)
        connection.execute("VACUUM INTO ?", (str(part),))
        with part.open("rb+") as written:
            os.fsync(written.fileno())
        _check_copy(part, target)
        take_name(part, target)
    except FileExistsError as error:
        raise taken from error
    finally:
        part.unlink(missing_ok=True)
    sync_directory(target.parent)


def _check_copy(part: Path, target: Path) -> None:
    """Read every page of a copy that nobody else knows yet; DamagedError where they contradict each other."""
    try:
        with translate_errors(target), closing(connect(part, Mode.FROZEN)) as copy:
            file_check.require_whole(copy, target)
    except DamagedError as error:
        raise DamagedError(
            f"the copy is not as it was written: {error.found}", "it was not kept; look at its disk", target
        ) from error
