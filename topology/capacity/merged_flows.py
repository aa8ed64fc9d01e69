"""Rates of flows between all nodes of two sets at once, with nodes that are cabled alike taken together.

The routes, the model (``Model.FLUID``), the max-min shares and their certificate are those of
``topology.capacity.expect``. Nodes that are cabled alike get the same by symmetry: of each group of them one
node is routed, its flows count once for each pair of nodes, and its legs carry what the legs of the group do.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Floats, Indices, sum_at
from benchconsole.topology.capacity.expect import compute_capacities
from benchconsole.topology.capacity.flow_streams import LinkPart, Model, trace_flows
from benchconsole.topology.capacity.maxmin import Usage, certify, max_min, weigh_usage
from benchconsole.topology.errors import NoPeerLinkError, RoutingError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Flow, Link, LinkId, NodeId
from benchconsole.topology.routing.routes import Routes

MOST_GROUPS = 128
"""Groups of nodes cabled alike, up to which flows between all of them are routed in a moment."""

Pair = tuple[int, int]
"""The numbers of two groups: the nodes of the first send to those of the second."""


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Machines that are cabled alike: to the same devices, by links of the same kinds, in the same VLANs."""

    nodes: tuple[NodeId, ...]

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True)
class Leg:
    """A leg of a node that stands for its group, by the number of the group and its ``place`` among the node's legs."""

    group: int
    place: int
    node: str


def group_nodes(fabric: Fabric) -> tuple[NodeGroup, ...]:
    """Every machine with a cable to a switch, in one group; one that forwards for others is a group of its own."""

    def describe(node: NodeId) -> object:
        if fabric.nodes[node].forwards:
            return node
        return tuple(_list_leg_keys(fabric, node)), fabric.vlans_of.get(node, ())

    cabled = [each.id for each in fabric.nodes.values() if each.host is None and fabric.switch_of(each.id)]
    return tuple(NodeGroup(tuple(alike)) for alike in group_by_key((describe(node), node) for node in cabled).values())


def _list_leg_keys(fabric: Fabric, node: str) -> list[tuple[str, str]]:
    return sorted((link.other(node), describe_kind(link)) for link in fabric.links_at[node])


def describe_kind(link: Link) -> str:
    """All that a link is, but for its ends and its name."""
    parts = (link.members, link.standby, link.bond, link.network, link.wan, link.channels, link.hash)
    return repr(parts)


