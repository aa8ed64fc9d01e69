"""Sweeps: their points, in which order these run, what they are called, their labels, and the early end.

The early end is decided by closed rounds alone: a resumed session ends where the first would have. A rule looks along
the last axis, with the others held. A point counts once all its rounds are closed; a point with a test that gave no
number is no evidence for either side and is passed over.
"""

import itertools
import random
import shlex
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchconsole.probes.api import Probe
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import (
    FailedAt,
    Failure,
    Labels,
    LeftOutPoint,
    Result,
    Round,
    SetValue,
    Swept,
    Target,
    TestOutcome,
)
from benchconsole.probes.model.plausible_numbers import find_implausible
from benchconsole.probes.planning.design_options import Options
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.cohorts import name_cohort
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.model.sweep import CLIENTS, Ending, Order, Sweep, Value
from benchconsole.topology.selection import fold
from benchconsole.topology.units import RATES, counted, percent

REPETITION = "repetition"
"""The label that tells repetitions of one point apart, so that none hides another."""

Point = tuple[tuple[str, Value], ...]
"""Axes and values, in the order of the file."""


@dataclass(frozen=True, slots=True)
class SweepTurn:
    """One repetition of one point."""

    point: Point
    repetition: int

    def options(self, probe: Options, sweep: Sweep) -> Options:
        """Options of the point for the probe; ``clients`` only where that is an option of its own, and no step."""
        steps = {step.axis for step in sweep.steps}
        options = ((name, value) for name, value in self.point if name not in steps)
        return {name: value for name, value in options if name != CLIENTS or CLIENTS in probe}

    def clients(self, probe: Options) -> int | None:
        """How many nodes or flows run at once; None where the sweep does not say so."""
        found = dict(self.point).get(CLIENTS) if CLIENTS not in probe else None
        return None if found is None else int(found)


def list_turns(sweep: Sweep) -> Iterator[SweepTurn]:
    """Every repetition of every point, in the order in which they run.

    Points upward or downward with their repetitions one after the other; shuffled, each repetition goes
    through all points in an order of its own, so that what drifts meanwhile meets all alike.
    """
    points: list[Point] = [
        tuple(zip((axis.name for axis in sweep.axes), values, strict=True))
        for values in itertools.product(*(axis.values for axis in sweep.axes))
    ]
    if sweep.order is Order.SHUFFLED:
        chance = random.Random(sweep.seed)  # noqa: S311 - no secret
        for repetition in range(1, sweep.repeat + 1):
            yield from (SweepTurn(point, repetition) for point in chance.sample(points, len(points)))
        return
    for point in points if sweep.order is Order.UP else reversed(points):
        yield from (SweepTurn(point, repetition) for repetition in range(1, sweep.repeat + 1))


def label_point(point: Point) -> Labels:
    """A point as rounds and results carry it."""
    return tuple((name, str(value)) for name, value in point)


def make_swept(sweep: Sweep, turn: SweepTurn, first: int, left_out: Sequence[LeftOutPoint] = ()) -> Swept:
    """The sweep data for the rounds of one turn; ``first`` is the number of the first round of the sweep.

    ``left_out`` are points that are not planned.
    """
    order = f"shuffled with seed {sweep.seed}" if sweep.order is Order.SHUFFLED else sweep.order.value
    values = dict(turn.point)
    steps = tuple(
        SetValue(
            step.axis, str(values[step.axis]), step.make_command(values[step.axis]), step.undo, fold(step.nodes),
            step.sudo, step.timeout,
        )
        for step in sweep.steps
    )  # fmt: skip
    point = label_point(turn.point)
    return Swept(first, point, turn.repetition, sweep.repeat, order, sweep.ending, steps, tuple(left_out))


def format_steps(found: Swept) -> str:
    """The commands on nodes before a point, for the plan: ``ip link set eth0 txqueuelen 500 on n[1-4]``."""
    return "; ".join(f"set by {shlex.join(each.run)} on {each.nodes}" for each in found.steps)


