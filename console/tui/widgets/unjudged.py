"""The results that are not judged, in words: tests without a number, and numbers of which no verdict could be made."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.unjudged_reasons import UnjudgedReason, describe_reason
from benchconsole.console.tui.queries.view_queries import format_names
from benchconsole.console.tui.rows.text_rows import CellLine, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import NotJudged, Undecided
from benchconsole.topology.units import counted as count


class Unjudged(CellWidget):
    """One row a reason; in one row where there is no more room."""

    DEFAULT_CSS = "Unjudged { height: 1; }"

    reasons: Sequence[UnjudgedReason] = ()

    def show(self, reasons: Sequence[NotJudged], undecided: Sequence[Undecided]) -> None:
        self.reasons = (*reasons, *undecided)
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
            said = describe_reason(each)
            line = CellLine(width).to(1).extend((sign(said.state),)).put(" ")
            line.put("not judged" if not place else "", MUTED, 10).put("  ").put(format_names(said.names), TEXT)
            hidden = len(self.reasons) - len(shown) if place == len(shown) - 1 else 0
            more = f"   and {count(hidden, 'more reason')}" if hidden else ""  # worth more than the end of this one
            why = f"  {sanitize(said.why)} ({said.counted})"
            line.put(clip_text(why, max(line.room - measure_width(more) - 1, 0)), MUTED)
            if place == len(shown) - 1:
                ends = (f"{more}   None of them counts as passed.", f"{more}   not passed", more, "")
                line.put(next(end for end in ends if measure_width(end) < line.room or not end), MUTED)
            rows.append(line.row())
        return rows
