"""Part of each node's capacity toward the top that crosses each switch.

Each device counts its ways up by their capacity, so the parts of a node's way over the switches of one step sum
to 1, and the failure of anything takes from a node the part that crosses it. Nodes are followed upward together
as soon as what is above them is the same, so the cost is the number of different ways up, not of nodes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Floats
from benchconsole.topology.tables.fabric_tables import Tables
from benchconsole.topology.tables.planes import sum_planes
from benchconsole.topology.tables.ratios import pair_standby_legs

_WHOLE = 1 - 1e-9
"""From this part on it is all of a node's capacity, but for rounding."""

_Row = tuple[tuple[int, float], ...]
"""Devices with the part of a node's capacity that crosses each; -1 - x is what of it goes around a dead x."""


@dataclass(slots=True)
class CrossingNodes:
    """How many nodes' ways cross something, how many entirely, and the largest part of the others."""

    nodes: int = 0
    entirely: int = 0
    most: float = 0.0

    def add(self, nodes: int, part: float) -> None:
        """Count ``nodes`` with ``part`` each."""
        if part < 1 - _WHOLE:
            return
        self.nodes += nodes
        if part >= _WHOLE:
            self.entirely += nodes
        else:
            self.most = max(self.most, part)


@dataclass(frozen=True, slots=True)
class UplinkShares:
    """By switch: the ways ``over`` it, and those ``lost`` without it, where no standby leg and no way aside helps."""

    over: Mapping[int, CrossingNodes]
    lost: Mapping[int, CrossingNodes]


def compute_uplink_shares(tables: Tables) -> UplinkShares:
    """The nodes whose ways up cross each switch of a fabric."""
    found = UplinkShares(defaultdict(CrossingNodes), defaultdict(CrossingNodes))
    onward, ways = _list_ways(tables)
    rows = _make_first_rows(tables)
    for batch in tables.uplinks.batches:
        leaving = set(tables.uplinks.low[batch].tolist())
        rows = _expand_rows(_take_step(rows, onward, leaving, found), ways)
    for row, nodes in rows.items():
        _count(row, nodes, found, None)
    return found


def _make_first_rows(tables: Tables) -> Counter[_Row]:
    """How the nodes' own legs divide, and how many nodes divide so."""
    groups, sender = tables.node_groups, tables.uplinks.sender
    total = sum_planes(tables)[sender]
    part = np.divide(groups.capacity, total, out=np.zeros(len(total)), where=total > 0)
    instead = compute_standby_rates(tables)
    saved = part * np.minimum(np.divide(instead, groups.capacity, out=np.zeros(len(part)), where=part > 0), 1.0)
    legs: list[dict[int, float]] = [{} for _ in tables.uplinks.group]
    for number, switch, share, around in zip(
        sender.tolist(), groups.switch.tolist(), part.tolist(), saved.tolist(), strict=True
    ):
        _put(legs[number], switch, share)
        _put(legs[number], -1 - switch, around)
    rows: Counter[_Row] = Counter()
    for row, nodes in zip(legs, groups.nodes[tables.uplinks.group].tolist(), strict=True):
        rows[tuple(sorted(row.items()))] += nodes
    return rows


def compute_standby_rates(tables: Tables) -> Floats:
    """Per leg of the node groups byte/s of the standby leg that is used in its place, in the same network."""
    groups, sender = tables.node_groups, tables.uplinks.sender
    found = np.zeros(len(groups.owner))
    active, waiting = pair_standby_legs(tables)
    same = sender[active] == sender[waiting]
    found[active[same]] = tables.capacity[groups.link[waiting[same]]]
    return found


def _put(row: dict[int, float], column: int, part: float) -> None:
    if part > 0:
        row[column] = row.get(column, 0.0) + part


def _list_ways(tables: Tables) -> tuple[Mapping[int, int], Sequence[_Row]]:
    """Per switch with ways up, which of several rows tells how what arrives at it divides; and these rows."""
    uplinks = tables.uplinks
    helped = uplinks.aside.beside(len(tables.names), lost=True)
    order = np.argsort(uplinks.low, kind="stable")
    low, high, part = uplinks.low[order], uplinks.high[order], (uplinks.capacity / uplinks.up[uplinks.low])[order]
    known: dict[tuple[bytes, bytes, float], int] = {}
    found: dict[int, int] = {}
    rows: list[_Row] = []
    starts = np.flatnonzero(np.concatenate(([True], low[1:] != low[:-1]))[: len(low)])
    ends = np.append(starts[1:], len(low))[: len(starts)]
    for switch, first, last in zip(low[starts].tolist(), starts.tolist(), ends.tolist(), strict=True):
        saved = float(min(helped[switch] / uplinks.up[switch], 1.0))
        key = (high[first:last].tobytes(), part[first:last].tobytes(), saved)
        if key not in known:
            known[key] = len(rows)
            ways = dict(zip(high[first:last].tolist(), part[first:last].tolist(), strict=True))
            _put(ways, -1 - int(high[first]), saved)
            rows.append(tuple(sorted(ways.items())))
        found[switch] = known[key]
    return found, rows


_Half = tuple[_Row, _Row]
"""A row at a step: what it still has of switches, and its parts by the rows of ``_list_ways`` that they go on by."""


def _take_step(
    rows: Mapping[_Row, int], onward: Mapping[int, int], leaving: set[int], found: UplinkShares
) -> Counter[_Half]:
    """Take every row to the ways out of the switches ``leaving``; rows with the same ways become one."""
    merged: Counter[_Half] = Counter()
    for row, nodes in rows.items():
        _count(row, nodes, found, leaving)
        kept: list[tuple[int, float]] = []
        parts: defaultdict[int, float] = defaultdict(float)
        for each in row:
            column, part = each
            if column in leaving:
                parts[onward[column]] += part
            elif -1 - column not in leaving:
                kept.append(each)
        merged[tuple(kept), tuple(sorted(parts.items()))] += nodes
    return merged


def _expand_rows(halves: Mapping[_Half, int], ways: Sequence[_Row]) -> Counter[_Row]:
    """Every row with the switches that its ways lead to."""
    following: Counter[_Row] = Counter()
    for (kept, parts), nodes in halves.items():
        beyond = dict(kept)
        for way, part in parts:
            for column, share in ways[way]:
                beyond[column] = beyond.get(column, 0.0) + part * share
        following[tuple(sorted(beyond.items()))] += nodes
    return following


def _count(row: _Row, nodes: int, found: UplinkShares, at: set[int] | None) -> None:
    """Enter the parts of a row at the switches ``at`` (None: all that are left)."""
    around = {-1 - column: part for column, part in row if column < 0}
    for column, part in row:
        if column >= 0 and (at is None or column in at):
            found.over[column].add(nodes, part)
            found.lost[column].add(nodes, part - around.get(column, 0.0))
