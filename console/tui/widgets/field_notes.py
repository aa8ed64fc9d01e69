"""The rows below a form: what a field takes, its completions, or what is wrong with what was typed."""

from collections.abc import Sequence

from benchconsole.console.tui.rows.text_rows import CellLine, Row, wrap_under
from benchconsole.console.tui.rows.themes import ACCENT, FAIL, MUTED, TEXT, WATCH
from benchconsole.console.tui.widgets.canvas import CellWidget


class FieldNotes(CellWidget):
    """The meaning of a field and its completions below a ``note``, or what is wrong with what was typed."""

    def __init__(self, note: str) -> None:
        super().__init__()
        self.candidates: Sequence[tuple[str, str]] = ()
        self.meaning = ""
        self.note = note
        self.wrong: Sequence[str] = ()

    def show(self, meaning: str, candidates: Sequence[tuple[str, str]]) -> None:
        """Say what a field means, and what its text may become: the first of these with ``tab``."""
        self.meaning, self.candidates, self.wrong = meaning, candidates, ()
        self.redraw()

    def complain(self, reasons: Sequence[str]) -> None:
        self.wrong = reasons
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        if self.wrong:
            found = [row for each in self.wrong for row in wrap_under("", [each], width, 2, height, FAIL)]
            if len(found) > height:
                rest = f"{len(self.wrong):,} mistakes; those at the top come first"
                found = [*found[: height - 1], CellLine(width).to(2).put(rest, MUTED).row()]
            return found
        drawn = wrap_under("", [self.note], width, 2, max(height - 2, 1), WATCH) if self.note else []
        room = height - len(drawn) - bool(self.candidates)
        drawn += wrap_under("", [self.meaning], width, 2, max(room, 1), MUTED)
        for place, (word, help_) in enumerate(self.candidates[: max(height - len(drawn), 0)]):
            line = CellLine(width).to(2).put("tab " if place == 0 else "    ", ACCENT).put(word, TEXT)
            drawn.append(line.put("   ").put(help_, MUTED).row())
        return drawn
