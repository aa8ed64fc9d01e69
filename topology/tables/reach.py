"""Owns which part of each node's capacity toward the top crosses which switch.

Each device counts its ways up by their capacity, so the parts of a node's way over the switches
of one step sum to 1, and the failure of anything takes from a node the part that crosses it.
Nodes are followed upward together as soon as what is above them is the same, so the cost is the
number of different ways up, not of nodes. Refuses to say what else a failure does.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topology.maxmin import Floats, Indices
from topology.tables import Tables, summed
from topology.tables.ratios import standby

_WHOLE = 1 - 1e-9
"""From this part on it is all of a node's capacity, but for rounding."""

_Row = tuple[tuple[int, float], ...]
"""Devices with the part of a node's capacity that crosses each; -1 - x is what of it goes around a dead x."""


@dataclass(slots=True)
class Crossing:
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
class Reach:
    """By switch: the ways that cross it (``over``), and those that are lost without it (``lost``).

    They differ where nodes have a standby leg, or a switch below has a way aside. A switch that
    no way crosses has an empty entry.
    """

    over: Mapping[int, Crossing]
    lost: Mapping[int, Crossing]


def reach(tables: Tables) -> Reach:
    """What crosses each switch of a fabric."""
    found = Reach(defaultdict(Crossing), defaultdict(Crossing))
    onward, ways = _onward(tables)
    rows = _first(tables)
    for batch in tables.climb.batches:
        leaving = set(tables.climb.low[batch].tolist())
        rows = _expanded(_step(rows, onward, leaving, found), ways)
    for row, nodes in rows.items():
        _count(row, nodes, found, None)
    return found


def _first(tables: Tables) -> dict[_Row, int]:
    """How the nodes' own legs divide, and how many nodes divide so."""
    groups, sender = tables.node_groups, tables.climb.sender
    total = summed(groups.capacity, sender, len(tables.climb.group))[sender]
    part = np.divide(groups.capacity, total, out=np.zeros(len(total)), where=total > 0)
    instead = taking_over(tables)
    saved = part * np.minimum(np.divide(instead, groups.capacity, out=np.zeros(len(part)), where=part > 0), 1.0)
    legs: list[dict[int, float]] = [{} for _ in tables.climb.group]
    for number, switch, share, around in zip(
        sender.tolist(), groups.switch.tolist(), part.tolist(), saved.tolist(), strict=True
    ):
        _put(legs[number], switch, share)
        _put(legs[number], -1 - switch, around)
    rows: dict[_Row, int] = {}
    for row, nodes in zip(legs, groups.nodes[tables.climb.group].tolist(), strict=True):
        key = tuple(sorted(row.items()))
        rows[key] = rows.get(key, 0) + nodes
    return rows


def taking_over(tables: Tables) -> Floats:
    """Per leg of the node groups byte/s of the standby leg that is used in its place, in the same network."""
    groups, sender = tables.node_groups, tables.climb.sender
    found = np.zeros(len(groups.owner))
    active, waiting = standby(tables)
    same = sender[active] == sender[waiting]
    capacity = np.array([kind.capacity for kind in tables.kinds], float)
    found[active[same]] = capacity[groups.kind[waiting[same]]]
    return found


def _put(row: dict[int, float], column: int, part: float) -> None:
    if part > 0:
        row[column] = row.get(column, 0.0) + part


def _onward(tables: Tables) -> tuple[Mapping[int, int], Sequence[_Row]]:
    """Per switch with ways up, which of several rows tells how what arrives at it divides; and these rows."""
    climb = tables.climb
    helped = climb.aside.beside(len(tables.names), lost=True)
    order = np.argsort(climb.low, kind="stable")
    low, high, part = climb.low[order], climb.high[order], (climb.capacity / climb.up[climb.low])[order]
    known: dict[tuple[bytes, bytes, float], int] = {}
    found: dict[int, int] = {}
    rows: list[_Row] = []
    for switch, first, last in _runs(low):
        saved = float(min(helped[switch] / climb.up[switch], 1.0))
        key = (high[first:last].tobytes(), part[first:last].tobytes(), saved)
        if key not in known:
            known[key] = len(rows)
            ways = dict(zip(high[first:last].tolist(), part[first:last].tolist(), strict=True))
            _put(ways, -1 - int(high[first]), saved)
            rows.append(tuple(sorted(ways.items())))
        found[switch] = known[key]
    return found, rows


def _runs(values: Indices) -> Iterator[tuple[int, int, int]]:
    """Each value of a sorted array with the slice that it fills."""
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1]))[: len(values)])
    ends = np.append(starts[1:], len(values))[: len(starts)]
    return zip(values[starts].tolist(), starts.tolist(), ends.tolist(), strict=True)


_Half = tuple[_Row, _Row]
"""A row at a step: what it still has of switches, and its parts by the rows of ``_onward`` that they go on by."""


def _step(rows: Mapping[_Row, int], onward: Mapping[int, int], leaving: set[int], found: Reach) -> dict[_Half, int]:
    """Take every row to the ways out of the switches ``leaving``; rows with the same ways become one."""
    merged: dict[_Half, int] = {}
    for row, nodes in rows.items():
        _count(row, nodes, found, leaving)
        kept: list[tuple[int, float]] = []
        parts: dict[int, float] = {}
        for each in row:
            column, part = each
            if column in leaving:
                parts[onward[column]] = parts.get(onward[column], 0.0) + part
            elif -1 - column not in leaving:
                kept.append(each)
        key = (tuple(kept), tuple(sorted(parts.items())))
        merged[key] = merged.get(key, 0) + nodes
    return merged


def _expanded(halves: Mapping[_Half, int], ways: Sequence[_Row]) -> dict[_Row, int]:
    """Every row with the switches that its ways lead to."""
    following: dict[_Row, int] = {}
    for (kept, parts), nodes in halves.items():
        beyond = dict(kept)
        for way, part in parts:
            for column, share in ways[way]:
                beyond[column] = beyond.get(column, 0.0) + part * share
        row = tuple(sorted(beyond.items()))
        following[row] = following.get(row, 0) + nodes
    return following


def _count(row: _Row, nodes: int, found: Reach, at: set[int] | None) -> None:
    """Enter the parts of a row at the switches ``at`` (None: all that are left)."""
    around = {-1 - column: part for column, part in row if column < 0}
    for column, part in row:
        if column >= 0 and (at is None or column in at):
            found.over[column].add(nodes, part)
            found.lost[column].add(nodes, part - around.get(column, 0.0))
