"""The least rates of flows where nobody said how a fabric is routed, or queues decide, whichever way they take.

Least hops are the plain way to route a tree or a Clos fabric. Where links inside a tier close rings, other rules are as
usual. On a torus or a mesh they choose among the ways of least hops. Where three switches are cabled to each other
(dragonfly, HyperX, full mesh) traffic may go by a third one. So a flow may cross any link of its ways of least hops on
rings without such triangles, and any link of a ring with them. By UGAL it may cross any link of its minimal and its
Valiant paths.

The bound holds for every split over these ways. A flow that a link holds back is no slower there than any other
(max-min fairness: Bertsekas and Gallager, Data Networks, 1992, section 6.5.2). So it gets at least the fair share of
that link when all flows cross it that may.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.capacity.ceiling_loads import compute_payload
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Flow, Link, SwitchId
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.graph import Graph
from benchconsole.topology.routing.routes import Route, Routes
from benchconsole.topology.tables.graph_algorithms import find_components, search_depth_first

_WHOLE = 1 - 1e-9
"""A share from which a flow crosses a link whole."""


@dataclass(frozen=True, slots=True, eq=False)
class LeastRates:
    """Per flow whether its rate depends on a routing that is not said, and byte/s of payload that it gets at least.

    The rate of a flow that is not ``is_open`` is infinite: nothing is bounded. ``is_free``: it may take several ways.
    An open flow that may not shares a link with one that may, perhaps by way of others.
    """

    is_open: Flags
    is_free: Flags
    rates: Floats


class OpenRouting:
    """The flows of one fabric whose way its file leaves open."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._graph: Graph = routes.graph

    @property
    def is_possible(self) -> bool:
        """Whether any flow can be open: a network of which no routing is said has links on rings, or one has UGAL."""
        return len(self._rings.thinnest) > 0 or bool(self._is_chosen.any())

    def bound(self, flows: Sequence[Flow], routes: Sequence[Route]) -> LeastRates | None:
        """The least rate of each of ``flows`` when all run at once; ``routes`` are those of least hops.

        None where no flow is open.
        """
        if not self.is_possible or not flows:
            return None
        routes = [self._widen(flow, route) for flow, route in zip(flows, routes, strict=True)]
        owner = np.repeat(np.arange(len(flows)), [len(route.ways) for route in routes])
        way = np.concatenate([route.ways for route in routes])
        share = np.concatenate([route.shares for route in routes])
        ring = self._rings.of[way >> 1]
        goes_by = self._is_on_triangles(ring)
        on_ring = (ring >= 0) | self._is_chosen[way >> 1]
        is_free = np.zeros(len(flows), bool)
        is_free[owner[self._may_vary(way, share)]] = True
        if not is_free.any():
            return None
        most = np.array([np.inf if flow.demand is None else flow.demand for flow in flows])
        np.minimum.at(most, owner[~on_ring], (self._graph.payload[way] / share)[~on_ring])
        # Of a ring of triangles every link may carry all flows that come to it, so the thinnest cable stands for it.
        place = np.where(goes_by, 2 * len(self._graph.links) + ring, way)
        capacity = np.where(on_ring, self._cable[way >> 1], self._graph.payload[way])
        capacity[goes_by] = self._rings.thinnest[ring[goes_by]]
        _, first = np.unique(np.column_stack((owner, place)), axis=0, return_index=True)
        used = _Used(owner[first], place[first], np.where(on_ring, 1.0, share)[first], capacity[first])
        if self._graph.columns.passed:
            used = used.join(self._list_ceilings(owner, way, np.where(on_ring, 1.0, share), goes_by))
        is_open = used.find_open(is_free)
        return LeastRates(is_open, is_free, np.where(is_open, used.fill(most), np.inf))

    def _list_ceilings(self, owner: Indices, way: Indices, weight: Floats, goes_by: Flags) -> "_Used":
        """The ceilings inside devices that flows may pass, with the part that does at most."""
        around = {int(ring) for ring in self._rings.of[way[goes_by] >> 1]}
        links_of = {ring: np.flatnonzero(self._rings.of == ring).tolist() for ring in around}
        ways_of = {ring: [2 * link + back for link in links for back in (0, 1)] for ring, links in links_of.items()}
        found: dict[tuple[int, CeilingSide], float] = {}
        for flow, each, part, may_turn in zip(owner.tolist(), way.tolist(), weight.tolist(), goes_by, strict=True):
            for one in ways_of[int(self._rings.of[each >> 1])] if may_turn else (each,):
                for side, inside in self._graph.columns.passed.get(one, ()):
                    key = flow, side
                    whole = 1.0 if may_turn else part * sum(inside) / len(inside)
                    found[key] = min(found.get(key, 0.0) + whole, 1.0)
        numbers = {side: index for index, side in enumerate(dict.fromkeys(side for _, side in found))}
        first = 2 * len(self._graph.links) + len(self._rings.thinnest)
        return _Used(
            np.array([flow for flow, _ in found], np.intp),
            np.array([first + numbers[side] for _, side in found], np.intp),
            np.array(list(found.values()), float),
            np.array([compute_payload(self._graph.fabric, side) for _, side in found], float),
        )

    def find_certain(self, route: Route) -> Flags:
        """Per directed link of a route of least hops whether any routing takes it, in the same part."""
        return ~self._may_vary(route.ways, route.shares)

    def _may_vary(self, way: Indices, share: Floats) -> Flags:
        """Per directed link of ways of least hops whether a routing may take another part there."""
        if not self.is_possible:
            return np.zeros(len(way), bool)
        return np.asarray(self._is_unsaid(way, share) | self._is_chosen[way >> 1], bool)

    def _is_unsaid(self, way: Indices, share: Floats) -> Flags:
        """The same where no routing is said."""
        ring = self._rings.of[way >> 1]
        return np.asarray(((ring >= 0) & (share < _WHOLE)) | self._is_on_triangles(ring), bool)

    def _is_on_triangles(self, ring: Indices) -> Flags:
        if not len(self._rings.thinnest):
            return np.zeros(len(ring), bool)
        return np.asarray((ring >= 0) & self._rings.has_triangles[ring], bool)

    def _widen(self, flow: Flow, route: Route) -> Route:
        """A route of UGAL with the Valiant paths beside the minimal ones, any other as it is."""
        if not self._is_chosen[route.ways >> 1].any():
            return route
        try:
            other = self._valiant.route(flow)
        except RoutingError:  # no third group or switch leads there
            return route
        further = ~np.isin(other.ways, route.ways)
        return Route(
            np.concatenate((route.ways, other.ways[further])), np.concatenate((route.shares, other.shares[further]))
        )

    @cached_property
    def _valiant(self) -> Routes:
        fabric = self._graph.fabric
        networks = {
            name: replace(network, routing=RoutingRule.VALIANT) if network.routing is RoutingRule.UGAL else network
            for name, network in fabric.networks.items()
        }
        return Routes(replace(fabric, networks=MappingProxyType(networks)))

    @cached_property
    def _is_chosen(self) -> Flags:
        """Per link whether it joins switches of a network that UGAL routes."""
        fabric = self._graph.fabric
        if all(network.routing is not RoutingRule.UGAL for network in fabric.networks.values()):
            return np.zeros(len(self._graph.links), bool)
        return np.array([
            fabric.routing_of(link) is RoutingRule.UGAL and {link.a, link.b} <= fabric.switches.keys()
            for link in self._graph.links
        ])  # fmt: skip

    def list_ways(self, flow: Flow, route: Route) -> list[int]:
        """The directed links that ``flow`` may cross, whose route of least hops, or of minimal paths, this is."""
        ways: list[int] = self._widen(flow, route).ways.tolist()
        if not self.is_possible:
            return ways
        rings = {ring for ring in self._rings.of[route.ways >> 1].tolist() if ring >= 0}
        around = [each for each in sorted(rings) if self._rings.has_triangles[each]]
        links = np.flatnonzero(np.isin(self._rings.of, around)).tolist() if around else ()
        return list(dict.fromkeys([*ways, *(way for link in links for way in (2 * link, 2 * link + 1))]))

    def list_networks(self, flows: Iterable[Flow]) -> list[str]:
        """The networks on whose rings some of ``flows`` may take one of several ways."""
        found: dict[str, None] = {}
        for flow in flows if self.is_possible else ():
            route = self._routes.route(flow)
            varied = route.ways[self._is_unsaid(route.ways, route.shares)].tolist()
            found.update((self._graph.links[way >> 1].network, None) for way in varied)
        return list(found)

    @cached_property
    def _cable(self) -> Floats:
        """byte/s of payload of the slowest member of each link: a hash may put all of a flow there."""
        fabric = self._graph.fabric
        return np.array([fabric.payload(each, min(each.capacity, *each.members)) for each in self._graph.links])

    @cached_property
    def _rings(self) -> "_Rings":
        of = np.full(len(self._graph.links), -1)
        has_triangles: list[bool] = []
        for links in self._list_tiers():
            numbers = np.array([number for number, _, _ in links], np.intp)
            named = dict.fromkeys(end for _, *ends in links for end in ends)
            vertex = {end: place for place, end in enumerate(named)}
            ends = np.array([[vertex[a], vertex[b]] for _, a, b in links], np.intp)
            ring = _find_rings(len(vertex), ends)
            of[numbers[ring >= 0]] = ring[ring >= 0] + len(has_triangles)
            has_triangles += _find_triangles(ends, ring)
        thinnest = np.full(len(has_triangles), np.inf)
        np.minimum.at(thinnest, of[of >= 0], self._cable[of >= 0])
        return _Rings(of, np.array(has_triangles, bool), thinnest)

    def _list_tiers(self) -> Iterable[list[tuple[int, str, str]]]:
        """The links between switches of one tier, by network: the number of each and its ends; a pair is one end."""
        graph, switches = self._graph, self._graph.fabric.switches
        found = []
        for number, link in enumerate(graph.links):
            if link.a not in switches or link.b not in switches or self._is_said(link):
                continue
            ends = graph.vertex[link.a], graph.vertex[link.b]
            role = switches[SwitchId(link.a)].role
            if role is switches[SwitchId(link.b)].role and ends[0] != ends[1]:
                found.append(((link.network, role), (number, *ends)))
        return group_by_key(found).values()

    def _is_said(self, link: Link) -> bool:
        network = self._graph.fabric.networks.get(link.network)
        return network is not None and network.routing is not None


