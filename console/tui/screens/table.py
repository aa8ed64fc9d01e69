"""Owns what a screen with a table has: the filter row, sorting by a picked column, folding, the count of rows."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.widget import Widget

from console.tui.actions import MOVES
from console.tui.drawing import BOLD, FAIL, KEY, MUTED, Piece, Row
from console.tui.filtering import Filter, FilterError
from console.tui.node_columns import filter_columns
from console.tui.scales import Scale
from console.tui.screens.filtered import FilteredScreen
from console.tui.widgets.listing import Listing
from console.tui.widgets.node_table import NodeTable
from console.tui.widgets.status import Status
from console.wording import count, plain


class TableScreen(FilteredScreen):
    """``/`` filters, ``s`` sorts by the column picked with ``<`` and ``>``."""

    VALID: ClassVar[tuple[str, ...]] = (*MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "fold")
    DEFAULT_CSS = """
    TableScreen Prompt { margin-top: 1; margin-bottom: 1; }
    TableScreen.-low Prompt { margin-bottom: 0; margin-top: 0; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.table = NodeTable()
        self.status = Status()

    def parts(self) -> Sequence[Widget]:
        """Filter row, table, status."""
        return (self.prompt, self.table, self.status)

    @property
    def sifted(self) -> NodeTable:
        """The table."""
        return self.table

    @property
    def filter_columns(self) -> Mapping[str, Scale | None]:
        """The columns that stand for this session."""
        return filter_columns(self.table.metrics)

    def sift(self, chosen: Filter) -> None:
        """Show the rows that ``chosen`` keeps."""
        self.table.filter = chosen
        self.table.sort_and_filter()

    def complain(self, error: FilterError) -> None:
        """Name the word that was not understood."""
        note = (Piece(error.expected, FAIL), Piece("   the last valid filter still applies", MUTED))
        self.prompt.show(note=note, wrong=error.word, aside=self._sorted_by())

    def annotate(self) -> None:
        """How many rows are shown, and how they are sorted."""
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

    def command_sort(self, text: str) -> None:
        """Sort by a column that was typed."""
        column = text.strip().lower()
        if column in self.table.columns:
            self.table.sort_by(column)
            self.annotate()
        else:
            self.say(f"no column {plain(text)}; the columns are {' '.join(self.table.columns)}", wrong=True)

    def complete_sort(self) -> Sequence[str]:
        """What ``:sort`` takes."""
        return self.table.columns

    def action_sort(self) -> None:
        """Sort by the picked column."""
        self.table.sort_by(self.table.columns[self.table.picked])
        self.annotate()

    def action_sort_also(self) -> None:
        """Sort by the picked column after the others."""
        self.table.sort_by(self.table.columns[self.table.picked], also=True)
        self.annotate()

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
