"""Compares the described cabling with what the nodes saw of the wire.

Pure: what was seen is an argument (``topology.wire.observed``), None for a node that did not answer.
Says of every node whether it was compared. Refuses to call a cable missing where only nobody
announced himself, and to guess at links that no node can see: LLDP (IEEE 802.1AB) tells a node
who is at the far end of its own cables, and no more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from topology.model import Fabric, NodeId
from topology.wire.cabling import CableState, Cabling, cables, ends, spare
from topology.wire.differences import UP, Difference, Differences, states
from topology.wire.observed import Observed, SysNames


class Coverage(StrEnum):
    """What became of a node; only the first two were compared."""

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

    differences: tuple[Difference, ...]
    states: tuple[CableState, ...]
    coverage: Mapping[str, Coverage]
    reasons: Mapping[str, str]
    strangers: tuple[Stranger, ...]
    links: int
    visible: int

    def nodes(self, *which: Coverage) -> tuple[str, ...]:
        """The nodes of which one of these is true, in the order in which they were given."""
        return tuple(node for node, what in self.coverage.items() if what in which)

    @property
    def complete(self) -> bool:
        """Whether every node that is described to have cables was compared in full, and at least one was."""
        in_part = [node for node in self.nodes(Coverage.DIFFERS) if node in self.reasons]
        compared = self.nodes(Coverage.EQUAL, Coverage.DIFFERS)
        return bool(compared) and not in_part and not self.nodes(Coverage.NO_ANSWER, Coverage.NO_LLDP)

    @property
    def without_speed(self) -> int:
        """Cables that are where they should be, and whose speed nobody told."""
        return sum(
            state.kind in UP and state.plug is not None and state.plug.port.speed is None for state in self.states
        )


def compare(fabric: Fabric, observed: Mapping[str, Observed | None]) -> WireReport:
    """Hold what each node of ``observed`` saw against ``fabric``; of other nodes nothing is said."""
    names, known = SysNames(fabric), ends(fabric)
    answered = {node: seen for node, seen in observed.items() if seen is not None}
    heard = {node: Cabling(fabric, node, seen, names) for node, seen in answered.items() if not seen.deaf}
    beside = spare(heard.values())
    for cabling in heard.values():
        cabling.settle(beside)
    found = tuple(state for cabling in heard.values() for state in states(cabling, known))
    differences = Differences(fabric, found, known, names)
    for node, seen in answered.items():
        if node in heard:
            differences.add_heard(node, heard[node], beside)
        else:
            differences.add_deaf(node, seen)
    folded = differences.folded()
    reasons = {node: seen.deaf for node, seen in answered.items() if seen.deaf} | _unheard(heard)
    reasons |= {node: f"a virtual machine on {host}" for node in observed if (host := fabric.nodes[NodeId(node)].host)}
    return WireReport(
        folded,
        found,
        _coverage(fabric, observed, folded, reasons),
        reasons,
        _strangers(heard, names),
        len(fabric.links),
        len({cable.link for node in fabric.nodes for cable in cables(fabric, node)}),
    )


def _unheard(heard: Mapping[str, Cabling]) -> dict[str, str]:
    """Why nodes that were asked have cables of which nothing can be said."""
    found = {}
    for node, cabling in heard.items():
        ports = [port.name for port in cabling.unheard.values()]
        if ports:
            found[node] = f"{', '.join(ports)} has a carrier, and nobody announces himself there"
    return found


def _coverage(
    fabric: Fabric,
    observed: Mapping[str, Observed | None],
    differences: tuple[Difference, ...],
    reasons: Mapping[str, str],
) -> dict[str, Coverage]:
    differing = {node for difference in differences for node in difference.nodes}
    found = {}
    for node, seen in observed.items():
        if node in differing:
            found[node] = Coverage.DIFFERS
        elif not cables(fabric, node):
            found[node] = Coverage.NOT_DESCRIBED
        elif seen is None:
            found[node] = Coverage.NO_ANSWER
        else:
            found[node] = Coverage.NO_LLDP if node in reasons else Coverage.EQUAL
    return found


def _strangers(heard: Mapping[str, Cabling], names: SysNames) -> tuple[Stranger, ...]:
    """Everybody whose name is not in the file, with the nodes and ports that hear him."""
    found: dict[str, list[tuple[str, str]]] = {}
    for node, cabling in heard.items():
        for plug in (*cabling.found.values(), *cabling.free):
            if plug.device is None:
                found.setdefault(plug.neighbour.device, []).append((node, plug.port.name))
    return tuple(
        Stranger(
            name,
            names.near(name),
            tuple(dict.fromkeys(node for node, _ in where)),
            tuple(dict.fromkeys(port for _, port in where)),
        )
        for name, where in found.items()
    )
