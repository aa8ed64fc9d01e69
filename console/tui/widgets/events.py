"""The log of a session: what happened when, the newest first."""

from collections.abc import Sequence

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.clock import time_of_day
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, sign
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.view.run_view import Line


class EventLog(CellWidget):
    """One row an event."""

    DEFAULT_CSS = "EventLog { height: 5; }"

    events: Sequence[Line] = ()

    def show(self, log: Sequence[Line]) -> None:
        self.events = log
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        rows = []
        for place, event in enumerate(list(reversed(self.events))[:height]):
            line = CellLine(width).to(1).put("events" if not place else "", MUTED).to(10)
            line.put(time_of_day(event.at), MUTED).put("  ")
            line.extend((sign(event.state) if event.state is not None else CellText(" "), CellText(" ")))
            rows.append(line.put(sanitize(event.text), TEXT if not place else MUTED).row())
        return rows
