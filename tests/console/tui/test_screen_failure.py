"""A screen that fails: the run goes on to its end, nothing of Textual's traceback is printed, ScreenError is raised."""

import asyncio
import os
import signal
from functools import partialmethod

import pytest

from benchconsole.console.tui.app import console_app, start_app
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.screen_failure import ScreenError
from benchconsole.console.tui.app.start_app import StartApp
from benchconsole.console.tui.start_model import StartModel
from tests.console.tui.looking import PLAIN, faulty
from tests.console.tui.playing import Player

SECRET = "a value that no traceback may show"


class Driven(Player):
    """A run that goes on when the screen fails, and comes to its end, or is ended by a signal."""

    ends: tuple[str, ...] = ()
    signals = 0
    told: asyncio.Event

    def stop(self, *, now: bool) -> None:
        self.tell("stop now" if now else "stop")

    def abandon(self) -> None:
        self.tell("abandon")

    def tell(self, order: str) -> None:
        self.ends += (order,)
        if self.signals:
            self.told.set()

    async def finished(self) -> None:
        for _ in range(self.signals):
            self.told = asyncio.Event()
            os.kill(os.getpid(), signal.SIGINT)
            await self.told.wait()
        self.ends += ("finished",)

    async def close(self) -> None:
        self.ends += ("closed",)


@pytest.fixture(autouse=True)
def failing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both applications without a terminal; the console fails as soon as the session is shown."""

    def tick(app: ConsoleApp) -> None:
        local = SECRET
        if app.session.control is not None:
            raise KeyError(local)

    monkeypatch.setattr(ConsoleApp, "tick", tick)
    for kind in (ConsoleApp, StartApp):
        monkeypatch.setattr(kind, "run", partialmethod(kind.run, headless=True))


@pytest.mark.parametrize(
    ("running", "paused", "follows", "signals", "ends", "said"),
    [
        (True, False, "", 0, ("finished", "closed"), "the run goes on without it"),
        (True, False, "", 1, ("stop now", "finished", "closed"), "the run goes on without it"),
        (True, False, "", 3, ("stop now", "abandon", "abandon", "finished", "closed"), "the run goes on without it"),
        (True, True, "", 0, ("stop now", "finished", "closed"), "was paused and is stopped"),
        (False, False, "", 0, ("closed",), ""),
        (True, False, "another console drives it", 0, ("closed",), ""),
    ],
)
def test_a_run_outlives_its_screen(
    running: bool,
    paused: bool,
    follows: str,
    signals: int,
    ends: tuple[str, ...],
    said: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    player = Driven(faulty(), until=1)
    player.running, player.paused, player.follows, player.signals = running, paused, follows, signals
    with pytest.raises(ScreenError) as raised:
        console_app.run(lambda: player, terminal=PLAIN)
    assert isinstance(raised.value.__cause__, KeyError)
    assert player.ends == ends
    printed = "".join(capfd.readouterr())
    assert said in printed
    assert bool(printed.strip("\a")) == bool(said)
    assert SECRET not in printed


def test_a_start_page_that_fails_is_no_choice(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail(_: StartApp) -> None:
        raise ZeroDivisionError(SECRET)

    monkeypatch.setattr(StartApp, "on_mount", fail)
    with pytest.raises(ScreenError) as raised:
        start_app.run_start(StartModel("1"), terminal=PLAIN)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    assert SECRET not in "".join(capfd.readouterr())
