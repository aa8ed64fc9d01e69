"""The plotted numbers of a metric: every one that counts, with its test, its moment and its verdict. Pure."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from benchconsole.console.conclusions.metric_samples import (
    MetricSample,
    SampleKey,
    list_samples,
    make_key_finder,
    read_numbers,
)
from benchconsole.console.conclusions.session_comparison import ComparedMetric
from benchconsole.console.conclusions.statistic_lines import name_class
from benchconsole.console.view.result_rows import ResultRow, list_current_rows
from benchconsole.console.view.run_view import RunView, State, share_result
from benchconsole.probes.model.judgement import Level, Yardstick
from benchconsole.probes.model.measuring import Labels, Test
from benchconsole.probes.model.plausible_numbers import MOST
from benchconsole.probes.statistics.log_scale import is_positive, is_wide
from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Basis, Comparator
from benchconsole.topology.units import RATES, Shown, Unit

FEWEST = 2
"""Of fewer numbers there is nothing to draw."""

_DIGITS = 6
"""Bounds that agree in so many digits are one bound."""


class PlotBounds(NamedTuple):
    """The bounds that numbers were held against, each by itself, in their unit.

    ``required``, ``target`` and ``expected`` are those of all that were judged; None where there is none, and where
    they differ. ``different`` counts the required numbers, ``lowest`` and ``highest`` are their ends where there are
    several. ``comparator`` tells which side of the bound is good; None where either may be.
    """

    required: float | None = None
    target: float | None = None
    expected: float | None = None
    different: int = 0
    lowest: float = 0.0
    highest: float = 0.0
    comparator: Comparator | None = None


@dataclass(frozen=True, eq=False)
class PlottedMetric:
    """The numbers of one metric of one stage, in the unit of ``key``, in the order of their results.

    Of each number: its ``tests``, the ``ids`` of measurements and ``moments`` (UTC seconds, NaN where none is known).
    ``alone`` are the verdicts on one number, by its id, the worst first; ``summed`` those on a sum that it is a part
    of. ``told`` are the labels that tell it from the other metrics of its name and stage. ``left_out`` counts numbers
    of ``MOST`` and more, which would squeeze the others.
    """

    key: SampleKey
    shown: Shown
    values: Floats
    tests: Sequence[Test]
    ids: Sequence[str]
    moments: Floats
    alone: Mapping[str, Sequence[ResultRow]]
    summed: Mapping[str, Sequence[ResultRow]]
    bounds: PlotBounds
    told: Labels = ()
    left_out: int = 0

    @cached_property
    def order(self) -> Indices:
        """The places of all numbers, the lowest first."""
        return np.argsort(self.values, kind="stable")

    @cached_property
    def in_order(self) -> Floats:
        """All numbers, the lowest first."""
        return self.values[self.order]

    @cached_property
    def by_time(self) -> Indices:
        """The places of the numbers whose moment is known, the earliest first."""
        known = np.flatnonzero(np.isfinite(self.moments))
        return known[np.argsort(self.moments[known], kind="stable")]

    @cached_property
    def states(self) -> Sequence[State]:
        """The state of each number by itself; not judged where only a sum that it is a part of was."""
        return [self.alone[name][0].state if name in self.alone else State.MEASURED for name in self.ids]

    @cached_property
    def ranks(self) -> Indices:
        """The rank of the state of each number, 0 for the worst."""
        return np.fromiter((state.rank for state in self.states), np.intp, len(self.ids))

    @cached_property
    def levels(self) -> Sequence[Level | None]:
        """The worst level of each number by itself, whatever explains it; None where nothing judged it."""
        return [_find_worst_level(self.alone.get(name, ())) for name in self.ids]

    @cached_property
    def failing(self) -> Indices:
        """The places of the numbers that fail by themselves."""
        return np.array([place for place, level in enumerate(self.levels) if level is Level.FAIL], np.intp)

    @cached_property
    def judged(self) -> int:
        """How many numbers were held against a bound by themselves."""
        return sum(level in (Level.PASS, Level.WATCH, Level.FAIL) for level in self.levels)

    @cached_property
    def parts_of_sums(self) -> int:
        """How many numbers were judged as parts of sums alone."""
        return sum(name in self.summed and name not in self.alone for name in self.ids)

    def find_share(self, value: float) -> float:
        """The share of all numbers that are at or below ``value``."""
        return float(np.searchsorted(self.in_order, value, "right")) / len(self.values)

    def find_quantile(self, share: float) -> float:
        """The value that ``share`` of all numbers are not above, as ``statistics.summary`` has it."""
        at = share * (len(self.values) - 1)
        low, high = self.in_order[math.floor(at)], self.in_order[math.ceil(at)]
        return float(low + (high - low) * (at - math.floor(at)))

    def find_test(self, test: str) -> int | None:
        """The place of the first number of a test."""
        return next((place for place, each in enumerate(self.tests) if each.id == test), None)


def _find_worst_level(rows: Iterable[ResultRow]) -> Level | None:
    return max((row.verdict.level for row in rows if row.verdict), key=lambda level: level.severity, default=None)


@dataclass(frozen=True, eq=False)
class Plot:
    """One picture: a metric of a session, or of the two sessions ``names`` that are compared.

    ``classes`` are the places of the numbers of each class of nodes, where there are several. ``started`` is when the
    run began, ``busy`` are the beginnings and ends of its rounds (UTC seconds).
    """

    sides: tuple[PlottedMetric, ...]
    names: tuple[str, ...] = ("",)
    classes: Mapping[str, Indices] | None = None
    started: float = 0.0
    busy: Sequence[tuple[float, float]] = ()

    @property
    def first(self) -> PlottedMetric:
        return self.sides[0]

    @property
    def can_be_drawn(self) -> bool:
        """Whether each side has values enough."""
        return all(len(side.values) >= FEWEST for side in self.sides)

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value of all sides."""
        return min(float(side.in_order[0]) for side in self.sides), max(float(side.in_order[-1]) for side in self.sides)

    def is_log(self, *, turned: bool = False) -> bool:
        """Whether its values stand on a logarithmic axis: over two decades they do; the other way round if ``turned``.

        Where one is 0 or below the axis is linear.
        """
        return is_positive(self.ends[0]) and is_wide(*self.ends) is not turned

    @property
    def question(self) -> tuple[object, ...]:
        """The key that this picture and one of a later view share where they show the same."""
        return self.first.key, self.names

    @cached_property
    def starts(self) -> Sequence[int]:
        """The number of the first value of each side, where all are counted through."""
        return [sum(len(side.values) for side in self.sides[:place]) for place in range(len(self.sides))]

    @cached_property
    def order(self) -> Indices:
        """The numbers of the values of all sides, the lowest first."""
        if len(self.sides) == 1:
            return self.first.order
        return np.argsort(np.concatenate([side.values for side in self.sides]), kind="stable")

    def find(self, number: int) -> tuple[int, int]:
        """The side of a value, and its place there."""
        side = max(place for place, start in enumerate(self.starts) if start <= number)
        return side, number - self.starts[side]


