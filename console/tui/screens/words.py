"""Text that no pane has room for, in full, in front of a page: sections that scroll."""

from collections.abc import Sequence

from benchconsole.console.tui.rows.text_rows import BLANK, Row, wrap_under
from benchconsole.console.tui.screens.base.sheet import Sheet
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.tabs import Badges

Sections = Sequence[tuple[str, Sequence[str]]]
"""Names with the sentences under each."""

_GUTTER = 13
_MOST = 1000


class WordsView(Listing[Row]):
    """The sections, wrapped to the width; nothing is cut."""

    CURSOR = False

    def __init__(self, sections: Sections) -> None:
        super().__init__()
        self.sections = sections
        self._lines: tuple[int, Sequence[Row]] = (0, ())

    def lines(self, width: int) -> Sequence[Row]:
        """Everything, for this width."""
        if self._lines[0] != width:
            rows: list[Row] = []
            for name, texts in self.sections:
                rows += ([BLANK] if rows else []) + wrap_under(name, texts, width, _GUTTER, _MOST)
            self._lines = (width, rows)
        return self._lines[1]

    @property
    def count(self) -> int:
        return len(self.lines(self.size.width))

    def row(self, index: int, width: int) -> Row:
        return self.lines(width)[index]


class WordsSheet(Sheet[None]):
    """Shows ``sections`` until it is left."""

    KEYS = (("up down", "scroll"), ("esc", "back"))
    DEFAULT_CSS = "WordsSheet WordsView { height: auto; }"

    def __init__(self, title: str, sections: Sections, badges: Badges) -> None:
        super().__init__(title, badges)
        self.words = WordsView([(name, texts) for name, texts in sections if any(texts)])
        self.parts = (self.words,)

    def on_resize(self) -> None:
        wanted = len(self.words.lines(self.size.width))
        self.words.styles.height = max(min(wanted, self.size.height - 4), 1)
