"""The strip above a comparison: a row for each session with its own verdict, then what else differs between both."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.queries.compared_sessions import SessionCells, join_fitting
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign, word_tone
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget

_DIFFERS = "differs"
_GUTTER = 11
"""Where the words begin that follow the letters and the name of the last row."""
_LEAST_NAME = 12
_OPTIONAL = ("nodes", "lasted", "reasons", "tested")
"""Cells that are left out where it is narrow, in this order; verdict, name and date stay."""


class ComparedSessions(CellWidget):
    """Nothing before both sessions were compared. ``differences`` say what is not alike, ``alike`` that nothing is."""

    DEFAULT_CSS = "ComparedSessions { height: 0; }"
    ROWS = 3

    cells: Sequence[SessionCells] = ()
    differences: Sequence[str] = ()
    alike = ""

    def show(self, cells: Sequence[SessionCells], differences: Sequence[str], alike: str) -> None:
        self.cells, self.differences, self.alike = cells, differences, alike
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        if not self.cells:
            return []
        shown, name = self._choose_cells(width)
        rows = [self._draw_session(each, shown, name, width) for each in self.cells]
        line = CellLine(width).to(1).put(_DIFFERS, MUTED).to(_GUTTER)
        words = join_fitting(self.differences, line.room - 1) if self.differences else self.alike
        line.put(clip_text(words, line.room - 1), TEXT if self.differences else MUTED)
        return [*rows, line.row()]

    def _choose_cells(self, width: int) -> tuple[list[str], int]:
        """The cells that fit, and how wide the name is."""
        shown = ["verdict", "name", "began", "lasted", "tested", "reasons", "nodes"]
        left = list(_OPTIONAL)
        while left and 6 + sum(self._measure(each) + 2 for each in shown) > width:
            shown.remove(left.pop(0))
        others = sum(self._measure(each) + 2 for each in shown if each != "name")
        return shown, max(min(self._measure("name"), width - 8 - others), _LEAST_NAME)

    def _measure(self, cell: str) -> int:
        return max(measure_width(getattr(each, cell)) for each in self.cells)

    def _draw_session(self, cells: SessionCells, shown: Sequence[str], name: int, width: int) -> Row:
        """``A  ✗ fail  demo default 937b8ce7   2025-11-29 17:46  0:12  655 of 664 tests  4 findings  134 nodes``."""
        line = CellLine(width).to(1).put(cells.letter, STRONG).put("  ").extend((sign(cells.state), CellText(" ")))
        for cell in shown:
            words, wide = getattr(cells, cell), name if cell == "name" else self._measure(cell)
            tone = {"verdict": word_tone(cells.state), "name": STRONG}.get(cell, MUTED)
            line.put(clip_text(words, wide), tone, wide, ">" if cell in ("tested", "reasons", "nodes") else "<")
            line.put("  ")
        return line.row()
