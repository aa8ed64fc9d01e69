"""A short list to choose from: key, word, meaning."""

from collections.abc import Sequence
from typing import NamedTuple

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import BOLD, KEY, MUTED, TEXT
from benchconsole.console.tui.widgets.listing import Listing


class Option(NamedTuple):
    """``value`` is what the choice stands for, ``group`` what several have in common: it is told once."""

    key: str
    word: str
    help: str
    value: str
    group: str = ""


class OptionListing(Listing[Option]):
    """One option a row."""

    DEFAULT_CSS = "OptionListing { height: auto; }"

    def __init__(self, options: Sequence[Option]) -> None:
        super().__init__()
        self.items = tuple(options)
        self.styles.height = len(self.items)

    def show(self, options: Sequence[Option]) -> None:
        """Other options; the cursor goes to the first."""
        self.items = tuple(options)
        self.cursor = 0
        self.redraw()

    def row(self, index: int, width: int) -> Row:
        option = self.items[index]
        keys = max([1, *(measure_width(each.key) for each in self.items)])
        words = min(max([6, *(measure_width(each.word) for each in self.items)]), width // 2)
        line = CellLine(width).to(2)
        groups = max(measure_width(each.group) for each in self.items)
        if groups:
            is_first = index == self.top or self.items[index - 1].group != option.group
            line.put(option.group if is_first else "", MUTED, groups).put("  ")
        line.put(option.key, KEY, keys).put("  ").put(option.word, BOLD, words).put("  ")
        return line.put(clip_text(option.help, max(line.room - 1, 0)), MUTED).row()

    def empty(self, width: int) -> list[Row]:
        return [CellLine(width).to(2).put("nothing of that name here", TEXT).row()]
