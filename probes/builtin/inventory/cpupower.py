"""Reads ``cpupower frequency-info`` (with or without ``-c all``) as facts about clock and governor."""

import re
from collections.abc import Sequence

from probes.api import Fact, Labels, Unit
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import measured, on, said, some

_CPU = re.compile(r"analyzing CPU (?P<cpu>[0-9]+):")
_GOVERNOR = re.compile(r"[Tt]he governor \"(?P<name>[\w-]+)\" may decide", re.ASCII)
_LIMITS = re.compile(r"hardware limits: \S+ [kMG]?Hz - (?P<most>[0-9.]+ [kMG]?Hz)\s*$")


def parse(text: str) -> Sequence[Fact]:
    """``cpu.governor`` and ``cpu.mhz_max`` (Hz) of each processor that is named, with the label ``cpu``."""
    found: list[Fact] = []
    marks: Labels = ()
    for line in whole_lines(text):
        if cpu := _CPU.match(line):
            marks = on("cpu", cpu["cpu"])
        if governor := _GOVERNOR.search(line):
            found += said("cpu.governor", governor["name"], marks)
        if limits := _LIMITS.search(line):
            found += measured("cpu.mhz_max", limits["most"], Unit.PER_SECOND, marks)
    return some(found, "the lines of cpupower frequency-info")
