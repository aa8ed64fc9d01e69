"""Reads ``df -P``, ``df -PT``, ``df -k`` or ``df -B1`` as facts about file systems and their use.

The heading says what a block is. ``-h`` and ``-H`` have the same heading and different units: both are refused.
"""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import on, once, said, settled, some

_HEAD = re.compile(
    r"Filesystem(?P<type>\s+Type)?\s+(?P<block>[0-9]+|[0-9]*[KMGT]?B?)-blocks\s+Used\s+Avail(?:able|\.)?\s+"
    r"(?:Capacity|Use%)\s+Mounted on"
)
_ROW = re.compile(
    r"(?P<device>\S+)\s+(?:(?P<type>[A-Za-z][\w.-]*)\s+)?(?P<size>[0-9]{1,20})\s+(?P<used>[0-9]{1,20})\s+"
    r"(?P<free>[0-9]{1,20})\s+[0-9]{1,3}%\s+(?P<mount>/.*)"
)
_OWN = re.compile(r"Filesystem\s|\S+\s.*\s[0-9]+%\s+/|\S+\s.*\s-\s+/|df: ")
_BLOCK = re.compile(r"(?P<number>[0-9]*)(?P<letter>[KMGT]?)B?")


def parse(text: str) -> Sequence[Fact]:
    """``fs.size``, ``fs.used``, ``fs.available`` (bytes), ``fs.type`` and ``fs.device`` with the label ``mount``."""
    return some(once(_facts(settled(whole_lines(text), _OWN))), "the table of df -P, whose heading names its blocks")


def _facts(lines: Sequence[str]) -> Iterator[Fact]:
    block, typed = 0, False
    for line in lines:
        if head := _HEAD.fullmatch(line.strip()):
            block, typed = _bytes(head["block"]), bool(head["type"])
        elif line.startswith("Filesystem"):
            block = 0
        elif block and (row := _ROW.fullmatch(line)) and bool(row["type"]) == typed:
            yield from _row(row, block)


def _bytes(block: str) -> int:
    """Bytes of ``1K``, ``1024``, ``1B``, ``1``, ``512``; 0 for what says no unit, and for powers of 1000 (``1MB``)."""
    found = _BLOCK.fullmatch(block)
    if found is None or (found["letter"] and block.endswith("B")) or not (found["number"] or found["letter"]):
        return 0
    return int(found["number"] or 1) << 10 * " KMGT".index(found["letter"] or " ")


def _row(row: re.Match[str], block: int) -> Iterator[Fact]:
    size, used, free = (int(row[part]) * block for part in ("size", "used", "free"))
    if not size or used + free > size:
        return
    marks = on("mount", row["mount"])
    yield from (
        Fact(name, float(value), Unit.BYTE, marks)
        for name, value in (("fs.size", size), ("fs.used", used), ("fs.available", free))
    )
    yield from said("fs.type", row["type"], marks)
    yield from said("fs.device", row["device"], marks)
