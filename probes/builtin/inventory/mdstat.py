"""Reads ``/proc/mdstat``, whose blocks are 1024 bytes, as facts about software RAID."""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Labels, Unit, labels
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import measured, once, said, some

_ARRAY = re.compile(
    r"(?P<raid>md\S+) : (?P<state>active|inactive)(?: \([\w-]+\))?(?: (?P<level>raid[0-9]+|linear|multipath))? .+"
)
_BLOCKS = re.compile(r"\s+(?P<blocks>[0-9]{1,15}) blocks\b.*?(?:\[(?P<count>[0-9]+/[0-9]+)\] \[(?P<map>[U_]+)\]\s*)?")


def parse(text: str) -> Sequence[Fact]:
    """``raid.layout``, ``raid.state``, ``raid.size`` (bytes) and ``raid.members`` (``2/2 UU``) with ``raid``."""
    return some(once(_facts(whole_lines(text))), "an array in /proc/mdstat")


def _facts(lines: Sequence[str]) -> Iterator[Fact]:
    marks: Labels = ()
    for line in lines:
        array = _ARRAY.fullmatch(line)
        if array:
            marks = labels(raid=array["raid"])
            yield from said("raid.state", array["state"], marks)
            yield from said("raid.layout", array["level"], marks)
        elif marks and (blocks := _BLOCKS.fullmatch(line)):
            yield from measured("raid.size", f"{blocks['blocks']} KiB", Unit.BYTE, marks)
            yield from said("raid.members", f"{blocks['count']} {blocks['map']}" if blocks["map"] else None, marks)
            marks = ()
        elif not line.startswith(" "):
            marks = ()
