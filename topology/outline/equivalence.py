"""Classes of equal devices: same sort, same cabling to equal others, same place in pairs and chassis.

Equal is exact (an equitable partition, see ``topology.outline.colour_refinement``). Where that leaves more
classes of a tier than a picture can hold, the tier is merged by coarser and coarser likeness, and the class
says that its members differ.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Link, LinkId, NodeRole
from benchconsole.topology.outline.colour_refinement import refine

MOST_CLASSES = 12
"""Classes of one tier; more than these are merged."""
MOST_PLACES = 6
"""Sites, or islands, that are told apart; of more than these, equal ones are merged."""
UNCLASSED = "unclassed"
"""What ``topology.description.resolve`` names the class of nodes that have none."""
BELOW_NODES = -1
"""The tier of what hangs below the nodes: virtual machines and storage systems."""


@dataclass(frozen=True, slots=True)
class Sort:
    """What a device is, its cables apart. ``kind`` is the model of a switch or the class of a node.

    ``what`` is switch, node, virtual or storage. ``place`` is its site, or the number of its island where the fabric
    falls into a few parts without a cable between them. ``details`` are what a storage system is made of.
    """

    tier: int
    what: str
    role: str
    kind: str
    place: str = ""
    forwards: bool = False
    details: Hashable = None


@dataclass(frozen=True, slots=True)
class Fold:
    """Devices drawn as one; ``sort`` is that of the first, ``kinds`` are all. ``exact``: equal, not only alike."""

    sort: Sort
    kinds: tuple[str, ...]
    members: tuple[str, ...]
    exact: bool


@dataclass(frozen=True, slots=True)
class Equivalence:
    """Every device and storage system in one fold; ``islands`` counts the parts that have a cable."""

    folds: tuple[Fold, ...]
    of_device: Mapping[str, int]
    of_storage: Mapping[str, int]
    islands: int


class _Graph:
    """The fabric as numbered vertices: nodes, switches, storage systems; for refining also what holds them together."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.device = {name: index for index, name in enumerate((*fabric.nodes, *fabric.switches))}
        self.storage = {name: len(self.device) + index for index, name in enumerate(fabric.storage)}
        self.names = (*self.device, *self.storage)
        self.neighbours: list[list[tuple[int, int]]] = [[] for _ in self.names]
        self._edges: dict[Hashable, int] = {}
        self._join()
        island = self._islands()
        self.islands = max(island)
        self.sorts = list(self._sorts(island))

    def _add(self, label: Hashable, one: int, other: int) -> None:
        edge = self._edges.setdefault(label, len(self._edges))
        self.neighbours[one].append((edge, other))
        self.neighbours[other].append((edge, one))

    def _join(self) -> None:
        peers = {link for pair in self.fabric.mlags for link in pair.peer}
        for link in self.fabric.links.values():
            self._add(make_cabling_key(link, peers), self.device[link.a], self.device[link.b])
        for node in self.fabric.nodes.values():
            if node.host is not None:
                self._add("host", self.device[node.id], self.device[node.host])
        for storage in self.fabric.storage.values():
            for server in storage.servers:
                self._add("storage", self.storage[storage.name], self.device[server])

    def _islands(self) -> list[int]:
        """For each vertex the number of its island from 1; 0 for one that is joined to nothing."""
        island = [0] * len(self.names)
        number = 0
        for start, edges in enumerate(self.neighbours):
            if island[start] or not edges:
                continue
            number += 1
            island[start] = number
            stack = [start]
            while stack:
                for _, other in self.neighbours[stack.pop()]:
                    if not island[other]:
                        island[other] = number
                        stack.append(other)
        return island or [0]

    def _sorts(self, island: list[int]) -> Iterator[Sort]:
        sites = self.fabric.group_of("site")
        told = {group.name for group in sites.values()}
        apart = 1 < self.islands <= MOST_PLACES

        def place(name: str, vertex: int) -> str:
            if 1 < len(told) <= MOST_PLACES and name in sites:
                return sites[name].name
            return str(island[vertex]) if apart and island[vertex] else ""

        made: dict[Hashable, Sort] = {}
        for vertex, node in enumerate(self.fabric.nodes.values()):
            key = (node.host is None, node.role, node.hardware.name, place(node.id, vertex), node.forwards)
            if key not in made:
                made[key] = _make_sort(*key)
            yield made[key]
        for vertex, switch in enumerate(self.fabric.switches.values(), len(self.fabric.nodes)):
            role = switch.role
            yield Sort(role.tier, "switch", role.value, switch.model or "", place(switch.id, vertex))
        for vertex, storage in enumerate(self.fabric.storage.values(), len(self.device)):
            at = place(storage.servers[0] if storage.servers else "", vertex)
            kind = " ".join(word for word in (storage.vendor or storage.protocol, storage.version) if word)
            details = (storage.protocol, storage.size, storage.layers)
            yield Sort(BELOW_NODES, "storage", "storage system", kind, at, details=details)

    def refined(self) -> list[int]:
        """The exact class of each vertex; what holds devices together takes part as vertices of its own."""
        colours: list[Hashable] = list(self.sorts)
        for colour, members in self._sets():
            vertex = len(self.neighbours)
            self.neighbours.append([])
            colours.append(colour)
            for member in members:
                self._add("member", vertex, member)
        return refine(colours, self.neighbours)[: len(self.names)]

    def _sets(self) -> Iterator[tuple[Hashable, list[int]]]:
        """Pairs, chassis, and the clients of storage systems; those of one name may be equal."""
        for pair in self.fabric.mlags:
            yield "pair", [self.device[switch] for switch in pair.switches]
        for group in self.fabric.groups:
            if group.kind == "chassis":
                yield ("chassis", group.model), [self.device[member] for member in group.members]
        for storage in self.fabric.storage.values():
            for clients in storage.clients:
                nodes = [self.device[node] for node in clients.nodes]
                yield ("clients", clients.name), [*nodes, self.storage[storage.name]]


