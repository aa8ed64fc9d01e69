"""The axes of a picture: a line of values, linear or logarithmic, with round ticks, and a line of time from which long
pauses are cut. Pure.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.console.view.wording import format_played
from benchconsole.probes.statistics.log_scale import list_round_numbers
from benchconsole.topology.units import Shown, Unit

_STEPS, _WHOLE = (1.0, 2.0, 2.5, 5.0, 10.0), (1.0, 2.0, 5.0, 10.0)
"""The distances from a tick to the next one, times a power of ten; the second are for counts."""

_FEWEST = 3
"""Ticks that a logarithmic axis has at least: where there are fewer of its own it has those of a linear one."""

_ALIKE = 1e-9
"""Ends that differ by less than this share of their size are one value."""

_AROUND = 1.05
"""The distance of the ends of an axis from its only value, as a factor."""

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
    """Values from ``low`` to ``high``, which is more; ``step`` is what ticks are apart.

    Where it ``is_log`` all are above 0, they stand at their logarithms, and ``marked`` are those that have a tick; of
    these, numbers that are ``is_binary`` are each in a unit of their own.
    """

    low: float
    high: float
    step: float
    factor: float
    is_log: bool = False
    marked: Sequence[float] = ()
    is_binary: bool = False

    def find_place(self, value: float) -> float:
        """Where a value stands between 0 and 1; outside for one that is not on the axis."""
        if self.is_log:
            if value <= 0:
                return -1.0
            return (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> Iterator[Tick]:
        """Multiples of the step, in units of ``factor``, with as many decimals as these need; else what is marked."""
        for number in self.marked:
            label = _label_binary(number) if self.is_binary else _label_number(number / self.factor)
            yield Tick(min(max(self.find_place(number), 0.0), 1.0), label)
        if self.marked:
            return
        places = count_places(self.step / self.factor)
        first = math.ceil(self.low / self.step - 1e-6)
        first = max(first, 1) if self.is_log else first
        while first * self.step <= self.high + self.step * 1e-6:
            label = f"{first * self.step / self.factor + 0.0:,.{places}f}"
            yield Tick(min(max(self.find_place(first * self.step), 0.0), 1.0), label)
            first += 1


def make_value_axis(low: float, high: float, factor: float, most: int) -> ValueAxis:
    """An axis that holds ``low`` and ``high`` with ``most`` ticks or fewer; around one value, where these are alike."""
    if high - low <= max(abs(low), abs(high)) * _ALIKE:
        room = abs(high) * 0.05 or factor
        low, high = low - room, high + room
    return ValueAxis(low, high, _choose_ticked(low, high, factor, most), factor)


def make_log_axis(
    low: float, high: float, lines: Iterable[float], factor: float, most: int, *, is_binary: bool = False
) -> ValueAxis:
    """A logarithmic axis that holds ``low``, which is above 0, and ``high``, with ``most`` ticks or fewer.

    It holds those of ``lines`` that leave the values a third of it. Ticks are 1, 2 and 5 times powers of ten of
    ``factor``, powers of two where it ``is_binary``; where fewer than three are on it, those of a linear axis.
    """
    known = {math.log(number): number for number in (*(line for line in lines if line > 0), low, high)}
    first, last = widen(math.log(low), math.log(high), known)
    low, high = known[first], known[last]
    if last - first <= _ALIKE:
        low, high = low / _AROUND, high * _AROUND
    if is_binary:
        marked = list_round_numbers(low, high, most, is_binary=True)
    else:
        marked = [number * factor for number in list_round_numbers(low / factor, high / factor, most)]
    step = _choose_ticked(low, high, factor, most)
    is_marked = len(marked) >= min(_FEWEST, most)
    return ValueAxis(
        low, high, step, factor, is_log=True, marked=tuple(marked) if is_marked else (),
        is_binary=is_binary and is_marked,
    )  # fmt: skip


def _label_number(number: float) -> str:
    """A round number without its unit: ``0.05``, ``2``, ``10,000``, ``1e12``."""
    if not 1e-5 <= number * (1 + _ALIKE) < 1e7:
        return f"{number:.0e}".replace("e+", "e").replace("e0", "e").replace("e-0", "e-")
    return f"{number:,.{max(-math.floor(math.log10(number) + _ALIKE), 0)}f}"


def _label_binary(number: float) -> str:
    """A size in the unit that it reads well in: ``64 KiB``."""
    scale = scale_for(Unit.BYTE, Shown.MEMORY, [number])
    return f"{scale.shown(number)} {scale.symbol}"


def make_count_axis(most_counted: int, most: int) -> ValueAxis:
    """An axis from 0 to a number of things with ``most`` ticks or fewer, each a whole number."""
    wanted = max(most_counted / max(most - 1, 1), 1.0)
    return ValueAxis(0.0, float(max(most_counted, 1)), _choose_step(wanted, _WHOLE), 1.0)


def _choose_ticked(low: float, high: float, factor: float, most: int) -> float:
    """The step between ``most`` ticks or fewer; a smaller one where an axis from 7 to 99 would have none."""
    wanted = (high - low) / factor / max(most - 1, 1)
    step = _choose_step(wanted, _STEPS)
    for _ in _STEPS:
        first = math.ceil(low / factor / step - 1e-6)
        first = max(first, 1) if low > 0 else first
        if first * step <= high / factor + step * 1e-6:
            break
        step = _choose_step(step * 0.4, _STEPS)
    return step * factor


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
