"""The nodes: every one with its worst value of every metric; filter, sort, copy."""

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.messages import OpenNode, PlanRun, ShowInFabric
from benchconsole.console.tui.screens.base.table_page import TABLE_ACTIONS, TablePage
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.node_table import NodeTable
from benchconsole.console.view.run_view import RunView, State, tally


class NodesScreen(TablePage):
    """One row a node; enter opens it. ``s`` sorts by the column picked with ``<`` and ``>``."""

    TAB = "Nodes"
    VALID = (*TABLE_ACTIONS, "fold")
    NOUN = "node"
    KEYS = (
        ("enter", "node"), "filter", "sort", ("column_left", "and > column"), "fold", "copy", ("repeat", "repeat"),
        "command", "help",
    )  # fmt: skip

    def __init__(self) -> None:
        self.table = table = NodeTable()
        super().__init__(
            table,
            name_row=lambda: sanitize(table.chosen_node or ""),
            note=lambda: f"{table.folded_away:,} that pass are folded, z shows them" if table.folded else "",
        )
        self.columns_known: tuple[object, ...] = ()

    def paint(self, view: RunView) -> None:
        self.crumb.show((sanitize(view.fabric.name), "nodes", sanitize(view.label)), *tallies(view, tally(view)))
        self.table.show(view)
        if self.table.metrics != self.columns_known:
            self.columns_known = self.table.metrics
            self.filter_by(self.prompt.text)
        self.annotate()

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        if self.table.chosen_node is not None:
            self.post_message(OpenNode(self.table.chosen_node))

    def action_fold(self) -> None:
        self.table.folded = not self.table.folded
        self.table.apply_filter()
        self.count_rows()

    def action_walk(self, step: int) -> None:
        """To the next node that is not well, or the one before."""
        bad = (State.FAIL, State.UNREACHABLE, State.WATCH, State.UNKNOWN)
        if not self.table.walk(step, lambda row: row.state in bad):
            self.say("No node has a fault.")

    def action_in_fabric(self) -> None:
        if self.table.chosen_node is not None:
            self.post_message(ShowInFabric(self.table.chosen_node))

    def action_repeat(self) -> None:
        if self.table.chosen_node is not None and self.run_view is not None:
            results = self.run_view.nodes[self.table.chosen_node].results
            self.post_message(PlanRun(only=tuple(result.test.id for result in results)))
