"""The routes of very many flows at once: those of simple ends in arrays, the others one by one."""

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from benchconsole.topology.arrays import Indices
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Flow
from benchconsole.topology.routing.divided_flows import Crossed
from benchconsole.topology.routing.routes import Routes

FEW = 64
"""So few flows are routed faster one by one than in arrays."""


def route_flows(routes: Routes, flows: Sequence[Flow]) -> Crossed:
    """The links that all flows cross, in the order of the flows. RoutingError for the first without a path."""
    if len(flows) > FEW:
        return route_together(routes, flows)
    found = [routes.route(flow) for flow in flows]
    owner = np.repeat(np.arange(len(found)), [len(route.ways) for route in found])
    ways, shares = [route.ways for route in found], [route.shares for route in found]
    return Crossed(owner, np.concatenate(ways), np.concatenate(shares))


def route_together(routes: Routes, flows: Sequence[Flow]) -> Crossed:
    """The same in arrays, however few flows there are."""
    is_alone = np.ones(len(flows), bool)
    found = []
    for own, places, source, sink in find_simple(routes, flows):
        is_led, crossed = own.divided.route(places, source, sink)
        is_alone[places[is_led]] = False
        found.append(crossed)
    for place in np.flatnonzero(is_alone).tolist():
        route = routes.route(flows[place])
        found.append(Crossed(np.full(len(route.ways), place), route.ways, route.shares))
    if len(found) == 1:
        return found[0]
    flow, way, share = (np.concatenate(each) for each in zip(*found, strict=True))
    order = np.argsort(flow, kind="stable")
    return Crossed(flow[order], way[order], share[order])


class SimpleFlows(NamedTuple):
    """Flows between simple ends over the same networks: the routes there, places among all flows, numbers of ends."""

    routes: Routes
    places: Indices
    source: Indices
    sink: Indices


def find_simple(routes: Routes, flows: Sequence[Flow]) -> Iterator[SimpleFlows]:
    """All flows between simple ends (``flow_ends``)."""
    for own, places in _group_by_networks(routes, flows):
        chosen = flows if len(places) == len(flows) else [flows[place] for place in places.tolist()]
        source, sink, is_simple = own.ends.find(chosen)
        yield SimpleFlows(own, places[is_simple], source[is_simple], sink[is_simple])


def _group_by_networks(routes: Routes, flows: Sequence[Flow]) -> list[tuple[Routes, Indices]]:
    """The places of the flows that go over the same networks, with the routes there; without flows that have none."""
    if not routes.are_several and not any(map(attrgetter("network"), flows)):
        return [(routes, np.arange(len(flows)))]
    found: dict[Routes, list[int]] = {}
    for place, flow in enumerate(flows):
        try:
            own = routes.within(flow)
        except (RoutingError, KeyError):  # said when such a flow is routed by itself
            continue
        found.setdefault(own, []).append(place)
    return [(own, np.array(places, np.intp)) for own, places in found.items()]