def _make_sort(is_machine: bool, role: NodeRole, kind: str, place: str, forwards: bool) -> Sort:
    what, tier = ("node", 0) if is_machine else ("virtual", BELOW_NODES)
    return Sort(tier, what, role.value, "" if kind == UNCLASSED else kind, place, forwards)


def make_cabling_key(link: Link, peers: set[LinkId]) -> Hashable:
    """What two links must share to be equal; names of ports and LAGs do not count."""
    speeds = tuple(sorted(link.mixed)) if link.mixed else link.speed
    use = (link.hash, link.bond, link.standby, link.network, link.id in peers)
    return (speeds, link.count, link.counted, *use, link.wan, link.channels)


def group_alike(fabric: Fabric) -> Equivalence:
    """Every device of ``fabric`` in one class; classes go from the core down, then by place, then by file order."""
    graph = _Graph(fabric)
    exact = graph.refined()
    return _group_classes(graph, _merge_classes(graph, exact), exact)


def keep_apart(fabric: Fabric) -> Equivalence:
    """Every device of ``fabric`` in a class of its own, in the same order."""
    graph = _Graph(fabric)
    vertices = range(len(graph.names))
    return _group_classes(graph, vertices, vertices)


def _group_classes(graph: _Graph, keys: Sequence[Hashable], exact: Sequence[int]) -> Equivalence:
    found = group_by_key((key, vertex) for vertex, key in enumerate(keys))
    places = {place: index for index, place in enumerate(dict.fromkeys(sort.place for sort in graph.sorts))}
    first = ((graph.sorts[each[0]], each) for each in found.values())
    ordered = [each for _, each in sorted(first, key=lambda of: (-of[0].tier, places[of[0].place], of[1]))]
    number = {vertex: index for index, vertices in enumerate(ordered) for vertex in vertices}
    return Equivalence(
        tuple(
            Fold(
                sort=graph.sorts[vertices[0]],
                kinds=tuple(dict.fromkeys(graph.sorts[vertex].kind for vertex in vertices)),
                members=tuple(graph.names[vertex] for vertex in vertices),
                exact=len({exact[vertex] for vertex in vertices}) == 1,
            )
            for vertices in ordered
        ),
        {name: number[vertex] for name, vertex in graph.device.items()},
        {name: number[vertex] for name, vertex in graph.storage.items()},
        graph.islands,
    )


def _merge_classes(graph: _Graph, exact: list[int]) -> list[Hashable]:
    """For each vertex what tells its class: the finest likeness that leaves few enough classes in its tier."""
    levels: tuple[Callable[[int], Hashable], ...] = (
        lambda vertex: exact[vertex],
        # The sorts that a vertex is joined to, however often.
        lambda vertex: (
            graph.sorts[vertex],
            frozenset(graph.sorts[other] for _, other in graph.neighbours[vertex] if other < len(graph.sorts)),
        ),
        lambda vertex: graph.sorts[vertex],
        lambda vertex: replace(graph.sorts[vertex], kind="", details=None),
        lambda vertex: replace(graph.sorts[vertex], kind="", details=None, place=""),
    )
    tiers = group_by_key((sort.tier, vertex) for vertex, sort in enumerate(graph.sorts))
    keys: list[Hashable] = [None] * len(graph.sorts)
    for tier, vertices in tiers.items():
        chosen: list[Hashable] = []
        for level in levels:
            chosen = [level(vertex) for vertex in vertices]
            if len(set(chosen)) <= MOST_CLASSES:
                break
        for vertex, key in zip(vertices, chosen, strict=True):
            keys[vertex] = (tier, key)
    return keys
