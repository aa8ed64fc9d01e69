"""The pairs as a map: senders by receivers; a cell opens the nodes behind it, or the list of its pairs."""

import operator

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.queries.pair_matrix import Place, make_pair_matrix
from benchconsole.console.tui.screens.base.page import FAR, OpenPage, Page
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.pair_map import PairMap
from benchconsole.console.tui.widgets.status import Status
from benchconsole.console.view.run_view import RunView, tally
from benchconsole.console.view.wording import SIGNS, format_share
from benchconsole.topology.units import counted


class PairMapScreen(Page):
    """``within`` are the switches whose nodes are shown; None for the whole session, by switch where nodes are many."""

    VALID = (*MOVES, "left", "right", "next_fault", "previous_fault", "values")
    KEYS = (
        ("enter", "open"), ("next_fault", "next fault"), ("values", "as a list"), ("back", "back"), "command", "help",
    )  # fmt: skip
    DEFAULT_CSS = "PairMapScreen PairMap { margin-top: 1; } PairMapScreen.-low PairMap { margin-top: 0; }"

    def __init__(self, within: Place | None = None, *, tab: str = "Run") -> None:
        super().__init__(tab=tab, subject=f"pair map {within}")
        self.within = within
        self.map = PairMap()
        self.status = Status()
        self.parts = (self.map, self.status)
        self._known: tuple[object, ...] = ()

    def on_mount(self) -> None:
        super().on_mount()
        self.set_focus(self.map)

    def paint(self, view: RunView) -> None:
        path = (sanitize(view.fabric.name), sanitize(view.label or "run"), "pairs", "map")
        behind = () if self.within is None else (" to ".join(map(sanitize, self.within)),)
        self.crumb.show((*path, *behind), *tallies(view, tally(view)))
        known = (view.fabric, view.verdicts, view.findings)
        if view.reading is None and (len(self._known) == 0 or not all(map(operator.is_, known, self._known))):
            self._known = known
            self.map.show(make_pair_matrix(view, self.within))
        self._tell()

    @on(PairMap.Moved)
    def _tell(self) -> None:
        """What the cell under the cursor holds."""
        matrix, place = self.map.matrix, self.map.place
        if matrix is None or place is None:
            return
        cell, ways = matrix.cells.get(place), " to ".join(map(sanitize, place))
        if cell is None:
            self.status.show(f"{ways}: nothing was sent", "")
            return
        low = "" if cell.low is None else f", the lowest {format_share(cell.low)} of what is expected"
        self.status.show(
            f"{ways}: {SIGNS[cell.state].word}, {counted(cell.pairs, 'pair')}{low}",
            "by switch" if matrix.is_grouped else "",
        )

    def action_move(self, where: str) -> None:
        page = max(self.map.size.height - 4, 1)
        rows = {"up": -1, "down": 1, "page_up": -page, "page_down": page, "first": -FAR, "last": FAR}[where]
        self.map.step(rows, 0)

    def action_shift(self, step: int) -> None:
        self.map.step(0, step)

    def action_walk(self, step: int) -> None:
        """To the next cell that is not well, or the one before."""
        if not self.map.walk(step):
            self.say("No pair has a fault.")

    def action_enter(self) -> None:
        """The nodes under two switches, or the list of the pairs of two nodes."""
        from benchconsole.console.tui.screens.area import AreaScreen  # it opens this page

        matrix, place = self.map.matrix, self.map.place
        if matrix is None or place is None or place not in matrix.cells:
            self.say("Nothing was sent there.")
        elif matrix.is_grouped:
            self.post_message(OpenPage(PairMapScreen(place, tab=self.tab)))
        else:
            text = f"from={sanitize(place[0])} & to={sanitize(place[1])}"
            self.post_message(OpenPage(AreaScreen("pairs", tab=self.tab, text=text)))

    def action_values(self) -> None:
        """Back to the list."""
        self.action_back()
