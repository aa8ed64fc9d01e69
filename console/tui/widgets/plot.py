"""The parts of the page of plots: the list of metrics, the picture of one, a row for each class of nodes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.console.conclusions.plot_text import format_class, format_deviation, format_number, format_plot_name
from benchconsole.console.conclusions.plotted_metric import ClassNumbers, Plot, list_classes
from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.filtering import Fields
from benchconsole.console.tui.rows.scales import Scale
from benchconsole.console.tui.rows.text_rows import CellLine, Row, sign
from benchconsole.console.tui.rows.themes import ACTIVE, BRIGHT, FAIL, FAINT, LOAD, MUTED, TEXT, Depth
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.listing import FilteredListing, find_again
from benchconsole.console.tui.widgets.plot_drawing import Picture, draw_plot
from benchconsole.console.tui.widgets.plot_frame import PlotLook
from benchconsole.console.view.run_view import State

COLUMNS: Mapping[str, Scale | None] = dict.fromkeys(("stage", "metric", "fails"))
"""The columns that a filter may name."""

MOST_CLASSES = 6
"""Rows of classes; where there are more the last one counts them."""

_STRIP, _LEAST_STRIP = 32, 10


@dataclass(frozen=True, slots=True)
class PlotRow(Fields):
    """One plot as text."""

    plot: Plot
    name: str
    values: str
    median: str
    fails: str

    def words(self, column: str) -> str:
        return {"stage": sanitize(self.plot.first.key.stage), "metric": self.name, "fails": self.fails}[column]

    @property
    def everything(self) -> str:
        """All its text, lower case."""
        return "\n".join((*map(self.words, COLUMNS), self.values, self.median)).lower()


def make_plot_row(plot: Plot) -> PlotRow:
    """The row of one plot in the list."""
    medians = [format_number(side, side.find_quantile(0.5)) for side in plot.sides]
    numbers = [f"{len(side.values):,}" for side in plot.sides]
    metric = plot.first
    fails = f"{len(metric.failing):,} of {metric.judged:,}" if len(plot.sides) == 1 and metric.judged else ""
    return PlotRow(plot, format_plot_name(metric), ", ".join(numbers), ", ".join(medians), fails)


class PlotList(FilteredListing[PlotRow]):
    """Plots that pass the filter; ``absent`` is said where there are none at all."""

    filter_columns = COLUMNS

    def __init__(self) -> None:
        super().__init__()
        self.absent = ""

    def show(self, plots: Sequence[Plot]) -> None:
        """Other plots; the cursor stays on its own."""
        here = self.chosen
        self.every = [make_plot_row(plot) for plot in plots]
        self.apply_filter()
        self.cursor = find_again(here, self.items, lambda row: row.plot.question, self.cursor)
        self.redraw()

    def empty(self, width: int) -> list[Row]:
        why = "No metric passes the filter." if self.every else self.absent
        return [CellLine(width).to(1).put(clip_text(why, width - 2), MUTED).row()]

    def heading(self, width: int) -> list[Row]:
        if not self.items:
            return []
        name, number, median, fails = self._places(width)
        line = CellLine(width).to(1).put("stage", MUTED).to(name).put("metric", ACTIVE)
        line.to(number).put("values", MUTED, median - number - 2, ">").to(median).put("median", MUTED)
        return [line.to(fails).put("fail", MUTED).row()]

    def row(self, index: int, width: int) -> Row:
        each = self.items[index]
        name, number, median, fails = self._places(width)
        line = CellLine(width).to(1).put(clip_text(sanitize(each.plot.first.key.stage), name - 3), MUTED)
        line.to(name).put(clip_text(each.name, number - name - 2), BRIGHT)
        line.to(number).put(each.values, TEXT, median - number - 2, ">").to(median).put(each.median, TEXT)
        has_failed = bool(each.fails) and not each.fails.startswith("0 ")
        line.to(fails)
        if has_failed:
            line.extend((sign(State.FAIL),)).put(" ")
        return line.put(each.fails, FAIL if has_failed else MUTED).row()

    def _places(self, width: int) -> tuple[int, int, int, int]:
        """Where metric, values, median and fails begin; names are cut to what is left."""
        stage = min(_longest(sanitize(row.plot.first.key.stage) for row in self.items), max(width // 5, 10))
        numbers = max(_longest(row.values for row in self.items), 6)
        medians = max(_longest(row.median for row in self.items), 6)
        fails = max(_longest(row.fails for row in self.items) + 2, 4)
        room = max(width - stage - numbers - medians - fails - 10, 8)
        name = min(max(_longest(row.name for row in self.items), 6), room)
        at = stage + 3
        return at, at + name + 2, at + name + numbers + 4, at + name + numbers + medians + 6


def _longest(texts: Iterable[str]) -> int:
    return max(map(measure_width, texts), default=0)


class PlotPicture(CellWidget):
    """One plot, drawn one way; ``number`` is the value under the cursor."""

    def __init__(self) -> None:
        super().__init__()
        self.plot: Plot | None = None
        self.picture = Picture.DISTRIBUTION
        self.number: int | None = None
        self.is_turned = False

    def show(self, plot: Plot | None, picture: Picture, number: int | None, *, is_turned: bool) -> None:
        """Draw ``plot``; with ``is_turned`` linear where the rule has its axis logarithmic, and the other way round."""
        self.is_turned = is_turned
        self.plot, self.picture, self.number = plot, picture, number
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        if self.plot is None:
            return []
        is_fine = not self.painter.ascii and self.painter.palette.depth is not Depth.SIXTEEN
        look = PlotLook(width, height, self.painter.ascii, is_fine, self.is_turned)
        return draw_plot(self.plot, self.picture, self.number, look)


class ClassStrips(CellWidget):
    """A row for each class of nodes: how many values, their median and spread, and where they stand among all."""

    plot: Plot | None = None
    parts: Sequence[ClassNumbers] = ()
    is_log = False

    def show(self, plot: Plot | None, *, is_turned: bool) -> None:
        """Take a plot; strips are logarithmic where the axis of its picture is."""
        is_log = plot is not None and plot.is_log(turned=is_turned)
        if plot is not self.plot:
            self.plot, self.parts = plot, [] if plot is None else list_classes(plot)
        elif is_log == self.is_log:
            return
        self.is_log = is_log
        self.redraw()

    @property
    def wanted(self) -> int:
        """How many rows it takes; none where all nodes are of one class."""
        return min(len(self.parts), MOST_CLASSES)

    def draw(self, width: int, height: int) -> list[Row]:
        if self.plot is None or not self.parts:
            return []
        metric = self.plot.first
        gutter = min(max(measure_width(format_class(each.name)) for each in self.parts), 24)
        shown = self.parts if len(self.parts) <= height else self.parts[: height - 1]
        rows = []
        for each in shown:
            line = (
                CellLine(width).to(1).put(format_class(each.name), TEXT, gutter).put(f"{each.number:,}", TEXT, 9, ">")
            )
            line.put("  median ", MUTED).put(format_number(metric, each.median), BRIGHT, 12)
            line.put(format_deviation(each), MUTED, 14)
            size = min(line.room - 1, _STRIP)
            ends = metric.in_order[0], metric.in_order[-1]
            strip = _draw_strip(each, ends, size, is_log=self.is_log) if size >= _LEAST_STRIP else ()
            rows.append(line.extend(strip).row())
        if len(shown) < len(self.parts):
            rows.append(CellLine(width).to(1).put(f"{len(self.parts) - len(shown):,} more classes", MUTED).row())
        return rows


def _draw_strip(each: ClassNumbers, ends: tuple[float, float], size: int, *, is_log: bool) -> Row:
    """Where a class stands between the ends of all: the lowest to the highest, the middle half, the median."""
    low, high, *quartiles = [math.log(end) if is_log else end for end in (*ends, *each.quartiles)]
    span = high - low
    places = [min(int((end - low) / span * size), size - 1) if span > 0 else 0 for end in quartiles]
    line = CellLine(size)
    for column in range(size):
        if column == places[2]:
            line.put("│", BRIGHT)
        elif places[1] <= column <= places[3]:
            line.put("━", LOAD)
        else:
            line.put("─" if places[0] <= column <= places[4] else " ", FAINT)
    return line.row()
