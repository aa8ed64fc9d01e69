"""The sum of the rates of tests that were to run at once, and how much of it there was over their whole time.

Each rate is the mean over the time of its own test. Tests that did not run at the same time have rates that add up to
more than there ever was.
"""

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

from benchconsole.probes.judging.round_flows import find_margin
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import Reading, Result
from benchconsole.topology.units import duration

APART = 0.95
"""Share of their time below which tests are said to have run apart: their sum may never have been there."""


class SummedRates(NamedTuple):
    """``value`` is the plain sum, ``least`` the mean over the ``seconds`` from the first start to the last end.

    The tests gave at least ``least`` in sum at some time. All rates are in one unit. Where it is not known how long a
    test ran, ``least`` is ``value``.
    """

    value: float
    least: float
    seconds: float

    @property
    def ran_apart(self) -> bool:
        """Whether so much of the sum may never have been there at one time that it has to be said."""
        return self.least < APART * self.value

    def grade(self, grade: Callable[[float], Level]) -> tuple[Level, float]:
        """The level of the sum, and the amount that has it.

        It is not known where a bound is met only if all ran at the same time, or only if they did not.
        """
        most, least = grade(self.value), grade(self.least)
        if most is least or not self.ran_apart:
            return most, self.value
        if Level.FAIL in (most, least):
            return Level.UNKNOWN, self.value
        return Level.WATCH, self.value if most is Level.WATCH else self.least

    def describe(self, write: Callable[[float], str]) -> str:
        """The sum over the whole time, where the tests ran apart, to be added to a reason; else empty."""
        if not self.ran_apart:
            return ""
        time = f"in the {duration(self.seconds)} from the first start to the last end"
        return f"; its tests ran apart: {time} they gave {write(self.least)} together"


def sum_rates(numbers: Iterable[tuple[Result, Reading]]) -> SummedRates:
    """The sum of rates, each with the result that it is of.

    Tests that send before and after the seconds that count may start so far apart.
    """
    found = tuple(numbers)
    value = math.fsum(reading.value for _, reading in found)
    if not found or not all(result.ran > 0 for result, _ in found):
        return SummedRates(value, value, 0.0)
    first = min(reading.at - result.ran for result, reading in found)
    margin = min(find_margin(reading) for _, reading in found)
    longest = max(result.ran for result, _ in found)
    seconds = max(max(reading.at for _, reading in found) - first - margin, longest)
    moved = math.fsum(reading.value * result.ran for result, reading in found)
    return SummedRates(value, min(moved / seconds, value), seconds)
