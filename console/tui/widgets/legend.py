"""Owns the one line that says what the signs of the map mean, where there is room for it."""

from console.tui import wires
from console.tui.drawing import FAIL, FAINT, LOAD, MUTED, SLOT, TEXT, TRACK, WATCH, Line, Piece, Row, sign
from console.tui.widgets.canvas import Canvas
from console.view import State

_STATES = (
    (State.PASS, "pass"), (State.WATCH, "watch"), (State.FAIL, "fail"),
    (State.AFFECTED, "affected by a fault elsewhere"), (State.UNREACHABLE, "unreachable"), (State.SKIPPED, "not tested"),
)  # fmt: skip


class Legend(Canvas):
    """States or steps of the ramp, then the signs of links."""

    DEFAULT_CSS = "Legend { height: 0; }"

    def __init__(self) -> None:
        super().__init__()
        self.values = False

    def show(self, *, values: bool) -> None:
        """Explain cells as values or as states."""
        self.values = values
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        """A blank row and the legend."""
        line = Line(width).to(1).put("legend", MUTED).to(10)
        groups: list[Row] = [(sign(state), Piece(f" {word}", MUTED)) for state, word in _STATES]
        if self.values:
            steps = ((1.0, "97 % or more"), (0.95, "94"), (0.91, "90"), (0.86, "85"), (0.8, "75"), (0.7, "60"),
                     (0.5, "40"), (0.1, "less"))  # fmt: skip
            groups = [(wires.ramp(share), Piece(f" {word}", MUTED)) for share, word in steps]
            groups.append((Piece("of what was expected", MUTED),))
        groups += [
            (Piece("▮", SLOT), Piece(" member up", MUTED)), (Piece("▯", WATCH), Piece(" down", MUTED)),
            (Piece("━━", LOAD), Piece("──", TRACK), Piece(" load, free", MUTED)),
            (Piece("××", FAIL), Piece(" capacity lost", MUTED)),
            (Piece("┄┄", FAINT), Piece(" oversubscribed as built", MUTED)),
        ]  # fmt: skip
        for group in groups:
            if sum(len(piece.text) for piece in group) + 4 > line.room:
                break
            line.extend(group).put("   ", TEXT)
        return [(), line.row()]
