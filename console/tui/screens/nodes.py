"""The nodes: every one with its worst value of every metric; filter, sort, copy."""

from collections.abc import Mapping, Set
from functools import partial
from operator import attrgetter

from textual import on

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import TypedCommand, name_keys, offer
from benchconsole.console.tui.messages import OpenNode, PlanRun, Remarked, ShowInFabric
from benchconsole.console.tui.queries.node_columns import METRIC
from benchconsole.console.tui.queries.node_row import WordColumn
from benchconsole.console.tui.screens.base.marking_page import MarkingPage
from benchconsole.console.tui.screens.base.page import PlotWish
from benchconsole.console.tui.screens.base.table_page import TABLE_ACTIONS
from benchconsole.console.tui.screens.columns import ColumnChoosing
from benchconsole.console.tui.widgets.crumb import tallies
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.node_table import NodeTable
from benchconsole.console.view.run_view import RunView, State, tally
from benchconsole.probes.model.remark import About, RemarkSubject


class NodesScreen(MarkingPage):
    """One row a node; enter opens it. ``s`` sorts by the column picked with ``<`` and ``>``, ``K`` chooses columns."""

    TAB = "Nodes"
    filter_area = "nodes"
    VALID = (*TABLE_ACTIONS, "fold", "columns", "mark", "mark_shown", "remark")
    NOUN = "node"
    KEYS = (
        ("enter", "node"), "stop", "filter", "mark", "sort", ("column_left", "and > column"), "columns",
        ("history", "over sessions"), "fold", "copy", ("repeat", "repeat"), "plot", "command", "help",
    )  # fmt: skip

    def __init__(self) -> None:
        self.table = table = NodeTable()
        super().__init__(
            table,
            name_row=lambda: sanitize(table.chosen_node or ""),
            note=lambda: "   ".join(filter(None, (_tell_marks(table, self.refused), _tell_cell(table)))),
        )
        self.mark_of = attrgetter("view.node.id")
        self.columns_known: Mapping[str, object] = {}
        self.find_remarked = partial(_find_remarked, table)
        self.wish_plot = partial(_wish_plot, table)
        self.choosing = ColumnChoosing(self, table)
        self.commands["columns"] = TypedCommand(self.choosing.choose_typed, self.choosing.list_names)

    def paint(self, view: RunView) -> None:
        self.crumb.show((sanitize(view.fabric.name), "nodes", sanitize(view.label)), *tallies(view, tally(view)))
        self.table.show(view)
        if self.table.filter_columns != self.columns_known:
            self.columns_known = self.table.filter_columns
            self.filter_by(self.prompt.text)
        self.choosing.follow()
        self.annotate()

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        if self.table.chosen_node is not None:
            self.post_message(OpenNode(self.table.chosen_node))

    def action_fold(self) -> None:
        self.table.folded = not self.table.folded
        self.table.apply_filter()
        self.count_rows()

    def action_columns(self) -> None:
        """Choose the columns."""
        self.choosing.ask()

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
    kind, metric, stage = table.arranged.shown[table.picked].choice
    if kind != METRIC:
        return PlotWish()
    verdict = table.chosen.worst.get((metric, stage)) if table.chosen is not None else None
    return PlotWish(metric, stage, test=verdict.test if verdict is not None else "")


def _tell_marks(table: NodeTable, refused: Set[str]) -> str:
    """How many nodes are marked, and how many are folded away."""
    next_steps = offer("plan", ": R plans on them, r repeats their tests", refused, "repeat")
    marked = f"{len(table.marked):,} marked{next_steps}" if table.marked else ""
    folded = name_keys(f"{table.folded_away:,} that pass are folded, z shows them", "fold") if table.folded else ""
    return "   ".join(filter(None, (marked, folded)))


def _tell_cell(table: NodeTable) -> str:
    """The words on the cell under the cursor, and on its peers where they are shown."""
    row, arranged = table.chosen, table.arranged
    picked, following = arranged.shown[table.picked], arranged.columns.following
    if row is None:
        return ""
    is_of_numbers = picked.scale is not None or isinstance(picked, WordColumn)
    asked = dict.fromkeys((picked, following) if following is not None and is_of_numbers else (picked,))
    return "   ".join(filter(None, (column.tell(row) for column in asked)))
