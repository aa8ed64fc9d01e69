"""The ports of nodes that the tests of a stage use: those that its options name, or each rail or plane in turn.

On rails every port is tested with the same port of other nodes, and with the next one where the fabric joins rails;
on planes with the same one. Addresses of both ends are those of the ports. Nodes that have not all ports, or no
addresses of them, are tested with the others by no port.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.designs.one_way import PEER_LEGS
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.probes.planning.stage_network import StageNetwork
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage
from benchconsole.topology.model.network import Parallel
from benchconsole.topology.model.sweep import CLIENTS
from benchconsole.topology.routing.parallel_legs import find_parallel_legs
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.selection import fold

OPTION, PEER_OPTION = "leg", "peer_leg"


_FITTED = ("servers", "from", "to", "share", "pairs", "shift")
"""Options that are written for all nodes of a stage, and need not fit a part of them."""


@dataclass(frozen=True)
class StageLegs:
    """The fabric of a stage for one pair of ports (``leg`` of senders, ``peer_leg`` of receivers; empty: any).

    ``lacking`` are the nodes of the stage that have not these ports with addresses; without a port, those for which
    there is a stage by no port beside the others.
    """

    leg: str
    peer_leg: str
    fabric: Fabric
    flow_classes: FlowClasses
    members: Sequence[NodeId]
    lacking: Sequence[NodeId] = ()

    @property
    def name(self) -> str:
        """The end of the name of the stage."""
        if not self.leg:
            return ""
        return f" {self.leg}" if self.leg == self.peer_leg else f" {self.leg} to {self.peer_leg}"

    @property
    def because(self) -> str:
        """Who is not in it, or for whom it is; empty where all nodes of the stage have all ports."""
        if not self.lacking:
            return ""
        if not self.leg:
            return f"by no port, for not all ports with addresses are known of {fold(self.lacking)}"
        return f"without {fold(self.lacking)}, of which not all ports with addresses are known"


@dataclass(frozen=True)
class _PortGroup:
    """Nodes that have the same ports with addresses, and the pairs of ports that their tests use."""

    members: Sequence[NodeId]
    pairs: Sequence[tuple[str, str]]


def choose_legs(stage: Stage, probe: Probe, used: StageNetwork) -> Iterator[StageLegs]:
    """Every pair of ports that the tests of a stage use. PlanError for one that a node lacks, or has no address of."""
    leg, peer = (str(stage.options.get(option) or "") for option in (OPTION, PEER_OPTION))
    if stage.options.get(PEER_LEGS):
        if leg or peer:
            raise PlanError(f"{probe.name}: found {OPTION}={leg or peer} beside {PEER_LEGS}, expected one of them")
        groups: list[_PortGroup] = []  # its design chooses the ports
    elif leg or peer:
        if probe.shape is not Shape.PAIR:
            raise PlanError(
                f"{probe.name}: found {OPTION}={leg or peer}, expected none: its tests are not between nodes"
            )
        if not leg:
            raise PlanError(f"{probe.name}: found {PEER_OPTION}={peer} alone, expected {OPTION} beside it")
        groups = [_PortGroup(used.members, [(leg, peer or leg)])]
        _refuse_unaddressed(probe, used, (leg, peer or leg))
    else:
        groups = _group_by_ports(stage, used) if probe.shape is Shape.PAIR else []
    if stage.sweep is not None and any(axis.name in (OPTION, PEER_OPTION) for axis in stage.sweep.axes):
        raise PlanError(f"{probe.name}: found a sweep over {OPTION}, expected a stage for each port")
    for group in groups:
        inside = set(group.members)
        lacking = [node for node in used.members if node not in inside]
        for one, other in group.pairs:
            fabric = _limit_fabric(used.fabric, {one, other})
            classes = FlowClasses(Routes(fabric), caps=fabric.caps).over("", one, other)
            if one == other or leg or _has_path(classes, group.members):
                yield StageLegs(one, other, fabric, classes, group.members, lacking)
    by_port = {node for group in groups for node in group.members}
    rest = [node for node in used.members if node not in by_port]
    if rest or not groups:
        yield StageLegs("", "", used.fabric, used.flow_classes, used.members, rest if groups else ())


def _group_by_ports(stage: Stage, used: StageNetwork) -> list[_PortGroup]:
    """The nodes that have all ports of their rails or planes, with addresses; none where nobody does.

    All nodes of the stage, or several of them where what it asks for does not depend on who is in it.
    """
    found: list[_PortGroup] = []
    for parallel in find_parallel_legs(used.fabric):
        ports = list(parallel.parts)
        own = {node.id for node in parallel.nodes}
        members = [node for node in used.members if node in own and has_ports(used.fabric, node, ports)]
        across = list(zip(ports, ports[1:] + ports[:1], strict=True)) if parallel.kind is Parallel.RAILS else []
        group = _PortGroup(members, [*((port, port) for port in ports), *across])
        if len(members) == len(used.members):
            return [group]
        if len(members) > 1 and _may_part(stage):
            found.append(group)
    return found


def has_ports(fabric: Fabric, node: NodeId, ports: Iterable[str]) -> bool:
    """Whether a node has all of these ports, each with an address."""
    addresses = dict(fabric.nodes[node].addresses)
    return all(port in addresses and fabric.find_leg(node, port) is not None for port in ports)


def _may_part(stage: Stage) -> bool:
    """Whether a stage can be run on a part of its nodes as well: no option and no axis counts them, or names them."""
    if any(stage.options.get(option) for option in _FITTED) or stage.options.get("design") == "star":
        return False
    return stage.sweep is None or not any(axis.name in (CLIENTS, "design", *_FITTED) for axis in stage.sweep.axes)


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
