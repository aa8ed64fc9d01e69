"""The one way in which a text reaches a file that the operator named: whole, or not at all.

A file that is there is not overwritten unasked, a link is not written through, a device is not replaced.
A file of the operator that is edited stays the file that it is: its link, its mode and its owner.
"""

import os
import shutil
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


def replace_content(path: Path, before: bytes, after: bytes) -> None:
    """Give the file ``path``, which holds ``before``, the content ``after``, whole or not at all.

    A symbolic link stays, and the file that it leads to is replaced; mode, owner and extended attributes stay.
    Raises FileError where the file holds something else by now, and where one of these cannot be kept.
    """
    again = "Nothing was written; begin again"
    try:
        real = path.resolve(strict=True)
        state = real.stat()
        if not stat.S_ISREG(state.st_mode):
            raise FileError(path, "it is no plain file", "Name a file")
        if state.st_nlink > 1:
            raise FileError(path, "it has several names (hard links), which would part", "Choose another file")
        if real.read_bytes() != before:
            raise FileError(path, "it was changed meanwhile", again)
        if not os.access(real, os.W_OK):
            raise FileError(path, "it cannot be written by you", "Choose another file")
        handle, part = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name[:100]}.", suffix=".part")
    except OSError as error:
        raise FileError(path, _reason(error), "Nothing was written; choose another file") from error
    try:
        with os.fdopen(handle, "wb") as out:
            own = os.fstat(out.fileno())
            if (own.st_uid, own.st_gid) != (state.st_uid, state.st_gid):
                os.fchown(out.fileno(), state.st_uid, state.st_gid)
            shutil.copystat(real, part)
            out.write(after)
            out.flush()
            os.fsync(out.fileno())
        os.utime(part)
        # The last look: an editor may have saved the file while this one was written.
        if real.read_bytes() != before:
            raise FileError(path, "it was changed meanwhile", again)
        Path(part).replace(real)
        _sync_directory(real.parent)
    except OSError as error:
        raise FileError(path, _reason(error), "Nothing was written; choose another file") from error
    finally:
        with suppress(FileNotFoundError):
            Path(part).unlink()


def _sync_directory(folder: Path) -> None:
    """Have the new name on the disk, too; some file systems know no sync of a directory."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


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
