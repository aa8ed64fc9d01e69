"""Reads ``lsblk -J`` (sizes with ``-b`` or rounded), ``lsblk -P`` and its table as facts about whole disks."""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Labels, Unit
from probes.builtin.captured import Document, documents, mapping, sequence, whole_lines
from probes.builtin.inventory.facts import counted, measured, on, once, said, some

_NO_DISK = re.compile(r"(?:zram|ram|loop|fd|sr|nbd)[0-9]+|mmcblk[0-9]+(?:boot[0-9]+|rpmb)")
_ROUNDED = re.compile(r"([0-9]+(?:[.,][0-9]+)?)([BKMGTP])")
_SIZE = re.compile(r"[0-9]+(?:[.,][0-9]+)?[KMGTP]|[0-9]{7,}")
_PAIR = re.compile(r'(?P<key>[A-Z][A-Z:_%-]*)="(?P<value>[^"]*)"')
_PAIRS = re.compile(r'(?:[A-Z][A-Z:_%-]*="[^"]*" ?)+')
_ROW = re.compile(
    r"(?P<name>[a-z][\w-]*)\s+[0-9]+:[0-9]+\s+[01]\s+(?P<size>[0-9.,]+[KMGTP]|[0-9]{7,})\s+[01]\s+disk(?:\s.*)?"
)
_FULL = frozenset(
    ("NAME", "KNAME", "MAJ:MIN", "RM", "SIZE", "RO", "TYPE", "ROTA", "RA", "PHY-SEC", "LOG-SEC", "RQ-SIZE", "HOTPLUG")
)
"""Columns with a word in every row; behind any other one an empty cell moves the words."""

_LAST = frozenset(("MODEL", "TRAN", "SERIAL", "MOUNTPOINT", "MOUNTPOINTS", "VENDOR", "FSTYPE", "SCHED", "REV", "STATE"))
_RAID = re.compile(r"raid[0-9]+|linear")


def parse(text: str) -> Sequence[Fact]:
    """``disk.count`` (of JSON with types) and, of each disk, ``.size``, ``.model``, ``.kind``, ``.transport``;

    of software RAID ``raid.layout`` and ``raid.size`` with the label ``raid``. The table's sizes are rounded.
    """
    found: list[Fact] = []
    for document in documents(text, first="blockdevices"):
        tops = sequence(document.get("blockdevices"))
        entries = list(_entries(tops))
        # without its type a part of a disk is told by its place alone
        disks = {str(disk.get("name")): disk for disk in entries if _is_disk(disk) and ("type" in disk or disk in tops)}
        found += counted("disk.count", len(disks)) if all("type" in entry for entry in entries) else []
        for name, disk in disks.items():
            found += _facts(name, disk)
        found += _arrays(entries)
    lines = whole_lines(text)
    for line in lines:
        found += _from_line(line)
    found += _from_columns(lines)
    return some(once(found), "the JSON of lsblk -J, its pairs or its table")


def _entries(entries: Sequence[object]) -> Iterator[Document]:
    waiting = list(reversed(entries))
    while waiting:
        entry = mapping(waiting.pop())
        yield entry
        waiting.extend(reversed(sequence(entry.get("children"))))


def _is_disk(entry: Document) -> bool:
    name = entry.get("name")
    if not isinstance(name, str) or str(entry.get("size")) in ("0", "0B"):
        return False
    return entry.get("type", "disk") == "disk" and not _NO_DISK.fullmatch(name)


def _facts(name: str, disk: Document) -> Iterator[Fact]:
    marks = on("disk", name.removeprefix("/dev/"))
    yield from _sized("disk.size", disk.get("size"), marks)
    yield from said("disk.model", disk.get("model"), marks)
    yield from said("disk.vendor", disk.get("vendor"), marks)
    yield from said("disk.serial", disk.get("serial"), marks)
    yield from said("disk.transport", disk.get("tran"), marks)
    yield from said("disk.firmware", disk.get("rev"), marks)
    yield from said("disk.scheduler", disk.get("sched"), marks)
    turning = {True: "rotating", "1": "rotating", False: "solid state", "0": "solid state"}
    rota = disk.get("rota")
    yield from said("disk.kind", turning.get(rota) if isinstance(rota, bool | str) else None, marks)


def _arrays(entries: Sequence[Document]) -> Iterator[Fact]:
    for entry in entries:
        level = entry.get("type")
        if isinstance(level, str) and _RAID.fullmatch(level) and isinstance(entry.get("name"), str):
            marks = on("raid", str(entry["name"]).removeprefix("/dev/"))
            yield from said("raid.layout", level, marks)
            yield from _sized("raid.size", entry.get("size"), marks)


def _from_line(line: str) -> Iterator[Fact]:
    """A line of ``lsblk -P``, or a row of the table that has all its columns; how many there are is not known."""
    if _PAIRS.fullmatch(line):
        pairs = [(pair["key"].lower(), pair["value"].strip()) for pair in _PAIR.finditer(line)]
        entry = dict(pairs)
        if len(entry) == len(pairs) and {"name", "size", "type"} <= entry.keys() and _is_disk(entry):
            yield from _facts(entry["name"], entry)
    elif (row := _ROW.fullmatch(line)) and not _NO_DISK.fullmatch(row["name"]):
        yield from _sized("disk.size", row["size"], on("disk", row["name"]))


def _from_columns(lines: Sequence[str]) -> Iterator[Fact]:
    """Rows of ``lsblk -o``: the columns before the first that may be empty, and that one when it is the last."""
    head: list[str] = []
    for line in lines:
        words = line.split()
        if words[:1] == ["NAME"] and "SIZE" in words and _FULL.union(_LAST).issuperset(words):
            head = words
        elif not words:
            head = []
        elif head and re.match(r"[a-z]", line):
            yield from _from_row(head, line)


def _from_row(head: Sequence[str], line: str) -> Iterator[Fact]:
    full = next((place for place, name in enumerate(head) if name not in _FULL), len(head))
    cells = line.split(maxsplit=full) if full == len(head) - 1 else line.split()[:full]
    entry = dict(zip([name.lower() for name in head], cells, strict=False))
    whole_row = full <= len(cells) <= len(head) and _SIZE.fullmatch(entry.get("size", ""))
    if whole_row and _is_disk(entry) and (entry.get("rota", "0") in ("0", "1")):
        yield from _facts(entry["name"], entry)


def _sized(name: str, value: object, marks: Labels) -> list[Fact]:
    """A size above 0; lsblk's letters are powers of 1024."""
    text = str(value).strip()
    rounded = _ROUNDED.fullmatch(text)
    number, letter = (rounded[1].replace(",", "."), rounded[2].removesuffix("B")) if rounded else (text, "")
    text = f"{number} {letter}iB" if letter else f"{number} B"
    return [fact for fact in measured(name, text, Unit.BYTE, marks) if fact.value]
