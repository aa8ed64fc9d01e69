"""The map of changes: each cell what its nodes or pairs lost or gained from A to B, and the mean of each row."""

from benchconsole.console.tui.queries.change_matrix import MARKS, ChangeCell, Turn, format_cell, format_change
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row
from benchconsole.console.tui.rows.themes import FAIL_BOLD, MUTED, PASS, TEXT, Tone
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.matrix_map import MatrixMap


class ChangeMap(MatrixMap[ChangeCell]):
    """A cell is the sign of its outcome and its change in percent; one that is the same is a dot alone."""

    CELL = 6
    ABSENT = "Nothing was measured."

    def rank(self, cell: ChangeCell) -> tuple[float, float]:
        return list(Turn).index(cell.turn), -abs(cell.change or 0.0)

    def is_well(self, cell: ChangeCell) -> bool:
        return cell.turn in (Turn.BETTER, Turn.NO_EFFECT, Turn.SAME)

    def draw_cell(self, cell: ChangeCell) -> CellText:
        """The worst of a cell."""
        return CellText(format_cell(cell).rjust(self.CELL), TONES[cell.turn])

    def draw_mean(self, cell: ChangeCell) -> CellText:
        """The mean of a row or column, which is muted: it hides what single cells lost."""
        return CellText(format_change(cell.mean).rjust(self.CELL), MUTED)


class ChangeLegend(CellWidget):
    """The row that says how the cells of a map of changes are read."""

    DEFAULT_CSS = "ChangeLegend { height: 1; }"

    has_sense = True

    def show(self, *, has_sense: bool) -> None:
        self.has_sense = has_sense
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        line = CellLine(width).to(1)
        known = ((Turn.WORSE, " worse  "), (Turn.BETTER, " better  ")) if self.has_sense else ()
        for turn, words in (*known, (Turn.SAME, " same, no effect  "), (Turn.UNJUDGED, " not comparable  "),
                            (Turn.A_ALONE, " "), (Turn.B_ALONE, " in one alone  ")):  # fmt: skip
            line.put(MARKS[turn], TONES[turn]).put(words, MUTED)
        return [line.put("in %", MUTED).row()]


TONES: dict[Turn, Tone] = {
    Turn.WORSE: FAIL_BOLD, Turn.A_ALONE: TEXT, Turn.B_ALONE: TEXT, Turn.HIGHER: TEXT, Turn.LOWER: TEXT,
    Turn.BETTER: PASS, Turn.UNJUDGED: MUTED, Turn.NO_EFFECT: TEXT, Turn.SAME: MUTED,
}  # fmt: skip
"""The colours of the outcomes in the table: worse alone has that of a fault."""
