"""Classes of flows with one load: nodes that are cabled alike share everything but their own legs.

They make 120,000 flows cheap to schedule: a path is looked up once for each pair of groups of such nodes.
Loads are shares of what a link may carry, in payload, of the flow's nominal rate: the rate of the flow alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass
from math import inf

import numpy as np

from benchconsole.probes.planning.stream_placement import compute_most
from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.capacity.ceiling_loads import compute_payload
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.routing.attachment import Legs
from benchconsole.topology.routing.routes import Route, Routes

Parts = tuple[tuple[int, float], ...]
"""Position of a leg, or number of a directed link (``Graph.way``), with the load on it."""

CeilingParts = tuple[tuple[CeilingSide, float], ...]
"""One direction of a ceiling inside a device, with the load on it."""


@dataclass(frozen=True, slots=True)
class NodeSide:
    """How a node takes part: ``device`` is the machine with its legs, ``number`` that of the nodes cabled alike."""

    device: str
    legs: Legs
    number: int
    systems: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FlowClass:
    """The rate and the loads that all flows from one group of nodes to another have in common.

    ``nominal`` is byte/s of payload. Loads: ``first`` and ``last`` on the legs, ``inner`` on links between switches,
    ``systems`` on the caps of storage systems. ``shared`` are those of ``inner`` on which a hash decides. Loads on
    ceilings: ``out`` and ``into`` by name on those of the two machines, ``ceilings`` on those of other devices.
    """

    nominal: float
    first: Parts
    last: Parts
    inner: Parts
    systems: tuple[tuple[str, float], ...] = ()
    shared: frozenset[int] = frozenset()
    out: tuple[tuple[str, float], ...] = ()
    into: tuple[tuple[str, float], ...] = ()
    ceilings: CeilingParts = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """The path of a class for any number of streams: the route of one of its flows, and where its legs are in it.

    ``passed`` are the ceilings on it with the part of the flow that passes each, ``ends`` the machines of its two ends.
    """

    ways: Indices
    shares: Floats
    first: tuple[tuple[int, int], ...]
    last: tuple[tuple[int, int], ...]
    inner: Flags
    flow: Flow
    passed: CeilingParts
    ends: tuple[str, str]


class FlowClasses:
    """The classes of flows of one fabric. ``streams`` is how many each test sends (None: enough for every member).

    ``network`` is the one that they name; empty for none. ``leg`` and ``last_leg`` name the ports of senders and of
    receivers; None for none. With ``caps``, what a link or a storage system may carry is
    its cap.
    """

    def __init__(self, routes: Routes, *, caps: Caps | None = None) -> None:
        self.routes = routes
        self.streams: int | None = None
        self.network = ""
        self.leg: str | None = None
        self.last_leg: str | None = None
        self._caps = caps or Caps()
        self._sides: dict[tuple[str, str | None], NodeSide | None] = {}
        self._numbers: dict[object, int] = {}
        self._all_paths: dict[object, dict[tuple[int, int], _Path | None]] = {}
        self._all_classes: dict[object, dict[tuple[int, int], FlowClass | None]] = {}
        self._systems: dict[str, tuple[str, ...]] = {}
        self._passed = routes.graph.columns.passed
        self._ceilings: dict[CeilingSide, float] = {}
        for name in self._caps.storage:
            for server in routes.fabric.storage[name].servers if name in routes.fabric.storage else ():
                self._systems[server] = (*self._systems.get(server, ()), name)
        self._measure()
        self._find_known()

    def _find_known(self) -> None:
        """Take up what is known already of tests like these: all that are made of one another keep it together."""
        ends = (self.network, self.leg, self.last_leg)
        self._paths = self._all_paths.setdefault(ends, {})
        self._classes = self._all_classes.setdefault((ends, self.streams), {})

    def _measure(self) -> None:
        """Per directed link: what it may carry, its fastest member, whether it has several, its ends."""
        fabric, links = self.routes.fabric, self.routes.graph.links
        number = {device: index for index, device in enumerate((*fabric.nodes, *fabric.switches))}
        ends = np.array([(number[link.a], number[link.b]) for link in links], np.intp).reshape(-1, 2)
        self.capacity = self.routes.graph.payload * (self._caps.link if self._caps.link is not None else 1.0)
        self._member = np.repeat([fabric.member_payload(link) for link in links], 2)
        self._hashed = np.repeat(np.array([link.count > 1 for link in links], bool), 2)
        self._from, self._to = ends.ravel(), ends[:, ::-1].ravel()
        self._tier = np.array([fabric.tier(device) for device in number], np.intp)
        self._climbs = self._tier[self._to] - self._tier[self._from]

    def sending(self, streams: int | None) -> "FlowClasses":
        """The classes of tests of so many streams; paths are looked up once for all of them."""
        return self if streams == self.streams else self._turn_to(self.network, self.leg, self.last_leg, streams)

    def over(self, network: str, leg: str | None = None, last_leg: str | None = None) -> "FlowClasses":
        """The classes of tests that name this network, and these ports of their two nodes."""
        return self._turn_to(network, leg, last_leg, None)

    def _turn_to(self, network: str, leg: str | None, last_leg: str | None, streams: int | None) -> "FlowClasses":
        # None of them refers to another: what planning made is gone with the last that uses it.
        other = copy(self)
        other.network, other.leg, other.last_leg, other.streams = network, leg, last_leg, streams
        other._find_known()  # noqa: SLF001 - a copy of this
        return other

    def find_side(self, node: NodeId) -> NodeSide | None:
        """How ``node`` takes part as a sender; None for one without a cable."""
        return self._find_side(node, self.leg)

    def find_sides(self, source: NodeId, sink: NodeId) -> tuple[NodeSide | None, NodeSide | None]:
        """How two nodes take part, the one as a sender, the other as a receiver."""
        return self._find_side(source, self.leg), self._find_side(sink, self.last_leg)

    def _find_side(self, node: NodeId, leg: str | None) -> NodeSide | None:
        if (node, leg) not in self._sides:
            self._sides[node, leg] = None
            with suppress(RoutingError):
                legs, systems = self.routes.attachments.legs(node, leg), self._systems.get(node, ())
                number = self._numbers.setdefault(self._alike(legs, systems), len(self._numbers))
                self._sides[node, leg] = NodeSide(legs.device, legs, number, systems)
        return self._sides[node, leg]

    def _alike(self, legs: Legs, systems: tuple[str, ...]) -> object:
        """The key of nodes that share classes; those that forward, or are cabled to nodes, share none."""
        fabric = self.routes.fabric
        to_nodes = any(each not in fabric.switches for each in legs.attachment.devices)
        if to_nodes or legs.device in self.routes.graph.vertex:
            return (legs.device, systems)
        speeds = tuple((fabric.payload(link), fabric.member_payload(link)) for link in legs.links)
        passed = tuple(self._describe_passed(way, legs.device) for way in legs.ways) if self._passed else ()
        return (id(legs.attachment), speeds, systems, passed)

    def _describe_passed(self, way: int, machine: str) -> tuple[object, ...]:
        """The ceilings that a leg passes one way and the other, those of its own machine by name and rate."""
        both = (self._passed.get(each, ()) for each in (way, way ^ 1))
        return tuple(
            (side.name, self.limit(side), inside) if side.device == machine else (side, inside)
            for passed in both
            for side, inside in passed
        )

    def limit(self, side: CeilingSide) -> float:
        """byte/s of payload that a ceiling passes in one direction."""
        if side not in self._ceilings:
            self._ceilings[side] = compute_payload(self.routes.fabric, side)
        return self._ceilings[side]

    def group_nodes(self, nodes: Iterable[NodeId]) -> dict[int, list[NodeId]]:
        """Those of ``nodes`` that are cabled, by the number of what they share with the nodes cabled alike."""
        sides = ((self.find_side(node), node) for node in nodes)
        return group_by_key((side.number, node) for side, node in sides if side is not None)

    def find_class(self, source: NodeId, sink: NodeId) -> FlowClass | None:
        """The class of a flow; None where there is no path between the two that a fabric would route."""
        one, other = self.find_sides(source, sink)
        if one is None or other is None or one.device == other.device:
            return None
        key = (one.number, other.number)
        if key not in self._classes:
            if key not in self._paths:
                self._paths[key] = self._path(source, sink, one, other)
            path = self._paths[key]
            self._classes[key] = None if path is None else self._rated(path, (*one.systems, *other.systems))
        return self._classes[key]

    def make_flow(self, source: NodeId, sink: NodeId) -> Flow:
        """A flow between the two that names what these classes name."""
        return Flow(source, sink, None, self.leg, self.last_leg, network=self.network)

    def _path(self, source: NodeId, sink: NodeId, one: NodeSide, other: NodeSide) -> _Path | None:
        try:
            route = self.routes.route(self.make_flow(source, sink))
        except RoutingError:
            return None
        climbs = self._climbs[route.ways]
        up = route.ways[(climbs > 0) & (self._tier[self._from[route.ways]] > 0)]
        if not set(self._to[route.ways[climbs < 0]].tolist()).isdisjoint(self._from[up].tolist()):
            return None  # it goes down to a switch and up from it again: the cables allow it, but no fabric routes that
        ways: list[int] = route.ways.tolist()
        out = {way: position for position, way in enumerate(one.legs.ways)}
        into = {way ^ 1: position for position, way in enumerate(other.legs.ways)}
        return _Path(
            ways=route.ways,
            shares=route.shares,
            first=tuple((out[way], index) for index, way in enumerate(ways) if way in out),
            last=tuple((into[way], index) for index, way in enumerate(ways) if way in into),
            inner=np.array([way not in out and way not in into for way in ways], bool),
            flow=self.make_flow(source, sink),
            passed=self._pass_ceilings(ways, route.shares.tolist()) if self._passed else (),
            ends=(one.device, other.device),
        )

    def _pass_ceilings(self, ways: Sequence[int], shares: Sequence[float]) -> CeilingParts:
        """The ceilings on a path, with the part of the flow that passes each; a LAG shares it out evenly."""
        parts: defaultdict[CeilingSide, float] = defaultdict(float)
        for way, share in zip(ways, shares, strict=True):
            for side, inside in self._passed.get(way, ()):
                parts[side] += share * sum(inside) / len(inside)
        return tuple(parts.items())

    def _rated(self, path: _Path, systems: tuple[str, ...]) -> FlowClass:
        systems = tuple(dict.fromkeys(systems))
        capacity = self.capacity[path.ways]
        nominal = min(float((capacity / path.shares).min()), *(self._caps.storage[name] for name in systems), inf)
        if self.streams is not None and self.streams * self._member[path.ways].min() < nominal:
            route = Route(path.ways, path.shares)
            nominal = min(nominal, float(compute_most(self.routes.graph, [route], [self.streams])[0]))
        for legs in (path.first, path.last):
            of_one = self.routes.graph.connection_payload[path.ways[[index for _, index in legs]]]
            nominal = min(nominal, float(of_one.max(initial=0.0) or inf) * (self._caps.link or 1.0))
        nominal = min(nominal, *(self.limit(side) / part for side, part in path.passed), inf)
        load = nominal * path.shares / capacity
        passed = [(side, nominal * part / self.limit(side)) for side, part in path.passed]
        source, sink = path.ends
        forked = self._hashed[path.ways] | (path.shares < 1 - 1e-9)
        return FlowClass(
            nominal=nominal,
            first=tuple((position, float(load[index])) for position, index in path.first),
            last=tuple((position, float(load[index])) for position, index in path.last),
            inner=tuple(zip(path.ways[path.inner].tolist(), load[path.inner].tolist(), strict=True)),
            systems=tuple((name, nominal / self._caps.storage[name]) for name in systems),
            shared=frozenset(path.ways[path.inner & forked].tolist()),
            out=tuple((side.name, part) for side, part in passed if side.device == source),
            into=tuple((side.name, part) for side, part in passed if side.device == sink),
            ceilings=tuple((side, part) for side, part in passed if side.device not in path.ends),
        )

    def ways(self, source: NodeId, sink: NodeId) -> dict[int, float]:
        """The directed links that a flow crosses, by number, with the load on each. RoutingError without a path."""
        flow_class, (one, other) = self.find_class(source, sink), self.find_sides(source, sink)
        if flow_class is None or one is None or other is None:
            raise RoutingError(f"no path from {source} to {sink}")
        found = {one.legs.ways[position]: load for position, load in flow_class.first}
        found.update({other.legs.ways[position] ^ 1: load for position, load in flow_class.last})
        found.update(flow_class.inner)
        return found

    def ceilings(self, source: NodeId, sink: NodeId) -> dict[CeilingSide, float]:
        """The ceilings that a flow passes, with the load on each; none without a path."""
        if not self._passed:
            return {}
        flow_class, (one, other) = self.find_class(source, sink), self.find_sides(source, sink)
        if flow_class is None or one is None or other is None:
            return {}
        found = {CeilingSide(one.device, name, inward=False): load for name, load in flow_class.out}
        found.update((CeilingSide(other.device, name, inward=True), load) for name, load in flow_class.into)
        found.update(flow_class.ceilings)
        return found
