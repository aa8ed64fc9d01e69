"""The console as an application: it puts its parts together, opens the session and paints five times a second.

``run`` is given a maker of the session control and calls it after the first paint, so that the
screen is there before anything slow is imported.
"""

import asyncio
import os
import signal
import time
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType
from textual.worker import Worker

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui import messages, textual_patches
from benchconsole.console.tui.actions import ACTIONS, AREA_PAGES, GLOBAL, TypedCommand, bindings, name_keys, use_keymap
from benchconsole.console.tui.app.command_line import CommandLine
from benchconsole.console.tui.app.criterion_orders import CriterionOrders
from benchconsole.console.tui.app.element_orders import ElementOrders
from benchconsole.console.tui.app.filter_orders import FilterOrders
from benchconsole.console.tui.app.history_orders import HistoryOrders
from benchconsole.console.tui.app.keymap import Keymap, bind_keys, read_own_keys
from benchconsole.console.tui.app.navigation import Navigation
from benchconsole.console.tui.app.orders import ExitControl, ReportExport, RunOrders
from benchconsole.console.tui.app.remark_orders import RemarkOrders
from benchconsole.console.tui.app.replay_orders import ReplayOrders
from benchconsole.console.tui.app.screen_failure import ScreenError, finish_run
from benchconsole.console.tui.app.session_following import Analyse, SessionFollowing
from benchconsole.console.tui.app.session_orders import SessionOrders
from benchconsole.console.tui.app.shown_session import ShownSession
from benchconsole.console.tui.app.themed_app import ThemedApp
from benchconsole.console.tui.queries.view_queries import list_metrics
from benchconsole.console.tui.rows.terminal import Terminal, detect
from benchconsole.console.tui.rows.themes import THEMES
from benchconsole.console.tui.screens.base.page import OpenPage
from benchconsole.console.tui.screens.export import FORMATS
from benchconsole.console.tui.widgets.footer import Footer
from benchconsole.console.tui.widgets.seek_bar import SeekBar
from benchconsole.console.tui.widgets.tabs import Tabs
from benchconsole.console.view.reducer import LatestView
from benchconsole.topology.analysis.static_finding import StaticFinding
from benchconsole.topology.model.fabric import Fabric, NodeId

if TYPE_CHECKING:
    from benchconsole.console.session.controller import SessionController
    from benchconsole.console.session.replay_clock import ReplayClock
    from benchconsole.console.session.session_archive import SessionArchive

TICK = 0.2
"""Seconds from one picture of what happens to the next; a key is answered at once."""

