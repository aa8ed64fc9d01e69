"""The comparison of numbers with bounds. Equal to the bound is good."""

from typing import TypeVar

import numpy as np

from benchconsole.probes.model.judgement import Level
from benchconsole.topology.arrays import Floats
from benchconsole.topology.model.fabric import Comparator

POSSIBLE = 1.05
"""Share of what a wire carries, or of a stated peak, above which a rate was not measured right, or the description
is wrong; less may be bursts and rounding."""


LEVELS = (Level.FAIL, Level.WATCH, Level.PASS)
"""The levels of numbers, by their ``rank``."""

N = TypeVar("N", float, Floats)
"""One number, or many at once."""


def rounded(value: N, step: float) -> N:
    """``value`` to the nearest multiple of ``step``, halves upward; unchanged for step 0."""
    return np.floor(value / step + 0.5) * step if step else value


def rank(
    value: N, required: float, *, comparator: Comparator = Comparator.AT_LEAST, target: float | None = None,
    step: float = 0.0,
) -> N:  # fmt: skip
    """2 at or beyond the target (or the bound, without a target), 1 between, 0 otherwise: the place in ``LEVELS``.

    Compares ``rounded(value, step)``. A relative 1e-12 is allowed for, so that a product of two
    written numbers does not fail against itself. Infinity and NaN meet nothing.
    """
    sign = 1.0 if comparator is Comparator.AT_LEAST else -1.0
    given = sign * rounded(value, step)
    meets = np.isfinite(value) & (given >= sign * required - abs(required) * 1e-12)
    found: N = meets * (2.0 if target is None else 1.0 + (given >= sign * target - abs(target) * 1e-12))
    return found


def grade(
    value: float, required: float, *, comparator: Comparator = Comparator.AT_LEAST, target: float | None = None,
    step: float = 0.0,
) -> Level:  # fmt: skip
    """The level of ``rank``: pass, watch between bound and target, fail."""
    return LEVELS[int(rank(value, required, comparator=comparator, target=target, step=step))]


def grade_range(value: tuple[float, float], required: tuple[float, float]) -> Level:
    """How a value between two numbers stands against a bound between two numbers, each given as (least, most).

    pass when even the least meets the highest bound, fail when even the most misses the lowest, else unknown.
    """
    if grade(value[0], required[1]) is Level.PASS:
        return Level.PASS
    return Level.UNKNOWN if grade(value[1], required[0]) is Level.PASS else Level.FAIL
