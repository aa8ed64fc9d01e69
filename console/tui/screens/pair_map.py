"""The pairs as a map: senders by receivers; a cell opens the nodes behind it, or the list of its pairs."""

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.messages import OpenFinding
from benchconsole.console.tui.queries.matrix import Place
from benchconsole.console.tui.queries.pair_causes import find_cause, find_pair_causes
from benchconsole.console.tui.queries.pair_matrix import list_pair_rows, make_pair_matrix
from benchconsole.console.tui.screens.base.matrix_page import MatrixPage
from benchconsole.console.tui.screens.base.page import OpenPage, count_frame_rows
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.pair_cause_list import PairCauseList
from benchconsole.console.tui.widgets.pair_map import PairMap
from benchconsole.console.view.run_view import RunView, tally
from benchconsole.console.view.same_objects import are_same
from benchconsole.console.view.wording import SIGNS, format_share
from benchconsole.topology.units import counted

_MAP_FRAME = 3
"""Rows of the map beside those of senders: names of receivers, their means, and the status below."""
_LEAST_CAUSES = 3
"""Rows of causes, with the one above them, that a map which is too high for the screen leaves."""


class PairMapScreen(MatrixPage):
    """``within`` are the switches whose nodes are shown; None for the whole session, by switch where nodes are many.

    Below the map stand the causes of the pairs that are not well: patterns by their names, or findings.
    """

    VALID = (*MatrixPage.VALID, "finding")
    KEYS = (
        ("enter", "open"), ("next_fault", "next fault"), "finding", ("values", "as a list"), ("back", "back"),
        "command", "help",
    )  # fmt: skip

    def __init__(self, within: Place | None = None, *, tab: str = "Run") -> None:
        self.map = PairMap()
        super().__init__(self.map, "No pair has a fault.", tab=tab, subject=f"pair map {within}")
        self.within = within
        self.causes = PairCauseList()
        self.parts = (self.map, self.causes, self.status)
        self._known: tuple[object, ...] = ()

    def paint(self, view: RunView) -> None:
        path = (sanitize(view.fabric.name), sanitize(view.label or "run"), "pairs", "map")
        behind = () if self.within is None else (" to ".join(map(sanitize, self.within)),)
        self.crumb.show((*path, *behind), *tallies(view, tally(view)))
        known = (view.fabric, view.verdicts, view.findings)
        if view.reading is None and not are_same(known, self._known):
            self._known = known
            pairs = list_pair_rows(view, self.within)
            self.map.show(make_pair_matrix(view, pairs, self.within))
            self.causes.show(find_pair_causes(view, pairs))
        self._share_height()
        self._tell()

    @on(PairMap.Moved)
    def _tell(self) -> None:
        """Tell the content of the cell under the cursor."""
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

    def _share_height(self) -> None:
        """The map first; a row of causes at least where there are some, for the map scrolls."""
        matrix = self.map.matrix
        taken = 0 if matrix is None else len(matrix.sources) + _MAP_FRAME
        spare = max(self.size.height - count_frame_rows(self) - taken, min(self.causes.wanted, _LEAST_CAUSES))
        self.causes.styles.height = min(self.causes.wanted, spare)

    def action_finding(self) -> None:
        """The finding that explains the cell under the cursor."""
        matrix, place, view = self.map.matrix, self.map.place, self.run_view
        cell = None if matrix is None or place is None else matrix.cells.get(place)
        found = None if cell is None or view is None else find_cause(view, cell.tests)
        if found is None:
            self.say("No finding explains this cell.")
        else:
            self.post_message(OpenFinding(found))

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
