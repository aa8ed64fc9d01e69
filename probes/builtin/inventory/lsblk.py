"""Reads ``lsblk -J`` (sizes with ``-b`` or rounded) as facts about whole disks."""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import Document, documents, mapping, sequence
from probes.builtin.inventory.facts import counted, measured, on, said, some

_NO_DISK = re.compile(r"(?:zram|ram|loop|fd|sr|nbd)[0-9]+")
_ROUNDED = re.compile(r"([0-9]+(?:[.,][0-9]+)?)([BKMGTP])")


def parse(text: str) -> Sequence[Fact]:
    """``disk.count`` and, of each disk, size, model and kind; ProbeOutputError without a whole document."""
    found: list[Fact] = []
    for document in documents(text, first="blockdevices"):
        disks = {str(disk.get("name")): disk for disk in _disks(sequence(document.get("blockdevices")))}
        found += counted("disk.count", len(disks))
        for name, disk in disks.items():
            found += _facts(name, disk)
    return some(found, "the JSON of lsblk -J")


def _disks(entries: Sequence[object]) -> Iterator[Document]:
    waiting = list(reversed(entries))
    while waiting:
        entry = mapping(waiting.pop())
        empty = str(entry.get("size")) in ("0", "0B")
        if entry.get("type", "disk") == "disk" and not empty and not _NO_DISK.fullmatch(str(entry.get("name"))):
            yield entry
        waiting.extend(reversed(sequence(entry.get("children"))))


def _facts(name: str, disk: Document) -> Iterator[Fact]:
    marks = on("disk", name)
    yield from measured("disk.size", _size(disk.get("size")), Unit.BYTE, marks)
    yield from said("disk.model", disk.get("model"), marks)
    yield from said("disk.vendor", disk.get("vendor"), marks)
    yield from said("disk.serial", disk.get("serial"), marks)
    turning = {True: "rotating", "1": "rotating", False: "solid state", "0": "solid state"}
    rota = disk.get("rota")
    yield from said("disk.kind", turning.get(rota) if isinstance(rota, bool | str) else None, marks)


def _size(value: object) -> str:
    """A size as ``topology.units`` reads it; lsblk's letters are powers of 1024."""
    text = str(value).strip()
    rounded = _ROUNDED.fullmatch(text)
    if rounded is None:
        return f"{text} B"
    return f"{rounded[1].replace(',', '.')} {'' if rounded[2] == 'B' else rounded[2] + 'i'}B"
