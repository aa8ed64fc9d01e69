"""Reads ``/proc/cpuinfo`` as facts about the first processor; the others are not counted.

The file has no end that could be seen, so a count of its entries could be that of a cut.
"""

import re
from collections.abc import Sequence

from probes.api import Fact
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import counted, firsts, said, some

_OWN = re.compile(r"[\w ]+\t*\s*:|\s*$")


def parse(text: str) -> Sequence[Fact]:
    """``cpu.model``, ``cpu.vendor``, ``cpu.microcode``, ``.cores_per_socket``; of virtual machines ``virt.flag``."""
    first = firsts(whole_lines(text), _OWN)
    found = [
        *said("cpu.model", first.get("model name")),
        *said("cpu.vendor", first.get("vendor_id")),
        *said("cpu.microcode", first.get("microcode")),
        *counted("cpu.cores_per_socket", first.get("cpu cores")),
        *said("virt.flag", "hypervisor" if "hypervisor" in first.get("flags", "").split() else None),
    ]
    return some(found, "the entries of /proc/cpuinfo")
