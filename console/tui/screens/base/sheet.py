"""Sheets: questions in front of a page, at its bottom, with badges of their own. Escape leaves them."""

from collections.abc import Sequence, Set
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widget import Widget

from benchconsole.console.text.cells import measure_width
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width
from benchconsole.console.tui.rows.themes import ACTIVE, FAINT, KEY, MUTED, Ground
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.tabs import Badges, badge_row

Answer = TypeVar("Answer")


_MOST, _PART = 24, 2 / 3
"""Rows that a list of a sheet may always have, and the part of a high screen that it may have."""


def find_most_rows(height: int) -> int:
    """Rows that a list takes at most on a screen of so many: what is behind a sheet stays in sight on a high one.

    Title, line of text and keys of the sheet have a row each.
    """
    return max(min(max(_MOST, int(height * _PART)), height - 3), 1)


class SheetTitle(CellWidget):
    """The first row of a sheet: its name, a rule, the badges."""

    DEFAULT_CSS = "SheetTitle { height: 1; }"

    def __init__(self, name: str, badges: Badges) -> None:
        super().__init__()
        self.title = name
        self.badges = badges

    def draw(self, width: int, height: int) -> list[Row]:
        badges = badge_row(self.badges)
        line = CellLine(width).to(1).put(self.title, ACTIVE).put(" ")
        rule = width - line.at - row_width(badges) - (1 if badges else 0)
        return [line.put("─" * max(rule, 0), FAINT).put(" " if badges else "").extend(badges).row()]


class SheetKeys(CellWidget):
    """The last row of a sheet: what its keys do. A pair without room is left out, one of the ``kept`` keys never."""

    DEFAULT_CSS = "SheetKeys { height: 1; }"
    GROUND = Ground.PANEL

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.pairs = pairs
        self.kept: Set[str] = frozenset(("enter", "esc"))

    def draw(self, width: int, height: int) -> list[Row]:
        room = width + 1 - sum(_measure_pair(pair) for pair in self.pairs if pair[0] in self.kept)
        line = CellLine(width)
        for key, verb in self.pairs:
            if key not in self.kept:
                if _measure_pair((key, verb)) > room:
                    continue
                room -= _measure_pair((key, verb))
            line.put("  " if line.at else " ").extend((CellText(key, KEY), CellText(f" {verb}", MUTED)))
        return [line.row()]


def _measure_pair(pair: tuple[str, str]) -> int:
    """Cells of a key and its verb, with the gap to the next one."""
    return measure_width(" ".join(pair)) + 2


class Sheet(ModalScreen[Answer], Generic[Answer]):
    """A question. Subclasses give ``parts``, between title and keys, and dismiss with an answer, or None."""

    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("enter", "yes"), ("esc", "no"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False, priority=True),
        Binding("up,k", "move(-1)", show=False, id="up"),
        Binding("down,j", "move(1)", show=False, id="down"),
        Binding("pageup", "move(-10)", show=False, id="page_up"),
        Binding("pagedown", "move(10)", show=False, id="page_down"),
        Binding("enter", "choose", show=False, id="enter"),
    ]
    DEFAULT_CSS = """
    Sheet { background: transparent; align: left bottom; overflow: hidden; }
    Sheet > * { background: $background; }
    """

    def __init__(self, title: str, badges: Badges) -> None:
        super().__init__()
        self.head = SheetTitle(title, badges)
        self.foot = SheetKeys(self.KEYS)
        self.parts: Sequence[Widget] = ()

    def compose(self) -> ComposeResult:
        yield self.head
        yield from self.parts
        yield self.foot

    def on_mount(self) -> None:
        self.take_focus()

    def take_focus(self) -> None:
        """Typing goes to the line; where there is none the list has the keys."""
        typed = [each for each in self.parts if isinstance(each, LineInput)]
        self.set_focus(next(each for each in (*typed, *self.parts) if each.can_focus))

    def dismiss(self, result: Answer | None = None) -> AwaitComplete:
        """Leave with ``result``, once: a second key of one read still comes here, when the sheet has gone."""
        return super().dismiss(result) if self.is_active else AwaitComplete()

    def action_leave(self) -> None:
        self.dismiss(None)

    @on(LineInput.Left)
    def _left(self) -> None:
        self.action_leave()

    def action_move(self, step: int) -> None:
        for listing in self.query(Listing):
            listing.move(step)

    def action_choose(self) -> None:
        for listing in self.query(Listing):
            listing.choose()
