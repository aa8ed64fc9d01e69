"""The shortest schedule that is found for jobs: first-fit in two orders, then edge colouring.

Cyclic shifts, as designs give them, need the fewest rounds where nodes bind, a random order where something above
them does. Where one level of resources binds, colouring is exact.
"""

import random
from collections.abc import Iterator, Sequence

from benchconsole.probes.planning.colouring import find_coloured_rounds
from benchconsole.probes.planning.packing import Uses, first_fit

_SEED = 1


def find_shortest(uses: Uses) -> list[int]:
    """The round (from 0) of each job. Ends at the first schedule that no other can beat (``Uses.bound``)."""
    bound, _ = uses.bound()
    best: list[int] = []
    for order in _list_orders(len(uses.jobs)):
        places = first_fit(uses, order)
        if not best or max(places) < max(best):
            best = places
        if max(best, default=0) < bound:
            return best
    return find_coloured_rounds(uses, bound) or best


def _list_orders(jobs: int) -> Iterator[Sequence[int]]:
    """Orders worth trying: as given, then shuffled."""
    yield range(jobs)
    yield random.Random(_SEED).sample(range(jobs), jobs)  # noqa: S311 - no secret
