"""The list under the map: the faults that are not in the headline, with what they mean where there is room."""

from collections.abc import Sequence

from textual import events

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.messages import OpenFinding
from benchconsole.console.tui.queries.view_queries import Fault, state_of_fault
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.units import counted

_SURENESS = 36
"""Columns of how sure a finding is, with those before and after it; they stand where they cut no words."""


class OtherFaults(CellWidget):
    """One line for each fault; what does not fit is counted. With room for all a second one, what it means, then a
    third, what to do.
    """

    DEFAULT_CSS = "OtherFaults { height: 0; }"

    faults: Sequence[tuple[int, Fault]] = ()
    """Those that are listed, each with its place among all of the session."""

    def show(self, faults: Sequence[tuple[int, Fault]]) -> None:
        """Show ``faults`` with their places, which are those of the page Findings."""
        self.faults = faults
        self.redraw()

    @property
    def wanted(self) -> int:
        """Rows in which every fault has all that is said of it; 0 without any."""
        return 1 + sum(map(len, map(_list_lines, self.faults))) if self.faults else 0

    def draw(self, width: int, height: int) -> list[Row]:
        return [row for row, _ in self._list_rows(width, height)]

    def on_click(self, event: events.Click) -> None:
        rows = self._list_rows(*self.size)
        place = rows[event.y][1] if event.y < len(rows) else None
        if place is not None:
            self.post_message(OpenFinding(place))

    def _list_rows(self, width: int, height: int) -> list[tuple[Row, int | None]]:
        """Every row, with the place of the finding that a click on it opens."""
        room = max(height - 1, 0)
        shown = self.faults if len(self.faults) <= room else self.faults[: max(room - 1, 0)]
        lines = _choose_lines(self.faults, room)
        widest = min(max([6, *(measure_width(sanitize(fault.where)) for _, fault in shown)]), 24)
        longest = max((measure_width(sanitize(fault.what)) for _, fault in shown), default=0)
        is_wide = 12 + widest + longest + _SURENESS < width
        made: list[tuple[Row, int | None]] = [((), None)]
        for number, (place, fault) in enumerate(shown):
            opens = place if isinstance(fault, Finding) else None
            line = CellLine(width).to(1).put("also" if not number else "", MUTED).to(7)
            line.extend((sign(state_of_fault(fault)),)).put("  ").put(sanitize(fault.where), STRONG, widest).put("  ")
            under = line.at
            line.put(clip_text(sanitize(fault.what), line.room - 1), TEXT)
            made.append((line.right(_describe_sureness(fault) if is_wide else ()).row(), opens))
            for text in _list_lines((place, fault))[1:lines]:
                words = clip_text(text, width - under - 1)
                made.append((CellLine(width).to(under).put(words, MUTED).row(), opens))
        if len(shown) < len(self.faults):
            left = f"and {len(self.faults) - len(shown)} more under Findings"
            made.append((CellLine(width).to(10).put(left, MUTED).row(), None))
        return made


def _list_lines(placed: tuple[int, Fault]) -> list[str]:
    """All lines on a fault: what it is, what it means, what to do."""
    fault = placed[1]
    do = f"do: {sanitize(fault.do)}" if isinstance(fault, Finding) and fault.do else ""
    return [sanitize(fault.what), *filter(None, (sanitize(fault.means), do))]


def _choose_lines(faults: Sequence[tuple[int, Fault]], room: int) -> int:
    """As many lines as every fault can have; 1 where not all are in sight anyway."""
    lines = list(map(_list_lines, faults))
    return next((most for most in (3, 2) if sum(min(len(each), most) for each in lines) <= room), 1)


def _describe_sureness(fault: Fault) -> Row:
    """``certain    16 nodes    16 tests``."""
    if not isinstance(fault, Finding):
        return ()
    nodes, tests = counted(len(fault.nodes), "node"), counted(len(fault.tests), "test")
    return (CellText(f"{fault.confidence.value:8}  {nodes:>10}  {tests:>10}", MUTED),)
