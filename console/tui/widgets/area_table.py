"""The table of an area: its rows with the columns that tell them apart, as wide as there is room for."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter

from benchconsole.console.text.cells import clip_around, clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column
from benchconsole.console.tui.queries.area import Area, find_signed, find_state
from benchconsole.console.tui.queries.area import Row as AreaRow
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.tui.rows.text_rows import (
    REMARKED,
    CellLine,
    CellText,
    Row,
    sign,
    value_tone,
    word_tone,
    wrap_under,
)
from benchconsole.console.tui.rows.themes import ACTIVE, MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.listing import find_again
from benchconsole.console.tui.widgets.sorted_table import SortedTable
from benchconsole.console.view.run_view import State
from benchconsole.topology.natural_order import make_natural_key
from benchconsole.topology.units import counted

_WIDEST = 60
"""Cells that a column takes at most before what is over is shared out."""

_NUMBER = 12
"""Cells that a number needs at least; what a node says of itself may be longer."""

_MEASURED = 2000
"""Rows whose cells are measured for the widths of columns."""

_GAP = 2
_NAMING = 2
"""Columns of words that name a row, the first ones: they have room before the others."""
_JUDGED = ("share", "measured", "change")
"""Columns of numbers that carry the colour of their row where it is not well."""

_QUIET = (State.PASS, State.SKIPPED, State.MEASURED)


class AreaTable(SortedTable[AreaRow]):
    """An area as a table. A column that says the same in every row is told once (``alike``) and not drawn.

    ``absent`` is said where there are no rows, and no filter is at fault. Above the heading of one that ``is_alone``
    stands which columns are left out: no line under it says so.
    """

    def __init__(self, absent: str = "", *, is_alone: bool = False) -> None:
        super().__init__()
        self.absent = absent
        self.is_alone = is_alone
        self.area: Area | None = None
        self.alike: Mapping[str, str] = {}
        self._chosen_from: Sequence[AreaRow] = ()
        """Where the rows are from: among the same ones a row is looked for itself, among others one like it."""
        self._signed = ""
        self._widths: Mapping[str, int] = {}
        self._plan: tuple[object, list[tuple[str, int, int]]] = (None, [])

    def show(self, area: Area) -> None:
        """Take a new area; the cursor stays on its row where that is still there."""
        self.area = area
        self.every = area.rows
        self.filter_columns = {**dict.fromkeys(area.columns), **area.scales}
        self.alike = dict(_list_alike(area))
        self._signed = find_signed(area.columns)
        self._widths = {
            name: _measure(name, column, area.rows, 2 if name == self._signed else 0)
            for name, column in area.columns.items()
        }
        self.__dict__.pop("columns", None)
        self.picked = min(self.picked, max(len(self.columns) - 1, 0))
        self.apply_filter()

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Every column by its key that tells rows apart."""
        if self.area is None:
            return ()
        used = (name for name in self.area.columns if any(row.words(name) for row in self.area.rows))
        return tuple(name for name in used if name not in self.alike)

    def apply_filter(self) -> None:
        """Filter and sort anew; without a sort the rows keep the order of the area."""
        here = self.chosen
        key: Callable[[AreaRow], object] = id if self._chosen_from is self.every else attrgetter("source")
        self._chosen_from = self.every
        self.items = rows = self.kept.select(self.filter, self.every, self.sorts, self._key_of)
        self.cursor = find_again(here, rows, key, min(self.cursor, max(len(rows) - 1, 0)))
        self._plan = (None, [])
        self.redraw()

    def fitting(self, width: int) -> tuple[str, ...]:
        return tuple(name for name, _, _ in self._planned(width))

    def as_text(self, *, only: Sequence[AreaRow] | None = None) -> str:
        columns = self.area.columns if self.area is not None else {}
        rows = self.items if only is None else only
        lines = ["\t".join(column.heading for column in columns.values())]
        lines += ["\t".join(row.words(name) for name in columns) for row in rows]
        return "\n".join(sanitize(line.replace("\t", "␉")).replace("␉", "\t") for line in lines) + "\n"

    def tell_alike(self) -> str:
        """The note on the area, and what all rows have in common, in words."""
        alike = "   ".join(f"{name} {words}" for name, words in self.alike.items())
        note = self.area.note if self.area is not None else ""
        return "   ".join(filter(None, (note, f"all: {alike}" if alike else "")))

    # -- drawing

    def heading(self, width: int) -> list[Row]:
        if self.area is None:
            return []
        line = CellLine(width)
        for name, x, wide in self._planned(width):
            column = self.area.columns[name]
            tone = ACTIVE if name == self.columns[self.picked] else MUTED
            line.to(x).put(column.heading + self.mark_sort(name), tone, wide, ">" if column.right else "<")
        words = tell_left_out(self, width) if self.is_alone and self.every else ""
        above = [CellLine(width).to(1).put(clip_text(words, width - 2), MUTED).row()] if words else []
        return [*above, line.row()]

    def row(self, index: int, width: int) -> Row:
        row = self.items[index]
        is_marked = bool(self.marked) and row.record.get("id") in self.marked
        line = CellLine(width).put("*" if is_marked else REMARKED if row.words("remarks") else " ", ACTIVE)
        state = find_state(row)
        columns: Mapping[str, Column] = {} if self.area is None else self.area.columns
        for place, (name, x, wide) in enumerate(self._planned(width)):
            line.to(x)
            if name == self._signed and state is not None:
                line.extend((sign(state), CellText(" "))).put(row.words(name), word_tone(state), wide - 2)
            elif self._is_number(name):
                is_low = state is not None and state not in _QUIET and name in _JUDGED
                line.put(row.words(name), value_tone(state) if is_low and state is not None else TEXT, wide, ">")
            else:
                words, kept = row.words(name), columns[name].kept
                words = clip_around(words, row.words(kept), wide) if kept else words
                line.put(words, STRONG if place < 2 and state not in _QUIET else TEXT, wide)
        return line.row()

    def empty(self, width: int) -> list[Row]:
        if self.filter.text:
            line = CellLine(width).to(1).put("No row matches this filter.  ").put("esc", ACTIVE).put(" clears it")
            return [(), line.row()]
        words = "Nothing yet." if self.area is None else f"No {self.area.title.lower()} yet."
        return [(), *wrap_under("", [self.absent or words], width, 1, 4, MUTED)]

    # -- columns

    def _planned(self, width: int) -> list[tuple[str, int, int]]:
        """Column, where it starts, how wide it is: those that fit, the picked one among them."""
        key = (width, self.picked, self.area, self.columns)
        if self._plan[0] != key:
            self._plan = (key, self._place(width))
        return self._plan[1]

    def _place(self, width: int) -> list[tuple[str, int, int]]:
        if self.area is None or not self.columns:
            return []
        least = {name: self._least(name) for name in self.columns}
        shown = list(self.columns)
        while len(shown) > 1 and 1 + sum(least[name] + _GAP for name in shown) > width:
            shown.remove(self._choose_dropped(shown))
        named = _list_words(self.area, shown)[:_NAMING]

        def find_need(name: str) -> tuple[bool, bool, int]:
            return self._is_number(name), name not in named, self._widths[name] - least[name]

        order = sorted(shown, key=find_need)
        widths = _share(order, least, self._widths, width - 1 - _GAP * len(shown))
        x, made = 1, []
        for name in shown:
            made.append((name, x, widths[name]))
            x += widths[name] + _GAP
        return made

    def _choose_dropped(self, shown: Sequence[str]) -> str:
        """The column that is given up first: words after the first two that name the row, then the last one.

        One that outlasts words goes after all but the first of them.
        """
        free = [name for name in shown if name != self.columns[self.picked]]
        words = _list_words(self.area, shown)
        last = next((name for name in reversed(words[_NAMING:]) if name in free), free[-1])
        if self.area is None or not self.area.columns[last].outlasts:
            return last
        return next((name for name in reversed(words[1:]) if name in free), last)

    def _is_number(self, name: str) -> bool:
        return self.area is not None and self.area.columns[name].right

    def _least(self, name: str) -> int:
        column = self.area.columns[name] if self.area is not None else Column(name)
        return min(self._widths[name], max(column.least or _NUMBER, measure_width(column.heading) + 2))

    def _key_of(self, column: str) -> Callable[[AreaRow], tuple[object, ...]]:
        """The key that sorts rows: what is worse first, numbers by size, words so that n2 comes before n10."""
        if column == self._signed:
            return lambda row: (state.rank if (state := find_state(row)) is not None else len(State),)
        if isinstance(self.filter_columns.get(column), Scale):
            return lambda row: (1, 0.0) if (found := row.number(column)) is None else (0, found)
        return lambda row: make_natural_key(row.words(column))


