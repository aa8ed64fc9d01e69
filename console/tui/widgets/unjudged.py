"""What is not judged, in words: tests without a number, and numbers of which no verdict could be made."""

from collections.abc import Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.view_queries import format_names
from benchconsole.console.tui.rows.text_rows import CellLine, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import NotJudged, State, Undecided, state_of_failure
from benchconsole.topology.units import counted as count


class Unjudged(CellWidget):
    """One row a reason; in one row where there is no more room."""

    DEFAULT_CSS = "Unjudged { height: 1; }"

    reasons: Sequence[NotJudged | Undecided] = ()

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
            state, names, why = _describe(each)
            line = CellLine(width).to(1).extend((sign(state),)).put(" ")
            line.put("not judged" if not place else "", MUTED, 10).put("  ").put(format_names(names), TEXT)
            hidden = len(self.reasons) - len(shown) if place == len(shown) - 1 else 0
            more = f"   and {count(hidden, 'more reason')}" if hidden else ""  # worth more than the end of this one
            line.put(clip_text(f"  {sanitize(why)}", max(line.room - measure_width(more) - 1, 0)), MUTED)
            if place == len(shown) - 1:
                ends = (f"{more}   None of them counts as passed.", f"{more}   not passed", more, "")
                line.put(next(end for end in ends if measure_width(end) < line.room or not end), MUTED)
            rows.append(line.row())
        return rows


def _describe(each: NotJudged | Undecided) -> tuple[State, Sequence[str], str]:
    """Its sign, whom it is about, and why."""
    if isinstance(each, Undecided):
        return State.UNKNOWN, each.subjects, f"{each.because} ({count(each.results, 'result')})"
    why = f"{each.detail or each.stage.value} ({count(each.tests, 'test')})"
    return state_of_failure(each.stage), each.nodes, why
