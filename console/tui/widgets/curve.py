"""The picture of a chart: curves in braille dots, or in characters where the terminal has no more.

A line joins neighbouring points only: what was not measured leaves a gap, with its sign below. Each curve has
a sign and a colour of its own, so that either tells it apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from benchconsole.console.curves.curve_model import Chart, Curve, Point, ValueScale, make_scale
from benchconsole.console.curves.curve_shape import TOLERANCE, find_shape
from benchconsole.console.curves.curve_text import format_chart_name, format_cohort_name
from benchconsole.console.text.cells import clip_text, measure_width, wrap_clipped
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row
from benchconsole.console.tui.rows.themes import ACCENT, BOLD, BRIGHT, FAINT, LOAD, MUTED, RUNNING, TEXT, Depth, Tone
from benchconsole.console.tui.widgets.canvas import CellWidget
from benchconsole.console.tui.widgets.plot_grid import PlotGrid, list_between, wrap_items
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS

MARKS = (("●", "o"), ("◆", "*"), ("×", "x"), ("+", "+"), ("a", "a"), ("b", "b"), ("c", "c"), ("d", "d"))
TONES = (ACCENT, BRIGHT, RUNNING, TEXT, LOAD)
_BLANK = CellText(" ")


def mark(curve: int, *, ascii_only: bool) -> CellText:
    """The sign of a curve by its place in the chart."""
    return CellText(MARKS[curve % len(MARKS)][ascii_only], TONES[curve % len(TONES)]._replace(bold=True))


class TurnedAxes(NamedTuple):
    """Which axes of a chart are linear where the rule has them logarithmic, and the other way round."""

    across: bool = False
    up: bool = False


AS_RULED = TurnedAxes()


class CurvePlot(CellWidget):
    """One chart."""

    chart: Chart | None = None
    chosen = ""
    turned = AS_RULED

    def show(self, chart: Chart | None, chosen: str = "", turned: TurnedAxes = AS_RULED) -> None:
        """Draw ``chart`` with the value under the cursor, its axes by the rule or ``turned``."""
        self.chart, self.chosen, self.turned = chart, chosen, turned
        self.redraw()

    def draw(self, width: int, height: int) -> list[Row]:
        chart = self.chart
        if chart is None or height < 5 or width < 24 or not chart.curves:
            return []
        scale = scale_for(chart.unit, chart.shown, chart.numbers) if chart.unit is not None else None
        is_log = chart.is_value_log(turned=self.turned.up)
        up = make_scale(chart.numbers, scale.factor if scale else 1.0, is_log=is_log)
        ticks = [(tick, _tick(tick, scale)) for tick in up.ticks]
        margin = max((measure_width(words) for _, words in ticks), default=0) + 2
        legend = self._legend(chart, _name_axis(scale.symbol if scale else "", is_log=is_log), width)
        grid = PlotGrid(width - margin - 3, height - 2 - len(legend))
        if grid.height < 2:
            return legend
        self._fill(grid, chart, up)
        labels = {_height(up, tick, grid): words for tick, words in ticks}
        rows = legend
        for index in range(grid.height):
            line = CellLine(width).to(1).put(labels.get(index, ""), MUTED, margin - 1, ">").put(" ")
            rows.append(line.put("┼" if index in labels else "│", FAINT).extend(grid.row(index)).row())
        axis = f" {_name_axis(sanitize(chart.axis), is_log=chart.is_axis_log(turned=self.turned.across))}"
        foot = CellLine(width).to(margin + 1).put("└" + "─" * max(grid.width - measure_width(axis) + 1, 1), FAINT)
        return [*rows, foot.put(axis, MUTED).row(), self._values(chart, grid, margin + 2)]

    @property
    def _is_fine(self) -> bool:
        """Whether there are dots; the fonts of plain consoles lack them."""
        return not self.painter.ascii and self.painter.palette.depth is not Depth.SIXTEEN

    @property
    def _dash(self) -> str:
        return "┄" if self._is_fine else "-"

    @property
    def _band(self) -> str:
        """The filling of a plateau."""
        return "'" if self.painter.ascii else "░"

    def _legend(self, chart: Chart, unit: str, width: int) -> list[Row]:
        """The legend: metric and unit, the sign of each curve, what was required; as many rows as it takes."""
        items: list[Row] = [(CellText(format_chart_name(chart), BOLD), CellText(f", {unit}" if unit else "", MUTED))]
        for index, curve in enumerate(chart.curves if len(chart.curves) > 1 else ()):
            name = CellText(f" {format_cohort_name(chart, curve)}", TEXT)
            items.append((mark(index, ascii_only=self.painter.ascii), name))
        if any(point.bounds for curve in chart.curves for point in curve.points):
            items.append((CellText(f"{self._dash} required", MUTED),))
        if list_plateaus(chart):
            items.append((CellText(f"{self._band} plateau", MUTED),))
        return wrap_items(items, width)

    def _fill(self, grid: PlotGrid, chart: Chart, up: ValueScale) -> None:
        """Bounds first, then lines, spreads and marks: what comes later is above."""
        places = chart.place_values(turned=self.turned.across)
        columns = {value: 1 + round(place * (grid.width - 3)) for value, place in places.items()}
        knees = [knee for _, knee in chart.knees() if knee is not None]
        for plateau in list_plateaus(chart):
            _fill_band(grid, plateau, columns, up, self._band)
        for knee in knees:
            for row in range(grid.height):
                grid.put(row, columns[knee.point.value], CellText("┊" if not self.painter.ascii else ":", FAINT))
        for curve in chart.curves:
            self._bounds(grid, curve, columns, up)
        for index, curve in enumerate(chart.curves):
            self._line(grid, curve, columns, (up, TONES[index % len(TONES)]))
        for index, curve in enumerate(chart.curves):
            for point in curve.points:
                self._mark(grid, point, columns[point.value], (up, index))
        for knee in knees:
            place = _height(up, knee.point.median or 0.0, grid), columns[knee.point.value]
            _label(grid, place, f"knee {knee.point.value}", self._band)

    def _bounds(self, grid: PlotGrid, curve: Curve, columns: dict[str, int], up: ValueScale) -> None:
        """Draw the required bounds, from half way before each point to half way after it."""
        for index, point in enumerate(curve.points):
            here = columns[point.value]
            before = columns[curve.points[index - 1].value] if index else here - 2
            after = columns[curve.points[index + 1].value] if index + 1 < len(curve.points) else here + 2
            for bound in {point.bounds[0], point.bounds[-1]} if point.bounds else ():
                for column in range(min((before + here) // 2, here), max((here + after) // 2, here) + 1):
                    grid.put(_height(up, bound, grid), column, CellText(self._dash, MUTED))

    def _line(self, grid: PlotGrid, curve: Curve, columns: dict[str, int], look: tuple[ValueScale, Tone]) -> None:
        up, tone = look
        is_fine = self._is_fine
        across, along = (2, 4) if is_fine else (1, 1)
        if any(point.at is None for point in curve.points):
            return  # words have no order that a line could follow
        for one, other in pairwise(curve.points):
            if one.median is None or other.median is None:
                continue
            ends = [
                (columns[point.value] * across, _level(up, point.median or 0.0, grid.height * 4) // (4 // along))
                for point in (one, other)
            ]
            for x, y in list_between(*ends):
                if is_fine:
                    grid.cells.pop((y // 4, x // 2), None)
                    grid.dot(x, y, tone)
                else:
                    grid.put(y, x, CellText("·", tone))

    def _mark(self, grid: PlotGrid, point: Point, column: int, look: tuple[ValueScale, int]) -> None:
        """The median of a point with its spread, or the sign of what became of it on the axis."""
        up, index = look
        tone = TONES[index % len(TONES)]
        if point.median is None or point.low is None or point.high is None:
            if not point.planned:
                return
            state = min((each.state for each in point.missing), key=lambda each: each.rank, default=State.SKIPPED)
            sign = SIGNS[state]
            grid.put(grid.height - 1, column, CellText(sign.ascii if self.painter.ascii else sign.glyph, MUTED))
            return
        for row in range(_height(up, point.high, grid), _height(up, point.low, grid) + 1):
            grid.put(row, column, CellText("│", tone))
        row = _height(up, point.median, grid)
        taken = {piece.text for piece in (mark(other, ascii_only=self.painter.ascii) for other in range(index))}
        while index and (row, column) in grid.cells and grid.cells[row, column].text in taken:
            column += 1
        grid.put(row, column, mark(index, ascii_only=self.painter.ascii))

    def _values(self, chart: Chart, grid: PlotGrid, margin: int) -> Row:
        """The values below their points: at the cursor, the last one, at knees, and others as far as they fit."""
        line = CellLine(margin + grid.width + 1)
        knees = {knee.point.value for _, knee in chart.knees() if knee is not None}
        spans: list[tuple[int, int]] = []
        places = chart.place_values(turned=self.turned.across)
        for value, place in places.items():
            column = margin + 1 + round(place * (grid.width - 3)) - measure_width(value) // 2
            column = min(column, line.width - measure_width(value))
            spans.append((column, column + measure_width(value)))
        values = list(places)
        every = range(len(values))
        wanted = [*(each for each in every if values[each] == self.chosen), len(values) - 1]
        wanted += (each for each in every if values[each] in knees)
        for index in choose_labels(spans, wanted, line.width):
            value = values[index]
            tone = BRIGHT if value == self.chosen else BOLD if value in knees else MUTED
            line.to(spans[index][0]).put(value, tone)
        return line.row()


def choose_labels(spans: Sequence[tuple[int, int]], wanted: Iterable[int], width: int) -> list[int]:
    """Which labels stand in a row without touching: the ``wanted`` ones, then all, each second, each third and so on.

    ``spans`` are the first column of each, which rises, and the one after its last.
    """
    inside = [index for index, (start, end) in enumerate(spans) if start > 0 and end <= width]
    chosen: list[int] = []

    def add(indexes: Iterable[int]) -> None:
        """Take those that touch none of the others."""
        for index in indexes:
            start, end = spans[index]
            if all(end < spans[each][0] or start > spans[each][1] for each in chosen):
                chosen.append(index)

    add(index for index in wanted if index in inside)
    for step in range(1, len(inside) + 1):
        some = inside[::step]
        if all(spans[one][1] < spans[other][0] for one, other in pairwise(some)):
            add(some)
            break
    return sorted(chosen)


def _name_axis(name: str, *, is_log: bool) -> str:
    """The name of an axis, and that it is logarithmic."""
    return ", ".join(filter(None, (name, "logarithmic" if is_log else "")))


def _tick(value: float, scale: Scale | None) -> str:
    if scale is None:
        return f"{value:g}"
    return f"{value / scale.factor:,.6g}"


def _height(up: ValueScale, value: float, grid: PlotGrid) -> int:
    return _level(up, value, grid.height * 4) // 4


def _level(up: ValueScale, value: float, rows: int) -> int:
    """The row of ``value`` among ``rows``, from the top."""
    return round((1 - min(max(up.find_height(value), 0.0), 1.0)) * (rows - 1))


class Plateau(NamedTuple):
    """The values of the axis where a plateau begins and ends, and the values that are alike, the lowest first."""

    first: str
    last: str
    low: float
    high: float


def list_plateaus(chart: Chart) -> list[Plateau]:
    """The plateau of each curve that grows and has one."""
    shapes = [find_shape(curve) for curve, _ in chart.knees()]
    return [
        Plateau(first.point.value, last.point.value, high * (1 - TOLERANCE), high)
        for shape in shapes
        if shape is not None and shape.plateau is not None
        for (first, last), high in ((shape.plateau, shape.maximum.median or 0.0),)
    ]


def _fill_band(grid: PlotGrid, plateau: Plateau, columns: Mapping[str, int], up: ValueScale, text: str) -> None:
    """The rows of values that are alike, from the first point of a plateau to the last."""
    for row in range(_height(up, plateau.high, grid), _height(up, plateau.low, grid) + 1):
        for column in range(columns[plateau.first], columns[plateau.last] + 1):
            grid.put(row, column, CellText(text, FAINT))


def _label(grid: PlotGrid, place: tuple[int, int], text: str, band: str) -> None:
    """``text`` beside a point: below or above it, to its right or left, where nothing is drawn but a band."""
    row, column = place
    size = measure_width(text)
    for down, start in ((1, column + 2), (-1, column - size - 1), (2, column + 2), (-2, column - size - 1)):
        cells = [(row + down, each) for each in range(start - 1, start + size + 1)]
        is_inside = 0 <= row + down < grid.height and start >= 0 and start + size <= grid.width
        if is_inside and not any(
            each in grid.dots or grid.cells.get(each, _BLANK).text not in (" ", band) for each in cells
        ):
            for offset, letter in enumerate(text):
                grid.put(row + down, start + offset, CellText(letter, BOLD))
            return


class CurveText(CellWidget):
    """Sentences on a chart, one after the other as far as there is room."""

    DEFAULT_CSS = "CurveText { height: 2; }"

    said: Sequence[tuple[str, Tone]] = ()

    def show(self, said: Sequence[tuple[str, Tone]]) -> None:
        self.said = said
        self.redraw()

    def wanted(self, width: int) -> int:
        return sum(len(wrap_clipped(text, width - 2, 3)) for text, _ in self.said)

    def draw(self, width: int, height: int) -> list[Row]:
        """Each sentence in at most three rows; the last row goes on with what has none, and shows that it is cut."""
        lines = [(line, tone) for text, tone in self.said for line in wrap_clipped(text, width - 2, 3)]
        if len(lines) > height:
            rest = " ".join(line for line, _ in lines[height - 1 :])
            lines[height - 1 :] = [(clip_text(rest, width - 2), lines[height - 1][1])]
        return [CellLine(width).to(1).put(line, tone).row() for line, tone in lines]
