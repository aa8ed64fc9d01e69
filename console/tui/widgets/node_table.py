"""The table of nodes: the columns that fit, order, filter, and one row for each node in sight."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.filtering import KeptOrder
from benchconsole.console.tui.queries.node_columns import ColumnCache, stage_names, under_of
from benchconsole.console.tui.queries.node_row import (
    DEFAULT,
    NO_COLUMNS,
    Choice,
    ColumnSet,
    NodeColumn,
    NodeRow,
    WordColumn,
    expand_default,
)
from benchconsole.console.tui.rows.text_rows import REMARKED, CellLine, Row
from benchconsole.console.tui.rows.themes import ACTIVE, MUTED
from benchconsole.console.tui.widgets.listing import find_again
from benchconsole.console.tui.widgets.over_sessions import OVER, OverSessions
from benchconsole.console.tui.widgets.sorted_table import SortedTable
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.remark_words import group_remarks
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.remark import About
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.natural_order import make_natural_key

_WIDEST_LIMIT = 40
"""Cells of the names of elements at fault, where there is room."""

_QUIET = (State.PASS, State.SKIPPED, State.MEASURED)

_LOOKED_AT = 64
"""The first rows, by which columns that do not all fit are chosen."""


class NodeTable(SortedTable[NodeRow]):
    """Nodes as rows, metrics and facts as columns. The screen gives it views, columns, filters and sort keys."""

    ORDER = (("state", False), ("node", False))
    UNIQUE = "node"

    def __init__(self) -> None:
        super().__init__()
        self.view: RunView | None = None
        self.remarked: Container[str] = ()
        self.column_set = NO_COLUMNS
        self.filter_columns = self.column_set.scales
        self.over: OverSessions | None = None
        """The history of a column, once somebody has asked for it."""
        self.shown: tuple[NodeColumn, ...] = self.column_set.shown
        """Every column from left to right: those of the set, and the history."""
        self.folded = False
        self.folded_away = 0
        self.wanted: tuple[Choice, ...] = (DEFAULT,)
        self._made: Mapping[Choice, NodeColumn] = {}
        self._metrics: Mapping[Choice, NodeColumn] = {}
        self._under: dict[str, str] = {}
        self._natural: dict[str, tuple[object, ...]] = {}
        self._columns = ColumnCache()
        self._blame = Blame()
        self._stages: dict[int, str] = {}
        self.table: dict[str, NodeRow] = {}
        self._fixed: dict[str, int] = {}
        self._has_gone = False
        self._held = ""
        self._longest_limit = 0
        self._plan: tuple[int, list[tuple[NodeColumn, int, int]]] = (0, [])

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
        if known is None or known.fabric is not view.fabric:
            self._under = under_of(view.fabric)
            self._natural = {name: make_natural_key(name) for name in view.fabric.nodes}
            self._fixed = {
                "node": min(max([5, *map(len, self._under)]), 16),
                "under": min(max([6, *map(measure_width, self._under.values())]), 16),
            }
        if known is None or known.verdicts is not view.verdicts:
            self._metrics = {column.choice: column for column in self._columns.list_columns(view)}
            self._stages = stage_names(view)
            self._arrange(_find_columns(self.wanted, self._metrics, self._made))
        if known is None or known.findings is not view.findings:
            self._blame = Blame(view.findings)
            longest = max((measure_width(each.where) for each in view.findings), default=0)
            self._longest_limit = min(longest, _WIDEST_LIMIT)
        self.view = view
        self._fill()

    def take_columns(self, wanted: tuple[Choice, ...], made: Iterable[NodeColumn]) -> None:
        """Show the ``wanted`` columns; those that are no metric of every table were ``made`` for it."""
        self.wanted = wanted
        self._made = {column.choice: column for column in made}
        self._arrange(_find_columns(wanted, self._metrics, self._made))
        if self.view is not None:
            self._fill()

    def show_over(self, over: OverSessions | None) -> None:
        """Show the history of a column beside it, or none; the column cursor goes from there to that column."""
        if self.columns[self.picked] == OVER:
            self.picked -= 1
        self.over = over
        self._arrange(self.column_set)
        self.apply_filter()

    def _arrange(self, column_set: ColumnSet) -> None:
        """Take these columns; the picked one stays picked, and sorts by columns that have gone go, too."""
        picked = self.columns[min(self.picked, len(self.columns) - 1)]
        self.column_set = column_set
        self.filter_columns = column_set.scales
        self.shown = column_set.shown if self.over is None else self.over.insert(column_set.shown)
        keys = self.columns
        self.picked = keys.index(picked) if picked in keys else min(self.picked, len(keys) - 1)
        kept = [sort for sort in self.sorts if sort[0] in self.filter_columns or sort[0] in keys]
        if kept != self.sorts:
            self.sorts = kept or list(self.ORDER)
        self._follow()

    def _fill(self) -> None:
        """Make the rows that are not those of this view and these columns."""
        rows = self.table
        self.table = {
            name: rows[name] if name in rows and rows[name].view is seen and rows[name].columns is self.column_set
            else NodeRow(seen, self._under.get(name, ""), self.column_set, self._blame, self._stages)
            for name, seen in (self.view.nodes.items() if self.view is not None else ())
        }  # fmt: skip
        self.every = tuple(self.table.values())
        self.apply_filter()

    def pick(self, step: int) -> None:
        super().pick(step)
        if self._follow():
            self.kept = KeptOrder()  # the same rows, with other numbers in one column
            self.apply_filter()
        self.redraw()

    def _follow(self) -> bool:
        """Hold the last picked column of numbers against peers; True where rows may change their order or go for it."""
        picked, share = self.shown[self.picked], self.column_set.following
        if picked.scale is not None and picked is not share:
            self._held = picked.key
        of = next((column for column in self.column_set.chosen if column.key == self._held), None)
        if share is None or of is None or of is share.of:
            return False
        share.follow(of)
        return bool(self.filter.text) or share.key in dict(self.sorts)

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
        return tuple(column.key for column in self.shown)

    def draw(self, width: int, height: int) -> list[Row]:
        """Choose the columns once, then draw what is in sight."""
        self._plan = (width, _place(self._fit(width), self._fixed, self._longest_limit, width))
        return super().draw(width, height)

    def _planned(self, width: int) -> list[tuple[NodeColumn, int, int]]:
        return (
            self._plan[1]
            if self._plan[0] == width
            else _place(self._fit(width), self._fixed, self._longest_limit, width)
        )

    def heading(self, width: int) -> list[Row]:
        """Names, units, and what was expected."""
        planned = self._planned(width)
        rows = [CellLine(width), CellLine(width), CellLine(width).to(1).put("expected", MUTED)]
        for column, x, wide in planned:
            tone = ACTIVE if column.key == self.columns[self.picked] else MUTED
            align = ">" if column.is_right else "<"
            for line, text, ink in zip(
                rows, (column.heading + self.mark_sort(column.key), column.symbol, column.bound), (tone, MUTED, MUTED),
                strict=True,
            ):  # fmt: skip
                if text:
                    line.to(x).put(text, ink, wide, align)
        some = [rows[0].row()]
        measured = [column for column, _, _ in planned if not isinstance(column, WordColumn)]
        if any(column.symbol for column in measured):
            some.append(rows[1].row())
        if measured and any(column.bound for column in self.column_set.chosen):
            some.append(rows[2].row())
        return some

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

    def fitting(self, width: int) -> tuple[str, ...]:
        return tuple(column.key for column in self._fit(width))

    def _fit(self, width: int) -> list[NodeColumn]:
        """The columns that fit: the picked one, those that deviate or were asked for, then the others from the left."""
        every = self.shown
        by_key = {column.key: column for column in every}
        some = self.items[:_LOOKED_AT]
        chosen = self.column_set.chosen
        if self.wanted == (DEFAULT,):
            chosen = tuple(column for column in chosen if any(map(column.deviates, some)))
        words = [by_key[key] for key in ("why", "under", "limit")] if width >= 100 else []
        beside = filter(None, [self.column_set.following, by_key.get(OVER)])
        wanted = [
            by_key["state"], by_key["node"], every[self.picked], *beside, *chosen, *words,
            *self.column_set.chosen, by_key["under"], by_key["limit"], by_key["why"],
        ]  # fmt: skip
        room, fits = width - 2, set()
        for column in dict.fromkeys(wanted):
            needed = _measure(column, self._fixed) + 2
            if needed <= room:
                room -= needed
                fits.add(column)
        return [column for column in every if column in fits]

    def as_text(self, *, only: Sequence[NodeRow] | None = None) -> str:
        """Rows as tab-separated text with a heading, every column; parts of columns where any row has them."""
        rows = self.items if only is None else only
        columns = [
            each
            for column in self.shown
            for each in (column, *(part for part in column.parts if any(map(part.words, rows))))
        ]
        lines = ["\t".join(column.title for column in columns)]
        lines += ["\t".join(column.words(row) for column in columns) for row in rows]
        return "\n".join(sanitize(line.replace("\t", "␉")).replace("␉", "\t") for line in lines) + "\n"

    def _key_of(self, column: str) -> Callable[[NodeRow], tuple[object, ...]]:
        """What rows are sorted by: what is worse first, then as the column orders its numbers or words."""
        if column == "state":
            return lambda row: (row.state.rank,)
        if column == "node":
            return lambda row: self._natural[row.view.node.id]
        found = next((each for each in self.shown if each.key == column), None)
        return found.sort_key if found is not None else lambda row: make_natural_key(row.words(column))


def _find_columns(
    wanted: tuple[Choice, ...], metrics: Mapping[Choice, NodeColumn], made: Mapping[Choice, NodeColumn]
) -> ColumnSet:
    """The ``wanted`` columns that there are, in their order; ``metrics`` are those of every table."""
    found = (metrics.get(choice) or made.get(choice) for choice in expand_default(wanted, tuple(metrics)))
    return ColumnSet([column for column in found if column is not None])


def _measure(column: NodeColumn, fixed: Mapping[str, int]) -> int:
    """Cells of a column; ``fixed`` are those of columns whose width follows from the fabric."""
    return fixed.get(column.key) or column.width


def _place(
    shown: Sequence[NodeColumn], fixed: Mapping[str, int], longest_limit: int, width: int
) -> list[tuple[NodeColumn, int, int]]:
    """Column, where it starts, how wide it is; what is over goes to limits that need it, then to the last words."""
    over = width - 1 - sum(_measure(column, fixed) + 2 for column in shown)
    x, made = 1, []
    for column in shown:
        wide = _measure(column, fixed)
        if column.key == "limit":
            wide += max(min(longest_limit - wide, over), 0)
        if column is shown[-1] and column.key in ("why", "limit", "under"):
            wide = max(width - x - 1, wide)
        made.append((column, x, wide))
        x += wide + 2
    return made
