"""The frame of a picture: axes with ticks, lines of bounds with labels, and the legend. Pure.

A place is a number between 0 and 1; whatever is not on an axis is told at its end, and never drawn on it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchconsole.console.conclusions.plot_text import format_number, format_plot_name, list_bounds
from benchconsole.console.conclusions.plotted_metric import Plot, PlottedMetric
from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.axes import Tick, ValueAxis
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row
from benchconsole.console.tui.rows.themes import ACTIVE, BOLD, FAIL, FAINT, MUTED, TEXT, WATCH
from benchconsole.console.tui.widgets.curve import mark
from benchconsole.console.tui.widgets.plot_grid import PlotGrid, wrap_items

_TONES_OF_LINES = {"required": FAIL, "target": WATCH, "expected": MUTED}


class PlotLook(NamedTuple):
    """The room for a picture in cells, and what the terminal has: ``ascii`` alone, or ``fine`` dots.

    ``turned``: an axis that the rule has logarithmic is linear, and the other way round.
    """

    width: int
    height: int
    ascii: bool = False
    fine: bool = True
    turned: bool = False


class PlotFrame(NamedTuple):
    """The frame around the cells of a picture: the label of each row that has one, and the ticks below.

    ``gaps`` are columns between which the axis below is interrupted, ``lines`` those that a line crosses it in.
    """

    margin: int
    labels: Mapping[int, str]
    ticks: Iterable[Tick]
    name: str
    cursor: int | None
    gaps: Sequence[tuple[int, int]] = ()
    lines: Iterable[int] = ()


@dataclass(frozen=True, slots=True)
class BoundLines:
    """Bounds as upright lines: the columns of those on the axis, and rows of labels above the cells."""

    columns: Mapping[int, CellText]
    labels: Sequence[Sequence[tuple[int, CellText]]]


def find_column(place: float, width: int) -> int:
    """The column that a place is in."""
    return min(max(int(place * width), 0), width - 1)


def place_lines(metric: PlottedMetric, across: ValueAxis, width: int, look: PlotLook) -> BoundLines:
    """Where the lines of bounds stand, and their labels; one that is not on the axis is told at its end."""
    columns: dict[int, CellText] = {}
    labels: list[list[tuple[int, CellText]]] = []
    stroke = ":" if look.ascii else "┊"
    for word, value in sorted(list_bounds(metric.bounds), key=lambda each: each[1]):
        tone, place = _TONES_OF_LINES[word], across.find_place(value)
        text = f"{word} {format_number(metric, value)}"
        column = find_column(place, width)
        if 0 <= place <= 1:
            columns[column] = CellText(stroke, tone)
            text = f"{stroke} {text}"
        else:
            text = f"◂ {text}" if place < 0 else f"{text} ▸"
        size = measure_width(text)
        if 0 <= place <= 1 and column + size > width:
            text = f"{text[2:]} {stroke}"
            column = max(column - size + 1, 0)
        piece, start = CellText(text, tone), min(column, max(width - size, 0))
        free = next((row for row in labels if row[-1][0] + measure_width(row[-1][1].text) < start), None)
        if free is None:
            labels.append([(start, piece)])
        else:
            free.append((start, piece))
    return BoundLines(columns, labels)


def draw_lines(grid: PlotGrid, lines: BoundLines) -> None:
    """Put those on the axis into the cells, from top to bottom."""
    for column, piece in lines.columns.items():
        for row in range(grid.height):
            grid.put(row, column, piece)


def draw_labels(lines: BoundLines, margin: int, look: PlotLook) -> list[Row]:
    """The labels of the lines, each at its own."""
    rows = []
    for row in lines.labels:
        line = CellLine(look.width)
        for column, piece in row:
            line.to(margin + 2 + column).put(*piece)
        rows.append(line.row())
    return rows


def draw_legend(plot: Plot, what: str, look: PlotLook) -> list[Row]:
    """The metric, what is drawn of it, and the sign of each side; as many rows as it takes."""
    items: list[Row] = [(CellText(format_plot_name(plot.first), BOLD), CellText(what, MUTED))]
    for place, name in enumerate(plot.names if len(plot.names) > 1 else ()):
        items.append((mark(place, ascii_only=look.ascii), CellText(f" {sanitize(name)}", TEXT)))
    return wrap_items(items, look.width)


def assemble(grid: PlotGrid, frame: PlotFrame, look: PlotLook) -> list[Row]:
    """The cells between their axes, with labels."""
    rows = []
    for index in range(grid.height):
        line = CellLine(look.width).to(1).put(frame.labels.get(index, ""), MUTED, frame.margin - 1, ">").put(" ")
        rows.append(line.put("┼" if index in frame.labels else "│", FAINT).extend(grid.row(index)).row())
    foot = CellLine(look.width).to(frame.margin + 1).put("└", FAINT)
    start, name = _place_name(grid.width, frame)
    lines = frozenset(frame.lines)
    hidden = {column for begin, end in frame.gaps for column in range(begin + 1, end)}
    for column in range(grid.width):
        if start <= column < start + measure_width(name):
            foot.put(name if column == start else "", MUTED)
            continue
        if column == frame.cursor:
            foot.put("▴", ACTIVE)
        else:
            foot.put(" " if column in hidden else "┼" if column in lines else "─", FAINT)
    return [*rows, foot.row(), _draw_ticks(grid, frame, look)]


def _place_name(width: int, frame: PlotFrame) -> tuple[int, str]:
    """Where the name of the axis stands in the foot, and the name: at the left where the cursor is at the right."""
    name = f" {frame.name}" if frame.name else ""
    start = width - measure_width(name)
    if start < 0 or frame.cursor is None or frame.cursor < start:
        return start, name if start >= 0 else ""
    return (0, f"{name[1:]} ") if name and frame.cursor >= measure_width(name) else (start, "")


def _draw_ticks(grid: PlotGrid, frame: PlotFrame, look: PlotLook) -> Row:
    """The labels below their places, as far as they fit."""
    line = CellLine(look.width)
    start = frame.margin + 2
    for tick in frame.ticks:
        size = measure_width(tick.label)
        column = start + find_column(tick.place, grid.width) - size // 2
        column = min(column, start + grid.width - size)
        if column > line.at and column >= 0:
            line.to(column).put(tick.label, MUTED)
    return line.row()
