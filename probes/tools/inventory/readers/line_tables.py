"""The sources whose lines each tell one fact, as tables of the forms of these lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.api import Fact, Unit, labels
from benchconsole.probes.readers.lines import read_lines
from benchconsole.probes.tools.inventory.facts import keep_whole_lines, make_count, make_quantity, make_text

_QUANTITIES = {"KiB": Unit.BYTE, "MiB": Unit.BYTE, "Hz": Unit.PER_SECOND}


@dataclass(frozen=True, slots=True)
class LineTable:
    """How the lines of one source are read.

    Of the groups of a form ``text`` (and ``more``, behind a blank), ``count``, ``KiB``, ``MiB`` or ``Hz`` (with its
    unit) is the value of its fact; all others are labels. The groups of ``head`` are labels of the lines below it:
    before the first, and below a head without groups, no line counts.
    """

    expected: str
    forms: Sequence[tuple[str, str]]
    """Name of a fact, and the form of its line from begin to end."""
    head: str = ""
    own: str = ""
    """Where lines end in a bare number: the lines of this source, as ``keep_whole_lines`` wants them."""

    def find_facts(self, text: str) -> Iterator[Fact]:
        lines, part = read_lines(text), dict[str, str | None]()
        for line in keep_whole_lines(lines, re.compile(self.own)) if self.own else lines:
            if self.head and (head := re.fullmatch(self.head, line, re.ASCII)):
                part = head.groupdict()
            for name, form in self.forms:
                if (match := re.fullmatch(form, line, re.ASCII)) and (any(part.values()) or not self.head):
                    yield from _read_fact(name, {**part, **match.groupdict()})


def _read_fact(name: str, groups: Mapping[str, str | None]) -> list[Fact]:
    given = {group: text for group, text in groups.items() if text is not None}
    values = {kind: given.pop(kind) for kind in ("text", "more", "count", *_QUANTITIES) if kind in given}
    kind, value = next(iter(values)), " ".join(values.values())
    if unit := _QUANTITIES.get(kind):
        return make_quantity(name, value if kind == "Hz" else f"{value} {kind}", unit, labels(**given))
    return make_text(name, value, labels(**given)) if kind == "text" else make_count(name, value, labels(**given))


def _describe_level(kinds: str) -> str:
    return rf"\s*(?:Special )?depth -?[0-9]+:\s+(?P<count>[0-9]+) (?:{kinds}) \(type #[0-9]+\)\s*"


_RELEASE = r"(?P<text>[0-9]+\.[0-9]+[\w.+~-]*)"
_KIB = r"\s+(?P<KiB>[0-9]{1,15}) kB\s*"

LINE_TABLES: Mapping[str, LineTable] = MappingProxyType(
    {
        "cpupower": LineTable(
            "the lines of cpupower frequency-info",
            (
                ("cpu.governor", r".*[Tt]he governor \"(?P<text>[\w-]+)\" may decide.*"),
                ("cpu.mhz_max", r".*hardware limits: \S+ [kMG]?Hz - (?P<Hz>[0-9.]+ [kMG]?Hz)\s*"),
                ("cpu.boost", r"\s+Active: (?P<text>yes|no)\s*"),
            ),
            head=r"analyzing CPU (?P<cpu>[0-9]+):.*",
        ),
        "hwloc": LineTable(
            "the levels of hwloc-info",
            (
                ("cpu.sockets", _describe_level("Package|Socket")),
                ("cpu.dies", _describe_level("Die")),
                ("cpu.cores", _describe_level("Core")),
                ("cpu.threads", _describe_level("PU")),
                ("cpu.l3_caches", _describe_level("L3|L3Cache")),
                ("numa.nodes", _describe_level("NUMANode")),
            ),
        ),
        "irq": LineTable(  # as grep -H writes them, a network interface and a blank before them or not
            "lines /proc/irq/N/smp_affinity_list:CPUS",
            (
                (
                    "irq.affinity",
                    r"(?:(?P<nic>\S+) )?/proc/irq/(?P<irq>[0-9]+)/smp_affinity_list:(?P<text>[0-9]+(?:[-,][0-9]+)*)",
                ),
            ),
            own=r"(?:\S+ )?/proc/irq/[0-9]+/smp_affinity_list:[0-9]",
        ),
        "kernel": LineTable(  # uname -r, uname -srm, /proc/version, uname -a
            "what uname -r prints",
            (
                ("kernel.release", rf"\s*{_RELEASE}\s*"),
                ("kernel.release", rf"\s*Linux {_RELEASE} \w+\s*"),
                ("kernel.release", rf"\s*Linux version {_RELEASE} .*"),
                ("kernel.release", rf"\s*Linux \S+ {_RELEASE} #.*"),
                ("kernel.machine", r"\s*Linux [0-9]+\.[0-9]+[\w.+~-]* (?P<text>\w+)\s*"),
            ),
        ),
        "mdstat": LineTable(  # blocks are 1024 bytes
            "an array in /proc/mdstat",
            (
                ("raid.state", r"md\S+ : (?P<text>active|inactive) .+"),
                ("raid.layout", r"md\S+ : (?:in)?active(?: \([\w-]+\))? (?P<text>raid[0-9]+|linear|multipath) .+"),
                ("raid.size", r"\s+(?P<KiB>[0-9]{1,15}) blocks\b.*"),
                ("raid.members", r"\s+[0-9]{1,15} blocks\b.*?\[(?P<text>[0-9]+/[0-9]+)\] \[(?P<more>[U_]+)\]\s*"),
            ),
            head=r"(?P<raid>md\S+) : (?:in)?active .+|(?:\S.*)?",
        ),
        "meminfo": LineTable(  # kB are KiB
            "the lines of /proc/meminfo",
            (
                ("memory.total", rf"MemTotal:(?!\s+0+ ){_KIB}"),
                ("memory.swap", rf"SwapTotal:{_KIB}"),
                ("memory.hugepage_size", rf"Hugepagesize:{_KIB}"),
                ("memory.hugepages", r"HugePages_Total:\s+(?P<count>[0-9]+)\s*"),
            ),
            own=r"[A-Za-z][\w()]*:\s+[0-9]+(?: kB)?$",
        ),
        "numactl": LineTable(  # MB are MiB
            "what numactl --hardware prints",
            (
                ("numa.nodes", r"\s*available: (?P<count>[0-9]+) nodes? \([0-9,-]+\)\s*"),
                ("numa.memory", r"\s*node (?P<numa>[0-9]+) size: (?P<MiB>[0-9]{1,12}) MB\s*"),
            ),
        ),
    }
)
"""Source name to its table."""