class MergedFlows:
    """Flows between groups of nodes on one fabric.

    ``groups`` and ``legs`` are those of the fabric without a failure; ``legs`` only of the two nodes of each group that
    are routed.
    """

    def __init__(self, fabric: Fabric, groups: Sequence[NodeGroup], legs: Mapping[LinkId, Leg] | None = None) -> None:
        self.fabric = fabric
        self.groups = tuple(groups)
        self.legs = _number_legs(fabric, groups) if legs is None else legs
        self._routes = Routes(fabric)
        self._rates: dict[tuple[Pair, ...], Floats] = {}
        self._crossed: dict[Pair, frozenset[LinkId]] = {}

    def list_links(self, pair: Pair) -> frozenset[LinkId]:
        """The links that the flow of a node of the first group to one of the second crosses; none without a path."""
        if pair not in self._crossed:
            try:
                route = self._routes.route(self._make_flow(pair))
            except RoutingError:
                self._crossed[pair] = frozenset()
            else:
                links = self._routes.graph.links
                self._crossed[pair] = frozenset(links[way >> 1].id for way in route.ways.tolist())
        return self._crossed[pair]

    def find_distances(self, switch: str) -> list[float]:
        """Per group the links from the nearest switch of one of its nodes to ``switch``; infinite without a way."""
        graph = self._routes.graph
        away = graph.distances(graph.vertex[switch])
        found = []
        for group in self.groups:
            node = group.nodes[0]
            ends = [link.other(node) for link in graph.active_legs(node)]
            if node in graph.vertex:
                ends.append(node)
            steps = [away[graph.vertex[end]] for end in ends if end in graph.vertex and graph.vertex[end] in away]
            found.append(float(min(steps, default=np.inf)))
        return found

    def count(self, pair: Pair) -> int:
        """The flows of a pair: one for each two different nodes."""
        one, other = pair
        size = len(self.groups[one])
        return size * (size - 1 if one == other else len(self.groups[other]))

    def lacks_peer_link(self, pairs: Iterable[Pair]) -> bool:
        """Whether any flow of ``pairs`` would need a peer link that is not described."""
        for pair in pairs:
            try:
                self._routes.route(self._make_flow(pair))
            except NoPeerLinkError:
                return True
            except RoutingError:
                pass
        return False

    def crosses(self, pairs: Iterable[Pair], link: LinkId) -> bool:
        """Whether any flow of ``pairs`` crosses a link; of the legs of a group only those of the first two nodes do."""
        return any(link in self.list_links(pair) for pair in pairs)

    def compute_rates(self, pairs: tuple[Pair, ...]) -> Floats:
        """byte/s of payload of one flow of each of ``pairs`` when all flows of all of them run at once; 0 without a
        path.

        ArithmeticError where the certificate of the rates fails.
        """
        if pairs not in self._rates:
            self._rates[pairs] = self._compute_rates(pairs)
        return self._rates[pairs]

    def _compute_rates(self, pairs: Sequence[Pair]) -> Floats:
        flows = [self._make_flow(pair) for pair in pairs]
        has_path = np.array([self._has_path(flow) for flow in flows], bool)
        found = np.zeros(len(pairs))
        if not has_path.any():
            return found
        crossed = trace_flows(
            self._routes, [flow for flow, there in zip(flows, has_path, strict=True) if there], Model.FLUID
        )
        number, limits = self._merge_parts(crossed.parts)
        weight = np.array([self.count(pair) for pair in pairs], float)[has_path][crossed.owner]
        streams = Usage(crossed.used.flow, number[crossed.used.link], crossed.used.share)
        used = weigh_usage(streams, weight * crossed.weight)
        demand = np.full(len(crossed.owner), np.inf)
        level = max_min(used, limits, demand)
        if not certify(used, limits, demand, level):
            raise ArithmeticError("the rates are not max-min fair: a flow could gain without taking from a poorer one")
        found[has_path] = sum_at(level * crossed.weight, crossed.owner, int(has_path.sum()))
        return found

    def _make_flow(self, pair: Pair) -> Flow:
        one, other = pair
        return Flow(self.groups[one].nodes[0], self.groups[other].nodes[one == other])

    def _has_path(self, flow: Flow) -> bool:
        try:
            self._routes.route(flow)
        except RoutingError:
            return False
        return True

    def _merge_parts(self, parts: Sequence[LinkPart]) -> tuple[Indices, Floats]:
        """Per part its number, that of all legs of a group being one; per number the payload capacity."""
        capacity = compute_capacities(self.fabric, parts, {})
        numbers: dict[object, int] = {}
        which = np.zeros(len(parts), np.intp)
        limits: list[float] = []
        for place, part in enumerate(parts):
            key: object = part
            carried = float(capacity[place])
            leg = self.legs.get(part.way.link)
            if leg is not None:
                key = (leg.group, leg.place, part.way.source == leg.node, part.member, part.vlan)
                carried *= len(self.groups[leg.group])
            which[place] = numbers.setdefault(key, len(numbers))
            if which[place] == len(limits):
                limits.append(carried)
        return which, np.array(limits)


def _number_legs(fabric: Fabric, groups: Iterable[NodeGroup]) -> dict[LinkId, Leg]:
    found: dict[LinkId, Leg] = {}
    for number, group in enumerate(groups):
        if fabric.nodes[group.nodes[0]].forwards:
            continue
        for node in group.nodes[:2]:
            links = sorted(fabric.links_at[node], key=lambda link: (link.other(node), describe_kind(link)))
            found.update((link.id, Leg(number, place, node)) for place, link in enumerate(links))
    return found
