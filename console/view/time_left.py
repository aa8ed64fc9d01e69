"""The time of a run: what its rounds took, what the rest will take, and how long a round may still take that hangs.

Pure: computed from the view and the moment, by what rounds took so far.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from benchconsole.console.view.run_view import RunView, StageView, State, worst
from benchconsole.probes.model.measuring import FailedAt, Round, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import counted


def stages_of(view: RunView, worst_of: Callable[[Round], State | None]) -> tuple[StageView, ...]:
    """The stages of the plan with what is done, in order; repeats are a stage of their own.

    ``worst_of`` knows the worst state of a closed round, None where nothing of it was judged.
    """
    ratios = _list_ratios(view)
    stages: list[StageView] = []
    for name, rounds in group_by_key((each.stage, each) for each in view.plan).items():
        done = [each for each in rounds if each.number in view.closed]
        seconds = sum(view.closed[each.number][1] - view.closed[each.number][0] for each in done)
        left = sum(_foresee(each, ratios).middle for each in rounds if each.number not in view.closed)
        tests = sum(len(each.tests) for each in rounds)
        state = State.SKIPPED
        if view.current is not None and any(each.number == view.current.number for each in rounds):
            state = State.RUNNING
        elif done:
            states = [found for each in done if (found := worst_of(each)) is not None]
            state = worst(states) if states else State.MEASURED
        stages.append(StageView(name, rounds[0].probe, len(rounds), len(done), tests, seconds, left, state))
    return tuple(stages)


_UNMEASURED = (1.0, 2.0)
"""How much longer than estimated the rounds of a probe are taken to last while none of it was run."""


def _list_ratios(view: RunView) -> dict[str, list[float]]:
    """Seconds taken over seconds estimated, of every closed round that was run, by probe, sorted.

    How well the rounds of one probe are estimated says nothing of those of another. A round in which the time of a test
    ran out says nothing either: what hung once is awaited for a shorter time, and hung twice it is not started again.
    """
    found = group_by_key(
        (each.probe, (view.closed[each.number][1] - view.closed[each.number][0]) / each.seconds)
        for each in view.plan
        if each.number in view.closed and each.number not in view.hung and each.seconds and not _was_spared(view, each)
    )
    return {probe: sorted(ratios) for probe, ratios in found.items()}


def _was_spared(view: RunView, each: Round) -> bool:
    """Whether nothing of a round of a sweep was run, because its sweep had ended."""
    if each.swept is None or each.swept.ending is None:
        return False
    failures = (result.failure for test in each.tests[:1] if (result := view.results.get(test.id)) is not None)
    return any(failure is not None and failure.stage is FailedAt.SKIPPED for failure in failures)


def compute_worked(view: RunView, now: float) -> float:
    """Seconds of the run that goes on, or went last, in which it prepared or ran rounds; a pause between is none."""
    spans = [(max(start, view.begun), end) for start, end in view.closed.values() if end > view.begun]
    if view.current is not None:
        spans.append((max(view.current_started, view.begun), now))
    first = min((start for start, _ in spans), default=now)
    return first - view.begun + sum(end - start for start, end in spans)


class _Foreseen(NamedTuple):
    """Seconds that a round will take: the least, the middle and the most."""

    least: float
    middle: float
    most: float


def _foresee(each: Round, ratios: Mapping[str, list[float]]) -> _Foreseen:
    """By the measured rounds of the same probe, ``_UNMEASURED`` before the first."""
    own = ratios.get(each.probe)
    if not own:
        return _Foreseen(each.seconds * _UNMEASURED[0], each.seconds, each.seconds * _UNMEASURED[1])
    return _Foreseen(*(each.seconds * own[place * len(own) // 4] for place in (1, 2, 3)))


def eta(view: RunView, now: float) -> tuple[float, float] | None:
    """Seconds left as (low, high), None when nothing is left.

    The round that runs takes nothing from those after it, however long it takes. Where it takes longer than foreseen it
    has no part in these: ``find_overrun`` tells of it.
    """
    ahead = [each for each in view.plan if each.number not in view.closed]
    if not view.live or not any(each.seconds for each in ahead):
        return None
    ratios = _list_ratios(view)
    low = high = 0.0
    for each in ahead:
        foreseen, elapsed = _foresee(each, ratios), _count_elapsed(view, each, now)
        low += max(foreseen.least - elapsed, 0.0)
        high += max(foreseen.most - elapsed, 0.0)
    return low, high


def _count_elapsed(view: RunView, each: Round, now: float) -> float:
    """Seconds that a round has run so far."""
    is_current = view.current is not None and each.number == view.current.number
    return max(now - view.current_started, 0.0) if is_current else 0.0


class Overrun(NamedTuple):
    """A round that takes longer than foreseen: seconds that it may still take, and its running tests in words.

    Seconds below 0: it has taken longer than any tool that hangs makes it.
    """

    most: float
    waits_for: str

    @property
    def words(self) -> str:
        """How long it may still take, without the tests."""
        return f"up to {_round_up(self.most)} s more" if self.most >= 0 else "longer than it may take"


def _round_up(seconds: float) -> str:
    """Whole seconds, never fewer."""
    return f"{math.ceil(seconds):,}"


def find_overrun(view: RunView, now: float) -> Overrun | None:
    """How long the round that runs may still take where it takes longer than foreseen; None where it does not.

    None too where nobody has told its time limit.
    """
    current = view.current
    if current is None or not view.current_limit:
        return None
    elapsed = _count_elapsed(view, current, now)
    if elapsed <= _foresee(current, _list_ratios(view)).most:
        return None
    running = [test for test in current.tests if test.id in view.running]
    return Overrun(view.current_limit - elapsed, _name_tests(running))


def advance_stages(view: RunView, stages: Sequence[StageView], now: float) -> list[StageView]:
    """The stages as they were summed, the running one with the time that has gone since."""
    if view.current is None:
        return list(stages)
    elapsed, overrun = _count_elapsed(view, view.current, now), find_overrun(view, now)
    gone = min(elapsed, _foresee(view.current, _list_ratios(view)).middle)
    more = max(overrun.most, 0.0) if overrun is not None else 0.0
    return [
        replace(each, seconds=each.seconds + elapsed, left=max(each.left - gone, 0.0), overrun=more)
        if each.state is State.RUNNING
        else each
        for each in stages
    ]


def _name_tests(tests: Sequence[Test]) -> str:
    """The node that all of them have in common with their probe, the only test, or how many they are."""
    if not tests:
        return ""
    probes = ", ".join(dict.fromkeys(test.probe for test in tests))
    shared = set.intersection(*({node.id for node in test.target.nodes} for test in tests))
    if len(tests) > 1 and len(shared) != 1:
        return f"{counted(len(tests), 'test')} of {probes}"
    return f"{min(shared) if len(shared) == 1 else tests[0].target.key} {probes}"
