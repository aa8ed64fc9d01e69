"""The map of pairs: senders as rows, receivers as columns, each cell the lowest share that arrived, and their means."""

from benchconsole.console.tui.queries.pair_causes import WELL
from benchconsole.console.tui.queries.pair_matrix import PairCell
from benchconsole.console.tui.rows.text_rows import CellText, value_tone
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.widgets.matrix_map import MatrixMap
from benchconsole.console.view.wording import SIGNS


class PairMap(MatrixMap[PairCell]):
    """A pair that passed is a dot; a share is drawn where it deviates."""

    CELL = 5
    ABSENT = "No pair of nodes was judged yet."

    def rank(self, cell: PairCell) -> tuple[float, float]:
        return cell.state.rank, cell.low or 0.0

    def is_well(self, cell: PairCell) -> bool:
        return cell.state in WELL

    def draw_cell(self, cell: PairCell) -> CellText:
        """A dot where it passed, else the share or the sign."""
        if self.is_well(cell):
            return CellText(SIGNS[cell.state].glyph.rjust(self.CELL), MUTED)
        words = SIGNS[cell.state].glyph if cell.low is None else f"{cell.low:.0%}"
        return CellText(words.rjust(self.CELL), value_tone(cell.state))

    def draw_mean(self, cell: PairCell) -> CellText:
        words = "" if cell.mean is None else f"{cell.mean:.0%}"
        return CellText(words.rjust(self.CELL), MUTED if self.is_well(cell) else value_tone(cell.state))
