"""Flat tables of a fabric: devices, links, trunks and nodes cabled alike, as arrays of numbers.

What ``topology.analysis`` computes with; built in one pass and shared by every question. Devices are numbered
nodes first, then switches, both in file order. Rates are byte/s on the wire in one direction.

A standby leg of a node carries nothing while an active leg of it in the same network is there;
where none is, the standby leg to the first switch is the one in use. ``usable`` counts by that.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.model.fabric import Fabric, LinkId, SwitchRole, Wan
from benchconsole.topology.tables.columns import Chosen, Forwarding, LinkKind, NodeGroups, Trunks

if TYPE_CHECKING:
    from benchconsole.topology.tables.uplink_paths import UplinkPaths

_Key = tuple[float, int, tuple[float, ...], bool, str, Wan | None]


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of one fabric. Per device: ``names``, ``tier`` (0 for a node), ``forwards``, ``machines``.

    ``nodes`` is how many devices are nodes; ``machines`` counts a node and the virtual ones on
    it. Per link: ``ids``, ``low`` and ``high`` (devices; ``low`` is the lower tier, of one tier
    the earlier device), ``kind`` (into ``kinds``), ``capacity`` as cabled, ``usable``.
    """

    fabric: Fabric
    names: tuple[str, ...]
    nodes: int
    tier: Indices
    forwards: Flags
    machines: Indices
    ids: tuple[LinkId, ...]
    low: Indices
    high: Indices
    kind: Indices
    kinds: tuple[LinkKind, ...]
    capacity: Floats
    usable: Floats

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Device name to its number."""
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @cached_property
    def fastest(self) -> Floats:
        """Per link: the usable byte/s that go with its fastest member."""
        found: Floats = np.array([each.fastest for each in self.kinds], float)[self.kind]
        return np.minimum(found, self.usable)

    @cached_property
    def members(self) -> Indices:
        """Per link: its cables."""
        return np.array([each.members for each in self.kinds], np.intp)[self.kind]

    @cached_property
    def climbing(self) -> Flags:
        """Per link: its ends are of different tiers."""
        return self.tier[self.low] < self.tier[self.high]

    @cached_property
    def up(self) -> Floats:
        """Per device: usable byte/s to devices of a higher tier, whatever tiers are skipped."""
        return self._sum(self.low, self.climbing)

    @cached_property
    def down(self) -> Floats:
        """Per device: usable byte/s to devices of a lower tier."""
        return self._sum(self.high, self.climbing)

    @cached_property
    def side(self) -> Floats:
        """Per device: usable byte/s to devices of the same tier."""
        return self._sum(self.low, ~self.climbing) + self._sum(self.high, ~self.climbing)

    def _sum(self, device: Indices, counted: Flags) -> Floats:
        return sum_at(self.usable * counted, device, len(self.names))

    @cached_property
    def trunks(self) -> Trunks:
        """The links between switches, those of one pair of devices as one."""
        inner = np.flatnonzero(self.low >= self.nodes)
        low, high = self.low[inner], self.high[inner]
        _, first, of = np.unique(low * len(self.names) + high, return_index=True, return_inverse=True)
        every = np.full(len(self.low), -1)
        every[inner] = of
        return Trunks(
            low=low[first],
            high=high[first],
            capacity=sum_at(self.usable[inner], of, len(first)),
            cables=sum_at(self.members[inner], of, len(first)).astype(np.intp),
            links=np.bincount(of, minlength=len(first)),
            first=inner[first],
            of=every,
        )

    @cached_property
    def node_groups(self) -> NodeGroups:
        """The nodes by how they are cabled to switches."""
        legs = np.flatnonzero((self.low < self.nodes) & (self.high >= self.nodes))
        legs = legs[np.lexsort((self.kind[legs], self.high[legs], self.low[legs]))]
        node = self.low[legs]
        count = np.bincount(node, minlength=self.nodes)
        start = np.concatenate(([0], np.cumsum(count)))
        what = 1 + (self.high[legs] - self.nodes) * len(self.kinds) + self.kind[legs]
        group, first = _group_alike(self.machines[: self.nodes], what, start, count)
        one = legs[join_slices(start[first], count[first])]
        own = np.concatenate(([0], np.cumsum(count[first])))
        cabled = group >= 0
        machines = sum_at(self.machines[: self.nodes][cabled], group[cabled], len(first))
        return NodeGroups(
            group=group,
            size=np.bincount(group[cabled], minlength=len(first)),
            nodes=machines.astype(np.intp),
            first=first,
            start=own,
            switch=self.high[one],
            kind=self.kind[one],
            capacity=self.usable[one],
            owner=np.repeat(np.arange(len(first)), count[first]),
            legs=legs,
            leg_of=own[group[node]] + np.arange(len(legs)) - start[node],
        )

    @cached_property
    def forwarding(self) -> Forwarding:
        """The graph of what forwards; standby cables are part of it."""
        size, trunks = len(self.names), self.trunks
        legs = np.flatnonzero((self.low < self.nodes) & self.forwards[self.low] & (self.high >= self.nodes))
        pairs, of, links = np.unique(self.low[legs] * size + self.high[legs], return_inverse=True, return_counts=True)
        cables = sum_at(self.members[legs], of, len(pairs)).astype(np.intp)
        a, b = np.concatenate((trunks.low, pairs // size)), np.concatenate((trunks.high, pairs % size))
        vertex = np.full(size, -1)
        device = np.flatnonzero(self.forwards)
        vertex[device] = np.arange(len(device))
        return Forwarding(
            vertex=vertex,
            device=device,
            a=vertex[a],
            b=vertex[b],
            tier=self.tier[b],
            links=np.concatenate((trunks.links, links)),
            cables=np.concatenate((trunks.cables, cables)),
            capacity=np.concatenate((trunks.capacity, sum_at(self.usable[legs], of, len(pairs)))),
        )

    @cached_property
    def logical(self) -> Indices:
        """Per device: its number, for the second switch of an MLAG pair that of the first."""
        found = np.arange(len(self.names))
        for pair in self.fabric.mlags:
            found[self.index[pair.switches[1]]] = self.index[pair.switches[0]]
        return found

    @cached_property
    def uplinks(self) -> "UplinkPaths":
        """The ways up, kept here so that every question about the same tables shares them."""
        from benchconsole.topology.tables.uplink_paths import find_uplink_paths  # it reads these tables

        return find_uplink_paths(self)

    def links(self, chosen: Indices) -> "Chosen":
        """The names of the links numbered ``chosen``."""
        return Chosen(self.ids, chosen)

    def devices(self, chosen: Indices) -> tuple[str, ...]:
        """The names of the devices numbered ``chosen``."""
        return tuple(map(self.names.__getitem__, chosen.tolist()))

    def some(self, chosen: Indices) -> Chosen:
        """The same for many devices, whose names may never be asked for."""
        return Chosen(self.names, chosen)


def sum_at(values: Floats | Indices, at: Indices, size: int) -> Floats:
    """The sum of ``values`` at each of the places 0 to ``size`` - 1."""
    return np.bincount(at, weights=values, minlength=size).astype(np.float64, copy=False)


def _group_alike(machines: Indices, what: Indices, start: Indices, count: Indices) -> tuple[Indices, Indices]:
    """Per node a number that nodes with the same list of ``what`` share (-1: an empty list), and a node of each."""
    code = machines
    for place in range(int(count.max(initial=0))):
        has = count > place
        leg = np.zeros(len(count), np.intp)
        leg[has] = what[start[:-1][has] + place]
        code = np.unique(code * (int(what.max(initial=0)) + 1) + leg, return_inverse=True)[1]
    code = np.where(count == 0, -1, code)
    # Numbered by first node: the order of the codes means nothing to a reader.
    found, first, of = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(np.where(found < 0, len(code), first))
    number = np.empty(len(found), np.intp)
    number[order] = np.arange(len(found))
    if len(found) and found[0] < 0:
        number[0] = -1
        order = order[:-1]
    return number[of], first[order]


def join_slices(start: Indices, count: Indices) -> Indices:
    """The positions of several slices, one after the other."""
    ends = np.cumsum(count)
    return np.arange(int(count.sum())) + np.repeat(start - ends + count, count)


class _Numbers(dict[_Key, int]):
    """Gives each new key the next number."""

    def __missing__(self, key: _Key) -> int:
        number = self[key] = len(self)
        return number


_KIND = attrgetter("speed", "count", "mixed", "standby", "network", "wan")


def _kind(key: _Key) -> LinkKind:
    speed, count, mixed, standby, network, wan = key
    cabled = sum(mixed) if mixed else speed * count
    limit = cabled if wan is None or wan.available is None else wan.available
    capacity = min(cabled, limit)
    fastest = capacity - min(cabled - max(mixed, default=speed), limit)
    return LinkKind(speed, count, mixed, standby, network, capacity, fastest)


def make_tables(fabric: Fabric) -> Tables:
    """The tables of ``fabric``."""
    names: tuple[str, ...] = (*fabric.nodes, *fabric.switches)
    nodes = len(fabric.nodes)
    index = dict(zip(names, range(len(names)), strict=True))
    links = list(fabric.links.values())
    a = np.fromiter(map(index.__getitem__, map(attrgetter("a"), links)), np.intp, len(links))
    b = np.fromiter(map(index.__getitem__, map(attrgetter("b"), links)), np.intp, len(links))
    numbers = _Numbers()
    kind = np.fromiter(map(numbers.__getitem__, map(_KIND, links)), np.intp, len(links))
    kinds = tuple(map(_kind, numbers))
    tier = _list_tiers(fabric)
    swapped = (tier[a] > tier[b]) | ((tier[a] == tier[b]) & (a > b))
    low, high = np.where(swapped, b, a), np.where(swapped, a, b)
    capacity = np.array([each.capacity for each in kinds], float)[kind]
    forwards = np.ones(len(names), bool)
    forwards[:nodes] = list(map(attrgetter("forwards"), fabric.nodes.values()))
    return Tables(
        fabric=fabric,
        names=names,
        nodes=nodes,
        tier=tier,
        forwards=forwards,
        machines=_count_machines(fabric, index),
        ids=tuple(fabric.links),
        low=low,
        high=high,
        kind=kind,
        kinds=kinds,
        capacity=capacity,
        usable=np.where(_find_idle((low < nodes) & (high >= nodes), (low, high, kind), kinds), 0.0, capacity),
    )


def _list_tiers(fabric: Fabric) -> Indices:
    tiers = {role: role.tier for role in SwitchRole}
    switches = [tiers[switch.role] for switch in fabric.switches.values()]
    return np.concatenate((np.zeros(len(fabric.nodes), np.intp), np.array(switches, np.intp)))


def _count_machines(fabric: Fabric, index: Mapping[str, int]) -> Indices:
    """Per device: 1 and the virtual machines on it; 0 for these (their host counts them) and for switches."""
    found = np.zeros(len(index), np.intp)
    found[: len(fabric.nodes)] = 1
    hosts = list(map(attrgetter("host"), fabric.nodes.values()))
    if any(hosts):
        guests = [number for number, host in enumerate(hosts) if host is not None]
        found[guests] = 0
        np.add.at(found, [index[host] for host in hosts if host is not None], 1)
    return found


def _find_idle(legs: Flags, links: tuple[Indices, Indices, Indices], kinds: tuple[LinkKind, ...]) -> Flags:
    """Per link (low, high, kind): it is a standby leg that another leg of its node makes idle."""
    low, high, kind = links
    if not any(each.standby for each in kinds):
        return np.zeros(len(low), bool)
    networks = {name: number for number, name in enumerate(dict.fromkeys(each.network for each in kinds))}
    place = low * len(networks) + np.array([networks[each.network] for each in kinds])[kind]
    waits = np.array([each.standby for each in kinds])[kind]
    idle, active = waits & legs, legs & ~waits
    standby = np.flatnonzero(idle)
    standby = standby[np.lexsort((kind[standby], high[standby]))]
    takes_over = standby[np.unique(place[standby], return_index=True)[1]]
    idle[takes_over[~np.isin(place[takes_over], place[active])]] = False
    return idle
