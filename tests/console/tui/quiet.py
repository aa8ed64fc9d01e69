"""How long a test waits for the console: until there is nothing left to do, not for a time.

Textual's own wait sleeps a fiftieth of a second at least, twice for every key, and sends a message to every widget: most
of the time of these tests was that.
"""

import asyncio
import time
from asyncio.base_events import BaseEventLoop
from typing import Any
from weakref import WeakKeyDictionary

import pytest
import textual.app
import textual.pilot
from textual.app import App
from textual.pilot import Pilot

MOST_TURNS = 10_000
"""Turns of the event loop after which a task that never rests is left to itself."""

MOST_PAINTS = 50
"""Pictures after which a screen that always changes is left to itself."""

LONGEST = 0.5
"""Seconds without work for which all waits together wait for one call in a thread: some end when the test says so."""

STEP = 0.02
"""Seconds from one look at the threads to the next."""

IDLE = 0.1
"""Share of a processor below which no thread works: on a loaded machine one that does gets more."""


class Quiet:
    """Knows what a loop has to do: what is ready in it, and what was given to its threads."""

    def __init__(self) -> None:
        self._in_threads: WeakKeyDictionary[asyncio.Future[Any], float] = WeakKeyDictionary()
        """For each call how long it was waited for while nothing worked."""

    def watch(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Take the place of the waits of Textual, and see what goes to threads."""
        monkeypatch.setattr(textual.app, "wait_for_idle", self.wait)
        monkeypatch.setattr(textual.pilot, "wait_for_idle", self.wait)
        monkeypatch.setattr(Pilot, "_wait_for_screen", lambda _pilot, *_: self.wait())
        # For a twentieth of a second after a new screen nothing is painted, and no wait of ours knows of that timer.
        monkeypatch.setattr(App, "delay_update", lambda _app, *_: None)
        press, pause, resize = Pilot.press, Pilot.pause, Pilot.resize_terminal

        async def press_each(pilot: Pilot[Any], *keys: str) -> None:
            for key in keys:
                await press(pilot, key)
                await pilot.pause()

        async def pause_painted(pilot: Pilot[Any], delay: float | None = None) -> None:
            """Paint as often as there is something to paint: a new size or focus changes the next picture."""
            await pause(pilot, delay)
            await self.wait()
            for _ in range(MOST_PAINTS):
                if not _has_to_paint(pilot.app):
                    break
                pilot.app._check_resize()
                await pause(pilot)
                await self.wait()

        async def resize_painted(pilot: Pilot[Any], width: int, height: int) -> None:
            """Textual tells screens of a size when its timer says so: this does at once what the timer does."""
            await resize(pilot, width, height)
            pilot.app._check_resize()
            await pilot.pause()

        monkeypatch.setattr(Pilot, "resize_terminal", resize_painted)
        monkeypatch.setattr(Pilot, "press", press_each)
        monkeypatch.setattr(Pilot, "pause", pause_painted)
        give = BaseEventLoop.run_in_executor

        def watch_given(loop: BaseEventLoop, *given: Any) -> Any:
            future = give(loop, *given)
            self._in_threads[future] = 0.0
            return future

        monkeypatch.setattr(BaseEventLoop, "run_in_executor", watch_given)

    async def wait(self, *_: float) -> None:
        """Until nothing is ready and no thread works."""
        await _run_what_is_ready()
        while working := self._find_working():
            began, used = time.monotonic(), time.process_time()
            await asyncio.sleep(STEP)
            await _run_what_is_ready()
            elapsed = time.monotonic() - began
            if time.process_time() - used < IDLE * elapsed:
                for each in working:
                    self._in_threads[each] += elapsed

    def _find_working(self) -> list[asyncio.Future[Any]]:
        return [each for each, waited in self._in_threads.items() if not each.done() and waited < LONGEST]


def _has_to_paint(app: App[Any]) -> bool:
    """Whether the next tick of one of Textual's timers would do something: it says so nowhere else."""
    screen: Any = app.screen
    required = (screen._layout_required, screen._scroll_required, screen._repaint_required, screen._recompose_required)
    waiting = app._resize_event, screen._dirty_widgets, screen._callbacks
    return any(required) or any(map(bool, waiting))


async def _run_what_is_ready() -> None:
    loop: Any = asyncio.get_running_loop()
    for _ in range(MOST_TURNS):
        await asyncio.sleep(0)
        if not loop._ready:  # asyncio says it nowhere else
            return
