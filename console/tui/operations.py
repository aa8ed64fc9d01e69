"""Owns what the application does on a key: tabs, freeze, plans, stopping, export, leaving."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence

from console.tui import messages
from console.tui.bridge import Conductor, Proposal
from console.tui.screens.choice import Choice
from console.tui.screens.disk import DiskSheet, seen
from console.tui.screens.export import Export, Target
from console.tui.screens.password import PasswordSheet
from console.tui.screens.plan import PlanSheet
from console.tui.terminal import Terminal
from console.tui.ways import Ways
from console.tui.widgets.options import Option
from console.view import RunView
from console.wording import plain
from probes.errors import PlanError
from probes.hygiene.devices import Confirmation
from probes.model import Round

STOP = (
    Option("a", "after the round", "close this round, judge it, then stop", "after"),
    Option("n", "now", "cancel what runs; the round counts as not measured", "now"),
    Option("p", "pause", "wait before the next round", "pause"),
    Option("g", "go on", "do not stop", "go on"),
)


class Operations(Ways):
    """Actions that are valid everywhere, by their keys."""

    is_leaving = False

    def __init__(self, make: Callable[[], Conductor], terminal: Terminal, now: Callable[[], float]) -> None:
        super().__init__(make, terminal, now)
        self.begins = asyncio.Lock()
        """Held while a run begins: then the screen in front changes, and with it every sheet goes."""

    def action_fabric(self) -> None:
        """The fabric."""
        self.go_to("fabric")

    def action_nodes(self) -> None:
        """The nodes."""
        self.go_to("nodes")

    def action_run(self) -> None:
        """The run."""
        self.go_to("run")

    def action_findings(self) -> None:
        """The findings."""
        self.go_to("findings")

    def action_freeze(self) -> None:
        """Stop painting, or go on with the latest."""
        if self.frozen_at is None:
            self.frozen_at = time.monotonic()
            self.frozen_generation = self.bridge.generation
        else:
            self.frozen_at = None
        self.run_screen.frozen = self.frozen_at is not None
        self.tick()

    def action_plan(self) -> None:
        """Plan a run."""
        self.plan(None)

    def action_export(self) -> None:
        """Write a report."""
        stem = plain(self.shown.label).replace(" ", "-").replace("/", "-") if self.shown else ""
        self.push_screen(Export(stem or "benchconsole", self.badges()), self.write)

    def action_stop(self) -> None:
        """Ask how to stop."""
        conductor = self.conductor
        if conductor is not None and conductor.follows:
            self.say(conductor.follows, wrong=True)
            return
        if conductor is None or not conductor.running:
            self.say("Nothing is running.")
            return
        options: tuple[Option, ...] = STOP
        if conductor.paused:
            options = (*STOP[:2], Option("g", "go on", "take up the next round", "go on"))
        text = "The run is paused." if conductor.paused else "Rounds that are closed are kept whatever you choose."
        self.push_screen(Choice("stop the run", text, options, self.badges()), self.stop_as)

    def stop_as(self, how: str | None) -> None:
        """Stop, pause or go on."""
        conductor = self.conductor
        if conductor is None or how is None:
            return
        if how in ("after", "now"):
            conductor.stop(now=how == "now")
            self.say("Stopping now." if how == "now" else "Stopping when this round is closed.")
        elif how == "pause":
            conductor.pause()
            self.say("Pausing when this round is closed; S takes it up again.")
        elif conductor.paused:
            conductor.go_on()
            self.say("Going on.")

    def action_quit_asking(self) -> None:
        """Leave; ask first when a run is going."""
        if self.conductor is None or not self.conductor.running:
            self.leave(0)
            return
        options = (
            Option("a", "after the round", "stop when the round is closed, then leave", "after"),
            Option("n", "now", "cancel what runs, then leave", "now"),
            Option("s", "stay", "go on", "stay"),
        )
        text = "A run is going. It ends when you leave; what is closed is kept and can be resumed."
        self.push_screen(Choice("leave", text, options, self.badges()), self.leave_as)

    def leave_as(self, how: str | None) -> None:
        """Stop and leave."""
        if how in ("after", "now"):
            self.leave(0, now=how == "now")

    def leave(self, code: int, *, now: bool = True) -> None:
        """End what runs, wait until nothing of ours is left on any node, then exit; asked again, exit at once."""
        conductor = self.conductor
        if conductor is None:
            self.exit(code)
            return
        if self.is_leaving:
            conductor.abandon()
            self.exit(code)
            return
        self.is_leaving = True
        if conductor.running:
            conductor.stop(now=now)
            self.say("Leaving when nothing of ours runs on the nodes any more; ctrl-c twice leaves at once.", stay=True)
        self.run_worker(self._finish(code), group="leaving", exit_on_error=False)

    async def _finish(self, code: int) -> None:
        try:
            if self.conductor is not None:
                await self.conductor.finished()
        finally:
            self.exit(code)

    def plan(self, suite: str | None, *, failed_only: bool = False, only: Collection[str] = ()) -> None:
        """Propose rounds and show them; nothing is sent before enter."""
        conductor = self.conductor
        if conductor is None:
            self.say("The session is not open yet.")
            return
        if conductor.follows:
            self.say(conductor.follows, wrong=True)
            return
        if conductor.running:
            self.say("A run is going; S stops it first.", wrong=True)
            return
        fixed = failed_only or bool(only)

        async def propose(name: str | None, typed: Sequence[str]) -> Proposal:
            return await conductor.propose(None if fixed else name, failed_only=failed_only, only=only, typed=typed)

        suites = () if fixed else conductor.suites
        owed = conductor.resumable and not fixed
        self.push_screen(
            PlanSheet(suites, propose, self.disk_sheet, self.badges(), suite=suite, owed=owed), self.start_rounds
        )

    def disk_sheet(self, asked: Confirmation) -> DiskSheet:
        """What is asked before a disk may be overwritten."""
        return DiskSheet(asked, seen(self.bridge.view, asked.node, asked.serial), self.badges())

    async def ask_password(self, prompt: str) -> str | None:
        """Ask for a password in front of the screen; None where none is given."""
        sheet = PasswordSheet(prompt, self.badges())
        answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

        def answered(text: str | None) -> None:
            if not answer.done():
                answer.set_result(text)

        def show() -> None:
            if not answer.done():
                self.push_screen(sheet, answered)

        async with self.begins:
            self.call_later(show)
        try:
            return await answer
        finally:
            if sheet.is_current:
                sheet.dismiss(None)

    def on_plan(self, message: messages.Plan) -> None:
        self.plan(message.suite, failed_only=message.failed_only, only=message.only)

    def start_rounds(self, rounds: tuple[Round, ...] | None) -> None:
        """Start what was shown, and show the run."""
        if rounds is not None:
            self.run_worker(self._begin(rounds), exit_on_error=False, group="orders")

    async def _begin(self, rounds: tuple[Round, ...]) -> None:
        if self.conductor is None:
            return
        async with self.begins:
            try:
                await self.conductor.start(rounds)
            except PlanError as error:
                self.say(f"Not started: {error}", wrong=True, stay=True)
            else:
                self.go_to("run", base=True)

    def write(self, target: Target | None) -> None:
        """Write a report beside the screen, and say where it is."""
        view = self.bridge.view
        if target is not None and view is not None:
            self.run_worker(self._write(target, view), exit_on_error=False, group="reports")

    async def _write(self, target: Target, view: RunView) -> None:
        if self.conductor is None:
            return
        try:
            path = await self.conductor.export(target.kind, view, target.path)
        except OSError as error:
            self.say(f"{target.path}: {error.strerror or error}", wrong=True)
        else:
            self.say(f"written: {path}")
