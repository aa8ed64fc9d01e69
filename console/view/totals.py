"""Sums over a session that the screens show all the time: coverage, reasons, stages. Kept, not counted anew.

``TotalsCache().compute(view)`` gives ``coverage``, ``not_judged`` and ``stages`` of ``console.view.run_view``;
asked again for a later view of the same session it looks only at rounds that are new or repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchconsole.console.view.round_cache import RoundCache
from benchconsole.console.view.run_view import (
    Coverage,
    NotJudged,
    RunView,
    StageView,
    State,
    coverage,
    folded,
    not_judged,
    repeats_in,
    stages_of,
    state_of,
    worst,
)
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.measuring import FailedAt, Result, Round

_Reasons = dict[tuple[FailedAt, str], dict[str, int]]


@dataclass(slots=True)
class _RoundSum:
    """One closed round: its tests by what became of them, why some gave no number, its worst state, what is low."""

    results: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    reasons: _Reasons = field(default_factory=dict)
    worst: State | None = None
    low: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionTotals:
    """``low`` are the verdicts of each stage that are below what is asked, in the order of its tests."""

    covered: Coverage
    reasons: tuple[NotJudged, ...]
    stages: tuple[StageView, ...]
    low: Mapping[str, tuple[Verdict, ...]]


class TotalsCache:
    """Sums over the views of one session after the other. Not for several threads at once."""

    def __init__(self) -> None:
        self._cache = RoundCache(_sum_round)
        self._rounds: Mapping[int, _RoundSum] = {}
        self._plan: tuple[Round, ...] = ()
        self._repeats = 0

    def compute(self, view: RunView) -> SessionTotals:
        """Everything that is summed over ``view``."""
        if self._plan is not view.plan:
            self._plan, self._repeats = view.plan, repeats_in(view.plan)
        self._rounds = self._cache.update(view, (each for each in view.plan if each.number in view.closed))
        has_unplanned = sum(each.results for each in self._rounds.values()) < len(view.results)
        covered = coverage(view) if has_unplanned else self._covered(view)
        reasons = not_judged(view) if has_unplanned else self._reasons()
        return SessionTotals(covered, reasons, stages_of(view, self._worst_of), self._low(view))

    def _covered(self, view: RunView) -> Coverage:
        planned = sum(len(each.tests) for each in view.plan) - self._repeats
        counts: dict[str, int] = {}
        for each in self._rounds.values():
            for what, number in each.counts.items():
                counts[what] = counts.get(what, 0) + number
        return Coverage(planned, **counts)

    def _reasons(self) -> tuple[NotJudged, ...]:
        found: _Reasons = {}
        for each in self._rounds.values():
            for key, nodes in each.reasons.items():
                known = found.setdefault(key, {})
                for node, tests in nodes.items():
                    known[node] = known.get(node, 0) + tests
        return folded(found)

    def _worst_of(self, each: Round) -> State | None:
        return self._rounds[each.number].worst if each.number in self._rounds else None

    def _low(self, view: RunView) -> Mapping[str, tuple[Verdict, ...]]:
        found: dict[str, tuple[Verdict, ...]] = {}
        for each in view.plan:
            low = self._rounds[each.number].low if each.number in self._rounds else ()
            found[each.stage] = (*found.get(each.stage, ()), *low)
        return found


def _sum_round(view: RunView, each: Round) -> _RoundSum:
    made = _RoundSum()
    states: set[State] = set()
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
            _count_result(made, result)
    made.worst, made.low = (worst(states) if states else None), tuple(low)
    return made


def _count_result(made: _RoundSum, result: Result) -> None:
    made.counts[result.outcome] = made.counts.get(result.outcome, 0) + 1
    failure = result.failure
    if failure is not None:
        nodes = made.reasons.setdefault((failure.stage, failure.detail), {})
        nodes[failure.node] = nodes.get(failure.node, 0) + 1
