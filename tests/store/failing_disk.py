"""A disk for SQLite that fails at one of its changes, and that knows what a power cut would leave.

SQLite tests itself so (https://www.sqlite.org/testing.html, 3.2 and 3.3). The disk is a layer of SQLite's own kind
(``apsw.VFS``) over the real files. Bytes that were written since the last sync of a file are lost or kept sector by
sector, by chance; synced bytes stay.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

SECTOR = 512
"""Bytes that are written whole or not at all."""

_DELETED = " deleted"

NAME, BELOW = "failing-disk", "unix"


@dataclass
class Image:
    """One file: its bytes now and after the last sync, and what was done to it since, in order."""

    now: bytearray
    synced: bytes
    named: bool
    """Whether its name would be there after a power cut."""
    since: list[tuple[int, bytes]] = field(default_factory=list)
    """Writes by their offset; an offset below zero cuts the file to the length -1 - offset."""

    def write(self, offset: int, content: bytes) -> None:
        _write(self.now, offset, content)
        self.since.append((offset, content))

    def cut(self, length: int) -> None:
        del self.now[length:]
        self.since.append((-1 - length, b""))

    def sync(self) -> None:
        self.synced, self.named = bytes(self.now), True
        self.since.clear()

    def lose(self, chance: random.Random) -> bytes:
        """Its bytes after a power cut."""
        left = bytearray(self.synced)
        kept = chance.choice((0.0, 0.5, 1.0))
        for offset, content in self.since:
            if offset < 0:
                if chance.random() < kept:
                    del left[-1 - offset :]
                continue
            for start in range(0, len(content), SECTOR):
                if chance.random() < kept:
                    _write(left, offset + start, content[start : start + SECTOR])
        return bytes(left)


def _write(into: bytearray, offset: int, content: bytes) -> None:
    into.extend(bytes(max(0, offset - len(into))))
    into[offset : offset + len(content)] = content


class FailingDisk(apsw.VFS):
    """Counts changes; the ``fail_at``-th fails with ``code``, and all after it do where it ``stays``."""

    def __init__(self) -> None:
        self.images: dict[str, Image] = {}
        self.changes = 0
        self.fail_at = 0
        self.stays = False
        self.code = apsw.SQLITE_IOERR_WRITE
        super().__init__(NAME, BELOW, makedefault=True)

    def count_change(self) -> None:
        self.changes += 1
        if self.fail_at and (self.changes == self.fail_at or (self.stays and self.changes > self.fail_at)):
            raise apsw.exception_for(self.code)

    def xOpen(self, name: Any, flags: list[int]) -> "DiskFile":  # noqa: N802 - the name that SQLite gives it
        return DiskFile(self, name, flags)

    def xDelete(self, name: str, sync_directory: bool) -> None:  # noqa: N802
        self.count_change()
        super().xDelete(name, sync_directory)
        image = self.images.pop(name, None)
        if image is not None and image.named and not sync_directory:
            self.images[name + _DELETED] = image

    def forget_deleted(self) -> None:
        self.images = {name: image for name, image in self.images.items() if not name.endswith(_DELETED)}

    def lose_power(self, folder: Path, chance: random.Random) -> None:
        """Write what a power cut would leave into ``folder``."""
        for name, image in self.images.items():
            if image.named or chance.random() < 0.5:
                plain = name.removesuffix(_DELETED)
                if name != plain and (plain in self.images or chance.random() < 0.5):
                    continue
                (folder / Path(plain).name).write_bytes(image.lose(chance))


class DiskFile(apsw.VFSFile):
    """One open file; several may share an image."""

    def __init__(self, disk: FailingDisk, name: Any, flags: list[int]) -> None:
        super().__init__(BELOW, name, flags)
        self._disk = disk
        self._image: Image | None = None
        if name is None:  # a temporary file
            return
        path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        size = self.xFileSize()
        image = disk.images.get(path)
        if image is None:
            content = self.xRead(size, 0) if size else b""
            image = disk.images[path] = Image(bytearray(content), bytes(content), named=size > 0)
        self._image = image

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        if self._image is not None:
            self._disk.count_change()
            self._image.write(offset, bytes(data))
        super().xWrite(data, offset)

    def xTruncate(self, length: int) -> None:  # noqa: N802
        if self._image is not None:
            self._disk.count_change()
            self._image.cut(length)
        super().xTruncate(length)

    def xSync(self, flags: int) -> None:  # noqa: N802
        if self._image is not None:
            self._disk.count_change()
            if not self._image.named:  # with a new file SQLite syncs the directory, and with it what was deleted there
                self._disk.forget_deleted()
            self._image.sync()  # the disk below need not sync: the image stands for it
        else:
            super().xSync(flags)


@contextmanager
def mount_disk() -> Iterator[FailingDisk]:
    """A disk under every file that SQLite opens within the block."""
    disk = FailingDisk()
    try:
        yield disk
    finally:
        apsw.set_default_vfs(BELOW)
        disk.unregister()
