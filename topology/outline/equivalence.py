"""Classes of equal devices: same sort, same cabling to equal others, same place in pairs and chassis.

Equal is exact (an equitable partition, see ``topology.tables.colour_refinement``). Where that leaves more
classes of a tier than a picture can hold, the tier is merged by coarser and coarser likeness, and the class
says that its members differ.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count, repeat
from operator import attrgetter
from typing import Any

import numpy as np

from benchconsole.topology.arrays import Indices, list_distinct, split_alike
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeRole
from benchconsole.topology.tables.colour_refinement import Edges, refine
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.graph_algorithms import find_components

MOST_CLASSES = 12
"""Classes of one tier; more than these are merged."""
MOST_PLACES = 6
"""Sites, or islands, that are told apart; of more than these, equal ones are merged."""
UNCLASSED = "unclassed"
"""The name that ``topology.description.resolve`` gives the class of nodes that have none."""
BELOW_NODES = -1
"""The tier of what hangs below the nodes: virtual machines and storage systems."""

_read_cabling = attrgetter(
    "speed", "count", "counted", "hash", "bond", "standby", "network", "wan", "channels", "mixed"
)
"""The properties that two links must share to be equal; names of ports and LAGs do not count."""
_Kind = tuple[int, str, str, str, bool, Hashable]
"""A sort without its place: tier, what, role, kind, forwards, details."""


@dataclass(frozen=True, slots=True)
class Sort:
    """The sort of a device, its cables apart. ``kind`` is the model of a switch or the class of a node.

    ``what`` is switch, node, virtual or storage. ``place`` is its site, or the number of its island where the fabric
    falls into a few parts without a cable between them. ``details`` are what a storage system is made of.
    """

    tier: int
    what: str
    role: str
    kind: str
    forwards: bool
    details: Hashable
    place: str


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Devices drawn as one; ``sort`` is that of the first, ``kinds`` are all. ``exact``: equal, not only alike.

    ``vertices`` are their numbers, in the order of ``members``.
    """

    sort: Sort
    kinds: tuple[str, ...]
    members: tuple[str, ...]
    vertices: Indices
    exact: bool


@dataclass(frozen=True, slots=True, eq=False)
class Equivalence:
    """Every vertex in one fold: the devices by their numbers in the tables, then the storage systems in file order.

    ``fold_of`` is the fold of each vertex, ``cabling`` for each link a number that equal links share. ``islands``
    counts the parts that have a cable.
    """

    folds: tuple[Fold, ...]
    fold_of: Indices
    cabling: Indices
    islands: int


