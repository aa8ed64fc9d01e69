"""Owns what a screen with a table has: the filter row, sorting by a picked column, folding, the count of rows."""

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.widget import Widget

from console.tui.actions import MOVES
from console.tui.drawing import BOLD, FAIL, KEY, MUTED, Piece, Row
from console.tui.filtering import EVERYTHING, FilterError, compile_filter
from console.tui.node_columns import filter_columns
from console.tui.screens.frame import Frame
from console.tui.widgets.listing import Listing
from console.tui.widgets.node_table import NodeTable
from console.tui.widgets.prompt import Prompt
from console.tui.widgets.status import Status
from console.wording import count, plain


class TableScreen(Frame):
    """``/`` filters, ``s`` sorts by the column picked with ``<`` and ``>``."""

    VALID: ClassVar[tuple[str, ...]] = (*MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "fold")
    DEFAULT_CSS = """
    TableScreen Prompt { margin-top: 1; margin-bottom: 1; }
    TableScreen.-low Prompt { margin-bottom: 0; margin-top: 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.prompt = Prompt("/")
        self.table = NodeTable()
        self.status = Status()

    def parts(self) -> Sequence[Widget]:
        """Filter row, table, status."""
        return (self.prompt, self.table, self.status)

    def on_mount(self) -> None:
        """The table has the keys."""
        super().on_mount()
        self.table.focus()

    def filter_by(self, text: str) -> None:
        """Apply ``text``; what is not understood is named, and the last valid filter stays in force."""
        try:
            self.table.filter = compile_filter(text, filter_columns(self.table.metrics)) if text.strip() else EVERYTHING
        except FilterError as error:
            note = (Piece(error.expected, FAIL), Piece("   the last valid filter still applies", MUTED))
            self.prompt.show(note=note, wrong=error.word, aside=self._sorted_by())
            return
        self.table.sort_and_filter()
        self._annotate()

    def _annotate(self) -> None:
        total = len(self.run_view.nodes) if self.run_view else 0
        shown = self.table.count
        note: Row = (Piece("text, !text, column>value, joined by &", MUTED),) if self.prompt.has_focus else ()
        if self.table.filter.text:
            note = (Piece(f"{shown:,} of {total:,} shown, {total - shown:,} hidden   ", MUTED), Piece("esc", KEY),
                    Piece(" clears", MUTED))  # fmt: skip
        elif not self.prompt.has_focus:
            note = (Piece(f"all {total:,} nodes", MUTED),)
        self.prompt.show(note=note, aside=self._sorted_by())
        self._count()

    def _sorted_by(self) -> Row:
        made = [Piece("sorted by ", MUTED)]
        for place, (column, down) in enumerate(self.table.sorts):
            made += [Piece(" then ", MUTED)] if place else []
            made += [Piece(f"{column}{'¹²³'[place]}{'▾' if down else ''}", BOLD)]
        return tuple(made)

    def _count(self) -> None:
        table = self.table
        seen = table.in_sight
        rows = f"rows {seen.start + 1:,} to {seen.stop:,} of {table.count:,}" if table.count else "no rows"
        words = []
        if table.hidden:
            words.append(f"{count(table.hidden, 'column')} hidden, > goes there")
        if table.folded:
            words.append(f"{table.folded_away:,} that pass are folded, z shows them")
        self.status.show("   ".join(words), rows)

    def step(self, rows: int) -> None:
        """Move in the table, wherever the focus is."""
        self.table.move(rows)
        self._count()

    @property
    def listing(self) -> Listing:
        """The table."""
        return self.table

    @on(Listing.Moved)
    def _moved(self) -> None:
        self._count()

    def action_filter(self) -> None:
        """Type a filter."""
        self.prompt.focus()
        self.call_after_refresh(self._annotate)

    def command_filter(self, text: str) -> None:
        """A filter from the command line."""
        self.prompt.fill(text)
        self.filter_by(text)

    def command_sort(self, text: str) -> None:
        """Sort by a column that was typed."""
        column = text.strip().lower()
        if column in self.table.columns:
            self.table.sort_by(column)
            self._annotate()
        else:
            self.say(f"no column {plain(text)}; the columns are {' '.join(self.table.columns)}", wrong=True)

    def complete_sort(self) -> Sequence[str]:
        """What ``:sort`` takes."""
        return self.table.columns

    @on(Prompt.Changed)
    def _typed(self, event: Prompt.Changed) -> None:
        event.stop()
        self.filter_by(event.text)

    @on(Prompt.Entered)
    def _entered(self) -> None:
        self.table.focus()
        self.call_after_refresh(self.filter_by, self.prompt.text)

    @on(Prompt.Asked)
    def _asked(self, event: Prompt.Asked) -> None:
        self.step({"up": -1, "down": 1}.get(event.key, 0))

    @on(Prompt.Left)
    def _left(self) -> None:
        self.clear_filter()

    def clear_filter(self) -> None:
        """Show everything again."""
        self.prompt.fill("")
        self.table.focus()
        self.call_after_refresh(self.filter_by, "")

    def action_back(self) -> None:
        """Clear the filter first."""
        if self.prompt.text:
            self.clear_filter()
        else:
            super().action_back()

    def action_sort(self) -> None:
        """Sort by the picked column."""
        self.table.sort_by(self.table.columns[self.table.picked])
        self._annotate()

    def action_sort_also(self) -> None:
        """Sort by the picked column after the others."""
        self.table.sort_by(self.table.columns[self.table.picked], also=True)
        self._annotate()

    def action_column_left(self) -> None:
        """Pick the column to the left."""
        self.table.pick(-1)
        self._count()

    def action_column_right(self) -> None:
        """Pick the column to the right."""
        self.table.pick(1)
        self._count()

    def action_fold(self) -> None:
        """Fold the rows that pass, or show them again."""
        self.table.folded = not self.table.folded
        self.table.sort_and_filter()
        self._count()
