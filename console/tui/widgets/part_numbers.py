"""The numbers of the nodes of a part: a row for each node, a column for each metric, where there is room for all."""

from collections.abc import Sequence, Set

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.queries.node_columns import MetricColumn, list_own_columns, stage_names
from benchconsole.console.tui.queries.node_row import NO_COLUMNS, ColumnSet, NodeRow
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, selected, sign
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.column_places import PlacedColumn, draw_heads
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.same_objects import are_same
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.units import counted

_NAME = next(column for column in NO_COLUMNS.shown if column.key == "node")
_NAME_AT, _GAP = 3, 2
_LEAST_NAME, _LONGEST_NAME = 8, 24
_QUIET = (State.PASS, State.SKIPPED, State.MEASURED)


class PartNumbers(CellWidget):
    """A blank row, headings with what was expected, and all rows: nothing where these do not fit."""

    DEFAULT_CSS = "PartNumbers { height: 0; }"

    items: Sequence[NodeRow] = ()
    columns: Sequence[MetricColumn] = ()
    busy: Set[NodeId] = frozenset()
    chosen: NodeId | None = None
    _known: tuple[object, ...] = ()

    def show(self, view: RunView, nodes: Sequence[NodeId], chosen: NodeId | None) -> None:
        """The numbers of ``nodes``; the row of the one that was ``chosen`` stands out."""
        known = (view.nodes, view.findings, view.plan, nodes)
        busy = view_queries.find_busy_nodes(view)
        if are_same(known, self._known) and busy == self.busy and chosen == self.chosen:
            return
        if not are_same(known, self._known):
            self.columns = list_own_columns(view, nodes)
            columns, blame, stages = ColumnSet(self.columns), Blame(view.findings), stage_names(view)
            self.items = [NodeRow(view.nodes[name], "", columns, blame, stages) for name in nodes if name in view.nodes]
        self._known, self.busy, self.chosen = known, busy, chosen
        self.redraw()

    @property
    def wanted(self) -> int:
        """Rows that it takes; 0 where nothing was judged."""
        if not self.items or not self.columns:
            return 0
        heads = 1 + any(column.symbol for column in self.columns) + any(column.bound for column in self.columns)
        return 1 + heads + len(self.items)

    def draw(self, width: int, height: int) -> list[Row]:
        if not self.wanted or height < self.wanted:
            return []
        placed = self._place(width)
        hidden = len(self.columns) - len(placed) + 1
        words = f"{counted(hidden, 'more column')} under Nodes" if hidden else ""
        above = CellLine(width).right((CellText(words, MUTED),)).row() if words else ()
        heads = draw_heads(placed, width, has_bounds=any(column.bound for column in self.columns))
        return [above, *heads, *(self._draw_node(row, placed, width) for row in self.items)]

    def _place(self, width: int) -> list[PlacedColumn]:
        """The name, then the columns that fit."""
        longest = max(measure_width(sanitize(row.view.node.id)) for row in self.items)
        name = min(max(longest, _LEAST_NAME), _LONGEST_NAME)
        placed, x = [PlacedColumn(_NAME, _NAME_AT, name)], _NAME_AT + name + _GAP
        for column in self.columns:
            if x + column.width >= width:
                break
            placed.append(PlacedColumn(column, x, column.width))
            x += column.width + _GAP
        return placed

    def _draw_node(self, row: NodeRow, placed: Sequence[PlacedColumn], width: int) -> Row:
        line = CellLine(width).to(1).extend((sign(view_queries.find_shown_state(row.view, self.busy)),))
        for column, x, wide in placed:
            column.draw(line.to(x), row, wide, quiet=row.state in _QUIET)
        made = line.to(width).row()
        return selected(made) if row.view.node.id == self.chosen else made