class _Graph:
    """The fabric as numbered vertices: nodes, switches, storage systems; edges are cables, hosts and servers.

    ``sorts`` are the different ones in the order of their first vertex, ``sort_of`` the number of that of each vertex.
    """

    def __init__(self, cabled: Tables) -> None:
        self.cabled = cabled
        self.fabric = cabled.fabric
        self.names = (*cabled.names, *self.fabric.storage)
        self.cabling = number_cablings(cabled)
        self.edges = self._join()
        island = self._number_islands()
        self.islands = int(island.max(initial=0))
        self.sorts, self.sort_of = self._sort(island)

    def _join(self) -> Edges:
        index, devices = self.cabled.index, len(self.cabled.names)
        hosts = [(index[node.id], index[node.host]) for node in self.fabric.nodes.values() if node.host is not None]
        systems = enumerate(self.fabric.storage.values(), devices)
        servers = [(vertex, index[server]) for vertex, system in systems for server in system.servers]
        labels = int(self.cabling.max(initial=-1)) + 1
        one, other = np.array([*hosts, *servers], np.intp).reshape(-1, 2).T
        return Edges(
            np.concatenate((self.cabled.low, one)),
            np.concatenate((self.cabled.high, other)),
            np.concatenate((self.cabling, np.repeat([labels, labels + 1], [len(hosts), len(servers)]))),
        )

    def _number_islands(self) -> Indices:
        """For each vertex the number of its island from 1; 0 for one that is joined to nothing."""
        island = np.zeros(len(self.names), np.intp)
        island[self.edges.one] = island[self.edges.other] = 1
        joined = np.flatnonzero(island)
        part = find_components(len(self.names), self.edges.one, self.edges.other)[joined]
        island[joined] = np.unique(part, return_inverse=True)[1] + 1
        return island

    def _tell_places(self, island: Indices) -> Iterable[str]:
        """The place of each vertex: its site, or its island where these are few; empty for most fabrics."""
        sites = self.fabric.group_of("site")
        by_site = 1 < len({group.name for group in sites.values()}) <= MOST_PLACES
        by_island = 1 < self.islands <= MOST_PLACES
        if not by_site and not by_island:
            return repeat("", len(self.names))
        parts = [str(number) if by_island and number else "" for number in island.tolist()]
        if not by_site:
            return parts
        located = (*self.cabled.names, *(next(iter(each.servers), "") for each in self.fabric.storage.values()))
        return [sites[name].name if name in sites else part for name, part in zip(located, parts, strict=True)]

    def _sort(self, island: Indices) -> tuple[list[Sort], Indices]:
        numbers: defaultdict[tuple[_Kind, str], int] = defaultdict(count().__next__)
        placed = zip(self._list_kinds(), self._tell_places(island), strict=True)
        sort_of = np.fromiter(map(numbers.__getitem__, placed), np.intp, len(self.names))
        return [Sort(*kind, place=place) for kind, place in numbers], sort_of

    def _list_kinds(self) -> Iterator[_Kind]:
        """For each vertex what it is, its place apart."""
        describe = cache(_describe_node)
        for node in self.fabric.nodes.values():
            yield describe(node.host is None, node.role, node.hardware.name, node.forwards)
        for switch in self.fabric.switches.values():
            yield (switch.role.tier, "switch", switch.role.value, switch.model or "", False, None)
        for storage in self.fabric.storage.values():
            kind = " ".join(word for word in (storage.vendor or storage.protocol, storage.version) if word)
            details = (storage.protocol, storage.size, storage.layers)
            yield (BELOW_NODES, "storage", "storage system", kind, False, details)

    def refined(self) -> Indices:
        """The exact class of each vertex; what holds devices together takes part as vertices of its own."""
        sets = list(self._sets())
        kinds = {kind: len(self.sorts) + number for number, kind in enumerate(dict.fromkeys(kind for kind, _ in sets))}
        sizes = [len(members) for _, members in sets]
        own = len(self.names) + np.arange(len(sets))
        edges = self.edges
        colour = int(edges.colour.max(initial=-1)) + 1
        joined = Edges(
            np.concatenate((edges.one, np.repeat(own, sizes))),
            np.concatenate((edges.other, np.array([each for _, members in sets for each in members], np.intp))),
            np.concatenate((edges.colour, np.full(sum(sizes), colour))),
        )
        colours = np.concatenate((self.sort_of, np.array([kinds[kind] for kind, _ in sets], np.intp)))
        return refine(colours, joined)[: len(self.names)]

    def _sets(self) -> Iterator[tuple[Hashable, list[int]]]:
        """Pairs, chassis, and the clients of storage systems; those of one name may be equal."""
        index = self.cabled.index
        for pair in self.fabric.mlags:
            yield "pair", [index[switch] for switch in pair.switches]
        for group in self.fabric.groups:
            if group.kind == "chassis":
                yield ("chassis", group.model), [index[member] for member in group.members]
        for vertex, storage in enumerate(self.fabric.storage.values(), len(index)):
            for clients in storage.clients:
                yield ("clients", clients.name), [*(index[node] for node in clients.nodes), vertex]

    def number_views(self) -> Indices:
        """For each vertex a number that those of one sort share that are joined to the same sorts, however often."""
        ends = (self.edges.one, self.edges.other)
        tails, heads = np.concatenate(ends), np.concatenate(ends[::-1])
        seen = np.unique(tails * len(self.sorts) + self.sort_of[heads])
        found: list[list[int]] = [[] for _ in self.names]
        for vertex, sort in zip(*(each.tolist() for each in np.divmod(seen, len(self.sorts))), strict=True):
            found[vertex].append(sort)
        return _number(zip(self.sort_of.tolist(), map(tuple, found), strict=True), len(found))


