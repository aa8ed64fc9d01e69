"""Arithmetic of down over up: per device, per group of devices, and after one failure.

Arrays in, arrays out. A ratio is infinite where something wants up and nothing is left.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Floats, Indices, join_slices, sum_at
from benchconsole.topology.tables.fabric_tables import Tables

_EXACT = 1e-12
"""Share of a capacity below which a remainder is rounding."""


@dataclass(frozen=True, slots=True)
class Worst:
    """Per place: the highest ratio that one failure leads to and the number of what fails, -1 where nothing can."""

    ratio: Floats
    element: Indices


@dataclass(frozen=True, slots=True)
class Boundary:
    """Per group of devices: byte/s that its nodes and what hangs below offer, that lead up, and to its own tier."""

    down: Floats
    up: Floats
    side: Floats
    cable: Worst
    switch: Worst


def subtract_loss(up: Floats, loss: Floats) -> Floats:
    """The rest of ``up``, with exactly 0 for a rest that only rounding would leave."""
    left = up - loss
    return np.where(left > _EXACT * up, left, 0.0)


def divide(down: Floats, up: Floats) -> Floats:
    """down / up; infinite where ``up`` is 0 and ``down`` is not, 0 where neither is there."""
    found = np.where(down > 0, np.inf, 0.0)
    np.divide(down, up, out=found, where=up > 0)
    return found


def find_largest(values: Floats, at: Indices, size: int) -> tuple[Floats, Indices]:
    """Per place the largest value (0 where there is none) and the first index that has it, -1 without any."""
    best = np.zeros(size)
    np.maximum.at(best, at, values)
    index = np.full(size, -1)
    hits = np.flatnonzero((values == best[at]) & (values > 0))[::-1]
    index[at[hits]] = hits
    return best, index


def find_worst(ratio: Floats, at: Indices, element: Indices, size: int) -> Worst:
    """Per place the highest ``ratio`` and the ``element`` whose loss leads to it."""
    found, index = find_largest(ratio, at, size)
    return Worst(found, np.where(index >= 0, element[index], -1) if len(element) else index)


def find_worst_cables(tables: Tables) -> Worst:
    """Per device the ratio after the loss of the one upward cable that matters most; the element is its link."""
    links = np.flatnonzero(tables.climbing & (tables.usable > 0) & (tables.low >= tables.nodes))
    low = tables.low[links]
    ratio = divide(tables.down[low], subtract_loss(tables.up[low], tables.fastest[links]))
    return find_worst(ratio, low, links, len(tables.names))


def find_worst_switches(tables: Tables) -> Worst:
    """Per device the ratio after the loss of the one other switch that matters most; the element is its device.

    A switch above takes its capacity along; one beside leaves the standby legs of its nodes here.
    """
    trunks = tables.trunks
    rises = np.flatnonzero((tables.tier[trunks.low] < tables.tier[trunks.high]) & (trunks.capacity > 0))
    dead = find_dead_switches(tables, trunks.low[rises], trunks.high[rises], trunks.capacity[rises])
    ratio = divide(tables.down[dead.at] + dead.more, subtract_loss(tables.up[dead.at], dead.less))
    ratio[tables.up[dead.at] == 0] = 0.0
    return find_worst(ratio, dead.at, dead.switch, len(tables.names))


@dataclass(frozen=True, slots=True)
class Dead:
    """The effect of a dead ``switch`` on another (``at``): byte/s ``less`` upward, and ``more`` from standby legs."""

    switch: Indices
    at: Indices
    less: Floats
    more: Floats


def find_dead_switches(tables: Tables, low: Indices, high: Indices, capacity: Floats) -> Dead:
    """The loss with each dead switch, when ``capacity`` leads from ``low`` to ``high``, and whom it leaves to whom."""
    failed, helper, more = sum_standby_rates(tables)
    none = np.zeros(len(low))
    if not len(failed):
        return Dead(high, low, capacity, none)
    size = len(tables.names)
    keys = np.concatenate((low * size + high, helper * size + failed))
    pairs, of = np.unique(keys, return_inverse=True)
    less = sum_at(np.concatenate((capacity, np.zeros(len(more)))), of, len(pairs))
    return Dead(pairs % size, pairs // size, less, sum_at(np.concatenate((none, more)), of, len(pairs)))


def pair_standby_legs(tables: Tables) -> tuple[Indices, Indices]:
    """Of nodes with one active leg: this leg and the standby leg that takes over, as entries of the node groups."""
    groups = tables.node_groups
    waits = tables.standby[groups.link] & (groups.capacity == 0)
    if not waits.any():
        return np.zeros(0, np.intp), np.zeros(0, np.intp)
    size = int(tables.network.max()) + 1
    place = groups.owner * size + tables.network[groups.link]
    active = np.flatnonzero(groups.capacity > 0)
    holder = np.full(len(groups) * size, -1)
    holder[place[active]] = active
    alone = np.bincount(place[active], minlength=len(holder)) == 1
    waiting = np.flatnonzero(waits)
    first = waiting[np.unique(place[waiting], return_index=True)[1]]
    first = first[alone[place[first]]]
    return holder[place[first]], first


def pair_standby_links(tables: Tables) -> tuple[Indices, Indices]:
    """Of each node with one active leg: its link, and the link of the standby leg that takes over."""
    groups = tables.node_groups
    active, waiting = pair_standby_legs(tables)
    if not len(active):
        return active, waiting
    # The links of an entry stand in the order of the nodes, for every leg of a group alike.
    legs = groups.legs[np.argsort(groups.leg_of, kind="stable")]
    begin = np.concatenate(([0], np.cumsum(np.bincount(groups.leg_of, minlength=len(groups.owner)))))
    size = groups.size[groups.owner[active]]
    return legs[join_slices(begin[active], size)], legs[join_slices(begin[waiting], size)]


def sum_standby_rates(tables: Tables) -> tuple[Indices, Indices, Floats]:
    """Which switch's failure brings which other switch how many byte/s of nodes, by their standby legs."""
    active, waiting = pair_standby_links(tables)
    if not len(active):
        return active, waiting, np.zeros(0)
    size = len(tables.names)
    pairs, of = np.unique(tables.high[active] * size + tables.high[waiting], return_inverse=True)
    return pairs // size, pairs % size, sum_at(tables.capacity[waiting], of, len(pairs))


