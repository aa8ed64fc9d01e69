"""Owns test designs: which nodes send to which, so that each element is loaded and can be told apart.

``neighbours`` loads every node's NIC in both directions inside its own switch, twice with
another partner. ``trunks`` fills every link between switches, and every node link that its
neighbours are too slow to fill. Tests of one round share no directed link, except those of one
bundle, which share its element on purpose. Refuses to judge what comes out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from probes.model import FULL, Bundle
from topology.elements import direction_name, is_nic
from topology.expect import expect
from topology.model import Direction, Fabric, Flow, NodeId
from topology.routing import Routes

SHIFTS = 2
"""Partners per node in ``neighbours``: with one, a slow sender and a slow receiver look alike."""

HEADROOM = 2.0
"""How much more the senders of a trunk can offer than it carries, where there are enough of them."""

TRIES = 6
"""Pairs of switches that are tried for filling one link."""

MOST_FLOWS = 64
"""Flows of one bundle; a trunk that needs more is tested as far as these fill it."""


def count_of(number: int) -> str:
    """``1 equal link``, ``3 equal links``."""
    return "1 equal link" if number == 1 else f"{number} equal links"


@dataclass(frozen=True, slots=True)
class Load:
    """Flows that run together, and the bundle that they fill (None: each flow stands alone)."""

    flows: tuple[Flow, ...]
    bundle: Bundle | None = None


@dataclass(slots=True)
class Layout:
    """Loads that may run at the same time, with what they use."""

    because: str
    loads: list[Load] = field(default_factory=list)
    used: set[Direction] = field(default_factory=set)


def _groups(fabric: Fabric, nodes: Sequence[NodeId]) -> list[list[NodeId]]:
    """Nodes cabled to the same switches at the same speed, in file order."""
    found: dict[tuple[object, ...], list[NodeId]] = {}
    for node in nodes:
        links = fabric.active_legs(node)
        if links:
            key = (*sorted(link.other(node) for link in links), sum(link.capacity for link in links))
            found.setdefault(key, []).append(node)
    return list(found.values())


def neighbours(fabric: Fabric, nodes: Sequence[NodeId], routes: Routes) -> list[Layout]:
    """Cyclic shifts inside each group: every NIC sends once and receives once in each round."""
    layouts = []
    for shift in range(1, SHIFTS + 1):
        layout = Layout(f"every NIC in both directions, partner {shift} further on, inside its own switch")
        for group in _groups(fabric, nodes):
            if len(group) > shift:
                layout.loads += [
                    Load((Flow(node, group[(index + shift) % len(group)]),)) for index, node in enumerate(group)
                ]
        if layout.loads:
            layouts.append(layout)
    return layouts


class _Trunks:
    """Finds, for each directed link that needs filling, flows that fill it."""

    def __init__(self, fabric: Fabric, nodes: Sequence[NodeId], routes: Routes) -> None:
        self.fabric = fabric
        self.routes = routes
        self.nodes = nodes
        chosen = set(nodes)
        self.members: dict[str, list[NodeId]] = {
            switch: [node.id for node in fabric.attached(switch) if node.id in chosen] for switch in fabric.switches
        }
        self.homes: list[str] = [switch for switch, members in self.members.items() if members]
        self.covered: set[Direction] = set()

    def rate(self, node: NodeId) -> float:
        return sum(link.capacity for link in self.fabric.active_legs(node))

    def bundles(self) -> list[Load]:
        """One load for each directed link between switches that has nodes on both sides, then NICs."""
        trunks = [link for link in self.fabric.links.values() if link.a in self.fabric.switches]
        ways = [Direction(link.id, end) for link in trunks for end in (link.a, link.b)]
        loads: list[Load] = []
        for alone in (True, False):
            loads += [load for way in ways if way not in self.covered and (load := self._full(way, alone=alone))]
        loads += [load for way in ways if way not in self.covered and (load := self._fullest(way))]
        return loads + self._nics()

    def _full(self, way: Direction, *, alone: bool) -> Load | None:
        """A load that fills ``way``: alone, so that no other link can hide what it loses, or with its equals."""
        for load in self._loads(way, alone=alone):
            if load.bundle and load.bundle.fill >= FULL:
                self.covered.update(load.bundle.elements)
                return load
        return None

    def _fullest(self, way: Direction) -> Load | None:
        """The load that fills ``way`` most, where none fills it: its bundle says how far."""
        loads = [*self._loads(way, alone=True), *self._loads(way, alone=False)]
        best = max(loads, key=lambda load: load.bundle.fill if load.bundle else 0.0, default=None)
        if best and best.bundle:
            self.covered.update(best.bundle.elements)
        return best

    def _loads(self, way: Direction, *, alone: bool) -> Iterator[Load]:
        """Loads over ``way`` whose flows cross it whole (``alone``), or in parts."""
        tried = 0
        for source, sink in self._home_pairs(way):
            share = self.routes.between(source, sink).get(way, 0.0)
            if tried < TRIES and share > 0 and (share > 1 - 1e-9) is alone:
                tried += 1
                yield self._load(way, source, sink)

    def _home_pairs(self, way: Direction) -> Iterable[tuple[str, str]]:
        """Switches with nodes on the near and the far side of ``way``, nearest first, in a fixed turn."""
        link = self.fabric.links[way.link]
        near, far = way.source, link.other(way.source)
        turn = self.homes.index(near) if near in self.homes else 0
        sinks = [*self.homes[turn + 1 :], *self.homes[: turn + 1]]
        sinks.sort(key=lambda home: self.routes.hops_to(far).get(home, 1 << 30))
        sources = sorted(self.homes, key=lambda home: self.routes.hops_to(near).get(home, 1 << 30))
        for source in sources[:8]:
            for sink in sinks[:8]:
                if source != sink and self._routed(source, sink):
                    yield source, sink

    def _routed(self, source: str, sink: str) -> bool:
        """Whether nodes of the two switches have a path that a fabric would route."""
        first, last = self.members[source][0], self.members[sink][0]
        return self.routes.connected(first, last) and self.routes.climbs_once(first, last)

    def _load(self, way: Direction, source: str, sink: str) -> Load:
        needed = self.fabric.links[way.link].capacity / self.routes.between(source, sink)[way]
        senders = self._enough(self.members[source], needed)
        sinks = self._enough(self.members[sink], needed)
        count = max(len(senders), len(sinks))
        flows = tuple(Flow(senders[i % len(senders)], sinks[i % len(sinks)]) for i in range(count))
        return Load(flows, self._bundle(flows, way))

    def _enough(self, members: Sequence[NodeId], needed: float) -> list[NodeId]:
        chosen: list[NodeId] = []
        for node in members[:MOST_FLOWS]:
            if sum(self.rate(other) for other in chosen) >= HEADROOM * needed:
                break
            chosen.append(node)
        return chosen

    def _bundle(self, flows: Sequence[Flow], way: Direction) -> Bundle:
        """The bundle that ``flows`` load: ``way``, and the links between switches that fill together with it."""
        filled = self._filled(flows)
        fill = filled.get(way, 0.0)
        ties = [other for other, share in filled.items() if share >= FULL and not is_nic(self.fabric, other)]
        elements = tuple(sorted(ties)) if fill >= FULL else (way,)
        names = [direction_name(self.fabric, element) for element in elements]
        name = names[0] if len(names) == 1 else f"{names[0]} and {count_of(len(names) - 1)}"
        return Bundle(name, elements, fill)

    def _filled(self, flows: Sequence[Flow]) -> dict[Direction, float]:
        """How full each directed link is expected to be, as a share of its payload capacity."""
        load: dict[Direction, float] = {}
        for flow, rate in zip(flows, expect(self.fabric, flows, routes=self.routes), strict=True):
            for way, share in self.routes.shares(flow.source, flow.sink).items():
                load[way] = load.get(way, 0.0) + share * rate.value
        return {way: value / self._payload(way) for way, value in load.items()}

    def _payload(self, way: Direction) -> float:
        """The payload capacity of a directed link in byte/s."""
        link = self.fabric.links[way.link]
        return link.capacity * self.fabric.goodput_of(link)

    def _nics(self) -> list[Load]:
        """Node links that no neighbour fills: alone on their switch, or faster than the others there."""
        slow = {node for group in _groups(self.fabric, self.nodes) if len(group) > 1 for node in group}
        loads = []
        for node in self.nodes:
            links = self.fabric.active_legs(node)
            if node in slow or not links:
                continue
            for sends in (True, False):
                load = self._nic(node, sends=sends)
                if load:
                    loads.append(load)
        return loads

    def _nic(self, node: NodeId, *, sends: bool) -> Load | None:
        needed = self.rate(node)
        partners = self._partners(node)
        flows: list[Flow] = []
        offered = 0.0
        for partner in partners[:MOST_FLOWS]:
            if offered >= HEADROOM * needed:
                break
            flows.append(Flow(node, partner) if sends else Flow(partner, node))
            offered += self.rate(partner)
        if not flows:
            return None
        links = self.fabric.active_legs(node)
        elements = tuple(Direction(link.id, node if sends else link.other(node)) for link in links)
        filled = self._filled(flows)
        fill = min(filled.get(element, 0.0) for element in elements)
        return Load(tuple(flows), Bundle(f"{node} {'out' if sends else 'in'}", elements, fill))

    def _partners(self, node: NodeId) -> list[NodeId]:
        """Other nodes, one from each switch in turn, those with a path only."""
        lists = [[other for other in self.members[home] if other != node] for home in self.homes]
        taken: list[NodeId] = []
        for index in range(max((len(members) for members in lists), default=0)):
            taken += [members[index] for members in lists if index < len(members)]
        own = set(self.fabric.switch_of(node))
        ordered = sorted(taken, key=lambda other: not own.isdisjoint(self.fabric.switch_of(other)))
        routes = self.routes
        return [o for o in dict.fromkeys(ordered) if routes.connected(node, o) and routes.climbs_once(node, o)]


def trunks(fabric: Fabric, nodes: Sequence[NodeId], routes: Routes) -> list[Layout]:
    """Bundles packed first-fit into rounds in which no two of them share a directed link."""
    layouts: list[Layout] = []
    for load in _Trunks(fabric, nodes, routes).bundles():
        used = {way for flow in load.flows for way in routes.shares(flow.source, flow.sink)}
        for layout in layouts:
            if layout.used.isdisjoint(used):
                break
        else:
            layout = Layout("links between switches and wide NICs, each filled by flows that share only it")
            layouts.append(layout)
        layout.loads.append(load)
        layout.used |= used
    return layouts


Design = Callable[[Fabric, Sequence[NodeId], Routes], list[Layout]]
DESIGNS: Mapping[str, Design] = {"neighbours": neighbours, "trunks": trunks}
DEFAULT_DESIGN = "neighbours"
