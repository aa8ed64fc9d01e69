"""The comparison of numbers with bounds, and which measurements a criterion means. Equal to the bound is good."""

import math
from dataclasses import dataclass

from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import Reading, Result
from benchconsole.topology.model.conditions import accept_labels
from benchconsole.topology.model.fabric import Comparator, Criterion

POSSIBLE = 1.05
"""Share of what a wire carries, or of a stated peak, above which a rate was not measured right, or the description
is wrong; less may be bursts and rounding."""


@dataclass(frozen=True, slots=True)
class DefaultCriterion(Criterion):
    """A criterion that no file declares: it speaks of tests that send in bulk only."""


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


def grade_range(value: tuple[float, float], required: tuple[float, float]) -> Level:
    """How a value between two numbers stands against a bound between two numbers, each given as (least, most).

    pass when even the least meets the highest bound, fail when even the most misses the lowest, else unknown.
    """
    if grade(value[0], required[1]) is Level.PASS:
        return Level.PASS
    return Level.UNKNOWN if grade(value[1], required[0]) is Level.PASS else Level.FAIL


def matching(criterion: Criterion, result: Result) -> tuple[Reading, ...]:
    """The measurements of ``result`` that ``criterion`` speaks of."""
    if criterion.nodes and result.test.target.node.id not in criterion.nodes:
        return ()
    if isinstance(criterion, DefaultCriterion) and not result.test.sending.bulk:
        return ()
    implied = {"nodes": str(len(result.test.target.nodes))}
    return tuple(
        measurement
        for measurement in result.measurements
        if measurement.metric == criterion.metric
        and (not criterion.where or accept_labels(criterion.where, {**implied, **dict(measurement.labels)}))
    )
