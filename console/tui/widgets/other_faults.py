"""The short list under the map: the faults that are not in the headline."""

from collections.abc import Sequence

from textual import events

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.messages import OpenFinding
from benchconsole.console.tui.queries.view_queries import Fault, state_of_fault
from benchconsole.console.tui.rows.text_rows import CellLine, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.probes.model.judgement import Finding


class OtherFaults(CellWidget):
    """One line for each fault; what does not fit is counted."""

    DEFAULT_CSS = "OtherFaults { height: 0; }"

    faults: Sequence[Fault] = ()
    skip = 0

    def show(self, faults: Sequence[Fault], skip: int) -> None:
        """Show ``faults`` but the one in the headline."""
        self.faults, self.skip = faults, skip
        self.redraw()

    @property
    def others(self) -> list[tuple[int, Fault]]:
        """Faults with their places, without the one in the headline."""
        return [(index, fault) for index, fault in enumerate(self.faults) if index != self.skip]

    def draw(self, width: int, height: int) -> list[Row]:
        others = self.others
        room = height - 1
        shown = others if len(others) <= room else others[: room - 1]
        widest = min(max([6, *(measure_width(sanitize(fault.where)) for _, fault in shown)]), 24)
        rows: list[Row] = [()]
        for place, (_, fault) in enumerate(shown):
            line = CellLine(width).to(1).put("also" if not place else "", MUTED).to(7)
            line.extend((sign(state_of_fault(fault)),)).put("  ").put(sanitize(fault.where), STRONG, widest).put("  ")
            rows.append(line.put(clip_text(sanitize(fault.what), line.room - 1), TEXT).row())
        if len(shown) < len(others):
            rows.append(CellLine(width).to(10).put(f"and {len(others) - len(shown)} more under Findings", MUTED).row())
        return rows

    def on_click(self, event: events.Click) -> None:
        index = event.y - 1
        if 0 <= index < len(self.others) and isinstance(self.others[index][1], Finding):
            self.post_message(OpenFinding(self.others[index][0]))
