"""Leaving the console: a run is ended first, in good order, and leaving again ends it at once."""

import time
from collections.abc import Callable

from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.run_orders import Work
from benchconsole.console.tui.app.shown_session import ShownSession
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.widgets.options import Option

AGAIN_WITHIN = 2.0
"""Seconds in which a second ctrl-c leaves."""

LEAVE = (
    Option("a", "after the round", "stop when the round is closed, then leave", "after"),
    Option("n", "now", "cancel what runs, then leave", "now"),
    Option("s", "stay", "go on", "stay"),
)


class ExitControl:
    """``end`` ends the application with an exit code."""

    def __init__(self, session: ShownSession, navigation: Navigation, work: Work, end: Callable[[int], object]) -> None:
        self._session = session
        self._navigation = navigation
        self._work = work
        self._end = end
        self._is_leaving = False
        self._interrupted = -AGAIN_WITHIN

    def ask(self) -> None:
        """Leave; ask first while a run is going."""
        if not self._session.running:
            self.leave(0)
            return
        text = "A run is going. It ends when you leave; what is closed is kept and can be resumed."
        self._navigation.ask(ChoiceSheet("leave", text, LEAVE, self._session.badges), self._leave_as)

    def _leave_as(self, how: str | None) -> None:
        if how in ("after", "now"):
            self.leave(0, now=how == "now")

    def interrupt(self) -> None:
        """Leave at the second ctrl-c."""
        if time.monotonic() - self._interrupted < AGAIN_WITHIN:
            self.leave(130)
            return
        self._interrupted = time.monotonic()
        self._navigation.say("Press ctrl-c again to stop everything and leave.")

    def leave(self, code: int, *, now: bool = True) -> None:
        """End what runs, wait until nothing of ours is left on any node, then exit; called again, exit at once."""
        control = self._session.control
        if control is None:
            self._end(code)
            return
        if self._is_leaving:
            control.abandon()
            self._end(code)
            return
        self._is_leaving = True
        if control.running:
            control.stop(now=now)
            words = "Leaving when nothing of ours runs on the nodes any more; ctrl-c twice leaves at once."
            self._navigation.say(words, stay=True)
        self._work(self._finish(code))

    async def _finish(self, code: int) -> None:
        try:
            if self._session.control is not None:
                await self._session.control.finished()
        finally:
            self._end(code)
