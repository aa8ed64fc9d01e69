"""The sweeps as curves: every chart in a list, the chosen one drawn, its points as numbers with what they lack."""

from collections.abc import Mapping, Sequence
from functools import partial

from textual import on
from textual.containers import Container

from benchconsole.console.curves.curve_model import Chart
from benchconsole.console.curves.curve_text import format_chart, format_chart_name, format_sentences, format_value
from benchconsole.console.curves.sweep_series import ChartCache
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.messages import Copy, Remarked
from benchconsole.console.tui.rows.text_rows import REMARKED
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.console.tui.screens.base.filtered_page import FilteredPage
from benchconsole.console.tui.screens.base.page import Page
from benchconsole.console.tui.widgets.curve import CurvePlot, CurveText, TurnedAxes
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.sweep_lists import ChartList, PointTable
from benchconsole.console.view.remark_words import group_remarks, name_point
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.remark import About, RemarkSubject

BESIDE = 110
"""Columns from which the numbers stand beside the picture."""

TALL = 30
"""Rows from which there is room for blank ones."""

_PICTURE, _LEAST = 9, 6


class SweepsScreen(FilteredPage):
    """``/`` filters the curves, ``tab`` goes between them and the points of one. Points appear as rounds are judged.

    ``turned`` are the axes that are not as the rule has them: what a chart shows, and whether its axis or its values.
    """

    VALID = (
        *MOVES, "filter", "copy", "copy_all", "pane", "pane_back", "left", "right", "remark", "log_axis", "log_values",
    )  # fmt: skip
    KEYS = (
        ("back", "back"), ("pane", "points"), "filter", "log_axis", "log_values", "remark", "copy", "copy_all",
        "command", "help",
    )  # fmt: skip
    VERTICAL_BREAKPOINTS = [*Page.VERTICAL_BREAKPOINTS, (TALL, "-tall")]  # noqa: RUF012 Textual's own declaration
    filter_area = "curves"
    NOUN = "curve"
    SILENT = "tab goes to the points: a remark is about one of them."
    HINT = "text, !text, metric~word, joined by &"
    DEFAULT_CSS = """
    SweepsScreen LineInput { margin-top: 0; margin-bottom: 0; }
    SweepsScreen .body { height: 1fr; width: 1fr; }
    SweepsScreen.-tall ChartList { margin-bottom: 1; }
    SweepsScreen.-tall CurveText { margin-bottom: 1; }
    SweepsScreen.-tall LineInput { margin-top: 1; margin-bottom: 1; }
    """

    def __init__(self, sweeps: ChartCache | None = None, *, tab: str = "Run") -> None:
        self.charts = ChartList()
        super().__init__(self.charts, tab=tab)
        self.sweeps = sweeps or ChartCache()
        self.told = CurveText()
        self.plot = CurvePlot()
        self.points = PointTable()
        self.body = Container(self.plot, self.points, classes="body")
        self._drawn: tuple[object, ...] = ()
        self.turned: set[tuple[object, bool]] = set()
        self.find_remarked = partial(_find_remarked, self.points)
        self.parts = (self.prompt, self.charts, self.told, self.body)

    def paint(self, view: RunView) -> None:
        """Take what is new of the sweeps; nothing where nothing of them is."""
        found = self.sweeps.compute(view)
        if found is not self._drawn:
            self._drawn = found
            self.charts.show(found)
        self.crumb.show((sanitize(view.fabric.name), sanitize(view.label or "run"), "sweeps"))
        self.annotate()

    @on(Listing.Moved)
    def _show_chosen(self) -> None:
        """The chart under the cursor, and the point of it."""
        chart = self.charts.chosen.chart if self.charts.chosen is not None else None
        if chart is not self.points.chart:
            self.points.show(chart)
        remarks = {} if chart is None or self.run_view is None else _find_remarks(self.run_view, chart)
        self.points.remarked = remarks
        self.points.redraw()
        row = self.points.chosen
        question = None if chart is None else chart.question
        turned = TurnedAxes(across=(question, False) in self.turned, up=(question, True) in self.turned)
        self.plot.show(chart, row.value if row is not None and self.points.has_focus else "", turned)
        said = [] if chart is None else [(words, TEXT) for words in format_sentences(chart)]
        if row is not None and row.lacks and chart is not None:
            lacks = f"{sanitize(chart.axis)}={sanitize(row.value)}: {row.lacks}", MUTED
            said.insert(0 if self.points.has_focus else len(said), lacks)  # first where the cursor asks for it
        if row is not None and chart is not None:
            at = f"{REMARKED} {sanitize(chart.axis)}={sanitize(row.value)}"
            said[:0] = [(f"{at}: {text}", TEXT) for text in remarks.get(row.value, ())]  # first: there may be two rows
        if chart is not None and chart.metric:
            said.append((format_value(chart), MUTED))
        self.told.show(said)
        _share_size(self)

    def annotate(self) -> None:
        """Say how many curves are shown; the chosen one may be another."""
        super().annotate()
        self._show_chosen()

    def action_back(self) -> None:
        """Out of the points first."""
        if self.points.has_focus:
            self.action_pane()
        else:
            super().action_back()

    @on(Listing.Chosen)
    def _chosen(self, event: Listing.Chosen) -> None:
        if event.listing is self.charts:
            self.action_pane()

    def action_pane(self, _step: int = 1) -> None:
        """Between the curves and the points of one."""
        (self.charts if self.points.has_focus else self.points).focus()
        self.call_after_refresh(self._show_chosen)

    def action_shift(self, step: int) -> None:
        """To the next curve, or the one before."""
        self.charts.move(step)

    def action_log_axis(self) -> None:
        """The axis of the sweep logarithmic instead of linear or the other way round; again as the rule has it."""
        _turn_axis(self, up=False)

    def action_log_values(self) -> None:
        """The same of the values."""
        _turn_axis(self, up=True)

    def action_copy(self) -> None:
        chart, row = self.points.chart, self.points.chosen
        if chart is not None and row is not None:
            lines = format_chart(chart).splitlines()
            self.post_message(Copy(f"{lines[0]}\n{lines[1 + self.points.cursor]}\n", f"{chart.axis}={row.value}"))

    def action_copy_all(self) -> None:
        chart = self.charts.chosen.chart if self.charts.chosen is not None else None
        if chart is not None:
            self.post_message(Copy(format_chart(chart), format_chart_name(chart)))


