"""The nodes: every one with its worst value of every metric; filter, sort, copy."""

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, TypedCommand
from benchconsole.console.tui.messages import Copy, OpenNode, PlanRun, ShowInFabric
from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import BOLD, MUTED
from benchconsole.console.tui.screens.base.filtered_page import FilteredPage
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.node_table import NodeTable
from benchconsole.console.tui.widgets.status import Status
from benchconsole.console.view.run_view import RunView, State, tally
from benchconsole.topology.units import counted as count


class NodesScreen(FilteredPage):
    """One row a node; enter opens it. ``s`` sorts by the column picked with ``<`` and ``>``."""

    TAB = "Nodes"
    VALID = (
        *MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "fold", "next_fault", "previous_fault",
        "in_fabric", "repeat", "copy", "copy_all",
    )  # fmt: skip
    NOUN = "node"
    EVERY = "all {}"
    SOME = "{shown:,} of {total:,} shown, {hidden:,} hidden"
    KEYS = (
        ("enter", "node"), "filter", "sort", ("column_left", "and > column"), "fold", "copy", ("repeat", "repeat"),
        "command", "help",
    )  # fmt: skip

    def __init__(self) -> None:
        self.table = NodeTable()
        super().__init__(self.table)
        self.status = Status()
        self.columns_known: tuple[object, ...] = ()
        self.commands["sort"] = TypedCommand(self._sort_typed, lambda: self.table.columns)
        self.parts = (self.prompt, self.table, self.status)

    @property
    def aside(self) -> Row:
        """How the rows are sorted."""
        made = [CellText("sorted by ", MUTED)]
        for place, (column, down) in enumerate(self.table.sorts):
            made += [CellText(" then ", MUTED)] if place else []
            made += [CellText(f"{column}{'¹²³'[place]}{'▾' if down else ''}", BOLD)]
        return tuple(made)

    def paint(self, view: RunView) -> None:
        self.crumb.show((sanitize(view.fabric.name), "nodes", sanitize(view.label)), *tallies(view, tally(view)))
        self.table.show(view)
        if self.table.metrics != self.columns_known:
            self.columns_known = self.table.metrics
            self.filter_by(self.prompt.text)
        self.annotate()

    def annotate(self) -> None:
        """Say how many rows are shown, and which of them are in sight."""
        super().annotate()
        self._count()

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        if self.table.chosen_node is not None:
            self.post_message(OpenNode(self.table.chosen_node))

    def _count(self) -> None:
        table = self.table
        last = min(table.top + table.page, table.count)
        rows = f"rows {table.top + 1:,} to {last:,} of {table.count:,}" if table.count else "no rows"
        words = []
        if table.hidden:
            words.append(f"{count(table.hidden, 'column')} hidden, > goes there")
        if table.folded:
            words.append(f"{table.folded_away:,} that pass are folded, z shows them")
        self.status.show("   ".join(words), rows)

    @on(Listing.Moved)
    def _moved(self) -> None:
        self._count()

    def _sort_typed(self, text: str) -> None:
        column = text.strip().lower()
        if column in self.table.columns:
            self.table.sort_by(column)
            self.annotate()
        else:
            self.say(f"no column {sanitize(text)}; the columns are {' '.join(self.table.columns)}", wrong=True)

    def action_sort(self, also: bool) -> None:
        self.table.sort_by(self.table.columns[self.table.picked], also=also)
        self.annotate()

    def action_column(self, step: int) -> None:
        self.table.pick(step)
        self._count()

    def action_fold(self) -> None:
        self.table.folded = not self.table.folded
        self.table.apply_filter()
        self._count()

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

    def action_copy(self) -> None:
        if self.table.chosen_node is not None:
            row = self.table.items[self.table.cursor]
            self.post_message(Copy(self.table.as_text(only=[row]), f"the row of {sanitize(row.view.node.id)}"))

    def action_copy_all(self) -> None:
        self.post_message(Copy(self.table.as_text(), f"{self.table.count:,} rows"))
