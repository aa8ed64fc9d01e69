"""The remarks on the place of the cursor, or on a node: a row each, and how many more there are."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text
from benchconsole.console.tui.rows.text_rows import REMARKED, CellLine, Row
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget


class RemarkLines(CellWidget):
    """The last ones are drawn where not all fit: they speak of what came later. ``said`` is sanitized."""

    DEFAULT_CSS = "RemarkLines { height: 0; }"

    said: Sequence[str] = ()

    def show(self, said: Sequence[str]) -> None:
        self.said = said
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        left = max(len(self.said) - height, 0)
        rows = []
        for place, text in enumerate(self.said[left:]):
            line = CellLine(width).to(1).put(f"{REMARKED} ", MUTED)
            more = f"  and {left:,} earlier" if left and place == 0 else ""
            rows.append(line.put(clip_text(text, max(line.room - len(more) - 1, 0)), TEXT).put(more, MUTED).row())
        return rows
