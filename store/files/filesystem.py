"""The file system: its kind, private files and directories, names that survive a power cut."""

import os
import re
from contextlib import suppress
from pathlib import Path

MEMORY_MAPS_WORK = frozenset(
    ("bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "jfs", "nilfs2", "reiserfs", "tmpfs", "ramfs", "xfs", "zfs")
)
"""Local kinds on which several processes may share memory through a file, as WAL needs it."""

NETWORK = frozenset(
    (
        *("9p", "afs", "beegfs", "ceph", "cifs", "fuse.ceph", "fuse.glusterfs", "fuse.sshfs", "glusterfs", "gpfs"),
        *("lustre", "nfs", "nfs4", "ocfs2", "orangefs", "panfs", "pvfs2", "smb3", "smbfs", "wekafs"),
    )
)
"""Kinds that other machines may write to at the same time."""

UNKNOWN = "unknown"
_MOUNTS = Path("/proc/self/mountinfo")
_ESCAPE = re.compile(r"\\(040|011|012|134)")
"""How mountinfo writes blanks and backslashes."""


def kind_of(path: Path, mounts: str | None = None) -> str:
    """The kind of the file system that holds ``path`` (``ext4``, ``nfs4``), or ``unknown``.

    ``path`` need not exist: its nearest existing parent counts. ``mounts`` is mountinfo, by default the system's.
    """
    if mounts is None:
        try:
            mounts = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return UNKNOWN
    real = os.path.realpath(path)
    best, kind = "", UNKNOWN
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:
            continue
        point = _ESCAPE.sub(lambda escape: chr(int(escape[1], 8)), fields[4])
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        # A later line with the same mount point lies on top of the earlier one.
        if inside and len(point) >= len(best):
            best, kind = point, after.split(" ", 1)[0]
    return kind


def make_directory(path: Path) -> None:
    """Create ``path`` and its missing parents, each 0700 whatever the umask; OSError if it cannot be."""
    for place in (*reversed(path.parents), path):
        with suppress(FileExistsError):
            if not place.is_dir():
                place.mkdir(mode=0o700)


def make_private(path: Path) -> bool:
    """Create ``path`` empty with mode 0600; False when something is there already. Follows no symlink.

    SQLite gives its journals the mode of the database file, so this one mode covers them all.
    """
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        return False
    os.close(handle)
    sync_directory(path.parent)
    return True


def take_name(path: Path, name: Path) -> None:
    """Give ``path`` the name ``name`` in the same directory; FileExistsError when that is taken, by anything."""
    try:
        os.link(path, name, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        make = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        os.close(make)
        path.replace(name)
    else:
        path.unlink()


def sync_directory(path: Path) -> None:
    """Make names that were added to or changed in ``path`` survive a power cut, where that is possible."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def identity(path: Path) -> tuple[int, int] | None:
    """Device and inode of ``path``, or None when nothing is there: the file itself, not its name."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
