"""The screen stack: four tabs over each open session, the pages above them, and one sheet at a time in front.

All but Fabric are imported when they are opened: the first frame must not wait for them.
"""

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from textual.app import App

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import GLOBAL, REPLAYING, find_refused
from benchconsole.console.tui.app.shown_session import ShownSession
from benchconsole.console.tui.screens.base.map_heat import FindMetrics
from benchconsole.console.tui.screens.base.page import Page, PlotWish, leave_front
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.screens.fabric import FabricScreen
from benchconsole.console.tui.screens.words import Sections, WordsSheet
from benchconsole.console.view.totals import TotalsCache
from benchconsole.topology.model.fabric import NodeId

if TYPE_CHECKING:
    from benchconsole.console.curves.sweep_series import ChartCache
    from benchconsole.console.tui.screens.findings import FindingsScreen
    from benchconsole.console.tui.screens.nodes import NodesScreen
    from benchconsole.console.tui.screens.run import RunScreen

Answer = TypeVar("Answer")


class TabPages:
    """The four tabs over one session; ``depth`` counts the sessions behind it. ``now`` is the time in the session.

    ``find_metrics`` tells what its probes declare.
    """

    def __init__(self, depth: int, now: Callable[[], float], find_metrics: FindMetrics) -> None:
        self.depth = depth
        self._now = now
        self._totals = TotalsCache()
        self.fabric = FabricScreen(self._totals, find_metrics)
        self.modes: dict[str, Callable[[], Page]] = {
            self.name_mode("fabric"): lambda: self.fabric,
            self.name_mode("nodes"): lambda: self.nodes,
            self.name_mode("run"): lambda: self.run,
            self.name_mode("findings"): lambda: self.findings,
        }

    @cached_property
    def nodes(self) -> "NodesScreen":
        from benchconsole.console.tui.screens.nodes import NodesScreen

        return NodesScreen()

    @cached_property
    def run(self) -> "RunScreen":
        from benchconsole.console.tui.screens.run import RunScreen

        return RunScreen(self._now, self._totals)

    @cached_property
    def findings(self) -> "FindingsScreen":
        from benchconsole.console.tui.screens.findings import FindingsScreen

        return FindingsScreen(self._totals)

    @cached_property
    def sweeps(self) -> "ChartCache":
        from benchconsole.console.curves.sweep_series import ChartCache

        return ChartCache()

    def name_mode(self, tab: str) -> str:
        """The mode of the application that a tab is: modes of several sessions stand side by side."""
        return f"{tab} {self.depth}" if self.depth else tab


