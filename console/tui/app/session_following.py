"""Every open session is followed here: its control is made, its events are folded, its description analysed."""

import asyncio
import concurrent.futures
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.orders import Orders, Work
from benchconsole.console.tui.app.shown_session import OpenSession, ShownSession
from benchconsole.console.tui.screens.fabric import wait_drawn
from benchconsole.console.view.events import Event
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_control import AskPassword
from benchconsole.topology.analysis.static_finding import StaticFinding
from benchconsole.topology.model.fabric import Fabric

if TYPE_CHECKING:
    from benchconsole.console.session.controller import SessionController

Analyse = Callable[[Fabric], Iterable[StaticFinding]]
"""The static analysis of a fabric; may take half a second."""

DRAWN_WITHIN = 2.0
"""Seconds for which the opening of a session waits until its fabric is on the screen."""

MakeControl = Callable[[], "SessionController"]
"""Opens a session; imports what is slow, and may take seconds."""


class SessionFollowing(Orders):
    """``failure`` is the first error of the session that the console was opened on, or of an analysis."""

    def __init__(
        self, session: ShownSession, navigation: Navigation, work: Work, analyse: Analyse, ask_password: AskPassword
    ) -> None:
        super().__init__(session, navigation, work)
        self._analyse = analyse
        self._ask_password = ask_password
        self.failure: BaseException | None = None

    def follow(self, opened: OpenSession, make: MakeControl, fail: Callable[[str], None]) -> None:
        """Open a session and take in its events; ``fail`` is told in words why it could not be opened."""
        opened.worker = self._work(self._follow(opened, make, fail))

    async def _follow(self, opened: OpenSession, make: MakeControl, fail: Callable[[str], None]) -> None:
        try:
            # In a thread: it imports what is slow, and the first frame must not wait for that.
            draw = partial(self._draw_first, opened, asyncio.get_running_loop())
            control = await asyncio.to_thread(_make_control, opened, make, draw)
            control.answered_by(self._ask_password)
            if opened.when_open is not None and opened is self._session.front:
                opened.when_open()
            await control.follow(partial(self._take, opened, asyncio.get_running_loop()))
        except Exception as error:  # a worker's edge: the screen must outlive what it shows
            if opened is self._first:
                self.failure = error
            if not opened.latest.has_begun:
                fail(str(error))  # there is nothing to show
            elif opened is self._session.front:
                self._navigation.say(f"The session ended: {type(error).__name__}: {error}", wrong=True, stay=True)

    def _take(self, opened: OpenSession, loop: asyncio.AbstractEventLoop, events: Sequence[Event]) -> None:
        """Take events in, in the thread that tells them; the first ones are drawn without waiting for a tick."""
        is_first = not opened.latest.has_begun
        opened.latest.take(events)
        if is_first:
            with suppress(RuntimeError):  # the screen may have been left meanwhile
                loop.call_soon_threadsafe(self._paint, opened)

    def _paint(self, opened: OpenSession) -> None:
        if opened is self._session.front:
            self._navigation.paint()

    def _draw_first(self, opened: OpenSession, loop: asyncio.AbstractEventLoop) -> None:
        """Wait in the thread that opens a session: what it imports next would take the processor from the drawing."""
        drawing = asyncio.run_coroutine_threadsafe(self._draw(opened), loop)
        # The screen may be left meanwhile, or be of no size.
        with suppress(concurrent.futures.CancelledError, TimeoutError):
            drawing.result(DRAWN_WITHIN)

    async def _draw(self, opened: OpenSession) -> None:
        self._paint(opened)
        if opened is self._session.front:
            await wait_drawn(self._navigation.fabric)

    @property
    def _first(self) -> OpenSession:
        """The session that the console was opened on."""
        return (*self._session.behind, self._session.front)[0]

    def look(self) -> None:
        """Have what is on the screen analysed when all of it is read, and assessed when it is over.

        Results come first: the analysis of a large description takes as long as it takes to read a part of them.
        """
        opened = self._session.front
        view = opened.latest.view
        if view is None:
            return
        if view.fabric is not opened.analysed and opened.latest.has_begun:
            opened.analysed = view.fabric
            self._work(self._describe(opened, view.fabric))
        if view.ended is not None and view.results and view.results is not opened.assessed:
            opened.assessed = view.results
            self._work(self._assess(opened, view))

    async def _assess(self, opened: OpenSession, view: RunView) -> None:
        """Have it said how small a fault the tests of a session that is over could have shown."""
        if opened.control is None:
            return
        try:
            opened.latest.assess(view.results, await opened.control.assess(view))
        except Exception as error:  # a worker's edge: the results are worth more than what they could have shown
            self._say_failed(f"The faults that tests could show were not worked out: {type(error).__name__}", error)

    async def _describe(self, opened: OpenSession, fabric: Fabric) -> None:
        """Analyse the description beside the event loop. A failure is shown, and raised by ``run``."""
        try:
            found = await asyncio.to_thread(lambda: tuple(self._analyse(fabric)))
            opened.latest.describe(fabric, found)
        except Exception as error:  # a worker's edge: a session is worth more than its analysis
            self._say_failed(f"The description was not analysed: {type(error).__name__}", error)

    def _say_failed(self, words: str, error: Exception) -> None:
        self.failure = self.failure or error
        self._navigation.say(f"{words}: {error}", wrong=True, stay=True)


def _make_control(opened: OpenSession, make: MakeControl, draw: Callable[[], None]) -> "SessionController":
    """Open a session; one that was left meanwhile is closed again, for nobody else does it.

    ``draw`` is called here, and returns, when its fabric is known.
    """
    opening = threading.get_ident()
    opened.latest.on_preview = lambda: draw() if threading.get_ident() == opening else None
    control = opened.control = make()
    if opened.is_left:
        asyncio.run(control.close())
    return control
