"""Owns the log of a session: what happened when, the newest first."""

from collections.abc import Sequence

from console.tui.clock import time_of_day
from console.tui.drawing import MUTED, TEXT, Row, sign
from console.tui.drawing import Line as Drawn
from console.tui.widgets.canvas import Canvas
from console.view import Line
from console.wording import plain


class Events(Canvas):
    """One row an event."""

    DEFAULT_CSS = "Events { height: 5; }"

    def __init__(self) -> None:
        super().__init__()
        self.lines_of: Sequence[Line] = ()

    def show(self, log: Sequence[Line]) -> None:
        """More events."""
        self.lines_of = log
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        """As many as there is room for."""
        rows = []
        for place, event in enumerate(list(reversed(self.lines_of))[:height]):
            line = Drawn(width).to(1).put("events" if not place else "", MUTED).to(10)
            line.put(time_of_day(event.at), MUTED).put("  ").extend((sign(event.state),)).put(" ")
            rows.append(line.put(plain(event.text), TEXT if not place else MUTED).row())
        return rows
