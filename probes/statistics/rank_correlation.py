"""Rank correlation: whether numbers rise or fall with a property, whatever the form of the curve. Pure.

Spearman's coefficient (The American Journal of Psychology 15, 1904), with mean ranks for ties. Its chance is that of
Student's distribution with n - 2 degrees of freedom (Kendall and Stuart, The Advanced Theory of Statistics, 31.19).
"""

from collections.abc import Sequence
from typing import NamedTuple

FEWEST, FEWEST_STEPS = 8, 3
"""Numbers, and different values of the property, below which nothing is said."""

SURE = 0.01
"""Chance of a healthy machine below which numbers are said to follow the property."""


class RankCorrelation(NamedTuple):
    """``coefficient`` from -1 to 1 over ``number`` pairs; ``chance`` that unrelated numbers give as much."""

    coefficient: float
    chance: float
    number: int

    @property
    def is_sure(self) -> bool:
        """Whether the numbers follow the property."""
        return self.chance < SURE


def correlate_ranks(property_: Sequence[float], values: Sequence[float]) -> RankCorrelation | None:
    """The correlation of ``values`` with ``property_``, pair by pair; None of too few, and of equal values."""
    if len(values) < FEWEST or len(set(property_)) < FEWEST_STEPS or len(set(values)) < 2:
        return None
    from scipy.stats import spearmanr  # scipy is slow to load

    found = spearmanr(property_, values)
    return RankCorrelation(float(found.statistic), float(found.pvalue), len(values))
