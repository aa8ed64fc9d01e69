"""A grid of characters on which text and lines are painted: joints, crossings, and the ASCII form of both.

Lines belong to nets. Lines of one net join where they meet; where two nets cross, the upright
one goes over the level one, so that a crossing is never read as a joint.
"""

from functools import reduce
from operator import or_

from benchconsole.console.text.cells import measure_width, to_ascii

_UP, _DOWN, _LEFT, _RIGHT = 1, 2, 4, 8
_JOINTS = {
    _UP: "│", _DOWN: "│", _UP | _DOWN: "│", _LEFT: "─", _RIGHT: "─", _LEFT | _RIGHT: "─",
    _DOWN | _RIGHT: "┌", _DOWN | _LEFT: "┐", _UP | _RIGHT: "└", _UP | _LEFT: "┘",
    _UP | _DOWN | _RIGHT: "├", _UP | _DOWN | _LEFT: "┤",
    _LEFT | _RIGHT | _DOWN: "┬", _LEFT | _RIGHT | _UP: "┴", _UP | _DOWN | _LEFT | _RIGHT: "┼",
}  # fmt: skip
_ASCII = str.maketrans(
    {
        "│": "|", "─": "-", "┌": "+", "┐": "+", "└": "+", "┘": "+", "├": "+", "┤": "+", "┬": "+", "┴": "+", "┼": "+",
        "┃": "#", "━": "=", "┏": "#", "┓": "#", "┗": "#", "┛": "#", "┣": "#", "┫": "#", "┯": "+", "┷": "+",
        "═": "=", "╞": "+", "╡": "+",
    }
)  # fmt: skip


class Canvas:
    """Rows and columns count from 0; both grow as they are painted on."""

    def __init__(self) -> None:
        self._text: dict[int, dict[int, str]] = {}
        self._lines: dict[int, dict[int, dict[str, int]]] = {}

    def write(self, row: int, column: int, text: str) -> None:
        """Put ``text`` over whatever is there; a wide character takes two columns."""
        here = self._text.setdefault(row, {})
        for letter in text:
            width = measure_width(letter)
            if not width:
                here[column - 1] = here.get(column - 1, "") + letter
                continue
            here[column] = letter
            here.update(dict.fromkeys(range(column + 1, column + width), ""))
            column += width

    def level(self, net: str, row: int, columns: tuple[int, int]) -> None:
        """A line along ``row`` from the first to the last of ``columns``."""
        first, last = columns
        for column in range(first, last + 1):
            self._stroke(net, row, column, (_LEFT if column > first else 0) | (_RIGHT if column < last else 0))

    def upright(self, net: str, column: int, rows: tuple[int, int]) -> None:
        """A line along ``column`` from the first to the last of ``rows``."""
        first, last = rows
        for row in range(first, last + 1):
            self._stroke(net, row, column, (_UP if row > first else 0) | (_DOWN if row < last else 0))

    def _stroke(self, net: str, row: int, column: int, strokes: int) -> None:
        here = self._lines.setdefault(row, {}).setdefault(column, {})
        here[net] = here.get(net, 0) | strokes

    def lines(self, *, ascii_only: bool = False) -> list[str]:
        rows = range(max((*self._text, *self._lines), default=-1) + 1)
        found = ["".join(self._row(row)).rstrip() for row in rows]
        return [to_ascii(line.translate(_ASCII)) for line in found] if ascii_only else found

    def _row(self, row: int) -> list[str]:
        text, lines = self._text.get(row, {}), self._lines.get(row, {})
        columns = range(max((*text, *lines), default=-1) + 1)
        return [text[column] if column in text else _joint(lines.get(column, {})) for column in columns]


def _joint(nets: dict[str, int]) -> str:
    if len(nets) > 1 and _UP | _DOWN in nets.values():
        return _JOINTS[_UP | _DOWN]
    return _JOINTS.get(reduce(or_, nets.values(), 0), " ")
