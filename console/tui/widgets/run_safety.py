"""The waves of a run and its canary, one row each."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text
from benchconsole.console.tui.queries.run_safety import SafetyLine, list_safety
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.same_objects import are_same


class RunSafety(CellWidget):
    """Nothing where nobody else can be harmed."""

    DEFAULT_CSS = "RunSafety { height: 0; }"

    lines: Sequence[SafetyLine] = ()
    _told: tuple[object, ...] = ()

    def show(self, view: RunView) -> None:
        """Show ``view``; its lines are worked out only when something is new: a plan may have thousands of rounds."""
        told = (view.plan, view.current, view.canary, view.ended, view.waves)
        if not are_same(told, self._told):
            self._told, self.lines = told, list_safety(view)
            self.redraw()

    @property
    def wanted(self) -> int:
        return len(self.lines)

    def draw(self, width: int, height: int) -> list[Row]:
        rows = []
        for each in self.lines[:height]:
            line = CellLine(width).to(1).extend((sign(each.state) if each.state is not None else CellText(" "),))
            line.put(" ").put(each.name, MUTED, 10).put("  ")
            rows.append(line.put(clip_text(each.words, max(line.room - 1, 0)), TEXT).row())
        return rows
