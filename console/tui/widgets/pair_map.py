"""The map of pairs: senders as rows, receivers as columns, each cell the lowest share that arrived, and their means."""

from dataclasses import dataclass

from textual.message import Message

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.pair_matrix import PairCell, PairMatrix, Place
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, selected, value_tone
from benchconsole.console.tui.rows.themes import ACTIVE, FAINT, MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS

CELL = 5
"""Cells of a column: a blank, and up to four for a share."""

_SUM = "mean"
_WIDEST, _TALLEST = 16, 8
_GOOD = (State.PASS, State.MEASURED)


class PairMap(CellWidget, can_focus=True):
    """A matrix with a cursor on one cell. A pair that passed is a dot; a share is drawn where it deviates."""

    @dataclass
    class Moved(Message):
        """The cursor stands on another cell."""

        place: Place

    def __init__(self) -> None:
        super().__init__()
        self.matrix: PairMatrix | None = None
        self.row = self.column = 0
        self.top = self.left = 0

    def show(self, matrix: PairMatrix) -> None:
        """Take a new matrix; the cursor stays on its names, and begins on the worst cell."""
        here = self.place
        is_first, self.matrix = self.matrix is None, matrix
        if is_first and matrix.cells:
            here = min(matrix.cells, key=lambda place: (matrix.cells[place].state.rank, matrix.cells[place].low or 0.0))
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
        bad = [place for place in order if place in self.matrix.cells and self.matrix.cells[place].state not in _GOOD]
        if not bad or self.place is None:
            return False
        at, places = order.index(self.place), [order.index(place) for place in bad]
        ahead = [place for place in places if (place > at if step > 0 else place < at)] or places
        found = order[ahead[0] if step > 0 else ahead[-1]]
        self.step(self.matrix.sources.index(found[0]) - self.row, self.matrix.sinks.index(found[1]) - self.column)
        return True

    # -- drawing

    def draw(self, width: int, height: int) -> list[Row]:
        matrix = self.matrix
        if matrix is None or not matrix.cells:
            return [CellLine(width).to(1).put("No pair of nodes was judged yet.", MUTED).row()]
        names = [*matrix.sources, _SUM]
        gutter = 2 + min(max(measure_width(sanitize(name)) for name in names), _WIDEST)
        tall = min(max(measure_width(sanitize(name)) for name in matrix.sinks), _TALLEST)
        columns = max((width - gutter - CELL - 1) // CELL, 1)
        rows = max(height - tall - 2, 1)
        self._keep_in_sight(rows, columns)
        shown = matrix.sinks[self.left : self.left + columns]
        end = gutter + CELL * len(shown)
        drawn = [self._head(line, tall, shown, gutter, end, width) for line in range(tall)]
        in_sight = matrix.sources[self.top : self.top + rows]
        drawn += [self._line(source, shown, gutter, end, width) for source in in_sight]
        line = CellLine(width).to(1).put(_SUM, MUTED)
        for at, sink in enumerate(shown):
            line.to(gutter + CELL * at).extend(_draw_mean(matrix.by_sink[sink]))
        return [*drawn, line.row()]

    def _head(self, line: int, tall: int, shown: tuple[str, ...], gutter: int, end: int, width: int) -> Row:
        """One row of the names of receivers, which stand upright, and end at the matrix."""
        made = CellLine(width)
        for at, sink in enumerate(shown):
            name = sanitize(sink)[-tall:].rjust(tall)
            tone = ACTIVE if self.place is not None and sink == self.place[1] else MUTED
            made.to(gutter + CELL * at + CELL - 1).put(name[line], tone)
        return made.to(end + 1).put(_SUM if line == tall - 1 else "", MUTED).row()

    def _line(self, source: str, shown: tuple[str, ...], gutter: int, end: int, width: int) -> Row:
        matrix = self.matrix
        here = self.place
        is_here = here is not None and source == here[0]
        line = CellLine(width).to(1).put(sanitize(source), ACTIVE if is_here else TEXT, gutter - 2)
        for at, sink in enumerate(shown):
            cell = matrix.cells.get((source, sink)) if matrix is not None else None
            drawn = _draw_cell(cell)
            line.to(gutter + CELL * at).extend(selected(drawn) if is_here and here == (source, sink) else drawn)
        if matrix is not None:
            line.to(end).extend(_draw_mean(matrix.by_source[source]))
        return line.row()

    def _keep_in_sight(self, rows: int, columns: int) -> None:
        self.top = max(min(self.top, self.row), self.row - rows + 1)
        self.left = max(min(self.left, self.column), self.column - columns + 1)


def _draw_cell(cell: PairCell | None) -> Row:
    """A cell in ``CELL`` cells: nothing where nobody sent, a dot where it passed, else the share or the sign."""
    if cell is None:
        return (CellText(" " * CELL, FAINT),)
    if cell.state in _GOOD:
        return (CellText(SIGNS[cell.state].glyph.rjust(CELL), MUTED),)
    words = SIGNS[cell.state].glyph if cell.low is None else f"{cell.low:.0%}"
    return (CellText(words.rjust(CELL), value_tone(cell.state)),)


def _draw_mean(cell: PairCell) -> Row:
    words = "" if cell.mean is None else f"{cell.mean:.0%}"
    return (CellText(words.rjust(CELL), MUTED if cell.state in _GOOD else value_tone(cell.state)),)
