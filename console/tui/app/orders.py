"""Orders to the session from the keys: plan, start, stop or pause a run, answer its questions, write reports, leave."""

import asyncio
import time
from collections.abc import Callable, Collection, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from textual.worker import Worker

from benchconsole.console.text.atomic_write import FileError
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import name_keys
from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.shown_session import ShownSession
from benchconsole.console.tui.screens.choice import ChoiceSheet
from benchconsole.console.tui.screens.export import FORMATS, ExportSheet, ExportTarget, read_target
from benchconsole.console.tui.widgets.options import Option
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.session_control import Proposal, RunForm
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Round
from benchconsole.topology.model.fabric import NodeId

if TYPE_CHECKING:
    from benchconsole.console.session.controller import SessionController
    from benchconsole.console.tui.screens.disk import DiskSheet
    from benchconsole.console.tui.screens.plan import Options
    from benchconsole.probes.blank_devices import Confirmation

Work = Callable[[Coroutine[Any, Any, None]], Worker[None]]
"""Runs a coroutine beside the screen."""

STOP = (
    Option("a", "after the round", "close this round, judge it, then stop", "after"),
    Option("n", "now", "cancel what runs; the round counts as not measured", "now"),
    Option("p", "pause", "wait before the next round", "pause"),
    Option("g", "go on", "do not stop", "go on"),
)


class Orders:
    """The base of every order: the session, the screens, and work beside them."""

    def __init__(self, session: ShownSession, navigation: Navigation, work: Work) -> None:
        self._session = session
        self._navigation = navigation
        self._work = work

    def refuses(self) -> bool:
        """Whether this console only looks, which is then said."""
        if self._session.looks_only:
            self._navigation.say(self._session.looks_only, wrong=True)
        return bool(self._session.looks_only)


def obey_when_open(session: ShownSession, navigation: Navigation, order: Callable[[], None], then: str) -> None:
    """Obey when the session is open, unless somebody has gone to another page or a sheet by then: a key that was typed
    for that, such as enter, must not do anything else.
    """
    frame = navigation.frame
    session.front.when_open = lambda: order() if navigation.is_in_front(frame) else None
    navigation.say(f"The session is not open yet; then {then}.")


class RunOrders(Orders):
    """Each order asks first, on a sheet; it is refused in words where another console drives the session."""

    def __init__(self, session: ShownSession, navigation: Navigation, work: Work) -> None:
        super().__init__(session, navigation, work)
        self._starting = asyncio.Lock()  # held while a run begins: the tab changes then, and every sheet goes with it

    def plan(
        self, suite: str | None = None, *, failed_only: bool = False, only: Collection[str] = (), test: str = ""
    ) -> None:
        """Propose rounds and show them; nothing is sent before enter. A suite is planned on marked nodes alone."""
        control = self._session.control
        if self.refuses():
            return
        if control is None:
            plan = partial(self.plan, suite, failed_only=failed_only, only=only, test=test)
            obey_when_open(self._session, self._navigation, plan, "the plan is shown")
            return
        if self._session.follows or control.running:
            going = name_keys("A run is going; S stops it first.", "stop")
            self._navigation.say(self._session.follows or going, wrong=True)
            return
        if self._session.front.is_judging:
            self._navigation.say("The session is being judged again.", wrong=True)
            return
        if self._session.running:
            self._navigation.say("A run is going in the session behind; esc goes back to it.", wrong=True)
            return
        from benchconsole.console.tui.screens.plan import PlanSheet  # not before the first frame

        fixed = failed_only or bool(only) or bool(test)
        marked = None if fixed else self._navigation.marked

        async def propose(name: str | None, typed: Sequence[str], options: "Options") -> Proposal:
            return await control.propose(
                None if fixed else name, failed_only=failed_only, only=only, typed=typed,
                nodes=marked if options is None else None, options=options, test=test,
            )  # fmt: skip

        def make_form(name: str | None, options: "Options") -> RunForm:
            return control.planning.make_form(name, marked, options, is_suite=not fixed)

        suites = () if fixed else control.suites
        remaining = control.resumable and not fixed and marked is None
        badges = self._session.badges
        sheet = PlanSheet(suites, propose, self.make_disk_sheet, badges, make_form, suite=suite, owed=remaining)
        self._navigation.ask(sheet, partial(self._start, control))

    def plan_test(self, words: str) -> None:
        """Propose one test in words (``iperf3 n1 n2 seconds=3``) as a run of its own."""
        self.plan(test=words)

    def complete_test(self, text: str) -> Sequence[str]:
        """The completions of the words of one test; the node of the page in front comes first."""
        control, frame, view = self._session.control, self._navigation.frame, self._session.view
        if control is None or self._session.follows:
            return ()
        subject = NodeId(frame.subject) if frame is not None else NodeId("")
        known = view is not None and subject in view.nodes
        return control.planning.complete_test(text, subject if known else None)

    def make_disk_sheet(self, asked: "Confirmation") -> "DiskSheet":
        from benchconsole.console.tui.screens.disk import DiskSheet, seen  # not before the first frame

        return DiskSheet(asked, seen(self._session.latest.view, asked.node, asked.serial), self._session.badges)

    def _start(self, control: "SessionController", rounds: tuple[Round, ...] | None) -> None:
        if rounds is not None:
            self._work(self._begin(control, rounds))

    async def _begin(self, control: "SessionController", rounds: tuple[Round, ...]) -> None:
        async with self._starting:
            try:
                await control.start(rounds)
            except PlanError as error:
                self._navigation.say(f"Not started: {error}", wrong=True, stay=True)
            else:
                self._navigation.go_to("run", base=True)

    def ask_stop(self) -> None:
        control = self._session.control
        if control is not None and self._session.follows:
            self._navigation.say(self._session.follows, wrong=True)
            return
        if control is None or not control.running:
            behind = "The run goes on in the session behind; esc goes back to it."
            self._navigation.say(behind if self._session.running else "Nothing is running.")
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
            self._navigation.say(name_keys("Pausing when this round is closed; S takes it up again.", "stop"))
        elif control.paused:
            control.go_on()
            self._navigation.say("Going on.")

    async def ask_password(self, prompt: str) -> str | None:
        """Ask for a password in front of the screen; None where none is given."""
        from benchconsole.console.tui.screens.password import PasswordSheet  # not before the first frame

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


