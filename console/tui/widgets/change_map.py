"""The map of changes: each cell what its nodes or pairs lost or gained from A to B, and the mean of each row."""

from benchconsole.console.tui.queries.change_matrix import ChangeCell, Turn
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row
from benchconsole.console.tui.rows.themes import FAIL_BOLD, MUTED, PASS, TEXT, WATCH_BOLD, Tone
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.matrix_map import MatrixMap
from benchconsole.probes.statistics.comparison import SAME
from benchconsole.topology.units import percent

STRONG_LOSS = 0.10
"""The share from which on a loss is drawn as a fault is."""

MARKS = {
    Turn.WORSE: "▾", Turn.A_ALONE: "A", Turn.B_ALONE: "B", Turn.HIGHER: "", Turn.LOWER: "", Turn.BETTER: "▴",
    Turn.LEVEL: "·",
}  # fmt: skip
"""The sign of each turn; where nobody knows which way is better the sign of the number is all."""

_MOST = 9.995


class ChangeMap(MatrixMap[ChangeCell]):
    """A cell without a change is a dot; a change is its percentage, behind the sign of loss or gain."""

    CELL = 6
    ABSENT = "Nothing was measured."

    def rank(self, cell: ChangeCell) -> tuple[float, float]:
        return list(Turn).index(cell.turn), -abs(cell.change or 0.0)

    def is_well(self, cell: ChangeCell) -> bool:
        return cell.turn in (Turn.BETTER, Turn.LEVEL)

    def draw_cell(self, cell: ChangeCell) -> CellText:
        """The worst of a cell."""
        has_number = cell.change is not None and cell.turn is not Turn.LEVEL
        words = f"{MARKS[cell.turn]}{_format_percent(cell.change)}" if has_number else MARKS[cell.turn] or cell.turn[:4]
        return CellText(words.rjust(self.CELL), _find_tone(cell))

    def draw_mean(self, cell: ChangeCell) -> CellText:
        """The mean of a row or column, which is muted: it hides what single cells lost."""
        return CellText(_format_percent(cell.mean).rjust(self.CELL), MUTED)


class ChangeLegend(CellWidget):
    """The row that says how the cells of a map of changes are read."""

    DEFAULT_CSS = "ChangeLegend { height: 1; }"

    has_sense = True

    def show(self, *, has_sense: bool) -> None:
        self.has_sense = has_sense
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        line = CellLine(width).to(1)
        known = ((Turn.WORSE, "worse"), (Turn.BETTER, "better")) if self.has_sense else ()
        for turn, word in (*known, (Turn.LEVEL, f"within {percent(SAME)}"), (Turn.A_ALONE, "in A alone"),
                           (Turn.B_ALONE, "in B alone")):  # fmt: skip
            line.put(MARKS[turn], _TONES.get(turn, TEXT)).put(f" {word}  ", MUTED)
        return [line.put("cells in % of A", MUTED).row()]


_TONES: dict[Turn, Tone] = {
    Turn.WORSE: WATCH_BOLD, Turn.A_ALONE: WATCH_BOLD, Turn.B_ALONE: TEXT, Turn.BETTER: PASS, Turn.LEVEL: MUTED
}  # fmt: skip


def _find_tone(cell: ChangeCell) -> Tone:
    is_strong = cell.turn is Turn.WORSE and (cell.change is None or abs(cell.change) >= STRONG_LOSS)
    return FAIL_BOLD if is_strong else _TONES.get(cell.turn, TEXT)


def _format_percent(change: float | None) -> str:
    """``-12``, ``+3``, ``0``; nothing without a share, and ``>999`` beyond ten times as much."""
    if change is None:
        return ""
    shown = round(change * 100)
    return ">999" if change >= _MOST else f"{shown:+d}" if shown else "0"
