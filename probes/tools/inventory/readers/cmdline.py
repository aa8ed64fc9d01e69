"""``/proc/cmdline``, the line that the kernel was started with, as facts."""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact
from benchconsole.probes.readers.lines import read_lines, shorten
from benchconsole.probes.tools.inventory.facts import label_part, make_text

EXPECTED = "the one line of /proc/cmdline"

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


def find_facts(text: str) -> Iterator[Fact]:
    """``kernel.command_line``, and ``kernel.parameter`` with the label ``parameter`` of those that bear on performance.

    A parameter without a value is ``yes``. Text with two such lines is refused: which one was it?
    """
    lines = [line.strip() for line in read_lines(text) if _SIGN.search(line)]
    if len(set(lines)) != 1:
        return
    yield Fact("kernel.command_line", shorten(lines[0], _LONGEST))
    for word in lines[0].partition(" -- ")[0].split():
        name, is_set, value = word.partition("=")
        if name in _BEARING:
            yield from make_text("kernel.parameter", value if is_set else "yes", label_part("parameter", name))
