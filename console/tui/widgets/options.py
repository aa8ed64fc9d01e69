"""A short list to choose from: key, word, meaning."""

from collections.abc import Sequence
from functools import lru_cache
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


class _Widths(NamedTuple):
    """Columns that the keys, words and groups of a list take."""

    keys: int
    words: int
    groups: int


@lru_cache(maxsize=4)
def _measure_options(options: tuple[Option, ...]) -> _Widths:
    """Kept, for each row asks for them: of 60 options every row would measure 180 texts."""
    keys, words, groups = (
        max(measure_width(text) for text in texts)
        for texts in zip(*((each.key, each.word, each.group) for each in options), strict=True)
    )
    return _Widths(max(1, keys), max(6, words), groups)


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
        widths = _measure_options(tuple(self.items))
        line = CellLine(width).to(2)
        if widths.groups:
            is_first = index == self.top or self.items[index - 1].group != option.group
            line.put(option.group if is_first else "", MUTED, widths.groups).put("  ")
        line.put(option.key, KEY, widths.keys).put("  ").put(option.word, BOLD, min(widths.words, width // 2)).put("  ")
        return line.put(clip_text(option.help, max(line.room - 1, 0)), MUTED).row()

    def empty(self, width: int) -> list[Row]:
        return [CellLine(width).to(2).put("nothing of that name here", TEXT).row()]


def list_hidden(listing: OptionListing) -> list[str]:
    """How many options stand below and above those in sight: ``52 more below``."""
    page = listing.page
    top = max(min(listing.top, listing.cursor), listing.cursor - page + 1)
    hidden = ((max(listing.count - top - page, 0), "below"), (top, "above"))
    return [f"{number:,} more {where}" for number, where in hidden if number]
