"""Packing: jobs into rounds, so that no resource is taken more than once over, in as few rounds as are found.

A job is a tuple of slots; a slot is a resource with the part of it that the job takes (``resource_use`` says what a
resource is). First-fit in two orders comes first: cyclic shifts, as designs give them, need the fewest rounds where
nodes bind, a random order where something above them does. Where one level of resources binds, edge colouring is exact.
"""

import math
import random
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchconsole.topology.arrays import Indices
from benchconsole.topology.grouping import group_by_key

FULL_AT = 1.0 + 1e-6
"""A resource may be taken once; the rest is rounding."""

HEAVY = 0.5 + 1e-6
"""Of jobs that take more than this of a resource, no two are in one round."""


@dataclass(slots=True)
class Uses:
    """Jobs and what they take. Per slot: ``resource`` (into ``keys``) and ``weight`` (of 1)."""

    keys: list[Hashable] = field(default_factory=list)
    resource: list[int] = field(default_factory=list)
    weight: list[float] = field(default_factory=list)
    jobs: list[tuple[int, ...]] = field(default_factory=list)

    def bound(self) -> tuple[int, Hashable]:
        """Rounds that no schedule can do without, and the resource that asks for them (None without any).

        Of each resource: what is taken of it in all; jobs of one weight, by how many fit at once;
        jobs of which no two fit.
        """
        if not self.jobs:
            return 0, None
        taken = np.concatenate([np.array(job, np.intp) for job in self.jobs if job] or [np.array([], np.intp)])
        counts = np.bincount(taken, minlength=len(self.weight)).tolist()
        total = [0.0] * len(self.keys)
        heavy = [0] * len(self.keys)
        alike: list[dict[float, int]] = [{} for _ in self.keys]
        for resource, weight, count in zip(self.resource, self.weight, counts, strict=True):
            total[resource] += count * weight
            heavy[resource] += count if weight > HEAVY else 0
            alike[resource][weight] = alike[resource].get(weight, 0) + count
        best: tuple[int, Hashable] = (1, None)
        for key, load, alone, weights in zip(self.keys, total, heavy, alike, strict=True):
            rounds = max(math.ceil(load / FULL_AT), alone)
            for weight, count in weights.items():
                rounds = max(rounds, math.ceil(count / max(int(FULL_AT / weight), 1)) if weight else 0)
            best = max(best, (rounds, key), key=lambda found: found[0])
        return best


def first_fit(uses: Uses, order: Iterable[int]) -> list[int]:
    """The round (from 0) of each job, when they are placed in ``order``, each into the first round where it fits.

    ``full[slot]`` is a whole number whose bit r is set when the slot does not fit into round r any more. So one look
    at all rounds costs a few words of arithmetic, however many rounds there are.
    """
    siblings: list[list[int]] = [[] for _ in uses.keys]
    for slot, resource in enumerate(uses.resource):
        siblings[resource].append(slot)
    # A resource whose only slot takes more than half of it is full with one job: its load need not be added up.
    single = [len(siblings[resource]) == 1 and uses.weight[slot] > HEAVY for slot, resource in enumerate(uses.resource)]
    full = [0] * len(uses.weight)
    loads: list[list[float]] = [[] for _ in uses.keys]
    places = [0] * len(uses.jobs)
    for job in order:
        slots = uses.jobs[job]
        taken = 0
        for slot in slots:
            taken |= full[slot]
        bit = ~taken & (taken + 1)  # the lowest bit that is not set: the first round in which every slot fits
        place = places[job] = bit.bit_length() - 1
        for slot in slots:
            if single[slot]:
                full[slot] |= bit
                continue
            load = loads[uses.resource[slot]]
            if place >= len(load):
                load.extend([0.0] * (place + 1 - len(load)))
            load[place] += uses.weight[slot]
            for other in siblings[uses.resource[slot]]:
                if load[place] + uses.weight[other] > FULL_AT:
                    full[other] |= bit
    return places


# -- the shortest schedule

_SEED = 1

_WORK = 20_000_000
"""Edges times rounds up to which colouring is worth its time: some seconds."""


