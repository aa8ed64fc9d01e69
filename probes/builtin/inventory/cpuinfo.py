"""Reads ``/proc/cpuinfo`` as facts about the first processor; the others are not counted.

The file has no end that could be seen, so a count of its entries could be that of a cut.
"""

from collections.abc import Sequence

from probes.api import Fact
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import counted, said, some


def parse(text: str) -> Sequence[Fact]:
    """``cpu.model``, ``cpu.vendor``, ``cpu.microcode`` and ``cpu.cores_per_socket``."""
    first: dict[str, str] = {}
    for key, value in fields(whole_lines(text)):
        first.setdefault(key, value)
    found = [
        *said("cpu.model", first.get("model name")),
        *said("cpu.vendor", first.get("vendor_id")),
        *said("cpu.microcode", first.get("microcode")),
        *counted("cpu.cores_per_socket", first.get("cpu cores")),
    ]
    return some(found, "the entries of /proc/cpuinfo")
