"""The numbers of one node over the last sessions of its fabric, and each session of the number under the cursor."""

import asyncio

from textual import on

from benchconsole.console.conclusions.number_history import HistoryKey, NumberHistory, SessionHistory
from benchconsole.console.session.session_archive import SessionArchive
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.messages import OrderSession, SessionOrder
from benchconsole.console.tui.queries.history_area import ABOUT, DIFFERS, list_histories, list_points
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.area_page import AreaPage
from benchconsole.console.tui.screens.base.page import OpenPage
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.area_table import AreaTable
from benchconsole.console.tui.widgets.curve import CurveText
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.same_objects import are_same
from benchconsole.store.errors import StoreError
from benchconsole.topology.model.fabric import NodeId

READING = "The sessions are being read."


class HistoryScreen(AreaPage):
    """``tab`` and enter go to the sessions of a number; enter there opens one, or the raw output of the one shown.

    ``archive`` is asked beside the screen, at once and whenever another round of the session on the screen is closed.
    """

    filter_area = "history"
    VALID = (
        *MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "next_fault", "previous_fault", "in_full",
        "pane", "pane_back", "copy", "copy_all",
    )  # fmt: skip
    KEYS = (
        ("pane", "its sessions"), "filter", "sort", ("column_left", "and > column"), "in_full",
        "copy", ("back", "back"), "command", "help",
    )  # fmt: skip
    DEFAULT_CSS = "HistoryScreen CurveText { margin-top: 1; } HistoryScreen.-low CurveText { margin-top: 0; }"

    def __init__(self, archive: SessionArchive, node: NodeId, *, tab: str) -> None:
        super().__init__(named_by="metric", absent=READING, tab=tab, subject=f"history {node}")
        self.archive = archive
        self.node = node
        self.numbers: dict[HistoryKey, NumberHistory] = {}
        self.history: SessionHistory | None = None
        self.told = CurveText()
        self.sessions = AreaTable(is_alone=True)
        self.parts = (self.prompt, self.table, self.told, self.sessions, self.status)
        self._known: tuple[object, ...] = ()
        self._is_reading = False

    def paint(self, view: RunView) -> None:
        self.crumb.show((sanitize(view.fabric.name), sanitize(self.node), "history"))
        known = (view.fabric, view.closed)
        is_new = not are_same(known, self._known)
        if is_new and not self._is_reading:
            self._known, self._is_reading = known, True
            self.run_worker(self._read(view), exit_on_error=True, group="history")
        self.annotate()

    async def _read(self, view: RunView) -> None:
        fabric = view.fabric
        try:
            history = await asyncio.to_thread(
                self.archive.read_node_history, fabric.name, self.node, simulated=fabric.simulated
            )
        except StoreError as error:
            self.table.absent = f"The history cannot be read: {error}."
            self.table.redraw()
            return
        finally:
            self._is_reading = False
        self.history = history
        self.numbers = {each.key: each for each in history.numbers}
        self.table.absent = f"No stored session of {sanitize(fabric.name)} has a number of {sanitize(self.node)}."
        self.show_area(list_histories(history, self.node))
        if self.run_view is not None:
            self.paint(self.run_view)

    @property
    def chosen_number(self) -> NumberHistory | None:
        """The number under the cursor."""
        row = self.table.chosen
        return self.numbers.get(row.source) if row is not None and isinstance(row.source, HistoryKey) else None

    def annotate(self) -> None:
        """Say how many numbers are shown; the sessions below are those of the one under the cursor."""
        super().annotate()
        self._show_sessions()

    @on(Listing.Moved)
    def _moved(self, event: Listing.Moved) -> None:
        if event.listing is self.table:
            self._show_sessions()

    def _show_sessions(self) -> None:
        each, shown = self.chosen_number, self.run_view.session if self.run_view is not None else ""
        if each is not None and self.history is not None:
            self.sessions.show(list_points(each, self.history.sessions, shown))
            differs = any(point.differs for _, point in each.measured)
            self.told.show([(ABOUT, MUTED), *([(DIFFERS, MUTED)] if differs else [])])
        self._share_height()

    def _share_height(self) -> None:
        """The sessions get what they want, as long as three numbers stay in sight; then the numbers."""
        room = self.size.height - (7 if self.size.height < 20 else 10)
        below = len(self.sessions.every) + len(self.sessions.heading(self.size.width))
        sessions = min(below, max(room - 4, 2)) if self.chosen_number is not None else 0
        numbers = max(min(self.table.count + 1, room - sessions), 2)
        self.table.styles.height = numbers if sessions else "1fr"
        self.sessions.styles.height = "1fr" if sessions else 0
        self.told.styles.height = min(self.told.wanted(self.size.width), 2) if sessions else 0

    def action_pane(self, _step: int = 1) -> None:
        """Between the numbers and the sessions of one."""
        (self.table if self.sessions.has_focus else self.sessions).focus()

    def action_back(self) -> None:
        """Out of the sessions first."""
        if self.sessions.has_focus:
            self.action_pane()
        else:
            super().action_back()

    @on(Listing.Chosen)
    def _chosen(self, event: Listing.Chosen) -> None:
        if event.listing is self.table:
            self.action_pane()
            return
        row, view = self.sessions.chosen, self.run_view
        if row is None or view is None:
            return
        if row.record["session"] != view.session:
            self.post_message(OrderSession(SessionOrder.OPEN, str(row.record["session"])))
        elif row.record["test"] in view.results:
            self.post_message(OpenPage(RawScreen(str(row.record["test"]), tab=self.tab)))
        else:
            self.say("This session has no number here.")
