"""How long a run has worked, and how long it still takes, by what its rounds took so far."""

import pytest

from benchconsole.console.view import events
from benchconsole.console.view.events import RoundStarted, SessionEnded, SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.time_left import (
    Overrun,
    advance_stages,
    compute_worked,
    eta,
    find_overrun,
    stages_of,
)
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Round, Target, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Hardware, Node, NodeId, NodeRole
from tests.probes.judging.rounds import star


def make_round(number: int, probe: str, seconds: float = 10.0) -> Round:
    return Round(number, probe, probe, (), seconds, "")


def play(
    plan: tuple[Round, ...], *, ended: tuple[tuple[int, float], ...], running: int = 0, limit: float = 0.0
) -> RunView:
    """A live session whose ``ended`` rounds took so many seconds each, one after the other from 0 on."""
    view = opened(SessionOpened("s", "", star(), "default", plan, 0.0, True))
    at = 0.0
    for number, seconds in ended:
        view = advance(view, RoundStarted(plan[number - 1], at))
        view = advance(view, ClosedRound(plan[number - 1], (), CloseReason.COMPLETE, at, at + seconds))
        at += seconds
    return advance(view, RoundStarted(plan[running - 1], at, limit)) if running else view


IPERF3_AND_FIO = (make_round(1, "iperf3"), make_round(2, "iperf3"), make_round(3, "fio"), make_round(4, "fio"))


@pytest.mark.parametrize(
    ("ended", "running", "now", "left"),
    [
        ((), 0, 0.0, (40.0, 80.0)),  # nothing is measured: from the plan to twice the plan
        ((), 1, 4.0, (36.0, 76.0)),
        ((), 1, 15.0, (30.0, 65.0)),  # a round that takes longer takes nothing from the next
        (((1, 5.0),), 0, 5.0, (5.0 + 20.0, 5.0 + 40.0)),  # a quick probe says nothing of another
        (((1, 5.0), (2, 5.0), (3, 20.0)), 4, 32.0, (18.0, 18.0)),
        (((1, 5.0), (2, 5.0), (3, 20.0)), 4, 60.0, (0.0, 0.0)),
    ],
)
def test_the_time_left_is_that_of_each_probes_own_rounds(
    ended: tuple[tuple[int, float], ...], running: int, now: float, left: tuple[float, float]
) -> None:
    assert eta(play(IPERF3_AND_FIO, ended=ended, running=running), now) == pytest.approx(left)


def test_a_round_in_which_a_tool_hung_does_not_slow_down_those_to_come() -> None:
    """It cost its round once: the next ones are taken to last as long as those in which nothing hung."""
    test = Test("t", "iperf3", Target(Node(NodeId("n1"), NodeRole.COMPUTE, Hardware("any"), "n1", "n1")), 2)
    hanging = replace(make_round(2, "iperf3"), tests=(test,))
    plan = (make_round(1, "iperf3"), hanging, make_round(3, "iperf3"))
    failed = Result(test, failure=Failure(FailedAt.TIMEOUT, "no end within 30 s", NodeId("n1")))
    view = play(plan, ended=((1, 12.0),))
    view = advance(view, RoundStarted(hanging, 12.0))
    view = advance(view, ClosedRound(hanging, (failed,), CloseReason.COMPLETE, 12.0, 52.0))
    assert eta(view, 52.0) == pytest.approx((12.0, 12.0))
    lost = replace(failed, failure=Failure(FailedAt.LOST, "away", NodeId("n1")))
    view = advance(view, ClosedRound(hanging, (lost,), CloseReason.COMPLETE, 12.0, 52.0))
    assert eta(view, 52.0) == pytest.approx((12.0, 40.0))


@pytest.mark.parametrize(
    ("ended", "now", "most"),
    [
        ((), 20.0, None),  # nothing is measured: twice the plan is foreseen
        ((), 20.5, 14.5),
        ((), 35.0, 0.0),
        ((), 36.0, -1.0),  # it has taken longer than any hanging tool explains
        (((1, 12.0),), 12.0 + 12.0, None),  # as long as the measured rounds of its probe
        (((1, 12.0),), 12.0 + 12.5, 22.5),
    ],
)
def test_a_round_that_takes_longer_than_foreseen_says_how_long_it_may_still_take(
    ended: tuple[tuple[int, float], ...], now: float, most: float | None
) -> None:
    view = play(IPERF3_AND_FIO, ended=ended, running=len(ended) + 1, limit=35.0)
    found = find_overrun(view, now)
    assert (None if found is None else found.most) == (most if most is None else pytest.approx(most))
    assert find_overrun(play(IPERF3_AND_FIO, ended=ended, running=len(ended) + 1), now) is None  # no limit is known


