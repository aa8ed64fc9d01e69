"""Tests without a number, in words: nodes that did not answer, tools that are missing, tests that failed."""

from collections.abc import Sequence

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.view_queries import format_names
from benchconsole.console.tui.rows.text_rows import CellLine, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import NotJudged, state_of_failure
from benchconsole.topology.units import counted as count


class Unjudged(CellWidget):
    """One row a reason; in one row where there is no more room."""

    DEFAULT_CSS = "Unjudged { height: 1; }"

    reasons: Sequence[NotJudged] = ()

    def show(self, reasons: Sequence[NotJudged]) -> None:
        self.reasons = reasons
        self.redraw()

    @property
    def wanted(self) -> int:
        return len(self.reasons)

    def draw(self, width: int, height: int) -> list[Row]:
        """Reasons with their nodes; never counted as passed."""
        if not self.reasons or not height:
            return []
        shown = list(self.reasons[:height])
        rows = []
        for place, each in enumerate(shown):
            state = state_of_failure(each.stage)
            line = CellLine(width).to(1).extend((sign(state),)).put(" ")
            line.put("not judged" if not place else "", MUTED, 10).put("  ").put(format_names(each.nodes), TEXT)
            why = sanitize(each.detail or each.stage.value)
            line.put(f"  {why} ({count(each.tests, 'test')})", MUTED)
            if place == len(shown) - 1:
                hidden = len(self.reasons) - len(shown)
                more = f"   and {hidden} more reasons" if hidden else ""
                ends = (f"{more}   None of them counts as passed.", f"{more}   not passed", "")
                line.put(next(end for end in ends if measure_width(end) < line.room or not end), MUTED)
            rows.append(line.row())
        return rows