class Navigation:
    """Pushes and pops screens of ``app``. Every screen in front is given the view of ``session`` by ``paint``."""

    def __init__(self, app: App[Any], session: ShownSession, now: Callable[[], float]) -> None:
        self._app = app
        self._session = session
        self._behind: list[tuple[TabPages, str]] = []
        self._take(TabPages(0, now, session.find_metrics))
        self._add_modes()

    def _take(self, tabs: TabPages) -> None:
        self.tabs, self.fabric = tabs, tabs.fabric

    def _add_modes(self) -> None:
        for name, open_page in self.tabs.modes.items():
            self._app.add_mode(name, open_page)

    def enter_session(self, now: Callable[[], float]) -> None:
        """Show tabs of their own over a session that was opened from this one, which stays as it is behind them."""
        self._behind.append((self.tabs, self._app.current_mode))
        self._take(TabPages(len(self._behind), now, self._session.find_metrics))
        self._add_modes()
        self.go_to("fabric")

    def leave_session(self) -> None:
        """Go back to the tabs behind, with every page, filter and cursor as it was left."""
        gone = self.tabs
        tabs, mode = self._behind.pop()
        self._take(tabs)
        self._app.switch_mode(mode)
        for name in gone.modes:
            self._app.remove_mode(name)
        self._app.call_after_refresh(self.paint)
        self.paint()

    @property
    def frame(self) -> Page | None:
        """The page in front, below any sheet; None before the first tab is open."""
        return next((each for each in reversed(self._app.screen_stack) if isinstance(each, Page)), None)

    def is_in_front(self, page: Page | None) -> bool:
        """Whether this page is what the operator sees, with no sheet before it."""
        return page is not None and page is self._app.screen

    @property
    def valid_actions(self) -> tuple[str, ...]:
        """Ids of the actions of the page in front and of the application."""
        frame = self.frame
        every = dict.fromkeys((*(frame.VALID if frame else ()), *GLOBAL))
        session = self._session
        refused = find_refused(follows=bool(session.follows), looks_only=bool(session.looks_only))
        hidden = {*refused, *(() if session.front.clock else REPLAYING)}
        return tuple(each for each in every if each not in hidden)

    @property
    def marked(self) -> tuple[NodeId, ...] | None:
        """The nodes that are marked on the page in front; None where none are."""
        if self._app.current_mode != self.tabs.name_mode("nodes") or self.frame is not self.tabs.nodes:
            return None
        return tuple(sorted(self.tabs.nodes.table.marked)) or None

    def paint(self) -> None:
        """Hand the view to the page in front."""
        self._session.refresh()
        frame = self.frame
        if self._session.view is not None and frame is not None:
            frame.show(self._session.view, self._session.badges)

    def toggle_freeze(self) -> None:
        """Stop painting, or go on."""
        if self._session.view is None or self._session.view.reading is not None:
            self.say("There is nothing to freeze yet: the session is being read.", wrong=True)
            return
        self._session.toggle_freeze()
        self.paint()

    def say(self, text: str, *, wrong: bool = False, stay: bool = False) -> None:
        """Show a line on the page in front, for a while or until the next one."""
        frame = self.frame
        if frame is None:
            return
        if stay:
            frame.keys.say(sanitize(text), wrong=wrong)
        else:
            frame.say(sanitize(text), wrong=wrong)

    def go_to(self, tab: str, *, base: bool = False) -> None:
        """Open a tab as it was left; at its first level with ``base``, or when it is the one in front."""
        mode = self.tabs.name_mode(tab)
        base = base or mode == self._app.current_mode
        while len(self._app.screen_stack) > 1 and not isinstance(self._app.screen, Page):
            self._app.pop_screen()
        if self._app.current_mode != mode:
            self._app.switch_mode(mode)
        while base and len(self._app.screen_stack) > 1:
            leave_front(self._app)
        self._app.call_after_refresh(self.paint)
        self.paint()

    def ask(self, sheet: Sheet[Answer], answer: Callable[[Answer | None], None]) -> None:
        """Put a sheet in front, unless it is there: its key came twice in one read."""
        front = self._app.screen
        if not isinstance(front, Sheet) or front.head.title != sheet.head.title:
            self._app.push_screen(sheet, answer)
            sheet.take_focus()  # now: what is typed next is for it

    def jump(self) -> None:
        """Show a letter on each place of the page in front."""
        frame = self.frame
        if frame is not None and frame is self._app.screen:
            from benchconsole.console.tui.screens.jump import JumpScreen

            self._app.push_screen(JumpScreen(frame))

    def read_in_full(self, title: str, sections: Sections) -> None:
        """Put text in front of the page until it is left."""
        self.ask(WordsSheet(title, sections, self._session.badges), lambda _: None)

    def ask_later(
        self, sheet: Sheet[Answer], answer: Callable[[Answer | None], None], is_wanted: Callable[[], bool]
    ) -> None:
        """Put a sheet in front when the screen has handled what came before, if it is still wanted then."""
        self._app.call_later(lambda: self._app.push_screen(sheet, answer) if is_wanted() else None)

    def open_node(self, node: NodeId) -> None:
        view = self._session.view
        if view is None or node not in view.nodes:
            self.say(f"no node {node}", wrong=True)
        else:
            from benchconsole.console.tui.screens.node import NodeScreen

            self.open(NodeScreen(node, self._session.path_of, tab=self.tab))

    def open_sweeps(self) -> None:
        from benchconsole.console.tui.screens.sweeps import SweepsScreen

        self.open(SweepsScreen(self.tabs.sweeps, tab=self.tab))

    def open_plot(self, metric: str = "") -> None:
        """Draw a metric by its name, or the one under the cursor of the page in front."""
        from benchconsole.console.tui.screens.plot import PlotScreen

        frame = self.frame
        if isinstance(frame, PlotScreen):
            frame.choose(PlotWish(metric))
            return
        wish = frame.wish_plot() if frame is not None else PlotWish()
        if metric:
            wish = PlotWish(metric, report=wish.report)
        if wish.refused:
            self.say(wish.refused)
        else:
            self.open(PlotScreen(wish, tab=self.tab))

    def open_area(self, name: str, text: str = "") -> None:
        """Show an area, filtered by ``text``."""
        from benchconsole.console.tui.screens.area import AreaScreen
        from benchconsole.console.tui.screens.criteria import CriteriaScreen

        if name == "criteria":
            self.open(CriteriaScreen(tab=self.tab, text=text))
        else:
            self.open(AreaScreen(name, tab=self.tab, text=text, find_probes=self._session.find_probes))

    def open_finding(self, finding: int | str) -> None:
        """Go to a measured finding by its place, or to one of the description by what it is about."""
        self.go_to("findings", base=True)
        findings = self.tabs.findings
        choose = (
            partial(findings.choose, finding) if isinstance(finding, int) else partial(findings.choose_static, finding)
        )
        self._app.call_after_refresh(choose)

    def show_in_fabric(self, element: str) -> None:
        self.go_to("fabric", base=True)
        self._app.call_after_refresh(self.fabric.show_element, element)

    @property
    def tab(self) -> str:
        """The tab that the page in front belongs to."""
        frame = self.frame
        return frame.tab if frame is not None else "Nodes"

    def open(self, page: Page) -> None:
        """Put a page in front, unless the one in front shows the same: its key came twice in one read."""
        front = self._app.screen
        if isinstance(front, Page) and type(front) is type(page) and front.subject == page.subject:
            return
        self._app.push_screen(page)
        self.paint()
