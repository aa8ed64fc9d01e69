"""Ten thousand nodes report between two looks: pictures are counted, not seconds."""

from collections.abc import Callable
from typing import Any

import pytest

from benchconsole.console.tui.app import console_app
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.view.events import Event, RoundStarted
from benchconsole.probes.model.judgement import ClosedRound
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