def format_point(found: Swept) -> str:
    """A point with its repetition: ``tasks=4 block=1 MiB, 2 of 3``."""
    times = f"{found.repetition} of {found.repeat}" if found.repeat > 1 else ""
    return ", ".join(filter(None, (_join_values(found), times)))


def _join_values(found: Swept) -> str:
    return " ".join(f"{name}={value}" for name, value in found.point)


def format_stage_name(base: str, sweep: Sweep) -> str:
    """The name of all rounds of a sweep together."""
    axes = ", ".join(axis.name for axis in sweep.axes)
    return f"{base} over {axes}" if axes else f"{base} repeated"


# -- labels


def label_tests(rounds: Sequence[Round], phase: Mapping[str, str]) -> tuple[Round, ...]:
    """``rounds`` with the labels of their tests: cohorts of nodes, those of the session (``phase``), the point."""
    made: dict[tuple[NodeId, ...], dict[str, str]] = {}

    def find_cohorts(target: Target) -> dict[str, str]:
        key = tuple(node.id for node in target.nodes)
        if key not in made:
            cohorts = [dict(node.cohorts) for node in target.nodes]
            named = {
                name: name_cohort([own.get(name) for own in cohorts], ordered=target.peer is not None)
                for name in dict.fromkeys(name for own in cohorts for name in own)
            }
            made[key] = {name: value for name, value in named.items() if value is not None}
        return made[key]

    found = []
    for each in rounds:
        common = {**phase, **dict(each.swept.point if each.swept is not None else ())}
        if each.swept is not None and each.swept.repeat > 1:
            common[REPETITION] = str(each.swept.repetition)
        if common or any(node.cohorts for test in each.tests for node in test.target.nodes):
            tests = []
            for test in each.tests:
                labels = tuple(sorted({**find_cohorts(test.target), **common}.items()))
                tests.append(replace(test, target=replace(test.target, labels=labels)))
            each = replace(each, tests=tuple(tests))  # noqa: PLW2901 - the round with its labels
        found.append(each)
    return tuple(found)


# -- the early end


Totals = Mapping[Labels, float]
"""A metric at one point, by labels."""


def find_throughput_metric(probe: Probe) -> str:
    """The first metric of ``probe`` that is a throughput: bytes, else operations, in a second; empty without one."""
    found = [metric for metric in probe.metrics if metric.unit in RATES]
    return min(found, key=lambda metric: RATES.index(metric.unit)).name if found else ""


def make_skipped_results(each: Round, why: str) -> tuple[Result, ...]:
    """The results of a round that is not run."""
    return tuple(Result(test, failure=Failure(FailedAt.SKIPPED, why, test.target.node.id)) for test in each.tests)


def was_skipped(result: Result) -> bool:
    """Whether a rule spared this test."""
    return result.failure is not None and result.failure.stage is FailedAt.SKIPPED


