"""``lsblk -J`` (sizes with ``-b`` or rounded), ``lsblk -P`` and its table as facts about whole disks."""

import re
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, Labels
from benchconsole.probes.readers.documents import Document, find_documents, read_array
from benchconsole.probes.readers.lines import read_lines
from benchconsole.probes.tools.inventory import facts

_NAMES = {
    "model": "disk.model", "vendor": "disk.vendor", "serial": "disk.serial", "tran": "disk.transport",
    "rev": "disk.firmware", "sched": "disk.scheduler",
}  # fmt: skip
_KINDS = {"True": "rotating", "1": "rotating", "False": "solid state", "0": "solid state"}
"""By the column ROTA."""

_NO_DISK = re.compile(r"(?:zram|ram|loop|fd|sr|nbd)[0-9]+|mmcblk[0-9]+(?:boot[0-9]+|rpmb)")
_ROUNDED = re.compile(r"([0-9]{1,18}(?:[.,][0-9]{1,18})?)([BKMGTP]?)")
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


def find_facts(text: str) -> Iterator[Fact]:
    """``disk.count`` (of JSON with types) and, of each disk, ``.size``, ``.model``, ``.kind``, ``.transport``;
    of software RAID ``raid.layout`` and ``raid.size`` with the label ``raid``. The table's sizes are rounded.
    """
    for document in find_documents(text, first="blockdevices"):
        tops = read_array(document.get("blockdevices"))
        entries = list(facts.walk_tree(tops))
        # without its type a part of a disk is told by its place alone
        disks = {str(disk.get("name")): disk for disk in entries if _is_disk(disk) and ("type" in disk or disk in tops)}
        if all("type" in entry for entry in entries):
            yield from facts.make_count("disk.count", len(disks))
        for disk in disks.values():
            yield from _read_disk(disk)
        for entry in entries:
            level, name = entry.get("type"), entry.get("name")
            if isinstance(level, str) and _RAID.fullmatch(level) and isinstance(name, str):
                marks = facts.label_part("raid", name.removeprefix("/dev/"))
                yield from facts.make_text("raid.layout", level, marks)
                yield from _make_size("raid.size", entry.get("size"), marks)
    lines = read_lines(text)
    for line in lines:
        yield from _read_line(line)
    yield from _read_columns(lines)


def _is_disk(entry: Document) -> bool:
    name = entry.get("name")
    if not isinstance(name, str) or str(entry.get("size")) in ("0", "0B"):
        return False
    return entry.get("type", "disk") == "disk" and not _NO_DISK.fullmatch(name)


def _read_disk(disk: Document) -> Iterator[Fact]:
    marks = facts.label_part("disk", str(disk["name"]).removeprefix("/dev/"))
    yield from _make_size("disk.size", disk.get("size"), marks)
    yield from facts.make_texts(_NAMES, disk, marks)
    yield from facts.make_text("disk.kind", _KINDS.get(str(disk.get("rota"))), marks)


def _read_line(line: str) -> Iterator[Fact]:
    """A line of ``lsblk -P``, or a row of the table that has all its columns; how many there are is not known."""
    if _PAIRS.fullmatch(line):
        pairs = [(pair["key"].lower(), pair["value"].strip()) for pair in _PAIR.finditer(line)]
        entry = dict(pairs)
        if len(entry) == len(pairs) and {"name", "size", "type"} <= entry.keys() and _is_disk(entry):
            yield from _read_disk(entry)
    elif (row := _ROW.fullmatch(line)) and not _NO_DISK.fullmatch(row["name"]):
        yield from _make_size("disk.size", row["size"], facts.label_part("disk", row["name"]))


def _read_columns(lines: Sequence[str]) -> Iterator[Fact]:
    """Rows of ``lsblk -o``: the columns before the first that may be empty, and that one when it is the last."""
    head: list[str] = []
    for line in lines:
        words = line.split()
        if words[:1] == ["NAME"] and "SIZE" in words and _FULL.union(_LAST).issuperset(words):
            head = words
        elif not words:
            head = []
        elif head and re.match(r"[a-z]", line):
            full = next((place for place, name in enumerate(head) if name not in _FULL), len(head))
            cells = line.split(maxsplit=full) if full == len(head) - 1 else words[:full]
            entry = dict(zip([name.lower() for name in head], cells, strict=False))
            whole_row = full <= len(cells) <= len(head) and _SIZE.fullmatch(entry.get("size", ""))
            if whole_row and _is_disk(entry) and entry.get("rota", "0") in ("0", "1"):
                yield from _read_disk(entry)


def _make_size(name: str, value: object, marks: Labels) -> list[Fact]:
    """A size above 0, with one of lsblk's letters or in bytes."""
    size = _ROUNDED.fullmatch(str(value).strip())
    amount = facts.scale_binary(size[1].replace(",", "."), size[2].strip("B")) if size else 0
    return facts.make_size(name, amount, marks)
