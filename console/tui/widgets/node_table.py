"""The table of nodes: one row for each node in sight, filtered and sorted, with the columns that fit."""

from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.arranged_columns import ArrangedColumns
from benchconsole.console.tui.queries.filtering import KeptOrder
from benchconsole.console.tui.queries.node_row import Choice, NodeColumn, NodeRow
from benchconsole.console.tui.queries.node_rows import NodeRows
from benchconsole.console.tui.queries.over_sessions import OVER, OverSessions
from benchconsole.console.tui.rows.text_rows import REMARKED, CellLine, Row
from benchconsole.console.tui.rows.themes import ACTIVE
from benchconsole.console.tui.widgets.column_places import ColumnPlaces, PlacedColumn, draw_heads
from benchconsole.console.tui.widgets.listing import find_again
from benchconsole.console.tui.widgets.sorted_table import SortedTable
from benchconsole.console.view.remark_words import group_remarks
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.remark import About
from benchconsole.topology.model.fabric import NodeId

_QUIET = (State.PASS, State.SKIPPED, State.MEASURED)


class NodeTable(SortedTable[NodeRow]):
    """Nodes as rows, metrics and facts as columns. The screen gives it views, columns, filters and sort keys."""

    ORDER = (("state", False), ("node", False))
    UNIQUE = "node"

    def __init__(self) -> None:
        super().__init__()
        self.view: RunView | None = None
        self.remarked: Container[str] = ()
        self.arranged = ArrangedColumns()
        self.filter_columns = self.arranged.columns.scales
        self.node_rows = NodeRows()
        self.folded = False
        self.folded_away = 0
        self._places = ColumnPlaces()
        self._placed: tuple[int, Sequence[PlacedColumn]] = (0, ())
        self._has_gone = False

    # -- what it is of

    def show(self, view: RunView) -> None:
        """Take a new view; the cursor stays on its node. Without a new judgement there is nothing to do."""
        known, self.view = self.view, view
        if known is None or known.remarks is not view.remarks:
            self.remarked = group_remarks(view.remarks, (About.NODE,))
            self.redraw()
        if known is not None and known.nodes is view.nodes and known.findings is view.findings:
            return
        if known is None or known.verdicts is not view.verdicts:
            self._arrange(partial(self.arranged.read, view))
        if known is None or known.findings is not view.findings:
            self._places.measure_limits(view.findings)
        self.every = self.node_rows.update(view, self.arranged.columns)
        if known is None or known.fabric is not view.fabric:
            self._places.measure_names(self.node_rows.under)
        self.apply_filter()

    def take_columns(self, wanted: tuple[Choice, ...], made: Iterable[NodeColumn]) -> None:
        """Show the ``wanted`` columns; those that are no metric of every table were ``made`` for it."""
        self._arrange(partial(self.arranged.take, wanted, made))
        if self.view is not None:
            self.every = self.node_rows.update(self.view, self.arranged.columns)
            self.apply_filter()

    def show_over(self, over: OverSessions | None) -> None:
        """Show the history of a column beside it, or none; the column cursor goes from there to that column."""
        if self.columns[self.picked] == OVER:
            self.picked -= 1
        self._arrange(partial(self.arranged.show_over, over))
        self.apply_filter()

    def _arrange(self, change: Callable[[], None]) -> None:
        """Have the columns changed; the picked one stays picked, and sorts by columns that have gone go, too."""
        picked = self.columns[self.picked]
        change()
        self.filter_columns = self.arranged.columns.scales
        keys = self.columns
        self.picked = keys.index(picked) if picked in keys else min(self.picked, len(keys) - 1)
        kept = [sort for sort in self.sorts if sort[0] in self.filter_columns or sort[0] in keys]
        if kept != self.sorts:
            self.sorts = kept or list(self.ORDER)
        self.arranged.follow(self.arranged.shown[self.picked])

    # -- rows and columns under the cursor

    def go(self, index: int) -> None:
        self._has_gone = True
        super().go(index)

    def pick(self, step: int) -> None:
        super().pick(step)
        following = self.arranged.follow(self.arranged.shown[self.picked])
        if following is not None and (self.filter.text or following.key in dict(self.sorts)):
            self.kept = KeptOrder()  # the same rows, with other numbers in one column
            self.apply_filter()
        self.redraw()

    def apply_filter(self) -> None:
        """Filter and sort anew; the cursor stays on its node where that is still shown.

        Until somebody has moved it, it stays on the first row: the worst, whatever has come in since.
        """
        if self.view is None:
            return
        here = self.chosen if self._has_gone else None
        find_sort_key = partial(self.node_rows.find_sort_key, self.arranged.shown)
        rows = self.kept.select(self.filter, self.every, self.sorts, find_sort_key)
        kept = [row for row in rows if row.state is not State.PASS] if self.folded else rows
        self.folded_away = len(rows) - len(kept)
        self.items = kept
        self.cursor = find_again(here, kept, lambda row: row.view.node.id, self.cursor if self._has_gone else 0)
        self.redraw()

    @property
    def chosen_node(self) -> NodeId | None:
        return self.chosen.view.node.id if self.chosen is not None else None

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column by its key, from left to right."""
        return self.arranged.keys

    def fitting(self, width: int) -> tuple[str, ...]:
        return tuple(column.key for column in self._places.choose(self.arranged, self.picked, self.items, width))

    # -- drawing

    def draw(self, width: int, height: int) -> list[Row]:
        """Choose the columns once, then draw what is in sight."""
        self._placed = (0, ())
        self._placed = (width, self._planned(width))
        return super().draw(width, height)

    def _planned(self, width: int) -> Sequence[PlacedColumn]:
        if self._placed[0] == width:
            return self._placed[1]
        return self._places.place(self._places.choose(self.arranged, self.picked, self.items, width), width)

    def heading(self, width: int) -> list[Row]:
        """Names, units, and what was expected."""
        planned = self._planned(width)
        marks = {column.key: self.mark_sort(column.key) for column, _, _ in planned}
        picked, chosen = self.arranged.shown[self.picked], self.arranged.columns.chosen
        bounds = any(column.bound for column in chosen)
        return draw_heads(planned, width, picked=picked, marks=marks, has_bounds=bounds)

    def row(self, index: int, width: int) -> Row:
        row = self.items[index]
        name = row.view.node.id
        line = CellLine(width).put("*" if name in self.marked else REMARKED if name in self.remarked else " ", ACTIVE)
        quiet = row.state in _QUIET
        is_read = self.view is None or self.view.reading is None
        for column, x, wide in self._planned(width):
            if is_read or column.key != "state":
                column.draw(line.to(x), row, wide, quiet=quiet)
        return line.row()

    def empty(self, width: int) -> list[Row]:
        if self.view is None:
            return []
        if self.filter.text:
            return [
                (),
                CellLine(width).to(1).put("No node matches this filter.  ").put("esc", ACTIVE).put(" clears it").row(),
            ]
        return [(), CellLine(width).to(1).put("No nodes are described.").row()]

    def as_text(self, *, only: Sequence[NodeRow] | None = None) -> str:
        """Rows as tab-separated text with a heading, every column; parts of columns where any row has them."""
        rows = self.items if only is None else only
        columns = [
            each
            for column in self.arranged.shown
            for each in (column, *(part for part in column.parts if any(map(part.words, rows))))
        ]
        lines = ["\t".join(column.title for column in columns)]
        lines += ["\t".join(column.words(row) for column in columns) for row in rows]
        return "\n".join(sanitize(line.replace("\t", "␉")).replace("␉", "\t") for line in lines) + "\n"
