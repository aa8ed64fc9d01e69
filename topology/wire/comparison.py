"""Compares the described cabling with what the nodes saw of the wire.

Pure: what was seen is an argument (``topology.wire.observations``), None for a node that did not answer. Says of every
node whether it was compared. A cable is missing only where another device announces itself; links that no node can see
are left out: LLDP (IEEE 802.1AB) tells a node who is at the far end of its own cables, and no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.wire.cabling import CableState, Cabling, find_spare, list_cables, list_ends
from benchconsole.topology.wire.differences import UP, CablingDifference, Differences, find_states
from benchconsole.topology.wire.observations import Observed, SysNames


class WireCoverage(StrEnum):
    """The result for a node; only the first two were compared."""

    EQUAL = "as described"
    DIFFERS = "differs"
    NO_ANSWER = "no answer"
    NO_LLDP = "no LLDP"
    NOT_DESCRIBED = "not described"


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody who announces himself to nodes and is not in the file; ``near`` is who may be meant."""

    name: str
    near: str | None
    nodes: tuple[str, ...]
    ports: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WireReport:
    """The comparison. ``states`` has every described cable of the nodes that were heard.

    ``reasons`` says why a node was not compared, or not in full, where more is known than its coverage.
    ``visible`` of ``links`` links end at a node and are of Ethernet: the others no node can see.
    """

    differences: tuple[CablingDifference, ...]
    states: tuple[CableState, ...]
    coverage: Mapping[str, WireCoverage]
    reasons: Mapping[str, str]
    strangers: tuple[Stranger, ...]
    links: int
    visible: int

    def nodes(self, *which: WireCoverage) -> tuple[str, ...]:
        """The nodes of which one of these is true, in the order in which they were given."""
        return tuple(node for node, what in self.coverage.items() if what in which)

    @property
    def complete(self) -> bool:
        """Whether every node that is described to have cables was compared in full, and at least one was."""
        in_part = [node for node in self.nodes(WireCoverage.DIFFERS) if node in self.reasons]
        compared = self.nodes(WireCoverage.EQUAL, WireCoverage.DIFFERS)
        return bool(compared) and not in_part and not self.nodes(WireCoverage.NO_ANSWER, WireCoverage.NO_LLDP)

    @property
    def without_speed(self) -> int:
        """Cables that are where they should be, and whose speed nobody told."""
        return sum(
            state.kind in UP and state.plug is not None and state.plug.port.speed is None for state in self.states
        )


def compare(fabric: Fabric, observed: Mapping[str, Observed | None]) -> WireReport:
    """Hold what each node of ``observed`` saw against ``fabric``; of other nodes nothing is said."""
    names, known = SysNames(fabric), list_ends(fabric)
    answered = {node: seen for node, seen in observed.items() if seen is not None}
    heard = {node: Cabling(fabric, node, seen, names) for node, seen in answered.items() if not seen.deaf}
    beside = find_spare(heard.values())
    for cabling in heard.values():
        cabling.settle(beside)
    found = tuple(state for cabling in heard.values() for state in find_states(cabling, known))
    differences = Differences(fabric, found, known, names)
    for node, seen in answered.items():
        if node in heard:
            differences.add_heard(node, heard[node], beside)
        else:
            differences.add_deaf(node, seen)
    folded = differences.folded()
    reasons = {node: seen.deaf for node, seen in answered.items() if seen.deaf}
    for node, cabling in heard.items():
        if cabling.unheard:
            ports = ", ".join(port.name for port in cabling.unheard.values())
            reasons[node] = f"{ports} has a carrier, and nobody announces himself there"
    reasons |= {node: f"a virtual machine on {host}" for node in observed if (host := fabric.nodes[NodeId(node)].host)}
    differing = {node for difference in folded for node in difference.nodes}
    coverage = {}
    for node, told in observed.items():
        if node in differing:
            coverage[node] = WireCoverage.DIFFERS
        elif not list_cables(fabric, node):
            coverage[node] = WireCoverage.NOT_DESCRIBED
        elif told is None:
            coverage[node] = WireCoverage.NO_ANSWER
        else:
            coverage[node] = WireCoverage.NO_LLDP if node in reasons else WireCoverage.EQUAL
    return WireReport(
        folded,
        found,
        coverage,
        reasons,
        _list_strangers(heard, names),
        len(fabric.links),
        len({cable.link for node in fabric.nodes for cable in list_cables(fabric, node)}),
    )


def _list_strangers(heard: Mapping[str, Cabling], names: SysNames) -> tuple[Stranger, ...]:
    """Everybody whose name is not in the file, with the nodes and ports that hear him."""
    found = group_by_key(
        (plug.neighbour.device, (node, plug.port.name))
        for node, cabling in heard.items()
        for plug in (*cabling.found.values(), *cabling.free)
        if plug.device is None
    )
    return tuple(
        Stranger(name, names.near(name), *(tuple(dict.fromkeys(each)) for each in zip(*where, strict=True)))
        for name, where in found.items()
    )
