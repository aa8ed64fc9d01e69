"""The ports of nodes that the tests of a stage use: those that its options name, or each rail or plane in turn.

On rails every port is tested with the same port of other nodes, and with the next one where the fabric joins rails;
on planes with the same one. Addresses of both ends are those of the ports. Nodes without any such port that has an
address are tested with the others by no port.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.designs.one_way import PEER_LEGS
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.probes.planning.stage_network import StageNetwork
from benchconsole.topology.copying import replace
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

    ``lacking`` are the nodes of the stage that have not these ports with addresses; without a port, those that are in
    no stage by port.
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
        """Who is not in it, or for whom it is; empty where all nodes of the stage have its ports."""
        if not self.lacking:
            return ""
        if not self.leg:
            return f"by no port, for {fold(self.lacking)} {_NO_PORT}"
        return f"without {fold(self.lacking)}: no address of the port, or no such port"


_NO_PORT = "has none with an address"


@dataclass(frozen=True)
class _PortPair:
    """The ports of senders and of receivers, and the nodes that have both, with addresses."""

    leg: str
    peer_leg: str
    members: Sequence[NodeId]


def choose_legs(stage: Stage, probe: Probe, used: StageNetwork) -> Iterator[StageLegs]:
    """Every pair of ports that the tests of a stage use. PlanError for one that a node lacks, or has no address of."""
    leg, peer = (str(stage.options.get(option) or "") for option in (OPTION, PEER_OPTION))
    if stage.options.get(PEER_LEGS):
        if leg or peer:
            raise PlanError(f"{probe.name}: found {OPTION}={leg or peer} beside {PEER_LEGS}, expected one of them")
        pairs: list[_PortPair] = []  # its design chooses the ports
    elif leg or peer:
        if probe.shape is not Shape.PAIR:
            raise PlanError(
                f"{probe.name}: found {OPTION}={leg or peer}, expected none: its tests are not between nodes"
            )
        if not leg:
            raise PlanError(f"{probe.name}: found {PEER_OPTION}={peer} alone, expected {OPTION} beside it")
        pairs = [_PortPair(leg, peer or leg, used.members)]
        _refuse_unaddressed(probe, used, (leg, peer or leg))
    else:
        pairs = _list_pairs(stage, used) if probe.shape is Shape.PAIR else []
    if stage.sweep is not None and any(axis.name in (OPTION, PEER_OPTION) for axis in stage.sweep.axes):
        raise PlanError(f"{probe.name}: found a sweep over {OPTION}, expected a stage for each port")
    for each in pairs:
        lacking = _list_others(used.members, each.members)
        fabric = _limit_fabric(used.fabric, {each.leg, each.peer_leg})
        classes = FlowClasses(Routes(fabric), caps=fabric.caps).over("", each.leg, each.peer_leg)
        if each.leg == each.peer_leg or leg or _has_path(classes, each.members):
            yield StageLegs(each.leg, each.peer_leg, fabric, classes, each.members, lacking)
    rest = _list_others(used.members, (node for each in pairs for node in each.members))
    if rest or not pairs:
        yield StageLegs("", "", used.fabric, used.flow_classes, used.members, rest if pairs else ())


def _list_others(members: Sequence[NodeId], those: Iterable[NodeId]) -> list[NodeId]:
    left_out = set(those)
    return [node for node in members if node not in left_out]


def _list_pairs(stage: Stage, used: StageNetwork) -> list[_PortPair]:
    """The pairs of ports of rails or planes, each with the nodes that have them with addresses, two at least.

    None where some nodes lack a port and the options of the stage do not fit a part of its nodes.
    """
    found: dict[tuple[str, str], dict[NodeId, None]] = {}
    for parallel in find_parallel_legs(used.fabric):
        own = {node.id for node in parallel.nodes}
        ports_of = {node: list_addressed(used.fabric, node, parallel.parts) for node in used.members}
        counts = Counter(ports for node, ports in ports_of.items() if node in own)
        # The way to the next rail is that of most: a node that lacks one port of many has no other next one.
        shared = [ports for ports, count in counts.items() if count > 1] or list(counts)
        widest = [ports for ports in shared if not any(set(ports) < set(other) for other in shared)]
        pairs = dict.fromkeys((port, port) for port in parallel.parts)
        if parallel.kind is Parallel.RAILS:
            pairs |= dict.fromkeys(
                pair for ports in widest for pair in zip(ports, (*ports[1:], *ports[:1]), strict=True)
            )
        every = {pair: [node for node, ports in ports_of.items() if set(pair) <= set(ports)] for pair in pairs}
        members = {pair: nodes for pair, nodes in every.items() if nodes}
        if members and all(len(nodes) == len(used.members) for nodes in members.values()):
            return [_PortPair(*pair, nodes) for pair, nodes in members.items()]
        for pair, nodes in members.items():
            found.setdefault(pair, {}).update(dict.fromkeys(nodes))
    if not _may_part(stage):
        return []
    return [_PortPair(*pair, tuple(nodes)) for pair, nodes in found.items() if len(nodes) > 1]


def list_addressed(fabric: Fabric, node: NodeId, ports: Iterable[str]) -> tuple[str, ...]:
    """Those of ``ports`` that a node has, with addresses; none of a virtual machine."""
    found = fabric.nodes[node]
    if not found.addresses or found.host is not None:
        return ()
    addresses = dict(found.addresses)
    return tuple(port for port in ports if port in addresses and fabric.find_leg(node, port) is not None)


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
