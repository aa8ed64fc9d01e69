"""The nodes: every one with its worst value of every metric; filter, sort, copy."""

from collections.abc import Set
from functools import partial
from operator import attrgetter

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import name_keys, offer
from benchconsole.console.tui.messages import OpenNode, PlanRun, Remarked, ShowInFabric
from benchconsole.console.tui.queries.node_columns import key_of
from benchconsole.console.tui.screens.base.marking_page import MarkingPage
from benchconsole.console.tui.screens.base.page import PlotWish
from benchconsole.console.tui.screens.base.table_page import TABLE_ACTIONS
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.node_table import NodeTable
from benchconsole.console.view.run_view import RunView, State, tally
from benchconsole.probes.model.remark import About, RemarkSubject


class NodesScreen(MarkingPage):
    """One row a node; enter opens it. ``s`` sorts by the column picked with ``<`` and ``>``."""

    TAB = "Nodes"
    filter_area = "nodes"
    VALID = (*TABLE_ACTIONS, "fold", "mark", "mark_shown", "remark")
    NOUN = "node"
    KEYS = (
        ("enter", "node"), "filter", "mark", "sort", ("column_left", "and > column"), ("history", "over sessions"),
        "fold", "copy", ("repeat", "repeat"), "plot", "command", "help",
    )  # fmt: skip

    def __init__(self) -> None:
        self.table = table = NodeTable()
        super().__init__(
            table,
            name_row=lambda: sanitize(table.chosen_node or ""),
            note=lambda: _tell_marks(table, self.refused),
        )
        self.mark_of = attrgetter("view.node.id")
        self.columns_known: tuple[object, ...] = ()
        self.find_remarked = partial(_find_remarked, table)
        self.wish_plot = partial(_wish_plot, table)

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
        """The tests of the marked nodes, or of the one under the cursor."""
        view, chosen = self.run_view, self.table.chosen_node
        nodes = [name for name in view.nodes if name in self.table.marked] if view is not None else []
        nodes = nodes or ([chosen] if chosen is not None else [])
        if view is not None and nodes:
            tests = dict.fromkeys(result.test.id for name in nodes for result in view.nodes[name].results)
            self.post_message(PlanRun(only=tuple(tests)))


def _find_remarked(table: NodeTable) -> Remarked | None:
    """The node under the cursor, whatever is marked."""
    node = table.chosen_node
    return None if node is None else Remarked(RemarkSubject(About.NODE, node), f"node {sanitize(node)}")


def _wish_plot(table: NodeTable) -> PlotWish:
    """The metric of the picked column, with the value of the node under the cursor."""
    picked = table.columns[min(table.picked, len(table.columns) - 1)]
    metric = next((each for each in table.metrics if key_of(each) == picked), None)
    if metric is None:
        return PlotWish()
    verdict = table.chosen.worst.get(metric.id) if table.chosen is not None else None
    return PlotWish(*metric.id, test=verdict.test if verdict is not None else "")


def _tell_marks(table: NodeTable, refused: Set[str]) -> str:
    """How many nodes are marked, and how many are folded away."""
    next_steps = name_keys(offer("plan", ": R plans on them, r repeats their tests", refused), "repeat")
    marked = f"{len(table.marked):,} marked{next_steps}" if table.marked else ""
    folded = name_keys(f"{table.folded_away:,} that pass are folded, z shows them", "fold") if table.folded else ""
    return "   ".join(filter(None, (marked, folded)))
