"""Every metric in a list, the chosen one drawn: its distribution, its shares, its values over time, or two sessions."""

import asyncio
from collections.abc import Sequence

from textual import on

from benchconsole.console.conclusions.plot_text import (
    format_few,
    format_number,
    format_sentences,
    format_value,
    format_verdict,
)
from benchconsole.console.conclusions.plotted_metric import FEWEST, Plot, list_plots, pair_plots
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.actions import MOVES
from benchconsole.console.tui.messages import Copy
from benchconsole.console.tui.queries.raw_output import find_measurement
from benchconsole.console.tui.rows.themes import TEXT
from benchconsole.console.tui.screens.base.filtered_page import FilteredPage
from benchconsole.console.tui.screens.base.page import OpenPage, PlotWish
from benchconsole.console.tui.screens.change_map import explain_no_output
from benchconsole.console.tui.screens.raw import RawScreen
from benchconsole.console.tui.widgets.curve import CurveText
from benchconsole.console.tui.widgets.listing import Listing
from benchconsole.console.tui.widgets.plot import ClassStrips, PlotList, PlotPicture
from benchconsole.console.tui.widgets.plot_drawing import Picture
from benchconsole.console.tui.widgets.status import Status
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.same_objects import are_same
from benchconsole.console.view.wording import tell_reading
from benchconsole.probes.statistics.log_scale import is_positive
from benchconsole.topology.units import counted

STEPS = 400
"""Presses of an arrow that lead through all values of a metric; of fewer values each is a step."""

TALL = 30
"""Rows from which there is room for more of the list and of the sentences."""
_HIGH = 50
"""Rows of a screen from which on more metrics are in sight."""


