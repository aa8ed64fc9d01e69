"""The one way in which a text reaches a file that the operator named: whole, or not at all.

A file that is there is not overwritten unasked, a link is not written through, a device is not replaced.
"""

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TextIO


class FileError(Exception):
    """A file that cannot be written: what stands in the way, and what helps."""

    def __init__(self, what: Path | str, found: str, do: str) -> None:
        self.found = found
        self.do = do
        super().__init__(f"{what}: {found}. {do}.")


def write_whole(path: Path, write: Callable[[TextIO], object], *, force: bool = False, private: bool = True) -> None:
    """Let ``write`` fill a new file beside ``path`` and give it that name once all of it is on the disk.

    Line ends are written as they come. A ``private`` file is for its owner alone, others for whom the umask lets.
    Raises FileError where the file is there already (unless
    ``force``), where it is no plain file, and where the directory or the disk refuses.
    """
    _check(path, force)
    try:
        handle, part = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.", suffix=".part")
    except OSError as error:
        raise FileError(path, _reason(error), "Choose a directory that can be written") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as out:
            write(out)
            out.flush()
            if not private:
                os.fchmod(out.fileno(), 0o666 & ~_read_umask())
            os.fsync(out.fileno())
        _name(part, path, force)
    except OSError as error:
        raise FileError(path, _reason(error), "Nothing was written; free space or choose another place") from error
    finally:
        with suppress(FileNotFoundError):
            Path(part).unlink()


def _read_umask() -> int:
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _check(path: Path, force: bool) -> None:
    """Refuse early what ``_name`` would refuse after the work is done."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise FileError(path, _reason(error), "Choose another place") from error
    # A rename over a device would replace the device itself.
    if not (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
        raise FileError(path, "it is no plain file", "Name a file, or leave -o away to write to the terminal")
    if not force:
        raise FileError(path, "it is there already", "Choose another name, or replace it with --force")


def _name(part: str, path: Path, force: bool) -> None:
    """Give the finished file its name; a link planted meanwhile is replaced or refused, never followed."""
    if force:
        Path(part).replace(path)
        return
    try:
        os.link(part, path)
    except FileExistsError:
        _check(path, force)
        raise
    except OSError:
        # Some file systems know no hard links; there the check and the rename are two steps.
        _check(path, force)
        Path(part).replace(path)