@dataclass(frozen=True, slots=True, eq=False)
class _Rings:
    """The ring ``of`` each link by its number, -1 for none. Of each ring whether three of its switches are cabled to
    each other, and byte/s of payload of its ``thinnest`` cable.
    """

    of: Indices
    has_triangles: Flags
    thinnest: Floats


class _Used(NamedTuple):
    """Flows and the places that they may cross, with the part that does at most, and byte/s that the place carries."""

    owner: Indices
    place: Indices
    weight: Floats
    capacity: Floats

    def join(self, other: "_Used") -> "_Used":
        return _Used(*(np.concatenate(columns) for columns in zip(self, other, strict=True)))

    def find_open(self, is_free: Flags) -> Flags:
        """Per flow whether it shares a place with one that is free, perhaps by way of others."""
        _, place = np.unique(self.place, return_inverse=True)
        of = find_components(len(is_free) + int(place.max()) + 1, self.owner, len(is_free) + place)[: len(is_free)]
        return np.asarray(np.isin(of, of[is_free]), bool)

    def fill(self, most: Floats) -> Floats:
        """The rate of each flow where all cross every place that they may; ``most`` is what it can ask for."""
        room = np.minimum(most, self.capacity.sum() / self.weight.min())[self.owner]
        order = np.lexsort((room, self.place))
        place, weight, room = self.place[order], self.weight[order], room[order]
        starts = np.flatnonzero(np.diff(place, prepend=-1))
        group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(place)))
        taken, carried = np.cumsum(weight * room), np.cumsum(weight)
        # Those before ask for less than the level and get it, the others share what is left.
        before = taken - weight * room - (taken[starts] - (weight * room)[starts])[group]
        ends = np.append(starts[1:], len(place)) - 1
        rest = carried[ends][group] - carried + weight
        level = (self.capacity[order] - before) / rest
        held = np.flatnonzero(level <= room * (1 + 1e-12))
        full, first = np.unique(group[held], return_index=True)
        fair = np.full(len(starts), np.inf)
        fair[full] = level[held[first]]
        found = most.copy()
        np.minimum.at(found, self.owner[order], fair[group])
        return found