class PlotScreen(FilteredPage):
    """``v`` draws it another way, ``x`` turns its axis, arrows go along the values, enter opens the output of one.

    ``turned`` are the plots whose axis is not as the rule has it, by what they show.
    """

    VALID = (
        *MOVES, "left", "right", "filter", "values", "log_axis", "next_fault", "previous_fault", "copy", "copy_all",
    )  # fmt: skip
    KEYS = (
        ("enter", "raw output"), ("values", "next picture"), ("left", "and → value"), ("next_fault", "next fail"),
        "filter", "log_axis", "copy", ("back", "back"), "command", "help",
    )  # fmt: skip
    filter_area = "plot"
    NOUN = "metric"
    HINT = "text, !text, metric~word, joined by &"
    DEFAULT_CSS = """
    PlotScreen LineInput { margin-top: 0; margin-bottom: 0; }
    PlotScreen CurveText { height: 2; }
    PlotScreen ClassStrips { height: 0; }
    """

    def __init__(self, wish: PlotWish, *, tab: str = "Run") -> None:
        self.plots = PlotList()
        super().__init__(self.plots, tab=tab, subject=f"plot {wish.metric} {wish.stage} {wish.test}")
        self.wish: PlotWish | None = wish
        self.report = wish.report
        self.plots.absent = "The values are being put together."
        self.told = CurveText()
        self.picture = PlotPicture()
        self.strips = ClassStrips()
        self.status = Status()
        self.parts = (self.prompt, self.plots, self.told, self.picture, self.strips, self.status)
        self.every: Sequence[Plot] = ()
        self._number: int | None = None
        self._drawn: Plot | None = None
        self._known: tuple[object, ...] = ()
        self._is_making = False
        self.turned: set[tuple[object, ...]] = set()
        if self.report is not None:
            self.picture.picture = Picture.ECDF

    # -- what is drawn

    def paint(self, view: RunView) -> None:
        """Take what is new; plots are made anew when a round was judged, not with every result."""
        reading = "".join(tell_reading(view.reading)) if view.reading is not None else ""
        names = "" if self.report is None else sanitize(self.report.title)
        self.crumb.show(
            tuple(filter(None, (sanitize(view.fabric.name), sanitize(view.label or "run"), names, "plot", reading)))
        )
        known: tuple[object, ...] = (view.fabric, view.closed, view.verdicts, view.findings, view.plan)
        if self.report is not None:
            known = (self.report,)
        is_new = not are_same(known, self._known)
        if view.reading is None and is_new and not self._is_making:
            self._known, self._is_making = known, True
            self.run_worker(self._make(view), exit_on_error=True)
        _share_height(self)

    async def _make(self, view: RunView) -> None:
        """Make the plots beside the screen: those of ten thousand nodes take a second."""
        try:
            plots = await asyncio.to_thread(self._list, view)
        finally:
            self._is_making = False
        self.every = plots
        self.plots.absent = "No metric was measured twice yet: a picture needs two values."
        self.plots.show([each for each in plots if each.can_be_drawn])
        if self.wish is not None and plots:
            wish, self.wish = self.wish, None
            self.plots.go(find_telling([row.plot for row in self.plots.every]))
            self.choose(wish)
        self.filter_by(self.prompt.text)
        if self.run_view is not None:
            self.paint(self.run_view)  # a round may have been judged meanwhile, and no other view may come

    def _list(self, view: RunView) -> Sequence[Plot]:
        if self.report is None:
            return list_plots(view)
        briefs = self.report.briefs
        return tuple(pair_plots(self.report.metrics, (f"A {briefs[0]}", f"B {briefs[1]}")))

    def choose(self, wish: PlotWish) -> None:
        """Put the cursor on a metric, and on the value of a test; say why where it has no picture."""
        if not wish.metric:
            return
        if not self.every:
            self.wish = wish  # until the values are put together
            return
        rows = [row.plot for row in self.plots.every]
        found = find_wished(rows, wish)
        if found is None:
            self.say(tell_no_picture(self.every, wish.metric), wrong=True)
            return
        if self.prompt.text:
            self.prompt.fill("")
            self.filter_by("")
        self._drawn = found
        self._number = found.first.find_test(wish.test) if wish.test else None
        if self._number is None:
            self._number = find_first(found)
        self.plots.go(rows.index(found))
        self._show_chosen()

    def annotate(self) -> None:
        """Say how many metrics are listed, and how many are not."""
        super().annotate()
        self._show_chosen()

    @on(Listing.Moved)
    def _show_chosen(self) -> None:
        """The plot under the cursor, and the value of it."""
        row = self.plots.chosen
        plot = row.plot if row is not None else None
        if plot is not None and plot is not self._drawn:
            is_same = self._drawn is not None and self._drawn.question == plot.question
            self._number = find_again_value(self._drawn, self._number, plot) if is_same else find_first(plot)
        if plot is not self._drawn or not self.told.said:
            self.told.show([] if plot is None else [(words, TEXT) for words in format_sentences(plot)])
        self._drawn = plot
        self._show_value()
        _share_height(self)

    def _show_value(self) -> None:
        """The value under the cursor: where it stands in the picture, and what is known of it."""
        plot = self._drawn
        is_turned = plot is not None and plot.question in self.turned
        self.picture.show(plot, self.picture.picture, self._number, is_turned=is_turned)
        self.strips.show(plot, is_turned=is_turned)
        few = format_few(len(self.every) - len(self.plots.every))
        if plot is None or self._number is None:
            self.status.show("", few)
            return
        side, place = plot.find(self._number)
        name = f"{plot.names[side]}   " if plot.names[side] else ""
        verdict = f"   {format_verdict(plot.sides[side], place)}" if self.report is None else ""
        self.status.show(f"{sanitize(name)}{format_value(plot.sides[side], place)}{verdict}", few)

    # -- keys

    @on(Listing.Chosen)
    def _chosen(self) -> None:
        """The output that the value under the cursor was read from."""
        plot, view = self._drawn, self.run_view
        if plot is None or self._number is None or view is None:
            return
        side, place = plot.find(self._number)
        metric = plot.sides[side]
        test = metric.tests[place].id
        is_shown = self.report is None or self.report.keys[side] == view.session
        if test not in view.results or not is_shown:
            self.say(
                "Its test is not in this session." if self.report is None else explain_no_output(self.report, view)
            )
            return
        found = find_measurement(view, (metric.ids[place],), test) if metric.ids[place] else None
        self.post_message(OpenPage(RawScreen(test, found[1] if found is not None else None, tab=self.tab)))

    def action_values(self) -> None:
        """Draw it the next way."""
        if self.report is not None:
            self.say("Two sessions are drawn as their shares alone.")
            return
        ways = list(Picture)
        self.picture.picture = ways[(ways.index(self.picture.picture) + 1) % len(ways)]
        self._show_value()

    def action_log_axis(self) -> None:
        """The axis of the values logarithmic instead of linear or the other way round; again as the rule has it."""
        plot = self._drawn
        if plot is None:
            return
        if not is_positive(plot.ends[0]):
            self.say("No logarithmic axis: a value is 0 or below.")
            return
        self.turned ^= {plot.question}
        self._show_value()
        is_log = plot.is_log(turned=plot.question in self.turned)
        again = "" if plot.question in self.turned else " again"
        self.say(f"The axis is {'logarithmic' if is_log else 'linear'}{again}.")

    def action_shift(self, step: int) -> None:
        """To the next value in the order of the picture; where they are many, over some."""
        places = list_walked(self._drawn, self.picture.picture)
        if self._drawn is None or not places:
            return
        far = max(len(places) // STEPS, 1)
        here = places.index(self._number) if self._number in places else 0
        self._number = places[min(max(here + step * far, 0), len(places) - 1)]
        self._show_value()

    def action_walk(self, step: int) -> None:
        """To the next value that fails, or the one before."""
        plot = self._drawn
        failing = set(plot.first.failing.tolist()) if plot is not None and self.report is None else set()
        places = list_walked(plot, self.picture.picture)
        bad = [index for index, place in enumerate(places) if place in failing]
        if not bad:
            is_judged = plot is not None and self.report is None and plot.first.judged
            self.say("No value of it fails." if is_judged else "No value of it was judged by itself.")
            return
        here = places.index(self._number) if self._number in places else -1
        ahead = [index for index in bad if (index > here if step > 0 else index < here)] or bad
        self._number = places[ahead[0] if step > 0 else ahead[-1]]
        self._show_value()

    def action_copy(self) -> None:
        if self._drawn is not None and self._number is not None:
            side, place = self._drawn.find(self._number)
            metric = self._drawn.sides[side]
            words = f"{self.status.left}\n"
            self.post_message(Copy(words, f"the value of {sanitize(metric.tests[place].target.key)}"))

    def action_copy_all(self) -> None:
        """Every value of the plot, the lowest first."""
        if self._drawn is not None:
            words = "".join(list_copied(self._drawn))
            self.post_message(Copy(words, f"{len(self._drawn.order):,} values"))


def _share_height(page: PlotScreen) -> None:
    """The picture gets what list, sentences and classes leave."""
    width, height = page.size
    is_tall = height >= TALL
    most = 4 if not is_tall else 9 if height < _HIGH else 15
    page.plots.styles.height = max(min(page.plots.count + 1, most), 2)
    page.told.styles.height = min(page.told.wanted(width), 5 if is_tall else 4)
    page.strips.styles.height = min(page.strips.wanted, 8 if is_tall else 2)
    page.picture.styles.height = "1fr"


def find_wished(plots: Sequence[Plot], wish: PlotWish) -> Plot | None:
    """The plot that is meant: of the metric, of its stage and with its test where these are known."""
    alike = [plot for plot in plots if plot.first.key.metric == wish.metric]
    staged = [plot for plot in alike if plot.first.key.stage == wish.stage] or alike
    tested = [plot for plot in staged if wish.test and plot.first.find_test(wish.test) is not None] or staged
    return tested[0] if tested else None


def find_telling(plots: Sequence[Plot]) -> int:
    """The plot that the page begins on: the first with a value that fails, else with one that was judged."""
    places = range(len(plots))
    failing = (place for place in places if len(plots[place].first.failing))
    judged = (place for place in places if plots[place].first.judged)
    return next(failing, next(judged, 0))


def tell_no_picture(plots: Sequence[Plot], metric: str) -> str:
    """Why a metric is not drawn: it has too few values, or none."""
    for plot in plots:
        if plot.first.key.metric == metric and not plot.can_be_drawn:
            return f"{sanitize(metric)} has {tell_few(plot)}; a picture needs {FEWEST}"
    return f"no value of {sanitize(metric)} was measured, or it has no number"


def tell_few(plot: Plot) -> str:
    """The value that alone was measured; of two sessions how many each has."""
    if len(plot.sides) > 1:
        return " and ".join(counted(len(side.values), "value") for side in plot.sides)
    only = plot.first
    return f"one value, {format_number(only, float(only.values[0]))} of {sanitize(only.tests[0].target.key)}"


def find_first(plot: Plot) -> int | None:
    """The value that the cursor begins on: the first that fails, else the lowest."""
    failing = plot.first.failing
    if len(plot.sides) == 1 and len(failing):
        return int(failing[0])
    return int(plot.order[0]) if len(plot.order) else None


def find_again_value(before: Plot | None, number: int | None, now: Plot) -> int | None:
    """The value under the cursor among those of a later view."""
    if before is None or number is None:
        return find_first(now)
    side, place = before.find(number)
    found = now.sides[side].find_test(before.sides[side].tests[place].id)
    return find_first(now) if found is None else now.starts[side] + found


def list_walked(plot: Plot | None, picture: Picture) -> list[int]:
    """The values in the order in which arrows go through them: over time, or the lowest first."""
    if plot is None:
        return []
    order = plot.first.by_time if picture is Picture.SERIES else plot.order
    return [int(place) for place in order]


def list_copied(plot: Plot) -> list[str]:
    """A heading and a line for each value, tab-separated; with its session where there are two, else its verdict."""
    is_alone = len(plot.sides) == 1
    lines = ["of\tmeasured\tverdict\n" if is_alone else "of\tmeasured\tsession\n"]
    for number in plot.order.tolist():
        side, place = plot.find(number)
        metric = plot.sides[side]
        value = format_number(metric, float(metric.values[place]))
        last = format_verdict(metric, place) if is_alone else sanitize(plot.names[side])
        lines.append(f"{sanitize(metric.tests[place].target.key)}\t{value}\t{last}\n")
    return lines
