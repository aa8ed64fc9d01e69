"""What was swept, as curves: every chart in a list, the chosen one drawn, its points as numbers with what they lack."""

from collections.abc import Mapping, Sequence

from textual import on
from textual.containers import Container
from textual.widget import Widget

from console.curve_words import as_text, chart_name, sentences, value_words
from console.sweeps import Sweeps
from console.tui.actions import MOVES
from console.tui.drawing import KEY, MUTED, TEXT, Piece, Row
from console.tui.filtering import Filter
from console.tui.messages import Copy
from console.tui.scales import Scale
from console.tui.screens.filtered import FilteredScreen
from console.tui.screens.frame import Frame
from console.tui.widgets.curve import CurvePlot, CurveSaid
from console.tui.widgets.listing import Listing
from console.tui.widgets.sweep_lists import COLUMNS, ChartList, PointTable
from console.view import RunView
from console.wording import count, plain

BESIDE = 110
"""Columns from which the numbers stand beside the picture."""

TALL = 30
"""Rows from which there is room for blank ones."""

_PICTURE, _LEAST = 9, 6


class SweepsScreen(FilteredScreen):
    """``/`` filters the curves, ``tab`` goes between them and the points of one. Points appear as rounds are judged."""

    VALID = (*MOVES, "filter", "copy", "copy_all", "pane", "pane_back", "left", "right")
    KEYS = (("back", "back"), ("pane", "points"), "filter", "copy", "copy_all", "command", "help")
    VERTICAL_BREAKPOINTS = [*Frame.VERTICAL_BREAKPOINTS, (TALL, "-tall")]  # noqa: RUF012 Textual's own declaration
    DEFAULT_CSS = """
    SweepsScreen .body { height: 1fr; width: 1fr; }
    SweepsScreen.-tall ChartList { margin-bottom: 1; }
    SweepsScreen.-tall CurveSaid { margin-bottom: 1; }
    SweepsScreen.-tall Prompt { margin-top: 1; margin-bottom: 1; }
    """

    def __init__(self, sweeps: Sweeps | None = None, *, tab: str = "Run") -> None:
        self.TAB = tab  # type: ignore[misc]  # the tab is where one came from
        super().__init__()
        self.sweeps = sweeps or Sweeps()
        self.charts = ChartList()
        self.told = CurveSaid()
        self.plot = CurvePlot()
        self.points = PointTable()
        self.body = Container(self.plot, self.points, classes="body")
        self._drawn: tuple[object, ...] = ()

    def parts(self) -> Sequence[Widget]:
        """Filter row, charts, what is said of the chosen one, its picture and its points."""
        return (self.prompt, self.charts, self.told, self.body)

    def paint(self, view: RunView) -> None:
        """Take what is new of the sweeps; nothing where nothing of them is."""
        found = self.sweeps.of(view)
        if found is not self._drawn:
            self._drawn = found
            self.charts.show(found)
        self.crumb.show((plain(view.fabric.name), plain(view.label or "run"), "sweeps"))
        self._show_chosen()
        self.annotate()

    def _show_chosen(self) -> None:
        """The chart under the cursor, and the point of it."""
        chart = self.charts.chosen
        if chart is not self.points.chart:
            self.points.show(chart)
        row = self.points.chosen
        self.plot.show(chart, row.value if row is not None and self.points.has_focus else "")
        said = [] if chart is None else [(words, TEXT) for words in sentences(chart)]
        if row is not None and row.lacks and chart is not None:
            said.append((f"{plain(chart.axis)}={row.value}: {row.lacks}", MUTED))
        if chart is not None and chart.metric:
            said.append((value_words(chart), MUTED))
        self.told.show(said)
        self._share()

    def _share(self) -> None:
        """The numbers beside the picture where it is wide, else below it; the picture gets what is left."""
        width, height = self.size
        is_wide, is_tall = width >= BESIDE, height >= TALL
        lists = max(min(self.charts.count + 1, (8 if height < 50 else 14) if is_tall else 4), 2)
        told = min(self.told.wanted(width), 4 if is_tall else 2)
        self.charts.styles.height = lists
        self.told.styles.height = told
        self.body.styles.layout = "horizontal" if is_wide else "vertical"
        room = height - lists - told - (8 if is_tall else 4)
        numbers = min(self.points.count + 1, max(room - _PICTURE, 4))
        numbers = numbers if room - numbers >= _LEAST else room
        self.points.styles.height = "1fr" if is_wide else numbers
        self.points.styles.width = min(self.points.wanted, width * 3 // 5) if is_wide else "1fr"
        self.plot.styles.height = "1fr"

    @property
    def sifted(self) -> ChartList:
        """The curves."""
        return self.charts

    @property
    def filter_columns(self) -> Mapping[str, Scale | None]:
        """Words all of them."""
        return COLUMNS

    def sift(self, chosen: Filter) -> None:
        """Show the curves that ``chosen`` keeps."""
        self.charts.filter = chosen
        self.charts.sift()
        self._show_chosen()

    def annotate(self) -> None:
        """How many curves are shown."""
        total, shown = len(self.charts.charts), self.charts.count
        note: Row = (Piece("text, !text, metric~word, joined by &", MUTED),) if self.prompt.has_focus else ()
        if self.charts.filter.text:
            note = (Piece(f"{shown:,} of {total:,} shown   ", MUTED), Piece("esc", KEY), Piece(" clears", MUTED))
        elif not self.prompt.has_focus:
            note = (Piece(count(total, "curve"), MUTED),)
        self.prompt.show(note=note)

    def action_back(self) -> None:
        """Out of the points first."""
        if self.points.has_focus:
            self.action_pane()
        else:
            super().action_back()

    @on(Listing.Moved)
    def _moved(self) -> None:
        self._show_chosen()

    @on(Listing.Chosen)
    def _chosen(self, event: Listing.Chosen) -> None:
        if event.listing is self.charts:
            self.action_pane()

    def action_pane(self) -> None:
        """Between the curves and the points of one."""
        (self.charts if self.points.has_focus else self.points).focus()
        self.call_after_refresh(self._show_chosen)

    def action_pane_back(self) -> None:
        """The same: there are two."""
        self.action_pane()

    def action_left(self) -> None:
        """The curve before."""
        self.charts.move(-1)

    def action_right(self) -> None:
        """The next curve."""
        self.charts.move(1)

    def action_copy(self) -> None:
        """Copy the point."""
        chart, row = self.charts.chosen, self.points.chosen
        if chart is not None and row is not None:
            lines = as_text(chart).splitlines()
            self.post_message(Copy(f"{lines[0]}\n{lines[1 + self.points.cursor]}\n", f"{chart.axis}={row.value}"))

    def action_copy_all(self) -> None:
        """Copy the numbers of the chart."""
        chart = self.charts.chosen
        if chart is not None:
            self.post_message(Copy(as_text(chart), chart_name(chart)))
