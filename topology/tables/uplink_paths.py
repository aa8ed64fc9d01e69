"""Ways up: from the nodes over ever higher switches to where all nodes of a network meet.

The switches where they meet are the *top*: those of the lowest tier up to which the cables join every node of
the network. A device above the top only leads out of the fabric (a border router, a Science DMZ) and is an
*exit*. A switch below the top without a cable upward climbs over its cables to switches of its own tier that
have one, as behind the peer link of an MLAG pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices, sum_at
from benchconsole.topology.tables.cable_tables import CableTables
from benchconsole.topology.tables.graph_algorithms import find_components

_Ways = tuple[Indices, Indices, Indices]
"""Trunks, and the lower and the higher end of each."""


@dataclass(frozen=True, slots=True)
class Aside:
    """Cables to switches of the same tier, by which a switch still climbs when its own ways up are gone.

    Arrays of one length: the switch (``low``), who helps it (``high``), byte/s between them, and
    whether the helper still climbs when the ``only`` switch above the other is dead.
    """

    low: Indices
    high: Indices
    capacity: Floats
    only: Flags

    def beside(self, size: int, *, lost: bool) -> Floats:
        """Per device byte/s that is left aside; with ``lost`` when its only switch above is dead."""
        return sum_at(self.capacity * self.only if lost else self.capacity, self.low, size)


@dataclass(frozen=True, slots=True)
class UplinkPaths:
    """The ways up as arrays. Per device: ``network`` (-1 for a node that does not forward), ``top``, ``up``, ``down``.

    ``network`` numbers what cables and forwarding nodes join, ``meet`` is the tier of the top of
    each (0 where it has no node). ``up`` and ``down`` are byte/s over ways up only. The ways
    between switches are ``low``, ``high`` (devices), ``trunk`` and ``capacity``, in ``batches``:
    all ways into a switch come before any way out of it. ``exits`` are the trunks above the top.

    A *sender* is the nodes of one node group in one network: ``sender`` numbers them per leg of
    the node groups, ``group`` is the node group of each, ``inside`` its network. ``aside`` is what
    is left to switches whose ways up fail.
    """

    network: Indices
    meet: Indices
    top: Flags
    up: Floats
    down: Floats
    low: Indices
    high: Indices
    trunk: Indices
    capacity: Floats
    batches: tuple[slice, ...]
    exits: Indices
    sender: Indices
    group: Indices
    inside: Indices
    aside: Aside

    def ratio(self) -> Floats:
        """Per device: what comes up over what it can pass on, at least 1; 1 at the top and where nothing leads on."""
        found = np.ones_like(self.up)
        np.divide(self.down, self.up, out=found, where=self.up > 0)
        return np.maximum(found, 1.0)


def find_uplink_paths(tables: CableTables) -> UplinkPaths:
    """The ways up of a fabric."""
    network, meet = _find_networks(tables)
    trunks, tier = tables.trunks, tables.tier
    top = np.zeros(len(tier), bool)
    switches = slice(tables.nodes, None)
    top[switches] = tier[switches] >= meet[network[switches]]
    limit = meet[network[trunks.low]]
    rises = (tier[trunks.low] < tier[trunks.high]) & (trunks.capacity > 0)
    upward = np.flatnonzero(rises & (tier[trunks.high] <= limit))
    parts = [(np.zeros(0, np.intp),) * 3, *_make_batches(tables, upward, top)]
    trunk, low, high = (np.concatenate(each) for each in zip(*parts, strict=True))
    capacity = trunks.capacity[trunk]
    ends = np.cumsum([len(each[0]) for each in parts]).tolist()
    groups = tables.node_groups
    legs = groups.size[groups.owner] * groups.capacity
    size = len(tables.names)
    senders, sender = np.unique(groups.owner * (len(meet) + 1) + network[groups.switch], return_inverse=True)
    return UplinkPaths(
        network=network,
        meet=meet,
        top=top,
        up=sum_at(capacity, low, size),
        down=sum_at(capacity, high, size) + sum_at(legs, groups.switch, size),
        low=low,
        high=high,
        trunk=trunk,
        capacity=capacity,
        batches=tuple(slice(first, last) for first, last in pairwise(ends)),
        exits=np.flatnonzero(rises & (tier[trunks.high] > limit)),
        sender=sender,
        group=senders // (len(meet) + 1),
        inside=senders % (len(meet) + 1),
        aside=_find_ways_aside(tables, low, high),
    )


def _find_networks(tables: CableTables) -> tuple[Indices, Indices]:
    """Per device its network, and per network the tier at which all its nodes meet."""
    graph, groups = tables.forwarding, tables.node_groups
    place = graph.vertex[groups.switch]
    # Tier by tier upward: the tier and the component of each vertex when cables up to it count; first without any.
    steps = [(0, np.arange(len(graph.device)))]
    for tier in np.unique(graph.tier).tolist():
        now, labels = graph.tier == tier, steps[-1][1]
        merged = find_components(int(labels.max(initial=-1)) + 1, labels[graph.a[now]], labels[graph.b[now]])
        steps.append((tier, merged[labels]))
    final = steps[-1][1]
    meet = np.zeros(int(final.max(initial=-1)) + 1, np.intp)
    wanted = _list_groups(groups.owner, final[place], len(meet))
    for step, labels in steps:
        # A label that as many groups have a leg in as the network has groups joins them all.
        inside = _list_groups(groups.owner, labels[place], len(labels))
        met = place[inside[labels[place]] == wanted[final[place]]]
        fresh = met[meet[final[met]] == 0]
        np.maximum.at(meet, final[fresh], step or tables.tier[graph.device[fresh]])
    network = np.full(len(tables.names), -1)
    network[graph.device] = final
    return network, meet


def _list_groups(owner: Indices, label: Indices, labels: int) -> Indices:
    """Per label, how many groups have a leg in it."""
    pairs = np.unique(owner * (labels + 1) + label)
    return np.bincount(pairs % (labels + 1), minlength=labels)


def _make_batches(tables: CableTables, upward: Indices, top: Flags) -> Iterator[_Ways]:
    """The ways in the order of climbing."""
    trunks, tier = tables.trunks, tables.tier
    climbs = top.copy()
    climbs[trunks.low[upward]] = True
    level = np.flatnonzero((tier[trunks.low] == tier[trunks.high]) & (trunks.capacity > 0))
    for step in np.unique(tier[tables.nodes :]).tolist():
        yield from reversed(list(_find_sideways(tables, level[tier[trunks.low[level]] == step], climbs)))
        rising = upward[tier[trunks.low[upward]] == step]
        yield rising, trunks.low[rising], trunks.high[rising]


def _find_sideways(tables: CableTables, level: Indices, climbs: Flags) -> Iterator[_Ways]:
    """Ways over cables of one tier, nearest to a way up first; whom they help is marked in ``climbs``."""
    trunks = tables.trunks
    while True:
        low, high = trunks.low[level], trunks.high[level]
        forward, back = ~climbs[low] & climbs[high], climbs[low] & ~climbs[high]
        helped = np.concatenate((low[forward], high[back]))
        if not len(helped):
            return
        yield np.concatenate((level[forward], level[back])), helped, np.concatenate((high[forward], low[back]))
        climbs[helped] = True


def _find_ways_aside(tables: CableTables, low: Indices, high: Indices) -> Aside:
    """The cables aside of switches that have ways up from ``low`` to ``high``."""
    trunks, tier = tables.trunks, tables.tier
    rising = tier[low] < tier[high]
    ways = np.bincount(low[rising], minlength=len(tier))
    only = np.full(len(tier), -1)
    only[low[rising]] = high[rising]
    level = np.flatnonzero((tier[trunks.low] == tier[trunks.high]) & (trunks.capacity > 0))
    helped = np.concatenate((trunks.low[level], trunks.high[level]))
    helper = np.concatenate((trunks.high[level], trunks.low[level]))
    capacity = np.concatenate((trunks.capacity[level],) * 2)
    helps = (ways[helped] > 0) & (ways[helper] > 0)
    helped, helper, capacity = helped[helps], helper[helps], capacity[helps]
    spare = (ways[helped] == 1) & ((ways[helper] > 1) | (only[helper] != only[helped]))
    return Aside(helped, helper, capacity, spare)
