"""Owns the scenarios that are offered: what is wrong with the simulated cluster meridian, and the large one.

Refuses to know how a damaged part behaves; ``network``, ``disk`` and ``machine`` play that.
"""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from console.demo import large
from console.demo.faults import Fault, FaultKind, Scenario
from probes.judging.verdict import Suspect

FABRIC = Path(__file__).with_name("fabric.yaml")
"""The topology of meridian, with a port that stands in for the one that will be free."""


def _on_meridian(name: str, summary: str, *faults: Fault) -> Scenario:
    return Scenario(name, summary, FABRIC.read_text, faults)


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
            _on_meridian("default", "five planted faults, one of each kind", _LAG, _NIC, _DIMM, _DISK, _REFUSES),
            _on_meridian("healthy", "nothing is wrong"),
            _on_meridian("lag", "half of one LAG between a leaf and a spine is down", _LAG),
            _on_meridian("access", "three nodes cannot be asked, each for another reason", _REFUSES, _SILENT, _CHANGED),
            _on_meridian("hostile", "one node answers things that no screen should obey", _HOSTILE),
            large.scenario(large.MOST_ROUND),
        )
    }
)
"""Every scenario by name, in the order in which they are offered."""


def scenario_named(name: str, nodes: int | None = None) -> Scenario:
    """A scenario by name; with ``nodes`` one of that size, whatever it is called.

    KeyError for an unknown name, ValueError for a size that is not offered.
    """
    return SCENARIOS[name] if nodes is None else large.scenario(nodes)
