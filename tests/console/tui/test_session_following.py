"""The thread that opens a session waits until its fabric is drawn, and for nothing else."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from benchconsole.console.tui.app import console_app, session_following
from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.session_following import Analyse
from benchconsole.console.tui.app.shown_session import OpenSession
from benchconsole.console.tui.screens.fabric import FabricScreen
from benchconsole.console.view.reducer import LatestView
from benchconsole.topology.model.fabric import Fabric
from tests.console.tui.looking import PLAIN, Look, begin, faulty, healthy
from tests.console.tui.playing import Player


@asynccontextmanager
async def opening(
    analyse: Analyse = lambda _: (), until: int | None = None
) -> AsyncIterator[tuple[Look, threading.Event]]:
    """A console whose session is being opened until the event is set, and tells so many events then; nothing is known."""
    player, over = Player(faulty(), until=until), threading.Event()

    def make() -> Player:
        assert over.wait(60)
        return player

    app = ConsoleApp(make, PLAIN, now=lambda: 1_700_000_100.0, analyse=analyse, latest=LatestView())
    async with app.run_test(size=(120, 40)) as pilot:
        try:
            yield Look(app, pilot, player), over
        finally:
            over.set()


async def draw_first(look: Look, opened: OpenSession) -> None:
    """Do what the opening does when the fabric of ``opened`` is known, in a thread of its own."""
    await asyncio.to_thread(look.app.following._draw_first, opened, asyncio.get_running_loop())


async def test_the_fabric_is_on_the_screen_when_the_opening_goes_on() -> None:
    async with opening() as (look, _):
        front = look.app.session.front
        assert "n001" not in look.text
        front.latest.preview(begin(faulty()), 0, 3)
        await draw_first(look, front)
        assert "spine1" in look.text
        assert look.app.navigation.fabric.find_shape(faulty().fabric) is not None


async def test_the_opening_draws_its_fabric_before_it_goes_on() -> None:
    """Through ``preview``, as ``open`` calls it; a preview of another thread waits for nothing."""
    latest, drawn = LatestView(), list[bool]()
    player = Player(faulty())

    def make() -> Player:
        other = threading.Thread(target=latest.preview, args=(begin(healthy()), 0, 0))
        other.start()
        other.join(60)
        began = begin(faulty())

        def is_drawn() -> bool:
            shown = app.navigation.fabric.map.view
            return shown is not None and shown.fabric is began.fabric

        drawn.append(is_drawn())
        latest.preview(began, 0, 3)
        drawn.append(is_drawn())
        return player

    app = ConsoleApp(make, PLAIN, now=lambda: 1_700_000_100.0, analyse=lambda _: (), latest=latest)
    async with app.run_test(size=(120, 40)) as pilot:
        look = Look(app, pilot, player)
        await look.until(lambda: app.session.latest.generation >= player.until)
    assert drawn == [False, True]


async def test_a_session_that_is_not_in_front_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opening() as (look, _):
        behind = OpenSession(LatestView())
        behind.latest.preview(begin(faulty()), 0, 3)
        monkeypatch.setattr(session_following, "wait_drawn", lambda _: pytest.fail("waited"))
        await draw_first(look, behind)
        assert "spine1" not in look.text


async def test_a_screen_that_is_never_drawn_holds_the_opening_up_for_a_while_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with opening() as (look, _):
        waiting = asyncio.Event()

        async def wait_drawn(_: FabricScreen) -> None:
            waiting.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(session_following, "wait_drawn", wait_drawn)
        monkeypatch.setattr(session_following, "DRAWN_WITHIN", 0.01)
        front = look.app.session.front
        await draw_first(look, front)
        async with asyncio.timeout(60):
            await waiting.wait()


async def test_a_screen_that_is_left_meanwhile_lets_the_opening_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opening() as (look, _):

        async def wait_drawn(_: FabricScreen) -> None:
            raise asyncio.CancelledError

        monkeypatch.setattr(session_following, "wait_drawn", wait_drawn)
        front = look.app.session.front
        await draw_first(look, front)


async def test_the_first_results_are_drawn_without_a_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console_app, "TICK", 3600.0)
    async with opening(until=1) as (look, over):
        over.set()
        async with asyncio.timeout(60):
            while "spine1" not in look.text:
                await look.pilot.pause(0.01)


async def test_a_description_is_analysed_when_the_results_are_there() -> None:
    asked: list[Fabric] = []

    def analyse(fabric: Fabric) -> tuple[()]:
        asked.append(fabric)
        return ()

    async with opening(analyse) as (look, over):
        look.app.session.front.latest.preview(begin(faulty()), 0, 3)
        for _ in range(3):
            look.app.tick()
            await look.pilot.pause()
        assert not asked
        over.set()
        await look.until(lambda: bool(asked))
        assert look.app.session.latest.has_begun


async def test_before_a_session_is_open_no_key_acts_on_it() -> None:
    async with opening() as (look, over):
        await look.settle()
        assert "? help" in look.lines[-1]
        assert not any(words in look.lines[-1] for words in ("stop", "plan a run", "remark"))
        over.set()
        await look.until(lambda: "plan a run" in look.lines[-1])
        assert "stop" not in look.lines[-1]
