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


async def test_a_picture_is_asked_for_ten_times_a_second_and_by_one_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    clocks: list[tuple[float, str]] = []
    begin = ConsoleApp.set_interval

    def note(self: ConsoleApp, interval: float, callback: Callable[[], None], **options: Any) -> Any:
        clocks.append((interval, callback.__name__))
        return begin(self, interval, callback, **options)

    monkeypatch.setattr(ConsoleApp, "set_interval", note)
    async with looking(large(), SIZE, until=1):
        assert clocks == [(0.1, "tick")]


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
    rows = round_tests.test_rows(view, current)
    assert len(rows) == round_tests.MOST_ROWS < len(current.tests)
    assert {row.test.id for row in rows[:3]} == {test.id for test in slow}
    assert [row.share for row in rows[:4]] == [0.2, 0.2, 0.2, 1.0]
