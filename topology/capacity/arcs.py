"""The fabric as a network of arcs that flows may use in any way, without the rule by which its devices forward.

A node that does not forward sends from one vertex and receives at another, so nothing goes through it. A port that
flows name is two vertices more, with an arc beside that of its node over the same link.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.capacity.ceiling_loads import compute_payload
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Flow, LinkId, NodeId
from benchconsole.topology.routing.graph import Graph
from benchconsole.topology.routing.routes import Routes


@dataclass(frozen=True, eq=False)
class ArcCeiling:
    """One direction of a ceiling inside a device: ``capacity`` byte/s of payload for these parts of what arcs carry."""

    capacity: float
    arcs: Indices
    shares: Floats


@dataclass(frozen=True, eq=False)
class Arcs:
    """Directed links from vertex ``tail`` to vertex ``head``, each of ``capacity`` byte/s of payload.

    ``ways`` numbers their links (``Graph.way``); a link that is split in channels has one arc for each. ``devices``
    names the vertices, ``sends`` and ``receives`` give those of each device that has cables, ``ports`` both of each
    link whose end flows name, by the device and its leg.
    """

    graph: Graph
    tail: Indices
    head: Indices
    capacity: Floats
    ways: Indices
    vlans: tuple[int | None, ...]
    devices: tuple[str, ...]
    sends: dict[str, int]
    receives: dict[str, int]
    ports: dict[tuple[str, LinkId], tuple[int, int]]

    def __len__(self) -> int:
        return len(self.ways)

    @cached_property
    def ceilings(self) -> tuple[ArcCeiling, ...]:
        """The ceilings that arcs pass."""
        fabric = self.graph.fabric
        passed = self.graph.columns.passed
        found = group_by_key(
            (side, (arc, sum(inside) / len(inside)))
            for arc, way in enumerate(self.ways.tolist())
            for side, inside in passed.get(way, ())
        )
        return tuple(
            ArcCeiling(
                compute_payload(fabric, side),
                np.array([arc for arc, _ in own], np.intp),
                np.array([part for _, part in own]),
            )
            for side, own in found.items()
        )

    @cached_property
    def payload(self) -> Floats:
        """byte/s of payload of the whole link of each arc."""
        return self.graph.payload[self.ways]

    def source(self, flow: Flow) -> int:
        """The vertex that a flow is sent from: of its node (the host of a virtual machine), or of its port."""
        device, link = _find_end(self.graph.fabric, flow.source, flow.leg)
        return self.sends[device] if link is None else self.ports[device, link][0]

    def sink(self, flow: Flow) -> int:
        """The vertex that a flow is received at."""
        device, link = _find_end(self.graph.fabric, flow.sink, flow.last_leg)
        return self.receives[device] if link is None else self.ports[device, link][1]


def _find_end(fabric: Fabric, node: NodeId, leg: str | None) -> tuple[str, LinkId | None]:
    """The device that a flow begins or ends at, and the link that it names there."""
    link = None if leg is None else fabric.find_leg(node, leg)
    return fabric.nodes[node].host or node, None if link is None else link.id


def make_arcs(routes: Routes, flows: Sequence[Flow]) -> Arcs:
    """The arcs that ``flows`` could use: of networks, and of forwarding nodes, that their described routes cross.

    Standby legs carry nothing. RoutingError for a flow without a described route.
    """
    graph = routes.graph
    crossed = np.unique(np.concatenate([routes.route(each).ways for each in dict.fromkeys(flows)]))
    links = graph.links
    networks = {links[way >> 1].network for way in crossed.tolist()}
    nodes = graph.fabric.nodes
    passed = {graph.direction(way).source for way in crossed.tolist()} & {
        graph.direction(way ^ 1).source for way in crossed.tolist()
    }
    through = {device for device in passed if device in graph.vertex and device in nodes}
    used = [index for index, link in enumerate(links) if link.network in networks and _is_up(graph, index)]
    used = sorted({*used, *(crossed >> 1).tolist()})
    fabric = graph.fabric
    ends = (_find_end(fabric, *end) for flow in flows for end in ((flow.source, flow.leg), (flow.sink, flow.last_leg)))
    named = {(device, link) for device, link in ends if link is not None}
    return _number_vertices(graph, used, through, named)


def _is_up(graph: Graph, index: int) -> bool:
    link = graph.links[index]
    ends = [end for end in (link.a, link.b) if NodeId(end) in graph.fabric.nodes]
    return all(link in graph.active_legs(end) for end in ends)


def _number_vertices(
    graph: Graph, used: Sequence[int], through: Collection[str], named: Collection[tuple[str, LinkId]]
) -> Arcs:
    devices: list[str] = []
    sends: dict[str, int] = {}
    receives: dict[str, int] = {}
    ports: dict[tuple[str, LinkId], tuple[int, int]] = {}
    rows: list[tuple[int, int, float, int, int | None]] = []
    for index in used:
        link = graph.links[index]
        for end in (link.a, link.b):
            if end not in sends:
                apart = NodeId(end) in graph.fabric.nodes and end not in through
                sends[end] = len(devices)
                receives[end] = len(devices) + apart
                devices += [end] * (1 + apart)
            if (end, link.id) in named:
                ports[end, link.id] = (len(devices), len(devices) + 1)
                devices += [f"{end}:{link.port_at(end)}"] * 2
        for back, (here, there) in enumerate(((link.a, link.b), (link.b, link.a))):
            channels: list[tuple[int | None, float]] = [
                (each.vlan, graph.fabric.payload(link, each.capacity)) for each in link.channels
            ]
            tails = [sends[here], *(ports[end][0] for end in ((here, link.id),) if end in ports)]
            heads = [receives[there], *(ports[end][1] for end in ((there, link.id),) if end in ports)]
            for vlan, capacity in channels or [(None, float(graph.payload[2 * index]))]:
                rows += [(tail, head, capacity, 2 * index + back, vlan) for tail in tails for head in heads]
    tail, head, rates, ways, vlans = zip(*rows, strict=True)
    return Arcs(
        graph=graph,
        tail=np.array(tail, np.intp),
        head=np.array(head, np.intp),
        capacity=np.array(rates, float),
        ways=np.array(ways, np.intp),
        vlans=vlans,
        devices=tuple(devices),
        sends=sends,
        receives=receives,
        ports=ports,
    )
