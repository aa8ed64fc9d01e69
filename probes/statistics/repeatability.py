"""Repeatability: how near repetitions of one subject lie to each other, whatever lies between subjects. Pure.

The repeatability standard deviation pools the variances within subjects (ISO 5725-2:2019, 7.4.4); here it is told as a
share of the mean of all numbers.
"""

import math
from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import NamedTuple


class Repeatability(NamedTuple):
    """``share``: the pooled standard deviation within subjects over the mean. ``freedom``: its degrees of freedom."""

    share: float
    freedom: int


def compute_repeatability(groups: Iterable[Sequence[float]]) -> Repeatability | None:
    """The repeatability of the finite numbers of each subject; None where none was repeated, and of a mean of 0."""
    known = [list(group) for group in groups]
    freedom = sum(len(group) - 1 for group in known if group)
    mean = fmean(value for group in known for value in group) if any(known) else 0.0
    if not freedom or not mean:
        return None
    within = math.fsum((value - fmean(group)) ** 2 for group in known if len(group) > 1 for value in group)
    return Repeatability(math.sqrt(within / freedom) / abs(mean), freedom)
