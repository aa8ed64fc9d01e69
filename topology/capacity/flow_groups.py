"""Flows that are equal by symmetry, merged: nodes that are cabled alike, and that send and receive alike, get the same.

A set of flows need not be written out: 100,000 nodes to 16 servers are 1.6 million flows and some thousand groups. The
rates of the groups are those of their flows, because nodes are parted until every node of a class has as many flows
with each other class (an equitable partition): then one flow of each group, which loads a link as all of them do, is
held up where all of them are. Decision 035 has the proof.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from benchconsole.topology.capacity.ceiling_loads import describe_ceilings, place_side
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.flow_streams import Crossings, trace_flows
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.capacity.maxmin import Usage
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, Link, NodeId
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.routes import Routes

MOST_GROUPS = 200_000
"""Groups of which more are refused: each is routed by itself."""

Nodes = tuple[NodeId, ...]
"""Nodes of one class, or one side of a group of flows."""

describe_link: Callable[[Link], tuple[Hashable, ...]] = attrgetter(
    "members", "counted", "standby", "bond", "network", "wan", "channels", "hash", "preference"
)
"""All that rates depend on of a link, but for its ends."""


@dataclass(frozen=True, slots=True)
class FlowSet:
    """Flows that are asked for together: from each of ``sources`` to each of ``sinks`` but itself.

    ``in_order``: from each to the one at its place (as many of both). ``streams`` flows go between the two of a pair.
    ``network``, ``demand`` (byte/s of each flow), ``leg`` and ``last_leg`` (of every source, and of every sink, the
    port of this name) are those of ``Flow``.
    """

    sources: Nodes
    sinks: Nodes
    in_order: bool = False
    streams: int = 1
    network: str = ""
    demand: float | None = None
    leg: str | None = None
    last_leg: str | None = None

    def __len__(self) -> int:
        if self.in_order:
            return self.streams * sum(a != b for a, b in zip(self.sources, self.sinks, strict=True))
        return self.streams * (len(self.sources) * len(self.sinks) - len(set(self.sources) & set(self.sinks)))

    def __iter__(self) -> Iterator[Flow]:
        """Every flow, the streams of a pair one after the other."""
        for source, sink in self.pairs():
            if source != sink:
                yield from (self.make_flow(source, sink),) * self.streams

    def make_flow(self, source: NodeId, sink: NodeId) -> Flow:
        """One flow between the two."""
        return Flow(source, sink, self.demand, self.leg, self.last_leg, network=self.network)

    def pairs(self) -> Iterator[tuple[NodeId, NodeId]]:
        """The two ends of each pair, also where they are one."""
        if self.in_order:
            return zip(self.sources, self.sinks, strict=True)
        return ((source, sink) for source in self.sources for sink in self.sinks)


@dataclass(frozen=True, slots=True)
class FlowGroup:
    """``count`` flows that are equal, from ``sources`` to ``sinks``; ``flow`` is one of them."""

    flow: Flow
    count: int
    sources: Nodes
    sinks: Nodes


_PLAIN = FlowSet((), ())


def make_group(sources: Nodes, sinks: Nodes, count: int, like: FlowSet = _PLAIN) -> FlowGroup:
    """``count`` flows, as those of ``like``, from the nodes of a class to those of another, or of the same, which has
    two at least.
    """
    sink = next(node for node in sinks[:2] if node != sources[0])
    return FlowGroup(like.make_flow(sources[0], sink), count, sources, sinks)


@dataclass(frozen=True, slots=True)
class MergedFlows:
    """The groups of the flows of ``asked``.

    ``members`` are the nodes of the class of each node that has others like it. ``places`` tells the index of a group
    from that of its set of flows, and the classes of its two ends; ``classes`` tells the class of a node.
    """

    asked: tuple[FlowSet, ...]
    groups: tuple[FlowGroup, ...]
    members: Mapping[NodeId, Nodes]
    classes: Mapping[NodeId, int]
    places: Mapping[tuple[int, int, int], int]

    def __iter__(self) -> Iterator[tuple[Flow, int]]:
        """Every flow, in the order in which they were asked for, with the index of its group."""
        for number, each in enumerate(self.asked):
            for flow in each:
                yield flow, self.places[number, self.classes[flow.source], self.classes[flow.sink]]


def merge_flows(fabric: Fabric, asked: Sequence[FlowSet]) -> MergedFlows:
    """The groups of equal flows of ``asked``, in their order.

    SelectionError for more than MOST_GROUPS groups.
    """
    classes = _classify_nodes(fabric, asked)
    alike = group_by_key((number, node) for node, number in classes.items())
    groups: list[FlowGroup] = []
    places: dict[tuple[int, int, int], int] = {}
    for number, each in enumerate(asked):
        for group in _group_in_order(each, classes) if each.in_order else _group_each_to_each(each, classes):
            if len(groups) == MOST_GROUPS:
                raise SelectionError(f"more than {MOST_GROUPS:,} groups of flows that differ, expected fewer")
            places[number, classes[group.flow.source], classes[group.flow.sink]] = len(groups)
            groups.append(group)
    members = find_members(tuple(nodes) for nodes in alike.values())
    return MergedFlows(tuple(asked), tuple(groups), members, classes, places)


def find_members(classes: Iterable[Nodes]) -> dict[NodeId, Nodes]:
    """The class of each node that has others like it."""
    return {node: nodes for nodes in classes if len(nodes) > 1 for node in nodes}


def group_cabled_nodes(fabric: Fabric) -> tuple[Nodes, ...]:
    """Every machine with a cable to a switch, with those that are cabled alike."""
    describe = make_node_key(fabric)
    cabled = (each.id for each in fabric.nodes.values() if each.host is None and fabric.switch_of(each.id))
    return tuple(map(tuple, group_by_key((describe(node), node) for node in cabled).values()))


def count_pairs(sources: Nodes, sinks: Nodes, *, is_same: bool) -> int:
    """Pairs of two different nodes of two classes, or of one that is both."""
    return len(sources) * (len(sinks) - is_same)


def _group_each_to_each(asked: FlowSet, classes: Mapping[NodeId, int]) -> Iterator[FlowGroup]:
    """Nodes of one class are in the same sets on the same sides, so a class is all among the sources, or not at all."""
    sources, sinks = (
        [(number, tuple(nodes)) for number, nodes in group_by_key((classes[node], node) for node in side).items()]
        for side in (asked.sources, asked.sinks)
    )
    for number, here in sources:
        for other, there in sinks:
            pairs = count_pairs(here, there, is_same=number == other)
            if pairs:
                yield make_group(here, there, pairs * asked.streams, asked)


def _group_in_order(asked: FlowSet, classes: Mapping[NodeId, int]) -> Iterator[FlowGroup]:
    pairs = ((a, b) for a, b in asked.pairs() if a != b)
    for alike in group_by_key(((classes[a], classes[b]), (a, b)) for a, b in pairs).values():
        sources, sinks = zip(*alike, strict=True)
        yield FlowGroup(asked.make_flow(*alike[0]), len(alike) * asked.streams, sources, sinks)


# -- classes of nodes


def _classify_nodes(fabric: Fabric, asked: Sequence[FlowSet]) -> dict[NodeId, int]:
    """A number for each node of ``asked``; nodes of one number are cabled alike, and in as many flows of each kind."""
    part: dict[NodeId, list[tuple[int, int]]] = {}
    for number, each in enumerate(asked):
        for side, (nodes, leg) in enumerate(((each.sources, each.leg), (each.sinks, each.last_leg))):
            for node in nodes:
                part.setdefault(node, []).append((2 * number + side, _find_place(fabric, node, leg)))
    describe = make_node_key(fabric)
    colours = _number({node: (describe(node), *places) for node, places in part.items()})
    ordered = [(number, each) for number, each in enumerate(asked) if each.in_order]
    while ordered:
        beside: dict[NodeId, list[tuple[int, int]]] = {node: [] for node in part}
        for number, each in ordered:
            for source, sink in each.pairs():
                if source != sink:
                    beside[source].append((2 * number, colours[sink]))
                    beside[sink].append((2 * number + 1, colours[source]))
        finer = _number({node: (colour, *sorted(beside[node])) for node, colour in colours.items()})
        if len(set(finer.values())) == len(set(colours.values())):
            break
        colours = finer
    return colours


def _find_place(fabric: Fabric, node: NodeId, leg: str | None) -> int:
    """The place of a leg that flows name among those of its node; -1 for all legs, and for one that is down."""
    link = None if leg is None else fabric.find_leg(node, leg)
    return next((place for place, own in enumerate(_sort_legs(fabric, node)) if own is link), -1)


def _number(keys: Mapping[NodeId, Hashable]) -> dict[NodeId, int]:
    """Equal keys as equal numbers, counted as they are first met."""
    numbers: dict[Hashable, int] = {}
    return {node: numbers.setdefault(key, len(numbers)) for node, key in keys.items()}


def make_node_key(fabric: Fabric) -> Callable[[NodeId], Hashable]:
    """A key of nodes, equal where routes and capacities can tell them apart only by name.

    A node that shares cables with a virtual machine, forwards, is cabled to one that does not forward, or stands in
    forwarding tables is like no other.
    """
    hosts = {node.host for node in fabric.nodes.values() if node.host is not None}
    nodes = fabric.nodes
    served = group_by_key((server, limit.system) for limit in fabric.layer_limits for server in limit.servers)

    def describe(node: NodeId) -> Hashable:
        here = nodes[node]
        if here.host is not None or here.forwards or node in hosts:
            return node
        if fabric.tables and any(fabric.routing_of(link) is RoutingRule.TABLES for link in fabric.links_at[node]):
            return node
        legs = describe_legs(fabric, node)
        if any(far in nodes and not nodes[NodeId(far)].forwards for far, _ in legs):
            return node
        # The network that a flow takes follows from what its ends are cabled to as described.
        meant = () if fabric.whole is None else describe_legs(fabric.whole, node)
        return legs, meant, fabric.vlans_of.get(node), describe_passed(fabric, node), tuple(served.get(node, ()))

    return describe


def describe_legs(fabric: Fabric, node: str) -> tuple[tuple[str, tuple[Hashable, ...]], ...]:
    """Where each leg of ``node`` goes, and what it is."""
    return tuple((link.b if link.a == node else link.a, describe_link(link)) for link in _sort_legs(fabric, node))


def describe_passed(fabric: Fabric, node: str) -> tuple[object, ...]:
    """The ceilings that the legs of ``node`` pass, as far as rates depend on them."""
    return describe_ceilings(fabric, node, _sort_legs(fabric, node)) if fabric.ceilings else ()


def _sort_legs(fabric: Fabric, node: str) -> Sequence[Link]:
    """The legs of a node, so that those of nodes cabled alike are in one order, whatever that of the file."""
    legs = fabric.links_at[node]
    if len(legs) == 1:
        return legs
    return sorted(legs, key=lambda link: (link.other(node), link.network, link.standby, link.members))


# -- what the groups load


def trace_groups(routes: Routes, groups: Sequence[FlowGroup], members: Mapping[NodeId, Nodes]) -> Crossings:
    """The load of one flow of each group, with shares as large as the load of all of them.

    ``members`` are the classes (``find_members``), of which the legs at one place are one part. RoutingError as
    ``trace_flows``.
    """
    crossed = trace_flows(routes, [group.flow for group in groups], Model.FLUID)
    numbers: dict[LinkPart, int] = {}
    place, sharing = np.empty(len(crossed.parts), np.intp), np.empty(len(crossed.parts))
    for index, part in enumerate(crossed.parts):
        node = _find_owner(routes.fabric, part, members)
        nodes = () if node is None else members[node]
        sharing[index] = max(len(nodes), 1)
        alike = part if node is None else _move_part(routes.fabric, part, node, nodes[0])
        place[index] = numbers.setdefault(alike, len(numbers))
    count = np.array([group.count for group in groups], float)
    used = crossed.used
    share = used.share * count[crossed.owner[used.flow]] / sharing[used.link]
    return replace(crossed, used=Usage(used.flow, place[used.link], share), parts=tuple(numbers))


def _find_owner(fabric: Fabric, part: LinkPart, members: Mapping[NodeId, Nodes]) -> NodeId | None:
    """The node of ``members`` that a part belongs to; None where it is none of a node, or of one like no other."""
    if part.ceiling is not None:
        device = NodeId(part.ceiling.device)
        return device if device in members else None
    link = fabric.links[part.way.link]
    return next((node for node in (NodeId(link.a), NodeId(link.b)) if node in members), None)


def _move_part(fabric: Fabric, part: LinkPart, node: NodeId, to: NodeId) -> LinkPart:
    """The part of the node ``to`` that is what ``part`` is for ``node``, which is cabled alike."""
    if part.ceiling is None:
        return replace(part, way=_move_leg(fabric, part.way, node, to))
    side = replace(part.ceiling, device=to)
    return LinkPart(place_side(fabric, side), ceiling=side)


def _move_leg(fabric: Fabric, way: Direction, node: NodeId, to: NodeId) -> Direction:
    """The leg of the node ``to`` that is what the leg ``way`` is for ``node``, which is cabled alike."""
    place = next(place for place, leg in enumerate(_sort_legs(fabric, node)) if leg.id == way.link)
    return Direction(_sort_legs(fabric, to)[place].id, to if way.source == node else way.source)


def name_legs(fabric: Fabric, ways: Sequence[Direction], flow: Flow, merged: MergedFlows) -> tuple[Direction, ...]:
    """``ways`` of the group of ``flow`` as they are for ``flow``: its own legs instead of those of its group."""
    return tuple(part.way for part in name_parts(fabric, [LinkPart(way) for way in ways], flow, merged))


def name_parts(fabric: Fabric, parts: Sequence[LinkPart], flow: Flow, merged: MergedFlows) -> tuple[LinkPart, ...]:
    """The same for parts."""
    owners = (_find_owner(fabric, part, merged.members) for part in parts)
    return tuple(
        part if node is None else _move_part(fabric, part, node, flow.source if _leaves(part, node) else flow.sink)
        for part, node in zip(parts, owners, strict=True)
    )


def _leaves(part: LinkPart, node: NodeId) -> bool:
    return part.way.source == node if part.ceiling is None else not part.ceiling.inward
