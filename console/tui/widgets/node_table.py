"""The table of nodes: the columns that fit, order, filter, and one row for each node in sight."""

import math
from collections.abc import Callable, Container, Sequence

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.node_columns import (
    ColumnCache,
    MetricColumn,
    NodeRow,
    filter_columns,
    key_of,
    stage_names,
    under_of,
)
from benchconsole.console.tui.rows.text_rows import REMARKED, CellLine, CellText, Row, sign, value_tone, word_tone
from benchconsole.console.tui.rows.themes import ACTIVE, FAINT, MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.listing import find_again
from benchconsole.console.tui.widgets.over_sessions import OVER, OverSessions, find_width
from benchconsole.console.tui.widgets.sorted_table import SortedTable
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.remark_words import group_remarks
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.probes.model.remark import About
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.natural_order import make_natural_key

_WIDEST_LIMIT = 40
"""Cells of the names of elements at fault, where there is room."""


class NodeTable(SortedTable[NodeRow]):
    """Nodes as rows, metrics as columns. The screen gives it views, filters and sort keys."""

    ORDER = (("state", False), ("node", False))
    UNIQUE = "node"

    def __init__(self) -> None:
        super().__init__()
        self.view: RunView | None = None
        self.filter_columns = filter_columns(())
        self.metrics: tuple[MetricColumn, ...] = ()
        self.remarked: Container[str] = ()
        self.over: OverSessions | None = None
        """The history of a column, once somebody has asked for it."""
        self.folded = False
        self.folded_away = 0
        self._under: dict[str, str] = {}
        self._natural: dict[str, tuple[object, ...]] = {}
        self._columns = ColumnCache()
        self._blame = Blame()
        self._stages: dict[int, str] = {}
        self.table: dict[str, NodeRow] = {}
        self._fixed: dict[str, int] = {}
        self._widths = {column: self._width(column) for column in self.columns}  # drawn before the first view comes
        self._has_gone = False
        self._longest_limit = 0
        self._plan: tuple[int, list[tuple[str, int, int]]] = (0, [])

    def go(self, index: int) -> None:
        self._has_gone = True
        super().go(index)

    def show(self, view: RunView) -> None:
        """Take a new view; the cursor stays on its node. Without a new judgement there is nothing to do."""
        known = self.view
        if known is None or known.remarks is not view.remarks:
            self.remarked = group_remarks(view.remarks, (About.NODE,))
            self.redraw()
        if known is not None and known.nodes is view.nodes and known.findings is view.findings:
            self.view = view
            return
        if self.view is None or self.view.fabric is not view.fabric:
            self._under = under_of(view.fabric)
            self._natural = {name: make_natural_key(name) for name in view.fabric.nodes}
            self._fixed = {column: self._width(column) for column in ("node", "under")}
        if self.view is None or self.view.verdicts is not view.verdicts:
            self.metrics = self._columns.list_columns(view)
            self.filter_columns = filter_columns(self.metrics)
            self._stages = stage_names(view)
        if self.view is None or self.view.findings is not view.findings:
            self._blame = Blame(view.findings)
            longest = max((measure_width(each.where) for each in view.findings), default=0)
            self._longest_limit = min(longest, _WIDEST_LIMIT)
        self.view = view
        self._widths = {column: self._fixed.get(column) or self._width(column) for column in self.columns}
        rows = self.table
        self.table = {
            name: rows[name] if name in rows and rows[name].view is seen and rows[name].columns is self.metrics
            else NodeRow(seen, self._under.get(name, ""), self.metrics, self._blame, self._stages)
            for name, seen in view.nodes.items()
        }  # fmt: skip
        self.every = tuple(self.table.values())
        self.apply_filter()

    def apply_filter(self) -> None:
        """Filter and sort anew; the cursor stays on its node where that is still shown.

        Until somebody has moved it, it stays on the first row: the worst, whatever has come in since.
        """
        if self.view is None:
            return
        here = self.chosen if self._has_gone else None
        rows = self.kept.select(self.filter, self.every, self.sorts, self._key_of)
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
        every = ("state", "node", "under", *(key_of(metric) for metric in self.metrics), "limit", "why")
        return every if self.over is None else self.over.insert(every)

    def draw(self, width: int, height: int) -> list[Row]:
        """Choose the columns once, then draw what is in sight."""
        self._plan = (width, self._places(width, self.fitting(width)))
        return super().draw(width, height)

    def _planned(self, width: int) -> list[tuple[str, int, int]]:
        return self._plan[1] if self._plan[0] == width else self._places(width, self.fitting(width))

    def heading(self, width: int) -> list[Row]:
        """Names, units, and what was expected."""
        planned = self._planned(width)
        rows = [CellLine(width), CellLine(width), CellLine(width).to(1).put("expected", MUTED)]
        for column, x, wide in planned:
            metric = self._metric(column)
            name = metric.heading if metric else column.replace(".", " ")
            align = ">" if metric else "<"
            tone = ACTIVE if column == self.columns[self.picked] else MUTED
            mark = self.mark_sort(column)
            rows[0].to(x).put(name + mark, tone, wide, align)
            if metric:
                rows[1].to(x).put(metric.scale.symbol, MUTED, wide, ">")
                rows[2].to(x).put(metric.bound or "", MUTED, wide, ">")
            elif column == OVER and self.over is not None:
                rows[1].to(x).put(self.over.tell(), MUTED, wide)
        some = [rows[0].row()]
        if any(self._metric(column) for column, _, _ in planned):
            some.append(rows[1].row())
            if any(metric.bound for metric in self.metrics):
                some.append(rows[2].row())
        return some

    def row(self, index: int, width: int) -> Row:
        row = self.items[index]
        name = row.view.node.id
        line = CellLine(width).put("*" if name in self.marked else REMARKED if name in self.remarked else " ", ACTIVE)
        quiet = row.state in (State.PASS, State.SKIPPED, State.MEASURED)
        for column, x, wide in self._planned(width):
            line.to(x)
            if column == "state" and self.view is not None and self.view.reading is not None:
                continue
            if column == "state":
                line.extend((sign(row.state), CellText(" "))).put(row.words(column), word_tone(row.state), wide - 2)
            elif column == "node":
                line.put(sanitize(row.view.node.id), TEXT if quiet else STRONG, wide)
            elif (metric := self._metric(column)) is not None:
                self._number(line, row, metric, wide, quiet=quiet)
            elif column == OVER and self.over is not None:
                line.put(self.over.draw(row), TEXT, wide)
            else:
                strong = column in ("limit", "why") and row.state in (State.FAIL, State.WATCH, State.UNREACHABLE)
                line.put(row.words(column), TEXT if strong else MUTED, wide)
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

    def fitting(self, width: int) -> tuple[str, ...]:
        """The columns that fit: the picked one, those that deviate, then the others from the left."""
        every = self.columns
        wanted = ["state", "node", every[min(self.picked, len(every) - 1)]]
        metrics = sorted((key_of(metric) for metric in self.metrics), key=lambda key: not self._deviates(key))
        deviating = [key for key in metrics if self._deviates(key)]
        words = ["why", "under", "limit"] if width >= 100 else []
        wanted += [*filter(OVER.__eq__, every), *deviating, *words, *metrics, "under", "limit", "why"]
        room, chosen = width - 2, set()
        for column in dict.fromkeys(wanted):
            needed = find_width(self._widths, self.over, column) + 2
            if needed <= room:
                room -= needed
                chosen.add(column)
        return tuple(column for column in every if column in chosen)

    def as_text(self, *, only: Sequence[NodeRow] | None = None) -> str:
        """Rows as tab-separated text with a heading, every column."""
        rows = self.items if only is None else only
        titles = {key_of(metric): f"{metric.heading} {metric.scale.symbol}".strip() for metric in self.metrics}
        lines = ["\t".join(titles.get(column, column) for column in self.columns)]
        over = self.over
        lines += [
            "\t".join(over.draw(row) if over and column == OVER else row.words(column) for column in self.columns)
            for row in rows
        ]
        return "\n".join(sanitize(line.replace("\t", "␉")).replace("␉", "\t") for line in lines) + "\n"

    def _number(self, line: CellLine, row: NodeRow, metric: MetricColumn, wide: int, *, quiet: bool) -> None:
        verdict = row.worst.get(metric.id)
        if verdict is None:
            failed = any(each.stage.value for each in row.view.failures) and row.state is not State.UNREACHABLE
            line.put(NOT_MEASURED if not failed else "–", FAINT, wide, ">")
            return
        state = row.state_of(verdict)
        tone = value_tone(state) if state not in (State.PASS, State.UNKNOWN) else MUTED if quiet else TEXT
        line.put(metric.scale.shown(verdict.value), tone, wide, ">")

    def _places(self, width: int, shown: Sequence[str]) -> list[tuple[str, int, int]]:
        """Column, where it starts, how wide it is; what is over goes to limits that need it, then to the last words."""
        over = width - 1 - sum(find_width(self._widths, self.over, column) + 2 for column in shown)
        x, made = 1, []
        for column in shown:
            wide = find_width(self._widths, self.over, column)
            if column == "limit":
                wide += max(min(self._longest_limit - wide, over), 0)
            if column == shown[-1] and column in ("why", "limit", "under"):
                wide = max(width - x - 1, wide)
            made.append((column, x, wide))
            x += wide + 2
        return made

    def _width(self, column: str) -> int:
        metric = self._metric(column)
        if metric is not None:
            return max(measure_width(metric.heading) + 1, measure_width(metric.scale.symbol), 7)
        if column == "state":
            return 10
        if column == "node":
            return min(max([5, *(len(name) for name in self._under)]), 16)
        if column == "under":
            return min(max([6, *(measure_width(text) for text in self._under.values())]), 16)
        return {"limit": 14, "why": 16, OVER: 0}[column]

    def _metric(self, column: str) -> MetricColumn | None:
        return next((metric for metric in self.metrics if key_of(metric) == column), None)

    def _deviates(self, column: str) -> bool:
        metric = self._metric(column)
        if metric is None:
            return False
        shown = ((row, row.worst.get(metric.id)) for row in self.items[:64] if row.state is not State.PASS)
        return any(verdict is not None and row.state_of(verdict).rank <= State.AFFECTED.rank for row, verdict in shown)

    def _key_of(self, column: str) -> Callable[[NodeRow], tuple[object, ...]]:
        """What rows are sorted by: what is worse first, numbers by size, words so that n2 comes before n10."""
        if column == "state":
            return lambda row: (row.state.rank,)
        if column == "node":
            return lambda row: self._natural[row.view.node.id]
        if column == OVER and self.over is not None:
            return self.over.order
        if self._metric(column) is None:
            return lambda row: make_natural_key(row.words(column))

        def number(row: NodeRow) -> tuple[object, ...]:
            found = row.number(column)
            return (1, 0.0) if found is None or math.isnan(found) else (0, found)

        return number
