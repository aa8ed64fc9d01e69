"""A question with a few answers: stop how, leave or stay."""

from collections.abc import Sequence

from textual import events, on

from benchconsole.console.text.cells import wrap_clipped
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import TEXT
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.options import Option, OptionListing
from benchconsole.console.tui.widgets.tabs import Badges


class TextLines(CellWidget):
    """A few lines of text."""

    def __init__(self, text: str, rows: int = 2) -> None:
        super().__init__()
        self.text = text
        self.styles.height = rows

    def draw(self, width: int, height: int) -> list[Row]:
        return [CellLine(width).to(1).put(line, TEXT).row() for line in wrap_clipped(self.text, width - 2, height)]


class ChoiceSheet(Sheet[str]):
    """Dismisses with the value of the option that was chosen. ``text`` gets as many ``rows``."""

    KEYS = (("enter", "choose"), ("esc", "go back"))

    def __init__(self, title: str, text: str, options: Sequence[Option], badges: Badges, rows: int = 2) -> None:
        super().__init__(title, badges)
        self.rows = rows
        self.words = TextLines(text, rows)
        self.options = OptionListing(options)
        self.parts = (self.words, self.options)

    def on_resize(self) -> None:
        """Leave room for the words; options that are out of sight are counted."""
        self.options.styles.height = max(min(len(self.options.items), self.size.height - 2 - self.rows), 1)
        self.call_after_refresh(self._count_options)

    @on(Listing.Moved)
    def _count_options(self) -> None:
        hidden = len(self.options.items) - self.options.page
        self.foot.pairs = (*self.KEYS, ("up down", f"{hidden:,} more")) if hidden > 0 else self.KEYS
        self.foot.redraw()

    def on_key(self, event: events.Key) -> None:
        option = next((each for each in self.options.items if each.key == event.character), None)
        if option is not None:
            event.stop()
            self.dismiss(option.value)

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        if self.options.chosen is not None:
            self.dismiss(self.options.chosen.value)
