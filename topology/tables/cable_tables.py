"""Flat tables of what is cabled in a fabric: devices, links, trunks and nodes cabled alike, as arrays of numbers.

Devices are numbered nodes first, then switches, both in file order. Arrays of one table have one length; devices
are given by their numbers, rates are byte/s on the wire in one direction.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices, join_slices, sum_at
from benchconsole.topology.model.fabric import Fabric, LinkId


@dataclass(frozen=True, slots=True)
class LinkKind:
    """The properties that links built alike have in common.

    ``capacity`` is all members, ``fastest`` what is lost with the fastest of them (less than
    its speed where a WAN line carries no more anyway).
    """

    speed: float
    members: int
    mixed: tuple[float, ...]
    standby: bool
    network: str
    capacity: float
    fastest: float


@dataclass(frozen=True, slots=True)
class Trunks:
    """All links between the same two switches as one; ``low`` is the end nearer to the nodes.

    Arrays of one length: ``low``, ``high`` (devices), ``capacity`` (usable), ``cables``,
    ``links`` (how many), ``first`` (a link). ``of`` maps a link to its trunk, -1 for a leg.
    """

    low: Indices
    high: Indices
    capacity: Floats
    cables: Indices
    links: Indices
    first: Indices
    of: Indices


@dataclass(frozen=True, slots=True)
class NodeGroups:
    """Nodes that are cabled alike (same switches, links of the same kinds, as many virtual machines), by first node.

    ``group`` maps a node to its number, -1 without a leg; ``size`` counts machines with cables,
    ``nodes`` also the virtual ones on them, ``first`` is a node of each. The legs of group g are
    ``start[g]:start[g + 1]`` of ``switch``, ``link`` (that of one node), ``capacity`` (usable, of one node)
    and ``owner`` (g again). ``legs`` lists every leg link, ``leg_of`` the entry that each is.
    """

    group: Indices
    size: Indices
    nodes: Indices
    first: Indices
    start: Indices
    switch: Indices
    link: Indices
    capacity: Floats
    owner: Indices
    legs: Indices
    leg_of: Indices

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True, slots=True)
class Forwarding:
    """The graph of what forwards: switches, and nodes that do. Vertices are numbered in the order of devices.

    ``vertex`` maps a device to its number (-1: it does not forward), ``device`` back. The edges ``a``-``b`` are pairs
    of devices, each once: the trunks, in their order, then the legs of forwarding nodes. ``tier`` is that of the higher
    end; ``links``, ``cables`` and ``capacity`` (usable) are those of all links that an edge stands for.
    """

    vertex: Indices
    device: Indices
    a: Indices
    b: Indices
    tier: Indices
    links: Indices
    cables: Indices
    capacity: Floats


@dataclass(frozen=True, eq=False)
class CableTables:
    """The cabling of one fabric. Per device: ``names``, ``tier`` (0 for a node), ``forwards``, ``machines``.

    ``nodes`` is how many devices are nodes; ``machines`` counts a node and the virtual ones on
    it. Per link: ``ids``, ``low`` and ``high`` (devices; ``low`` is the lower tier, of one tier
    the earlier device), ``kind`` (into ``kinds``).
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

    @cached_property
    def index(self) -> Mapping[str, int]:
        """Device name to its number."""
        return dict(zip(self.names, range(len(self.names)), strict=True))

    @cached_property
    def capacity(self) -> Floats:
        """Per link: byte/s as cabled."""
        return np.array([each.capacity for each in self.kinds], float)[self.kind]

    @cached_property
    def usable(self) -> Floats:
        """Per link: ``capacity``, or 0 for a standby leg that is idle.

        It carries nothing while an active leg of its node in the same network is there; where none is, the standby
        leg to the first switch is the one in use.
        """
        legs = (self.low < self.nodes) & (self.high >= self.nodes)
        idle = self.standby & legs
        if not idle.any():
            return self.capacity
        place = self.low * (int(self.network.max()) + 1) + self.network
        waiting = np.flatnonzero(idle)
        waiting = waiting[np.lexsort((self.kind[waiting], self.high[waiting]))]
        takes_over = waiting[np.unique(place[waiting], return_index=True)[1]]
        idle[takes_over[~np.isin(place[takes_over], place[legs & ~self.standby])]] = False
        return np.where(idle, 0.0, self.capacity)

    @cached_property
    def fastest(self) -> Floats:
        """Per link: the usable byte/s that go with its fastest member."""
        found: Floats = np.array([each.fastest for each in self.kinds], float)[self.kind]
        return np.minimum(found, self.usable)

    @cached_property
    def speed(self) -> Floats:
        """Per link: byte/s of one of its cables, the slowest where they differ."""
        return np.array([each.speed for each in self.kinds], float)[self.kind]

    @cached_property
    def members(self) -> Indices:
        """Per link: its cables."""
        return np.array([each.members for each in self.kinds], np.intp)[self.kind]

    @cached_property
    def standby(self) -> Flags:
        """Per link: whether it is a standby leg."""
        return np.array([each.standby for each in self.kinds], bool)[self.kind]

    @cached_property
    def network(self) -> Indices:
        """Per link: the number of its network."""
        numbers = {name: number for number, name in enumerate(dict.fromkeys(each.network for each in self.kinds))}
        return np.array([numbers[each.network] for each in self.kinds], np.intp)[self.kind]

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
            link=one,
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

    def links(self, chosen: Indices) -> "ChosenNames":
        """The names of the links numbered ``chosen``."""
        return ChosenNames(self.ids, chosen)

    def devices(self, chosen: Indices) -> tuple[str, ...]:
        """The names of the devices numbered ``chosen``."""
        return tuple(map(self.names.__getitem__, chosen.tolist()))


class ChosenNames(Sequence[str]):
    """The names with the numbers ``chosen``, looked up when they are asked for: often only the first is."""

    def __init__(self, names: Sequence[str], chosen: Indices) -> None:
        self._names = names
        self._chosen = chosen

    def __len__(self) -> int:
        return len(self._chosen)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, slice):
            return ChosenNames(self._names, self._chosen[at])
        return self._names[int(self._chosen[at])]


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
