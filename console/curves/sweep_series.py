"""The curves of a session: from its plan and its closed rounds, each round read once.

``ChartCache().compute(view)`` gives the charts; asked again for a later view of the same session it looks only at
rounds that are new or repeated, and does nothing where no round is. A test that was repeated counts once,
with its newest result. ``console.curves.curve_model`` says what a curve means.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from benchconsole.console.curves.chart_joining import join_charts
from benchconsole.console.curves.curve_model import Chart, Curve, Missing, Point
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.round_cache import RoundCache
from benchconsole.console.view.run_view import RunView, State, state_of, state_of_failure, worst
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.labels import ASKED, CHOSEN
from benchconsole.probes.model.measuring import Labels, LeftOutPoint, Round, Swept
from benchconsole.probes.model.plausible_numbers import find_implausible
from benchconsole.probes.planning.sweeps import REPETITION
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.sweep import CLIENTS, parse_number, sort_values
from benchconsole.topology.units import RATES, Shown, Unit

_RUNNING, _WAITING = _OPEN = ("running", "not run yet")
"""Why a test gave no number that may still give one."""


class NumberKey(NamedTuple):
    """The key of some numbers of one round: cohort, metric, and what the parser said of them."""

    cohort: Labels
    metric: str
    unit: Unit
    labels: Labels


@dataclass(slots=True)
class SweepRound:
    """One round of a sweep: tests of each cohort, what they gave by measurement, why others gave nothing.

    ``wrong`` are the tests of which a number cannot be right: it is none of the ``numbers``.
    """

    planned: dict[Labels, set[str]] = field(default_factory=dict)
    missing: dict[Labels, Counter[tuple[State, str]]] = field(default_factory=dict)
    numbers: dict[NumberKey, dict[str, tuple[str, float]]] = field(default_factory=dict)
    wrong: dict[NumberKey, set[str]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)


def is_swept(view: RunView) -> bool:
    """Whether the plan of this session varies anything."""
    return any(each.swept is not None and each.swept.point for each in view.plan)


class ChartCache:
    """The charts of the views of one session after the other. Not for several threads at once."""

    def __init__(self) -> None:
        self._cache = RoundCache(read_sweep_round)
        self._rounds: Mapping[int, SweepRound] = {}
        self._charts: tuple[Chart, ...] = ()

    def compute(self, view: RunView) -> tuple[Chart, ...]:
        """The charts of ``view`` in the order of its plan; the same ones where nothing of them is new."""
        swept = [(each, each.swept) for each in view.plan if each.swept is not None and each.swept.point]
        known, self._rounds = self._rounds, self._cache.update(view, [each for each, _ in swept])
        if known.keys() == self._rounds.keys() and all(known[key] is content for key, content in self._rounds.items()):
            return self._charts
        lines = group_by_key(
            ((where.sweep, where.point[:-1]), (each, where, self._rounds[each.number])) for each, where in swept
        )
        self._charts = join_charts(chart for line in lines.values() for chart in make_charts(line))
        return self._charts


def read_sweep_round(view: RunView, each: Round) -> SweepRound:
    """The plan and the numbers of one round of a sweep; a test that a later one repeats is left to that one."""
    made = SweepRound()
    axes = {name for name, _ in each.swept.point} if each.swept is not None else set()
    point = frozenset((REPETITION, *axes, *(f"{ASKED}{name}" for name in axes)))

    @cache
    def find_cohort(labels: Labels) -> Labels:
        """The labels of a test that are neither its point nor its repetition."""
        return _drop_labels(labels, frozenset((REPETITION, *axes)))

    @cache
    def select_labels(labels: Labels, cohort: Labels) -> Labels:
        """The labels that the parser itself gave, in its own words, without those that name the point."""
        return _drop_labels(labels, point.union(dict(cohort)))

    for test in each.tests:
        if test.id in view.replaced or (test.id in view.repeats and test.id not in view.results):
            continue
        cohort = find_cohort(test.target.labels)
        made.planned.setdefault(cohort, set()).add(test.id)
        result = view.results.get(test.id)
        if result is None or result.failure is not None:
            why = _explain_open(view, each) if result is None or result.failure is None else (
                state_of_failure(result.failure.stage),
                sanitize(": ".join(filter(None, (result.failure.stage.value, result.failure.detail)))),
            )  # fmt: skip
            made.missing.setdefault(cohort, Counter())[why] += 1
            continue
        for reading in result.measurements:
            key = NumberKey(cohort, reading.metric, reading.unit, select_labels(reading.labels, cohort))
            known = made.numbers.setdefault(key, {})
            if find_implausible(reading.value):
                made.wrong.setdefault(key, set()).add(test.id)
            else:
                known[reading.id] = (test.id, reading.value)
        made.verdicts += (verdict for verdict in view.verdicts.get(test.id, ()) if verdict.value is not None)
    return made


def _explain_open(view: RunView, each: Round) -> tuple[State, str]:
    if view.current is not None and view.current.number == each.number:
        return State.RUNNING, _RUNNING
    words = _WAITING if view.ended is None else f"not run: {sanitize(view.because)}" if view.because else "not run"
    return State.SKIPPED, words


# -- charts

SweepLine = Sequence[tuple[Round, Swept, SweepRound]]
"""The rounds of one sweep with all axes but the last held."""


def make_charts(line: SweepLine) -> Iterator[Chart]:
    """The charts of one line of a sweep; one without a metric while there is no number at all."""
    common = _ChartMaker(line, next((where.ending.gain for _, where, _ in line if where.ending is not None), None))
    metrics = dict.fromkeys((key.metric, key.unit) for *_, found in line for key in found.numbers)
    for metric, unit in metrics:
        names = _find_numbering(line, metric)
        names |= _find_following(line, metric, names)
        every = dict.fromkeys(
            _drop_labels(key.labels, names) for *_, found in line for key in found.numbers if key.metric == metric
        )
        telling = _find_telling(every)
        for labels in every:
            yield common.chart((metric, unit), labels, (names, telling))
    if not metrics:
        yield common.chart(("", None), (), (frozenset(), frozenset()))


@dataclass(frozen=True, slots=True)
class _ChartMaker:
    """The maker of all charts of one line of a sweep."""

    line: SweepLine
    gain: float | None

    def chart(
        self, metric: tuple[str, Unit | None], labels: Labels, names: tuple[frozenset[str], frozenset[str]]
    ) -> Chart:
        """One metric with one set of labels; of ``names`` the first are pooled, the second told."""
        first, where, _ = self.line[0]
        axis = where.point[-1][0]
        is_load = axis == CLIENTS and not any(CLIENTS in test.target.options for test in first.tests)
        is_load |= any(test.bundle and test.target.peer is None for test in first.tests)
        is_summed = is_load and metric[1] in RATES
        cohorts = tuple(dict.fromkeys(cohort for *_, found in self.line for cohort in found.planned))
        parts = [(each,) for each in cohorts] if len(cohorts) > 1 else []
        groups = [cohorts, *parts] if is_summed or not parts else parts
        by_value = self._by_value()
        curves = []
        is_split = False
        for group in groups:
            made = [
                self._point(value, rounds, CurveSelection(group, metric[0], labels, names[0], is_summed))
                if rounds
                else self._make_left_out(value, is_whole=group is cohorts, is_part=is_summed and group is not cohorts)
                for value, rounds in by_value.items()
            ]
            is_split |= any(len(each.values) > each.tests for each in made) and not is_summed
            is_part = is_summed and group is not cohorts
            curves.append(Curve(group[0] if group is not cohorts else (), tuple(made), is_part))
        return Chart(
            stage=first.stage,
            probe=first.probe,
            axis=axis,
            metric=metric[0],
            unit=metric[1],
            shown=self._shown(metric),
            curves=tuple(curves),
            labels=tuple(pair for pair in labels if pair[0] in names[1]),
            held=where.point[:-1],
            is_summed=is_summed,
            is_split=is_split,
            gain=self.gain,
        )

    def _by_value(self) -> dict[str, SweepLine]:
        """The rounds at each value of the axis; none at those that the plan left out."""
        planned = group_by_key((entry[1].point[-1][1], entry) for entry in self.line)
        found: dict[str, SweepLine] = {**planned, **dict.fromkeys(self._find_left_out(), ())}
        return {value: found[value] for value in sort_values(tuple(found)) or found}

    def _find_left_out(self) -> dict[str, LeftOutPoint]:
        """The points of this line that the plan left out, by the value of the axis."""
        where = self.line[0][1]
        return {each.point[-1][1]: each for each in where.left_out if each.point[:-1] == where.point[:-1]}

    def _make_left_out(self, value: str, *, is_whole: bool, is_part: bool) -> Point:
        """A point that the plan left out, with the reason, which counts its tests where the curve ``is_whole``.

        Of a part of a load it is not known whether it would have taken part.
        """
        number, left = parse_number(value), self._find_left_out()[value]
        point = Point(sanitize(value), None if number is None else number[0])
        if is_part:
            return point
        tests = left.tests * self.line[0][1].repeat if is_whole else 0
        why = f"skipped: the limit is --tests-at-once {left.most:,}"
        return replace(point, missing=(Missing(State.HELD, why, tests, is_left_out=True),))

    def _shown(self, metric: tuple[str, Unit | None]) -> Shown:
        """As verdicts on the metric show it; else rates between nodes are those of a network."""
        for *_, found in self.line:
            for verdict in found.verdicts:
                if verdict.metric == metric[0]:
                    return verdict.shown
        between = any(test.target.peer is not None for test in self.line[0][0].tests)
        return Shown.NETWORK if between and metric[1] is Unit.BYTE_RATE else Shown.PLAIN

    def _point(self, value: str, rounds: SweepLine, wanted: "CurveSelection") -> Point:
        turns = group_by_key((where.repetition, found) for _, where, found in rounds)
        got = [wanted.turn(turn) for turn in turns.values()]
        number = parse_number(value)
        planned = [turn.planned for turn in got if turn.planned]
        counts_tests = wanted.is_summed and rounds[0][1].point[-1][0] == CLIENTS
        members = any(test.target.members for each, *_ in rounds for test in each.tests)
        at = None if number is None else number[0]
        judged = [each for turn in got for each in turn.judged]
        bounds = {bound for each in judged if (bound := each.required if each.required is not None else each.expected)}
        return Point(
            value=sanitize(value),
            at=at,
            values=tuple(number for turn in got for number in turn.values),
            repetitions=sum(bool(turn.values) for turn in got),
            of=len(planned),
            tests=sum(turn.tests for turn in got),
            planned=sum(planned),
            workers=float(max(planned, default=1)) if counts_tests and not members else 1.0 if at is None else at,
            missing=_list_missing(got, [found for turn in turns.values() for found in turn], wanted.cohorts),
            bounds=tuple(sorted(bounds)),
            state=worst(map(state_of, judged)) if judged else None,
        )


class PointRepetition(NamedTuple):
    """One repetition of a point: its numbers, tests that gave one, tests planned, verdicts over these numbers.

    ``wrong`` tests gave none but such as cannot be right; ``partial`` gave one that makes no sum without the others.
    """

    values: tuple[float, ...]
    tests: int
    planned: int
    judged: tuple[Verdict, ...]
    wrong: int = 0
    partial: int = 0


class CurveSelection(NamedTuple):
    """The numbers that one curve takes from each round; the ``pooled`` labels are no part of ``labels``."""

    cohorts: tuple[Labels, ...]
    metric: str
    labels: Labels
    pooled: frozenset[str]
    is_summed: bool

    def turn(self, rounds: Sequence[SweepRound]) -> PointRepetition:
        """One repetition; a load of which a test gave no number has no sum."""
        numbers = {measurement: number for each in rounds for measurement, number in self._numbers(each)}
        planned = {test for each in rounds for cohort in self.cohorts for test in each.planned.get(cohort, ())}
        tests = {test for test, _ in numbers.values()}
        wrong = {test for each in rounds for key in self._find_keys(each) for test in each.wrong.get(key, ())}
        judged = [each for found in rounds for each in found.verdicts if each.metric == self.metric]
        if not self.is_summed:
            alone = (each for each in judged if len(each.evidence) == 1 and each.evidence[0] in numbers)
            values = tuple(value for _, value in numbers.values())
            return PointRepetition(values, len(tests), len(planned), tuple(alone), len(wrong - tests))
        if wrong or not numbers or tests != planned:
            return PointRepetition((), len(tests - wrong), len(planned), (), len(wrong), len(tests - wrong))
        whole = (each for each in judged if each.evidence and set(each.evidence) == numbers.keys())
        return PointRepetition((sum(value for _, value in numbers.values()),), len(tests), len(planned), tuple(whole))

    def _numbers(self, found: SweepRound) -> Iterator[tuple[str, tuple[str, float]]]:
        for key in self._find_keys(found):
            yield from found.numbers[key].items()

    def _find_keys(self, found: SweepRound) -> Iterator[NumberKey]:
        for key in found.numbers:
            wanted = key.cohort in self.cohorts and key.metric == self.metric
            if wanted and _drop_labels(key.labels, self.pooled) == self.labels:
                yield key


def _list_missing(
    turns: Sequence[PointRepetition], rounds: Iterable[SweepRound], cohorts: Iterable[Labels]
) -> tuple[Missing, ...]:
    counts: Counter[tuple[State, str]] = Counter()
    for found in rounds:
        for cohort in cohorts:
            counts.update(found.missing.get(cohort, {}))
    partial = sum(turn.partial for turn in turns)
    wrong = sum(turn.wrong for turn in turns)
    silent = sum(turn.planned - turn.tests for turn in turns) - sum(counts.values()) - wrong
    made = [Missing(state, why, tests, why in _OPEN) for (state, why), tests in counts.items()]
    made.sort(key=lambda each: (each.state.rank, -each.tests))
    if wrong:
        made.append(Missing(State.UNKNOWN, "gave a number that cannot be right", wrong))
    if silent > 0:
        made.append(Missing(State.MEASURED, "gave other numbers, not this one", silent))
    if partial:
        made.append(Missing(State.UNKNOWN, "measured, but others of the same load were not: no sum", partial))
    return tuple(made)


# -- labels


def _find_numbering(line: SweepLine, metric: str) -> frozenset[str]:
    """Labels that number parts of a test (stream 1, stream 2): numbers, and not the same ones at every point."""
    values: dict[str, dict[str, set[str]]] = {}
    for _, where, found in line:
        for key in found.numbers:
            for name, value in key.labels if key.metric == metric else ():
                values.setdefault(name, {}).setdefault(where.point[-1][1], set()).add(value)
    return frozenset(
        name
        for name, sets in values.items()
        if len({frozenset(each) for each in sets.values()}) > 1
        and all(parse_number(value) is not None for each in sets.values() for value in each)
    )


def _find_following(line: SweepLine, metric: str, pooled: frozenset[str]) -> frozenset[str]:
    """Labels of what the tool chose by itself that follow from the point: one value at each, another at others.

    An engine that is another one from a depth of 2 on tells no two numbers of a point apart.
    """
    found: set[str] = set()
    for name in CHOSEN - pooled:
        values: dict[Labels, dict[str, set[str]]] = {}
        for _, where, each in line:
            for key in each.numbers:
                if key.metric == metric:
                    others = _drop_labels(key.labels, pooled | {name})
                    points = values.setdefault(others, {})
                    points.setdefault(where.point[-1][1], set()).add(dict(key.labels).get(name, ""))
        is_one = all(len(each) == 1 for points in values.values() for each in points.values())
        if is_one and any(len(set().union(*points.values())) > 1 for points in values.values()):
            found.add(name)
    return frozenset(found)


def _drop_labels(labels: Labels, names: frozenset[str]) -> Labels:
    return tuple(pair for pair in labels if pair[0] not in names)


def _find_telling(every: Mapping[Labels, None]) -> frozenset[str]:
    values: dict[str, set[str]] = {}
    for labels in every:
        for name, value in labels:
            values.setdefault(name, set()).add(value)
    return frozenset(
        name for name, found in values.items() if len(found) > 1 or any(name not in dict(each) for each in every)
    )
