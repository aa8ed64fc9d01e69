"""Owns the last row: the keys that are valid here, most used first, and for a while what was just done."""

from collections.abc import Sequence

from console.tui.actions import ACTIONS
from console.tui.drawing import FAIL, KEY, MUTED, TEXT, Line, Row, clip, width_of
from console.tui.themes import Ground
from console.tui.widgets.canvas import Canvas


class Footer(Canvas):
    """Keys in accent, verbs in muted. What does not fit is under ``?``, which always fits."""

    DEFAULT_CSS = "Footer { height: 1; dock: bottom; }"
    GROUND = Ground.PANEL

    def __init__(self, ids: Sequence[str | tuple[str, str]]) -> None:
        super().__init__()
        self.ids = tuple(ids)
        self.said = ""
        self.wrong = False

    def show(self, ids: Sequence[str | tuple[str, str]]) -> None:
        """Other keys; a pair gives an action another verb here."""
        if tuple(ids) != self.ids:
            self.ids = tuple(ids)
            self.redraw()

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Show ``text`` in place of the keys; nothing brings them back."""
        self.said, self.wrong = text, wrong
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        """The one row."""
        line = Line(width).to(1)
        if self.said:
            return [line.put(clip(self.said, width - 2), FAIL if self.wrong else TEXT).row()]
        help_width = len("? help") + 2
        for each in self.ids:
            name, verb = each if isinstance(each, tuple) else (each, ACTIONS[each].verb)
            shown = ACTIONS[name].shown
            needed = width_of(shown) + 1 + width_of(verb) + 2
            if name == "help" or needed + help_width > line.room:
                continue
            line.put(shown, KEY).put(f" {verb}  ", MUTED)
        if line.room >= 7:
            line.put("?", KEY).put(" help", MUTED)
        return [line.row()]
