"""Reads ``hwloc-info``, the levels of a machine and how many of each there are, as facts."""

import re
from collections.abc import Sequence

from probes.api import Fact
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import counted, once, some

_LEVEL = re.compile(r"\s*(?:Special )?depth -?[0-9]+:\s+(?P<count>[0-9]+) (?P<kind>[A-Za-z0-9]+) \(type #[0-9]+\)\s*")
_NAMES = {
    "Package": "cpu.sockets", "Socket": "cpu.sockets", "Core": "cpu.cores", "PU": "cpu.threads",
    "NUMANode": "numa.nodes", "Die": "cpu.dies", "L3Cache": "cpu.l3_caches", "L3": "cpu.l3_caches",
}  # fmt: skip


def parse(text: str) -> Sequence[Fact]:
    """``cpu.sockets``, ``.dies``, ``.cores`` (of all sockets), ``.threads``, ``.l3_caches`` and ``numa.nodes``."""
    found = []
    for line in whole_lines(text):
        level = _LEVEL.fullmatch(line)
        if level and level["kind"] in _NAMES:
            found += counted(_NAMES[level["kind"]], level["count"])
    return some(once(found), "the levels of hwloc-info")
