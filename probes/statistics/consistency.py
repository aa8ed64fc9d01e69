"""Whether one sample is more consistent than another: spreads held against each other, whatever the means are. Pure.

Distances of the logarithms from their median (M. B. Brown and A. B. Forsythe, JASA 69, 1974), by Welch's test. Where
subjects were repeated in both samples the median is that of the subject: how well it repeats; else that of all.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import NamedTuple

FEWEST = 8
"""Numbers of a sample below which its spread is not told."""

SURE = 0.01
"""Chance of samples that spread alike below which one is called more consistent."""


class SpreadComparison(NamedTuple):
    """``before`` and ``after``: the standard deviation as a share of the mean; ``chance`` that alike ones differ so.

    ``of_repeats``: of repetitions of one subject, not of subjects among each other.
    """

    before: float
    after: float
    chance: float
    of_repeats: bool

    @property
    def is_sure(self) -> bool:
        """Whether they differ."""
        return self.chance < SURE


def compare_spread(one: Mapping[str, Sequence[float]], other: Mapping[str, Sequence[float]]) -> SpreadComparison | None:
    """The spread of ``other`` beside that of ``one``; None of too few numbers, and of values that are not above 0."""
    samples = [list(each.values()) for each in (one, other)]
    if any(value <= 0 for groups in samples for group in groups for value in group):
        return None
    of_repeats = all(sum(len(group) for group in groups if len(group) > 1) >= FEWEST for groups in samples)
    if of_repeats:
        parts = [[group for group in groups if len(group) > 1] for groups in samples]
    else:
        parts = [[[fmean(group) for group in groups if group]] for groups in samples]
    logs = [[[math.log(value) for value in group] for group in groups] for groups in parts]
    distances = [[abs(value - median(group)) for group in groups for value in group] for groups in logs]
    if any(len(each) < FEWEST for each in distances) or all(len({*each}) < 2 for each in distances):
        return None
    from scipy.stats import ttest_ind  # scipy is slow to load

    before, after = (_pool_deviation(groups) for groups in logs)
    return SpreadComparison(before, after, float(ttest_ind(*distances, equal_var=False).pvalue), of_repeats)


def _pool_deviation(groups: Sequence[Sequence[float]]) -> float:
    """The standard deviation within groups, as a share: of logarithms it is nearly that of the values over the mean."""
    freedom = sum(len(group) - 1 for group in groups)
    return math.sqrt(math.fsum((value - fmean(group)) ** 2 for group in groups for value in group) / freedom)
