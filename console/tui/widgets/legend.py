"""Owns the one line that says what the signs of the map mean, where there is room for it."""

from collections.abc import Container

from console.tui import wires
from console.tui.drawing import FAIL, FAINT, LOAD, MUTED, SLOT, TEXT, TRACK, WATCH, Line, Piece, Row, row_width, sign
from console.tui.widgets.canvas import Canvas
from console.view import State

_WORDS = {
    State.PASS: "pass",
    State.WATCH: "watch",
    State.FAIL: "fail",
    State.AFFECTED: "affected by a fault elsewhere",
    State.UNREACHABLE: "unreachable",
    State.UNKNOWN: "cannot be judged",
    State.HELD: "held back",
    State.RUNNING: "running",
    State.MEASURED: "not judged",
    State.SKIPPED: "not tested",
}
_STEPS = (
    (1.0, "97 % or more"),
    (0.95, "94"),
    (0.91, "90"),
    (0.86, "85"),
    (0.8, "75"),
    (0.7, "60"),
    (0.5, "40"),
    (0.1, "less"),
)


class Legend(Canvas):
    """Only the signs that are on the map: a healthy fabric explains no fault."""

    DEFAULT_CSS = "Legend { height: 0; }"

    def __init__(self) -> None:
        super().__init__()
        self.values = False
        self.lost = False
        self.states: Container[State] = ()

    def show(self, states: Container[State], *, lost: bool, values: bool) -> None:
        """Explain ``states``, or the steps of the ramp; members that are down where some are ``lost``."""
        self.states, self.lost, self.values = states, lost, values
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        """A blank row and the legend."""
        line = Line(width).to(1).put("legend", MUTED).to(10)
        groups = self._steps() if self.values else self._states()
        for group in (*groups, *self._links()):
            if row_width(group) + 1 > line.room:
                break
            line.extend(group).put("   ", TEXT)
        return [(), line.row()]

    def _states(self) -> list[Row]:
        return [(sign(state), Piece(f" {word}", MUTED)) for state, word in _WORDS.items() if state in self.states]

    def _steps(self) -> list[Row]:
        steps: list[Row] = [(wires.ramp(share), Piece(f" {word}", MUTED)) for share, word in _STEPS]
        return [*steps, (Piece("of what was expected", MUTED),)]

    def _links(self) -> list[Row]:
        lost: list[Row] = [
            (Piece("▯", WATCH), Piece(" down", MUTED)),
            (Piece("××", FAIL), Piece(" capacity lost", MUTED)),
        ]
        return [
            (Piece("▮", SLOT), Piece(" member up", MUTED)),
            *(lost if self.lost else []),
            (Piece("━━", LOAD), Piece("──", TRACK), Piece(" load, free", MUTED)),
            (Piece("┄┄", FAINT), Piece(" oversubscribed as built", MUTED)),
        ]
