"""The clock of a replay: its speed, standing, jumps, rounds, and the time in the session that it tells."""

import pytest

from benchconsole.console.session.replay_clock import FASTEST, LONGEST_PAUSE, SLOWEST, ReplayClock, Timeline
from benchconsole.console.view.events import Event, RoundStarted
from benchconsole.probes.model.judgement import ClosedRound
from tests.console.tui.looking import healthy

BEGUN = 1000.0


class Passing:
    """Seconds that go by when they are told to."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def timeline() -> Timeline:
    """Two rounds: 40 s, an hour in which nothing runs, 20 s. Played: 0 to 40, 45 to 65."""
    first, second = healthy().closed[:2]
    timed: list[tuple[float, Event]] = []
    for closed, start, end in ((first, BEGUN, BEGUN + 40), (second, BEGUN + 3640, BEGUN + 3660)):
        timed += [(start, RoundStarted(closed.round, start)), (end, closed)]
    return Timeline(timed, BEGUN)


def begun(speed: float = 10.0) -> tuple[ReplayClock, Passing, list[float]]:
    passing, heard = Passing(), list[float]()
    clock = ReplayClock(speed, monotonic=passing)
    clock.begin(timeline(), lambda: heard.append(passing.now))
    return clock, passing, heard


def test_pauses_in_which_nothing_ran_are_cut() -> None:
    line = timeline()
    assert line.played == [0.0, 40.0, 40.0 + LONGEST_PAUSE, 60.0 + LONGEST_PAUSE]
    assert line.rounds == [0.0, 45.0]
    assert line.total == 65.0
    assert isinstance(line.events[1], ClosedRound)


@pytest.mark.parametrize(
    ("played", "at", "count", "round_"),
    [(0.0, 0.0, 1, 1), (39.9, 39.9, 1, 1), (40.0, 40.0, 2, 1), (42.0, 3637.0, 2, 1), (45.0, 3640.0, 3, 2), (65.0, 3660.0, 4, 2)],
)  # fmt: skip
def test_every_place_has_its_time_its_events_and_its_round(played: float, at: float, count: int, round_: int) -> None:
    line = timeline()
    assert line.find_time(played) == pytest.approx(BEGUN + at)
    assert (line.count_until(played), line.find_round(played)) == (count, round_)


def test_a_session_without_events_stands_at_its_beginning() -> None:
    line = Timeline([], BEGUN)
    assert (line.total, line.find_time(0.0), line.count_until(0.0)) == (0.0, BEGUN, 0)


def test_it_goes_at_its_speed_and_never_past_the_end() -> None:
    clock, passing, _ = begun()
    passing.now = 2.0
    assert (clock.played, clock.now()) == (20.0, BEGUN + 20)
    passing.now = 100.0
    assert (clock.played, clock.now()) == (65.0, BEGUN + 3660)
    place = clock.place
    assert place is not None
    assert (place.played, place.total, place.round, place.rounds) == (65.0, 65.0, 2, 2)


def test_it_stands_and_goes_on_where_it_stood() -> None:
    clock, passing, heard = begun()
    passing.now = 1.0
    clock.pause(is_paused=True)
    passing.now = 50.0
    assert clock.played == 10.0
    clock.pause(is_paused=False)
    passing.now = 51.0
    assert clock.played == 20.0
    assert heard == [1.0, 50.0]
    assert clock.jumps == 0


def test_another_speed_counts_from_there_on_and_has_bounds() -> None:
    clock, passing, _ = begun()
    passing.now = 1.0
    clock.change_speed(1.0)
    passing.now = 2.0
    assert clock.played == 11.0
    clock.change_speed(1e9)
    assert clock.speed == FASTEST
    clock.change_speed(0.0)
    assert clock.speed == SLOWEST


def test_a_jump_stays_within_the_session() -> None:
    clock, _, heard = begun()
    for asked, found in ((30.0, 30.0), (1e9, 65.0), (-5.0, 0.0)):
        clock.go_to(asked)
        assert clock.played == found
    assert clock.jumps == 3
    assert len(heard) == 3


@pytest.mark.parametrize(
    ("played", "step", "found"),
    [(0.0, 1, 45.0), (44.0, 1, 45.0), (50.0, 1, 65.0), (65.0, 1, 65.0), (60.0, -1, 45.0), (50.0, -1, 0.0), (45.0, -1, 0.0), (5.0, -1, 0.0)],
)  # fmt: skip
def test_a_step_goes_from_round_to_round(played: float, step: int, found: float) -> None:
    """Within one second at speed 10, a step back goes to the round before."""
    clock, _, _ = begun()
    clock.go_to(played)
    clock.step_round(step)
    assert clock.played == found


def test_before_its_events_are_read_nothing_moves() -> None:
    clock = ReplayClock(10.0)
    clock.step_round(1)
    clock.go_to(5.0)
    assert (clock.place, clock.played) == (None, 0.0)
