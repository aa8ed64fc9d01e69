"""Reads ``/proc/cmdline``, what the kernel was started with, as facts."""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact
from probes.builtin.captured import one_line, whole_lines
from probes.builtin.inventory.facts import on, once, said, some

_SIGN = re.compile(r"(?:^|\s)(?:BOOT_IMAGE|root|console|init|rdinit|initrd|boot|nfsroot|ip)=\S")
_LONGEST = 1000

_BEARING = frozenset(
    (
        "mitigations", "spectre_v2", "isolcpus", "nohz_full", "rcu_nocbs", "nosmt", "maxcpus",
        "intel_idle.max_cstate", "processor.max_cstate", "intel_pstate", "amd_pstate", "cpufreq.default_governor",
        "idle", "iommu", "intel_iommu", "amd_iommu", "hugepages", "hugepagesz",
        "default_hugepagesz", "transparent_hugepage", "numa_balancing", "numa",
        "mem", "pcie_aspm", "audit", "selinux", "tsc", "clocksource", "nopti", "nospectre_v2", "elevator", "noht",
        "skew_tick",
    )
)  # fmt: skip


def parse(text: str) -> Sequence[Fact]:
    """``kernel.command_line``, and ``kernel.parameter`` with the label ``parameter`` of those that bear on performance.

    A parameter without a value is ``yes``. Text with two such lines is refused: which one was it?
    """
    lines = [line.strip() for line in whole_lines(text) if _SIGN.search(line)]
    return some(once(_facts(lines[0])) if len(set(lines)) == 1 else (), "the one line of /proc/cmdline")


def _facts(line: str) -> Iterator[Fact]:
    yield Fact("kernel.command_line", one_line(line, _LONGEST))
    for word in line.partition(" -- ")[0].split():
        name, is_set, value = word.partition("=")
        if name in _BEARING:
            yield from said("kernel.parameter", value if is_set else "yes", on("parameter", name))
