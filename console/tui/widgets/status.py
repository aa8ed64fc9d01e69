"""Owns the row under a table: what is hidden, and which rows are in sight."""

from console.tui.drawing import MUTED, Line, Piece, Row
from console.tui.widgets.canvas import Canvas


class Status(Canvas):
    """The row under the table: what is hidden, and which rows are in sight."""

    DEFAULT_CSS = "Status { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.left = ""
        self.right = ""

    def show(self, left: str, right: str) -> None:
        """Say something else."""
        self.left, self.right = left, right
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        """The one row."""
        line = Line(width).to(1).put(self.left, MUTED)
        return [line.right((Piece(self.right, MUTED),)).row()]
