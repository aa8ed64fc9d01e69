"""Texts that somebody types to jump in a replay: times, rounds and shares, and texts that name none of them."""

import pytest

from benchconsole.console.session.replay_clock import Timeline
from benchconsole.console.session.replay_place import ReplayPlaceError, find_played


def line(total: float = 4000.5, rounds: tuple[float, ...] = (0.0, 60.0, 2000.0)) -> Timeline:
    made = Timeline((), 1.7e9)
    made.played, made.rounds = [total], [*rounds]
    return made


@pytest.mark.parametrize(
    ("text", "played"),
    [
        ("0:00", 0.0),
        ("12:30", 750.0),
        (" 1:02:30 ", 3750.0),
        ("66:40", 4000.0),
        ("1:06:40", 4000.0),
        ("round 1", 0.0),
        ("Round  3", 2000.0),
        ("50 %", 2000.25),
        ("12.5%", 4000.5 / 8),
        ("100%", 4000.5),
    ],
)
def test_each_form_is_a_place(text: str, played: float) -> None:
    assert find_played(text, line()) == played


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("7", "7 may be a time, a round or a share, expected mm:ss"),
        ("", "'', expected mm:ss"),
        ("12:3", "'12:3', expected mm:ss"),
        ("12:60", "12:60, expected minutes behind hours, and seconds, below 60"),
        ("1:60:00", "1:60:00, expected minutes behind hours"),
        ("1:06:41", "1:06:41 is after the end, expected at most 1:06:40"),
        ("round 0", "round 0, expected a round from 1 to 3"),
        ("round 4", "round 4, expected a round from 1 to 3"),
        ("round", "'round', expected mm:ss"),
        ("101 %", "101 %, expected at most 100 %"),
        ("-5 %", "'-5 %', expected mm:ss"),
        ("\u0661\u0662:\u0663\u0660", "expected mm:ss"),
        ("1e3%", "'1e3%', expected mm:ss"),
    ],
)
def test_what_names_no_place_or_several_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(ReplayPlaceError, match="expected") as raised:
        find_played(text, line())
    assert said in str(raised.value)


def test_the_second_that_the_bar_shows_as_the_end_is_the_end() -> None:
    assert find_played("0:05", line(5.4)) == 5.0
    assert find_played("0:00", line(0.0)) == 0.0