ENDINGS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Signals that end the console in good order, and the exit code of each."""

TOLD_SECONDS = 20.0
"""How long it is said what was wrong before the first frame: it takes the place of the keys."""

LOOKS_ONLY = "This console was opened with --read-only: it shows, and takes no orders."

LONGEST_COPY = 64 * 1024
"""Bytes that go to the clipboard of a terminal; most drop more."""


def static_findings(fabric: Fabric) -> Iterable[StaticFinding]:
    """The whole static analysis; imported here, for it brings what start-up must not wait for."""
    from benchconsole.console.session.memory_return import return_memory
    from benchconsole.topology.analysis.static_analysis import make_static_report

    found = make_static_report(fabric).findings
    return_memory()  # the arrays of the analysis, and what reading the session has left
    return found


class ConsoleApp(ThemedApp[int]):
    """Owns the parts and hands each message and action to one of them. No part knows the application."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings(GLOBAL, owner="do"),
        Binding("ctrl+c", "do('interrupt')", show=False, priority=True, system=True),
        Binding("ctrl+q", "do('quit')", show=False, system=True),
    ]

    def __init__(
        self,
        make: "Callable[[], SessionController]",
        terminal: Terminal,
        now: Callable[[], float] = time.time,
        *,
        analyse: Analyse = static_findings,
        latest: LatestView | None = None,
        make_archive: "Callable[[], SessionArchive] | None" = None,
        keymap: Keymap = MappingProxyType({}),
    ) -> None:
        super().__init__(terminal)
        use_keymap(keymap)
        self.keymap = keymap
        self.on_first_frame = ""
        self.session = session = ShownSession(latest)
        self.navigation = navigation = Navigation(self, session, now)
        self.run_orders = RunOrders(session, navigation, self._work)
        self.report_export = ReportExport(session, navigation, self._work)
        self.criterion_orders = CriterionOrders(session, navigation, self._work)
        self.filter_orders = FilterOrders(session, navigation, self._work)
        self.exit_control = ExitControl(session, navigation, self._work, self.exit)
        self.following = SessionFollowing(session, navigation, self._work, analyse, self.run_orders.ask_password)
        self.session_orders = SessionOrders(session, navigation, self._work, self.following, make_archive)
        self.remark_orders = RemarkOrders(session, navigation, self._work, lambda: self.session_orders.archive)
        self.history_orders = HistoryOrders(session, navigation, self._work, self.session_orders)
        self.replay_orders = ReplayOrders(session, navigation, self._work)
        self.command_line = CommandLine(
            session, navigation, self.action_do, self._typed_commands(), self.session_orders.learn_names
        )
        self._make = make
        self._actions: dict[str, Callable[[], None]] = {
            **{name: partial(navigation.go_to, name) for name in ("fabric", "nodes", "run", "findings")},
            **{name: partial(navigation.open_area, name) for name in AREA_PAGES},
            "plot": navigation.open_plot,
            "sessions": self.session_orders.list_sessions,
            "filters": self.filter_orders.list_filters,
            "save_filter": partial(navigation.say, "save-filter takes a name: :save-filter slow", wrong=True),
            "jump": navigation.jump,
            "compare": self.session_orders.compare,
            "remark": self.remark_orders.remark,
            "accept": self.remark_orders.accept,
            "history": self.history_orders.show,
            "plan": self.run_orders.plan,
            "stop": self.run_orders.ask_stop,
            "export": self.report_export.ask,
            "freeze": navigation.toggle_freeze,
            "theme": partial(_use_theme, self, ""),
            **{
                name: partial(navigation.say, f"{name} takes the name of a {name}", wrong=True)
                for name in ("node", "link", "switch", "chassis")
            },
            "test": partial(navigation.say, "test takes PROBE NODE [PEER] [OPTION=VALUE ...]", wrong=True),
            "command": self.command_line.ask,
            "help": self.command_line.show_help,
            **self.replay_orders.actions,
            "quit": self.exit_control.ask,
            "interrupt": self.exit_control.interrupt,
        }

    def _typed_commands(self) -> dict[str, TypedCommand]:
        """Commands of the application that take an argument."""
        session, elements = self.session, ElementOrders(self.session, self.navigation, self._work)
        return {
            "theme": TypedCommand(partial(_use_theme, self), lambda: tuple(THEMES)),
            "node": TypedCommand(
                lambda name: self.navigation.open_node(NodeId(name)),
                lambda: tuple(sanitize(node) for node in session.view.nodes) if session.view is not None else (),
            ),
            "link": TypedCommand(elements.show_link, elements.list_links),
            "switch": TypedCommand(elements.show_switch, elements.list_switches),
            "chassis": TypedCommand(elements.show_chassis, elements.list_chassis),
            "zoom": TypedCommand(elements.show_part, elements.list_parts),
            "plan": TypedCommand(
                self.run_orders.plan, lambda: session.control.suites if session.control is not None else ()
            ),
            "plot": TypedCommand(
                self.navigation.open_plot, lambda: list_metrics(session.view) if session.view is not None else ()
            ),
            "test": TypedCommand(self.run_orders.plan_test, tuple, self.run_orders.complete_test),
            "compare": TypedCommand(self.session_orders.compare_with, tuple, self.session_orders.complete_compared),
            "remark": TypedCommand(self.remark_orders.remark, tuple),
            "accept": TypedCommand(self.remark_orders.accept, tuple),
            "save_filter": TypedCommand(self.filter_orders.save, self.filter_orders.list_names),
            "seek": TypedCommand(self.replay_orders.go_to_typed, tuple),
            "export": TypedCommand(self.report_export.write_typed, lambda: tuple(option.value for option in FORMATS)),
        }

    def _work(self, work: Coroutine[Any, Any, None]) -> Worker[None]:
        """Run ``work`` beside the screen; what it raises ends it and not the application."""
        return self.run_worker(work, exit_on_error=False)

    @property
    def failure(self) -> BaseException | None:
        """The error that ended the session, or the first of an analysis."""
        return self.following.failure

    async def on_mount(self) -> None:
        """Paint first; then open the session."""
        for number, code in ENDINGS.items():
            # Without these a signal would leave the terminal in its alternate screen.
            asyncio.get_running_loop().add_signal_handler(number, self.exit_control.leave, code)
        bind_keys(self, self.keymap)
        await self.switch_mode("fabric")
        if self.on_first_frame:
            self.navigation.say(self.on_first_frame, wrong=True, stay=True)
            keys = self.navigation.fabric.keys
            self.set_timer(TOLD_SECONDS, partial(_take_back, keys, keys.said))
        self.set_interval(TICK, self.tick)
        self.call_after_refresh(
            lambda: self.following.follow(self.session.front, self._make, lambda _why: self.exit_control.leave(1))
        )

    def tick(self) -> None:
        """Paint the latest view; analyse a fabric when it is first seen; send again what a terminal missed."""
        if textual_patches.caught_up(self):
            self.screen.refresh()
        self.following.look()
        self.navigation.paint()

    def action_do(self, name: str) -> None:
        """Do an action of the application, or of the page in front, once any sheet has gone."""
        frame = self.navigation.frame
        if name in self._actions:
            self._actions[name]()
        elif frame is not None and name in ACTIONS:
            self.call_later(self.run_action, ACTIONS[name].method, frame)

    def on_open_node(self, message: messages.OpenNode) -> None:
        self.navigation.open_node(message.node)

    def on_open_sweeps(self) -> None:
        self.navigation.open_sweeps()

    def on_open_page(self, message: OpenPage) -> None:
        self.navigation.open(message.page)

    def on_open_finding(self, message: messages.OpenFinding) -> None:
        self.navigation.open_finding(message.index)

    def on_read_in_full(self, message: messages.ReadInFull) -> None:
        self.navigation.read_in_full(message.title, message.sections)

    def on_open_static(self, message: messages.OpenStatic) -> None:
        self.navigation.open_finding(message.where)

    def on_show_in_fabric(self, message: messages.ShowInFabric) -> None:
        self.navigation.show_in_fabric(message.element)

    def on_tabs_clicked(self, message: Tabs.Clicked) -> None:
        self.navigation.go_to(message.tab.lower())

    def on_order_filter(self, message: messages.OrderFilter) -> None:
        self.filter_orders.obey(message)

    def on_order_session(self, message: messages.OrderSession) -> None:
        self.session_orders.obey(message)

    def on_seek_bar_sought(self, message: SeekBar.Sought) -> None:
        self.replay_orders.go_to(message.played)

    def on_edit_criterion(self, message: messages.EditCriterion) -> None:
        self.criterion_orders.edit(message)

    def on_plan_run(self, message: messages.PlanRun) -> None:
        self.run_orders.plan(message.suite, failed_only=message.failed_only, only=message.only)

    def on_copy(self, message: messages.Copy) -> None:
        view = self.session.latest.view
        if view is not None and view.reading is not None:  # a node would be copied as untested, whatever is stored
            self.navigation.say("There is nothing to copy yet: the session is being read.", wrong=True)
            return
        size = len(message.text.encode("utf-8", errors="replace"))
        if size > LONGEST_COPY:
            otherwise = "" if self.session.looks_only else name_keys("; e writes a file", "export")
            words = f"{message.what}: {size:,} bytes is more than terminals take{otherwise}"
            self.navigation.say(words, wrong=True)
            return
        self.copy_to_clipboard(message.text)
        self.navigation.say(f"sent {message.what}, {size:,} bytes, to the clipboard of your terminal")