def _find_rings(size: int, ends: Indices) -> Indices:
    """The ring that each link is on, -1 for one whose loss parts its ends; parallel links are one."""
    pairs, of = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True)
    search = search_depth_first(size, pairs[:, 0], pairs[:, 1])
    below = np.flatnonzero(search.bridge)
    bridges = {(min(a, b), max(a, b)) for a, b in zip(below.tolist(), search.parent[below].tolist(), strict=True)}
    is_bridge = np.array([pair in bridges for pair in map(tuple, pairs.tolist())], bool)
    joined = find_components(size, pairs[~is_bridge, 0], pairs[~is_bridge, 1])[pairs[:, 0]]
    _, joined[~is_bridge] = np.unique(joined[~is_bridge], return_inverse=True)
    joined[is_bridge] = -1
    return joined[of.reshape(-1)]


def _find_triangles(ends: Indices, ring: Indices) -> list[bool]:
    """Of each ring whether three of its switches are cabled to each other."""
    beside: dict[int, set[int]] = {}
    for a, b in ends.tolist():
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
    found = [False] * (int(ring.max(initial=-1)) + 1)
    for (a, b), number in zip(ends.tolist(), ring.tolist(), strict=True):
        if number >= 0 and not found[number]:
            found[number] = not beside[a].isdisjoint(beside[b])
    return found
