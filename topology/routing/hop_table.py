"""The next hops of one graph as arrays: for very many pairs of a device and an egress at once.

A hop is all links from a device to one vertex next to it, a fan all equal next hops of a device on its way to an
egress. Which vertices lead on depends on what is next to a device, and leaves are mostly cabled alike, so little has
to be found for each pair.
"""

from itertools import pairwise

import numpy as np

from benchconsole.topology.arrays import NO_FLOATS, NO_INDICES, Floats, Indices, KeyedNumbers, Ragged, find_distinct
from benchconsole.topology.errors import NoPeerLinkError
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.graph import Graph


class HopTable:
    """The hops and fans of one graph by number; devices and vertices are numbered as there.

    ``hops`` and ``fans`` hold the number of each directed link, its part, and the device at its end. ``members`` are
    the hops of each fan. A fan that ``crosses`` leads to the other switch of its pair.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.devices = graph.devices
        self.vertex = graph.vertices
        self.hops = Ragged(NO_INDICES, NO_FLOATS, NO_INDICES)
        self.members = Ragged(NO_INDICES, NO_FLOATS)
        self.fans = Ragged(NO_INDICES, NO_FLOATS, NO_INDICES)
        self.crosses = np.empty(0, bool)
        rules = (network.routing for network in graph.fabric.networks.values())
        self._weighs = RoutingRule.WEIGHTED in rules
        self._pairs = self._number_hops()
        self._place, self._towards = self._find_places()
        self._peer_hops: dict[int, int] = {}
        self._leading_of: dict[int, int] = {}
        self._leading = Ragged(NO_INDICES)
        self._fan_of_pair = KeyedNumbers()
        self._fan_of_leading = KeyedNumbers()

    def find_fans(self, device: Indices, egress: Indices) -> Indices:
        """The fan of each device on its way to a vertex, of which it is none; -1 where nothing leads on."""
        return self._fan_of_pair.find(device * len(self.devices) + egress, self._find_new)

    def find_peer_hop(self, device: int) -> int:
        """The hop to the other switch of a pair; -1 where no peer link is described."""
        if device not in self._peer_hops:
            try:
                peer = self.graph.peer(self.devices[device])
            except NoPeerLinkError:
                self._peer_hops[device] = -1
            else:
                ends = np.array([self.graph.number[end] for end in peer.ends], np.intp)
                row = self.hops.add(np.array([len(ends)]), np.array(peer.ways), np.array(peer.parts), ends)
                self._peer_hops[device] = int(row[0])
        return self._peer_hops[device]

    def _number_hops(self) -> Indices:
        """A hop for each device and vertex next to it; the keys of these pairs, ascending, as hops are numbered."""
        graph = self.graph
        (way,) = graph.inner.columns
        end = graph.leads_to[way]
        key = graph.leads_to[way ^ 1] * len(self.devices) + self.vertex[end]
        order = np.argsort(key, kind="stable")
        pairs, starts, count = np.unique(key[order], return_index=True, return_counts=True)
        way, preferred = way[order], graph.columns.preferences[way[order]]
        if way.size:
            kept = preferred == np.repeat(np.maximum.reduceat(preferred, starts), count)
            way, count = way[kept], np.add.reduceat(kept.astype(np.intp), starts)
        self.hops.add(count, way, _divide(self._weigh(way), count), graph.leads_to[way])
        return pairs

    def _find_hops(self, device: Indices, vertex: Indices) -> Indices:
        """The hop from each device to a vertex; -1 where it has no cable to it."""
        key = device * len(self.devices) + vertex
        at = np.searchsorted(self._pairs, key)
        found = at < len(self._pairs)
        found[found] = self._pairs[at[found]] == key[found]
        return np.where(found, at, -1)

    def _find_places(self) -> tuple[Indices, Indices]:
        """Devices and vertices with the same number: from the devices the same leads on to any egress that is not next
        to them, and towards the vertices the same leads on from any device.

        Such devices have the same next to them, and so have their vertices; such vertices are next to the same devices.
        """
        size = len(self.devices)
        device, vertex = np.divmod(self._pairs, size)
        near, _ = find_distinct(self.vertex[device] * size + vertex, size * size)
        beside, around = _number_alike(device, vertex, size), _number_alike(*np.divmod(near, size), size)
        order = np.lexsort((device, vertex))
        _, place = np.unique(beside * size + around[self.vertex], return_inverse=True)
        return place, _number_alike(vertex[order], device[order], size)

    def _weigh(self, way: Indices) -> Floats:
        """The weight of each link among those parallel to it: its cables, or its capacity."""
        graph = self.graph
        if not self._weighs:
            return np.asarray(graph.columns.counts[way >> 1], np.float64)
        links = [graph.links[each >> 1] for each in way.tolist()]
        return np.array([link.capacity if graph.is_weighted(link) else link.count for link in links], float)

    def _find_new(self, keys: Indices) -> Indices:
        device, egress = np.divmod(keys, len(self.devices))
        hop = self._find_hops(device, egress)
        is_next = hop >= 0
        found = np.full(len(keys), -1)
        found[is_next] = self._add_fans(device[is_next], hop[is_next], np.ones(int(is_next.sum()), np.intp))
        device, egress = device[~is_next], egress[~is_next]
        leading = self._find_leading(device, egress)
        further = np.full(len(device), -1)
        further[leading >= 0] = self._fan_of_leading.find(
            leading[leading >= 0] * len(self.devices) + device[leading >= 0], self._make_fans
        )
        found[~is_next] = further
        return found

    def _find_leading(self, device: Indices, egress: Indices) -> Indices:
        """The number of the vertices that lead on to an egress not next to the device; -1 where it is out of reach."""
        keys = self._place[device] * len(self.devices) + self._towards[egress]
        kinds, at = find_distinct(keys, len(self.devices) ** 2)
        one = np.empty(len(kinds), np.intp)
        one[at] = np.arange(len(at))
        for kind, here, there in zip(kinds.tolist(), device[one].tolist(), egress[one].tolist(), strict=True):
            if kind not in self._leading_of:
                self._leading_of[kind] = self._add_leading(self.devices[here], self.devices[there])
        return np.array([self._leading_of[kind] for kind in kinds.tolist()], np.intp)[at]

    def _add_leading(self, device: str, egress: str) -> int:
        if self.graph.vertex[device] not in self.graph.distances(egress):
            return -1
        names = self.graph.find_leading(device, egress)
        numbers = np.array([self.graph.number[name] for name in names], np.intp)
        return int(self._leading.add(np.array([len(numbers)]), numbers)[0])

    def _make_fans(self, keys: Indices) -> Indices:
        """The fans of devices by the vertices that lead on; over the peer links where none does."""
        leading, device = np.divmod(keys, len(self.devices))
        count = self._leading.count[leading]
        hop = self._find_hops(np.repeat(device, count), self._leading.columns[0][self._leading.find(leading)])
        has_own, made = count > 0, np.full(len(keys), -1)
        made[has_own] = self._add_fans(device[has_own], hop, count[has_own])
        if not has_own.all():
            peer = np.full(len(keys), -1)
            peer[~has_own] = [self.find_peer_hop(each) for each in device[~has_own].tolist()]
            crosses = peer >= 0
            made[crosses] = self._add_fans(device[crosses], peer[crosses], np.ones(int(crosses.sum()), np.intp))
        return made

    def _add_fans(self, device: Indices, hop: Indices, count: Indices) -> Indices:
        way, part, end = self.hops.columns
        if not count.size:
            return NO_INDICES
        share = _divide(self._weigh_hops(hop, count), count)
        self.members.add(count, hop, share)
        links_of = self.hops.count[hop]
        at = self.hops.find(hop)
        starts = np.cumsum(count) - count
        ways = np.add.reduceat(links_of, starts)
        first = end[at[np.cumsum(ways) - ways]]
        self.crosses = np.concatenate((self.crosses, self.vertex[first] == self.vertex[device]))
        return self.fans.add(ways, way[at], part[at] * np.repeat(share, links_of), end[at])

    def _weigh_hops(self, hop: Indices, count: Indices) -> Floats:
        """The weight of each hop among those of its fan: as much as each other, or its capacity."""
        graph = self.graph
        if not self._weighs:
            return np.ones(len(hop))
        way, starts = self.hops.columns[0], self.hops.start[hop]
        is_weighted = [graph.is_weighted(graph.links[each >> 1]) for each in way[starts].tolist()]
        capacity = np.array([graph.links[each >> 1].capacity for each in way[self.hops.find(hop)].tolist()])
        links = self.hops.count[hop]
        sums = np.add.reduceat(capacity, np.cumsum(links) - links)
        first = np.cumsum(count) - count
        return np.where(np.repeat(np.array(is_weighted)[first], count), sums, 1.0)


def _divide(weights: Floats, count: Indices) -> Floats:
    """The part of each weight in the sum of its row."""
    if not weights.size:
        return weights
    return np.asarray(weights / np.repeat(np.add.reduceat(weights, np.cumsum(count) - count), count), np.float64)


def _number_alike(row: Indices, value: Indices, rows: int) -> Indices:
    """A number for each row, the same for rows of the same values; both are in the order of rows and values."""
    cuts = pairwise(np.searchsorted(row, np.arange(rows + 1)).tolist())
    numbers: dict[bytes, int] = {}
    return np.array([numbers.setdefault(value[first:stop].tobytes(), len(numbers)) for first, stop in cuts], np.intp)
