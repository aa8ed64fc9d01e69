"""``/proc/cpuinfo`` as facts about the first processor; the others are not counted.

The file has no end that could be seen, so a count of its entries could be that of a cut.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact
from benchconsole.probes.readers.lines import read_lines
from benchconsole.probes.tools.inventory.facts import make_count, make_texts, read_whole_fields

EXPECTED = "the entries of /proc/cpuinfo"

_NAMES = {"model name": "cpu.model", "vendor_id": "cpu.vendor", "microcode": "cpu.microcode"}
_OWN = re.compile(r"[\w ]+\t*\s*:|\s*$")


def find_facts(text: str) -> Iterator[Fact]:
    """``cpu.model``, ``cpu.vendor``, ``cpu.microcode``, ``.cores_per_socket``; of virtual machines ``virt.flag``."""
    fields = read_whole_fields(read_lines(text), _OWN)
    yield from make_texts(_NAMES, fields)
    yield from make_count("cpu.cores_per_socket", fields.get("cpu cores"))
    if "hypervisor" in fields.get("flags", "").split():
        yield Fact("virt.flag", "hypervisor")
