"""Files that a user keeps for the console, and the console for a user: found, checked, read, and written without loss.

Those of the configuration folder are YAML. One that others can write is not read: it would be they who say what this
console does.
"""

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs

from benchconsole.topology.errors import Position, TopologyError, refuse

if TYPE_CHECKING:
    from benchconsole.topology.description.document import Document

MOST_BYTES = 256 * 1024
"""Such a file is a page of text; one of this size is another file."""

PATIENCE_SECONDS = 2.0
"""How long a console waits for another one that writes the same file."""

_AGAIN_SECONDS = 0.02


def find_config_path(name: str) -> Path:
    """Where the file ``name`` stands: below XDG_CONFIG_HOME, or ``~/.config``. Nothing is created."""
    return platformdirs.user_config_path("benchconsole") / name


def find_state_path(name: str) -> Path:
    """Where the file ``name`` stands that the console keeps by itself: below XDG_STATE_HOME, or ``~/.local/state``.

    Nothing is created.
    """
    return platformdirs.user_state_path("benchconsole") / name


def find_cache_path(name: str) -> Path:
    """Where the file ``name`` stands that the console can make again: below XDG_CACHE_HOME, or ``~/.cache``.

    Nothing is created.
    """
    return platformdirs.user_cache_path("benchconsole") / name


def read_user_file(path: Path) -> "Document | None":
    """The plain values of a file with their places; None where it is not there, or holds comments alone.

    TopologyError says what is wrong with it: it is no file of this user alone, too large, or no YAML.
    """
    text = read_user_text(path)
    if all(line.lstrip().startswith("#") or not line.strip() for line in text.splitlines()):
        return None
    from benchconsole.topology.description.document import read_text

    return read_text(text, str(path))


def read_user_text(path: Path) -> str:
    """The text of a file, empty where it is not there. TopologyError where it is refused."""
    raw = read_user_bytes(path, MOST_BYTES)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = Position(str(path), raw.count(b"\n", 0, error.start) + 1, 1)
        raise refuse(where, f"the byte 0x{raw[error.start]:02x}", "text in UTF-8") from None


def read_user_bytes(path: Path, most: int) -> bytes:
    """The bytes of a file, at most so many, none where it is not there. TopologyError where it is refused."""
    start = Position(str(path), 1, 1)
    try:
        # Without waiting: a pipe of this name would have no end.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        raise refuse(start, f"a file that cannot be read ({error.strerror})", "a readable file") from None
    try:
        _check_owner(path, os.fstat(handle), start)
        with os.fdopen(handle, "rb", closefd=False) as file:
            raw = file.read(most + 1)
    finally:
        os.close(handle)
    if len(raw) > most:
        raise refuse(start, f"a file of more than {most // 1024} KiB", "a smaller one")
    return raw


def _check_owner(path: Path, found: os.stat_result, start: Position) -> None:
    """TopologyError for what is no file, and for one that somebody else may change or replace."""
    if not stat.S_ISREG(found.st_mode):
        raise refuse(start, "no plain file", "a file")
    if found.st_uid not in (0, os.geteuid()):
        raise refuse(start, f"a file of user {found.st_uid}", "a file of yours")
    if found.st_mode & 0o022:
        mode = f"{stat.S_IMODE(found.st_mode):04o}"
        raise refuse(start, f"a file that others can write (mode {mode})", f"one of yours alone: chmod go-w {path}")
    folder = path.resolve().parent
    kept = folder.stat()
    if kept.st_mode & 0o002 and not kept.st_mode & stat.S_ISVTX:
        raise refuse(start, "a folder in which everybody can replace it", f"one of yours: chmod o-w {folder}")


def write_user_file(path: Path, text: str) -> None:
    """Give the file ``text``, whole or not at all, for its owner alone (0600). FileError where that is refused.

    A symbolic link stays, and the file that it leads to is replaced. Hold the file meanwhile.
    """
    from benchconsole.console.text.atomic_write import write_whole

    write_whole(path.resolve(), lambda out: out.write(text), force=True)


@contextmanager
def hold_user_file(path: Path) -> Iterator[None]:
    """Keep other consoles from writing the file: what is read within is still there when it is written.

    The folder is made where it is not there. FileError where another console does not let go of it, and where the
    file system knows no locks.
    """
    import fcntl

    from benchconsole.console.text.atomic_write import FileError

    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = path.with_name(f".{path.name}.lock")
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise FileError(path, f"its folder cannot be written ({error.strerror})", "Nothing was written") from error
    try:
        ends = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() >= ends:
                    raise FileError(path, "another console is writing it", "Nothing was written; try again") from error
                time.sleep(_AGAIN_SECONDS)  # a lock that may take for ever cannot be given up
            except OSError as error:
                found = f"it cannot be locked against other consoles ({error.strerror})"
                raise FileError(path, found, "Nothing was written; choose a folder with XDG_CONFIG_HOME") from error
        yield
    finally:
        os.close(handle)


def tell_first(error: TopologyError, *, is_short: bool = False) -> str:
    """The first mistake of a file, and how many more there are.

    A short one leaves out the folder of the file and what is expected, for a line that says where all of it is told.
    """
    first, more = error.problems[0], len(error.problems) - 1
    said = f"{Path(first.where.file).name}:{first.where.line}: {first.found}" if is_short else f"{first}"
    return f"{said}{f' (and {more} more)' if more else ''}"
