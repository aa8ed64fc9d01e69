"""The banner of a run that is held: the reason, and the file that keeps finished results."""

from benchconsole.console.text.cells import wrap_clipped
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import HELD_BADGE
from benchconsole.console.tui.widgets.canvas import CellWidget

_MOST = 2


class Banner(CellWidget):
    """Not there while nothing is held; one or two rows that no screen leaves out."""

    DEFAULT_CSS = "Banner { height: 0; }"

    because = ""
    spool = ""

    def show(self, because: str, spool: str) -> None:
        if (because, spool) == (self.because, self.spool):
            return
        self.because, self.spool = because, spool
        self.styles.height = len(self.lines(self.app.size.width))
        self.redraw()

    def lines(self, width: int) -> list[str]:
        """The words, broken to ``width``; where the file is comes before the reason is told in full."""
        if not self.because:
            return []
        kept = f"Finished results are kept in {sanitize(self.spool)}. " if self.spool else ""
        return wrap_clipped(f"HELD  The run waits. {kept}{sanitize(self.because)}", max(width - 2, 1), _MOST)

    def draw(self, width: int, height: int) -> list[Row]:
        return [CellLine(width).put(f" {line}".ljust(width), HELD_BADGE).row() for line in self.lines(width)]

    def on_resize(self) -> None:
        self.styles.height = len(self.lines(self.app.size.width))
        super().on_resize()
