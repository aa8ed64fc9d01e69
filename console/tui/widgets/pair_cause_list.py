"""The list under the map of pairs: the pattern or the finding behind the pairs that are not well."""

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.pair_causes import PairCauses
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.topology.units import counted

_WIDEST = 24


class PairCauseList(CellWidget):
    """A line for each cause; those that do not fit are counted, and so are pairs that nothing explains."""

    DEFAULT_CSS = "PairCauseList { height: 0; }"

    found = PairCauses()

    def show(self, found: PairCauses) -> None:
        self.found = found
        self.redraw()

    @property
    def wanted(self) -> int:
        """Rows in which all of it stands, with one above it; 0 where every pair is well."""
        lines = len(self.found.causes) + bool(self.found.unexplained)
        return lines + 1 if lines else 0

    def draw(self, width: int, height: int) -> list[Row]:
        causes, unexplained = self.found
        room = max(height - 1 - bool(unexplained), 0)
        shown = causes if len(causes) <= room else causes[: max(room - 1, 0)]
        widest = min(max((measure_width(sanitize(each.where)) for each in shown), default=0), _WIDEST)
        rows: list[Row] = [()]
        for number, each in enumerate(shown):
            line = CellLine(width).to(1).put("causes" if not number else "", MUTED).to(9)
            line.extend((sign(each.state),)).put("  ").put(sanitize(each.where), STRONG, widest).put("  ")
            pairs = CellText(counted(each.pairs, "pair"), MUTED)
            room_left = line.room - measure_width(pairs.text) - 3
            line.put(clip_text(sanitize(each.words), room_left), TEXT)
            rows.append(line.right((pairs,)).row())
        if len(shown) < len(causes):
            left = f"and {len(causes) - len(shown):,} more under Findings"
            rows.append(CellLine(width).to(9).put(left, MUTED).row())
        if unexplained:
            words = f"{counted(unexplained, 'pair')} of no known cause"
            rows.append(CellLine(width).to(1).put("" if shown else "causes", MUTED).to(9).put(words, MUTED).row())
        return rows[:height]
