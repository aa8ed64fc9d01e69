"""The next hops of one graph as arrays: for very many pairs of a device and an egress at once.

A hop is all links from a device to one vertex next to it, a fan all equal next hops of a device on its way to an
egress. Which vertices lead on depends on what is next to a device, and leaves are mostly cabled alike, so little has
to be found for each pair.
"""

from collections.abc import Mapping
from functools import cached_property
from itertools import chain, repeat
from itertools import count as count_from
from operator import attrgetter

import numpy as np

from benchconsole.topology.arrays import NO_FLOATS, NO_INDICES, Floats, Indices, KeyedNumbers, Ragged
from benchconsole.topology.errors import NoPeerLinkError
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.graph import Graph


class HopTable:
    """Devices, hops and fans of one graph by number; ``vertex`` is the number of the first device of each vertex.

    ``hops`` and ``fans`` hold the number of each directed link, its part, and the device at its end. ``members`` are
    the hops of each fan. A fan that ``crosses`` leads to the other switch of its pair.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.devices = tuple(graph.vertex)
        self.number: Mapping[str, int] = {device: number for number, device in enumerate(self.devices)}
        self.vertex: Indices = np.array([self.number[each] for each in graph.vertex.values()], np.intp)
        self.hops = Ragged(NO_INDICES, NO_FLOATS, NO_INDICES)
        self.members = Ragged(NO_INDICES, NO_FLOATS)
        self.fans = Ragged(NO_INDICES, NO_FLOATS, NO_INDICES)
        self.crosses = np.empty(0, bool)
        rules = (network.routing for network in graph.fabric.networks.values())
        self._weighs = RoutingRule.WEIGHTED in rules
        self._kind = self._find_kinds()
        self._hop_of = self._number_hops()
        self._peer_hops: dict[int, int] = {}
        self._leading: dict[tuple[str, ...], int] = {}
        self._fan_of_pair = KeyedNumbers()
        self._fan_of_leading = KeyedNumbers()

    @cached_property
    def leads_to(self) -> Indices:
        """The number of the device at the end of each directed link; -1 for what does not forward."""
        number, links = self.number, self.graph.links
        found = np.empty((len(links), 2), np.intp)
        for column, end in enumerate(("b", "a")):
            found[:, column] = np.fromiter(
                map(number.get, map(attrgetter(end), links), repeat(-1)), np.intp, len(links)
            )
        return found.ravel()

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
                ends = np.array([self.number[end] for end in peer.ends], np.intp)
                row = self.hops.add(np.array([len(ends)]), np.array(peer.ways), np.array(peer.parts), ends)
                self._peer_hops[device] = int(row[0])
        return self._peer_hops[device]

    def _find_kinds(self) -> Indices:
        """Devices with the same number have the same beside them, and their vertices, too."""
        kinds: dict[object, int] = {}
        places = map(self.graph.describe_place, self.devices)
        return np.array([kinds.setdefault(place, len(kinds)) for place in places], np.intp)

    def _number_hops(self) -> list[Mapping[str, int]]:
        """Per device its hops by the vertex that they lead to."""
        graph, links = self.graph, self.graph.links
        joined = [graph.joined[device] for device in self.devices]
        rows = list(chain.from_iterable(each.values() for each in joined))
        way = np.fromiter(chain.from_iterable(rows), np.intp)
        count = np.fromiter(map(len, rows), np.intp, len(rows))
        if way.size:
            preferred = np.array([links[each >> 1].preference[each & 1] for each in way.tolist()])
            starts = np.cumsum(count) - count
            kept = preferred == np.repeat(np.maximum.reduceat(preferred, starts), count)
            way, count = way[kept], np.add.reduceat(kept.astype(np.intp), starts)
        self.hops.add(count, way, _divide(self._weigh(way), count), self.leads_to[way])
        sizes = np.cumsum([0, *map(len, joined)]).tolist()
        return [dict(zip(each, count_from(first), strict=False)) for each, first in zip(joined, sizes, strict=False)]

    def _weigh(self, way: Indices) -> Floats:
        """What each link counts for among those parallel to it: its cables, or its capacity."""
        graph = self.graph
        if not self._weighs:
            return np.asarray(graph.columns.counts[way >> 1], np.float64)
        links = [graph.links[each >> 1] for each in way.tolist()]
        return np.array([link.capacity if graph.is_weighted(link) else link.count for link in links], float)

    def _find_new(self, keys: Indices) -> Indices:
        device, egress = np.divmod(keys, len(self.devices))
        _, first, at = np.unique(
            self._kind[device] * len(self.devices) + egress, return_index=True, return_inverse=True
        )
        pairs = zip(device[first].tolist(), egress[first].tolist(), strict=True)
        leading = np.array([self._find_leading(self.devices[here], self.devices[there]) for here, there in pairs])[at]
        found = np.full(len(keys), -1)
        is_led = leading >= 0
        found[is_led] = self._fan_of_leading.find(leading[is_led] * len(self.devices) + device[is_led], self._make_fans)
        return found

    def _find_leading(self, device: str, egress: str) -> int:
        """The number of the vertices that lead on; -1 where ``egress`` is out of reach."""
        if self.graph.vertex[device] not in self.graph.distances(egress):
            return -1
        return self._leading.setdefault(self.graph.find_leading(device, egress), len(self._leading))

    def _make_fans(self, keys: Indices) -> Indices:
        names = list(self._leading)
        rows: list[list[int]] = []
        for key in keys.tolist():
            leading, device = divmod(key, len(self.devices))
            own = self._hop_of[device]
            rows.append([own[name] for name in names[leading]] or [self.find_peer_hop(device)])
        hop = np.fromiter(chain.from_iterable(rows), np.intp)
        count = np.fromiter(map(len, rows), np.intp, len(rows))
        is_led = hop[np.cumsum(count) - count] >= 0
        hop, count = hop[np.repeat(is_led, count)], count[is_led]
        made = np.full(len(keys), -1)
        if count.size:
            made[is_led] = self._add_fans(keys[is_led] % len(self.devices), hop, count)
        return made

    def _add_fans(self, device: Indices, hop: Indices, count: Indices) -> Indices:
        way, part, end = self.hops.columns
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
        """What each hop counts for among those of its fan: as much as each other, or its capacity."""
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
