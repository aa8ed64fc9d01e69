"""The base of every page that is one table: sort by a column, pick one, copy rows, say which rows are in sight."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, TypedCommand, find_key
from benchconsole.console.tui.messages import Copy
from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import BOLD, MUTED
from benchconsole.console.tui.screens.base.filtered_page import FilteredPage
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.sorted_table import SortedTable
from benchconsole.console.tui.widgets.status import Status
from benchconsole.topology.units import counted

TABLE_ACTIONS = (
    *MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "next_fault", "previous_fault", "in_fabric",
    "repeat", "copy", "copy_all",
)  # fmt: skip


class TablePage(FilteredPage):
    """``s`` sorts by the column picked with ``<`` and ``>``. Subclasses open rows.

    ``name_row`` says what the row under the cursor is of, ``note`` what the line under the table says beside the
    columns that do not fit.
    """

    VALID: ClassVar[tuple[str, ...]] = TABLE_ACTIONS
    EVERY = "all {}"
    SOME = "{shown:,} of {total:,} shown, {hidden:,} hidden"

    def __init__(
        self, sorted_table: SortedTable[Any], name_row: Callable[[], str], note: Callable[[], str], *, tab: str = "",
        subject: str = "",
    ) -> None:  # fmt: skip
        super().__init__(sorted_table, tab=tab, subject=subject)
        self.sorted_table = sorted_table
        self.name_row = name_row
        self.note = note
        self.status = Status()
        self.commands["sort"] = TypedCommand(partial(_sort_typed, self), lambda: self.sorted_table.columns)
        self.parts = (self.prompt, sorted_table, self.status)

    @property
    def aside(self) -> Row:
        """How the rows are sorted."""
        sorts = self.sorted_table.sorts
        made = [CellText("sorted by ", MUTED)] if sorts else []
        for place, (column, down) in enumerate(sorts):
            made += [CellText(" then ", MUTED)] if place else []
            made += [CellText(f"{column}{'¹²³'[place]}{'▾' if down else ''}", BOLD)]
        return tuple(made)

    def annotate(self) -> None:
        """Say how many rows are shown, and which of them are in sight."""
        super().annotate()
        self.count_rows()

    @on(Listing.Moved)
    def count_rows(self) -> None:
        """Say which rows are in sight, and how many columns are not."""
        table = self.sorted_table
        last = min(table.top + table.page, table.count)
        rows = f"rows {table.top + 1:,} to {last:,} of {table.count:,}" if table.count else "no rows"
        key = find_key("column_right")
        hidden = f"{counted(table.hidden, 'column')} hidden, {key} goes there" if table.hidden else ""
        self.status.show("   ".join(filter(None, (hidden, self.note()))), rows)

    def action_sort(self, also: bool) -> None:
        table = self.sorted_table
        if table.columns:
            table.sort_by(table.columns[table.picked], also=also)
            self.annotate()

    def action_column(self, step: int) -> None:
        self.sorted_table.pick(step)
        self.count_rows()

    def action_copy(self) -> None:
        table = self.sorted_table
        if table.chosen is not None:
            self.post_message(Copy(table.as_text(only=[table.chosen]), f"the row of {self.name_row()}"))

    def action_copy_all(self) -> None:
        self.post_message(Copy(self.sorted_table.as_text(), f"{self.sorted_table.count:,} rows"))


def _sort_typed(page: TablePage, text: str) -> None:
    """Sort by a column that was typed, or say which there are."""
    column = text.strip().lower()
    if column in page.sorted_table.columns:
        page.sorted_table.sort_by(column)
        page.annotate()
    else:
        columns = " ".join(page.sorted_table.columns)
        page.say(f"no column {sanitize(text)}; the columns are {columns}", wrong=True)
