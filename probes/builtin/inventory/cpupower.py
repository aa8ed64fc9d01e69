"""Reads ``cpupower frequency-info`` (with or without ``-c all``) as facts about clock and governor."""

import re
from collections.abc import Sequence

from probes.api import Fact, Labels, Unit
from probes.builtin.captured import whole_lines
from probes.builtin.inventory.facts import measured, on, once, said, some

_CPU = re.compile(r"analyzing CPU (?P<cpu>[0-9]+):")
_GOVERNOR = re.compile(r"[Tt]he governor \"(?P<name>[\w-]+)\" may decide", re.ASCII)
_BOOST = re.compile(r"\s+Active: (?P<active>yes|no)\s*")
_LIMITS = re.compile(r"hardware limits: \S+ [kMG]?Hz - (?P<most>[0-9.]+ [kMG]?Hz)\s*$")


def parse(text: str) -> Sequence[Fact]:
    """``cpu.governor``, ``cpu.mhz_max`` (Hz) and ``cpu.boost`` of each processor, with the label ``cpu``."""
    found: list[Fact] = []
    marks: Labels = ()
    for line in whole_lines(text):
        if cpu := _CPU.match(line):
            marks = on("cpu", cpu["cpu"])
        if not marks:
            continue
        if governor := _GOVERNOR.search(line):
            found += said("cpu.governor", governor["name"], marks)
        if limits := _LIMITS.search(line):
            found += measured("cpu.mhz_max", limits["most"], Unit.PER_SECOND, marks)
        if boost := _BOOST.fullmatch(line):
            found += said("cpu.boost", boost["active"], marks)
    return some(once(found), "the lines of cpupower frequency-info")
