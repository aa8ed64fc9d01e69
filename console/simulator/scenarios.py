"""The scenarios that the simulator offers: the cluster meridian with its faults, and the large cluster."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from benchconsole.console.simulator import large_cluster
from benchconsole.console.simulator.faults import FaultKind, PlantedFault, Scenario
from benchconsole.probes.model.judgement import Suspect

FABRIC = Path(__file__).with_name("fabric.yaml")
"""The topology of meridian, with a port that stands in for the one that will be free."""


def _damage(name: str, summary: str, *faults: PlantedFault) -> Scenario:
    return Scenario(name, summary, FABRIC.read_text, faults)


_LAG = PlantedFault(
    FaultKind.MEMBERS_DOWN, "leaf3--spine1", "1 of 2 members of the LAG from leaf3 to spine1 is up", 0.5, Suspect.LAG
)
_NIC = PlantedFault(FaultKind.NIC_SLOW_OUT, "n090", "the NIC of n090 sends at 30 % of its speed", 0.3, Suspect.NIC)
_DIMM = PlantedFault(FaultKind.DIMM_MISSING, "n021", "n021 has 7 of 8 DIMMs, 112 of 128 GiB", 7 / 8, Suspect.NODE)
_DISK = PlantedFault(
    FaultKind.DISK_SLOW, "st3", "one of the twelve disks of st3 is slow and holds back the rest", 0.42, Suspect.STORAGE
)
# Refused, not silent: a silent node costs every first run the full login timeout.
_REFUSES = PlantedFault(FaultKind.REFUSES, "n066", "n066 refuses SSH connections")
_SILENT = PlantedFault(FaultKind.SILENT, "n067", "n067 accepts connections and never says a word")
_CHANGED = PlantedFault(FaultKind.HOST_KEY_CHANGED, "n068", "n068 shows another host key than is known")
_HOSTILE = PlantedFault(
    FaultKind.HOSTILE, "n005", "n005 answers with escape sequences, markup, NaN and broken UTF-8", 0.0, Suspect.NODE
)

SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        scenario.name: scenario
        for scenario in (
            _damage("default", "five planted faults, one of each kind", _LAG, _NIC, _DIMM, _DISK, _REFUSES),
            _damage("healthy", "nothing is wrong"),
            _damage("lag", "half of one LAG between a leaf and a spine is down", _LAG),
            _damage("access", "three nodes cannot be asked, each for another reason", _REFUSES, _SILENT, _CHANGED),
            _damage("hostile", "one node answers things that no screen should obey", _HOSTILE),
            large_cluster.make_scenario(large_cluster.MOST_ROUND),
        )
    }
)
"""Every scenario by name, in the order in which they are offered."""


def find_scenario(name: str, nodes: int | None = None) -> Scenario:
    """A scenario by name; with ``nodes`` one of that size, whatever it is called.

    KeyError for an unknown name, ValueError for a size that is not offered.
    """
    return SCENARIOS[name] if nodes is None else large_cluster.make_scenario(nodes)
