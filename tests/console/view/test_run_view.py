"""How long a run still takes, by what its rounds took so far."""

import pytest

from benchconsole.console.view.events import RoundStarted, SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView, eta
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Round
from tests.probes.judging.rounds import star


def make_round(number: int, probe: str, seconds: float = 10.0) -> Round:
    return Round(number, probe, probe, (), seconds, "")


def play(plan: tuple[Round, ...], *, ended: tuple[tuple[int, float], ...], running: int = 0) -> RunView:
    """A live session whose ``ended`` rounds took so many seconds each, one after the other from 0 on."""
    view = opened(SessionOpened("s", "", star(), "default", plan, 0.0, True))
    at = 0.0
    for number, seconds in ended:
        view = advance(view, RoundStarted(plan[number - 1], at))
        view = advance(view, ClosedRound(plan[number - 1], (), CloseReason.COMPLETE, at, at + seconds))
        at += seconds
    return advance(view, RoundStarted(plan[running - 1], at)) if running else view


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


def test_no_time_is_left_when_all_is_done() -> None:
    assert eta(play(IPERF3_AND_FIO[:1], ended=((1, 5.0),)), 5.0) is None