# -- of a session


@share_result
def list_plots(view: RunView) -> tuple[Plot, ...]:
    """A picture of every metric of a session, stage by stage of its plan; statistics that were typed are no values.

    Those of one number are among them, and cannot be drawn.
    """
    alone, summed = _find_verdicts(view)
    shown = {sample.key: sample.shown for sample in list_samples(view) if not sample.statistic}
    numbers = _group_numbers(view)
    told = _find_told(shown)
    name = name_class(view.fabric)
    busy = sorted(view.closed.values())
    if view.current is not None:
        busy.append((view.current_started, math.inf))
    plots = []
    for key in (each for each in shown if each in numbers):
        found, left_out = numbers[key]
        if not found:
            continue
        held = {each.id: alone[each.id] for each in found if each.id in alone}
        metric = PlottedMetric(
            key, _find_shown(shown[key], key, found[0].test), np.array([each.value for each in found]),
            [each.test for each in found], [each.id for each in found],
            np.array([each.at or np.nan for each in found]), held, summed,
            find_bounds(view, key, [row for rows in held.values() for row in rows]), told[key], left_out,
        )  # fmt: skip
        plots.append(Plot((metric,), ("",), part_by_class(metric.tests, name), view.started, busy))
    return tuple(plots)


def _find_shown(shown: Shown, key: SampleKey, test: Test) -> Shown:
    """As verdicts show it; else rates between nodes are those of a network."""
    is_open = shown is Shown.PLAIN and key.unit is Unit.BYTE_RATE and test.target.peer is not None
    return Shown.NETWORK if is_open else shown


class _Number(NamedTuple):
    value: float
    test: Test
    id: str
    at: float


def _group_numbers(view: RunView) -> dict[SampleKey, tuple[list[_Number], int]]:
    """The numbers of each sample that can be drawn, and how many cannot."""
    find_key = make_key_finder(view)
    keys: dict[tuple[int, SampleKey], SampleKey] = {}
    found: dict[SampleKey, list[_Number]] = {}
    for result, reading in read_numbers(view):
        test = result.test
        own = (test.round, SampleKey("", test.probe, reading.metric, reading.unit, reading.labels))
        if own not in keys:
            keys[own] = find_key(*own)
        found.setdefault(keys[own], []).append(_Number(reading.value, test, reading.id, reading.at))
    drawn = {key: [each for each in own if abs(each.value) < MOST] for key, own in found.items()}
    return {key: (own, len(found[key]) - len(own)) for key, own in drawn.items()}


