"""The design ``stress``: one chosen element loaded beyond what it carries, and nothing else that is shared.

The next flow loads the emptiest part of the element and leaves the fullest other link emptiest. None is taken that
would overload another link, unless that is loaded with the element whatever crosses it. Each node sends once and
receives once, but for the nodes whose own links are the element.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import FULL, Bundle
from benchconsole.probes.planning.design_options import make_unknown_error
from benchconsole.probes.planning.designs.filling import HEADROOM, compute_fill
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout, FlowLoad
from benchconsole.probes.planning.packing import FULL_AT
from benchconsole.topology.arrays import Flags, Floats
from benchconsole.topology.element_names import direction_name, is_nic
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, Link, LinkId, NodeId
from benchconsole.topology.units import counted

MOST_FLOWS = 512
"""Flows over one element: as many as a round has tests."""

MOST_KINDS = 400
"""Pairs of groups of nodes cabled alike that are looked at; of more, an even choice."""


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """One bundle for each direction of the element. PlanError where no flow crosses it in either."""
    chosen = _find_elements(request.fabric, request.options.text("share"))
    loads = [load for element in chosen if (load := _Stress(request, element).load()) is not None]
    if not loads:
        names = " and ".join(element.name for element in chosen)
        raise PlanError(f"option share: no flow between the {len(request.nodes)} selected nodes crosses {names}")
    return [FlowLayout("one element filled on purpose by flows that share only it", loads=loads)]


@dataclass(frozen=True, slots=True)
class _Element:
    """Directed links that are to be filled together, and what they are called."""

    name: str
    ways: tuple[Direction, ...]


def _find_elements(fabric: Fabric, text: str) -> list[_Element]:
    """A link, one way over it, a LAG, the uplinks of a switch or a server, each direction by itself.

    PlanError for an empty or unknown name.
    """
    if not text:
        raise PlanError("design stress needs the option share: a link, a LAG, a switch or a server to fill")
    for link in fabric.links.values():
        for way in (Direction(link.id, link.a), Direction(link.id, link.b)):
            if direction_name(fabric, way) == text:
                return [_Element(text, (way,))]
    links = _find_links(fabric, text)
    if links is None:
        lags = {link.lag for link in fabric.links.values() if link.lag}
        known = [*fabric.links, *fabric.switches, *fabric.storage, *fabric.nodes, *lags]
        many = "the name of a link, a LAG, a switch, a storage system or a node"
        raise make_unknown_error("element of option share", text, known, many)
    if not links:
        raise PlanError(f"option share: {text} has no links above it that tests could fill, expected another element")
    outward = tuple(Direction(link.id, text if text in (link.a, link.b) else link.a) for link in links)
    inward = tuple(Direction(way.link, fabric.links[way.link].other(way.source)) for way in outward)
    if len(links) == 1:
        return [_Element(direction_name(fabric, ways[0]), ways) for ways in (outward, inward)]
    return [_Element(f"{text} out", outward), _Element(f"{text} in", inward)]


def _find_links(fabric: Fabric, text: str) -> list[Link] | None:
    """The links that a name stands for; None where nothing has that name."""
    if text in fabric.links:
        return [fabric.links[LinkId(text)]]
    if text in fabric.switches:
        return [link for link in fabric.links_at[text] if fabric.tier(link.other(text)) > fabric.tier(text)]
    if text in fabric.storage:
        return [link for server in fabric.storage[text].servers for link in fabric.active_legs(server)]
    if text in fabric.nodes:
        return list(fabric.active_legs(fabric.nodes[NodeId(text)].host or text))
    return [link for link in fabric.links.values() if link.lag == text] or None


@dataclass(slots=True)
class _Group:
    """Nodes cabled alike, and how often they have sent and received.

    ``fills_out`` and ``fills_in``: their own links that way are the element, so they send or receive again.
    """

    nodes: list[NodeId]
    fills_out: bool
    fills_in: bool
    sent: int = 0
    received: int = 0


class _Stress:
    """Chooses the flows that fill one element."""

    def __init__(self, request: DesignRequest, element: _Element) -> None:
        self.fabric = request.fabric
        self.routes = request.flow_classes.routes
        self.element = element
        self.flow_classes = request.flow_classes
        self.ways = [
            request.flow_classes.routes.graph.way(self.fabric.links[way.link], way.source) for way in element.ways
        ]
        out = {way.source for way in element.ways if NodeId(way.source) in self.fabric.nodes}
        into = {end for end in map(self._end, element.ways) if NodeId(end) in self.fabric.nodes}
        groups: dict[object, _Group] = {}
        for node in request.nodes:
            side = self.flow_classes.find_side(node)
            if side is not None:
                fills_out, fills_in = side.device in out, side.device in into
                key = side.device if fills_out or fills_in else side.number
                groups.setdefault(key, _Group([], fills_out, fills_in)).nodes.append(node)
        self.groups = list(groups.values())

    def _end(self, way: Direction) -> str:
        return self.fabric.links[way.link].other(way.source)

    def load(self) -> FlowLoad | None:
        """The flows, with the bundle that they fill; None where none crosses the element."""
        crossing = [
            (self.groups[one], self.groups[other])
            for one, other in np.argwhere(self._crossing()).tolist()
            if one != other or len(self.groups[one].nodes) > 1
        ]
        flows = _add_flows(self, crossing[:: -(-len(crossing) // MOST_KINDS)]) if crossing else []
        if not flows:
            return None
        full = compute_fill(self.fabric, flows, self.routes)
        fill = min(full.get(way, 0.0) for way in self.element.ways)
        also = (way for way, share in full.items() if share >= FULL and not is_nic(self.fabric, way))
        ways = {*self.element.ways, *(also if fill >= FULL else ())}
        further = len(ways) - len(self.element.ways)
        name = self.element.name + (f" and {counted(further, 'equal link')}" if further else "")
        return FlowLoad(tuple(flows), Bundle(name, tuple(sorted(ways)), fill))

    def _crossing(self) -> Flags:
        """Per group that sends and group that receives: a way of the element is the sender's, the receiver's, or
        on a path between switches of theirs that is as short as any.
        """
        fills_out = np.array([group.fills_out for group in self.groups], bool)
        fills_in = np.array([group.fills_in for group in self.groups], bool)
        if fills_out.any() or fills_in.any():
            return np.asarray(fills_out[:, None] | fills_in[None, :], bool)
        homes = {home: number for number, home in enumerate({h: None for g in self.groups for h in self._homes(g)})}
        at = np.zeros((len(self.groups), len(homes)), np.float64)
        for number, group in enumerate(self.groups):
            at[number, [homes[home] for home in self._homes(group)]] = 1.0
        apart = np.array([self._hops(homes, home) for home in homes]).T
        crossed = np.zeros((len(homes), len(homes)), bool)
        for way in self.element.ways:
            near, far = self._hops(homes, way.source), self._hops(homes, self._end(way))
            crossed |= near[:, None] + 1 + far[None, :] == apart
        return np.asarray(at @ crossed @ at.T > 0, bool)

    def _homes(self, group: _Group) -> list[str]:
        side = self.flow_classes.find_side(group.nodes[0])
        return [each for each in side.legs.attachment.devices if each in self.fabric.switches] if side else []

    def _hops(self, homes: Iterable[str], switch: str) -> Floats:
        """The distance of each of ``homes`` to ``switch``; not a number where there is no path, equal to nothing."""
        hops = self.routes.hops_to(switch) if switch in self.fabric.switches else {}
        return np.array([hops.get(home, nan) for home in homes])


def _add_flows(stress: _Stress, pairs: Sequence[tuple[_Group, _Group]]) -> list[Flow]:
    """Flows until every link of the element is offered enough, or none is left that may be added."""
    own = len(stress.ways)
    column = {way: number for number, way in enumerate(stress.ways)}
    rows: list[dict[int, float]] = []
    moves: list[tuple[_Group, _Group]] = []
    for one, other in pairs:
        source, sink = one.nodes[0], other.nodes[0] if other is not one else other.nodes[1]
        flow_class = stress.flow_classes.find_class(source, sink)
        if flow_class is None:
            continue
        inner = {way for way, _ in flow_class.inner}
        ways = stress.flow_classes.ways(source, sink)
        crossed = {way: load for way, load in ways.items() if way in inner or way in column}
        if any(way in column for way in crossed):
            moves.append((one, other))
            rows.append({column.setdefault(way, len(column)): load for way, load in crossed.items()})
    table: Floats = np.zeros((len(rows), len(column)))  # the load of each move on each directed link, the own first
    for number, row in enumerate(rows):
        table[number, list(row)] = list(row.values())
    most = table[:, :own].max(axis=1, initial=0.0, keepdims=True)
    # Of what fills with the element, whatever crosses that, no flow is kept away.
    others = np.asarray((table < most * (1 - 1e-9)).any(axis=0), bool)
    others[:own] = False
    load, free = np.zeros(table.shape[1]), np.ones(len(moves), bool)
    found: list[Flow] = []
    while len(found) < MOST_FLOWS and free.any() and load[:own].min() < HEADROOM:
        weakest = load[:own] <= load[:own].min() + 1e-9
        gain = table[:, :own][:, weakest].sum(axis=1)
        fullest = (table[:, others] + load[others]).max(axis=1, initial=0.0)
        good = free & (gain > 0) & (fullest <= FULL_AT)
        if not good.any():
            break
        at = int(np.flatnonzero(good)[np.lexsort((-gain[good], fullest[good].round(6)))[0]])
        flow = _next_flow(*moves[at])
        if flow is None:
            free[at] = False
            continue
        load += table[at]
        found.append(flow)
    return found


def _next_flow(one: _Group, other: _Group) -> Flow | None:
    """The next flow from one group to the other; None where no node is free, or only one with itself."""
    sent_all, received_all = one.sent >= len(one.nodes), other.received >= len(other.nodes)
    if (sent_all and not one.fills_out) or (received_all and not other.fills_in):
        return None
    source, sink = one.nodes[one.sent % len(one.nodes)], other.nodes[other.received % len(other.nodes)]
    if source == sink:
        return None
    one.sent += 1
    other.received += 1
    return Flow(source, sink)