def _take_back(keys: Footer, said: str) -> None:
    """Show the keys again, unless something else was said meanwhile."""
    if keys.said == said:
        keys.say("")


def _use_theme(app: ConsoleApp, name: str) -> None:
    """Other colours everywhere; the next ones without a name."""
    refusal = app.use_theme(name)
    if refusal:
        app.navigation.say(refusal, wrong=True)


def run(
    make: "Callable[[], SessionController]", *, terminal: Terminal | None = None, latest: LatestView | None = None,
    now: Callable[[], float] = time.time, make_archive: "Callable[[], SessionArchive] | None" = None,
    clock: "ReplayClock | None" = None, looks_only: bool = False,
) -> int:  # fmt: skip
    """Show the console until it is left; raises what ended the session. 0, or 130 after ctrl-c twice.

    ``latest`` is shown, and may be given something to show while the session is made. ``now`` is the time in the
    session, in UTC seconds. ``make_archive`` opens the sessions of the database when somebody asks for them.
    ``clock`` is that of a session that is played again. With ``looks_only`` no order
    is taken for any session, and no key of one is shown.

    Where the screen fails, a run that goes on comes to its end first; then ScreenError.
    """
    textual_patches.apply()
    keymap, refused = read_own_keys()
    terminal = terminal or detect(os.environ)
    app = ConsoleApp(make, terminal, now, latest=latest, make_archive=make_archive, keymap=keymap)
    app.on_first_frame = "; ".join(filter(None, (refused, terminal.refused)))
    app.session.front.clock = clock
    app.session.looks_only = LOOKS_ONLY if looks_only else ""
    try:
        code = app.run()
        for control in app.session.controls if app.crash is not None else ():
            finish_run(control, ENDINGS)
    finally:
        for control in app.session.controls:
            asyncio.run(control.close())
    if app.crash is not None:
        raise ScreenError from app.crash
    if app.failure is not None:
        raise app.failure
    return code if code is not None else app.return_code or 0
