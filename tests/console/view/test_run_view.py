"""What a whole session comes to: its exit code by the levels of its verdicts and by what was tested."""

from dataclasses import replace

import pytest

from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.totals import exit_code
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Round
from tests.probes.judging.rounds import close, flow, star


def judged(*levels: Level, waiting: bool = False) -> RunView:
    """A session of one round with a verdict of each level, and maybe a round that is still to come."""
    described = star()
    closed = close(described, 1, *(flow("n1", f"n{place + 2}", 0.9) for place in range(len(levels))))
    return replay(closed, levels, waiting=waiting)


def replay(closed: ClosedRound, levels: tuple[Level, ...], *, waiting: bool) -> RunView:
    described = star()
    verdicts = tuple(
        Verdict(
            test=test.id, round=1, probe="iperf3", subject=test.target.key, nodes=("n1",), metric="iperf3.throughput",
            labels=(), level=level, kind=Yardstick.CAPACITY, because="",
        )
        for test, level in zip(closed.round.tests, levels, strict=True)
    )  # fmt: skip
    more: tuple[Round, ...] = (close(described, 2, flow("n3", "n4", 0.9)).round,) if waiting else ()
    view = opened(SessionOpened("s", "", described, "default", (closed.round, *more), 0.0, True))
    return advance(view, replace(closed, verdicts=verdicts, findings=()))


@pytest.mark.parametrize(
    ("levels", "waiting", "code", "allowed"),
    [
        ((Level.PASS,), False, 0, 0),
        ((Level.PASS, Level.WATCH), False, 0, 0),
        ((Level.PASS, Level.UNKNOWN), False, 3, 0),
        ((Level.PASS, Level.UNKNOWN, Level.FAIL), False, 1, 1),
        ((Level.PASS,), True, 3, 0),
        ((Level.FAIL,), True, 1, 1),
    ],
)
def test_the_exit_code_says_the_worst(levels: tuple[Level, ...], waiting: bool, code: int, allowed: int) -> None:
    view = judged(*levels, waiting=waiting)
    assert exit_code(view) == code
    assert exit_code(view, allow_untested=True) == allowed