def find_shortest(uses: Uses) -> list[int]:
    """The round (from 0) of each job. Ends at the first schedule that no other can beat (``Uses.bound``)."""
    bound, _ = uses.bound()
    best: list[int] = []
    jobs = range(len(uses.jobs))
    for order in (jobs, random.Random(_SEED).sample(jobs, len(jobs))):  # noqa: S311 - no secret
        places = first_fit(uses, order)
        if not best or max(places) < max(best):
            best = places
        if max(best, default=0) < bound:
            return best
    return find_coloured_rounds(uses, bound) or best


def find_coloured_rounds(uses: Uses, rounds: int) -> list[int] | None:
    """The round of each job in a schedule of ``rounds`` rounds, which must be no lower than ``uses.bound()``.

    Each job is an edge of a bipartite graph: it takes something of one resource on the one side and of one on the
    other, as flows do of the way up of their leaf and the way down to the leaf of their partner; rounds are colours.
    König (1916): as many colours as the largest degree are enough. Each resource is split into copies of at most
    that degree, the graph is filled up until it is regular, and perfect matchings are peeled off one after the
    other (Hopcroft and Karp 1973). None where the jobs are not of that form.
    """
    if len(uses.jobs) * rounds > _WORK:
        return None
    units = _count_units(uses)
    edges = None if units is None else _edges(uses, units.keys())
    if units is None or edges is None:
        return None
    left, right = (_copies(ends, units, rounds) for ends in edges)
    if left is None or right is None:
        return None
    found: list[int] = _peel(_regular(left, right, rounds), rounds)[: len(uses.jobs)].tolist()
    return found


def _count_units(uses: Uses) -> dict[int, int] | None:
    """How many jobs fit at once on each resource that binds; None where they take unequal parts of one.

    A resource of which all jobs together take no more than there is allows any schedule.
    """
    total = [0.0] * len(uses.keys)
    for job in uses.jobs:
        for slot in job:
            total[uses.resource[slot]] += uses.weight[slot]
    weights: dict[int, float] = {}
    for resource, weight in zip(uses.resource, uses.weight, strict=True):
        if total[resource] > FULL_AT and weights.setdefault(resource, weight) != weight:
            return None
    return {resource: max(int(FULL_AT / weight), 1) for resource, weight in weights.items()}


def _edges(uses: Uses, binding: Collection[int]) -> tuple[list[int], list[int]] | None:
    """The resource of each job on the one side and on the other (-1: none); None where no two sides can be told."""
    taken = [tuple(uses.resource[slot] for slot in job if uses.resource[slot] in binding) for job in uses.jobs]
    if any(len(each) > 2 for each in taken):
        return None
    side = _sides({each for each in taken if len(each) == 2})
    if side is None:
        return None
    ends = ([-1] * len(taken), [-1] * len(taken))
    for job, each in enumerate(taken):
        for resource in each:
            ends[side.get(resource, 0)][job] = resource
    return ends


def _sides(pairs: set[tuple[int, ...]]) -> dict[int, int] | None:
    """0 or 1 for each resource, so that no pair is on one side; None where that cannot be."""
    beside = group_by_key(ends for one, other in sorted(pairs) for ends in ((one, other), (other, one)))
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


def _copies(ends: Sequence[int], units: dict[int, int], rounds: int) -> Indices | None:
    """The vertex of each edge: its resource split into copies of ``rounds`` edges each, -1 for none."""
    count: Counter[int] = Counter()
    number: dict[tuple[int, int], int] = {}
    found = []
    for end in ends:
        if end < 0:
            found.append(-1)
            continue
        copy = (end, count[end] // rounds)
        count[end] += 1
        if copy[1] >= units[end]:
            return None
        found.append(number.setdefault(copy, len(number)))
    return np.array(found, np.intp)


def _regular(left: Indices, right: Indices, rounds: int) -> tuple[Indices, Indices]:
    """The edges with further ones, so that every vertex of both sides has ``rounds`` of them."""
    vertices = max(int(left.max(initial=-1)) + 1, int(right.max(initial=-1)) + 1, math.ceil(len(left) / rounds))

    def fill(side: Indices) -> Indices:
        free = np.repeat(np.arange(vertices), rounds - np.bincount(side[side >= 0], minlength=vertices))
        bare = np.flatnonzero(side < 0)
        side[bare] = free[: len(bare)]
        return np.concatenate((side, free[len(bare) :]))

    return fill(left), fill(right)


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