AGAIN_WITHIN = 2.0
"""Seconds in which a second ctrl-c leaves."""

REPLACE = (
    Option("k", "keep", "write nothing", "keep"),
    Option("r", "replace", "what is in it is lost", "replace"),
)

LEAVE = (
    Option("a", "after the round", "stop when the round is closed, then leave", "after"),
    Option("n", "now", "cancel what runs, then leave", "now"),
    Option("s", "stay", "go on", "stay"),
)


class ExitControl(Orders):
    """``end`` ends the application with an exit code."""

    def __init__(self, session: ShownSession, navigation: Navigation, work: Work, end: Callable[[int], object]) -> None:
        super().__init__(session, navigation, work)
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
        control = next(iter(self._session.controls), None)
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
            for control in self._session.controls:
                await control.finished()
        finally:
            self._end(code)


class ReportExport(Orders):
    """Writes the stored results of ``session`` beside the screen, and says where the file is."""

    def ask(self) -> None:
        if not self.refuses():
            self._navigation.ask(ExportSheet(self._session.file_stem, self._session.badges), self._write)

    def write_typed(self, text: str) -> None:
        """Write what ``:export`` was given: ``md report.md``; without a path the file is named after the session."""
        if self.refuses():
            return
        kind, _, path = text.partition(" ")
        formats = [option.value for option in FORMATS]
        if kind not in formats:
            self._navigation.say(f"no format {sanitize(kind)}; there are {' '.join(formats)}", wrong=True)
            return
        self._write(read_target(kind, path or f"{self._session.file_stem}.{kind}"))

    def _write(self, target: ExportTarget | None) -> None:
        view, control = self._session.latest.view, self._session.control
        if target is None:
            return
        if view is None or view.reading is not None or control is None:
            self._navigation.say("There is nothing to export yet: the session is being read.", wrong=True)
            return
        try:
            is_there = target.path.is_file()
        except OSError as error:  # a name that is too long, a directory that is closed to us
            self._say_unwritten(target, error)
            return
        if not is_there:
            self._work(self._export(control, target, view))
            return
        text = f"{sanitize(str(target.path))} is there already."
        sheet = ChoiceSheet("replace a report", text, REPLACE, self._session.badges)
        self._navigation.ask(sheet, lambda answer: self._replace(control, target, view, answer))

    def _replace(self, control: "SessionController", target: ExportTarget, view: RunView, answer: str | None) -> None:
        if answer == "replace":
            self._work(self._export(control, target, view, force=True))
        else:
            self._navigation.say(f"{target.path} is left as it is.")

    async def _export(
        self, control: "SessionController", target: ExportTarget, view: RunView, *, force: bool = False
    ) -> None:
        try:
            path = await control.export(target.kind, view, target.path, force=force)
        except (OSError, ValueError) as error:  # ValueError: a NUL in the name
            self._say_unwritten(target, error)
        except FileError as error:
            self._navigation.say(str(error), wrong=True, stay=True)
        else:
            self._navigation.say(f"written: {path}")

    def _say_unwritten(self, target: ExportTarget, error: Exception) -> None:
        """The reason first: the name may be longer than the line."""
        self._navigation.say(f"not written, {getattr(error, 'strerror', None) or error}: {target.path}", wrong=True)
