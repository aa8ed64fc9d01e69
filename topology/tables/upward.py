"""Owns what each node gets when all nodes of a network send to its top at once: the max-min fair shares.

Model ``fluid``: at each device the traffic divides evenly over its next hops and within one over
the cables, the two switches of an MLAG pair being one hop; capacities as on the wire. The filling
is that of ``topology.maxmin``, but the paths of flows are never listed: weights are carried up and
levels down the ways of ``topology.tables.climb``, tier by tier, so a round costs the ways and not the
flows times the paths.
"""

from dataclasses import dataclass

import numpy as np

from topology.maxmin import Flags, Floats, Indices
from topology.tables import Tables, summed
from topology.tables.ratios import quotient

_EXACT = 1e-9
"""Relative difference below which two levels are one."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Per sender (``topology.tables.climb``), byte/s of one node: its fair ``rate``, and what its legs carry."""

    rate: Floats
    own: Floats


@dataclass(frozen=True, slots=True)
class _Split:
    """How traffic divides: per leg of the node groups, and per way of the climb."""

    legs: Floats
    ways: Floats


def even_split(at: Indices, hop: Indices, cables: Floats, size: int) -> Floats:
    """The part that each of several ways takes of what leaves ``at``: even over ``hop``, by cables within one."""
    _, of = np.unique(at * size + hop, return_inverse=True)
    within = summed(cables, of, int(of.max(initial=-1)) + 1)
    part: Floats = cables / within[of]
    # The parts within a hop sum to 1, so the sum over all is the number of hops.
    hops = summed(part, at, int(at.max(initial=-1)) + 1)
    found: Floats = part / hops[at]
    return found


def _split(tables: Tables) -> _Split:
    groups, climb, size = tables.node_groups, tables.climb, len(tables.names)
    cables = np.array([kind.members for kind in tables.kinds], float)[groups.kind]
    legs = np.zeros(len(groups.owner))
    used = np.flatnonzero(groups.capacity > 0)
    legs[used] = even_split(climb.sender[used], tables.logical[groups.switch[used]], cables[used], size)
    trunk_cables = tables.trunks.cables[climb.trunk].astype(float)
    return _Split(legs, even_split(climb.low, tables.logical[climb.high], trunk_cables, size))


def fair_shares(tables: Tables) -> Shares:
    """The max-min fair shares of all nodes."""
    groups, climb = tables.node_groups, tables.climb
    split = _split(tables)
    used = np.flatnonzero(split.legs > 0)
    own = np.full(len(climb.group), np.inf)
    np.minimum.at(own, climb.sender[used], groups.capacity[used] / split.legs[used])
    own[np.isinf(own)] = 0.0
    rate = own.copy()
    active = own > 0
    residual = climb.capacity
    while active.any():
        level, full = _levels(tables, split, (active, own, residual))
        reached = np.minimum(level, own)
        # A way is final where it is the lowest for all that cross it; so is a node at its own limit.
        frozen = active & ((own <= level * (1 + _EXACT)) | (full <= reached * (1 + _EXACT)))
        rate[frozen] = reached[frozen]
        spent = _carried(tables, split, np.where(frozen, rate * groups.size[climb.group], 0.0))
        residual = np.maximum(residual - spent, 0.0)
        active &= ~frozen
    return Shares(rate, own)


def _carried(tables: Tables, split: _Split, sent: Floats) -> Floats:
    """Per way what it carries when each sender sends ``sent``."""
    climb, groups = tables.climb, tables.node_groups
    arrived = summed(sent[climb.sender] * split.legs, groups.switch, len(tables.names))
    carried = np.zeros(len(climb.low))
    for batch in climb.batches:
        carried[batch] = arrived[climb.low[batch]] * split.ways[batch]
        arrived += summed(carried[batch], climb.high[batch], len(arrived))
    return carried


def _levels(tables: Tables, split: _Split, state: tuple[Flags, Floats, Floats]) -> tuple[Floats, Floats]:
    """Per sender the lowest even share on its paths, and the lowest among ways that are final."""
    climb, groups = tables.climb, tables.node_groups
    active, own, residual = state
    weight = _carried(tables, split, np.where(active, groups.size[climb.group], 0).astype(float))
    even = np.where(weight > 0, quotient(residual, weight), np.inf)
    level = _lowest(tables, split, even)
    floor = np.full(len(tables.names), np.inf)
    used = np.flatnonzero((split.legs > 0) & active[climb.sender])
    np.minimum.at(floor, groups.switch[used], np.minimum(level, own)[climb.sender[used]])
    for batch in climb.batches:
        np.minimum.at(floor, climb.high[batch], floor[climb.low[batch]])
    final = np.where(floor[climb.low] >= even * (1 - _EXACT), even, np.inf)
    return level, _lowest(tables, split, final)


def _lowest(tables: Tables, split: _Split, value: Floats) -> Floats:
    """Per sender the lowest ``value`` of the ways on its paths."""
    climb, groups = tables.climb, tables.node_groups
    lowest = np.full(len(tables.names), np.inf)
    for batch in reversed(climb.batches):
        np.minimum.at(lowest, climb.low[batch], np.minimum(value[batch], lowest[climb.high[batch]]))
    found = np.full(len(climb.group), np.inf)
    used = np.flatnonzero(split.legs > 0)
    np.minimum.at(found, climb.sender[used], lowest[groups.switch[used]])
    return found
