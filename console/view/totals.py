"""Sums over a session: coverage, reasons, stages. Screens show them all the time: kept, not counted anew."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from benchconsole.console.view.round_cache import RoundCache
from benchconsole.console.view.run_view import (
    Coverage,
    NotJudged,
    RunView,
    StageView,
    State,
    Undecided,
    share_result,
    state_of,
    superseding,
    worst,
)
from benchconsole.console.view.same_objects import are_same
from benchconsole.console.view.session_verdict import SessionVerdict, decide
from benchconsole.console.view.time_left import stages_of
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.measuring import FailedAt, Result, Round


@dataclass(slots=True)
class _RoundSum:
    """One closed round: its tests by what became of them, its worst state, what is low.

    ``reasons`` say why tests gave no number, ``undecided`` why numbers could not be judged.
    """

    results: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    reasons: dict[tuple[FailedAt, str], Counter[str]] = field(default_factory=dict)
    undecided: dict[str, Counter[str]] = field(default_factory=dict)
    worst: State | None = None
    low: tuple[Verdict, ...] = ()


class SessionTotals(Struct, frozen=True):
    """``low`` are the verdicts of each stage that are below what is asked, in the order of its tests."""

    covered: Coverage
    reasons: tuple[NotJudged, ...]
    undecided: tuple[Undecided, ...]
    stages: tuple[StageView, ...]
    low: Mapping[str, tuple[Verdict, ...]]


class TotalsCache:
    """Sums over the views of one session after the other. Not for several threads at once.

    Of a later view of the same session only rounds that are new or repeated are looked at.
    """

    def __init__(self) -> None:
        self._cache = RoundCache(_sum_round)
        self._rounds: Mapping[int, _RoundSum] = {}
        self._decided: tuple[tuple[object, ...], SessionVerdict] | None = None

    def decide(self, view: RunView) -> SessionVerdict:
        """The verdict on the session, worked out anew only where something that it rests on is new."""
        basis = (
            view.results,
            view.verdicts,
            view.passed,
            view.findings,
            view.plan,
            view.ended,
            view.left_out,
            view.checklists,
        )
        if self._decided is None or not are_same(basis, self._decided[0]):
            self._decided = (basis, decide(view))
        return self._decided[1]

    def compute(self, view: RunView) -> SessionTotals:
        self._rounds = self._cache.update(view, (each for each in view.plan if each.number in view.closed))
        parts = [*self._rounds.values()]
        if sum(each.results for each in parts) < len(view.results):
            planned_ids = {test.id for each in view.plan if each.number in view.closed for test in each.tests}
            parts.append(rest := _RoundSum())
            for test, result in superseding(view).items():
                if test not in planned_ids:  # in no round of the plan
                    _count_result(rest, result, view.verdicts.get(test, ()))
        planned = sum(len(each.tests) for each in view.plan) - len(view.repeats)
        counts = sum((each.counts for each in parts), Counter[str]())
        sums = {each.number: self._rounds.get(each.number) or _RoundSum() for each in view.plan}
        stages = stages_of(view, lambda each: sums[each.number].worst)
        low: dict[str, tuple[Verdict, ...]] = {}
        for each in view.plan:
            low[each.stage] = (*low.get(each.stage, ()), *sums[each.number].low)
        return SessionTotals(Coverage(planned, **counts), _fold_reasons(parts), _fold_undecided(parts), stages, low)


def _fold_reasons(parts: Iterable[_RoundSum]) -> tuple[NotJudged, ...]:
    """Reasons with the tests of each node, the nodes that could not be asked and the most tests first."""
    found: dict[tuple[FailedAt, str], Counter[str]] = {}
    for each in parts:
        for key, nodes in each.reasons.items():
            found.setdefault(key, Counter()).update(nodes)
    made = [NotJudged(stage, detail, tuple(nodes), nodes.total()) for (stage, detail), nodes in found.items()]
    return tuple(sorted(made, key=lambda each: (not each.stage.means_unreachable, -each.tests)))


def _fold_undecided(parts: Iterable[_RoundSum]) -> tuple[Undecided, ...]:
    """Why numbers could not be judged, with their subjects, the most of them first."""
    found: dict[str, Counter[str]] = {}
    for each in parts:
        for because, subjects in each.undecided.items():
            found.setdefault(because, Counter()).update(subjects)
    made = (Undecided(because, tuple(subjects), subjects.total()) for because, subjects in found.items())
    return tuple(sorted(made, key=lambda each: -each.results))


def _sum_round(view: RunView, each: Round) -> _RoundSum:
    made = _RoundSum()
    states: set[State] = set()
    if any(passes.like.round == each.number for passes in view.passed):
        states.add(State.PASS)
    low: list[Verdict] = []
    for test in each.tests:
        verdicts = view.verdicts.get(test.id, ())
        states.update(map(state_of, verdicts))
        low += [verdict for verdict in verdicts if verdict.level in (Level.FAIL, Level.WATCH)]
        result = view.results.get(test.id)
        if result is None:
            continue
        made.results += 1
        if result.failure is not None:
            states.add(State.UNKNOWN)
        if test.id not in view.replaced:
            _count_result(made, result, verdicts)
    made.worst, made.low = (worst(states) if states else None), tuple(low)
    return made


def _count_result(made: _RoundSum, result: Result, verdicts: Iterable[Verdict]) -> None:
    made.counts[result.outcome.value] += 1
    failure = result.failure
    if failure is not None:
        made.reasons.setdefault((failure.stage, failure.detail), Counter())[failure.node] += 1
    for verdict in verdicts:
        if verdict.level is Level.UNKNOWN:
            made.undecided.setdefault(verdict.because, Counter())[verdict.subject] += 1


@share_result
def compute_totals(view: RunView) -> SessionTotals:
    """The sums over a view that no other one follows."""
    return TotalsCache().compute(view)
