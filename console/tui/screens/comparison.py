"""Two sessions held against each other: a row for each metric and for whatever else differs; enter goes to nodes."""

import asyncio
from functools import partial

from textual import on

from benchconsole.console.conclusions.metric_names import name_among
from benchconsole.console.conclusions.session_comparison import ComparedMetric
from benchconsole.console.reports.comparison_page import ABOUT, ComparisonReport, format_outcome, tell_beside
from benchconsole.console.session.session_archive import SessionArchive
from benchconsole.console.session.stored_comparison import ComparisonError
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES, name_keys
from benchconsole.console.tui.messages import OpenNode, ReadInFull, ShowInFabric
from benchconsole.console.tui.queries.change_matrix import has_map
from benchconsole.console.tui.queries.compared_sessions import describe_alike, list_differences, list_session_cells
from benchconsole.console.tui.queries.comparison_area import (
    QUIET,
    SIGNS_OF,
    find_metric,
    find_shown_tests,
    list_compared,
    list_subjects,
)
from benchconsole.console.tui.screens.base.area_page import AreaPage
from benchconsole.console.tui.screens.base.page import OpenPage, PlotWish
from benchconsole.console.tui.screens.change_map import NO_MAP, ChangeMapScreen, explain_no_output
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.compared_sessions import ComparedSessions
from benchconsole.console.tui.widgets.headline import Headline
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.view.run_view import RunView, State
from benchconsole.store.errors import StoreError
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId

COMPARING = "The two sessions are being read and compared."

_ACTIONS = (
    *MOVES, "filter", "sort", "sort_also", "column_left", "column_right", "next_fault", "previous_fault", "in_full",
    "in_fabric", "copy", "copy_all",
)  # fmt: skip


class ComparisonScreen(AreaPage):
    """Two sessions, ``other`` and ``shown``; the one that began first is A. Outputs are of the one on the screen.

    With ``by``, a grouping, two parts of ``shown`` are compared, and there is no other.
    """

    filter_area = "compare"
    VALID = (*_ACTIONS, "swap", "fold", "values")
    KEYS = (
        ("enter", "its nodes"), ("values", "map"), ("next_fault", "next worse"), ("fold", "fold same"), "swap",
        "filter", "sort",
        "in_full", ("back", "back"), "command", "help",
    )  # fmt: skip
    DEFAULT_CSS = """
    ComparisonScreen LineInput { margin-top: 0; }
    ComparisonScreen Headline { margin: 1 0 0 0; }
    ComparisonScreen.-low Headline { margin: 0; }
    ComparisonScreen ComparedSessions { margin-bottom: 1; }
    ComparisonScreen.-low ComparedSessions { margin-bottom: 0; }
    """

    def __init__(self, archive: SessionArchive, other: str, shown: str, *, tab: str, by: str = "") -> None:
        super().__init__(named_by="what", absent=COMPARING, tab=tab, subject=f"comparison {other} {shown} {by}")
        self.archive = archive
        self.other = other
        self.shown = shown
        self.by = by
        self.report: ComparisonReport | None = None
        self.is_folded = False
        self._is_swapped = False
        self._is_comparing = False
        self.headline = Headline()
        self.strip = ComparedSessions()
        self.wish_plot = partial(_wish_plot, self)
        self.note = self._tell_chosen
        self.parts = (self.headline, self.strip, *self.parts)

    def on_mount(self) -> None:
        super().on_mount()
        self._compare()

    def paint(self, view: RunView) -> None:
        begun = f"{self.shown} by {self.by}" if self.by else f"{self.other} with {self.shown}"
        title = begun if self.report is None else self.report.title
        self.crumb.show((sanitize(view.fabric.name), "compare", sanitize(title)))
        self.annotate()

    def _tell_chosen(self) -> str:
        """The whole name of the row under the cursor with its interval and why, and what is not among the rows."""
        row = self.table.chosen
        said = () if row is None else (row.words("what"), row.words("interval").strip("–"), row.words("why"))
        named = "  ".join(filter(None, said))
        return "   ".join(filter(None, (named, self.table.area.note if self.table.area is not None else "")))

    def _compare(self) -> None:
        if not self._is_comparing:
            self._is_comparing = True
            self.run_worker(self._read(), exit_on_error=False, group="comparison")

    async def _read(self) -> None:
        """Compare beside the screen; both sessions are read whole, which takes seconds where they are large."""
        try:
            if self.by:
                compare = partial(self.archive.compare_parts, self.shown, self.by)
            else:
                compare = partial(self.archive.compare, self.other, self.shown)
            self.report = await asyncio.to_thread(compare, swapped=self._is_swapped)
        except (StoreError, ComparisonError) as error:
            self.table.absent = f"{str(error)[:1].upper()}{str(error)[1:]}."
            self.table.redraw()
        except Exception as error:  # a worker's edge: a file that is not read any more, a plugin that is gone
            self.table.absent = f"They cannot be compared: {type(error).__name__}: {sanitize(str(error))}"
            self.table.redraw()
        else:
            self._show()
        finally:
            self._is_comparing = False

    def _show(self) -> None:
        if self.report is None:
            return
        area = list_compared(self.report, has_bars=True)
        if self.is_folded:
            kept = tuple(row for row in area.rows if row.record["outcome"] not in QUIET)
            hidden = len(area.rows) - len(kept)
            note = name_keys(f"{hidden:,} that do not differ are folded, z shows them", "fold")
            area = replace(area, rows=kept, note=note)
            self.table.absent = "Nothing differs beyond noise."
        self.show_area(area)
        lead, _, counts = format_outcome(self.report, names_differences=False).partition(":")
        outcome = self.report.outcome
        is_quiet = outcome in QUIET and bool(tell_beside(self.report))
        self.headline.show(
            State.MEASURED if is_quiet else SIGNS_OF[outcome], f"{lead[:1].upper()}{lead[1:]}:", f"{counts}."
        )
        self.strip.show(list_session_cells(self.report), list_differences(self.report), describe_alike(self.report))
        self.strip.styles.height = self.strip.ROWS if self.report.sessions else 0
        if self.run_view is not None:
            self.paint(self.run_view)

    def action_values(self) -> None:
        """The metric of the row as a map of changes."""
        row, report = self.table.chosen, self.report
        metric = None if row is None or report is None else find_metric(report, row)
        if metric is None or report is None or not has_map(metric):
            self.say(COMPARING if report is None else NO_MAP)
        else:
            self.post_message(OpenPage(ChangeMapScreen(metric, report, tab=self.tab)))

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        """The nodes, pairs or sets of a metric; the node whose fact is another one now."""
        row, report = self.table.chosen, self.report
        if row is None or report is None:
            return
        metric = find_metric(report, row) if row.record["kind"] == "metric" else None
        if metric is not None:
            self.post_message(OpenPage(SubjectsScreen(metric, report, tab=self.tab)))
        elif self._find_node() is not None:
            self.post_message(OpenNode(NodeId(str(row.record["nodes"]))))
        else:
            self.action_in_full()

    def _find_node(self) -> str | None:
        """The node that the fact under the cursor is of, where it is of one."""
        row = self.table.chosen
        is_of_one = row is not None and row.record.get("kind") == "fact" and row.record.get("number") == 1
        return str(row.record["nodes"]) if row is not None and is_of_one else None

    def action_in_fabric(self) -> None:
        node = self._find_node()
        if node is None:
            self.say("This row is of no single node; enter shows the nodes of a metric.")
        else:
            self.post_message(ShowInFabric(node))

    def action_swap(self) -> None:
        """A as B and B as A."""
        self._is_swapped = not self._is_swapped
        self._compare()

    def action_fold(self) -> None:
        """Fold what does not differ, or show it again."""
        self.is_folded = not self.is_folded
        self._show()

    def action_in_full(self) -> None:
        """Every column of the row, all labels of a metric, and what its numbers rest on."""
        row, area = self.table.chosen, self.table.area
        if row is None or area is None:
            return
        said = [(each.heading, [row.words(name)]) for name, each in area.columns.items() if name != "bar"]
        labels = row.record.get("labels")
        if isinstance(labels, dict) and labels:
            said.append(("labels", [sanitize(" ".join(f"{name}={value}" for name, value in labels.items()))]))
        about = [("about", [ABOUT])] if row.record["kind"] == "metric" else []
        self.post_message(ReadInFull(self.name_chosen(), [*said, *about]))


