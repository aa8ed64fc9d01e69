"""Runs the console without a terminal and reads what it would paint."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from rich.segment import Segment
from textual._context import visible_screen_stack
from textual.app import App
from textual.pilot import Pilot

from benchconsole.console.tui.app.console_app import ConsoleApp
from benchconsole.console.tui.app.session_following import Analyse
from benchconsole.console.tui.rows.terminal import Terminal
from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import LatestView
from benchconsole.probes.model.judgement import Level
from benchconsole.topology.analysis.static_finding import StaticFinding
from benchconsole.topology.copying import replace
from tests.console.tui.fabrics import chassis, mini, ten_thousand
from tests.console.tui.playing import Player
from tests.console.tui.story import CHASSIS, MINI, TEN_THOUSAND, Faults, Story, tell

PLAIN = Terminal()


@cache
def faulty() -> Story:
    return tell(mini(), MINI)


@cache
def healthy() -> Story:
    return tell(mini(simulated=False), Faults())


@cache
def undecided() -> Story:
    """A fabric without a fault, of which two numbers could not be judged, for two reasons."""
    story = healthy()
    closed = list(story.closed)
    first, second, *others = closed[1].verdicts
    odd = [
        each._replace(level=Level.UNKNOWN, because=f"the flows ended {place + 1} s apart")
        for place, each in enumerate((first, second))
    ]
    closed[1] = replace(closed[1], verdicts=(*odd, *others))
    return replace(story, closed=closed)


@cache
def boxes() -> Story:
    return tell(chassis(), CHASSIS)


@cache
def large() -> Story:
    return tell(ten_thousand(), TEN_THOUSAND, most=2)


MOST_SECONDS = 60.0
"""How long a test waits for what another thread does; a loaded machine is slow, and none of the tests needs that long."""


class Look:
    """One running console."""

    def __init__(self, app: ConsoleApp, pilot: Pilot[int], player: Player) -> None:
        self.app = app
        self.pilot = pilot
        self.player = player

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.pilot.press(key)
        await self.settle()

    async def settle(self) -> None:
        """Let messages and repaints be done; hand the latest view over now instead of on the tick."""
        await self.pilot.pause()
        self.app.tick()
        await self.pilot.pause()

    async def until(self, reached: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(MOST_SECONDS):
                while not reached():
                    await self.settle()
                    if not reached():
                        await self.pilot.pause(0.01)  # a thread that works needs the interpreter
        except TimeoutError:
            raise AssertionError(f"never reached; the last line says {self.lines[-1].strip()!r}") from None

    @property
    def lines(self) -> list[str]:
        return lines(self.app)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def begin(story: Story) -> SessionOpened:
    """The opening of a stored session, before any of its rounds is read."""
    first = next(story.events())
    assert isinstance(first, SessionOpened)
    return replace(first, plan=())


@asynccontextmanager
async def reading(story: Story, size: tuple[int, int] = (120, 40)) -> AsyncIterator[tuple[Look, threading.Event]]:
    """The console while ``story`` is read from the store: one of its rounds so far, until the event is set."""
    player, latest, over = Player(story), LatestView(), threading.Event()

    def make() -> Player:
        latest.preview(begin(story), 1, len(story.closed))
        assert over.wait(60)
        return player

    app = ConsoleApp(make, PLAIN, now=lambda: 1_700_000_100.0, analyse=lambda _: (), latest=latest)
    async with app.run_test(size=size) as pilot:
        look = Look(app, pilot, player)
        try:
            await look.until(lambda: latest.view is not None)
            await look.settle()
            yield look, over
        finally:
            over.set()


def painted(app: App[Any]) -> list[list[Segment]]:
    """Every segment of the screen, row by row, sheets and what is below them."""
    visible_screen_stack.set(app._background_screens)
    update = app.screen._compositor.render_full_update()
    return [[segment for part in strips for segment in part] for strips in update.strips]


def lines(app: App[Any]) -> list[str]:
    return ["".join(segment.text for segment in row) for row in painted(app)]


def colours(rows: Iterable[Iterable[Segment]]) -> set[str]:
    """Every colour that a visible character or its ground has."""
    found = set()
    for row in rows:
        for segment in row:
            assert segment.style is not None
            if segment.style.bgcolor is not None:
                found.add(segment.style.bgcolor.name)
            if segment.style.color is not None and segment.text.strip():
                found.add(segment.style.color.name)
    return found


@asynccontextmanager
async def looking(
    story: Story,
    size: tuple[int, int] = (120, 40),
    *,
    terminal: Terminal = PLAIN,
    until: int | None = None,
    static: Sequence[StaticFinding] = (),
) -> AsyncIterator[Look]:
    """The console on ``story`` with ``until`` of its events (all by default); ``static`` is what its description shows."""
    player = Player(story, until=until)
    async with running(player, size, lambda _fabric: static, terminal=terminal) as look:
        await look.until(
            lambda: look.app.session.latest.view is not None and look.app.session.latest.view.static is not None
        )
        await look.until(lambda: look.app.navigation.fabric.find_shape(story.fabric) is not None)
        await look.settle()
        yield look


@asynccontextmanager
async def running(
    player: Player, size: tuple[int, int], analyse: Analyse, *, terminal: Terminal = PLAIN
) -> AsyncIterator[Look]:
    """The console on ``player`` when all that it plays has come in; the analysis may still go on."""
    app = ConsoleApp(lambda: player, terminal, now=lambda: 1_700_000_100.0, analyse=analyse)
    async with app.run_test(size=size) as pilot:
        look = Look(app, pilot, player)
        await look.until(lambda: app.session.latest.generation >= player.until)
        await look.settle()
        yield look
