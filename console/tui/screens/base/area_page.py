"""The base of every page that shows an area: a row is read in full, ``n`` walks those that are not well."""

from functools import partial

from benchconsole.console.tui.messages import ReadInFull
from benchconsole.console.tui.queries.area import Area, find_state
from benchconsole.console.tui.screens.base.table_page import TablePage
from benchconsole.console.tui.widgets.area_table import AreaTable, tell_row
from benchconsole.console.view.run_view import State

NOTHING = Area("", {}, (), {})

_BAD = (State.FAIL, State.UNREACHABLE, State.WATCH, State.UNKNOWN, State.AFFECTED)


class AreaPage(TablePage):
    """``named_by`` is the column that names a row; empty for the second. ``absent`` is said while there is no row."""

    def __init__(self, *, named_by: str = "", absent: str = "", tab: str, subject: str) -> None:
        self.table = table = AreaTable(absent)
        super().__init__(table, self.name_chosen, table.tell_alike, tab=tab, subject=subject)
        self.named_by = named_by
        self.let_go = partial(table.show, NOTHING)

    def name_chosen(self) -> str:
        """The name of the row under the cursor."""
        row, columns = self.table.chosen, self.table.columns
        return "" if row is None else row.words(self.named_by or (columns[1] if len(columns) > 1 else ""))

    def show_area(self, area: Area) -> None:
        """Take a new area; filter and cursor stay."""
        self.table.show(area)
        self.filter_by(self.prompt.text)

    def annotate(self) -> None:
        """Say how many rows are shown, once there is an area."""
        if self.table.area is not None:
            super().annotate()

    def action_walk(self, step: int) -> None:
        """To the next row that is not well, or the one before."""
        if not self.table.walk(step, lambda row: find_state(row) in _BAD):
            self.say("No row has a fault.")

    def action_in_full(self) -> None:
        """Every column of the row."""
        row = self.table.chosen
        if row is not None:
            self.post_message(ReadInFull(self.name_chosen(), tell_row(self.table, row)))
