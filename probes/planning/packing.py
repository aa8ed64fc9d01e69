"""Owns putting jobs into rounds so that no resource is taken more than once over.

A job is a tuple of slots; a slot is a resource with the part of it that the job takes. First-fit
puts each job, in order, into the first round in which all its slots fit: for each slot a whole
number holds, bit by bit, the rounds in which it does not, so that one look costs a few words of
arithmetic however many rounds there are. Refuses to know what a resource is (``ledger``).
"""

import math
import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

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
    """The round (from 0) of each job, when they are placed in ``order``."""
    siblings: list[list[int]] = [[] for _ in uses.keys]
    for slot, resource in enumerate(uses.resource):
        siblings[resource].append(slot)
    single = [len(siblings[resource]) == 1 and uses.weight[slot] > HEAVY for slot, resource in enumerate(uses.resource)]
    full = [0] * len(uses.weight)
    loads: list[list[float]] = [[] for _ in uses.keys]
    found = [0] * len(uses.jobs)
    for job in order:
        slots = uses.jobs[job]
        taken = 0
        for slot in slots:
            taken |= full[slot]
        bit = ~taken & (taken + 1)
        at = found[job] = bit.bit_length() - 1
        for slot in slots:
            if single[slot]:
                full[slot] |= bit
                continue
            load = loads[uses.resource[slot]]
            if at >= len(load):
                load.extend([0.0] * (at + 1 - len(load)))
            load[at] += uses.weight[slot]
            for other in siblings[uses.resource[slot]]:
                if load[at] + uses.weight[other] > FULL_AT:
                    full[other] |= bit
    return found


def orders(uses: Uses, seed: int = 1) -> Iterable[Sequence[int]]:
    """Orders worth trying: as given, then shuffled."""
    yield range(len(uses.jobs))
    yield random.Random(seed).sample(range(len(uses.jobs)), len(uses.jobs))  # noqa: S311 - no secret


def fewest(uses: Uses) -> list[int]:
    """The round of each job in the shortest schedule that is found; ends at one that no other can beat.

    Cyclic shifts, as they are given, win where nodes bind, a random order where something above
    them does; where one level of resources binds, colouring is exact.
    """
    from probes.planning.colouring import coloured

    bound, _ = uses.bound()
    best: list[int] = []
    for order in orders(uses):
        found = first_fit(uses, order)
        if not best or max(found) < max(best):
            best = found
        if max(best, default=0) < bound:
            return best
    return coloured(uses, bound) or best
