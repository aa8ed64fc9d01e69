"""Jump letters: each tab, pane and row in sight shows one, over what stands there; the letter goes to it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen
from textual.widget import Widget

from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.widgets.canvas import CellWidget, Letter
from benchconsole.console.tui.widgets.fabric_map import FabricMap
from benchconsole.console.tui.widgets.line_input import LineInput
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.matrix_map import MatrixMap
from benchconsole.console.tui.widgets.tabs import Tabs

HINT = "A letter goes to what it stands on; esc leaves."

LETTERS = "asdfghjklqwertyuiopzxcvbnm"
"""In the order in which they are given away: those under the fingers first."""


@dataclass(frozen=True, slots=True)
class JumpPlace:
    """Where a letter stands in a widget, and what it does."""

    widget: CellWidget
    x: int
    y: int
    go: Callable[[], object]


def list_places(page: Page) -> list[JumpPlace]:
    """Every place of a page: tabs and panes, then rows from the top."""
    shown = [each for each in page.query(CellWidget) if each.display and each.size.width and each.size.height]
    panes = [each for each in shown if each.can_focus]
    made = [place for each in shown if isinstance(each, Tabs) for place in _list_tabs(each)]
    if len(panes) > 1:
        made += [JumpPlace(each, _find_corner(each), 0, partial(page.set_focus, each)) for each in panes]
    taken = {(place.widget, place.y) for place in made}
    for pane in panes:
        made += [place for place in _list_rows(page, pane) if (pane, place.y) not in taken]
    return made


def _find_corner(pane: Widget) -> int:
    """The column of a pane's letter: on the mark of a line of text, at the edge of all others."""
    return 1 if isinstance(pane, LineInput) else 0


def _list_tabs(tabs: Tabs) -> Iterator[JumpPlace]:
    for x, tab in tabs.list_places():
        yield JumpPlace(tabs, x, 0, partial(tabs.post_message, Tabs.Clicked(tab)))


def _list_rows(page: Page, pane: Widget) -> Iterator[JumpPlace]:
    if isinstance(pane, Listing):
        yield from _list_listing(page, pane)
    elif isinstance(pane, FabricMap):
        for y, spot in pane.spots_in_sight:
            yield JumpPlace(pane, max(spot.x - 1, 0), y, partial(pane.go, next(spot.marks)))
    elif isinstance(pane, MatrixMap):
        for y, row in pane.rows_in_sight:
            yield JumpPlace(pane, 0, y, partial(_go_to_row, page, pane, row))


def _list_listing(page: Page, listing: Listing[Any]) -> Iterator[JumpPlace]:
    if not listing.CURSOR:
        return
    head = len(listing.heading(listing.size.width))
    for row in range(min(listing.page, listing.count - listing.top)):

        def go(row: int = row) -> None:
            """To the row that stands there now."""
            page.set_focus(listing)
            listing.go(listing.top + row)

        yield JumpPlace(listing, 0, head + row, go)


def _go_to_row(page: Page, pane: MatrixMap[Any], row: int) -> None:
    page.set_focus(pane)
    pane.step(row - pane.row, 0)


def make_codes(number: int) -> list[str]:
    """So many sequences of one or two letters, none of which begins another; those of one letter first."""
    pairs = 0
    while len(LETTERS) - pairs + pairs * len(LETTERS) < number and pairs < len(LETTERS):
        pairs += 1
    single = LETTERS[: len(LETTERS) - pairs]
    double = map("".join, product(LETTERS[len(single) :], LETTERS))
    return [*single, *double][:number]


class JumpScreen(ModalScreen[None]):
    """Draws nothing itself: the widgets of ``page`` show the letters over their cells."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", show=False, priority=True)]
    DEFAULT_CSS = "JumpScreen { background: transparent; }"

    def __init__(self, page: Page) -> None:
        super().__init__()
        self.page = page
        places = list_places(page)
        self.places = dict(zip(make_codes(len(places)), places, strict=False))
        self.typed = ""
        self._size = page.size

    def on_mount(self) -> None:
        self._show()
        self.page.keys.say(HINT)

    def on_resize(self, event: events.Resize) -> None:
        """Leave: what the letters stood on stands elsewhere."""
        if event.size != self._size:
            self.action_leave()

    def on_click(self) -> None:
        self.action_leave()

    def on_key(self, event: events.Key) -> None:
        """Go where a letter stands; the first of two leaves those that begin with it."""
        if event.key in ("ctrl+c", "ctrl+q"):
            return
        event.stop()
        typed = self.typed + (event.character or "").lower()
        if typed in self.places:
            place = self.places[typed]
            self.action_leave()
            place.go()
        elif event.character and any(code.startswith(typed) for code in self.places):
            self.typed = typed
            self._show()
        elif event.key == "backspace":
            self.typed = ""
            self._show()

    def action_leave(self) -> None:
        """Take the letters away; once, as for a sheet."""
        if not self.is_active:
            return
        self._clear()
        self.dismiss(None)

    def on_unmount(self) -> None:
        """Take the letters away, however this screen went: another page may have taken its place."""
        self._clear()

    def _clear(self) -> None:
        _draw(self.page, {})
        if self.page.keys.said == HINT:
            self.page.keys.say("")

    def _show(self) -> None:
        """The letters that can still be typed."""
        letters: dict[CellWidget, list[Letter]] = {}
        for code, place in self.places.items():
            if code.startswith(self.typed):
                letters.setdefault(place.widget, []).append(Letter(place.x, place.y, code[len(self.typed) :]))
        _draw(self.page, letters)


def _draw(page: Page, letters: "dict[CellWidget, list[Letter]]") -> None:
    for widget in page.query(CellWidget):
        own: Sequence[Letter] = letters.get(widget, ())
        if own != widget.letters:
            widget.letters = tuple(own)
            widget.redraw()
