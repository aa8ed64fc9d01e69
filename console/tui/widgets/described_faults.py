"""The list of what the description alone shows, under a map that leaves room for it; none of it is a verdict."""

from collections.abc import Sequence

from textual import events

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.messages import OpenStatic
from benchconsole.console.tui.rows import severity
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.topology.analysis.static_finding import StaticFinding

_HEAD = 2
"""Rows above the list: a blank one, and how many there are of each severity."""


class DescribedFaults(CellWidget):
    """One line for each, the worst first; what does not fit is counted."""

    DEFAULT_CSS = "DescribedFaults { height: 0; }"
    LEAST = _HEAD + 1

    found: Sequence[StaticFinding] = ()

    def show(self, found: Sequence[StaticFinding]) -> None:
        if found is not self.found:
            self.found = found
            self.redraw()

    @property
    def wanted(self) -> int:
        """Rows in which all of them stand; 0 without any."""
        return _HEAD + len(self.found) if self.found else 0

    def draw(self, width: int, height: int) -> list[Row]:
        room = height - _HEAD
        shown = self._list_shown(height)
        head = CellLine(width).to(1).put("from the description  ", MUTED).extend(severity.draw_severities(self.found))
        widest = min(max([6, *(measure_width(sanitize(each.where)) for each in shown)]), 24)
        rows: list[Row] = [(), head.row()]
        for each in shown:
            line = CellLine(width).to(7).extend((severity.sign(each.severity),)).put("  ")
            line.put(sanitize(each.where), STRONG, widest).put("  ")
            rows.append(line.put(clip_text(sanitize(each.text), line.room - 1), TEXT).row())
        if len(shown) < len(self.found) and room > 0:
            left = f"and {len(self.found) - len(shown):,} more under Findings"
            rows.append(CellLine(width).to(10).put(left, MUTED).row())
        return rows

    def _list_shown(self, height: int) -> Sequence[StaticFinding]:
        room = max(height - _HEAD, 0)
        return self.found if len(self.found) <= room else self.found[: max(room - 1, 0)]

    def on_click(self, event: events.Click) -> None:
        shown = self._list_shown(self.size.height)
        if _HEAD <= event.y < _HEAD + len(shown):
            self.post_message(OpenStatic(shown[event.y - _HEAD].where))
