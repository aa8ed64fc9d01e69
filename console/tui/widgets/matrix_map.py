"""A matrix on the screen, with a cursor on one cell; the maps of pairs and of changes say how a cell looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic

from textual.message import Message

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.matrix import Cell, Matrix, Place
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, selected
from benchconsole.console.tui.rows.themes import ACTIVE, FAINT, MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget

_SUM = "mean"
_WIDEST, _TALLEST = 16, 8


class MatrixMap(CellWidget, Generic[Cell], can_focus=True):
    """Subclasses say how a cell and a mean are drawn, in ``CELL`` columns each, and which cells are well."""

    CELL: ClassVar[int]
    ABSENT: ClassVar[str]
    """In place of a matrix without cells."""

    @dataclass
    class Moved(Message):
        """The cursor stands on another cell."""

        place: Place

    def __init__(self) -> None:
        super().__init__()
        self.matrix: Matrix[Cell] | None = None
        self.row = self.column = 0
        self.top = self.left = 0
        self.cell_width = self.CELL
        self.rows_in_sight: Sequence[tuple[int, int]] = ()
        """Where rows stand in the widget, and which."""

    def show(self, matrix: Matrix[Cell]) -> None:
        """Take a new matrix; the cursor stays on its names, and begins on the worst cell."""
        here = self.place
        is_first, self.matrix = self.matrix is None, matrix
        if is_first and matrix.cells:
            here = min(matrix.cells, key=lambda place: self.rank(matrix.cells[place]))
        if here is not None and here[0] in matrix.sources and here[1] in matrix.sinks:
            self.row, self.column = matrix.sources.index(here[0]), matrix.sinks.index(here[1])
        self.step(0, 0)
        self.redraw()

    @property
    def place(self) -> Place | None:
        """The sender and the receiver under the cursor."""
        if self.matrix is None or not self.matrix.cells:
            return None
        return self.matrix.sources[self.row], self.matrix.sinks[self.column]

    def step(self, rows: int, columns: int) -> None:
        """Move the cursor, to the edge at most."""
        if self.matrix is None or not self.matrix.cells:
            return
        self.row = max(0, min(self.row + rows, len(self.matrix.sources) - 1))
        self.column = max(0, min(self.column + columns, len(self.matrix.sinks) - 1))
        self.redraw()
        if self.place is not None:
            self.post_message(self.Moved(self.place))

    def walk(self, step: int) -> bool:
        """To the next cell that is not well, round the end; ``step`` -1 goes back. False where there is none."""
        if self.matrix is None:
            return False
        order = [(source, sink) for source in self.matrix.sources for sink in self.matrix.sinks]
        bad = [place for place in order if place in self.matrix.cells and not self.is_well(self.matrix.cells[place])]
        if not bad or self.place is None:
            return False
        at, places = order.index(self.place), [order.index(place) for place in bad]
        ahead = [place for place in places if (place > at if step > 0 else place < at)] or places
        found = order[ahead[0] if step > 0 else ahead[-1]]
        self.step(self.matrix.sources.index(found[0]) - self.row, self.matrix.sinks.index(found[1]) - self.column)
        return True

    def rank(self, cell: Cell) -> tuple[float, float]:
        """The place of a cell among all, the worst first: the cursor begins there."""
        raise NotImplementedError  # no ABC, as for Canvas

    def is_well(self, cell: Cell) -> bool:
        """Whether ``n`` passes a cell over."""
        raise NotImplementedError  # no ABC, as for Canvas

    def draw_cell(self, cell: Cell) -> CellText:
        """A cell, ``CELL`` columns wide."""
        raise NotImplementedError  # no ABC, as for Canvas

    def draw_mean(self, cell: Cell) -> CellText:
        """The sum of a row or a column, ``CELL`` columns wide."""
        raise NotImplementedError  # no ABC, as for Canvas

    # -- drawing

    def draw(self, width: int, height: int) -> list[Row]:
        matrix = self.matrix
        if matrix is None or not matrix.cells:
            return [CellLine(width).to(1).put(self.ABSENT, MUTED).row()]
        names = [*matrix.sources, _SUM]
        gutter = 2 + min(max(measure_width(sanitize(name)) for name in names), _WIDEST)
        longest = max(measure_width(sanitize(name)) for name in matrix.sinks)
        self.cell_width, tall = self._choose_cells(longest, len(matrix.sinks), width - gutter)
        columns = max((width - gutter - self.CELL - 1) // self.cell_width, 1)
        rows = max(height - tall - 1, 1)  # the means are below
        self._keep_in_sight(rows, columns)
        shown = matrix.sinks[self.left : self.left + columns]
        end = gutter + self.cell_width * len(shown)
        drawn = [self._head(line, tall, shown, gutter, end, width) for line in range(tall)]
        in_sight = matrix.sources[self.top : self.top + rows]
        self.rows_in_sight = [(tall + at, self.top + at) for at in range(len(in_sight))]
        drawn += [self._line(source, shown, gutter, end, width) for source in in_sight]
        line = CellLine(width).to(1).put(_SUM if matrix.by_sink else "", MUTED)
        for at, sink in enumerate(shown):
            line.to(self._find_cell(gutter, at)).extend(self._draw_sum(matrix.by_sink.get(sink)))
        return [*drawn, line.row()]

    def _choose_cells(self, longest: int, number: int, room: int) -> tuple[int, int]:
        """Columns of a cell and rows of the heads: names lie in one row where all fit, else they stand upright."""
        wide = max(self.CELL, longest + 1)
        fits = wide * number + self.CELL + 1 <= room and longest <= _WIDEST
        if wide == self.CELL or fits:
            return wide, 1
        return self.CELL, min(longest, _TALLEST)

    def _find_cell(self, gutter: int, at: int) -> int:
        """The column in which a cell begins, at the right end of its room."""
        return gutter + self.cell_width * (at + 1) - self.CELL

    def _head(self, line: int, tall: int, shown: tuple[str, ...], gutter: int, end: int, width: int) -> Row:
        """One row of the names of receivers: whole, or a letter of each, which end at the matrix."""
        made = CellLine(width)
        for at, sink in enumerate(shown):
            tone = ACTIVE if self.place is not None and sink == self.place[1] else MUTED
            if tall == 1:
                made.to(gutter + self.cell_width * at).put(sanitize(sink), tone, self.cell_width, ">")
                continue
            name = sanitize(sink)[-tall:].rjust(tall)
            made.to(gutter + self.CELL * at + self.CELL - 1).put(name[line], tone)
        return made.to(end).put(_SUM if line == tall - 1 else "", MUTED, self.CELL, ">").row()

    def _line(self, source: str, shown: tuple[str, ...], gutter: int, end: int, width: int) -> Row:
        matrix = self.matrix
        here = self.place
        is_here = here is not None and source == here[0]
        line = CellLine(width).to(1).put(sanitize(source), ACTIVE if is_here else TEXT, gutter - 2)
        for at, sink in enumerate(shown):
            cell = matrix.cells.get((source, sink)) if matrix is not None else None
            drawn = (CellText(" " * self.CELL, FAINT),) if cell is None else (self.draw_cell(cell),)
            line.to(self._find_cell(gutter, at)).extend(
                selected(drawn) if is_here and here == (source, sink) else drawn
            )
        if matrix is not None:
            line.to(end).extend(self._draw_sum(matrix.by_source.get(source)))
        return line.row()

    def _keep_in_sight(self, rows: int, columns: int) -> None:
        self.top = max(min(self.top, self.row), self.row - rows + 1)
        self.left = max(min(self.left, self.column), self.column - columns + 1)

    def _draw_sum(self, cell: Cell | None) -> Row:
        return () if cell is None else (self.draw_mean(cell),)
