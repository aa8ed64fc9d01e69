"""The row under a table: hidden columns, and the rows in sight."""

from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.widgets.canvas import CellWidget


class Status(CellWidget):
    """The row under the table: what is hidden, and which rows are in sight."""

    DEFAULT_CSS = "Status { height: 1; }"

    left = ""
    right = ""

    def show(self, left: str, right: str) -> None:
        self.left, self.right = left, right
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        line = CellLine(width).to(1).put(self.left, MUTED)
        return [line.right((CellText(self.right, MUTED),)).row()]
