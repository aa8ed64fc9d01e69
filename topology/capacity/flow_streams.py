"""Parts of directed links that each flow loads, and the share of the flow on each part, under each model.

The members of a LAG whose cables differ in speed are not one pipe: what is hashed onto a slow member does not hold up
what is on a fast one, so a flow is taken apart into streams.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TypeVar

import numpy as np

from benchconsole.topology.arrays import NO_INDICES, Floats, Indices, find_distinct, find_in_order
from benchconsole.topology.capacity.ceiling_loads import place_side
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.link_parts import LinkPart, LinkParts
from benchconsole.topology.capacity.maxmin import Usage
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Direction, Flow
from benchconsole.topology.routing.all_routes import route_flows
from benchconsole.topology.routing.divided_flows import Crossed
from benchconsole.topology.routing.flow_hashes import hash_flows
from benchconsole.topology.routing.hashed_paths import CableStep, Hashed, InTurn, Pick, Walker
from benchconsole.topology.routing.hashed_walks import CannotWalkError, CrossedCables, walk_flows
from benchconsole.topology.routing.routes import Route, Routes

Members = Mapping[int, Mapping[Direction, int]]
"""Index of a flow to the member (from 0) that it is on, for each directed link where that is known."""

_Column = TypeVar("_Column", Indices, Floats)


@dataclass(frozen=True, slots=True)
class Crossings:
    """Which stream loads which part. ``owner`` is the flow of each stream, ``weight`` how much of it the stream is."""

    used: Usage
    parts: Sequence[LinkPart]
    owner: Indices
    weight: Floats


@pause_collector()
def trace_flows(
    routes: Routes, flows: Sequence[Flow], model: Model, *, seed: int = 0, members: Members | None = None
) -> Crossings:
    """The load of ``flows``. RoutingError for a flow without a path, or not on a link that ``members`` names for it."""
    if model in (Model.HASH, Model.POLARISED):
        try:
            return _cross_cables(routes, flows, walk_flows(routes, flows, seed, polarised=model is Model.POLARISED))
        except CannotWalkError:
            return _walk_each(routes, flows, Hashed(seed, polarised=model is Model.POLARISED))
    if model is Model.STEERED:
        return _walk_each(routes, flows, InTurn())
    table = _Table(routes)
    if not members:
        table.add_all_divided(flows, route_flows(routes, flows))
        return table.crossings()
    strangers = members.keys() - range(len(flows))
    if strangers:
        raise RoutingError(f"members of flow {min(strangers)} are given, but there are {len(flows)} flows")
    for index, flow in enumerate(flows):
        known = members.get(index, {})
        table.add_divided(flow, _find_route(routes, flow, known), known)
    return table.crossings()


def _walk_each(routes: Routes, flows: Sequence[Flow], pick: Pick) -> Crossings:
    """The walker forgets its forks: what is made while the collector pauses may leave no cycle."""
    table, walker = _Table(routes), Walker(routes, pick)
    for flow, key in zip(flows, hash_flows(flows), strict=True):
        table.add_path(walker.path(flow, key))
    walker.forget_forks()
    return table.crossings()


def _cross_cables(routes: Routes, flows: Sequence[Flow], crossed: CrossedCables) -> Crossings:
    """The load of flows that are each on one cable of every link that they cross."""
    if routes.graph.columns.passed:
        table = _Table(routes)
        cuts = np.searchsorted(crossed.flow, np.arange(len(flows) + 1)).tolist()
        steps = list(map(CableStep, crossed.way.tolist(), crossed.member.tolist()))
        for first, stop in pairwise(cuts):
            table.add_path(steps[first:stop])
        return table.crossings()
    graph = routes.graph
    is_lag = graph.columns.counts[crossed.way >> 1] > 1
    most = int(graph.columns.counts.max())
    ways, whole = find_distinct(crossed.way, 2 * len(graph.links))
    cables, met = find_in_order(crossed.way[is_lag] * most + crossed.member[is_lag])
    rows = 1 + is_lag
    last = np.cumsum(rows) - 1
    column = np.empty(int(rows.sum()), np.intp)
    column[last + 1 - rows] = whole
    column[last[is_lag]] = len(ways) + met
    parts = LinkParts(graph, ways, np.divmod(cables, most))
    used = Usage(np.repeat(crossed.flow, rows), column, np.ones(len(column)))
    return Crossings(used, parts, np.arange(len(flows)), np.ones(len(flows)))


def _find_route(routes: Routes, flow: Flow, known: Mapping[Direction, int]) -> Route:
    """The route of a flow of which some members are known: by their links, not by equal ones."""
    if not known:
        return routes.route(flow)
    what = f"the flow from {flow.source} to {flow.sink}"
    source, sink = (routes.attachments.legs(node).device for node in (flow.source, flow.sink))
    pinned, via = flow, set()
    for way, member in known.items():
        link = routes.fabric.links.get(way.link)
        if link is None or way.source not in (link.a, link.b) or not 0 <= member < link.count:
            raise RoutingError(f"{what} cannot be on member {member} of {way.link} from {way.source}: there is none")
        if way.source == source:
            pinned = replace(pinned, leg=way.link)
        elif link.other(way.source) == sink:
            pinned = replace(pinned, last_leg=way.link)
        via.add(routes.graph.way(link, way.source))
    route = routes.route(pinned, frozenset(via))
    for number in via.difference(route.ways.tolist()):
        way = routes.graph.direction(number)
        raise RoutingError(f"{what} does not cross {way.link} from {way.source}")
    return route


class _Table:
    """Collects streams: rows of what each crosses with which share of itself."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._links = routes.graph.links
        self._apart = routes.graph.columns.apart
        self._further: dict[tuple[int, int | None, int | None] | CeilingSide, int] = {}
        self._passed = routes.graph.columns.passed
        self._streams: list[Indices] = []
        self._columns: list[Indices] = []
        self._shares: list[Floats] = []
        self._weights: list[float] = []
        self._owners: list[int] = []
        self._flows = 0

    def add_path(self, path: Sequence[CableStep]) -> None:
        columns: list[int] = []
        for way, member, vlan in path:
            columns.append(way)
            if way in self._passed:
                columns += [self._side(side) for side, inside in self._passed[way] if inside[member]]
            if self._links[way >> 1].count > 1:
                columns.append(self._column(way, member=member))
            if vlan is not None:
                columns.append(self._column(way, vlan=vlan))
        self._add(1.0, np.array(columns, np.intp), np.ones(len(columns)))
        self._flows += 1

    def add_all_divided(self, flows: Sequence[Flow], crossed: Crossed) -> None:
        """Flows of which no member is known. Most fabrics have nothing but whole links, so these have to be quick."""
        if not (self._apart or self._passed):
            self._add_streams(crossed.flow, crossed.way, crossed.share)
            self._weights, self._owners = [1.0] * len(flows), list(range(len(flows)))
            return
        cuts = np.searchsorted(crossed.flow, np.arange(len(flows) + 1)).tolist()
        for flow, (first, stop) in zip(flows, pairwise(cuts), strict=True):
            self.add_divided(flow, Route(crossed.way[first:stop], crossed.share[first:stop]), {})

    def add_divided(self, flow: Flow, route: Route, known: Mapping[Direction, int]) -> None:
        graph = self._routes.graph
        on = {graph.way(self._routes.fabric.links[way.link], way.source): member for way, member in known.items()}
        ways = route.ways.tolist()
        passed = list(self._pass_ceilings(route, ways))
        unequal = [way for way in ways if way in self._apart and way not in on and self._links[way >> 1].mixed]
        for weight, members in self._list_streams(ways, unequal):
            columns, shares = route.ways, route.shares
            further = passed.copy()
            for way, member in {**on, **members}.items():
                if self._links[way >> 1].count > 1:
                    further.append((self._column(way, member=member), _find_share(route, way)))
            for way in self._apart.intersection(ways):
                channels = self._routes.attachments.channels(flow, self._links[way >> 1])
                part = _find_share(route, way) / max(len(channels), 1)
                further += [(self._column(way, vlan=channel.vlan), part) for channel in channels]
            if further:
                columns = np.append(columns, [column for column, _ in further])
                shares = np.append(shares, [share for _, share in further])
            self._add(weight, columns, shares)
        self._flows += 1

    def _pass_ceilings(self, route: Route, ways: list[int]) -> Iterator[tuple[int, float]]:
        """The columns of the ceilings that a divided flow passes; a LAG shares it out over its members evenly."""
        for way, share in zip(ways, route.shares.tolist(), strict=True) if self._passed else ():
            for side, inside in self._passed.get(way, ()):
                yield self._side(side), share * sum(inside) / len(inside)

    def _side(self, side: CeilingSide) -> int:
        return self._further.setdefault(side, 2 * len(self._links) + len(self._further))

    def _list_streams(self, ways: list[int], unequal: list[int]) -> Iterator[tuple[float, dict[int, int]]]:
        """The streams that a flow divides into, with the member of each unequal link that they are on.

        A stream crosses one link of each stage, so links of one stage are stepped through together.
        """
        stages = [[way for way in stage if way in unequal] for stage in self._stages(ways if unequal else [])]
        periods = [math.lcm(*(self._links[way >> 1].count for way in stage)) for stage in stages]
        for turn in product(*(range(period) for period in periods)):
            yield (
                1.0 / math.prod(periods),
                {
                    way: self._rank_members(way)[at % self._links[way >> 1].count]
                    for stage, at in zip(stages, turn, strict=True)
                    for way in stage
                },
            )

    def _rank_members(self, way: int) -> list[int]:
        """The members of a link from the fastest, so that their order in the file changes nothing."""
        speeds = self._links[way >> 1].members
        return sorted(range(len(speeds)), key=lambda member: -speeds[member])

    def _stages(self, ways: list[int]) -> Iterator[list[int]]:
        graph = self._routes.graph
        ends = {way: graph.direction(way ^ 1).source for way in ways}
        starts = {way: graph.direction(way).source for way in ways}
        here = set(starts.values()) - set(ends.values())
        left = set(ways)
        while left:
            stage = sorted(way for way in left if starts[way] in here)
            yield stage
            left.difference_update(stage)
            here = {ends[way] for way in stage}

    def _column(self, way: int, *, member: int | None = None, vlan: int | None = None) -> int:
        """The number of a part of a link; those of whole links are the numbers of their directions."""
        return self._further.setdefault((way, member, vlan), 2 * len(self._links) + len(self._further))

    def _add(self, weight: float, columns: Indices, shares: Floats) -> None:
        """One stream of the flow whose turn it is."""
        self._add_streams(np.full(len(columns), len(self._owners)), columns, shares)
        self._weights.append(weight)
        self._owners.append(self._flows)

    def _add_streams(self, streams: Indices, columns: Indices, shares: Floats) -> None:
        self._streams.append(streams)
        self._columns.append(columns)
        self._shares.append(shares)

    def crossings(self) -> Crossings:
        graph = self._routes.graph
        streams, columns, shares = _join(self._streams), _join(self._columns), _join(self._shares)
        present = np.zeros(2 * len(self._links) + len(self._further), bool)
        present[columns] = True
        whole = np.flatnonzero(present[: 2 * len(self._links)])
        further = []
        for part, is_loaded in zip(self._further, present[2 * len(self._links) :].tolist(), strict=True):
            if is_loaded and isinstance(part, CeilingSide):
                further.append(LinkPart(place_side(self._routes.fabric, part), ceiling=part))
            elif is_loaded and not isinstance(part, CeilingSide):
                further.append(LinkPart(graph.direction(part[0]), *part[1:]))
        return Crossings(
            used=Usage(streams, (np.cumsum(present) - 1)[columns], shares),
            parts=LinkParts(graph, whole, (NO_INDICES, NO_INDICES), further),
            owner=np.array(self._owners, np.intp),
            weight=np.array(self._weights),
        )


def _join(columns: Sequence[_Column]) -> _Column:
    """One after the other; a single one as it is, which may be long."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _find_share(route: Route, way: int) -> float:
    return float(route.shares[route.ways == way].sum())
