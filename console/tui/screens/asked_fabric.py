"""A fabric that is not saved yet, as its nodes told it: the map, and below it what could not be found out."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, name_keys
from benchconsole.console.tui.fabric_map.map_layout import count_map_lines
from benchconsole.console.tui.fabric_map.shape import FabricShape
from benchconsole.console.tui.rows.text_rows import CellLine, Row, wrap_under
from benchconsole.console.tui.rows.themes import MUTED, STRONG, WATCH
from benchconsole.console.tui.screens.base.map_page import MapPage
from benchconsole.console.tui.screens.fabric import describe_static
from benchconsole.console.tui.widgets.fabric_map import FabricMap
from benchconsole.console.tui.widgets.headline import Headline
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.tabs import Badges
from benchconsole.console.view.events import SessionOpened
from benchconsole.console.view.reducer import opened
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.analysis.static_finding import StaticFinding
from benchconsole.topology.copying import replace
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.console.session.asked_topology import TopologyDraft

_ROWS_OF_PAGE = 7
"""Rows of the page that are neither map nor notes, and one between the two."""


class DraftNotes(Listing[str]):
    """The gaps of the draft, then everything that was taken for granted; scrolled, and nothing is left out."""

    CURSOR = False

    def __init__(self, draft: "TopologyDraft") -> None:
        from benchconsole.console.session.topology_writing import list_inferences

        super().__init__()
        self.gaps = tuple(sanitize(each) for each in draft.gaps)
        others = [sanitize(each) for each in draft.imported.remarks if each not in draft.gaps]
        self.others = (*others, *list_inferences(draft.imported))
        self._lines: tuple[int, Sequence[Row]] = (-1, ())

    def lines(self, width: int) -> Sequence[Row]:
        """Every sentence, for this width."""
        if self._lines[0] != width:
            rows = [row for each in self.gaps for row in wrap_under("", [each], width, 2, 1000, WATCH)]
            rows += [row for each in self.others for row in wrap_under("", [each], width, 2, 1000, MUTED)]
            self._lines = width, rows
        return self._lines[1]

    @property
    def count(self) -> int:
        return len(self.lines(self.size.width))

    def heading(self, width: int) -> list[Row]:
        words = f"{len(self.gaps):,} not found out" if self.gaps else "everything was found out"
        line = CellLine(width).to(1).put(words, STRONG)
        more = max(len(self.lines(width)) - (self.size.height - 1), 0)
        scroll = name_keys("pgdn and pgup scroll", "page_down", "page_up")
        return [line.put(f"   {more:,} lines more, {scroll}" if more else "", MUTED).row()]

    def row(self, index: int, width: int) -> Row:
        return self.lines(width)[index]


class AskedFabricPage(MapPage):
    """The map of the Fabric area without anything that acts; ``save`` asks for the name of the file."""

    VALID = (*(each for each in MOVES if each != "enter"), "left", "right", "more_detail", "less_detail", "write_file")
    KEYS = ("write_file", ("back", "back to the form"), ("page_down", "scroll"), "more_detail", "less_detail")

    def __init__(
        self, draft: "TopologyDraft", static: Sequence[StaticFinding], shape: FabricShape, save: Callable[[], object]
    ) -> None:
        super().__init__()
        self.draft = draft
        self.shape = shape
        self.save = save
        self.headline = Headline()
        self.map = FabricMap()
        self.notes = DraftNotes(draft)
        self.keys.has_help = False
        self.parts = (self.headline, self.map, self.notes)
        first = SessionOpened("", "", draft.fabric, "", (), 0.0, live=False)
        self.show(replace(opened(first), static=tuple(static)), Badges())

    def compose(self) -> ComposeResult:
        yield self.crumb
        yield from self.parts
        yield self.keys

    def on_mount(self) -> None:
        self.map.focus()
        if self.run_view is not None:
            self.paint(self.run_view)

    def paint(self, view: RunView) -> None:
        from benchconsole.console.session.topology_writing import count_elements

        self.crumb.show((sanitize(view.fabric.name), "not saved"))
        gaps = f"{counted(len(self.draft.gaps), 'thing')} could not be found out" if self.draft.gaps else ""
        why = ", ".join(filter(None, (gaps, describe_static(view).split(", see")[0])))
        next_step = name_keys("  Nothing is written yet: w asks for the name of the file.", "write_file")
        self.headline.show(None, f"{count_elements(view.fabric)}.", next_step, why=why)
        drawn = count_map_lines(view.fabric, self.shape, self.size.width)
        room = max(self.size.height - _ROWS_OF_PAGE - drawn, self.size.height // 3)
        self.notes.styles.height = max(min(len(self.notes.lines(self.size.width)) + 1, room), 2)
        self.map.show(view, self.shape)

    def action_move(self, where: str) -> None:
        """Pages are those of the sentences, other moves those of the map."""
        if where in ("page_up", "page_down"):
            page = max(self.notes.page - 1, 1)
            self.notes.move(page if where == "page_down" else -page)
        else:
            super().action_move(where)

    def action_write_file(self) -> None:
        if self.is_active:  # the key may come twice in one read
            self.save()
