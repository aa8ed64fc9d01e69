"""How evenly flows fall on the members that a hash draws for them: balls in bins.

A flow is put on one member by a hash of its addresses; for flows that nobody chose, that is a uniform draw
(Kolchin, Sevastyanov and Chistyakov, Random Allocations). Up to ``EXACT_FLOWS`` flows every outcome is counted,
above they are drawn, and the answer names which (``model``).
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

EXACT = "exact"
MONTE_CARLO = "monte carlo"
EXACT_FLOWS = 120
"""With more flows counting would take longer than a quarter of a second."""
_DRAWS = 20_000
_SEED = 20_111


@dataclass(frozen=True, slots=True)
class MemberLoad:
    """How ``flows`` fall on ``members``. ``at_most[k]`` is the probability that no member has more than k."""

    flows: int
    members: int
    at_most: tuple[float, ...]
    model: str

    @property
    def fullest(self) -> float:
        """Expected number of flows on the fullest member."""
        return math.fsum(1.0 - each for each in self.at_most)

    @property
    def imbalance(self) -> float:
        """Flows on the fullest member over flows per member: how much slower the slowest flow is than the mean."""
        return self.fullest * self.members / self.flows

    @property
    def busy(self) -> float:
        """Expected number of members with at least one flow."""
        return count_busy(self.flows, self.members)


def count_busy(flows: int, members: int) -> float:
    """Expected number of members with at least one of ``flows``: M (1 - (1 - 1/M)^N)."""
    return members * (1.0 - (1.0 - 1.0 / members) ** flows)


def count_flows(share: float, members: int) -> int:
    """The least number of flows that are expected to use ``share`` (below 1) of the members."""
    if members == 1:
        return 1
    return max(1, math.ceil(math.log(1.0 - share) / math.log(1.0 - 1.0 / members) - 1e-9))


def count_reachable(first: int, second: int) -> int:
    """Members of a stage of ``second`` that flows of one member of a stage of ``first`` reach under the same hash.

    Both take hash modulo members, so the second sees only hashes of one remainder.
    """
    return second // math.gcd(first, second)


@lru_cache(maxsize=64)
def compute_member_load(flows: int, members: int) -> MemberLoad:
    """The distribution of the fullest of ``members`` under ``flows`` (at least one of each) uniform flows.

    P(max <= k) = N!/M^N [z^N] (sum of z^j/j! for j <= k)^M. ValueError without flows or members.
    """
    if flows < 1 or members < 1:
        raise ValueError(f"{flows} flows over {members} members, expected at least one of each")
    if flows <= EXACT_FLOWS:
        return MemberLoad(flows, members, tuple(_count_at_most(flows, members)), EXACT)
    import numpy as np  # for many flows only, so that others do not wait for it

    draw = np.random.default_rng(_SEED).multinomial(flows, [1.0 / members] * members, size=_DRAWS)
    seen = np.bincount(draw.max(axis=1), minlength=flows + 1).cumsum() / _DRAWS
    return MemberLoad(flows, members, tuple(float(each) for each in seen), MONTE_CARLO)


def _count_at_most(flows: int, members: int) -> Iterator[float]:
    """P(max <= k) for each k: 0 below the mean load, then counted until what is left is below any float."""
    total, left = members**flows, members**flows
    for most in range(flows + 1):
        if most * members >= flows and left > total >> 60:
            left = total - _count_outcomes(flows, members, most)
        yield (total - left) / total if left > total >> 60 else 1.0


def _count_outcomes(flows: int, members: int, most: int) -> int:
    """In how many of the M^N ways no member gets more than ``most``: whole numbers, so nothing is rounded."""
    power = [1 if load <= most else 0 for load in range(flows + 1)]
    found = [1] + [0] * flows
    while members:
        if members & 1:
            found = _multiply(found, power)
        members >>= 1
        if members:
            power = _multiply(power, power)
    return found[flows]


def _multiply(some: Sequence[int], others: Sequence[int]) -> list[int]:
    """Ways to share flows 0..N between two sets of members: a product of exponential generating functions."""
    return [
        sum(math.comb(total, part) * some[part] * others[total - part] for part in range(total + 1) if some[part])
        for total in range(len(some))
    ]
