"""The rates of running tests, smoothed from the intervals that their tools tell, beside what is expected. Pure.

They are shown while a test runs and give way to its result. No state, count, verdict or report rests on them.
"""

import math
from collections.abc import Iterable, Mapping, Set
from types import MappingProxyType

from msgspec import Struct

from benchconsole.probes.model.interval import Interval
from benchconsole.probes.model.measuring import INWARD, Labels
from benchconsole.topology.units import Unit

SMOOTHING = 2.0
"""Seconds after which 63 % of a step is seen, and 90 % after 4.6 s: the time constant of the exponential smoothing."""

STALE = 5.0
"""Seconds after which a number that no other followed is no longer shown."""


class ToldInterval(Struct, frozen=True):
    """A number of the running test with the id ``test``, as its tool told it.

    ``expected`` is what it should reach while its round runs, in the same unit; None where that is not known.
    """

    test: str
    interval: Interval
    expected: float | None = None


class IntervalRate(Struct, frozen=True):
    """One number of a running test, smoothed, in the base unit of its metric. ``told`` is UTC seconds.

    ``expected`` is as in ``ToldInterval``.
    """

    interval: Interval
    smoothed: float
    expected: float | None
    told: float

    @property
    def name(self) -> tuple[str, Labels]:
        return self.interval.metric, self.interval.labels

    @property
    def share(self) -> float | None:
        """smoothed / expected."""
        return self.smoothed / self.expected if self.expected else None


IntervalRates = Mapping[str, tuple[IntervalRate, ...]]
"""By the id of the test, the newest first; several where a test tells of both directions."""

NO_INTERVALS: IntervalRates = MappingProxyType({})


def smooth(known: IntervalRate | None, interval: Interval) -> float:
    """The smoothed number after ``interval``: the number itself where it follows no other of the same run."""
    if known is None or interval.until <= known.interval.until:
        return interval.value
    weight = 1.0 - math.exp(-(interval.until - known.interval.until) / SMOOTHING)
    return known.smoothed + weight * (interval.value - known.smoothed)


def advance_rates(
    known: IntervalRates, told: Iterable[ToldInterval], at: float, running: Set[str]
) -> dict[str, tuple[IntervalRate, ...]]:
    """The rates after what was ``told`` at the moment ``at`` (UTC seconds), of tests that are ``running``."""
    rates = {
        test: young
        for test, old in known.items()
        if test in running and (young := tuple(each for each in old if at - each.told <= STALE))
    }
    for each in told:
        if each.test in running:
            old = rates.get(each.test, ())
            name = each.interval.metric, each.interval.labels
            before = next((rate for rate in old if rate.name == name), None)
            rate = IntervalRate(each.interval, smooth(before, each.interval), each.expected, at)
            rates[each.test] = (rate, *(other for other in old if other is not before))
    return rates


def find_shown(rates: Iterable[IntervalRate]) -> IntervalRate | None:
    """The number that stands for a test: of those that were told last the one with the lowest share, or the lowest."""
    every = tuple(rates)
    last = max((each.told for each in every), default=0.0)
    newest = (each for each in every if each.told == last)
    return min(newest, key=lambda each: (each.share is None, each.share or 0.0, each.smoothed), default=None)


def find_moved(rates: Iterable[IntervalRate]) -> dict[bool, IntervalRate]:
    """The newest number in byte/s of each direction of a test, by whether the peer sends; the newest of all first."""
    found: dict[bool, IntervalRate] = {}
    for each in rates:
        if each.interval.unit is Unit.BYTE_RATE:
            found.setdefault(INWARD in each.interval.labels, each)
    return found
