"""The ends of very many flows as arrays: each node, or each leg of one that flows name, has a number.

An end is simple where nothing has to be chosen at it: all of its legs are one LAG, and lead to switches that forward
by next hops.
"""

from collections.abc import Mapping, Sequence
from itertools import repeat
from operator import attrgetter

import numpy as np

from benchconsole.topology.arrays import NO_INDICES, Flags, Indices, Ragged
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Flow, Link, NodeId
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.attachment import Attachments, NodeCabling
from benchconsole.topology.routing.hop_table import HopTable

_End = tuple[NodeId, str | None]


class FlowEnds:
    """Ends by number: their ``legs`` (directed links as the node sends), their ``cabling`` and their ``machine``.

    ``cablings`` are the different cablings of simple ends; ``cabling`` is -1 for an end that is not simple. ``egress``
    is the number of the vertex that each cabling leads to.
    """

    def __init__(self, attachments: Attachments, table: HopTable) -> None:
        self._attachments = attachments
        self._graph = attachments.graph
        self._fabric = attachments.fabric
        self._table = table
        self._number: dict[_End | NodeId, int] = {}
        self.legs = Ragged(NO_INDICES)
        self.cabling: Indices = np.empty(0, np.intp)
        self.machine: Indices = np.empty(0, np.intp)
        self.cablings: list[NodeCabling] = []
        self.egress: Indices = np.empty(0, np.intp)
        self._cabling_of: dict[NodeCabling, int] = {}
        self._by_leg: dict[tuple[str, int, str], int] = {}
        self._machine_of: dict[str, int] = {}

    @property
    def machines(self) -> Sequence[str]:
        """The names of machines by number."""
        return list(self._machine_of)

    def find(self, flows: Sequence[Flow]) -> tuple[Indices, Indices, Flags]:
        """The ends of each flow, and whether all that is to be known of it are these, and both are simple."""
        source = self._find_ends(list(map(attrgetter("source"), flows)), list(map(attrgetter("leg"), flows)))
        sink = self._find_ends(list(map(attrgetter("sink"), flows)), list(map(attrgetter("last_leg"), flows)))
        is_simple = (self.cabling[source] >= 0) & (self.cabling[sink] >= 0)
        is_simple &= self.machine[source] != self.machine[sink]
        vlans = list(map(attrgetter("vlan"), flows))
        if vlans.count(None) < len(vlans):
            is_simple &= np.array(
                [vlan is None or self._is_in_vlan(flow) for flow, vlan in zip(flows, vlans, strict=True)]
            )
        return source, sink, is_simple

    def _is_in_vlan(self, flow: Flow) -> bool:
        try:
            self._attachments.vlan(flow)
        except RoutingError:
            return False
        return True

    def _find_ends(self, nodes: Sequence[NodeId], pinned: Sequence[str | None]) -> Indices:
        keys: Sequence[_End | NodeId] = nodes
        if pinned.count(None) < len(pinned):
            keys = [node if leg is None else (node, leg) for node, leg in zip(nodes, pinned, strict=True)]
        found = self._look_up(keys)
        if (found < 0).any():
            self._add([keys[index] for index in np.flatnonzero(found < 0).tolist()])
            found = self._look_up(keys)
        return found

    def _look_up(self, keys: Sequence[_End | NodeId]) -> Indices:
        return np.fromiter(map(self._number.get, keys, repeat(-1)), np.intp, len(keys))

    def _add(self, keys: Sequence[_End | NodeId]) -> None:
        """Number ends, most of which have one leg."""
        graph, number, machines = self._graph, self._number, self._machine_of
        links_at: Mapping[str, Sequence[Link]] = self._fabric.links_at
        ways: list[int] = []
        count, cabling, machine = [], [], []
        for key in dict.fromkeys(keys):
            number[key] = len(number)
            if isinstance(key, str) and len(own := links_at.get(key, ())) == 1 and key not in graph.vertex:
                (link,) = own
                known = self._by_leg.get((link.other(key), link.count, link.network))
                if known is not None:
                    ways.append(graph.way(link, key))
                    count.append(1)
                    cabling.append(known)
                    machine.append(machines.setdefault(key, len(machines)))
                    continue
            name, own_ways, at = self._describe(key)
            ways += own_ways
            count.append(len(own_ways))
            cabling.append(at)
            machine.append(machines.setdefault(name, len(machines)))
        self.legs.add(np.array(count, np.intp), np.array(ways, np.intp))
        self.cabling = np.concatenate((self.cabling, np.array(cabling, np.intp)))
        self.machine = np.concatenate((self.machine, np.array(machine, np.intp)))

    def _describe(self, key: _End | NodeId) -> tuple[str, Sequence[int], int]:
        """The machine of an end, its legs and its cabling; without legs where it has none that can be used."""
        node, pinned = (key, None) if isinstance(key, str) else key
        try:
            legs = self._attachments.legs(node, pinned)
        except (RoutingError, KeyError):  # said when such a flow is routed by itself
            return node, (), -1
        at = -1 if legs.device in self._graph.vertex else self._find_cabling(legs.attachment)
        if at >= 0 and len(legs.links) == 1 and node == legs.device and len(self._fabric.links_at[node]) == 1:
            (link,) = legs.links
            self._by_leg[link.other(node), link.count, link.network] = at
        return legs.device, legs.ways, at

    def _find_cabling(self, cabling: NodeCabling) -> int:
        if cabling in self._cabling_of:
            return self._cabling_of[cabling]
        found = -1
        if self._is_simple(cabling):
            found = len(self.cablings)
            self.cablings.append(cabling)
            egress = self._table.number[self._graph.vertex[cabling.devices[0]]]
            self.egress = np.append(self.egress, egress)
        self._cabling_of[cabling] = found
        return found

    def _is_simple(self, cabling: NodeCabling) -> bool:
        lags = self._attachments.lags(cabling)
        if len(lags) != 1 or cabling.landing is not None or cabling.destinations:
            return False
        network = self._fabric.networks.get(cabling.networks[0])
        rule = (network and network.routing) or RoutingRule.SHORTEST
        return all(each in self._graph.vertex for each in cabling.devices) and not (
            rule.is_by_paths or rule is RoutingRule.TABLES
        )
