"""Owns test designs: which nodes send to which, so that each element is loaded and can be told apart.

``neighbours`` loads every node's NIC in both directions inside its own switch, twice with
another partner. ``trunks`` fills every link between switches, and every node link that its
neighbours are too slow to fill. Tests of one round share no directed link, except those of one
bundle, which share its element on purpose. Refuses to judge what comes out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from probes.model import Bundle
from topology.elements import direction_name
from topology.expect import expect
from topology.model import Direction, Fabric, Flow, NodeId
from topology.routing import Routes

SHIFTS = 2
"""Partners per node in ``neighbours``: with one, a slow sender and a slow receiver look alike."""

HEADROOM = 2.0
"""How much more the senders of a trunk can offer than it carries, where there are enough of them."""

MOST_FLOWS = 64
"""Flows of one bundle; a trunk that needs more is tested as far as these fill it."""


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
        links = fabric.links_at[node]
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
        return sum(link.capacity for link in self.fabric.links_at[node])

    def bundles(self) -> list[Load]:
        """One load for each directed link between switches that has nodes on both sides, then NICs."""
        trunks = [link for link in self.fabric.links.values() if link.a in self.fabric.switches]
        ways = [Direction(link.id, end) for link in trunks for end in (link.a, link.b)]
        loads = [load for way in ways if (load := self._alone(way))]
        loads += [load for way in ways if way not in self.covered and (load := self._shared(way))]
        return loads + self._nics()

    def _alone(self, way: Direction) -> Load | None:
        """Flows that cross ``way`` whole: no other link can hide what it loses."""
        for source, sink in self._home_pairs(way):
            if abs(self.routes.between(source, sink).get(way, 0.0) - 1.0) < 1e-9:
                return self._load(way, source, sink)
        return None

    def _shared(self, way: Direction) -> Load | None:
        """Flows that cross ``way`` and its equals in parts: they are tested as one bundle."""
        best = max(self._home_pairs(way), key=lambda pair: self.routes.between(*pair).get(way, 0.0), default=None)
        if best is None or not self.routes.between(*best).get(way):
            return None
        return self._load(way, *best)

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

    def _load(self, way: Direction, source: str, sink: str) -> Load | None:
        shares = self.routes.between(source, sink)
        needed = self.fabric.links[way.link].capacity / shares[way]
        senders = self._enough(self.members[source], needed)
        sinks = self._enough(self.members[sink], needed)
        count = max(len(senders), len(sinks))
        flows = tuple(Flow(senders[i % len(senders)], sinks[i % len(sinks)]) for i in range(count))
        return self._bundle(flows, way)

    def _enough(self, members: Sequence[NodeId], needed: float) -> list[NodeId]:
        chosen: list[NodeId] = []
        for node in members[:MOST_FLOWS]:
            if sum(self.rate(other) for other in chosen) >= HEADROOM * needed:
                break
            chosen.append(node)
        return chosen

    def _bundle(self, flows: tuple[Flow, ...], way: Direction) -> Load:
        """Name the flows after what they fill together with ``way``: its ties between switches."""
        limits = {found for each in expect(self.fabric, flows, routes=self.routes) for found in each.limiting}
        nics = {found for found in limits if self.fabric.tier(self.fabric.links[found.link].a) == 0}
        ties = sorted(limits - nics) if way in limits and way not in nics else []
        self.covered.update(ties or [way])
        elements = tuple(ties) or (way,)
        names = [direction_name(self.fabric, element) for element in elements]
        name = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} equal links"
        return Load(flows, Bundle(name, elements))

    def _nics(self) -> list[Load]:
        """Node links that no neighbour fills: alone on their switch, or faster than the others there."""
        slow = {node for group in _groups(self.fabric, self.nodes) if len(group) > 1 for node in group}
        loads = []
        for node in self.nodes:
            links = self.fabric.links_at[node]
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
        links = self.fabric.links_at[node]
        elements = tuple(Direction(link.id, node if sends else link.other(node)) for link in links)
        self.covered.update(elements)
        return Load(tuple(flows), Bundle(f"{node} {'out' if sends else 'in'}", elements))

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
