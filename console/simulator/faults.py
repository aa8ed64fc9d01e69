"""Faults of a simulated cluster as data, and scenarios as named lists of them.

A fault says what is damaged, how much, and which suspect a finding about it should name, so that a
test can compare the findings with the faults. ``network``, ``fio``, ``inventory`` and ``nodes`` play them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from benchconsole.probes.model.judgement import Suspect


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
class PlantedFault:
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
    """A named state of a simulated cluster. ``describe`` gives the text of its topology file."""

    name: str
    summary: str
    describe: Callable[[], str]
    faults: tuple[PlantedFault, ...] = ()
    fabric: str = "meridian"

    def select(self, *kinds: FaultKind) -> Mapping[str, PlantedFault]:
        return MappingProxyType({fault.element: fault for fault in self.faults if fault.kind in kinds})

    def find_share(self, kind: FaultKind, element: str) -> float:
        """How much of ``element`` a fault of this kind leaves; 1 where there is none."""
        fault = self.select(kind).get(element)
        return 1.0 if fault is None else fault.share
