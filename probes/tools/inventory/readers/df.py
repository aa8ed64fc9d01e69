"""``df -P``, ``df -PT``, ``df -k`` or ``df -B1``, as facts about file systems and their use.

The heading says what a block is. ``-h`` and ``-H`` have the same heading and different units: both are refused.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.lines import read_lines
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, label_part, make_texts, scale_binary

EXPECTED = "the table of df -P, whose heading names its blocks"

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


def find_facts(text: str) -> Iterator[Fact]:
    """``fs.size``, ``fs.used``, ``fs.available`` (bytes), ``fs.type`` and ``fs.device`` with the label ``mount``."""
    block, typed = 0, False
    for line in keep_whole_lines(read_lines(text), _OWN):
        if head := _HEAD.fullmatch(line.strip()):
            block, typed = _parse_block(head["block"]), bool(head["type"])
        elif line.startswith("Filesystem"):
            block = 0
        elif block and (row := _ROW.fullmatch(line)) and bool(row["type"]) == typed:
            yield from _read_row(row, block)


def _parse_block(text: str) -> int:
    """Bytes of ``1K``, ``1024``, ``1B``, ``1``, ``512``; 0 for what says no unit, and for powers of 1000 (``1MB``)."""
    block = _BLOCK.fullmatch(text)
    if block is None or (block["letter"] and text.endswith("B")) or not (block["number"] or block["letter"]):
        return 0
    return int(scale_binary(block["number"] or "1", block["letter"]))


def _read_row(row: re.Match[str], block: int) -> Iterator[Fact]:
    size, used, free = (int(row[part]) * block for part in ("size", "used", "free"))
    if not size or used + free > size:
        return
    marks = label_part("mount", row["mount"])
    for name, value in (("fs.size", size), ("fs.used", used), ("fs.available", free)):
        yield Fact(name, float(value), Unit.BYTE, marks)
    yield from make_texts({"type": "fs.type", "device": "fs.device"}, row.groupdict(), marks)
