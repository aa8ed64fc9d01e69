"""The ends of very many flows as arrays: each node, or each leg of one that flows name, has a number.

An end is simple where nothing has to be chosen at it: all of its legs are one LAG, and lead to switches that forward
by next hops.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import repeat
from operator import attrgetter

import numpy as np

from benchconsole.topology.arrays import NO_INDICES, Flags, Indices, Ragged, find_distinct
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.attachment import Attachments, NodeCabling

_Leg = tuple[NodeId, str | None]
"""A node, and the leg of it that a flow names."""


class FlowEnds:
    """Ends by number: their ``legs`` (directed links as the node sends), their ``cabling`` and their ``machine``.

    ``cablings`` are the different cablings of simple ends; ``cabling`` is -1 for an end that is not simple. End 0 is
    that of all nodes that are not described.
    """

    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments
        self._graph = attachments.graph
        self._fabric = attachments.fabric
        self._of_device = np.full(len(self._graph.columns.device_numbers) + 1, -1)
        self._of_device[-1] = 0
        self._of_leg: dict[_Leg, int] = {}
        self.legs = Ragged(NO_INDICES)
        self.legs.add(np.array([0]), NO_INDICES)
        self.cabling: Indices = np.array([-1])
        self.machine: Indices = np.array([-1])
        self.cablings: list[NodeCabling] = []
        self._egress: list[int] = []
        self._cabling_of: dict[NodeCabling, int] = {}
        self._alike: dict[int, int] = {}

    @property
    def egress(self) -> Indices:
        """The number of the vertex that each of ``cablings`` leads to."""
        return np.array(self._egress, np.intp)

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
        device = np.fromiter(map(self._graph.columns.device_numbers.get, nodes, repeat(-1)), np.intp, len(nodes))
        found = self._of_device[device]
        if (found < 0).any():
            self._add_nodes(find_distinct(device[found < 0], len(self._of_device))[0])
            found = self._of_device[device]
        if pinned.count(None) < len(pinned):
            legs = {at: (nodes[at], leg) for at, leg in enumerate(pinned) if leg is not None}
            new = [leg for leg in dict.fromkeys(legs.values()) if leg not in self._of_leg]
            self._of_leg.update(zip(new, self._add_described(new).tolist(), strict=True))
            found[list(legs)] = [self._of_leg[leg] for leg in legs.values()]
        return found

    def _add_nodes(self, device: Indices) -> None:
        """Number nodes, most of which have one leg."""
        count, leg = self._some_legs
        has_one = (count[device] == 1) & (self._graph.leads_to[leg[device] ^ 1] < 0)
        alone, names = device[has_one], list(self._graph.columns.device_numbers)
        way = leg[alone]
        self._of_device[alone] = self._add_ends(np.ones(len(way), np.intp), way, self._find_alike(way), alone)
        others = device[~has_one]
        self._of_device[others] = self._add_described([(NodeId(names[each]), None) for each in others.tolist()])

    def _add_described(self, ends: Sequence[_Leg]) -> Indices:
        """Number ends one by one."""
        described = [self._describe(*end) for end in ends]
        ways = [ways for ways, _, _ in described]
        return self._add_ends(
            np.array([len(each) for each in ways], np.intp),
            np.array([way for each in ways for way in each], np.intp),
            np.array([cabling for _, cabling, _ in described], np.intp),
            np.array([self._graph.columns.device_numbers.get(machine, -1) for _, _, machine in described], np.intp),
        )

    def _add_ends(self, count: Indices, ways: Indices, cabling: Indices, machine: Indices) -> Indices:
        self.cabling = np.concatenate((self.cabling, cabling))
        self.machine = np.concatenate((self.machine, machine))
        return self.legs.add(count, ways)

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
        networks = int(columns.networks.max(initial=0)) + 1
        key = (leads_to[leg] + 1) * networks + columns.networks[leg >> 1]
        found, at = find_distinct(key, (len(self._graph.devices) + 1) * networks)
        one = np.empty(len(found), np.intp)
        one[at] = leg
        for kind, way in zip(found.tolist(), one.tolist(), strict=True):
            if kind not in self._alike:
                self._alike[kind] = self._describe(NodeId(self._graph.direction(way).source), None)[1]
        return np.array([self._alike[kind] for kind in found.tolist()], np.intp)[at]

    def _describe(self, node: NodeId, pinned: str | None) -> tuple[Sequence[int], int, str]:
        """The legs of an end, its cabling and its machine; without legs where it has none that can be used."""
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
            self._egress.append(self._graph.number[self._graph.vertex[cabling.devices[0]]])
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
