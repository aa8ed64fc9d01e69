"""Owns numbers of verdicts as text on the screen: like the reports' words, and safe where a number is none."""

import math

from console import wording
from probes.judging.verdict import Verdict
from topology.units import Shown, Unit, percent


def quantity(value: float | None, unit: Unit | None, shown: Shown = Shown.PLAIN) -> str:
    """A value with its unit; ``?`` where a tool gave no number at all."""
    if value is not None and not math.isfinite(value):
        return "?"
    return wording.quantity(value, unit, shown)


def measured(verdict: Verdict) -> str:
    """What was measured."""
    if verdict.value is not None and not math.isfinite(verdict.value):
        return "?"
    return wording.plain(wording.measured(verdict))


def expected(verdict: Verdict) -> str:
    """What was expected."""
    if verdict.expected is not None and not math.isfinite(verdict.expected):
        return "?"
    return wording.plain(wording.expected(verdict))


def share_of(share: float | None) -> str:
    """A share in percent."""
    return wording.NOT_MEASURED if share is None or not math.isfinite(share) else percent(share)
