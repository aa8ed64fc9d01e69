"""Rates of flows between all nodes of two groups at once, where the nodes of a group are cabled alike.

Routes, model (``Model.FLUID``), max-min shares and their certificate are those of ``topology.capacity.expect``; equal
flows are taken together as ``topology.capacity.flow_groups`` does.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from benchconsole.topology.arrays import Floats
from benchconsole.topology.capacity.expect import compute_group_rates
from benchconsole.topology.capacity.flow_groups import FlowGroup, Nodes, count_pairs, find_members, make_group
from benchconsole.topology.errors import NoPeerLinkError, RoutingError
from benchconsole.topology.model.fabric import Fabric, LinkId
from benchconsole.topology.routing.routes import Routes

MOST_GROUPS = 128
"""Groups of nodes cabled alike, up to which flows between all of them are routed in a moment."""

Pair = tuple[int, int]
"""The numbers of two groups: the nodes of the first send to those of the second."""


class GroupFlows:
    """Flows between groups of nodes on one fabric: the groups of the fabric without a failure."""

    def __init__(self, fabric: Fabric, groups: Sequence[Nodes]) -> None:
        self.fabric = fabric
        self.groups = tuple(groups)
        self._members = find_members(groups)
        self._routes = Routes(fabric)
        self._rates: dict[tuple[Pair, ...], Floats] = {}
        self._crossed: dict[Pair, frozenset[LinkId]] = {}

    def list_links(self, pair: Pair) -> frozenset[LinkId]:
        """The links that the flow of a node of the first group to one of the second crosses; none without a path."""
        if pair not in self._crossed:
            try:
                route = self._routes.route(self._make_group(pair).flow)
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
            node = group[0]
            ends = [link.other(node) for link in graph.active_legs(node)]
            if node in graph.vertex:
                ends.append(node)
            steps = [away[graph.vertex[end]] for end in ends if end in graph.vertex and graph.vertex[end] in away]
            found.append(float(min(steps, default=np.inf)))
        return found

    def count(self, pair: Pair) -> int:
        """The flows of a pair: one for each two different nodes."""
        one, other = pair
        return count_pairs(self.groups[one], self.groups[other], is_same=one == other)

    def lacks_peer_link(self, pairs: Iterable[Pair]) -> bool:
        """Whether any flow of ``pairs`` would need a peer link that is not described."""
        for pair in pairs:
            try:
                self._routes.route(self._make_group(pair).flow)
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
            groups = [self._make_group(pair) for pair in pairs]
            routed = np.array([self._has_path(group) for group in groups], bool)
            found = np.zeros(len(pairs))
            found[routed] = compute_group_rates(
                self._routes, [group for group, there in zip(groups, routed, strict=True) if there], self._members
            )
            self._rates[pairs] = found
        return self._rates[pairs]

    def _make_group(self, pair: Pair) -> FlowGroup:
        one, other = pair
        return make_group(self.groups[one], self.groups[other], self.count(pair))

    def _has_path(self, group: FlowGroup) -> bool:
        try:
            self._routes.route(group.flow)
        except RoutingError:
            return False
        return True
