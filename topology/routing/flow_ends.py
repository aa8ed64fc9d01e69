"""The ends of very many flows as arrays: each node, or each leg of one that flows name, has a number.

An end is simple where nothing has to be chosen at it: all of its legs are one LAG, and lead to switches that forward
by next hops.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress, repeat
from itertools import count as count_from
from operator import attrgetter
from typing import cast

import numpy as np

from benchconsole.topology.arrays import NO_INDICES, Flags, Indices, Ragged, find_distinct
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Flow, NodeId
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
        self._by_leg: dict[int, int] = {}

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
        """Number ends, most of which are nodes with one leg."""
        keys = list(dict.fromkeys(keys))
        columns, (legs, leg) = self._graph.columns, self._some_legs
        numbers = cast(Mapping[_End | NodeId, int], columns.device_numbers)
        device = np.fromiter(map(numbers.get, keys, repeat(-1)), np.intp, len(keys))
        has_one = (device >= 0) & (legs[device] == 1) & (self._graph.leads_to[leg[device] ^ 1] < 0)
        device, way = device[has_one], leg[device[has_one]]
        self._number_ends(compress(keys, has_one), np.ones(len(way), np.intp), way, self._find_alike(way), device)
        others = list(compress(keys, ~has_one))
        described = [self._describe(key) for key in others]
        ways = [ways for ways, _, _ in described]
        self._number_ends(
            others,
            np.array([len(each) for each in ways], np.intp),
            np.array([way for each in ways for way in each], np.intp),
            np.array([cabling for _, cabling, _ in described], np.intp),
            np.array([columns.device_numbers.get(machine, -1) for _, _, machine in described], np.intp),
        )

    def _number_ends(
        self, keys: Iterable[_End | NodeId], count: Indices, ways: Indices, cabling: Indices, machine: Indices
    ) -> None:
        self._number.update(zip(keys, count_from(len(self._number)), strict=False))
        self.legs.add(count, ways)
        self.cabling = np.concatenate((self.cabling, cabling))
        self.machine = np.concatenate((self.machine, machine))

    @cached_property
    def _some_legs(self) -> tuple[Indices, Indices]:
        """How many links each device has, and the number of one of them as it sends over it."""
        columns = self._graph.columns
        leg = np.zeros(len(columns.device_numbers), np.intp)
        leg[columns.starts] = np.arange(len(columns.starts))
        return np.bincount(columns.starts, minlength=len(leg)), leg

    def _find_alike(self, leg: Indices) -> Indices:
        """The cablings of nodes that have one leg; one node is looked at of all those that are cabled alike."""
        columns, leads_to = self._graph.columns, self._graph.leads_to
        most, networks = int(columns.counts.max(initial=0)) + 1, int(columns.networks.max(initial=0)) + 1
        key = ((leads_to[leg] + 1) * most + columns.counts[leg >> 1]) * networks + columns.networks[leg >> 1]
        found, at = find_distinct(key, (len(self._graph.devices) + 1) * most * networks)
        one = np.empty(len(found), np.intp)
        one[at] = leg
        for kind, way in zip(found.tolist(), one.tolist(), strict=True):
            if kind not in self._by_leg:
                self._by_leg[kind] = self._describe(NodeId(self._graph.direction(way).source))[1]
        return np.array([self._by_leg[kind] for kind in found.tolist()], np.intp)[at]

    def _describe(self, key: _End | NodeId) -> tuple[Sequence[int], int, str]:
        """The legs of an end, its cabling and its machine; without legs where it has none that can be used."""
        node, pinned = (key, None) if isinstance(key, str) else key
        try:
            legs = self._attachments.legs(node, pinned)
        except (RoutingError, KeyError):  # said when such a flow is routed by itself
            return (), -1, node
        return legs.ways, -1 if legs.device in self._graph.vertex else self._find_cabling(legs.attachment), legs.device

    def _find_cabling(self, cabling: NodeCabling) -> int:
        if cabling in self._cabling_of:
            return self._cabling_of[cabling]
        found = -1
        if self._is_simple(cabling):
            found = len(self.cablings)
            self.cablings.append(cabling)
            egress = self._table.graph.number[self._graph.vertex[cabling.devices[0]]]
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
