"""The filters that the user keeps: each with its name, its area and its text; enter uses one, x removes it."""

from typing import ClassVar

from textual import on

from benchconsole.console.session.user_files import tell_first
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, offer
from benchconsole.console.tui.messages import OrderFilter
from benchconsole.console.tui.queries.saved_filter_area import list_saved_filters
from benchconsole.console.tui.rows.text_rows import CellText
from benchconsole.console.tui.rows.themes import MUTED
from benchconsole.console.tui.screens.base.area_page import AreaPage
from benchconsole.console.tui.screens.base.page import Page, leave_front
from benchconsole.console.tui.screens.base.saved_filter import find_keeper
from benchconsole.console.tui.widgets.footer import Shown
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.errors import TopologyError
from benchconsole.topology.units import counted

NONE_SAVED = "No filter is saved yet."
KEEP_ONE = " After / has filtered something, :save-filter NAME keeps it, and @NAME uses it."


class FiltersScreen(AreaPage):
    """The file is read when the page opens, and when one was removed."""

    VALID: ClassVar[tuple[str, ...]] = (
        *MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "next_fault", "previous_fault", "in_full",
        "remove", "copy", "copy_all",
    )  # fmt: skip
    KEYS: ClassVar[tuple[Shown, ...]] = (
        ("enter", "use it"), "remove", "filter", "sort", "copy", ("back", "back"), "command", "help",
    )  # fmt: skip
    filter_area = "filters"
    NOUN = "filter"

    def __init__(self, *, tab: str) -> None:
        super().__init__(named_by="name", absent=NONE_SAVED, tab=tab, subject="filters")
        self.wrong = ""
        """Why the file is refused; empty where it was read."""

    def on_mount(self) -> None:
        super().on_mount()
        self.read()

    def read(self) -> None:
        """Read the file, or say why that is refused."""
        keeper = find_keeper(self)
        try:
            known = keeper.read() if keeper is not None else {}
            self.wrong = ""
        except TopologyError as error:
            known, self.wrong = {}, f"Saved filters are not used: {tell_first(error)}"
        _tell_absent(self)
        self.show_area(list_saved_filters(known))
        words = counted(len(self.table.every), "saved filter")
        path = "" if keeper is None else sanitize(str(keeper.path))
        self.crumb.show(("filters", path), (CellText(words, MUTED),))

    def paint(self, view: RunView) -> None:
        _tell_absent(self)
        self.annotate()

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        """Back to the page behind where the filter is one of its own, else to the area of the filter."""
        row = self.table.chosen
        if row is None:
            return
        area, name = str(row.record["area"]), str(row.record["name"])
        behind = next((each for each in reversed(self.app.screen_stack[:-1]) if isinstance(each, Page)), None)
        if behind is not None and behind.filter_area == area:
            leave_front(self.app)
            behind.commands["filter"].do(f"@{name}")
        else:
            self.post_message(OrderFilter(area, name))

    def action_order(self, _order: str) -> None:
        """Remove the filter under the cursor."""
        row = self.table.chosen
        if row is not None:
            self.post_message(OrderFilter(str(row.record["area"]), str(row.record["name"]), removes=True))


def _tell_absent(page: FiltersScreen) -> None:
    """Say why there is no row, and how one comes to be where this console may keep one."""
    page.table.absent = page.wrong or NONE_SAVED + offer("save_filter", KEEP_ONE, page.refused, "filter")
    page.table.redraw()
