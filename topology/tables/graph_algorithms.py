"""Algorithms on plain graphs: components, cut vertices and bridges.

Vertices are numbers from 0, edges two arrays of their ends. ``topology.tables.minimum_cut`` finds minimum cuts.
"""

from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Flags, Indices


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


@dataclass(frozen=True, slots=True)
class Search:
    """A depth-first search of every component. Per vertex: ``parent`` (-1 at a root), ``entry``, ``leave``.

    Those below v were entered from ``entry[v]`` up to, not including, ``leave[v]``. ``apart``: without its parent the
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