def _list_words(area: Area | None, shown: Sequence[str]) -> list[str]:
    return [name for name in shown if area is not None and area.columns[name].wraps]


def tell_left_out(table: AreaTable, width: int) -> str:
    """How many columns of a table are not drawn in ``width`` cells, and why; empty for none."""
    headings = table.area.columns if table.area is not None else {}
    alike = "; ".join(f"{headings[name].heading} {words}" for name, words in table.alike.items())
    narrow = len(table.columns) - len(table.fitting(width))
    parts = [f"{counted(narrow, 'column')} for want of room"] if narrow else []
    parts += [f"{counted(len(table.alike), 'column')} with the same in every row ({alike})"] if alike else []
    return f"left out: {', '.join(parts)}" if parts else ""


def tell_row(table: AreaTable, row: AreaRow) -> list[tuple[str, list[str]]]:
    """Every column of a row that says something, by its heading."""
    columns = table.area.columns if table.area is not None else {}
    return [(column.heading, [row.words(name)]) for name, column in columns.items() if row.words(name)]


def _list_alike(area: Area) -> list[tuple[str, str]]:
    """The columns of words that say one thing in all of several rows, and what they say."""
    if len(area.rows) < 2:
        return []
    said = {name: area.rows[0].words(name) for name, column in area.columns.items() if not column.right}
    return [
        (name, words)
        for name, words in said.items()
        if words and name != "state" and all(row.words(name) == words for row in area.rows)
    ]


def _measure(name: str, column: Column, rows: Sequence[AreaRow], sign: int) -> int:
    """Cells that a column wants, of them ``sign`` for the sign of a row."""
    some = rows[:: max(len(rows) // _MEASURED, 1)]
    widest = max((measure_width(row.words(name)) for row in some), default=0) + sign
    return max(widest, measure_width(column.heading) + 2)


def _share(names: Sequence[str], least: Mapping[str, int], wanted: Mapping[str, int], room: int) -> dict[str, int]:
    """The width of each column: what it needs at least, then what it wants as far as there is room, in this order.

    A column takes no more than ``_WIDEST`` before each of the others has that.
    """
    widths = {name: least[name] for name in names}
    over = max(room - sum(widths.values()), 0)
    for most in (_WIDEST, max(wanted.values(), default=0)):
        for name in names:
            more = min(max(min(wanted[name], most) - widths[name], 0), over)
            widths[name] += more
            over -= more
    return widths
