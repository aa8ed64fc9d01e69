"""Owns which curves a session has: from its plan and its closed rounds, each round read once.

``Sweeps().of(view)`` gives the charts; asked again for a later view of the same session it looks only at
rounds that are new or repeated, and does nothing where no round is. A test that was repeated counts once,
with its newest result. Refuses to know what a curve means (``console.curves``).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from console.curves import RATES, Chart, Curve, Missing, Point
from console.view import RunView, State, state_of, state_of_failure, worst
from console.wording import plain
from probes.judging.verdict import Verdict
from probes.labelling import ASKED
from probes.model import Labels, Reading, Round, Test
from probes.planning.sweeps import REPETITION
from topology.sweep import CLIENTS, ascending, measured
from topology.units import Shown, Unit

_RUNNING, _WAITING = _OPEN = ("running", "not run yet")
"""Why a test gave no number that may still give one."""


class Key(NamedTuple):
    """What tells the numbers of one round apart: cohort, metric, and what the parser said of it."""

    cohort: Labels
    metric: str
    unit: Unit
    labels: Labels


@dataclass(slots=True)
class Seen:
    """One round of a sweep: tests of each cohort, what they gave by measurement, why others gave nothing."""

    planned: dict[Labels, set[str]] = field(default_factory=dict)
    missing: dict[Labels, dict[tuple[State, str], int]] = field(default_factory=dict)
    numbers: dict[Key, dict[str, tuple[str, float]]] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)


def is_swept(view: RunView) -> bool:
    """Whether the plan of this session varies anything."""
    return any(each.swept is not None and each.swept.point for each in view.plan)


class Sweeps:
    """The charts of the views of one session after the other. Not for several threads at once."""

    def __init__(self) -> None:
        self._known: RunView | None = None
        self._rounds: dict[int, tuple[object, Seen]] = {}
        self._charts: tuple[Chart, ...] = ()

    def of(self, view: RunView) -> tuple[Chart, ...]:
        """The charts of ``view`` in the order of its plan; the same ones where nothing of them is new."""
        known = self._known
        if known is not None and _is_alike(known, view):
            return self._charts
        if known is None or known.plan is not view.plan or known.session != view.session:
            self._rounds.clear()
            known = None
        repeated = view.replaced - known.replaced if known is not None else frozenset()
        stale = {view.results[test].test.round for test in repeated if test in view.results}
        rounds: dict[tuple[int, Labels], list[tuple[Round, Seen]]] = {}
        for each in view.plan:
            if each.swept is not None and each.swept.point:
                line = (each.swept.sweep, each.swept.point[:-1])
                rounds.setdefault(line, []).append((each, self._seen(view, each, is_stale=each.number in stale)))
        self._charts = tuple(chart for line in rounds.values() for chart in charts(view, line))
        self._known = view
        return self._charts

    def _seen(self, view: RunView, each: Round, *, is_stale: bool) -> Seen:
        as_of = view.closed.get(each.number) or _unasked(view, each)
        kept = self._rounds.get(each.number)
        if kept is None or kept[0] != as_of or is_stale:
            kept = self._rounds[each.number] = (as_of, seen(view, each))
        return kept[1]


def _is_alike(one: RunView, other: RunView) -> bool:
    same = one.plan is other.plan and one.closed is other.closed and one.replaced is other.replaced
    return same and one.current is other.current and one.ended == other.ended and one.session == other.session


def seen(view: RunView, each: Round) -> Seen:
    """What one round of a sweep planned and gave; a test that a later one repeats is left to that one."""
    made = Seen()
    cohorts: dict[Labels, Labels] = {}
    told: dict[tuple[Labels, Labels], Labels] = {}
    for test in each.tests:
        if test.id in view.replaced or (test.id in view.repeats and test.id not in view.results):
            continue
        cohort = cohorts.get(test.target.labels)
        if cohort is None:
            cohort = cohorts[test.target.labels] = _cohort(each, test)
        made.planned.setdefault(cohort, set()).add(test.id)
        result = view.results.get(test.id)
        if result is None or result.failure is not None:
            why = _unasked(view, each) if result is None or result.failure is None else (
                state_of_failure(result.failure.stage),
                plain(": ".join(filter(None, (result.failure.stage.value, result.failure.detail)))),
            )  # fmt: skip
            counts = made.missing.setdefault(cohort, {})
            counts[why] = counts.get(why, 0) + 1
            continue
        for found in result.measurements:
            reading = found.reading
            labels = told.get((reading.labels, cohort))
            if labels is None:
                labels = told[reading.labels, cohort] = _told(reading, each, cohort)
            key = Key(cohort, reading.metric, reading.unit, labels)
            made.numbers.setdefault(key, {})[found.id] = (test.id, found.reading.value)
        made.verdicts += (verdict for verdict in view.verdicts.get(test.id, ()) if verdict.value is not None)
    return made


def _unasked(view: RunView, each: Round) -> tuple[State, str]:
    if view.current is not None and view.current.number == each.number:
        return State.RUNNING, _RUNNING
    words = _WAITING if view.ended is None else f"not run: {plain(view.because)}" if view.because else "not run"
    return State.SKIPPED, words


def _cohort(each: Round, test: Test) -> Labels:
    """The labels of a test that are neither its point nor its repetition."""
    point = dict(each.swept.point) if each.swept is not None else {}
    return tuple(pair for pair in test.target.labels if pair[0] not in point and pair[0] != REPETITION)


def _told(reading: Reading, each: Round, cohort: Labels) -> Labels:
    """The labels that the parser itself gave, in its own words, without those that name the point."""
    ours = {REPETITION, *(name for name, _ in cohort)}
    for name, _ in each.swept.point if each.swept is not None else ():
        ours |= {name, f"{ASKED}{name}"}
    return tuple(pair for pair in reading.labels if pair[0] not in ours)


# -- charts


def charts(view: RunView, line: Sequence[tuple[Round, Seen]]) -> Iterator[Chart]:
    """The charts of one sweep with all axes but the last held; one without a metric while there is no number at all."""
    first = line[0][0]
    if first.swept is None or not first.swept.point:
        return
    gains = (each.swept.ending.gain for each, _ in line if each.swept is not None and each.swept.ending is not None)
    common = _Common(view, line, next(iter(gains), None))
    metrics = dict.fromkeys((key.metric, key.unit) for _, found in line for key in found.numbers)
    for metric, unit in metrics:
        names = _counted(line, metric)
        every = dict.fromkeys(
            _without(key.labels, names) for _, found in line for key in found.numbers if key.metric == metric
        )
        telling = _telling(every)
        for labels in every:
            yield common.chart((metric, unit), labels, (names, telling))
    if not metrics:
        yield common.chart(("", None), (), (frozenset(), frozenset()))


@dataclass(frozen=True, slots=True)
class _Common:
    """What all charts of one line of a sweep are made from."""

    view: RunView
    line: Sequence[tuple[Round, Seen]]
    gain: float | None

    def chart(
        self, metric: tuple[str, Unit | None], labels: Labels, names: tuple[frozenset[str], frozenset[str]]
    ) -> Chart:
        """One metric with one set of labels; of ``names`` the first are pooled, the second told."""
        first = self.line[0][0]
        point = first.swept.point if first.swept is not None else ()
        axis = point[-1][0]
        is_load = axis == CLIENTS and not any(CLIENTS in test.target.options for test in first.tests)
        is_summed = is_load and metric[1] in RATES
        cohorts = tuple(dict.fromkeys(cohort for _, found in self.line for cohort in found.planned))
        parts = [(each,) for each in cohorts] if len(cohorts) > 1 else []
        groups = [cohorts, *parts] if is_summed or not parts else parts
        by_value = self._by_value()
        curves = []
        is_split = False
        for group in groups:
            made = [
                self._point(value, rounds, Wanted(group, metric[0], labels, names[0], is_summed))
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
            held=point[:-1],
            is_summed=is_summed,
            is_split=is_split,
            gain=self.gain,
        )

    def _by_value(self) -> dict[str, list[tuple[Round, Seen]]]:
        found: dict[str, list[tuple[Round, Seen]]] = {}
        for each, what in self.line:
            if each.swept is not None:
                found.setdefault(each.swept.point[-1][1], []).append((each, what))
        order = ascending(tuple(found)) or tuple(found)
        return {value: found[value] for value in order}

    def _shown(self, metric: tuple[str, Unit | None]) -> Shown:
        """As verdicts on the metric show it; else rates between nodes are those of a network."""
        for _, found in self.line:
            for verdict in found.verdicts:
                if verdict.metric == metric[0]:
                    return verdict.shown
        between = any(test.target.peer is not None for test in self.line[0][0].tests)
        return Shown.NETWORK if between and metric[1] is Unit.BYTE_RATE else Shown.PLAIN

    def _point(self, value: str, rounds: Sequence[tuple[Round, Seen]], wanted: "Wanted") -> Point:
        turns: dict[int, list[Seen]] = {}
        for each, found in rounds:
            turns.setdefault(each.swept.repetition if each.swept is not None else 1, []).append(found)
        got = [wanted.turn(turn) for turn in turns.values()]
        number = measured(value)
        planned = [turn.planned for turn in got if turn.planned]
        members = any(test.target.members for each, _ in rounds for test in each.tests)
        at = None if number is None else number[0]
        judged = [each for turn in got for each in turn.judged]
        bounds = {bound for each in judged if (bound := each.required if each.required is not None else each.expected)}
        return Point(
            value=plain(value),
            at=at,
            values=tuple(number for turn in got for number in turn.values),
            repetitions=sum(bool(turn.values) for turn in got),
            of=len(planned),
            tests=sum(turn.tests for turn in got),
            planned=sum(planned),
            workers=float(max(planned, default=1)) if wanted.is_summed and not members else 1.0 if at is None else at,
            missing=_missing(got, [each for turn in turns.values() for each in turn], wanted.cohorts),
            bounds=tuple(sorted(bounds)),
            state=worst(map(state_of, judged)) if judged else None,
        )


class Turn(NamedTuple):
    """One repetition of a point: its numbers, tests that gave one, tests planned, verdicts over these numbers."""

    values: tuple[float, ...]
    tests: int
    planned: int
    judged: tuple[Verdict, ...]
    partial: int = 0


class Wanted(NamedTuple):
    """What one curve takes from each round; the ``pooled`` labels are no part of ``labels``."""

    cohorts: tuple[Labels, ...]
    metric: str
    labels: Labels
    pooled: frozenset[str]
    is_summed: bool

    def turn(self, rounds: Sequence[Seen]) -> Turn:
        """One repetition; a load of which a test gave no number has no sum."""
        numbers = {measurement: number for each in rounds for measurement, number in self._numbers(each)}
        planned = {test for each in rounds for cohort in self.cohorts for test in each.planned.get(cohort, ())}
        tests = {test for test, _ in numbers.values()}
        judged = [each for found in rounds for each in found.verdicts if each.metric == self.metric]
        if not self.is_summed:
            alone = (each for each in judged if len(each.evidence) == 1 and each.evidence[0] in numbers)
            return Turn(tuple(value for _, value in numbers.values()), len(tests), len(planned), tuple(alone))
        if not numbers or tests != planned:
            return Turn((), len(tests), len(planned), (), len(tests))
        whole = (each for each in judged if each.evidence and set(each.evidence) == numbers.keys())
        return Turn((sum(value for _, value in numbers.values()),), len(tests), len(planned), tuple(whole))

    def _numbers(self, found: Seen) -> Iterator[tuple[str, tuple[str, float]]]:
        for key, numbers in found.numbers.items():
            wanted = key.cohort in self.cohorts and key.metric == self.metric
            if wanted and _without(key.labels, self.pooled) == self.labels:
                yield from numbers.items()


def _missing(turns: Sequence[Turn], rounds: Iterable[Seen], cohorts: Iterable[Labels]) -> tuple[Missing, ...]:
    counts: dict[tuple[State, str], int] = {}
    for found in rounds:
        for why, tests in (pair for cohort in cohorts for pair in found.missing.get(cohort, {}).items()):
            counts[why] = counts.get(why, 0) + tests
    partial = sum(turn.partial for turn in turns)
    silent = sum(turn.planned - turn.tests for turn in turns) - sum(counts.values())
    made = [Missing(state, why, tests, why in _OPEN) for (state, why), tests in counts.items()]
    made.sort(key=lambda each: (each.state.rank, -each.tests))
    if silent > 0:
        made.append(Missing(State.MEASURED, "gave other numbers, not this one", silent))
    if partial:
        made.append(Missing(State.UNKNOWN, "measured, but others of the same load were not: no sum", partial))
    return tuple(made)


# -- labels


def _counted(line: Sequence[tuple[Round, Seen]], metric: str) -> frozenset[str]:
    """Labels that number parts of a test (stream 1, stream 2): numbers, and not the same ones at every point."""
    values: dict[str, dict[str, set[str]]] = {}
    for each, found in line:
        at = each.swept.point[-1][1] if each.swept is not None else ""
        for key in found.numbers:
            for name, value in key.labels if key.metric == metric else ():
                values.setdefault(name, {}).setdefault(at, set()).add(value)
    return frozenset(
        name
        for name, sets in values.items()
        if len({frozenset(each) for each in sets.values()}) > 1
        and all(measured(value) is not None for each in sets.values() for value in each)
    )


def _without(labels: Labels, names: frozenset[str]) -> Labels:
    return tuple(pair for pair in labels if pair[0] not in names)


def _telling(every: Mapping[Labels, None]) -> frozenset[str]:
    """The names whose values are not the same throughout."""
    values: dict[str, set[str]] = {}
    for labels in every:
        for name, value in labels:
            values.setdefault(name, set()).add(value)
    return frozenset(
        name for name, found in values.items() if len(found) > 1 or any(name not in dict(each) for each in every)
    )
