"""The nodes: every one with its worst value of every metric; filter, sort, copy."""

from textual import on

from console.tui.actions import MOVES
from console.tui.messages import Copy, OpenNode, Plan, ShowInFabric
from console.tui.screens.table import TableScreen
from console.tui.widgets.crumb import tallies
from console.tui.widgets.listing import Listing
from console.view import RunView, State, tally
from console.wording import plain


class NodesScreen(TableScreen):
    """One row a node; enter opens it."""

    TAB = "Nodes"
    VALID = (
        *MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "fold", "next_fault", "previous_fault",
        "in_fabric", "repeat", "copy", "copy_all",
    )  # fmt: skip
    KEYS = (
        ("enter", "node"), "filter", "sort", ("column_left", "and > column"), "fold", "copy", ("repeat", "repeat"),
        "command", "help",
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self.columns_known: tuple[object, ...] = ()

    def paint(self, view: RunView) -> None:
        """Everything anew."""
        parts = [plain(view.fabric.name), "nodes", plain(view.label)]
        self.crumb.show([part for part in parts if part], *tallies(view, tally(view)))
        self.table.show(view)
        if self.table.metrics != self.columns_known:
            self.columns_known = self.table.metrics
            self.filter_by(self.prompt.text)
        self.annotate()

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        if self.table.chosen is not None:
            self.post_message(OpenNode(self.table.chosen))

    def action_next_fault(self) -> None:
        """The next row that is not a pass."""
        self._walk(1)

    def action_previous_fault(self) -> None:
        """The row before that is not a pass."""
        self._walk(-1)

    def _walk(self, step: int) -> None:
        bad = (State.FAIL, State.UNREACHABLE, State.WATCH, State.UNKNOWN)
        order, here = self.table.order, self.table.cursor
        for away in range(1, len(order) + 1):
            index = (here + step * away) % len(order)
            if order[index].state in bad:
                self.table.go(index)
                return
        self.say("No node has a fault.")

    def action_in_fabric(self) -> None:
        """Show the node on the map."""
        if self.table.chosen is not None:
            self.post_message(ShowInFabric(self.table.chosen))

    def action_repeat(self) -> None:
        """Repeat the tests of the node under the cursor."""
        if self.table.chosen is not None and self.run_view is not None:
            results = self.run_view.nodes[self.table.chosen].results
            self.post_message(Plan(only=tuple(result.test.id for result in results)))

    def action_copy(self) -> None:
        """Copy the row."""
        if self.table.chosen is not None:
            row = self.table.order[self.table.cursor]
            self.post_message(Copy(self.table.as_text(only=[row]), f"the row of {plain(row.view.node.id)}"))

    def action_copy_all(self) -> None:
        """Copy the table."""
        self.post_message(Copy(self.table.as_text(), f"{self.table.count:,} rows"))
