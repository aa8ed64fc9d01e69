"""Owns the comparison of one number with one bound. Equal to the bound is on the good side."""

import math

from probes.judging.verdict import Level
from topology.model import Comparator


def rounded(value: float, step: float) -> float:
    """``value`` to the nearest multiple of ``step``, halves upward; unchanged for step 0."""
    return math.floor(value / step + 0.5) * step if step else value


def grade(
    value: float, required: float, *, comparator: Comparator = Comparator.AT_LEAST, target: float | None = None,
    step: float = 0.0,
) -> Level:  # fmt: skip
    """pass at or beyond the target (or the bound, without a target), watch between, fail otherwise.

    Compares ``rounded(value, step)``. A relative 1e-12 is allowed for, so that a product of two
    written numbers does not fail against itself.
    """
    sign = 1.0 if comparator is Comparator.AT_LEAST else -1.0
    given = sign * rounded(value, step)

    def meets(bound: float) -> bool:
        return given >= sign * bound - abs(bound) * 1e-12

    if not meets(required):
        return Level.FAIL
    return Level.PASS if target is None or meets(target) else Level.WATCH
