"""The last row: the keys that are valid here, most used first, or for a while a message."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.actions import ACTIONS, find_key, name_keys
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import FAIL, KEY, MUTED, TEXT, Ground
from benchconsole.console.tui.widgets.canvas import CellWidget


class Hint(NamedTuple):
    """A key that no action of the table has."""

    shown: str
    verb: str


Shown = str | tuple[str, str] | Hint

COUNTERPARTS = {"column_left": "column_right", "left": "right"}
"""Actions that stand in the footer together: the verb of one names the key of the other, too (``< and > column``)."""


class Footer(CellWidget):
    """Keys in accent, verbs in muted. Keys that do not fit are under ``?``, which always fits."""

    DEFAULT_CSS = "Footer { height: 1; dock: bottom; }"
    GROUND = Ground.PANEL

    def __init__(self, ids: Sequence[Shown], *, has_help: bool = True) -> None:
        super().__init__()
        self.ids = tuple(ids)
        self.has_help = has_help
        self.hidden: Set[str] = frozenset()
        self.said = ""
        self.wrong = False

    def show(self, ids: Sequence[Shown]) -> None:
        """Other keys; a pair gives an action another verb here."""
        if tuple(ids) != self.ids:
            self.ids = tuple(ids)
            self.redraw()

    def hide(self, ids: Set[str]) -> None:
        """Show no key of these actions."""
        if ids != self.hidden:
            self.hidden = ids
            self.redraw()

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Show ``text`` in place of the keys; nothing brings them back."""
        self.said, self.wrong = text, wrong
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        line = CellLine(width).to(1)
        if self.said:
            return [line.put(clip_text(self.said, width - 2), FAIL if self.wrong else TEXT).row()]
        help_key = find_key("help") if self.has_help else ""
        reserved = measure_width(f"{help_key} help") + 2 if self.has_help else 0
        for shown, verb in (_words(each) for each in self.ids if _name(each) not in self.hidden):
            if (
                shown != help_key
                and shown
                and measure_width(shown) + 1 + measure_width(verb) + 2 + reserved <= line.room
            ):
                line.put(shown, KEY).put(f" {verb}  ", MUTED)
        if self.has_help and line.room >= 6:
            line.put(help_key, KEY).put(" help", MUTED)
        return [line.row()]


def _name(each: Shown) -> str:
    """The id of an action; of a key that no action has, the key."""
    return each if isinstance(each, str) else each[0]


def _words(each: Shown) -> tuple[str, str]:
    """Key and verb of what stands in the footer."""
    if isinstance(each, Hint):
        return each.shown, each.verb
    name, verb = each if isinstance(each, tuple) else (each, ACTIONS[each].verb)
    return find_key(name), name_keys(verb, COUNTERPARTS[name]) if name in COUNTERPARTS else verb