def _wish_plot(page: ComparisonScreen) -> PlotWish:
    """Both sessions in one picture, of the metric under the cursor where its numbers were compared."""
    report, row = page.report, page.table.chosen
    if report is None:
        return PlotWish(refused=COMPARING)
    metric = None if row is None else find_metric(report, row)
    key = None if metric is None else metric.like.key
    return PlotWish(report=report) if key is None else PlotWish(key.metric, key.stage, report=report)


class SubjectsScreen(AreaPage):
    """One metric of a comparison node by node, pair by pair or set by set; enter opens what its test printed."""

    filter_area = "subjects"
    VALID = (*_ACTIONS, "values")
    KEYS = (
        ("enter", "raw output"), ("values", "map"), ("next_fault", "next worse"), "filter", "sort",
        ("column_left", "and > column"), "in_fabric", "copy", ("back", "back"), "command", "help",
    )  # fmt: skip

    def __init__(self, metric: ComparedMetric, report: ComparisonReport, *, tab: str) -> None:
        name = sanitize(metric.like.key.metric)
        super().__init__(named_by="of", tab=tab, subject=f"subjects {name} {metric.labels} {report.title}")
        self.metric = metric
        self.metric_name = name_among(metric, report.metrics)
        self.report = report
        key = metric.like.key
        self.wish_plot = partial(PlotWish, key.metric, key.stage, report=report)

    def on_mount(self) -> None:
        super().on_mount()
        self.show_area(list_subjects(self.metric))

    def paint(self, view: RunView) -> None:
        stage = self.metric.like.key.stage
        self.crumb.show(("compare", sanitize(self.report.title), sanitize(stage), self.metric_name))
        self.annotate()

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        row = self.table.chosen
        tests = [] if row is None else find_shown_tests(row, self.report.keys, self.run_view)
        if tests:
            self.post_message(OpenPage(RawScreen(tests[0], tab=self.tab)))
        else:
            self.say(explain_no_output(self.report, self.run_view))

    def action_in_fabric(self) -> None:
        row = self.table.chosen
        if row is not None:
            self.post_message(ShowInFabric(str(row.record["of"]).partition(">")[0]))

    def action_values(self) -> None:
        """As a map of changes."""
        if has_map(self.metric):
            self.post_message(OpenPage(ChangeMapScreen(self.metric, self.report, tab=self.tab)))
        else:
            self.say(NO_MAP)
