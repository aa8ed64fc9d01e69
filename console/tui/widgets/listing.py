"""A list of any length: a heading that stays, a cursor, and drawing of no more than the rows in sight."""

from dataclasses import dataclass

from textual import events
from textual.message import Message

from benchconsole.console.tui.rows.text_rows import CellLine, Row, selected
from benchconsole.console.tui.widgets.canvas import CellWidget


class Listing(CellWidget, can_focus=True):
    """Rows under a heading. Subclasses give ``heading``, ``count`` and ``row``."""

    CURSOR = True

    @dataclass
    class Moved(Message):
        """The cursor stands on another row."""

        listing: "Listing"
        index: int

    @dataclass
    class Chosen(Message):
        """Enter was pressed on a row."""

        listing: "Listing"
        index: int

    def __init__(self) -> None:
        super().__init__()
        self.cursor = 0
        self.top = 0

    def heading(self, width: int) -> list[Row]:
        """Rows that stay while the others scroll."""
        return []

    @property
    def count(self) -> int:
        """How many rows there are."""
        raise NotImplementedError  # no ABC: query(Listing) has to take the class itself

    def row(self, index: int, width: int) -> Row:
        """One row, drawn as if the cursor were elsewhere."""
        raise NotImplementedError  # no ABC: query(Listing) has to take the class itself

    def empty(self, width: int) -> list[Row]:
        """What is shown where there are no rows."""
        return []

    def draw(self, width: int, height: int) -> list[Row]:
        """The heading and the rows in sight."""
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

    @property
    def in_sight(self) -> range:
        """Indexes of the rows in sight."""
        return range(self.top, min(self.top + self.page, self.count))

    def go(self, index: int) -> None:
        """Put the cursor on ``index``, or scroll there where there is no cursor."""
        index = max(0, min(index, self.count - 1))
        if not self.CURSOR:
            self.top = max(0, min(index, self.count - self.page))
            self.redraw()
        elif index != self.cursor:
            self.cursor = index
            self.redraw()
            self.post_message(self.Moved(self, index))

    def move(self, step: int) -> None:
        self.go((self.cursor if self.CURSOR else self.top) + step)

    def choose(self) -> None:
        """Say that the row under the cursor was chosen."""
        if self.count and self.CURSOR:
            self.post_message(self.Chosen(self, self.cursor))

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
        return selected(_filled(row, width)) if self.CURSOR and index == self.cursor else row

    def _keep_in_sight(self, page: int) -> None:
        last = max(self.count - page, 0)
        if self.CURSOR:
            self.cursor = max(0, min(self.cursor, self.count - 1))
            self.top = max(min(self.top, self.cursor), self.cursor - page + 1)
        self.top = max(0, min(self.top, last))


def _filled(row: Row, width: int) -> Row:
    """``row`` with blanks to the edge, so that the ground of a selection reaches it."""
    return CellLine(width).extend(row).to(width).row()
