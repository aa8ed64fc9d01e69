"""One compared metric as a map of changes: senders by receivers, or nodes by switch; a cell opens what is behind it."""

from textual import on

from benchconsole.console.conclusions.metric_names import name_among
from benchconsole.console.conclusions.session_comparison import ComparedMetric
from benchconsole.console.reports.comparison_page import ComparisonReport
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.change_matrix import ChangeCell, make_change_matrix, tell_counts
from benchconsole.console.tui.queries.comparison_area import find_shown_tests
from benchconsole.console.tui.queries.matrix import Place
from benchconsole.console.tui.queries.node_columns import under_of
from benchconsole.console.tui.screens.base.matrix_page import MatrixPage
from benchconsole.console.tui.screens.base.page import OpenPage
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.change_map import ChangeLegend, ChangeMap
from benchconsole.console.view.run_view import RunView

NO_MAP = "Metrics of nodes or of pairs that were compared have a map; this row has none."


def explain_no_output(report: ComparisonReport, view: RunView | None) -> str:
    """Why there is no output to open: the session on the screen is none of both, or did not measure it."""
    if view is None or view.session not in report.keys:
        return "Neither session is on the screen; enter in Sessions opens one."
    return "The session on the screen did not measure it; the other one did."


class ChangeMapScreen(MatrixPage):
    """``within`` are the switches whose pairs are shown; None for all, by switch where nodes are many."""

    KEYS = (
        ("enter", "open"), ("next_fault", "next worse"), ("values", "as a list"), ("back", "back"), "command", "help",
    )  # fmt: skip

    def __init__(
        self, metric: ComparedMetric, report: ComparisonReport, *, tab: str, within: Place | None = None
    ) -> None:
        self.map = ChangeMap()
        self.legend = ChangeLegend()
        self.legend.show(has_sense=metric.sense is not None)
        name = sanitize(metric.like.key.metric)
        super().__init__(
            self.map, "Nothing is worse, or in one session alone.", tab=tab,
            subject=f"change map {name} {metric.labels} {report.title} {within}",
        )  # fmt: skip
        self.metric = metric
        self.report = report
        self.within = within
        self.metric_name = name_among(metric, report.metrics)
        self.parts = (self.map, self.legend, self.status)

    def paint(self, view: RunView) -> None:
        key = self.metric.like.key
        behind = () if self.within is None else (" to ".join(map(sanitize, self.within)),)
        path = ("compare", sanitize(self.report.title), sanitize(key.stage), self.metric_name, "map", *behind)
        self.crumb.show(path)
        if self.map.matrix is None:  # both sessions are read, and do not change
            under = {} if self.report.fabric is None else under_of(self.report.fabric)
            self.map.show(make_change_matrix(self.metric, under, self.within))
        self._tell()

    @on(ChangeMap.Moved)
    def _tell(self) -> None:
        """Tell the content of the cell under the cursor."""
        matrix, place = self.map.matrix, self.map.place
        if matrix is None or place is None:
            return
        cell = matrix.cells.get(place)
        if cell is None:
            self.status.show(f"{' '.join(map(sanitize, place))}: nothing was measured", "")
            return
        of, row = cell.row.words("of"), cell.row
        change = "" if cell.change is None else f", {row.words('change')}"
        worst = f"{of}: A {row.words('a')}, B {row.words('b')}{change}"
        if sum(cell.counts.values()) == 1:
            self.status.show(f"{worst}: {cell.turn}", "")
        else:
            self.status.show(f"{' to '.join(map(sanitize, place))}: {tell_counts(cell.counts)}; {worst}", "by switch")

    def action_enter(self) -> None:
        """The pairs under two switches, or what the test of the session on the screen printed."""
        matrix, place = self.map.matrix, self.map.place
        cell = None if matrix is None or place is None else matrix.cells.get(place)
        if matrix is None or place is None or cell is None:
            self.say("Nothing was measured there.")
        elif matrix.is_grouped:
            self.post_message(OpenPage(ChangeMapScreen(self.metric, self.report, tab=self.tab, within=place)))
        else:
            self._open_output(cell)

    def _open_output(self, cell: ChangeCell) -> None:
        tests = find_shown_tests(cell.row, self.report.keys, self.run_view)
        if tests:
            self.post_message(OpenPage(RawScreen(tests[0], tab=self.tab)))
        else:
            self.say(explain_no_output(self.report, self.run_view))
