"""First-fit packing: jobs into rounds, so that no resource is taken more than once over.

A job is a tuple of slots; a slot is a resource with the part of it that the job takes.
``resource_use`` says what a resource is.
"""

import math
from collections.abc import Hashable, Iterable
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
