"""Orders to the session from the keys: plan and start rounds, stop or pause them, answer questions of a run."""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Sequence
from typing import Any

from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.shown_session import ShownSession
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.disk import DiskSheet, seen
from benchconsole.console.tui.screens.password import PasswordSheet
from benchconsole.console.tui.screens.plan import PlanSheet
from benchconsole.console.tui.widgets.options import Option
from benchconsole.console.view.session_control import Proposal
from benchconsole.probes.blank_devices import Confirmation
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round

Work = Callable[[Coroutine[Any, Any, None]], object]
"""Runs a coroutine beside the screen."""

STOP = (
    Option("a", "after the round", "close this round, judge it, then stop", "after"),
    Option("n", "now", "cancel what runs; the round counts as not measured", "now"),
    Option("p", "pause", "wait before the next round", "pause"),
    Option("g", "go on", "do not stop", "go on"),
)


class RunOrders:
    """Each order asks first, on a sheet; it is refused in words where another console drives the session."""

    def __init__(self, session: ShownSession, navigation: Navigation, work: Work) -> None:
        self._session = session
        self._navigation = navigation
        self._work = work
        self._starting = asyncio.Lock()  # held while a run begins: the tab changes then, and every sheet goes with it

    def plan(self, suite: str | None = None, *, failed_only: bool = False, only: Collection[str] = ()) -> None:
        """Propose rounds and show them; nothing is sent before enter."""
        control = self._session.control
        if control is None:
            self._navigation.say("The session is not open yet.")
            return
        if control.follows or control.running:
            self._navigation.say(control.follows or "A run is going; S stops it first.", wrong=True)
            return
        fixed = failed_only or bool(only)

        async def propose(name: str | None, typed: Sequence[str]) -> Proposal:
            return await control.propose(None if fixed else name, failed_only=failed_only, only=only, typed=typed)

        suites = () if fixed else control.suites
        remaining = control.resumable and not fixed
        badges = self._session.badges
        sheet = PlanSheet(suites, propose, self.make_disk_sheet, badges, suite=suite, owed=remaining)
        self._navigation.ask(sheet, self._start)

    def make_disk_sheet(self, asked: Confirmation) -> DiskSheet:
        return DiskSheet(asked, seen(self._session.latest.view, asked.node, asked.serial), self._session.badges)

    def _start(self, rounds: tuple[Round, ...] | None) -> None:
        if rounds is not None:
            self._work(self._begin(rounds))

    async def _begin(self, rounds: tuple[Round, ...]) -> None:
        if self._session.control is None:
            return
        async with self._starting:
            try:
                await self._session.control.start(rounds)
            except PlanError as error:
                self._navigation.say(f"Not started: {error}", wrong=True, stay=True)
            else:
                self._navigation.go_to("run", base=True)

    def ask_stop(self) -> None:
        control = self._session.control
        if control is not None and control.follows:
            self._navigation.say(control.follows, wrong=True)
            return
        if control is None or not control.running:
            self._navigation.say("Nothing is running.")
            return
        options: tuple[Option, ...] = STOP
        if control.paused:
            options = (*STOP[:2], Option("g", "go on", "take up the next round", "go on"))
        text = "The run is paused." if control.paused else "Rounds that are closed are kept whatever you choose."
        self._navigation.ask(ChoiceSheet("stop the run", text, options, self._session.badges), self._stop)

    def _stop(self, how: str | None) -> None:
        control = self._session.control
        if control is None or how is None:
            return
        if how in ("after", "now"):
            control.stop(now=how == "now")
            self._navigation.say("Stopping now." if how == "now" else "Stopping when this round is closed.")
        elif how == "pause":
            control.pause()
            self._navigation.say("Pausing when this round is closed; S takes it up again.")
        elif control.paused:
            control.go_on()
            self._navigation.say("Going on.")

    async def ask_password(self, prompt: str) -> str | None:
        """Ask for a password in front of the screen; None where none is given."""
        sheet = PasswordSheet(prompt, self._session.badges)
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def take(text: str | None) -> None:
            if not answer.done():
                answer.set_result(text)

        async with self._starting:
            self._navigation.ask_later(sheet, take, lambda: not answer.done())
        try:
            return await answer
        finally:
            sheet.dismiss(None)
