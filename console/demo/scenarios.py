"""Owns what is wrong with the simulated cluster: named scenarios, each a list of planted faults.

A fault is data: what is damaged, how much, and which suspect a finding about it should name,
so that a test can hold what was found against what was planted. Refuses to know how a damaged
part behaves; ``network``, ``disk`` and ``machine`` play that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType

from probes.judging.verdict import Suspect

FABRIC = Path(__file__).with_name("fabric.yaml")
"""The topology of meridian, with a port that stands in for the one that will be free."""


class FaultKind(StrEnum):
    """What is wrong with an element."""

    MEMBERS_DOWN = "LAG members down"
    NIC_SLOW_OUT = "NIC slow when sending"
    DIMM_MISSING = "DIMM missing"
    DISK_SLOW = "one slow disk"
    REFUSES = "SSH refused"
    SILENT = "SSH never answers"
    HOST_KEY_CHANGED = "host key changed"
    HOSTILE = "hostile answers"


UNREACHABLE = frozenset((FaultKind.REFUSES, FaultKind.SILENT, FaultKind.HOST_KEY_CHANGED))
"""With these a node cannot be asked at all: they show up as coverage, not as a finding."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One planted fault. ``element`` is a node, or a link as ``lower--upper``.

    ``share`` is what is left of the damaged part (0.5: one of two members); ``suspect`` is the
    kind of element that a finding should name, None where nothing is measured.
    """

    kind: FaultKind
    element: str
    words: str
    share: float = 1.0
    suspect: Suspect | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """A named state of the simulated cluster."""

    name: str
    summary: str
    faults: tuple[Fault, ...] = ()

    def of(self, *kinds: FaultKind) -> Mapping[str, Fault]:
        """The faults of these kinds, by element."""
        return MappingProxyType({fault.element: fault for fault in self.faults if fault.kind in kinds})


_LAG = Fault(
    FaultKind.MEMBERS_DOWN, "leaf3--spine1", "1 of 2 members of the LAG from leaf3 to spine1 is up", 0.5, Suspect.LAG
)
_NIC = Fault(FaultKind.NIC_SLOW_OUT, "n090", "the NIC of n090 sends at 30 % of its speed", 0.3, Suspect.NIC)
_DIMM = Fault(FaultKind.DIMM_MISSING, "n021", "n021 has 7 of 8 DIMMs, 112 of 128 GiB", 7 / 8, Suspect.NODE)
_DISK = Fault(
    FaultKind.DISK_SLOW, "st3", "one of the twelve disks of st3 is slow and holds back the rest", 0.42, Suspect.STORAGE
)
# Refused, not silent: a silent node costs every first run the full login timeout.
_REFUSES = Fault(FaultKind.REFUSES, "n066", "n066 refuses SSH connections")
_SILENT = Fault(FaultKind.SILENT, "n067", "n067 accepts connections and never says a word")
_CHANGED = Fault(FaultKind.HOST_KEY_CHANGED, "n068", "n068 shows another host key than is known")
_HOSTILE = Fault(
    FaultKind.HOSTILE, "n005", "n005 answers with escape sequences, markup, NaN and broken UTF-8", 0.0, Suspect.NODE
)

SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        scenario.name: scenario
        for scenario in (
            Scenario("default", "five planted faults, one of each kind", (_LAG, _NIC, _DIMM, _DISK, _REFUSES)),
            Scenario("healthy", "nothing is wrong"),
            Scenario("lag", "half of one LAG between a leaf and a spine is down", (_LAG,)),
            Scenario("access", "three nodes cannot be asked, each for another reason", (_REFUSES, _SILENT, _CHANGED)),
            Scenario("hostile", "one node answers things that no screen should obey", (_HOSTILE,)),
        )
    }
)
"""Every scenario by name, in the order in which they are offered."""