def test_an_overrun_is_never_said_to_be_shorter_than_it_may_be() -> None:
    assert Overrun(0.2, "").words == "up to 1 s more"
    assert Overrun(1234.0, "").words == "up to 1,234 s more"
    assert Overrun(-0.1, "").words == "longer than it may take"


def make_pair(test: str, first: str, second: str | None = None) -> Test:
    node, peer = (
        Node(NodeId(name), NodeRole.COMPUTE, Hardware("any"), name, name) if name else None for name in (first, second)
    )
    assert node is not None
    return Test(test, "iperf3", Target(node, peer), 1)


@pytest.mark.parametrize(
    ("tests", "ended", "words"),
    [
        ((("n1", "n3"), ("n3", "n2"), ("n4", "n5")), 1, "n3 iperf3"),  # in all that run
        ((("n1", "n3"), ("n4", "n5")), 0, "2 tests of iperf3"),
        ((("n1", "n3"), ("n4", "n5")), 1, "n1>n3 iperf3"),
        ((("n1", None), ("n4", None)), 1, "n1 iperf3"),
        ((("n1", None),), 1, ""),  # only the end of the round is awaited
    ],
)
def test_an_overrun_names_what_all_running_tests_have_in_common(
    tests: tuple[tuple[str, str | None], ...], ended: int, words: str
) -> None:
    made = tuple(make_pair(f"t{at}", *ends) for at, ends in enumerate(tests))
    hanging = replace(make_round(1, "iperf3"), tests=made)
    view = advance(play((hanging,), ended=()), RoundStarted(hanging, 0.0, 50.0))
    for each in made:
        view = advance(view, events.TestStarted(each, 0.0))
    for each in reversed(made[len(made) - ended :]):
        view = advance(view, Result(each))
    found = find_overrun(view, 30.0)
    assert found is not None
    assert found.waits_for == words


def test_a_stage_whose_round_takes_longer_keeps_the_time_of_its_other_rounds() -> None:
    view = play(IPERF3_AND_FIO, ended=(), running=1, limit=35.0)
    stages = stages_of(view, lambda each: None)
    assert [each.left for each in advance_stages(view, stages, 4.0)] == pytest.approx([16.0, 20.0])
    network, storage = advance_stages(view, stages, 25.0)
    assert (network.seconds, network.left, network.overrun) == pytest.approx((25.0, 10.0, 10.0))
    assert (storage.left, storage.overrun) == (20.0, 0.0)


def test_no_time_is_left_when_all_is_done() -> None:
    assert eta(play(IPERF3_AND_FIO[:1], ended=((1, 5.0),)), 5.0) is None


HOUR = 3600.0


def test_time_of_work_has_no_pause_in_it() -> None:
    """Opened at 0, nodes asked until 2, a round to 12, a pause of an hour, a round from then on."""
    view = opened(SessionOpened("s", "", star(), "default", IPERF3_AND_FIO, 0.0, True))
    assert compute_worked(view, 1.5) == 1.5
    view = advance(view, RoundStarted(IPERF3_AND_FIO[0], 2.0))
    assert compute_worked(view, 7.0) == 7.0
    view = advance(view, ClosedRound(IPERF3_AND_FIO[0], (), CloseReason.COMPLETE, 2.0, 12.0))
    assert compute_worked(view, HOUR) == 12.0
    view = advance(view, RoundStarted(IPERF3_AND_FIO[1], HOUR))
    assert compute_worked(view, HOUR + 3.0) == 15.0
    view = advance(view, ClosedRound(IPERF3_AND_FIO[1], (), CloseReason.COMPLETE, HOUR, HOUR + 10.0))
    view = advance(view, SessionEnded(HOUR + 11.0, False, "stopped"))
    assert compute_worked(view, HOUR + 11.0) == 22.0


def test_time_of_work_is_that_of_the_run_that_goes_on() -> None:
    view = play(IPERF3_AND_FIO[:1], ended=((1, 20.0),))
    view = advance(view, SessionEnded(20.0, True, ""))
    view = advance(view, SessionOpened("s", "", star(), "default", IPERF3_AND_FIO, HOUR, True))
    assert compute_worked(view, HOUR + 1.0) == 1.0
    view = advance(view, RoundStarted(IPERF3_AND_FIO[1], HOUR + 2.0))
    assert compute_worked(view, HOUR + 6.0) == 6.0
