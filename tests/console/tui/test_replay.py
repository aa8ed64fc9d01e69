"""A session that is played again: the seek bar on every page, and the keys that move it; a real database."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from benchconsole.console.session.replay_clock import ReplayClock
from benchconsole.console.tui.actions import ACTIONS, GLOBAL, REPLAYING
from benchconsole.console.tui.screens.run import RunScreen
from benchconsole.console.tui.widgets.seek_bar import SeekBar
from benchconsole.console.view.session_control import ReplayPlace
from tests.console.tui.looking import Look, faulty, looking
from tests.console.tui.test_sessions import labels, listed, opened, site
from tests.scenarios.test_judging_trials import Site

__all__ = ["site"]

SIZES = [(60, 15), (80, 24), (120, 40), (200, 60)]


@asynccontextmanager
async def played(site: Site, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Look, ReplayClock]]:
    """The session before the last one, played again, at its end."""
    async with opened(site, size) as look:
        screen = await listed(look)
        assert labels(screen)[1] == "before"
        await look.press("down", "colon", *"replay 100000", "enter")
        await look.until(lambda: look.app.session.latest.has_begun)
        clock = look.app.session.front.clock
        assert clock is not None
        await look.until(lambda: look.app.session.view is not None and look.app.session.view.ended is not None)
        await look.settle()
        yield look, clock


@pytest.mark.parametrize("size", SIZES)
async def test_the_bar_is_on_every_page_at_every_width(site: Site, size: tuple[int, int]) -> None:
    async with played(site, size) as (look, clock):
        for key in "1234":
            await look.press(key)
            assert "UTC" in look.lines[1]
            assert "━" * 8 in look.lines[1]
            assert "REPLAY ×100000" in look.lines[0]
            assert size[0] < 80 or "p" in look.lines[1].split()
        await look.press("escape")
        assert "UTC" not in look.lines[1]
        assert clock.timeline is not None


@pytest.mark.parametrize("size", SIZES)
async def test_the_bar_takes_no_row_from_the_tests_of_a_small_round(site: Site, size: tuple[int, int]) -> None:
    async with played(site, size) as (look, _):
        await look.press("3")
        run = look.app.screen
        assert isinstance(run, RunScreen)
        await look.until(lambda: run.tests.size.height > min(run.tests.count, 4) > 0)  # with the heading
        assert run.events.size.height >= 1


async def test_back_to_the_beginning_and_on_to_the_end(site: Site) -> None:
    async with played(site) as (look, clock):
        end = look.app.session.view
        assert end is not None
        await look.press("p")
        assert "PAUSED" in look.lines[0]
        assert "go on" in look.lines[1]
        for _ in range(20):
            await look.press("{")
        await look.until(lambda: look.app.session.view is not None and look.app.session.view.ended is None)
        assert clock.played == 0.0
        await look.press("3")
        assert "complete" not in look.lines[2]
        for _ in range(20):
            await look.press("]")
        await look.until(lambda: look.app.session.view is not None and look.app.session.view.ended is not None)
        view = look.app.session.view
        assert view is not None
        assert (dict(view.results), dict(view.verdicts), view.log) == (dict(end.results), dict(end.verdicts), end.log)
        await look.press("[")
        await look.until(lambda: look.app.session.view is not None and look.app.session.view.ended is None)
        assert "round" in look.lines[1]


async def test_the_mouse_goes_to_the_place_that_it_points_at_and_follows_a_drag(site: Site) -> None:
    async with played(site) as (look, clock):
        assert clock.timeline is not None
        total = clock.timeline.total
        await look.press("p")
        first, last = look.lines[1].index("━"), look.lines[1].rindex("━")
        bar = look.app.screen.query_one(SeekBar)
        await look.pilot.mouse_down(bar, offset=(first, 0))
        await look.until(lambda: clock.played == 0.0)
        await look.pilot.hover(bar, offset=((first + last) // 2, 0))
        await look.until(lambda: 0.45 * total < clock.played < 0.55 * total)
        await look.pilot.hover(bar, offset=(look.app.size.width - 1, 0))
        await look.until(lambda: clock.played == total)
        await look.pilot.mouse_up(bar, offset=(last, 0))
        jumps = clock.jumps
        await look.pilot.hover(bar, offset=(first, 0))
        await look.pilot.click(bar, offset=(0, 0))
        await look.settle()
        assert clock.jumps == jumps


async def test_a_typed_place_is_gone_to_and_what_names_none_is_refused_on_the_sheet(site: Site) -> None:
    async with played(site) as (look, clock):
        assert clock.timeline is not None
        await look.press("p", "T", *"7", "enter")
        assert "7 may be a time, a round or a share, expected mm:ss, hh:mm:ss, round 7, or 40 %" in look.text
        await look.press("backspace")
        assert "may be a time" not in look.text
        await look.press(*"round 1", "enter")
        await look.until(lambda: clock.timeline is not None and clock.played == clock.timeline.rounds[0])
        await look.press("colon", *"time 50 %", "enter")
        await look.until(lambda: clock.timeline is not None and clock.played == clock.timeline.total / 2)
        await look.press("colon", *"time 900:00:00", "enter")
        assert "is after the end" in look.lines[-1]
        await look.press("T", "escape")
        assert clock.played == clock.timeline.total / 2


async def test_faster_and_slower_are_told_in_the_badge(site: Site) -> None:
    async with played(site) as (look, clock):
        await look.press("(")
        assert "REPLAY ×50000" in look.lines[0]
        await look.press(")", ")")
        assert clock.speed == 100_000
        await look.press("p", "p")
        assert "PAUSED" not in look.lines[0]


async def test_the_keys_are_those_of_a_replay_alone() -> None:
    async with looking(faulty()) as look:
        assert set(look.app.navigation.valid_actions).isdisjoint(REPLAYING)
        for name in REPLAYING:
            await look.press(ACTIONS[name].keys)
            assert "Only a session that is played again has this key" in look.lines[-1]
        assert set(REPLAYING) < set(GLOBAL)


async def test_the_keys_are_in_the_help_of_a_replay(site: Site) -> None:
    async with played(site) as (look, _):
        assert set(REPLAYING) <= set(look.app.navigation.valid_actions)
        await look.press("question_mark", *"played again")
        assert "stand still in a session that is played again" in look.text


@pytest.mark.parametrize("width", range(20, 201, 20))
@pytest.mark.parametrize("share", [0.0, 0.5, 0.999, 1.0])
def test_the_bar_is_full_at_the_end_alone(width: int, share: float) -> None:
    bar = SeekBar()
    bar.place = ReplayPlace(400_000.0 * share, 400_000.0, 1.7e9, 3, 1200)
    (row,) = bar.draw(width, 1)
    drawn = "".join(cell.text for cell in row)
    assert len(drawn) <= width
    if "━" in drawn or "─" in drawn:
        assert ("─" not in drawn) is (share == 1.0)
        assert ("━" not in drawn) is (share == 0.0)


def test_a_session_without_any_event_has_a_bar_that_is_full() -> None:
    bar = SeekBar()
    bar.place = ReplayPlace(0.0, 0.0, 1.7e9, 0, 0)
    assert "─" not in "".join(cell.text for cell in bar.draw(120, 1)[0])
    bar.place = None
    assert bar.draw(120, 1) == []
