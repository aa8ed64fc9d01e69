"""The model of a curve of a sweep, and what follows from it: medians, gains, efficiency, the knee. Pure.

Points are made by ``console.curves.sweep_series`` from what was stored; nothing here adds one, drops one or smooths.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from benchconsole.console.view.run_view import State
from benchconsole.probes.model.measuring import Labels
from benchconsole.probes.statistics.log_scale import is_positive, is_wide, list_round_numbers
from benchconsole.topology.units import RATES, Shown, Unit

GAIN = 0.05
"""The least gain that counts where the sweep has no rule of its own."""

COUNTS = {
    "clients": "client", "connections": "connection", "jobs": "job", "nodes": "node", "processes": "process",
    "ranks": "rank", "streams": "stream", "tasks": "task", "threads": "thread", "workers": "worker",
}  # fmt: skip
"""Axes that count what does the work, so that a share for each of them means something, with the word for one."""

_MULTIPLIES = 4.0
_TICKS_OF_DECADE = 4
"""1, 2, 5 and 10: the ticks of a logarithmic scale over one decade; one over several has powers of ten alone."""


class Missing(NamedTuple):
    """So many tests of a point that gave no number, for one reason; ``is_open`` where they may still give one.

    ``is_left_out``: they are not in the plan, and ``tests`` is 0 where it is not known how many a curve would have.
    """

    state: State
    why: str
    tests: int
    is_open: bool = False
    is_left_out: bool = False


@dataclass(frozen=True)
class Point:
    """The measurements at one value of the axis.

    ``value`` is as the file writes it, made safe to show, ``at`` the same as a number (None: a word). ``values`` has
    one number for each repetition where the tests of one are a load that is shared, else one for each reading, in base
    units.
    ``repetitions`` gave numbers, ``of`` were planned; ``tests`` gave one, ``planned`` is all of them.
    ``workers`` share a value. ``bounds`` are those that verdicts over these numbers were held to, lowest first;
    ``state`` is the worst of these verdicts. ``least`` and ``most`` are those of the tool, where it told them besides.
    """

    value: str
    at: float | None
    values: tuple[float, ...] = ()
    repetitions: int = 0
    of: int = 0
    tests: int = 0
    planned: int = 0
    workers: float = 1.0
    missing: tuple[Missing, ...] = ()
    bounds: tuple[float, ...] = ()
    state: State | None = None
    least: float | None = None
    most: float | None = None

    @property
    def is_asked(self) -> bool:
        """Whether it is a point of this curve, and not only of another one beside it."""
        return bool(self.planned or self.values or self.missing)

    @cached_property
    def median(self) -> float | None:
        return median(self.values) if self.values else None

    @cached_property
    def low(self) -> float | None:
        return self.least if self.least is not None else min(self.values, default=None)

    @cached_property
    def high(self) -> float | None:
        return self.most if self.most is not None else max(self.values, default=None)


class Knee(NamedTuple):
    """The last point that still gained; ``certain`` where no later one reaches as far with its spread."""

    point: Point
    certain: bool


@dataclass(frozen=True)
class Curve:
    """The points of one cohort, in the order of the axis; ``cohort`` is empty for all that there is.

    ``is_part``: of a load that all cohorts are together; how it grows is a matter of who takes part at which point.
    """

    cohort: Labels
    points: tuple[Point, ...]
    is_part: bool = False

    @cached_property
    def measured(self) -> tuple[Point, ...]:
        return tuple(point for point in self.points if point.values)

    @cached_property
    def is_open(self) -> bool:
        """Whether more of it may still be measured."""
        return any(each.is_open for point in self.points for each in point.missing)

    @cached_property
    def left_out(self) -> tuple[Point, ...]:
        """Points that the plan left out: what is said of its shape rests on fewer than were asked for."""
        return tuple(point for point in self.points if any(each.is_left_out for each in point.missing))

    @cached_property
    def gains(self) -> dict[str, float]:
        """By value: what each point gained over the measured one before it, as a share; empty for an axis of words."""
        if any(point.at is None for point in self.points):
            return {}
        pairs = [(one.median, other.median, other.value) for one, other in pairwise(self.measured)]
        return {value: now / before - 1 for before, now, value in pairs if before and now is not None}

    @cached_property
    def efficiency(self) -> dict[str, float]:
        """By value: what each worker still gives, as a share of what one gives at the first measured point."""
        each = {point.value: (point.median or 0.0) / point.workers for point in self.measured if point.workers}
        first = next(iter(each.values()), 0.0)
        return {value: share / first for value, share in each.items()} if first else {}

    def knee(self, gain: float) -> Knee | None:
        """Where growing ends; None on an axis of words, and where the last measured point still gained ``gain``."""
        if len(self.measured) < 2 or any(point.at is None for point in self.points):
            return None
        best, later = self.measured[0], list[Point]()
        for point in self.measured[1:]:
            before, now = best.median or 0.0, point.median or 0.0
            if now >= before * (1 + gain) and now > before:
                best, later = point, []
            else:
                later.append(point)
        bound = (best.median or 0.0) * (1 + gain)
        certain = all((point.high or 0.0) < bound for point in later)
        return Knee(best, certain) if later else None


@dataclass(frozen=True)
class Chart:
    """Curves that belong together: one metric of one sweep over its last axis, a curve for each cohort.

    ``labels`` tell it from the other charts of its stage; ``held`` are the axes that stay while ``axis`` varies.
    ``is_summed``: values are sums over what ran at once; ``is_split``: they are parts of what one test gave.
    ``metric`` is empty while nothing was measured at all. ``gain`` is that of the stop rule, None without one.
    """

    stage: str
    probe: str
    axis: str
    metric: str
    unit: Unit | None
    shown: Shown
    curves: tuple[Curve, ...]
    labels: Labels = ()
    held: Labels = ()
    is_summed: bool = False
    is_split: bool = False
    gain: float | None = None

    def find_point(self, value: str) -> Labels:
        """The point of the sweep at ``value``: all its axes with their values."""
        return (*self.held, (self.axis, value))

    @property
    def grows(self) -> bool:
        """Whether more is better, so that a knee is worth naming."""
        return self.unit in RATES

    @property
    def least_gain(self) -> float:
        return GAIN if self.gain is None else self.gain

    @property
    def has_efficiency(self) -> bool:
        """Whether a share for each worker means something: the axis counts what a value adds up over."""
        return self.grows and self.axis in COUNTS and not self.is_split

    def knees(self) -> list[tuple[Curve, Knee | None]]:
        """Each curve with its knee; nothing where more is not better, and of no part of a load."""
        whole = [curve for curve in self.curves if not curve.is_part] if self.grows else []
        return [(curve, curve.knee(self.least_gain)) for curve in whole]

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Everything that a drawing has to have room for."""
        points = [point for curve in self.curves for point in curve.points]
        ends = (end for point in points for end in (point.low, point.high, *point.bounds))
        return tuple(end for end in ends if end is not None)

    @property
    def question(self) -> tuple[object, ...]:
        """The key that this chart and one of another view share where they show the same."""
        return self.stage, self.metric, self.axis, self.held, self.labels

    def is_value_log(self, *, turned: bool = False) -> bool:
        """Whether its values stand on a logarithmic scale: over two decades they do; the other way round if ``turned``.

        Where one is 0 or below the scale is linear.
        """
        known = [number for number in self.numbers if math.isfinite(number)]
        return bool(known) and is_positive(min(known)) and is_wide(min(known), max(known)) is not turned

    def is_axis_log(self, *, turned: bool = False) -> bool:
        """Whether its axis is logarithmic: where values multiply it is; the other way round if ``turned``.

        An axis of words, and one that begins at 0 or below, never is.
        """
        known = [point.at for point in self.curves[0].points if point.at is not None] if self.curves else []
        can_be = 1 < len(known) == len(self.values) and min(known) > 0
        return can_be and is_multiplied(known) is not turned

    def place_values(self, *, turned: bool = False) -> dict[str, float]:
        """Each value of the axis between 0 and 1: by its logarithm where it ``is_axis_log``, side by side for words."""
        points = self.curves[0].points if self.curves else ()
        places = place_points([point.at for point in points], is_log=self.is_axis_log(turned=turned))
        return dict(zip((point.value for point in points), places, strict=True))

    @property
    def values(self) -> tuple[str, ...]:
        return tuple(point.value for point in self.curves[0].points) if self.curves else ()

    @cached_property
    def places(self) -> dict[str, float]:
        """Each value of the axis between 0 and 1, as the rule has it."""
        return self.place_values()


