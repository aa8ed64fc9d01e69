"""Leftovers of the run on the nodes at its end, in words: none, some, or not known."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.text_rows import CellLine, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import State
from benchconsole.probes.model.measuring import Proof

if TYPE_CHECKING:
    from benchconsole.console.reports.conduct import LeftoverGroup


class Proofs(CellWidget):
    """One row that counts, then one for each reason why a node is not proven clean."""

    DEFAULT_CSS = "Proofs { height: 0; }"

    proofs: Sequence[Proof] = ()
    said = ""
    open: "Sequence[LeftoverGroup]" = ()

    def show(self, proofs: Sequence[Proof]) -> None:
        """Other proofs; none while nothing was searched."""
        if proofs is self.proofs:
            return
        from benchconsole.console.reports.conduct import format_cleanliness, list_leftovers  # here: imports reports

        self.proofs = proofs
        self.said = sanitize(format_cleanliness(proofs)) if proofs else ""
        self.open = list_leftovers(proofs)
        self.redraw()

    @property
    def wanted(self) -> int:
        return 1 + len(self.open) if self.proofs else 0

    def draw(self, width: int, height: int) -> list[Row]:
        """The count, and what keeps nodes from being proven clean; what does not fit is counted."""
        if not self.proofs or not height:
            return []
        shown = self.open[: height - 1]
        state = State.WATCH if any(proof.left for proof in self.proofs) else State.UNKNOWN if self.open else State.PASS
        # Under the reasons where there is room; the count is cut last.
        gutter = 10 if 16 + measure_width(self.said) <= width else 4
        line = CellLine(width).to(1).extend((sign(state),)).put(" ").put("left", MUTED, gutter).put("  ")
        hidden = len(self.open) - len(shown)
        more = f"   {hidden} more reasons" if hidden else ""
        if line.room - 1 - len(more) < measure_width(self.said):
            more = ""  # the count is worth more than how many reasons there are
        line.put(clip_text(self.said, max(line.room - 1, 0)), STRONG if state is State.WATCH else TEXT)
        rows = [line.put(more, MUTED).row()]
        for each in shown:
            line = CellLine(width).to(1).extend((sign(each.state),)).to(15).put(sanitize(each.nodes), TEXT).put("  ")
            rows.append(line.put(clip_text(sanitize(each.text), max(line.room - 1, 0)), MUTED).row())
        return rows
