"""Sums over a session: what is planned once, what is low, why tests gave no number, the worst of each stage."""

from collections.abc import Sequence

import pytest

from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.totals import TotalsCache, compute_totals
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import FailedAt, Failure
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from tests.probes.judging.rounds import close, flow, star


def told(closed: ClosedRound, levels: Sequence[Level] = ()) -> RunView:
    """The view after one round, the first tests of which have verdicts of these levels."""
    verdicts = tuple(
        Verdict(
            test=test.id, round=1, probe="iperf3", subject=test.target.key, nodes=("n1",), metric="iperf3.throughput",
            labels=(), level=level, kind=Yardstick.CAPACITY, because="why",
        )
        for test, level in zip(closed.round.tests, levels, strict=False)
    )  # fmt: skip
    view = opened(SessionOpened("s", "", star(), "default", (closed.round,), 0.0, True))
    return advance(view, replace(closed, verdicts=verdicts))


def failing(closed: ClosedRound, *stages: FailedAt) -> ClosedRound:
    """The same round whose first tests failed so, each at the node that sends."""
    results = list(closed.results)
    for place, stage in enumerate(stages):
        test = results[place].test
        failure = Failure(stage, "gone", NodeId(test.target.node.id))
        results[place] = replace(results[place], measurements=(), failure=failure)
    return replace(closed, results=tuple(results))


FOUR = close(star(), 1, *(flow(f"n{place}", f"n{place + 4}", 0.9) for place in (1, 2, 3, 4)))


@pytest.mark.parametrize(
    ("levels", "worst", "low"),
    [
        ((), State.MEASURED, 0),
        ((Level.PASS,), State.PASS, 0),
        ((Level.PASS, Level.UNKNOWN), State.UNKNOWN, 0),
        ((Level.UNKNOWN, Level.WATCH, Level.PASS), State.WATCH, 1),
        ((Level.PASS, Level.WATCH, Level.FAIL), State.FAIL, 2),
    ],
)
def test_a_stage_has_the_state_of_its_worst_verdict(levels: Sequence[Level], worst: State, low: int) -> None:
    sums = compute_totals(told(FOUR, levels))
    assert [stage.state for stage in sums.stages] == [worst]
    assert [verdict.level for verdict in sums.low["pairs"]] == [
        level for level in levels if level in (Level.WATCH, Level.FAIL)
    ]
    assert len(sums.low["pairs"]) == low


def test_numbers_that_could_not_be_judged_are_told_with_the_reason() -> None:
    assert not compute_totals(told(FOUR, (Level.PASS, Level.FAIL, Level.WATCH))).undecided
    (found,) = compute_totals(told(FOUR, (Level.UNKNOWN, Level.PASS, Level.UNKNOWN))).undecided
    assert found.results == 2
    assert len(found.subjects) == 2
    assert found.because == "why"


def test_a_test_without_a_number_leaves_its_stage_unknown() -> None:
    view = told(failing(FOUR, FailedAt.TIMEOUT), (Level.PASS,) * 4)
    assert [stage.state for stage in compute_totals(view).stages] == [State.UNKNOWN]


def test_reasons_name_nodes_that_could_not_be_asked_first_and_then_the_most_tests() -> None:
    stages = FailedAt.TIMEOUT, FailedAt.MISSING_TOOL, FailedAt.MISSING_TOOL, FailedAt.UNREACHABLE
    found = compute_totals(told(failing(FOUR, *stages))).reasons
    assert [(each.stage, each.tests, each.nodes) for each in found] == [
        (FailedAt.UNREACHABLE, 1, ("n4",)),
        (FailedAt.MISSING_TOOL, 2, ("n2", "n3")),
        (FailedAt.TIMEOUT, 1, ("n1",)),
    ]


def test_a_repeated_test_is_planned_once() -> None:
    again = tuple(replace(test, id=f"again {test.id}", round=2) for test in FOUR.round.tests[:1])
    plan = FOUR.round, replace(FOUR.round, number=2, tests=again)
    view = opened(SessionOpened("s", "", star(), "default", plan, 0.0, True))
    assert compute_totals(view).covered.planned == 4


def test_a_replay_that_goes_back_counts_a_test_that_is_repeated_later() -> None:
    early = told(failing(FOUR, FailedAt.TIMEOUT))
    later = replace(early, replaced=frozenset({FOUR.round.tests[0].id}))
    cache = TotalsCache()
    before = cache.compute(early)
    assert [each.tests for each in before.reasons] == [1]
    assert cache.compute(later).reasons == ()
    assert cache.compute(early) == before
