"""Max-min fair share of each node when all nodes of a network send to its top at once.

Model ``fluid``: at each device the traffic divides evenly over its next hops and within one over the cables, the two
switches of an MLAG pair being one hop; capacities as on the wire. The filling is that of ``topology.capacity.maxmin``,
but the paths of flows are never listed: weights are carried up and levels down the ways of
``topology.tables.uplink_paths``, tier by tier, so a round costs the ways and not the flows times the paths.
"""

from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices, sum_at
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.ratios import divide

_EXACT = 1e-9
"""Relative difference below which two levels are one."""


@dataclass(frozen=True, slots=True)
class Shares:
    """Per sender (``topology.tables.uplink_paths``), byte/s of one node: its fair ``rate``, and what its legs carry."""

    rate: Floats
    own: Floats


@dataclass(frozen=True, slots=True)
class _Split:
    """How traffic divides: per leg of the node groups, and per way of the uplinks."""

    legs: Floats
    ways: Floats


def split_evenly(at: Indices, hop: Indices, cables: Floats, size: int) -> Floats:
    """The part that each of several ways takes of what leaves ``at``: even over ``hop``, by cables within one."""
    _, of = np.unique(at * size + hop, return_inverse=True)
    within = sum_at(cables, of, int(of.max(initial=-1)) + 1)
    part: Floats = cables / within[of]
    # The parts within a hop sum to 1, so the sum over all is the number of hops.
    hops = sum_at(part, at, int(at.max(initial=-1)) + 1)
    found: Floats = part / hops[at]
    return found


def _split(tables: Tables) -> _Split:
    groups, uplinks, size = tables.node_groups, tables.uplinks, len(tables.names)
    cables = tables.members[groups.link].astype(float)
    legs = np.zeros(len(groups.owner))
    used = np.flatnonzero(groups.capacity > 0)
    legs[used] = split_evenly(uplinks.sender[used], tables.logical[groups.switch[used]], cables[used], size)
    trunk_cables = tables.trunks.cables[uplinks.trunk].astype(float)
    return _Split(legs, split_evenly(uplinks.low, tables.logical[uplinks.high], trunk_cables, size))


def compute_fair_shares(tables: Tables) -> Shares:
    """The max-min fair shares of all nodes."""
    groups, uplinks = tables.node_groups, tables.uplinks
    split = _split(tables)
    used = np.flatnonzero(split.legs > 0)
    own = np.full(len(uplinks.group), np.inf)
    np.minimum.at(own, uplinks.sender[used], groups.capacity[used] / split.legs[used])
    own[np.isinf(own)] = 0.0
    rate = own.copy()
    active = own > 0
    residual = uplinks.capacity
    while active.any():
        level, full = _find_levels(tables, split, (active, own, residual))
        reached = np.minimum(level, own)
        # A way is final where it is the lowest for all that cross it; so is a node at its own limit.
        frozen = active & ((own <= level * (1 + _EXACT)) | (full <= reached * (1 + _EXACT)))
        rate[frozen] = reached[frozen]
        spent = _carry_up(tables, split, np.where(frozen, rate * groups.size[uplinks.group], 0.0))
        residual = np.maximum(residual - spent, 0.0)
        active &= ~frozen
    return Shares(rate, own)


def _carry_up(tables: Tables, split: _Split, sent: Floats) -> Floats:
    """Per way what it carries when each sender sends ``sent``."""
    uplinks, groups = tables.uplinks, tables.node_groups
    arrived = sum_at(sent[uplinks.sender] * split.legs, groups.switch, len(tables.names))
    carried = np.zeros(len(uplinks.low))
    for batch in uplinks.batches:
        carried[batch] = arrived[uplinks.low[batch]] * split.ways[batch]
        arrived += sum_at(carried[batch], uplinks.high[batch], len(arrived))
    return carried


def _find_levels(tables: Tables, split: _Split, state: tuple[Flags, Floats, Floats]) -> tuple[Floats, Floats]:
    """Per sender the lowest even share on its paths, and the lowest among ways that are final."""
    uplinks, groups = tables.uplinks, tables.node_groups
    active, own, residual = state
    weight = _carry_up(tables, split, np.where(active, groups.size[uplinks.group], 0).astype(float))
    even = np.where(weight > 0, divide(residual, weight), np.inf)
    level = _carry_down(tables, split, even)
    floor = np.full(len(tables.names), np.inf)
    used = np.flatnonzero((split.legs > 0) & active[uplinks.sender])
    np.minimum.at(floor, groups.switch[used], np.minimum(level, own)[uplinks.sender[used]])
    for batch in uplinks.batches:
        np.minimum.at(floor, uplinks.high[batch], floor[uplinks.low[batch]])
    final = np.where(floor[uplinks.low] >= even * (1 - _EXACT), even, np.inf)
    return level, _carry_down(tables, split, final)


def _carry_down(tables: Tables, split: _Split, value: Floats) -> Floats:
    """Per sender the lowest ``value`` of the ways on its paths."""
    uplinks, groups = tables.uplinks, tables.node_groups
    lowest = np.full(len(tables.names), np.inf)
    for batch in reversed(uplinks.batches):
        np.minimum.at(lowest, uplinks.low[batch], np.minimum(value[batch], lowest[uplinks.high[batch]]))
    found = np.full(len(uplinks.group), np.inf)
    used = np.flatnonzero(split.legs > 0)
    np.minimum.at(found, uplinks.sender[used], lowest[groups.switch[used]])
    return found
