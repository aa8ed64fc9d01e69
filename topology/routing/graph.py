"""The graph that traffic is routed on: distances between devices, and the next hops at each.

A forwarding device is a switch, or a node with ``forwards`` and cables of its own. The two switches of an MLAG pair
are one logical vertex: distances are counted between vertices, and its peer links lie inside it. Paths are the
shortest; one through forwarding nodes is taken only where switches alone give none, because such a node joins
networks and does not carry the traffic inside one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from benchconsole.topology.arrays import NO_INDICES, Floats, Indices, Ragged
from benchconsole.topology.errors import NoPeerLinkError
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction, Fabric, Link
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.link_columns import LinkColumns
from benchconsole.topology.routing.parallel_legs import find_parallel_legs, list_apart_legs

GATEWAY = 1 << 20
"""Links that a forwarding node on the way counts for: more than any path of switches has."""


@dataclass(frozen=True, slots=True, eq=False)
class NextHop:
    """The parallel links from one device to one logical next hop, which share its traffic as one LAG.

    ``ways`` numbers them in this direction (``Graph.way``), ``ends`` are the devices that they
    lead to (perhaps both of a pair), ``parts`` what each takes: as much as it has of the cables.
    """

    links: tuple[Link, ...]
    ways: tuple[int, ...]
    ends: tuple[str, ...]
    parts: tuple[float, ...]


class Graph:
    """Vertices, distances and next hops of one fabric, each computed when it is first asked for.

    With ``networks`` only their links lead anywhere. Links have the same numbers either way. ``devices`` are those that
    forward, ``vertices`` the number of the first device of the vertex of each, ``leads_to`` that of the device at the
    end of each directed link (-1 for what does not forward). ``inner`` are per device the directed links from it to
    other vertices, in the order of the file.
    """

    def __init__(self, fabric: Fabric, networks: Collection[str] | None = None) -> None:
        self.fabric = fabric
        self._networks = networks
        self.links: tuple[Link, ...] = tuple(fabric.links.values())
        self.columns = LinkColumns(fabric)
        self._forwarding: frozenset[str] = frozenset(
            [node.id for node in fabric.nodes.values() if node.forwards and node.host is None]
        )
        self.vertex: Mapping[str, str] = {
            device: fabric.mlag_of[device].switches[0] if device in fabric.mlag_of else device
            for device in (*fabric.switches, *self._forwarding)
        }
        self.devices = tuple(self.vertex)
        self.number: Mapping[str, int] = dict(zip(self.devices, range(len(self.devices)), strict=True))
        self.vertices: Indices = np.array([self.number[each] for each in self.vertex.values()], np.intp)
        self.leads_to = self._find_ends()
        self.inner = self._find_inner()
        ends = np.array(self.devices, object)[self.vertices[self.leads_to[self.inner.columns[0]]]]
        self._beside, self._near = _find_beside(self.vertex, ends.tolist(), self.inner.count)
        self._order = {vertex: index for index, vertex in enumerate(self._near)}
        self._own: dict[str, Mapping[str, NextHop]] = {}
        self._distances: dict[str, Mapping[str, int]] = {}
        self._leading: dict[tuple[frozenset[str], int, str], tuple[str, ...]] = {}
        self._cables: dict[tuple[int, ...], tuple[tuple[int, int], ...]] = {}
        self._peers: dict[str, NextHop] = {}
        self._directions: dict[int, Direction] = {}

    @cached_property
    def payload(self) -> Floats:
        """byte/s of payload that each directed link carries, by its number (``way``)."""
        return np.repeat([self.fabric.payload(link) for link in self.links], 2)

    @cached_property
    def member_payload(self) -> Floats:
        """byte/s of payload of the fastest member of each directed link: the most that one stream gets there."""
        return np.repeat([self.fabric.member_payload(link) for link in self.links], 2)

    @cached_property
    def connection_payload(self) -> Floats:
        """byte/s of payload that a connection has of all legs of a node, by each directed link of these; inf elsewhere.

        Ports that lead to rails or planes have addresses of their own: what goes between two addresses takes one of
        them, which may be a LAG, however many streams it is.
        """
        found = np.full(2 * len(self.links), np.inf)
        for parallel in find_parallel_legs(self.fabric):
            for node in parallel.nodes:
                legs = list_apart_legs(self.fabric, parallel.network, node)
                for together in group_by_key((self.vertex.get(link.other(node.id)), link) for link in legs).values():
                    ways = [way for link in together for way in (self.way(link, link.a), self.way(link, link.b))]
                    found[ways] = sum(self.payload[ways]) / 2
        return found

    @cached_property
    def _number(self) -> Mapping[str, int]:
        return dict(zip(self.fabric.links, range(len(self.links)), strict=True))

    def way(self, link: Link, source: str) -> int:
        """The number of a directed link: even from ``a`` to ``b``, odd back."""
        return 2 * self._number[link.id] + (source != link.a)

    def direction(self, way: int) -> Direction:
        """The directed link of a number, one object for each."""
        found = self._directions.get(way)
        if found is None:
            link = self.links[way >> 1]
            found = self._directions[way] = Direction(link.id, link.b if way & 1 else link.a)
        return found

    def hop(self, source: str, links: Sequence[Link]) -> NextHop:
        """The parallel ``links`` from a device as one next hop: those of the highest preference in this direction."""
        preferences = [link.preference[source != link.a] for link in links]
        if min(preferences) < (highest := max(preferences)):
            links = [link for link, each in zip(links, preferences, strict=True) if each == highest]
        weights = [link.capacity if self.is_weighted(link) else link.count for link in links]
        return NextHop(
            links=tuple(links),
            ways=tuple(self.way(link, source) for link in links),
            ends=tuple(link.other(source) for link in links),
            parts=tuple(weight / sum(weights) for weight in weights),
        )

    def is_weighted(self, link: Link) -> bool:
        """Whether the network of ``link`` shares traffic out by capacity, and not evenly."""
        return self.fabric.routing_of(link) is RoutingRule.WEIGHTED

    def weigh(self, hops: Sequence[NextHop]) -> tuple[float, ...]:
        """The part of the traffic that each of some next hops takes: as many of each, or by capacity."""
        if not self.is_weighted(hops[0].links[0]):
            return (1 / len(hops),) * len(hops)
        capacity = [sum(link.capacity for link in hop.links) for hop in hops]
        return tuple(each / sum(capacity) for each in capacity)

    @property
    def switches(self) -> tuple[str, ...]:
        """The switches that are cabled to another one here."""
        return tuple(device for device, there in self._beside.items() if there and device in self.fabric.switches)

    def hops_from(self, device: str) -> Mapping[str, NextHop]:
        """The next hops that a switch has cables to, by their vertex."""
        if device not in self._own:
            number = self.number[device]
            start, count = self.inner.start[number], self.inner.count[number]
            links = [self.links[way >> 1] for way in self.inner.columns[0][start : start + count].tolist()]
            together = group_by_key((self.vertex[link.other(device)], link) for link in links)
            self._own[device] = {there: self.hop(device, own) for there, own in together.items()}
        return self._own[device]

    def cables(self, ways: tuple[int, ...]) -> tuple[tuple[int, int], ...]:
        """Every cable of parallel directed links: the number of the link, and that of the member from 0."""
        if ways not in self._cables:
            counts = ((way, self.links[way >> 1].count) for way in ways)
            self._cables[ways] = tuple((way, member) for way, count in counts for member in range(count))
        return self._cables[ways]

    def active_legs(self, node: str) -> tuple[Link, ...]:
        """The links that a node sends and receives over: no standby leg while another of its bond is up."""
        legs = [link for link in self.fabric.legs(node) if self._is_open(link)]
        if len(legs) < 2:
            return tuple(legs)
        up = {(link.bond, link.network) for link in legs if not link.standby}
        return tuple(link for link in legs if not link.standby or (link.bond, link.network) not in up)

    def _is_open(self, link: Link) -> bool:
        return self._networks is None or link.network in self._networks

    def _find_ends(self) -> Indices:
        columns = self.columns
        number = np.full(len(columns.device_numbers), -1)
        number[[columns.device_numbers[device] for device in self.devices]] = np.arange(len(self.devices))
        return number[columns.starts].reshape(-1, 2)[:, ::-1].ravel()

    def _find_inner(self) -> Ragged[Indices]:
        ends = self.leads_to.reshape(-1, 2)
        links = np.flatnonzero((ends >= 0).all(axis=1))
        links = links[self.vertices[ends[links, 0]] != self.vertices[ends[links, 1]]]
        if self._forwarding or self._networks is not None:
            links = np.array([number for number in links.tolist() if self._is_active(self.links[number])], np.intp)
        ways = np.stack((2 * links, 2 * links + 1), axis=1).ravel()
        starts = self.leads_to[ways ^ 1]
        found = Ragged(NO_INDICES)
        found.add(np.bincount(starts, minlength=len(self.devices)), ways[np.argsort(starts, kind="stable")])
        return found

    def _is_active(self, link: Link) -> bool:
        """Whether a link between devices that forward leads anywhere."""
        nodes = self._forwarding.intersection((link.a, link.b))
        return self._is_open(link) and all(link in self.active_legs(node) for node in nodes)

    def distances(self, egress: str) -> Mapping[str, int]:
        """Every vertex that reaches the vertex ``egress``, with its distance in links."""
        if egress not in self._distances:
            found: dict[str, int] = {}
            waiting = {0: {egress}}
            while waiting:
                distance = min(waiting)
                here = {vertex for vertex in waiting.pop(distance) if vertex not in found}
                found.update(dict.fromkeys(here, distance))
                through = here & self._forwarding - {egress}
                for step, group in ((1, here - through), (1 + GATEWAY, through)):
                    if group:
                        waiting.setdefault(distance + step, set()).update(*set(map(self._near.__getitem__, group)))
            self._distances[egress] = found
        return self._distances[egress]

    def onward(self, device: str, egress: str) -> tuple[NextHop, ...]:
        """The equal next hops of ``device`` on the shortest paths to the vertex ``egress``.

        A switch of a pair leaves by its own links where it has one that leads on (local
        preference), else over the peer links. RoutingError where it has neither.
        """
        own = self.hops_from(device)
        names = self.find_leading(device, egress)
        return tuple([own[name] for name in names]) or (self.peer(device),)

    def find_leading(self, device: str, egress: str) -> tuple[str, ...]:
        """The vertices of the equal next hops of ``device`` by links of its own; none where only its twin leads on."""
        return self._leading_on(self._beside[device], self.distances(egress)[self.vertex[device]], egress)

    def _leading_on(self, beside: frozenset[str], left: int, egress: str) -> tuple[str, ...]:
        """Those of the vertices ``beside`` that lead on with ``left`` links to go, in file order."""
        if left == 1:
            return (egress,) if egress in beside else ()
        key = (beside, left, egress)
        if key not in self._leading:
            distances = self.distances(egress)
            through = self._forwarding - {egress}
            steps = {each: 1 + GATEWAY if each in through else 1 for each in beside & distances.keys()}
            names = (each for each, step in steps.items() if distances[each] + step == left)
            self._leading[key] = tuple(sorted(names, key=self._order.__getitem__))
        return self._leading[key]

    def peer(self, device: str) -> NextHop:
        """The way to the other switch of the pair. RoutingError where no peer link is described."""
        if device not in self._peers:
            pair = self.fabric.mlag_of[device]
            if not pair.peer:
                way = f"{device} can go on over {pair.other(device)} only (pair {pair.name})"
                raise NoPeerLinkError(f"{way}, and no peer link between them is described")
            self._peers[device] = self.hop(device, [self.fabric.links[link] for link in pair.peer])
        return self._peers[device]

    def narrowed(self, source: str, hops: tuple[NextHop, ...], via: Collection[int]) -> tuple[NextHop, ...]:
        """``hops`` by way of the directed links ``via`` only, where any goes that way; else all of them."""
        kept = [[link for link, way in zip(hop.links, hop.ways, strict=True) if way in via] for hop in hops]
        return tuple(self.hop(source, links) for links in kept if links) or hops

    def landing(self, source: str, hop: NextHop, device: str | None) -> NextHop:
        """``hop`` by its links to ``device`` only, where it has any; else all of it."""
        links = [link for link, end in zip(hop.links, hop.ends, strict=True) if end == device]
        return self.hop(source, links) if links else hop


def _find_beside(
    vertex: Mapping[str, str], ends: Sequence[str], count: Indices
) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
    """The vertices next to each device, and to each vertex; equal sets are one object, so that few are compared.

    ``ends`` are the vertices that the inner links of the devices lead to, so many (``count``) for each device.
    """
    alike: dict[frozenset[str], frozenset[str]] = {}
    beside: dict[str, frozenset[str]] = {}
    near: dict[str, frozenset[str]] = {}
    cuts = pairwise([0, *np.cumsum(count).tolist()])
    for (device, own_vertex), (start, stop) in zip(vertex.items(), cuts, strict=True):
        own = frozenset(ends[start:stop])
        beside[device] = own = alike.setdefault(own, own)
        both = near[own_vertex] | own if own_vertex in near else own
        near[own_vertex] = alike.setdefault(both, both)
    return beside, near
