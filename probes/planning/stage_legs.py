"""The ports of nodes that the tests of a stage use: those that its options name, or each rail or plane in turn.

On rails every port is tested with the same port of other nodes, and with the next one where the fabric joins rails;
on planes with the same one. Addresses of both ends are those of the ports.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.designs.one_way import PEER_LEGS
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.probes.planning.stage_network import StageNetwork
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage
from benchconsole.topology.model.network import Parallel
from benchconsole.topology.routing.parallel_legs import find_parallel_legs
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.selection import fold

OPTION, PEER_OPTION = "leg", "peer_leg"


@dataclass(frozen=True)
class StageLegs:
    """The fabric of a stage for one pair of ports (``leg`` of senders, ``peer_leg`` of receivers; empty: any)."""

    leg: str
    peer_leg: str
    fabric: Fabric
    flow_classes: FlowClasses
    members: Sequence[NodeId]

    @property
    def name(self) -> str:
        """The end of the name of the stage."""
        if not self.leg:
            return ""
        return f" {self.leg}" if self.leg == self.peer_leg else f" {self.leg} to {self.peer_leg}"


def choose_legs(stage: Stage, probe: Probe, used: StageNetwork) -> Iterator[StageLegs]:
    """Every pair of ports that the tests of a stage use. PlanError for one that a node lacks, or has no address of."""
    leg, peer = (str(stage.options.get(option) or "") for option in (OPTION, PEER_OPTION))
    if stage.options.get(PEER_LEGS):
        if leg or peer:
            raise PlanError(f"{probe.name}: found {OPTION}={leg or peer} beside {PEER_LEGS}, expected one of them")
        pairs: list[tuple[str, str]] = []  # its design chooses the ports
    elif leg or peer:
        if probe.shape is not Shape.PAIR:
            raise PlanError(
                f"{probe.name}: found {OPTION}={leg or peer}, expected none: its tests are not between nodes"
            )
        if not leg:
            raise PlanError(f"{probe.name}: found {PEER_OPTION}={peer} alone, expected {OPTION} beside it")
        pairs = [(leg, peer or leg)]
        _refuse_unaddressed(probe, used, pairs[0])
    else:
        pairs = _list_pairs(used) if probe.shape is Shape.PAIR else []
    if stage.sweep is not None and any(axis.name in (OPTION, PEER_OPTION) for axis in stage.sweep.axes):
        raise PlanError(f"{probe.name}: found a sweep over {OPTION}, expected a stage for each port")
    if not pairs:
        yield StageLegs("", "", used.fabric, used.flow_classes, used.members)
    for one, other in pairs:
        fabric = _limit_fabric(used.fabric, {one, other})
        classes = FlowClasses(Routes(fabric), caps=fabric.caps).over("", one, other)
        if one == other or leg or _has_path(classes, used.members):
            yield StageLegs(one, other, fabric, classes, used.members)


def _list_pairs(used: StageNetwork) -> list[tuple[str, str]]:
    """The pairs of ports of rails or planes that all nodes have, with addresses; none where they lack any."""
    for parallel in find_parallel_legs(used.fabric):
        ports = list(parallel.parts)
        own = {node.id for node in parallel.nodes}
        if own.issuperset(used.members) and all(
            used.fabric.find_leg(node, port) is not None and used.fabric.nodes[node].find_address(port) is not None
            for node in used.members
            for port in ports
        ):
            across = list(zip(ports, ports[1:] + ports[:1], strict=True)) if parallel.kind is Parallel.RAILS else []
            return [*((port, port) for port in ports), *across]
    return []


def _refuse_unaddressed(probe: Probe, used: StageNetwork, pair: tuple[str, str]) -> None:
    for port in dict.fromkeys(pair):
        lacking = [node for node in used.members if used.fabric.find_leg(node, port) is None]
        if lacking:
            raise PlanError(f"{probe.name}: found no port {port} at {fold(lacking)}, expected a port that links name")
        missing = [node for node in used.members if used.fabric.nodes[node].find_address(port) is None]
        if missing:
            raise PlanError(
                f"{probe.name} over the port {port}: found no address of {fold(missing)} there, "
                f"expected addresses: {{{port}: ...}}"
            )


def _limit_fabric(fabric: Fabric, legs: set[str]) -> Fabric:
    """``fabric`` whose nodes have the legs of these ports only."""
    links = {
        key: link
        for key, link in fabric.links.items()
        if (link.a not in fabric.nodes and link.b not in fabric.nodes)
        or {link.port_at(end) for end in (link.a, link.b) if end in fabric.nodes} <= legs
    }  # fmt: skip
    return replace(fabric, links=MappingProxyType(links))


def _has_path(classes: FlowClasses, members: Sequence[NodeId]) -> bool:
    """Whether the fabric joins two rails: else what crosses them stays in a node."""
    return any(classes.find_class(members[0], other) is not None for other in members[1:])