def sum_boundaries(tables: Tables, member: Indices, size: int) -> Boundary:
    """The groups that ``member`` gives by device (-1: in none).

    ``down`` is what the nodes of a group can send, wherever their legs end, and what comes over
    cables from below that cross its boundary. A cable with both ends inside never counts.
    """
    one, other = member[tables.low], member[tables.high]
    crossing = one != other
    rising = np.flatnonzero(crossing & (one >= 0) & tables.climbing)
    falling = np.flatnonzero(crossing & (other >= 0) & tables.climbing)
    level = np.flatnonzero(crossing & ~tables.climbing)
    nodes = np.flatnonzero(member[: tables.nodes] >= 0)
    down = sum_at(tables.up[nodes], member[nodes], size) + sum_at(tables.usable[falling], other[falling], size)
    up = sum_at(tables.usable[rising], one[rising], size)
    ends = np.concatenate((one[level], other[level]))
    inside = ends >= 0
    side = sum_at(np.concatenate((tables.usable[level],) * 2)[inside], ends[inside], size)
    trunks = rising[tables.low[rising] >= tables.nodes]
    at = one[trunks]
    cable = find_worst(divide(down[at], subtract_loss(up[at], tables.fastest[trunks])), at, trunks, size)
    return Boundary(down, up, side, cable, _find_switch_lost(tables, member, (down, up), (rising, falling)))


def _find_switch_lost(
    tables: Tables, member: Indices, sums: tuple[Floats, Floats], crossing: tuple[Indices, Indices]
) -> Worst:
    """The worst single switch for each group: what hangs on it is gone, from both sums, but for standby legs."""
    down, up = sums
    rising, falling = crossing
    group, upper = member[tables.low], member[tables.high]
    inner, outer = (some[tables.low[some] >= tables.nodes] for some in (rising, falling))
    legs = np.flatnonzero((group >= 0) & (tables.low < tables.nodes) & tables.climbing)
    lost = [(group, tables.high, rising), (group, tables.low, inner)]
    lost += [(group, tables.high, legs), (upper, tables.high, falling), (upper, tables.low, outer)]
    rows = [(at[some], switch[some], tables.usable[some]) for at, switch, some in lost]
    ups = [True, True, False, False, False]
    for row, leads_up in _list_gains(tables, member):
        rows.append(row)
        ups.append(leads_up)
    keys = np.concatenate([at * len(tables.names) + switch for at, switch, _ in rows])
    amount = np.concatenate([each for _, _, each in rows])
    upward = np.repeat(ups, [len(at) for at, _, _ in rows])
    pairs, of = np.unique(keys, return_inverse=True)
    lost_up, lost_down = (sum_at(amount * way, of, len(pairs)) for way in (upward, ~upward))
    at, switch = pairs // len(tables.names), pairs % len(tables.names)
    ratio = divide(subtract_loss(down[at], lost_down), subtract_loss(up[at], lost_up))
    ratio[up[at] == 0] = 0.0
    return find_worst(ratio, at, switch, len(down))


def _list_gains(tables: Tables, member: Indices) -> Iterator[tuple[tuple[Indices, Indices, Floats], bool]]:
    """Gain by standby legs when the switch of the active leg dies: group, switch, negative byte/s; and if upward."""
    active, waiting = pair_standby_links(tables)
    if not len(active):
        return
    group, upper = member[tables.low[waiting]], member[tables.high[waiting]]
    out = group != upper
    for at, some, leads_up in (
        (group, (group >= 0) & out, True),
        (group, group >= 0, False),
        (upper, (upper >= 0) & out, False),
    ):
        yield (at[some], tables.high[active[some]], -tables.capacity[waiting[some]]), leads_up
