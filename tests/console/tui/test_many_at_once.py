"""Ten thousand nodes report between two looks: pictures are counted, not seconds."""

from collections.abc import Callable
from typing import Any

import pytest

from benchconsole.console.tui.app import console_app
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.widgets import round_tests
from benchconsole.console.view.events import Event, IntervalsTold, RoundStarted, SessionOpened
from benchconsole.console.view.interval_rates import ToldInterval
from benchconsole.console.view.reducer import advance, advance_all, opened
from benchconsole.probes.api import Interval, Unit
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Result
from tests.console.tui.looking import large, looking
from tests.console.tui.test_bytes import watching

pytestmark = pytest.mark.fault("F35")

SIZE = (200, 60)
NEVER = 3600.0


def first_round() -> list[Event]:
    """Every node begins its test and ends it; the round stays open."""
    events = list(large().events())
    begin = next(place for place, event in enumerate(events) if isinstance(event, RoundStarted))
    end = next(place for place, event in enumerate(events) if isinstance(event, ClosedRound))
    return events[begin:end]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Every frame that the application gives to its terminal from now on."""
    frames: list[Any] = []
    display = ConsoleApp._display

    def note(self: ConsoleApp, screen: Any, renderable: Any) -> None:
        frames.append(renderable)
        display(self, screen, renderable)

    monkeypatch.setattr(ConsoleApp, "_display", note)
    return frames


async def test_events_ask_for_no_picture_and_a_tick_for_one_of_the_size_of_the_screen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(console_app, "TICK", NEVER)
    events = first_round()
    assert len(events) > 20_000
    async with looking(large(), SIZE, until=1) as look:
        await look.press("2")
        asked, frames = watching(monkeypatch), counted(monkeypatch)
        for start in range(0, len(events), 500):
            look.app.session.latest.take(events[start : start + 500])
            await look.pilot.pause()
        assert (asked, frames) == ([], [])
        look.app.tick()
        await look.pilot.pause()
        assert len(frames) == 1
        assert 0 < sum(region.area for region in asked) <= SIZE[0] * SIZE[1]
        view = look.app.session.latest.view
        assert view is not None
        assert len(view.fresh) == len(large().fabric.nodes)


async def test_a_picture_is_asked_for_five_times_a_second_and_by_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks: list[tuple[float, str]] = []
    begin = ConsoleApp.set_interval

    def note(self: ConsoleApp, interval: float, callback: Callable[[], None], **options: Any) -> Any:
        clocks.append((interval, callback.__name__))
        return begin(self, interval, callback, **options)

    monkeypatch.setattr(ConsoleApp, "set_interval", note)
    async with looking(large(), SIZE, until=1):
        assert clocks == [(0.2, "tick")]


def test_of_ten_thousand_that_run_the_slowest_are_listed() -> None:
    opening, *_ = large().events()
    assert isinstance(opening, SessionOpened)
    events = [event for event in first_round() if not isinstance(event, Result)]
    view = advance_all(opened(opening), events)
    current = view.current
    assert current is not None
    slow = current.tests[-3:]
    found = [
        ToldInterval(test.id, Interval("iperf3.throughput", 2e8 if test in slow else 1e9, Unit.BYTE_RATE, 1, 1), 1e9)
        for test in current.tests
    ]
    view = advance(view, IntervalsTold(tuple(found), 1.0))
    rows = round_tests.RoundRows().list(view, current)
    assert len(rows) == round_tests.MOST_ROWS < len(current.tests)
    assert {row.test.id for row in rows[:3]} == {test.id for test in slow}
    assert [row.share for row in rows[:4]] == [0.2, 0.2, 0.2, 1.0]


def test_rows_that_are_kept_are_those_that_would_be_made_anew() -> None:
    opening, *_ = large().events()
    assert isinstance(opening, SessionOpened)
    view, known = opened(opening), round_tests.RoundRows()
    events = first_round()
    parts = [events[:1], *(events[start : start + 4000] for start in range(1, len(events), 4000))]
    before: dict[str, round_tests.TestLine] = {}
    kept = 0
    for part in parts:
        view = advance_all(view, part)
        assert view.current is not None
        rows = known.list(view, view.current)
        assert rows == round_tests.RoundRows().list(view, view.current)
        kept += sum(before.get(row.test.id) is row for row in rows)
        before = {row.test.id: row for row in rows}
    assert kept > round_tests.MOST_ROWS
    ended = next(event for event in large().events() if isinstance(event, ClosedRound))
    view = advance(view, ended)
    rows = known.list(view, ended.round)
    assert rows == round_tests.RoundRows().list(view, ended.round)
    assert any(row.share is not None for row in rows)


async def test_a_row_is_drawn_anew_when_its_test_has_ended() -> None:
    """A drawing is kept for the line, the scale and the widths that it was drawn for, and for no others."""
    opening, *_ = large().events()
    assert isinstance(opening, SessionOpened)
    events = [event for event in first_round() if not isinstance(event, Result)]
    ended = [event for event in first_round() if isinstance(event, Result)]
    async with looking(large(), SIZE, until=1) as look:
        await look.press("3")
        tests = look.app.navigation.tabs.run.tests
        for part in (events, ended[:3], ended[3:900]):
            look.app.session.latest.take(part)
            look.app.tick()
            await look.pilot.pause()
            width = tests.size.width
            every = range(len(tests.items))
            drawn = [tests.row(index, width) for index in every]
            tests._made_for = ()
            assert drawn == [tests.row(index, width) for index in every]
            assert drawn[0] != tests.row(0, 30)
