"""A list of any length: a heading that stays, a cursor, and drawing of no more than the rows in sight."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from textual import events
from textual.message import Message

from benchconsole.console.tui.queries.filtering import EVERYTHING, Fields, Filter, KeptOrder
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.tui.rows.text_rows import CellLine, Row, selected
from benchconsole.console.tui.widgets.canvas import CellWidget

Item = TypeVar("Item")
FilteredItem = TypeVar("FilteredItem", bound=Fields)


def find_again(here: Item | None, items: Sequence[Item], key: Callable[[Item], object], otherwise: int) -> int:
    """Where the item with the ``key`` of ``here`` stands now; ``otherwise`` where it has gone."""
    if here is None:
        return otherwise
    wanted = key(here)
    return next((index for index, each in enumerate(items) if key(each) == wanted), otherwise)


class Listing(CellWidget, Generic[Item], can_focus=True):
    """Rows under a heading, one for each of ``items``. Subclasses give ``heading`` and ``row``."""

    CURSOR = True
    items: Sequence[Item] = ()
    cursor = 0
    top = 0

    @dataclass
    class Moved(Message):
        """The cursor stands on another row."""

        listing: "Listing[Any]"

    @dataclass
    class Chosen(Message):
        """Enter was pressed on a row."""

        listing: "Listing[Any]"

    def heading(self, width: int) -> list[Row]:
        """Rows that stay while the others scroll."""
        return []

    @property
    def count(self) -> int:
        return len(self.items)

    @property
    def chosen(self) -> Item | None:
        """The item under the cursor."""
        return self.items[self.cursor] if self.cursor < len(self.items) else None

    def row(self, index: int, width: int) -> Row:
        """One row, drawn as if the cursor were elsewhere."""
        raise NotImplementedError  # no ABC: query(Listing) has to take the class itself

    def empty(self, width: int) -> list[Row]:
        """The rows in place of an empty list."""
        return []

    def draw(self, width: int, height: int) -> list[Row]:
        head = self.heading(width)[:height]
        if not self.count:
            return head + self.empty(width)
        page = max(height - len(head), 0)
        self._keep_in_sight(page)
        body = [self._drawn_row(index, width) for index in range(self.top, min(self.top + page, self.count))]
        return head + body

    @property
    def page(self) -> int:
        """Rows that fit under the heading."""
        return max(self.size.height - len(self.heading(self.size.width)), 1)

    def go(self, index: int) -> None:
        """Put the cursor on ``index``, or scroll there where there is no cursor."""
        index = max(0, min(index, self.count - 1))
        if not self.CURSOR:
            self.top = max(0, min(index, self.count - self.page))
            self.redraw()
        elif index != self.cursor:
            self.cursor = index
            self.redraw()
            self.post_message(self.Moved(self))

    def move(self, step: int) -> None:
        self.go((self.cursor if self.CURSOR else self.top) + step)

    def walk(self, step: int, wanted: Callable[[Item], bool]) -> bool:
        """Go to the next row that is ``wanted``, round the end; ``step`` -1 goes back. False where there is none."""
        for away in range(1, len(self.items) + 1):
            index = (self.cursor + step * away) % len(self.items)
            if wanted(self.items[index]):
                self.go(index)
                return True
        return False

    def choose(self) -> None:
        """Say that the row under the cursor was chosen."""
        if self.count and self.CURSOR:
            self.post_message(self.Chosen(self))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-3)

    def on_click(self, event: events.Click) -> None:
        """Go to the row; a second click opens it."""
        index = self.top + event.y - len(self.heading(self.size.width))
        if not (0 <= index < self.count and event.y >= len(self.heading(self.size.width))):
            return
        if event.chain > 1:
            self.choose()
        else:
            self.go(index)

    def _drawn_row(self, index: int, width: int) -> Row:
        row = self.row(index, width)
        if not self.CURSOR or index != self.cursor:
            return row
        return selected(CellLine(width).extend(row).to(width).row())  # blanks to the edge have the ground, too

    def _keep_in_sight(self, page: int) -> None:
        last = max(self.count - page, 0)
        if self.CURSOR:
            self.cursor = max(0, min(self.cursor, self.count - 1))
            self.top = max(min(self.top, self.cursor), self.cursor - page + 1)
        self.top = max(0, min(self.top, last))


class FilteredListing(Listing[FilteredItem]):
    """The rows of ``every`` that ``filter`` lets through; it names columns by their scales, None for words."""

    filter_columns: Mapping[str, Scale | None] = MappingProxyType({})
    filter: Filter = EVERYTHING
    every: Sequence[FilteredItem] = ()

    def __init__(self) -> None:
        super().__init__()
        self.kept = KeptOrder[FilteredItem]()

    def apply_filter(self) -> None:
        self.items = self.kept.select(self.filter, self.every)
        self.cursor = max(min(self.cursor, len(self.items) - 1), 0)
        self.redraw()
