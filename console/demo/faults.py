"""Owns what can be wrong with a simulated cluster: a fault is data, a scenario a named list of faults.

A fault says what is damaged, how much, and which suspect a finding about it should name, so that a
test can hold what was found against what was planted. Refuses to know how a damaged part behaves;
``network``, ``disk`` and ``machine`` play that.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from probes.judging.verdict import Suspect


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
    """A named state of a simulated cluster. ``describe`` gives the text of its topology file."""

    name: str
    summary: str
    describe: Callable[[], str]
    faults: tuple[Fault, ...] = ()
    fabric: str = "meridian"

    def of(self, *kinds: FaultKind) -> Mapping[str, Fault]:
        """The faults of these kinds, by element."""
        return MappingProxyType({fault.element: fault for fault in self.faults if fault.kind in kinds})
