"""Exact schedules for one level of capacity: rounds as colours of the edges of a bipartite graph.

Each job takes something of one resource on the one side and of one on the other, as flows do of
the way up of their leaf and the way down to the leaf of their partner. König (1916): as many
colours as the largest degree are enough. Each resource is split into copies of at most that
degree, the graph is filled up until it is regular, and perfect matchings are peeled off one
after the other (Hopcroft and Karp 1973). Jobs that are not of that form have no such schedule.
"""

import math
from collections.abc import Sequence

import numpy as np

from benchconsole.probes.planning.packing import FULL_AT, Uses
from benchconsole.topology.arrays import Indices

_WORK = 20_000_000
"""Edges times rounds up to which peeling is worth its time: some seconds."""

Edge = tuple[int, int]


def find_coloured_rounds(uses: Uses, rounds: int) -> list[int] | None:
    """The round of each job in a schedule of ``rounds`` rounds; None where the jobs are no bipartite graph.

    ``rounds`` must be no lower than ``uses.bound()``.
    """
    if len(uses.jobs) * rounds > _WORK:
        return None
    binding = _binding(uses)
    units = _units(uses, binding)
    edges = None if units is None else _edges(uses, binding)
    if units is None or edges is None:
        return None
    left = _copies([edge[0] for edge in edges], units, rounds)
    right = _copies([edge[1] for edge in edges], units, rounds)
    if left is None or right is None:
        return None
    found = _peel(_regular(left, right, rounds), rounds)
    return [int(colour) for colour in found[: len(uses.jobs)]]


def _binding(uses: Uses) -> set[int]:
    """The resources of which all jobs together take more than there is: the others allow any schedule."""
    total = [0.0] * len(uses.keys)
    for job in uses.jobs:
        for slot in job:
            total[uses.resource[slot]] += uses.weight[slot]
    return {resource for resource, load in enumerate(total) if load > FULL_AT}


def _units(uses: Uses, binding: set[int]) -> dict[int, int] | None:
    """How many jobs fit at once on each resource; None where they take unequal parts of one."""
    weights: dict[int, float] = {}
    for resource, weight in zip(uses.resource, uses.weight, strict=True):
        if resource in binding and weights.setdefault(resource, weight) != weight:
            return None
    return {resource: max(int(FULL_AT / weight), 1) for resource, weight in weights.items()}


def _edges(uses: Uses, binding: set[int]) -> list[Edge] | None:
    """Each job as its resource of the one side and of the other (-1: none); None where no two sides can be told."""
    taken = [tuple(uses.resource[slot] for slot in job if uses.resource[slot] in binding) for job in uses.jobs]
    if any(len(each) > 2 for each in taken):
        return None
    side = _sides({each for each in taken if len(each) == 2})
    if side is None:
        return None
    edges = []
    for each in taken:
        ends = [-1, -1]
        for resource in each:
            ends[side.get(resource, 0)] = resource
        edges.append((ends[0], ends[1]))
    return edges


def _sides(pairs: set[tuple[int, ...]]) -> dict[int, int] | None:
    """0 or 1 for each resource, so that no pair is on one side; None where that cannot be."""
    beside: dict[int, list[int]] = {}
    for one, other in sorted(pairs):
        beside.setdefault(one, []).append(other)
        beside.setdefault(other, []).append(one)
    side: dict[int, int] = {}
    for start in beside:
        waiting = [start] if start not in side else []
        side.setdefault(start, 0)
        while waiting:
            here = waiting.pop()
            for there in beside[here]:
                if there not in side:
                    side[there] = 1 - side[here]
                    waiting.append(there)
                elif side[there] == side[here]:
                    return None
    return side


def _copies(ends: Sequence[int], units: dict[int, int], rounds: int) -> list[int] | None:
    """The vertex of each edge: its resource split into copies of ``rounds`` edges each, -1 for none."""
    count: dict[int, int] = {}
    number: dict[tuple[int, int], int] = {}
    found = []
    for end in ends:
        if end < 0:
            found.append(-1)
            continue
        at = count[end] = count.get(end, 0) + 1
        copy = (end, (at - 1) // rounds)
        if copy[1] >= units[end]:
            return None
        found.append(number.setdefault(copy, len(number)))
    return found


def _regular(left: list[int], right: list[int], rounds: int) -> tuple[Indices, Indices]:
    """The edges with further ones, so that every vertex of both sides has ``rounds`` of them."""
    vertices = max(len(set(left) - {-1}), len(set(right) - {-1}), math.ceil(len(left) / rounds))
    ends = [np.array(left, np.intp), np.array(right, np.intp)]
    spare = []
    for index, side in enumerate(ends):
        degree = np.bincount(side[side >= 0], minlength=vertices)
        free = np.repeat(np.arange(vertices), rounds - degree)
        bare = side < 0
        ends[index] = side.copy()
        ends[index][bare] = free[: int(bare.sum())]
        spare.append(free[int(bare.sum()) :])
    return np.concatenate((ends[0], spare[0])), np.concatenate((ends[1], spare[1]))


def _peel(edges: tuple[Indices, Indices], rounds: int) -> Indices:
    """The colour of each edge of a regular bipartite multigraph: one perfect matching after the other."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    left, right = edges
    vertices = len(left) // rounds
    colour = np.full(len(left), rounds - 1)
    waiting = np.arange(len(left))
    for number in range(rounds - 1):
        place = left[waiting] * vertices + right[waiting]
        first, at = np.unique(place, return_index=True)
        ones = np.ones(len(first), np.int8)
        graph = coo_array((ones, (first // vertices, first % vertices)), shape=(vertices, vertices)).tocsr()
        partner = maximum_bipartite_matching(graph, perm_type="column")
        matched = at[np.searchsorted(first, np.arange(vertices) * vertices + partner)]
        colour[waiting[matched]] = number
        waiting = np.delete(waiting, matched)
    return colour
