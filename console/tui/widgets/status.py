"""The row under a table: hidden columns, and the rows in sight."""

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.widgets.canvas import CellWidget

_GAPS = 4
"""Blanks at both edges, and between what is hidden and what is in sight."""


class Status(CellWidget):
    """The row under the table: what is hidden, and which rows are in sight."""

    DEFAULT_CSS = "Status { height: 1; }"

    left = ""
    right = ""

    def show(self, left: str, right: str) -> None:
        self.left, self.right = left, right
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        room = max(width - measure_width(self.right) - _GAPS, width // 2)
        line = CellLine(width).to(1).put(clip_text(self.left, room), MUTED)
        return [line.right((CellText(self.right, MUTED),)).row()]