def place_points(numbers: Sequence[float | None], *, is_log: bool | None = None) -> list[float]:
    """Where values stand between 0 and 1, in their order: at logarithms with ``is_log``; None: where they multiply."""
    if len(numbers) < 2:
        return [0.5] * len(numbers)
    known = [number for number in numbers if number is not None]
    if len(known) < len(numbers):
        return [index / (len(numbers) - 1) for index in range(len(numbers))]
    if is_multiplied(known) if is_log is None else is_log:
        known = [math.log(number) for number in known]
    first, last = known[0], known[-1]
    return [(number - first) / (last - first) for number in known] if last > first else [0.5] * len(known)


def is_multiplied(numbers: Sequence[float]) -> bool:
    """Whether rising ``numbers`` grow by factors that are more alike than their steps are."""
    if len(numbers) < 2 or min(numbers) <= 0 or any(after <= before for before, after in pairwise(numbers)):
        return False
    factors = [after / before for before, after in pairwise(numbers)]
    steps = [after - before for before, after in pairwise(numbers)]
    if len(numbers) == 2:
        return factors[0] >= _MULTIPLIES
    return max(factors) / min(factors) < max(steps) / min(steps)


class ValueScale(NamedTuple):
    """How high a value stands, 0 to 1; ``ticks`` are labelled values from the bottom up."""

    low: float
    high: float
    is_log: bool
    ticks: tuple[float, ...]

    def find_height(self, value: float) -> float:
        if self.is_log:
            return math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def make_scale(numbers: Sequence[float], factor: float, *, is_log: bool | None = None) -> ValueScale:
    """A scale that holds ``numbers``: from 0 to a round number of ``factor``, or by decades of it with ``is_log``.

    Where that is None they stand by decades over two of these and more. A number of 0 or below allows none.
    """
    known = [number for number in numbers if math.isfinite(number)]
    top, least = max(known, default=0.0), min(known, default=0.0)
    if is_positive(least) and (is_wide(least, top) if is_log is None else is_log):
        first, last = math.floor(math.log10(least / factor) + 1e-9), math.ceil(math.log10(top / factor) - 1e-9)
        last = max(last, first + 1)
        powers = [10.0**power for power in range(first, last + 1)]
        ticks = powers if last > first + 1 else list_round_numbers(powers[0], powers[1], _TICKS_OF_DECADE)
        return ValueScale(10.0**first * factor, 10.0**last * factor, True, tuple(tick * factor for tick in ticks))
    high = _round_up(top / factor) * factor if top > 0 else factor
    low = 0.0 if least >= 0 else -_round_up(-least / factor) * factor
    return ValueScale(low, high, False, (low, (low + high) / 2, high))


def _round_up(number: float) -> float:
    """The next of 1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8 times a power of ten that is not below ``number``."""
    power = 10.0 ** math.floor(math.log10(number))
    steps = (1.0, 1.2, 1.6, 2.0, 2.4, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
    return next(step for step in steps if step * power >= number * (1 - 1e-9)) * power
