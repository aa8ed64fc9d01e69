"""The list of columns that can be chosen: a mark, the name, where it stands, how many nodes have it."""

from collections.abc import Collection, Sequence

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.tui.queries.column_reader import Offer
from benchconsole.console.tui.queries.node_row import Choice
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import ACTIVE, BOLD, MUTED, TEXT
from benchconsole.console.tui.widgets.listing import Listing


class ColumnList(Listing[Offer]):
    """One column a row; ``marked`` are those that are chosen. ``nothing`` is said where there is no row."""

    DEFAULT_CSS = "ColumnList { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self.marked: Collection[Choice] = ()
        self.nothing = ""

    def show(self, offers: Sequence[Offer], marked: Collection[Choice], nothing: str) -> None:
        """Other columns; the cursor stays on its column where that is still there, else it goes to the first."""
        here = self.chosen.choice if self.chosen is not None else None
        self.items, self.marked, self.nothing = tuple(offers), marked, nothing
        self.cursor = next((place for place, each in enumerate(self.items) if each.choice == here), 0)
        self.redraw()

    def row(self, index: int, width: int) -> Row:
        offer = self.items[index]
        names = min(max(measure_width(each.name) for each in self.items), max(width // 3, 12))
        groups = min(max(measure_width(each.group) for each in self.items), max(width // 5, 8))
        line = CellLine(width).to(1).put("*" if offer.choice in self.marked else " ", ACTIVE)
        line.to(3).put(offer.name, BOLD, names).put("  ").put(offer.group, MUTED, groups).put("  ")
        return line.put(clip_text(offer.words, max(line.room - 1, 0)), MUTED).row()

    def empty(self, width: int) -> list[Row]:
        return [CellLine(width).to(3).put(self.nothing, TEXT).row()]
