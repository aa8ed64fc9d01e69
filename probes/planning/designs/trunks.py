"""The design ``trunks``: every link between switches filled, and every node link that no neighbour fills.

The nodes of two switches send to each other until the link between is full, alone where that can be. Elements that
fill together are one bundle, judged by its sum.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import NamedTuple

from benchconsole.probes.model.measuring import FULL, Bundle
from benchconsole.probes.planning.designs.filling import HEADROOM, compute_fill, make_bundle
from benchconsole.probes.planning.designs.neighbours import group_alike
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout, FlowLoad
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Flow, NodeId

TRIES = 6
"""Pairs of switches that are tried for filling one link."""

NEAREST = 8
"""Switches on each side that pairs are made of."""

MOST_FLOWS = 64
"""Flows of one bundle; a trunk that needs more is tested as far as these fill it."""

_FAR = 1 << 30


class _Key(NamedTuple):
    """Flows from the nodes of one switch to those of another that are to offer so many byte/s together."""

    source: str
    sink: str
    needed: float


class _Trunks:
    """Finds, for each directed link that needs filling, flows that fill it."""

    def __init__(self, request: DesignRequest) -> None:
        self.fabric = request.fabric
        self.routes = request.flow_classes.routes
        self.flow_classes = request.flow_classes
        self.nodes = request.nodes
        chosen = set(request.nodes)
        self.members: dict[str, list[NodeId]] = {
            switch: [node.id for node in self.fabric.attached(switch) if node.id in chosen]
            for switch in self.fabric.switches
        }
        self.homes = [switch for switch, members in self.members.items() if members]
        self.turn = {switch: number for number, switch in enumerate(self.homes)}
        self.rate = {node: sum(link.capacity for link in self.fabric.active_legs(node)) for node in self.nodes}
        self.payload = max(self.fabric.goodput_of(link) for link in self.fabric.links.values()) if self.homes else 1.0
        self.covered: set[Direction] = set()
        self._found_rings: dict[str, list[list[int]]] = {}
        self._found_flows: dict[_Key, tuple[tuple[Flow, ...], float]] = {}
        self._found_fill: dict[_Key, Mapping[Direction, float]] = {}

    def loads(self) -> list[FlowLoad]:
        """One load for each directed link between switches that has nodes on both sides, then NICs."""
        trunks = [link for link in self.fabric.links.values() if link.a in self.fabric.switches]
        ways = [Direction(link.id, end) for link in trunks for end in (link.a, link.b)]
        found: list[FlowLoad] = []
        for find in (partial(self._full, alone=True), partial(self._full, alone=False), self._fullest):
            found += [load for way in ways if way not in self.covered and (load := find(way))]
        # Node links that no neighbour fills: alone on their switch, or faster than the others there.
        slow = {node for group in group_alike(self.fabric, self.nodes) if len(group) > 1 for node in group}
        wide = [node for node in self.nodes if node not in slow and self.fabric.active_legs(node)]
        return found + [load for node in wide for sends in (True, False) if (load := self._nic(node, sends=sends))]

    def _full(self, way: Direction, *, alone: bool) -> FlowLoad | None:
        """A load that fills ``way``; ``alone``: it crosses it whole, so that no other link can hide what it loses."""
        for key in self._tried(way, alone=alone):
            if self._most(key, way) >= FULL and self._find_fill(key).get(way, 0.0) >= FULL:
                return self._covering(key, way)
        return None

    def _fullest(self, way: Direction) -> FlowLoad | None:
        """The load that fills ``way`` most, where none fills it: its bundle says how far."""
        tried = [*self._tried(way, alone=True), *self._tried(way, alone=False)]
        best, most = None, 0.0
        for key in sorted(tried, key=lambda key: -self._most(key, way)):
            if best is not None and most >= self._most(key, way) * (1 - 1e-9):
                break
            fill = self._find_fill(key).get(way, 0.0)
            if best is None or fill > most * (1 + 1e-9):
                best, most = key, fill
        return None if best is None else self._covering(best, way)

    def _covering(self, key: _Key, way: Direction) -> FlowLoad:
        bundle = make_bundle(self.fabric, way, self._find_fill(key), self.covered)
        self.covered.update(bundle.elements)
        return FlowLoad(self._find_flows(key)[0], bundle)

    def _tried(self, way: Direction, *, alone: bool) -> Iterator[_Key]:
        """Pairs of switches whose flows cross ``way`` whole (``alone``) or in parts, and the byte/s that fill it.

        Nearest first, in a fixed turn.
        """
        if alone and not self._leads_alone(way):
            return
        tried = 0
        capacity = self.fabric.links[way.link].capacity
        near, far = way.source, self.fabric.links[way.link].other(way.source)
        homes, beyond = self._nearest(near, 0), self._nearest(far, self.turn.get(near, 0) + 1)
        for source, sink in product(homes, beyond):
            ends = self.members[source][0], self.members[sink][0]
            if source == sink or self.flow_classes.find_class(*ends) is None:
                continue
            share = self.routes.between(source, sink).get(way, 0.0)
            if share > 0 and (share > 1 - 1e-9) is alone:
                tried += 1
                yield _Key(source, sink, capacity / share)
                if tried == TRIES:
                    return

    def _leads_alone(self, way: Direction) -> bool:
        """Whether all that leaves its switch for one of the nearest switches beyond takes ``way``."""
        beyond = self.routes.hops_to(way.source)
        sinks = self._nearest(self.fabric.links[way.link].other(way.source), self.turn.get(way.source, 0) + 1)
        near = (sink for sink in sinks if beyond.get(sink, 0) > 0)
        return any(self.routes.between(way.source, sink).get(way, 0.0) > 1 - 1e-9 for sink in near)

    def _nearest(self, switch: str, start: int) -> list[str]:
        """The switches with nodes that are nearest to ``switch``; of equally near ones those from ``start`` on."""
        found: list[int] = []
        for ring in self._find_rings(switch):
            first = bisect_left(ring, start)
            found += [*ring[first : first + NEAREST], *ring[: min(first, NEAREST)]][: NEAREST - len(found)]
        return [self.homes[number] for number in found]

    def _find_rings(self, switch: str) -> list[list[int]]:
        """The switches with nodes, by number, in groups that are equally far from ``switch``."""
        if switch not in self._found_rings:
            hops = self.routes.hops_to(switch)
            rings = group_by_key((hops.get(home, _FAR), number) for number, home in enumerate(self.homes))
            self._found_rings[switch] = [rings[distance] for distance in sorted(rings)]
        return self._found_rings[switch]

    def _find_fill(self, key: _Key) -> Mapping[Direction, float]:
        """How far its flows fill each direction that they cross."""
        if key not in self._found_fill:
            self._found_fill[key] = compute_fill(self.fabric, self._find_flows(key)[0], self.routes)
        return self._found_fill[key]

    def _find_flows(self, key: _Key) -> tuple[tuple[Flow, ...], float]:
        if key not in self._found_flows:
            self._found_flows[key] = self._choose_flows(key)
        return self._found_flows[key]

    def _choose_flows(self, key: _Key) -> tuple[tuple[Flow, ...], float]:
        """The flows, and the most of what they need that they can offer."""
        senders, sinks = self._enough(key.source, key.needed), self._enough(key.sink, key.needed)
        count = max(len(senders), len(sinks))
        flows = tuple(Flow(senders[i % len(senders)], sinks[i % len(sinks)]) for i in range(count))
        offers = min(sum(self.rate[node] for node in senders), sum(self.rate[node] for node in sinks))
        return flows, offers / key.needed

    def _enough(self, switch: str, needed: float) -> list[NodeId]:
        chosen: list[NodeId] = []
        offered = 0.0
        for node in self.members[switch][:MOST_FLOWS]:
            if offered >= HEADROOM * needed:
                break
            chosen.append(node)
            offered += self.rate[node]
        return chosen

    def _most(self, key: _Key, way: Direction) -> float:
        """No flows between the two switches fill ``way`` further than this."""
        goodput = self.fabric.goodput_of(self.fabric.links[way.link])
        return min(self._find_flows(key)[1] * self.payload / goodput, 1.0)

    def _nic(self, node: NodeId, *, sends: bool) -> FlowLoad | None:
        flows: list[Flow] = []
        offered = 0.0
        for partner in self._partners(node):
            if offered >= HEADROOM * self.rate[node] or len(flows) == MOST_FLOWS:
                break
            flows.append(Flow(node, partner) if sends else Flow(partner, node))
            offered += self.rate[partner]
        if not flows:
            return None
        links = self.fabric.active_legs(node)
        elements = tuple(Direction(link.id, node if sends else link.other(node)) for link in links)
        full = compute_fill(self.fabric, flows, self.routes)
        fill = min(full.get(element, 0.0) for element in elements)
        return FlowLoad(tuple(flows), Bundle(f"{node} {'out' if sends else 'in'}", elements, fill))

    def _partners(self, node: NodeId) -> Iterator[NodeId]:
        """Other nodes, one from each switch in turn, those with a path only; those of its own switch come last."""
        own = set(self.fabric.switch_of(node))
        longest = max(map(len, self.members.values()), default=0)
        seen = {node}
        for beside in (False, True):
            for index in range(longest):
                for members in (self.members[home] for home in self.homes):
                    other = members[index] if index < len(members) else node
                    near = not own.isdisjoint(self.fabric.switch_of(other))
                    if other not in seen and near is beside:
                        seen.add(other)
                        if self.flow_classes.find_class(node, other) is not None:
                            yield other


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """Bundles, each with the links on its way to itself."""
    because = "links between switches and wide NICs, each filled by flows that share only it"
    loads = _Trunks(request).loads()
    return [FlowLayout(because, loads=loads)] if loads else []
