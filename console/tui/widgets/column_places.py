"""Where columns of nodes stand: which of them fit into a width, how wide each is, and what stands above them. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from benchconsole.console.text.cells import measure_width
from benchconsole.console.tui.queries.arranged_columns import ArrangedColumns
from benchconsole.console.tui.queries.node_row import DEFAULT, NodeColumn, NodeRow, WordColumn
from benchconsole.console.tui.queries.over_sessions import OVER
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import ACTIVE, MUTED
from benchconsole.probes.model.judgement import Finding

_WIDEST_NAME, _WIDEST_LIMIT = 16, 40
"""Cells of the names of nodes and of what they hang on, and of elements at fault where there is room."""

_LOOKED_AT = 64
"""The first rows, by which columns that do not all fit are chosen."""

_ROOMY = 100
"""Cells from which on words come before metrics that deviate nowhere."""


class PlacedColumn(NamedTuple):
    """A column, the cell that it starts in, and how many it takes."""

    column: NodeColumn
    x: int
    wide: int


class ColumnPlaces:
    """Places columns by what they need and by what was measured of the names in them."""

    def __init__(self) -> None:
        self._fixed: Mapping[str, int] = {}
        self._longest_where = self._longest_limit = 0

    def measure_names(self, under: Mapping[str, str]) -> None:
        """Take the names of all nodes of a fabric, with what each hangs on."""
        self._fixed = {
            "node": min(max([5, *map(len, under)]), _WIDEST_NAME),
            "under": min(max([6, *map(measure_width, under.values())]), _WIDEST_NAME),
        }

    def measure_limits(self, findings: Iterable[Finding]) -> None:
        """Take the names of elements at fault."""
        self._longest_where = max((measure_width(each.where) for each in findings), default=0)

    def choose(self, arranged: ArrangedColumns, picked: int, rows: Sequence[NodeRow], width: int) -> list[NodeColumn]:
        """The columns that fit: the picked one, those that deviate or were asked for, then the others from the left."""
        every = arranged.shown
        by_key = {column.key: column for column in every}
        some = rows[:_LOOKED_AT]
        limits = (measure_width(row.words("limit")) for row in some)
        self._longest_limit = min(max(self._longest_where, *limits, 0), _WIDEST_LIMIT)
        chosen = arranged.columns.chosen
        if arranged.wanted == (DEFAULT,):
            chosen = tuple(column for column in chosen if any(map(column.deviates, some)))
        words = [by_key[key] for key in ("why", "under", "limit")] if width >= _ROOMY else []
        beside = filter(None, [arranged.columns.following, by_key.get(OVER)])
        wanted = [
            by_key["state"], by_key["node"], every[picked], *beside, *chosen, *words,
            *arranged.columns.chosen, by_key["under"], by_key["limit"], by_key["why"],
        ]  # fmt: skip
        room, fits = width - 2, set()
        for column in dict.fromkeys(wanted):
            needed = self._measure(column) + 2
            if needed <= room:
                room -= needed
                fits.add(column)
        return [column for column in every if column in fits]

    def place(self, shown: Sequence[NodeColumn], width: int) -> list[PlacedColumn]:
        """Where each column stands; what is over goes to limits that need it, then to the last words."""
        over = width - 1 - sum(self._measure(column) + 2 for column in shown)
        x, made = 1, []
        for column in shown:
            wide = self._measure(column)
            if column.key == "limit":
                wide += max(min(self._longest_limit - wide, over), 0)
            if column is shown[-1] and column.key in ("why", "limit", "under"):
                wide = max(width - x - 1, wide)
            made.append(PlacedColumn(column, x, wide))
            x += wide + 2
        return made

    def _measure(self, column: NodeColumn) -> int:
        """Cells of a column; those of some follow from the fabric."""
        return self._fixed.get(column.key) or column.width


def draw_heads(
    placed: Sequence[PlacedColumn], width: int, *, picked: NodeColumn | None = None,
    marks: Mapping[str, str] = MappingProxyType({}), has_bounds: bool,
) -> list[Row]:  # fmt: skip
    """The names of columns, ``marks`` behind those that have one, below them units, and what was expected."""
    rows = [CellLine(width), CellLine(width), CellLine(width).to(1).put("expected", MUTED)]
    for column, x, wide in placed:
        tone = ACTIVE if column is picked else MUTED
        align = ">" if column.is_right else "<"
        texts = column.heading + marks.get(column.key, ""), column.symbol, column.bound
        for line, text, ink in zip(rows, texts, (tone, MUTED, MUTED), strict=True):
            if text:
                line.to(x).put(text, ink, wide, align)
    some = [rows[0].row()]
    measured = [column for column, _, _ in placed if not isinstance(column, WordColumn)]
    if any(column.symbol for column in measured):
        some.append(rows[1].row())
    if measured and has_bounds:
        some.append(rows[2].row())
    return some
