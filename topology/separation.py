"""Owns what falls apart: the nodes that are cut off without one switch, one trunk or one leg.

When a network falls apart, the part that stays is the one with most top switches, of equals the
one with most nodes, of equals the first. A node is *cut off* when no cable of it in this network
leads to the part that stays. Nodes do not forward, unless they are declared to; cut vertices and
bridges are found on the graph of what forwards (``topology.graph.search``).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from topology.graph import Search, search
from topology.maxmin import Flags, Floats, Indices
from topology.tables import Tables, summed

_CELLS = 1 << 21
"""How many cells of a table of bridges and legs are computed at once."""


@dataclass(frozen=True, slots=True)
class Separation:
    """Nodes cut off, per ``device`` that is dead, per ``trunk`` without a cable left, per ``leg`` (of one node).

    ``points`` are the cut vertices, devices; ``bridges`` the trunks whose loss parts a network.
    """

    device: Indices
    trunk: Indices
    leg: Indices
    points: Indices
    bridges: Indices


class _Network:
    """The nodes and top switches of all networks, for asking who touches which part."""

    def __init__(self, tables: Tables, found: Search) -> None:
        groups, climb, graph = tables.node_groups, tables.climb, tables.forwarding
        self.found = found
        self.vertex = graph.vertex[groups.switch]
        self.entry = found.entry[self.vertex]
        self.owner = groups.owner
        self.nodes = groups.nodes
        self.network = climb.network[graph.device]
        self.legs_in = self.network[self.vertex]
        self.top = np.flatnonzero(climb.top[graph.device])

    def cut(self, network: int, dead: int, heads: Indices) -> int:
        """Nodes cut off when the subtrees of ``heads`` are parts of their own and ``dead`` (-1: nothing) is gone."""
        entry, leave = self.found.entry[heads], self.found.leave[heads]
        order = np.argsort(entry)
        entry, leave = entry[order], leave[order]
        tops = self.top[(self.network[self.top] == network) & (self.top != dead)]
        rest = len(heads)
        weight = np.bincount(_parts(self.found.entry[tops], entry, leave), minlength=rest + 1)
        mine = np.flatnonzero(self.legs_in == network)
        alive = mine[self.vertex[mine] != dead]
        touched = _parts(self.entry[alive], entry, leave)
        pairs = np.unique(touched * (len(self.nodes) + 1) + self.owner[alive])
        held = summed(self.nodes[pairs % (len(self.nodes) + 1)], pairs // (len(self.nodes) + 1), rest + 1)
        # The rest was entered first: it is the first of equals where it exists at all.
        sequence = np.concatenate(([rest], np.arange(rest)))
        stays = sequence[np.lexsort((np.arange(rest + 1), -held[sequence], -weight[sequence]))[0]]
        return int(self.nodes[np.unique(self.owner[mine])].sum() - held[stays])

    def halves(self, heads: Indices) -> tuple[Indices, Flags]:
        """For each of ``heads`` the nodes cut off when its subtree is parted from the rest, and whether it stays."""
        network = self.network[heads]
        first, last = self.found.entry[heads], self.found.leave[heads]
        size = int(self.network.max(initial=-1)) + 1
        tops = np.bincount(self.found.entry[self.top], minlength=len(self.network))
        tops_in = _within(tops, first, last)
        tops_out = np.bincount(self.network[self.top], minlength=size)[network] - tops_in
        count = np.bincount(self.owner, minlength=len(self.nodes))
        single = count[self.owner] == 1
        alone = summed(self.nodes[self.owner[single]], self.entry[single], len(self.network))
        held_in = _within(alone, first, last)
        held_out = summed(self.nodes[self.owner[single]], self.legs_in[single], size)[network] - held_in
        total = held_in + held_out
        for chunk in _chunks(len(heads), int((~single).sum())):
            several = self._several(~single, first[chunk], last[chunk], network[chunk])
            held_in[chunk] += several[0]
            held_out[chunk] += several[1]
            total[chunk] += several[2]
        inside = (tops_in > tops_out) | ((tops_in == tops_out) & (held_in > held_out))
        return (total - np.where(inside, held_in, held_out)).astype(np.intp), inside

    def _several(self, legs: Flags, first: Indices, last: Indices, network: Indices) -> tuple[Floats, Floats, Floats]:
        """Nodes with several legs: those with one inside each interval, one outside, one in the network at all."""
        entry, owner = self.entry[legs], self.owner[legs]
        starts = np.flatnonzero(np.concatenate(([True], owner[1:] != owner[:-1])))
        nodes = self.nodes[owner[starts]].astype(float)
        here = self.legs_in[legs] == network[:, None]
        inside = (entry >= first[:, None]) & (entry < last[:, None])
        # Multiplied and summed, not @: the threads of a BLAS cost more than they save here.
        parts = (np.logical_or.reduceat(each, starts, axis=1) * nodes for each in (inside, here & ~inside, here))
        found = [part.sum(axis=1) for part in parts]
        return found[0], found[1], found[2]


def _within(values: Indices | Floats, first: Indices, last: Indices) -> Floats:
    """The sums of ``values`` over several intervals."""
    total = np.concatenate(([0.0], np.cumsum(values)))
    found: Floats = total[last] - total[first]
    return found


def _chunks(rows: int, columns: int) -> Iterator[slice]:
    """Slices of ``rows`` so that a table of rows and columns stays small; none without columns."""
    step = max(_CELLS // columns, 1) if columns else rows + 1
    yield from (slice(first, first + step) for first in range(0, rows if columns else 0, step))


def _parts(entry: Indices, starts: Indices, ends: Indices) -> Indices:
    """Per entry which of the sorted, disjoint intervals it is in; their number where it is in none."""
    place = np.searchsorted(starts, entry, side="right") - 1
    inside = (place >= 0) & (entry < ends[place]) if len(starts) else np.zeros(len(entry), bool)
    return np.where(inside, place, len(starts))


def separation(tables: Tables) -> Separation:
    """What is cut off without each device, trunk and leg of a fabric."""
    graph = tables.forwarding
    found = search(len(graph.device), graph.a, graph.b)
    network = _Network(tables, found)
    device, leg = _alone(tables)
    points = _points(found)
    for vertex in points.tolist():
        children = np.flatnonzero((found.parent == vertex) & found.apart)
        device[graph.device[vertex]] = network.cut(int(network.network[vertex]), vertex, children)
    edge = np.zeros(len(graph.a), np.intp)
    bridges, below = _bridges(tables, found)
    edge[bridges], inside = network.halves(below)
    trunks = len(tables.trunks.low)
    # A forwarding node is with the side that it is left on, though its other cable was counted.
    left = bridges[(bridges >= trunks) & ((below == graph.a[bridges]) != inside)]
    edge[left] += tables.machines[graph.device[graph.a[left]]]
    _gateways(tables, edge, leg)
    return Separation(device, edge[:trunks], leg, graph.device[points], bridges[bridges < trunks])


def _points(found: Search) -> Indices:
    """The cut vertices: a root with several children, another vertex with a child that it holds alone."""
    children = found.parent[found.apart]
    count = np.bincount(children, minlength=len(found.parent))
    return np.flatnonzero(count > (found.parent < 0))


def _bridges(tables: Tables, found: Search) -> tuple[Indices, Indices]:
    """The edges that are bridges, and of each the vertex that it alone joins to the rest."""
    graph = tables.forwarding
    down = (found.parent[graph.b] == graph.a) & found.bridge[graph.b]
    up = (found.parent[graph.a] == graph.b) & found.bridge[graph.a]
    edges = np.flatnonzero(down | up)
    return edges, np.where(down, graph.b, graph.a)[edges]


def _alone(tables: Tables) -> tuple[Indices, Indices]:
    """Per device the nodes with all their legs of its network on it; per leg the machines that it holds alone."""
    groups, climb = tables.node_groups, tables.climb
    size = len(climb.meet) + 1
    network = groups.owner * size + climb.network[groups.switch]
    legs = np.bincount(network, minlength=len(groups) * size)[network]
    pairs, first, count = np.unique(
        groups.owner * len(tables.names) + groups.switch, return_index=True, return_counts=True
    )
    whole = count == legs[first]
    owner = pairs[whole] // len(tables.names)
    device = summed(groups.nodes[owner], pairs[whole] % len(tables.names), len(tables.names)).astype(np.intp)
    machines = groups.nodes[groups.owner] // groups.size[groups.owner]
    return device, np.where(legs == 1, machines, 0)


def _gateways(tables: Tables, edge: Indices, leg: Indices) -> None:
    """Enter into ``leg`` what the legs of forwarding nodes hold together."""
    graph, groups = tables.forwarding, tables.node_groups
    for each in range(len(tables.trunks.low), len(edge)):
        if edge[each] and graph.links[each] == 1:
            group = groups.group[graph.device[graph.a[each]]]
            mine = np.arange(groups.start[group], groups.start[group + 1])
            place = mine[groups.switch[mine] == graph.device[graph.b[each]]]
            leg[place] = np.maximum(leg[place], edge[each])
