"""Owns sheets: what is asked in front of a screen stands at its bottom, with its own badge; esc leaves it."""

from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widget import Widget

from console.tui.drawing import ACTIVE, FAINT, KEY, MUTED, Line, Piece, Row, row_width
from console.tui.themes import Ground
from console.tui.widgets.canvas import Canvas
from console.tui.widgets.listing import Listing
from console.tui.widgets.tabs import Badges, badge_row

Answer = TypeVar("Answer")


class Title(Canvas):
    """The first row of a sheet: its name, a rule, the badges."""

    DEFAULT_CSS = "Title { height: 1; }"

    def __init__(self, name: str, badges: Badges) -> None:
        super().__init__()
        self.title = name
        self.badges = badges

    def draw(self, width: int, height: int) -> list[Row]:
        """Name bold accent, a rule in faint behind it."""
        badges = badge_row(self.badges)
        line = Line(width).to(1).put(self.title, ACTIVE).put(" ")
        rule = width - line.at - row_width(badges) - (1 if badges else 0)
        return [line.put("─" * max(rule, 0), FAINT).put(" " if badges else "").extend(badges).row()]


class Keys(Canvas):
    """The last row of a sheet: what its keys do."""

    DEFAULT_CSS = "Keys { height: 1; }"
    GROUND = Ground.PANEL

    def __init__(self, pairs: Sequence[tuple[str, str]]) -> None:
        super().__init__()
        self.pairs = pairs

    def draw(self, width: int, height: int) -> list[Row]:
        """Key in accent, verb in muted."""
        line = Line(width).to(1)
        for key, verb in self.pairs:
            line.extend((Piece(key, KEY), Piece(f" {verb}  ", MUTED)))
        return [line.row()]


class Sheet(ModalScreen[Answer], Generic[Answer]):
    """A question. Subclasses give ``inside`` and dismiss with an answer, or None."""

    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("enter", "yes"), ("esc", "no"))
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False, priority=True),
        Binding("up,k", "move(-1)", show=False),
        Binding("down,j", "move(1)", show=False),
        Binding("pageup", "move(-10)", show=False),
        Binding("pagedown", "move(10)", show=False),
        Binding("enter", "choose", show=False),
    ]
    DEFAULT_CSS = """
    Sheet { background: transparent; align: left bottom; overflow: hidden; }
    Sheet > * { background: $background; }
    """

    def __init__(self, title: str, badges: Badges) -> None:
        super().__init__()
        self.head = Title(title, badges)
        self.foot = Keys(self.KEYS)

    def inside(self) -> Sequence[Widget]:
        """The widgets between title and keys."""
        return ()

    def compose(self) -> ComposeResult:
        """Title, inside, keys, from the bottom up as high as they are."""
        yield self.head
        yield from self.inside()
        yield self.foot

    def action_leave(self) -> None:
        """No answer."""
        self.dismiss(None)

    def action_move(self, step: int) -> None:
        """Move in the list of the sheet."""
        for listing in self.query(Listing):
            listing.move(step)

    def action_choose(self) -> None:
        """Take the row under the cursor."""
        for listing in self.query(Listing):
            listing.choose()
