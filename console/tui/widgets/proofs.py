"""Owns the words on what is left of ours on the nodes at the end of a run: nothing, something, or not known."""

from collections.abc import Sequence

from console.reports.conduct import Left, left, sentence
from console.tui.drawing import MUTED, STRONG, TEXT, Line, Row, clip, sign, width_of
from console.tui.widgets.canvas import Canvas
from console.view import State
from console.wording import plain
from probes.model import Proof


class Proofs(Canvas):
    """One row that counts, then one for each reason why a node is not proven clean."""

    DEFAULT_CSS = "Proofs { height: 0; }"

    def __init__(self) -> None:
        super().__init__()
        self.proofs: Sequence[Proof] = ()
        self.said = ""
        self.open: Sequence[Left] = ()

    def show(self, proofs: Sequence[Proof]) -> None:
        """Other proofs; none while nothing was searched."""
        if proofs is not self.proofs:
            self.proofs = proofs
            self.said = plain(sentence(proofs)) if proofs else ""
            self.open = left(proofs)
            self.redraw()

    @property
    def wanted(self) -> int:
        """Rows that it would fill."""
        return 1 + len(self.open) if self.proofs else 0

    def draw(self, width: int, height: int) -> list[Row]:
        """The count, and what keeps nodes from being proven clean; what does not fit is counted."""
        if not self.proofs or not height:
            return []
        shown = self.open[: height - 1]
        state = State.WATCH if any(proof.left for proof in self.proofs) else State.UNKNOWN if self.open else State.PASS
        line = Line(width).to(1).extend((sign(state),)).put(" ").put("left", MUTED, 10).put("  ")
        hidden = len(self.open) - len(shown)
        more = f"   {hidden} more reasons" if hidden else ""
        if line.room - 1 - len(more) < width_of(self.said):
            more = ""  # the count is worth more than how many reasons there are
        line.put(clip(self.said, max(line.room - 1, 0)), STRONG if state is State.WATCH else TEXT)
        rows = [line.put(more, MUTED).row()]
        for each in shown:
            line = Line(width).to(1).extend((sign(each.state),)).to(15).put(plain(each.nodes), TEXT).put("  ")
            rows.append(line.put(clip(plain(each.text), max(line.room - 1, 0)), MUTED).row())
        return rows