def _share_size(page: SweepsScreen) -> None:
    """The numbers beside the picture where it is wide, else below it; the picture gets what is left."""
    width, height = page.size
    is_wide, is_tall = width >= BESIDE, height >= TALL
    lists = max(min(page.charts.count + 1, (8 if height < 50 else 14) if is_tall else 4), 2)
    told = min(page.told.wanted(width), 4 if is_tall or page.points.has_focus else 2)
    page.charts.styles.height = lists
    page.told.styles.height = told
    page.body.styles.layout = "horizontal" if is_wide else "vertical"
    room = height - lists - told - (8 if is_tall else 4)
    numbers = min(page.points.count + 1, max(room - _PICTURE, 4))
    numbers = numbers if room - numbers >= _LEAST else room
    page.points.styles.height = "1fr" if is_wide else numbers
    page.points.styles.width = min(page.points.wanted, width * 3 // 5) if is_wide else "1fr"
    page.plot.styles.height = "1fr"


def _turn_axis(page: SweepsScreen, *, up: bool) -> None:
    """Turn the axis of the chart under the cursor, or its values where it is the one that goes ``up``."""
    row = page.charts.chosen
    if row is None:
        return
    is_log = row.chart.is_value_log if up else row.chart.is_axis_log
    if is_log() == is_log(turned=True):
        needed = "values that are all above 0" if up else "two points or more, all of them numbers above 0"
        page.say(f"A logarithmic axis takes {needed}.")
        return
    turned = row.chart.question, up
    page.turned ^= {turned}
    page.annotate()
    again = "" if turned in page.turned else " again"
    name = "axis of the values" if up else "axis"
    page.say(f"The {name} is {'logarithmic' if is_log(turned=turned in page.turned) else 'linear'}{again}.")


def _find_remarked(points: PointTable) -> Remarked | None:
    """The point under the cursor, where the points have the keys."""
    chart, row = points.chart, points.chosen
    if chart is None or row is None or not points.has_focus:
        return None
    name = name_point(chart.stage, chart.find_point(row.value))
    return Remarked(RemarkSubject(About.POINT, name), f"the point {sanitize(name)}")


def _find_remarks(view: RunView, chart: Chart) -> Mapping[str, Sequence[str]]:
    """The remarks on the points of a chart, by their values."""
    every = group_remarks(view.remarks, (About.POINT,))
    names = {value: name_point(chart.stage, chart.find_point(value)) for value in chart.values} if every else {}
    return {value: every[name] for value, name in names.items() if name in every}
