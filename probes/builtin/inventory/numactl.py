"""Reads ``numactl --hardware``, whose MB are MiB, as facts about memory nodes."""

import re
from collections.abc import Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import counted, measured, on, once, some

_NODES = re.compile(r"available: ([0-9]+) nodes? \([0-9,-]+\)")
_SIZE = re.compile(r"node ([0-9]+) size: ([0-9]{1,12}) MB")


def parse(text: str) -> Sequence[Fact]:
    """``numa.nodes`` and, with the label ``numa``, ``numa.memory`` in bytes."""
    found: list[Fact] = []
    for line in whole_lines(text):
        if nodes := _NODES.fullmatch(line.strip()):
            found += counted("numa.nodes", nodes[1])
        if size := _SIZE.fullmatch(line.strip()):
            found += measured("numa.memory", f"{size[2]} MiB", Unit.BYTE, on("numa", size[1]))
    return some(once(found), "what numactl --hardware prints")