@dataclass(slots=True)
class SweepEndings:
    """The sweeps of one plan with what is known of them. ``add_round`` every closed round, then ask ``find_reason``."""

    plan: Sequence[Round]
    probes: Mapping[str, Probe]
    _closed: dict[int, ClosedRound] = field(default_factory=dict)
    _lines: dict[tuple[int, Labels], list[Round]] = field(init=False)
    _needless: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        swept = ((each.swept, each) for each in self.plan)
        self._lines = group_by_key((_line(at), each) for at, each in swept if at is not None and at.ending is not None)

    def add_round(self, closed: ClosedRound) -> str:
        """Take in a closed round; what has ended with it, in words, empty where nothing has."""
        self._closed[closed.round.number] = closed
        swept = closed.round.swept
        line = self._lines.get(_line(swept), []) if swept is not None else []
        if swept is None or swept.ending is None or not self._needless.keys().isdisjoint(each.number for each in line):
            return ""
        points = list(group_by_key((_point(each), each) for each in line).values())  # in the order of their first run
        place, because = self._failed(closed.round, swept.ending, points) or self._flat(points, swept.ending)
        later = [each for point in points[place:] for each in point if each.number not in self._closed]
        self._needless.update((each.number, because) for each in later)
        return f"{closed.round.stage}: {because}; {counted(len(later), 'round')} not needed any more" if later else ""

    def find_reason(self, each: Round) -> str:
        """Why a round need not be run any more; empty where it must."""
        return self._needless.get(each.number, "")

    def _failed(self, each: Round, ending: Ending, points: Sequence[Sequence[Round]]) -> tuple[int, str] | None:
        """From which point on nothing is needed because of a failure in this round, and why; None without one."""
        for result in self._closed[each.number].results if ending.on_failure and each.swept is not None else ():
            failure = result.failure
            if failure is not None and failure.stage.outcome is TestOutcome.FAILED:
                place = next(index for index, point in enumerate(points) if _point(point[0]) == _point(each))
                return place, f"ended by a failure at {_point(each)}: {failure.stage} on {failure.node}"
        return None

    def _flat(self, points: Sequence[Sequence[Round]], ending: Ending) -> tuple[int, str]:
        """The same because nothing is gained any more; the number of all points where that is not so."""
        best: Totals = {}
        at, without = "", 0
        for place, point in enumerate(points if ending.gain is not None else ()):
            if any(each.number not in self._closed for each in point):
                break
            metric = ending.metric or find_throughput_metric(self.probes[point[0].probe])
            found = self._totals(point, metric)
            if found and (not best or _gained(best, found, ending.gain or 0.0)):
                best, at, without = found, _point(point[0]), 0
            elif found:
                without += 1
            if without >= ending.after:
                lack = f"{metric} gained less than {percent(ending.gain or 0.0)} since {at}"
                return place + 1, f"ended at {_point(point[0])}: {lack}"
        return len(points), ""

    def _totals(self, point: Sequence[Round], metric: str) -> Totals:
        """The metric at a point by labels: summed over tests, the median of repetitions.

        Empty where a test lacks it, or has a number of it that cannot be right.
        """
        sums: defaultdict[Labels, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
        for each in point:
            turn = each.swept.repetition if each.swept is not None else 1
            for result in self._closed[each.number].results:
                numbers = [found for found in result.measurements if found.metric == metric]
                if result.failure is not None or any(find_implausible(found.value) for found in numbers):
                    return {}
                for found in numbers:
                    sums[found.labels][turn] += found.value
        repetitions = group_by_key(
            (tuple(pair for pair in labels if pair != (REPETITION, str(turn))), value)
            for labels, times in sums.items()
            for turn, value in times.items()
        )
        return {labels: median(values) for labels, values in repetitions.items()}


def _gained(best: Totals, found: Totals, gain: float) -> bool:
    """Whether anything grew by that share, of what both have: labels whose values differ throughout are summed over."""
    before_values, values = (group_by_key(pair for labels in each for pair in labels) for each in (best, found))
    alike = [name for name in values if set(before_values.get(name, ())) == set(values[name])]
    before, now = _over(best, alike), _over(found, alike)
    return any(value >= before[key] * (1 + gain) and value > before[key] for key, value in now.items() if key in before)


def _over(found: Totals, names: Sequence[str]) -> Totals:
    """``found`` by the labels ``names`` only, summed over all others."""
    sums: defaultdict[Labels, float] = defaultdict(float)
    for labels, value in found.items():
        sums[tuple(pair for pair in labels if pair[0] in names)] += value
    return sums


def _line(found: Swept) -> tuple[int, Labels]:
    """The sweep, and the point without its last axis."""
    return found.sweep, found.point[:-1]


def _point(each: Round) -> str:
    return _join_values(each.swept) if each.swept is not None else ""