def _describe_node(is_machine: bool, role: NodeRole, kind: str, forwards: bool) -> _Kind:
    tier, what = (0, "node") if is_machine else (BELOW_NODES, "virtual")
    return (tier, what, role.value, "" if kind == UNCLASSED else kind, forwards, None)


def _number(keys: Iterable[Hashable], length: int) -> Indices:
    """A number for each of ``length`` keys, that of equal ones the same; in the order of the first of each."""
    numbers: defaultdict[Hashable, int] = defaultdict(count().__next__)
    return np.fromiter(map(numbers.__getitem__, keys), np.intp, length)


def number_cablings(cabled: Tables) -> Indices:
    """For each link a number that links share which are equal, the names of their ports and LAGs apart."""
    numbers: defaultdict[tuple[Any, ...], int] = defaultdict(count().__next__)
    keys = map(_read_cabling, cabled.fabric.links.values())
    found = np.fromiter(map(numbers.__getitem__, keys), np.intp, len(cabled.ids))
    # In any order the members of a LAG are the same ones.
    alike = _number(((*key, tuple(sorted(mixed))) for *key, mixed in numbers), len(numbers))
    peers = {link for pair in cabled.fabric.mlags for link in pair.peer}
    is_peer = np.fromiter(map(peers.__contains__, cabled.ids), bool, len(cabled.ids))
    return np.asarray(2 * alike[found] + is_peer, np.intp)


def group_alike(cabled: Tables) -> Equivalence:
    """Every device of a fabric in one class; classes go from the core down, then by place, then by file order."""
    graph = _Graph(cabled)
    exact = graph.refined()
    return _group_classes(graph, _merge_classes(graph, exact), exact)


def keep_apart(cabled: Tables) -> Equivalence:
    """Every device of a fabric in a class of its own, in the same order."""
    graph = _Graph(cabled)
    vertices = np.arange(len(graph.names))
    return _group_classes(graph, vertices, vertices)


def _group_classes(graph: _Graph, class_of: Indices, exact: Indices) -> Equivalence:
    sorts = graph.sorts
    places = {place: rank for rank, place in enumerate(dict.fromkeys(sort.place for sort in sorts))}
    groups = split_alike(class_of)
    firsts = [sorts[graph.sort_of[each[0]]] for each in groups]
    ranked = sorted(range(len(groups)), key=lambda at: (-firsts[at].tier, places[firsts[at].place], groups[at][0]))
    fold_of = np.empty(len(graph.names), np.intp)
    for number, at in enumerate(ranked):
        fold_of[groups[at]] = number
    return Equivalence(
        tuple(
            Fold(
                sort=firsts[at],
                kinds=tuple(dict.fromkeys(sorts[number].kind for number in list_distinct(graph.sort_of[groups[at]]))),
                members=tuple(map(graph.names.__getitem__, groups[at].tolist())),
                vertices=groups[at],
                exact=bool((exact[groups[at]] == exact[groups[at][0]]).all()),
            )
            for at in ranked
        ),
        fold_of,
        graph.cabling,
        graph.islands,
    )


def _merge_classes(graph: _Graph, exact: Indices) -> Indices:
    """For each vertex the number of its class: the finest likeness that leaves few enough classes in its tier."""
    sorts = graph.sorts
    of_kinds = [replace(sort, kind="", details=None) for sort in sorts]
    of_roles = [replace(sort, place="") for sort in of_kinds]
    levels: tuple[Callable[[], Indices], ...] = (
        lambda: exact,
        graph.number_views,
        lambda: graph.sort_of,
        lambda: _number(of_kinds, len(sorts))[graph.sort_of],
        lambda: _number(of_roles, len(sorts))[graph.sort_of],
    )
    tier_of = np.array([sort.tier for sort in sorts], np.intp)[graph.sort_of]
    found, classes = np.empty(len(tier_of), np.intp), 0
    for tier in np.unique(tier_of).tolist():
        vertices = np.flatnonzero(tier_of == tier)
        for level in levels:
            own, chosen = np.unique(level()[vertices], return_inverse=True)
            if len(own) <= MOST_CLASSES:
                break
        found[vertices] = chosen + classes
        classes += len(own)
    return found
