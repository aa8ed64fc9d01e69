"""Algorithms on plain graphs: components, minimum cuts, cut vertices and bridges.

The only door to ``scipy.sparse.csgraph``. It is imported on first use, which takes as long as ``check`` of a small
fabric: what every ``check`` asks for is found without it. Vertices are numbers from 0, edges two arrays of their ends.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices

_LARGEST = 2**31 - 1
"""scipy computes flows in 32-bit integers."""


class UnitTooFineError(ValueError):
    """Capacities whose largest common unit is so small that their sum is no 32-bit number."""


def _make_matrix(number: int, low: Indices, high: Indices, data: Any) -> Any:  # noqa: ANN401 - scipy is untyped
    from scipy.sparse import coo_array

    return coo_array((data, (low, high)), shape=(number, number)).tocsr()


def find_components(number: int, a: Indices, b: Indices) -> Indices:
    """Per vertex the number of its connected component; components are numbered by their first vertex.

    Each round joins every root to the lowest root that an edge leads to, then lets every vertex point at its root
    (Y. Shiloach and U. Vishkin, Journal of Algorithms 3, 1982): a round at least halves the roots that can be joined.
    """
    root = np.arange(number)
    while len(a):
        one, other = root[a], root[b]
        apart = one != other
        a, b, one, other = a[apart], b[apart], one[apart], other[apart]
        np.minimum.at(root, np.maximum(one, other), np.minimum(one, other))
        above = root[root]
        while not np.array_equal(above, root):
            root, above = above, above[above]
    return np.asarray(np.unique(root, return_inverse=True)[1], np.intp)


def find_common_unit(capacity: Floats) -> Fraction:
    """The largest unit in which every capacity is a whole number; 1 where all are 0. Exact: floats are fractions."""
    parts = [Fraction(value) for value in np.unique(capacity).tolist()]
    common = math.gcd(*(part.numerator for part in parts))
    return Fraction(common, math.lcm(*(part.denominator for part in parts))) or Fraction(1)


def find_minimum_cut(
    number: int, a: Indices, b: Indices, capacity: Floats, *, ends: tuple[Indices, Indices]
) -> tuple[float, Flags]:
    """The least capacity between two sets of vertices (``ends``), each edge carrying ``capacity`` in each direction.

    Also which vertices are on the side of the first set, the sources, by reachability in what is left (Ford and
    Fulkerson). Maximum flow by Dinic's algorithm (E. A. Dinic, Soviet Math. Dokl. 11, 1970). Of several minimum cuts
    it is the one nearest to the sources. UnitTooFineError where the capacities are not whole numbers of any unit
    that fits; nothing is ever rounded.
    """
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    sources, sinks = ends
    unit = find_common_unit(capacity)
    # Divided as fractions once per distinct value: the quotient is whole by the choice of the unit.
    values, which = np.unique(capacity, return_inverse=True)
    whole = np.array([int(Fraction(value) / unit) for value in values.tolist()], object)[which]
    within = np.zeros(number, bool)
    within[sources] = True
    limit = int(whole[within[a] | within[b]].sum())
    if limit >= _LARGEST:
        raise UnitTooFineError(f"capacities of {limit} units of {float(unit):g} byte/s")
    every = np.minimum(whole, limit + 1).astype(np.int32)
    tails = np.concatenate((a, b, np.full(len(sources), number), sinks))
    heads = np.concatenate((b, a, sources, np.full(len(sinks), number + 1)))
    wide = np.full(len(sources) + len(sinks), limit + 1, np.int32)  # never what fills up
    graph = _make_matrix(number + 2, tails, heads, np.concatenate((every, every, wide)))
    found = maximum_flow(graph, number, number + 1)
    # What is left is never negative, and the way back over a flow is left where it came from.
    near = np.zeros(number + 2, bool)
    near[breadth_first_order(graph - found.flow, number, return_predecessors=False)] = True
    return float(int(found.flow_value) * unit), near[:number]


@dataclass(frozen=True, slots=True)
class Search:
    """A depth-first search of every component. Per vertex: ``parent`` (-1 at a root), ``entry``, ``leave``.

    What is below v was entered from ``entry[v]`` up to, not including, ``leave[v]``. ``apart``: without its parent the
    vertex and all below it are separated from the rest. ``bridge``: they are so without the edge to the parent alone.
    """

    parent: Indices
    entry: Indices
    leave: Indices
    apart: Flags
    bridge: Flags


def search_depth_first(number: int, a: Indices, b: Indices) -> Search:
    """Cut vertices and bridges of a graph without parallel edges.

    J. Hopcroft and R. Tarjan, Algorithm 447, Comm. ACM 16 (1973), without recursion. A dense
    graph is first thinned to a breadth-first forest and a forest of the rest, which has the
    same biconnected components (G. Cong and D. A. Bader, ICPP 2005).
    """
    if len(a) > 2 * number:
        before = _find_forest(number, a, b)
        rest = (before[a] != b) & (before[b] != a)
        after = _find_forest(number, a[rest], b[rest])
        a = np.concatenate([np.flatnonzero(forest >= 0) for forest in (before, after)])
        b = np.concatenate([forest[forest >= 0] for forest in (before, after)])
    tails, heads = np.concatenate([a, b]), np.concatenate([b, a])
    order = np.argsort(tails, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(tails, minlength=number)))).tolist()
    parent, entry, lowest, last = _walk_depth_first(number, start, heads[order].tolist())
    parents, entered, low = np.array(parent, np.intp), np.array(entry, np.intp), np.array(lowest, np.intp)
    inner = parents >= 0
    return Search(
        parent=parents,
        entry=entered,
        leave=np.array(last, np.intp),
        apart=inner & (low >= entered[parents]),
        bridge=inner & (low > entered[parents]),
    )


def _walk_depth_first(
    number: int, start: list[int], to: list[int]
) -> tuple[list[int], list[int], list[int], list[int]]:
    """Parent, entry, lowest entry reached from below by one edge, and end of the subtree, per vertex."""
    parent, entry, lowest, leave = [-1] * number, [-1] * number, [0] * number, [0] * number
    following = start[:-1]
    clock = 0
    for root in range(number):
        if entry[root] >= 0:
            continue
        entry[root] = lowest[root] = clock
        clock += 1
        stack = [root]
        while stack:
            here = stack[-1]
            if following[here] < start[here + 1]:
                there = to[following[here]]
                following[here] += 1
                if entry[there] < 0:
                    parent[there] = here
                    entry[there] = lowest[there] = clock
                    clock += 1
                    stack.append(there)
                elif there != parent[here]:
                    lowest[here] = min(lowest[here], entry[there])
            else:
                stack.pop()
                leave[here] = clock
                if stack:
                    lowest[stack[-1]] = min(lowest[stack[-1]], lowest[here])
    return parent, entry, lowest, leave


def _find_forest(number: int, a: Indices, b: Indices) -> Indices:
    """The predecessor of each vertex in a breadth-first forest, -1 at a root."""
    before = np.full(number, -1)
    # Components are numbered by their first vertex, which is the root.
    reached = np.zeros(number, bool)
    reached[np.unique(find_components(number, a, b), return_index=True)[1]] = True
    tails, heads = np.concatenate([a, b]), np.concatenate([b, a])
    while len(tails):
        ahead = reached[tails] & ~reached[heads]
        before[heads[ahead]] = tails[ahead]
        reached[heads[ahead]] = True
        open_ = ~reached[heads]
        tails, heads = tails[open_], heads[open_]
    return before