def _find_verdicts(view: RunView) -> tuple[Mapping[str, list[ResultRow]], Mapping[str, list[ResultRow]]]:
    """The verdicts on one number by its id, and those on sums by the ids of their parts; the worst first."""
    rows = sorted((row for row in list_current_rows(view) if row.verdict), key=lambda row: row.state.rank)
    told = [(row, row.verdict.evidence) for row in rows if row.verdict is not None]
    alone = group_by_key((names[0], row) for row, names in told if len(names) == 1)
    return alone, group_by_key((name, row) for row, names in told if len(names) > 1 for name in names)


def find_bounds(view: RunView, key: SampleKey, rows: Iterable[ResultRow]) -> PlotBounds:
    """The bounds of the verdicts ``rows``, each on one number of a metric."""
    held = [row.verdict for row in rows if row.verdict is not None]
    required = _list_different(each.required for each in held)
    expected = _list_different(each.expected for each in held if each.kind is Yardstick.CAPACITY)
    asked = [each for each in view.fabric.criteria if each.metric == key.metric and not each.is_of_session]
    sides = {each.comparator for each in asked}
    comparator = sides.pop() if len(sides) == 1 else None if sides else _COMPARATORS.get(key.unit)
    one = required[0] if len(required) == 1 else None
    targets = _list_different(
        each.target for each in asked if each.basis is Basis.ABSOLUTE and _list_different([each.required]) == required
    )
    return PlotBounds(
        one,
        targets[0] if one is not None and len(targets) == 1 else None,
        expected[0] if len(expected) == 1 else None,
        len(required), min(required, default=0.0), max(required, default=0.0), comparator,
    )  # fmt: skip


_COMPARATORS = {Unit.SECOND: Comparator.AT_MOST, **dict.fromkeys(RATES, Comparator.AT_LEAST)}
"""The side that is good where no criterion tells, by unit."""


def _list_different(numbers: Iterable[float | None]) -> list[float]:
    """The numbers that differ in their first digits, each once."""
    known = {number for number in numbers if number is not None and np.isfinite(number)}
    return sorted({float(f"{number:.{_DIGITS}g}") for number in known})


def _find_told(keys: Iterable[SampleKey]) -> dict[SampleKey, Labels]:
    """The labels of each that not all of the same metric and stage have."""
    told: dict[SampleKey, Labels] = {}
    for own in group_by_key(((key.stage, key.metric), key) for key in keys).values():
        common = set(own[0].labels).intersection(*(each.labels for each in own))
        told |= {key: tuple(pair for pair in key.labels if pair not in common) for key in own}
    return told


def part_by_class(tests: Sequence[Test], name: Callable[[Test], str]) -> Mapping[str, Indices] | None:
    """The places of the tests on nodes of each class, and of those on none of them; None where there is only one."""
    parts = group_by_key((name(test), place) for place, test in enumerate(tests))
    return {part: np.array(places, np.intp) for part, places in parts.items()} if len(parts) > 1 else None


class ClassNumbers(NamedTuple):
    """The values of one class of nodes, whose name is empty where nodes are of several.

    ``quartiles`` are the lowest, those of a quarter, a half and three quarters, and the highest. ``deviation`` is the
    sample standard deviation, None of one value.
    """

    name: str
    number: int
    mean: float
    deviation: float | None
    quartiles: tuple[float, ...]

    @property
    def median(self) -> float:
        return self.quartiles[2]


def list_classes(plot: Plot) -> list[ClassNumbers]:
    """The values of each class; none where all nodes are of one."""
    return [
        _count_class(name, plot.first.values[places]) for name, places in (plot.classes or {}).items() if len(places)
    ]


def _count_class(name: str, values: Floats) -> ClassNumbers:
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    quartiles = tuple(np.quantile(values, (0.0, 0.25, 0.5, 0.75, 1.0)).tolist())
    return ClassNumbers(name, len(values), float(values.mean()), deviation, quartiles)


# -- of two sessions


def pair_plots(metrics: Iterable[ComparedMetric], names: tuple[str, str]) -> Iterator[Plot]:
    """A picture of both sessions for each metric whose numbers were compared."""
    for each in metrics:
        if len(each.samples) == len(names):
            yield Plot(tuple(_take_sample(sample, each.labels) for sample in each.samples), names)


def _take_sample(sample: MetricSample, labels: Labels) -> PlottedMetric:
    """The numbers of a sample without verdicts: these are of its session, and are not read for a comparison."""
    number = len(sample.tests)
    return PlottedMetric(
        sample.key, sample.shown, sample.values, sample.tests, [""] * number, np.full(number, np.nan), {}, {},
        PlotBounds(), labels, sample.left_out,
    )  # fmt: skip
