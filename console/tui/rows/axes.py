"""The axes of a picture: a line of values with round ticks, and a line of time from which long pauses are cut. Pure."""

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchconsole.console.view.wording import format_played

_STEPS, _WHOLE = (1.0, 2.0, 2.5, 5.0, 10.0), (1.0, 2.0, 5.0, 10.0)
"""What a tick may be apart from the next one, times a power of ten; of what is counted."""

_ALIKE = 1e-9
"""Ends that differ by less than this share of their size are one value."""

_TIMES = (
    1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200,
    *(86400 * days for days in (1, 2, 7, 14, 28, 91, 182, 364)),
)  # fmt: skip
"""Seconds that a tick of time may be apart from the next one."""

LONG = 0.1
"""Share of the time in which something ran from which on a pause is drawn shorter than it was."""

LEAST = 0.1
"""Seconds that a pause is drawn at least: none is cut where hardly anything ran."""

SHORT = 5.0
"""Seconds up to which nothing is a pause: so long rounds may be apart."""


class Tick(NamedTuple):
    """A labelled place on an axis, between 0 and 1."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class ValueAxis:
    """Values from ``low`` to ``high``, which is more; ``step`` is what ticks are apart."""

    low: float
    high: float
    step: float
    factor: float

    def find_place(self, value: float) -> float:
        """Where a value stands between 0 and 1; outside for one that is not on the axis."""
        return (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> Iterator[Tick]:
        """Multiples of the step, in units of ``factor``, with as many decimals as these need."""
        places = count_places(self.step / self.factor)
        first = math.ceil(self.low / self.step - 1e-6)
        while first * self.step <= self.high + self.step * 1e-6:
            label = f"{first * self.step / self.factor + 0.0:,.{places}f}"
            yield Tick(min(max(self.find_place(first * self.step), 0.0), 1.0), label)
            first += 1


def make_value_axis(low: float, high: float, factor: float, most: int) -> ValueAxis:
    """An axis that holds ``low`` and ``high`` with ``most`` ticks or fewer; around one value, where these are alike."""
    if high - low <= max(abs(low), abs(high)) * _ALIKE:
        room = abs(high) * 0.05 or factor
        low, high = low - room, high + room
    wanted = (high - low) / factor / max(most - 1, 1)
    return ValueAxis(low, high, _choose_step(wanted, _STEPS) * factor, factor)


def make_count_axis(most_counted: int, most: int) -> ValueAxis:
    """An axis from 0 to a number of things with ``most`` ticks or fewer, each a whole number."""
    wanted = max(most_counted / max(most - 1, 1), 1.0)
    return ValueAxis(0.0, float(max(most_counted, 1)), _choose_step(wanted, _WHOLE), 1.0)


def _choose_step(wanted: float, steps: Sequence[float]) -> float:
    """The least of ``steps`` times a power of ten that is not below ``wanted``."""
    power = 10.0 ** math.floor(math.log10(wanted))
    return next((each for each in steps if each * power >= wanted * (1 - 1e-9)), steps[-1]) * power


def count_places(step: float) -> int:
    """Decimals that tell numbers apart which are ``step`` apart."""
    return next((places for places in range(9) if abs(step - round(step, places)) < step * 1e-6), 9)


def widen(low: float, high: float, lines: Iterable[float]) -> tuple[float, float]:
    """The ends of an axis that holds those of ``lines`` that leave the values a third of it; the nearest first."""
    span = high - low
    for line in sorted(lines, key=lambda each: max(low - each, each - high)):
        ends = min(low, line), max(high, line)
        if span <= 0 or ends[1] - ends[0] <= 3 * span:
            low, high = ends
            span = span or high - low
    return low, high


# -- time


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Time from the first to the last of ``real`` (seconds), drawn at the numbers ``drawn``; both rise.

    ``pauses`` are the beginning and the end of each pause that is drawn shorter than it was.
    """

    real: Sequence[float]
    drawn: Sequence[float]
    pauses: Sequence[tuple[float, float]]

    def find_place(self, moment: float) -> float:
        """Where a moment stands between 0 and 1."""
        if self.drawn[-1] <= 0:
            return 0.5
        after = min(max(bisect_right(self.real, moment), 1), len(self.real) - 1)
        before = after - 1
        span = self.real[after] - self.real[before]
        share = (moment - self.real[before]) / span if span > 0 else 0.0
        return (self.drawn[before] + share * (self.drawn[after] - self.drawn[before])) / self.drawn[-1]

    def list_ticks(self, start: float, most: int) -> Iterator[Tick]:
        """Round times since ``start``, ``most`` of them or few more, none within a pause that was cut."""
        wanted = self.drawn[-1] / max(most, 1)
        step = next((each for each in _TIMES if each >= wanted), _TIMES[-1])
        stops = [*(begin for begin, _ in self.pauses), self.real[-1]]
        for begin, end in zip([self.real[0], *(end for _, end in self.pauses)], stops, strict=True):
            number = math.ceil((begin - start) / step)
            while start + number * step <= end:
                yield Tick(self.find_place(start + number * step), format_played(number * step))
                number += 1


def make_time_axis(first: float, last: float, busy: Sequence[tuple[float, float]]) -> TimeAxis:
    """An axis from ``first`` to ``last``; a pause between ``busy`` times (in order) has a tenth of these at most."""
    idle = [(begin, end) for begin, end in list_idle(first, last, busy) if end > begin]
    longest = LONG * (last - first - sum(end - begin for begin, end in idle))
    real, drawn, pauses = [first], [0.0], []
    for begin, end in idle:
        if end - begin > max(longest, SHORT) and longest > LEAST:
            pauses.append((begin, end))
            drawn += [drawn[-1] + begin - real[-1], drawn[-1] + begin - real[-1] + longest]
            real += [begin, end]
    return TimeAxis([*real, last], [*drawn, drawn[-1] + last - real[-1]], pauses)


def list_idle(first: float, last: float, busy: Iterable[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """The times from ``first`` to ``last`` in which nothing was ``busy``."""
    at = first
    for begin, end in busy:
        if begin > at:
            yield at, min(begin, last)
        at = max(at, end)
        if at >= last:
            return
    if at < last:
        yield at, last
