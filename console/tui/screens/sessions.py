"""The sessions of the database: enter opens one in place of the session on the screen, esc there comes back."""

import asyncio
import time
from collections.abc import Set
from functools import partial

from textual import on

from benchconsole.console.session.listed_sessions import ListedSession, SessionMeasures, join_measures
from benchconsole.console.session.session_archive import SessionArchive
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, TypedCommand, name_keys, offer
from benchconsole.console.tui.messages import OrderSession, Remarked, SessionOrder
from benchconsole.console.tui.queries.session_area import is_running, list_session_rows
from benchconsole.console.tui.rows.text_rows import CellText
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.area_page import AreaPage
from benchconsole.console.tui.screens.base.marking_page import MarkingPage
from benchconsole.console.tui.widgets.area_table import AreaTable
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.remark import OF_SESSION
from benchconsole.store.errors import StoreError
from benchconsole.topology.units import counted

EVERY_SECONDS = 3.0
"""How often the list is read again while it is in front: other consoles begin and end sessions."""

READING = "The sessions are being read."
NONE_YET = "No session is stored yet; benchconsole demo makes one."
PLAN_ONE = " R plans a run, and its session is listed here."


class SessionsScreen(MarkingPage, AreaPage):
    """``archive`` is asked beside the screen, for the list at once and for what has to be counted after that."""

    VALID = (
        *MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "next_fault", "previous_fault", "in_full",
        "label", "remark", "replay", "remove", "copy", "copy_all", "mark", "mark_shown",
    )  # fmt: skip
    KEYS = (
        ("enter", "open"), "compare", "mark", "filter", "label", "remark", "replay", "remove", "sort", ("back", "back"),
        "command", "help",
    )  # fmt: skip
    filter_area = "sessions"
    NOUN = "session"

    def __init__(self, archive: SessionArchive, *, tab: str) -> None:
        super().__init__(named_by="id", absent=READING, tab=tab, subject="sessions")
        self.note = lambda: _tell_marks(self.table, self.refused)
        self.mark_of = lambda row: row.record["id"]
        self.archive = archive
        self.listed: tuple[ListedSession, ...] = ()
        self._measures: tuple[object, SessionMeasures] = (None, SessionMeasures({}, {}))
        self._is_reading = False
        self.find_remarked = partial(_find_remarked, self)
        for order in (SessionOrder.LABEL, SessionOrder.REPLAY):
            self.commands[order.value] = TypedCommand(partial(self.action_order, order), tuple)

    def on_mount(self) -> None:
        super().on_mount()
        self.read()
        self.set_interval(EVERY_SECONDS, lambda: self.read() if self.is_current else None)

    def on_screen_resume(self) -> None:
        """Read what has changed while another page was in front."""
        if self.is_mounted:
            self.read()

    def paint(self, view: RunView) -> None:
        running = sum(map(is_running, self.table.every))
        words = f"{running:,} running   {counted(len(self.table.every), 'session')}" if running else ""
        words = words or (counted(len(self.table.every), "session") if self.listed else "")
        self.crumb.show(("sessions", sanitize(str(self.archive.path))), (CellText(words, MUTED),))
        self.annotate()

    def read(self) -> None:
        """Read the list beside the screen, unless that goes on."""
        if not self._is_reading:
            self._is_reading = True
            self.run_worker(self._read(), exit_on_error=False, group="sessions")

    async def _read(self) -> None:
        try:
            listed = await asyncio.to_thread(self.archive.list_sessions)
            self._show(listed)
            # Not with every result of a session that runs: all of the file is read for it.
            counted_for = tuple((each.summary.id, each.summary.planned, each.summary.state) for each in listed)
            if counted_for != self._measures[0]:
                self._measures = (counted_for, await asyncio.to_thread(self.archive.measure_sessions))
                self._show(listed)
        except StoreError as error:
            self._show((), f"The sessions cannot be read: {error}.")
        finally:
            self._is_reading = False

    def _show(self, listed: tuple[ListedSession, ...], absent: str = "") -> None:
        self.listed = join_measures(listed, self._measures[1])
        self.table.absent = absent or NONE_YET + offer("plan", PLAN_ONE, self.refused)
        shown = self.run_view.session if self.run_view is not None else ""
        self.table.marked &= {each.summary.id for each in self.listed}
        self.show_area(list_session_rows(self.listed, shown, time.time()))
        if self.run_view is not None:
            self.paint(self.run_view)

    @property
    def chosen_sessions(self) -> tuple[str, ...]:
        """The ids of the sessions that are marked, be they filtered away, newest first; else that under the cursor."""
        marked = tuple(each.summary.id for each in self.listed if each.summary.id in self.table.marked)
        row = self.table.chosen
        return marked or (() if row is None else (str(row.record["id"]),))

    def action_order(self, order: SessionOrder, text: str = "") -> None:
        """Have something done with the session under the cursor; the marked ones are removed together."""
        row = self.table.chosen
        if order == SessionOrder.REMOVE and self.chosen_sessions:
            self.post_message(OrderSession(SessionOrder.REMOVE, marked=self.chosen_sessions))
        elif row is not None:
            self.post_message(OrderSession(SessionOrder(order), str(row.record["id"]), text))

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        self.action_order(SessionOrder.OPEN)


def _find_remarked(page: SessionsScreen) -> Remarked | None:
    """The session under the cursor, whatever is marked."""
    row = page.table.chosen
    key = "" if row is None else str(row.record["id"])
    return Remarked(OF_SESSION, f"session {sanitize(key)}", key) if key else None


def _tell_marks(table: AreaTable, refused: Set[str]) -> str:
    """How many sessions are marked, how many of them no filter shows, and what can be done with them.

    It names no key of the ``refused`` actions.
    """
    if not table.marked:
        return table.tell_alike()
    marked = len(table.marked)
    hidden = marked - sum(row.record["id"] in table.marked for row in table.items)
    away = f", {hidden:,} of them not shown" if hidden else ""
    compares = name_keys("c compares the two", "compare") if marked == 2 else ""
    removes = offer("remove", "x removes it" if marked == 1 else "x removes them", refused)
    can = ", ".join(filter(None, (compares, removes)))
    return f"{marked:,} marked{away}{f': {can}' if can else ''}"
