"""Minimum cuts: the least capacity between two sets of vertices of a plain graph.

Vertices that colour refinement cannot tell apart become one vertex first. A flow between the merged ones, spread
evenly over their members, is a flow between the members, and a cut of the merged graph is a cut of the whole one;
so both have the same maximum flow and, by L. R. Ford and D. R. Fulkerson (Canadian J. Math. 8, 1956), the same least
cut. A regular fabric of any size becomes a few vertices. The flow is counted in whole numbers of Python: nothing is
rounded, nothing overflows.
"""

import math
from collections.abc import Collection, Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.tables.colour_refinement import Edges, refine

_Left = list[dict[int, int]]
"""For each vertex its neighbours, and how much more can flow to each."""


def find_minimum_cut(
    number: int, a: Indices, b: Indices, capacity: Floats, *, ends: tuple[Indices, Indices]
) -> tuple[float, Flags]:
    """The least capacity between two sets of vertices (``ends``), each edge carrying ``capacity`` in each direction.

    Also which vertices are on the side of the first set, the sources. Of several minimum cuts it is the one nearest to
    the sources. Vertices are numbers from 0 to ``number`` - 1, edges two arrays of their ends.
    """
    sources, sinks = ends
    unit = find_common_unit(capacity)
    rates, rate_of = np.unique(capacity, return_inverse=True)
    side = np.zeros(number, np.intp)
    side[sources], side[sinks] = 1, 2
    edges = Edges(a, b, rate_of)
    class_of = refine(side, edges)
    whole = [int(Fraction(rate) / unit) for rate in rates.tolist()]
    left = _merge_edges(class_of, edges, whole)
    flow, reached = _find_maximum_flow(left, set(class_of[sources].tolist()), set(class_of[sinks].tolist()))
    near = np.zeros(len(left), bool)
    near[list(reached)] = True
    return float(flow * unit), near[class_of]


def find_common_unit(capacity: Floats) -> Fraction:
    """The largest unit in which every capacity is a whole number; 1 where all are 0. Exact: floats are fractions."""
    parts = [Fraction(value) for value in np.unique(capacity).tolist()]
    common = math.gcd(*(part.numerator for part in parts))
    return Fraction(common, math.lcm(*(part.denominator for part in parts))) or Fraction(1)


def _merge_edges(class_of: Indices, edges: Edges, whole: Sequence[int]) -> _Left:
    """The capacity between each two classes. ``whole`` is the capacity of an edge of each colour."""
    classes = int(class_of.max(initial=-1)) + 1
    one, other = class_of[edges.one], class_of[edges.other]
    pairs, counts = np.unique(
        (np.minimum(one, other) * classes + np.maximum(one, other)) * len(whole) + edges.colour, return_counts=True
    )
    left: _Left = [{} for _ in range(classes)]
    for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
        ends, colour = divmod(pair, len(whole))
        low, high = divmod(ends, classes)
        if low != high:
            left[low][high] = left[high][low] = left[low].get(high, 0) + whole[colour] * count
    return left


def _find_maximum_flow(left: _Left, sources: Collection[int], sinks: Collection[int]) -> tuple[int, Collection[int]]:
    """The maximum flow, and the vertices that what is ``left`` then still leads to (E. A. Dinic, 1970).

    Dinic: Soviet Math. Dokl. 11. Shortest ways are filled until none is left, then longer ones.
    """
    flow = 0
    while not (level := _measure_levels(left, sources)).keys().isdisjoint(sinks):
        flow += _fill_shortest_ways(left, level, sources, sinks)
    return flow, level.keys()


def _measure_levels(left: _Left, sources: Collection[int]) -> dict[int, int]:
    """For each vertex that more can flow to, how many edges it is away from the nearest source."""
    level = dict.fromkeys(sources, 0)
    queue = list(sources)
    for here in queue:
        for there, rest in left[here].items():
            if rest and there not in level:
                level[there] = level[here] + 1
                queue.append(there)
    return level


def _fill_shortest_ways(left: _Left, level: dict[int, int], sources: Collection[int], sinks: Collection[int]) -> int:
    """Send as much as the shortest ways carry, so that each of them is full at one place at least; how much that is."""
    ahead = {
        here: [there for there, rest in left[here].items() if rest and level[there] == here_level + 1]
        for here, here_level in level.items()
    }
    flow = 0
    for source in sources:
        way = [source]
        while way:
            here = way[-1]
            if here in sinks:
                flow += _fill_way(left, way)
            elif not ahead[here]:
                way.pop()
                if way:
                    ahead[way[-1]].pop()
            elif left[here][ahead[here][-1]]:
                way.append(ahead[here][-1])
            else:
                ahead[here].pop()
    return flow


def _fill_way(left: _Left, way: list[int]) -> int:
    """Send as much as one way carries, and cut it off behind the first place that is full then; how much that is."""
    steps = list(pairwise(way))
    flow = min(left[here][there] for here, there in steps)
    for here, there in steps:
        left[here][there] -= flow
        left[there][here] += flow
    full = next(at for at, (here, there) in enumerate(steps) if not left[here][there])
    del way[full + 1 :]
    return flow
