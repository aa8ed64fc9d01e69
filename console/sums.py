"""Owns sums over a session that the screens show all the time: coverage, reasons, stages. Kept, not counted anew.

``Sums().of(view)`` says what ``console.view`` says with ``coverage``, ``not_judged`` and ``stages``;
asked again for a later view of the same session it looks only at rounds that are new or repeated.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from console.view import (
    Coverage,
    NotJudged,
    RunView,
    StageView,
    State,
    became,
    coverage,
    folded,
    not_judged,
    repeats_in,
    stages_of,
    state_of,
    worst,
)
from probes.judging.verdict import Level, Verdict
from probes.model import FailedAt, Result, Round

_Reasons = dict[tuple[FailedAt, str], dict[str, int]]


@dataclass(slots=True)
class _RoundSum:
    """One closed round: its tests by what became of them, why some gave no number, its worst state, what is low."""

    times: tuple[float, float]
    results: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    reasons: _Reasons = field(default_factory=dict)
    worst: State | None = None
    low: tuple[Verdict, ...] = ()


@dataclass(frozen=True, slots=True)
class Sum:
    """``low`` are the verdicts of each stage that are below what is asked, in the order of its tests."""

    covered: Coverage
    reasons: tuple[NotJudged, ...]
    stages: tuple[StageView, ...]
    low: Mapping[str, tuple[Verdict, ...]]


class Sums:
    """Sums over the views of one session after the other. Not for several threads at once."""

    def __init__(self) -> None:
        self._known: RunView | None = None
        self._rounds: dict[int, _RoundSum] = {}
        self._plan: dict[int, Round] = {}
        self._repeats = 0

    def of(self, view: RunView) -> Sum:
        """Everything that is summed over ``view``."""
        known = self._known
        if known is None or known.fabric is not view.fabric or known.session != view.session:
            self._rounds.clear()
            known = None
        if known is None or known.plan is not view.plan:
            self._plan = {each.number: each for each in view.plan}
            self._repeats = repeats_in(view.plan)
        self._catch_up(view, known)
        self._known = view
        seen = sum(each.results for each in self._rounds.values())
        strange = seen < len(view.results)  # results that no round of the plan holds
        covered = coverage(view) if strange else self._covered(view)
        reasons = not_judged(view) if strange else self._reasons()
        return Sum(covered, reasons, stages_of(view, self._worst_of), self._low(view))

    def _catch_up(self, view: RunView, known: RunView | None) -> None:
        repeated = view.replaced - known.replaced if known is not None else frozenset()
        stale = {view.results[test].test.round for test in repeated if test in view.results}
        for number in [number for number in self._rounds if number not in view.closed]:
            del self._rounds[number]
        for number, times in view.closed.items():
            done = self._rounds.get(number)
            if number in self._plan and (done is None or done.times is not times or number in stale):
                self._rounds[number] = _summed(view, self._plan[number], times)

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


def _summed(view: RunView, each: Round, times: tuple[float, float]) -> _RoundSum:
    made = _RoundSum(times)
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
            _count(made, result)
    made.worst, made.low = (worst(states) if states else None), tuple(low)
    return made


def _count(made: _RoundSum, result: Result) -> None:
    what = became(result)
    made.counts[what] = made.counts.get(what, 0) + 1
    failure = result.failure
    if failure is not None:
        nodes = made.reasons.setdefault((failure.stage, failure.detail), {})
        nodes[failure.node] = nodes.get(failure.node, 0) + 1
