"""The base of pages whose rows can be marked: one, or all that are shown; orders then go to the marked ones."""

from collections.abc import Callable
from typing import Any

from benchconsole.console.tui.screens.base.table_page import TablePage


class MarkingPage(TablePage):
    """``mark_of`` gives what a row is marked by, which stays the same when the rows are made anew."""

    mark_of: Callable[[Any], object]

    def action_mark(self, shown: bool) -> None:
        """Mark the row under the cursor, or all that are ``shown``; those that are marked already lose their marks."""
        table = self.sorted_table
        marks = {self.mark_of(row) for row in (table.items if shown else filter(None, [table.chosen]))}
        table.marked = table.marked - marks if table.marked >= marks else table.marked | marks
        table.redraw()
        table.move(0 if shown else 1)
        self.count_rows()

    def action_back(self) -> None:
        """Clear the filter first, then the marks."""
        if self.prompt.text or not self.sorted_table.marked:
            super().action_back()
        else:
            self.sorted_table.marked = frozenset()
            self.sorted_table.redraw()
            self.count_rows()
