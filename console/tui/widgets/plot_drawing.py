"""The pictures of a metric as rows: distribution, shares at or below a value, values over time. Pure.

A place is a number between 0 and 1; whatever is not on an axis is told at its end, and never drawn on it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

import numpy as np

from benchconsole.console.conclusions.plot_text import format_number, format_plot_name, list_bounds
from benchconsole.console.conclusions.plotted_metric import Plot, PlottedMetric
from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.axes import (
    Tick,
    TimeAxis,
    ValueAxis,
    make_count_axis,
    make_time_axis,
    make_value_axis,
    widen,
)
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width, selected, sign, sign_tone
from benchconsole.console.tui.rows.themes import ACTIVE, BOLD, FAIL, FAINT, LOAD, MUTED, STRONG, TEXT, WATCH
from benchconsole.console.tui.widgets.curve import TONES, mark
from benchconsole.console.tui.widgets.plot_grid import PlotGrid
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS
from benchconsole.probes.statistics.histogram import Histogram, make_histogram
from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.units import counted, digits3, duration

_BLOCKS = " ▁▂▃▄▅▆▇█"
_STATES = tuple(State)
_LEAST_WIDTH, _LEAST_HEIGHT = 30, 7
_TICK = 12
"""Columns that a label of an axis has for itself."""

_TONES_OF_LINES = {"required": FAIL, "target": WATCH, "expected": MUTED}


class Picture(StrEnum):
    """The ways to draw a metric."""

    DISTRIBUTION = "distribution"
    ECDF = "ECDF"
    SERIES = "time series"


class PlotLook(NamedTuple):
    """The room for a picture in cells, and what the terminal has: ``ascii`` alone, or ``fine`` dots."""

    width: int
    height: int
    ascii: bool = False
    fine: bool = True


class _Frame(NamedTuple):
    """What stands around the cells of a picture: the label of each row that has one, and the ticks below.

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
class _Lines:
    """Bounds as upright lines: the columns of those on the axis, and rows of labels above the cells."""

    columns: Mapping[int, CellText]
    labels: Sequence[Sequence[tuple[int, CellText]]]


def draw_plot(plot: Plot, picture: Picture, number: int | None, look: PlotLook) -> list[Row]:
    """The rows of a picture; ``number`` is the value under the cursor. Nothing where there is no room."""
    if look.width < _LEAST_WIDTH or look.height < _LEAST_HEIGHT or not plot.can_be_drawn:
        return []
    if picture is Picture.DISTRIBUTION:
        return _draw_distribution(plot, number, look)
    return _draw_shares(plot, number, look) if picture is Picture.ECDF else _draw_series(plot, number, look)


def choose_scale(plot: Plot) -> Scale:
    """The unit in which a plot is written, by the middle and the ends of its values."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    some = [side.find_quantile(share) for side in plot.sides for share in shares if len(side.values)]
    return scale_for(plot.first.key.unit, plot.first.shown, some)


# -- distribution


def _draw_distribution(plot: Plot, number: int | None, look: PlotLook) -> list[Row]:
    """Bars of eighths; a bar of values that all fail is red."""
    metric, scale = plot.first, choose_scale(plot)
    margin = max(measure_width(f"{len(metric.values):,}"), 5) + 2
    width = look.width - margin - 3
    across = _make_axis(plot, scale, width)
    part = (metric.in_order[-1] - metric.in_order[0]) / (across.high - across.low) * width
    found = make_histogram(metric.values, max(int(part), 1))
    bins = _deal_columns(across, width, found.edges, found.counts)
    lines = _place_lines(metric, across, width, look)
    legend = _draw_legend(plot, f" distribution, {_tell_bins(found, scale)}", look)
    grid = PlotGrid(width, look.height - len(legend) - len(lines.labels) - 2)
    if grid.height < 2:
        return legend
    failing = np.bincount(found.place[metric.failing], minlength=len(found.counts)) == found.counts
    _draw_lines(grid, lines)
    _fill_bars(grid, bins, found.counts, failing, gap=part / len(found.counts) >= 3)
    _draw_lines(grid, _Lines({at: piece for at, piece in lines.columns.items() if _is_wide(bins, at)}, ()))
    upward = make_count_axis(int(found.counts.max()), max(grid.height // 2, 3))
    labels = {_find_row(tick.place, grid.height): tick.label for tick in upward.ticks}
    cursor = None if number is None else _find_column(across.find_place(float(metric.values[number])), width)
    frame = _Frame(margin, labels, across.ticks, scale.symbol, cursor, lines=lines.columns)
    return [*legend, *_draw_labels(lines, margin, look), *_assemble(grid, frame, look)]


def _tell_bins(found: Histogram, scale: Scale) -> str:
    """How many bins there are, how wide, and what is counted."""
    if len(found.counts) == 1:
        return "1 bin"
    step = digits3(float(found.edges[1] - found.edges[0]) / scale.factor)
    return f"values in each of {len(found.counts):,} bins of {step} {scale.symbol}".rstrip()


def _deal_columns(across: ValueAxis, width: int, edges: Floats, counts: Indices) -> Indices:
    """The bin that each column shows, -1 for none; each bin that holds anything has a column."""
    centres = across.low + (np.arange(width) + 0.5) / width * (across.high - across.low)
    bins = np.searchsorted(edges, centres, "right") - 1
    bins[(centres < edges[0]) | (centres > edges[-1])] = -1
    bins = np.minimum(bins, len(counts) - 1)
    for missing in np.setdiff1d(np.flatnonzero(counts), bins).tolist():
        bins[_find_column(across.find_place(float(edges[missing] + edges[missing + 1]) / 2), width)] = missing
    return bins


def _is_wide(bins: Indices, column: int) -> bool:
    """Whether the bar of a column is seen beside a line through it."""
    return bool((bins[max(column - 1, 0) : column + 2] == bins[column]).sum() > 1)


def _fill_bars(grid: PlotGrid, bins: Indices, counts: Indices, failing: Flags, *, gap: bool) -> None:
    """Columns as high as the count of their bin; whatever is not empty has an eighth at least."""
    full = grid.height * 8
    heights = np.ceil(counts / counts.max() * full - 1e-9).astype(np.intp)
    for column, each in enumerate(bins.tolist()):
        is_last = column + 1 < len(bins) and bins[column + 1] != each and bins[column + 1] >= 0
        if each < 0 or (gap and is_last):
            continue
        height, tone = int(heights[each]), FAIL if failing[each] and counts[each] else LOAD
        for row in range(grid.height):
            eighths = min(max(height - (grid.height - 1 - row) * 8, 0), 8)
            if eighths:
                grid.put(row, column, CellText(_BLOCKS[eighths], tone))


# -- shares at or below a value


def _draw_shares(plot: Plot, number: int | None, look: PlotLook) -> list[Row]:
    """The empirical distribution function of each side, as a line of dots."""
    scale, margin = choose_scale(plot), 7
    width = look.width - margin - 3
    across = _make_axis(plot, scale, width)
    lines = _place_lines(plot.first, across, width, look)
    legend = _draw_legend(plot, " share of values at or below", look)
    grid = PlotGrid(width, look.height - len(legend) - len(lines.labels) - 2)
    if grid.height < 2:
        return legend
    _draw_lines(grid, lines)
    for place, side in enumerate(plot.sides):
        tone = LOAD if len(plot.sides) == 1 else TONES[place]
        sign_of = None if len(plot.sides) == 1 else mark(place, ascii_only=look.ascii)
        _trace_shares(grid, side, across, CellText("·" if sign_of is None else sign_of.text, tone), look)
        if sign_of is not None:
            _mark_tenths(grid, side, across, sign_of)
    cursor = None
    if number is not None:
        at, place = plot.find(number)
        value = float(plot.sides[at].values[place])
        cursor = _find_column(across.find_place(value), width)
        grid.put(_find_share_row(plot.sides[at].find_share(value), grid.height), cursor, CellText("◆", STRONG))
    labels = {_find_share_row(share / 100, grid.height): f"{share} %" for share in (0, 25, 50, 75, 100)}
    frame = _Frame(margin, labels, across.ticks, scale.symbol, cursor, lines=lines.columns)
    return [*legend, *_draw_labels(lines, margin, look), *_assemble(grid, frame, look)]


def _find_share_row(share: float, height: int) -> int:
    return round((1 - share) * (height * 4 - 1)) // 4


def _trace_shares(grid: PlotGrid, side: PlottedMetric, across: ValueAxis, line: CellText, look: PlotLook) -> None:
    """The share of values at or below the right end of each column, each joined to the one before."""
    wide, high = (2, 4) if look.fine else (1, 1)
    columns = grid.width * wide
    ends = across.low + (np.arange(columns) + 1) / columns * (across.high - across.low)
    shares = np.searchsorted(side.in_order, ends, "right") / len(side.values)
    shares[-1] = 1.0
    last = grid.height * high - 1
    before = last
    for x, y in enumerate(np.rint((1 - shares) * last).astype(np.intp).tolist()):
        for each in range(y, max(before, y) + 1):
            if look.fine:
                grid.cells.pop((each // 4, x // 2), None)
                grid.dot(x, each, line.tone)
            else:
                grid.put(each, x, line)
        before = y


def _mark_tenths(grid: PlotGrid, side: PlottedMetric, across: ValueAxis, sign_of: CellText) -> None:
    """The sign of a side at each tenth of its values, so that lines are told apart without colour."""
    for tenth in range(1, 10):
        value = side.find_quantile(tenth / 10)
        grid.put(_find_share_row(tenth / 10, grid.height), _find_column(across.find_place(value), grid.width), sign_of)


# -- values over time


def _draw_series(plot: Plot, number: int | None, look: PlotLook) -> list[Row]:
    """The sign of its level for each value, the worst of a cell; pauses are gaps, long ones shortened."""
    metric, scale = plot.first, choose_scale(plot)
    bounds = list(list_bounds(metric.bounds))
    low, high = widen(float(metric.in_order[0]), float(metric.in_order[-1]), (value for _, value in bounds))
    upward = make_value_axis(low, high, scale.factor, max(look.height // 4, 2))
    margin = max(measure_width(tick.label) for tick in upward.ticks) + 2
    known = metric.moments[metric.by_time]
    name = _draw_legend(plot, f" over time, {scale.symbol}".rstrip(", "), look)
    if not len(known):
        words = "Of none of these values is known when it was measured."
        return [*name, CellLine(look.width).to(1).put(words, MUTED).row()]
    time = make_time_axis(float(known[0]), float(known[-1]), plot.busy)
    told = (*_list_levels(metric), *_list_drawn(metric, bounds, upward, look), *_list_left_out(metric, time))
    legend = [*name, *_wrap_items(told, look.width)]
    grid = PlotGrid(look.width - margin - 3, look.height - len(legend) - 2)
    if grid.height < 2:
        return legend
    for place in (upward.find_place(value) for _, value in bounds):
        for column in range(grid.width if 0 <= place <= 1 else 0):
            grid.put(_find_level(place, grid.height), column, CellText("┄" if look.fine else "-", FAINT))
    _fill_moments(grid, metric, time, upward)
    cursor = _mark_value(grid, metric, number, time, upward)
    labels = {_find_level(tick.place, grid.height): tick.label for tick in upward.ticks}
    start = min(plot.started or time.real[0], time.real[0])
    ends = [[_find_column(time.find_place(end), grid.width) for end in pause] for pause in time.pauses]
    ticks = time.list_ticks(start, max(grid.width // _TICK, 2))
    frame = _Frame(margin, labels, ticks, "since the start of the run", cursor, [(end[0], end[1]) for end in ends])
    return [*legend, *_assemble(grid, frame, look)]


def _fill_moments(grid: PlotGrid, metric: PlottedMetric, time: TimeAxis, upward: ValueAxis) -> None:
    """The sign of each value whose moment is known; of several in a cell the worst."""
    places = metric.by_time
    columns = np.minimum((_place_moments(time, metric.moments[places]) * grid.width).astype(np.intp), grid.width - 1)
    heights = (metric.values[places] - upward.low) / (upward.high - upward.low)
    rows = np.rint((1 - heights) * (grid.height - 1)).astype(np.intp)
    found = np.flatnonzero(np.bincount((rows * grid.width + columns) * len(_STATES) + metric.ranks[places]))
    for key in reversed(found.tolist()):  # the worst of a cell comes last
        cell, rank = divmod(key, len(_STATES))
        grid.put(*divmod(cell, grid.width), sign(_STATES[rank]))


def _place_moments(time: TimeAxis, moments: Floats) -> Floats:
    if time.drawn[-1] <= 0:
        return np.full(len(moments), 0.5)
    return np.interp(moments, time.real, time.drawn) / time.drawn[-1]


def _mark_value(
    grid: PlotGrid, metric: PlottedMetric, number: int | None, time: TimeAxis, upward: ValueAxis
) -> int | None:
    """The value under the cursor on the ground of what is selected; its column."""
    if number is None or not np.isfinite(metric.moments[number]):
        return None
    column = _find_column(time.find_place(float(metric.moments[number])), grid.width)
    row = _find_level(upward.find_place(float(metric.values[number])), grid.height)
    piece = sign(metric.states[number])
    grid.put(row, column, selected((CellText(piece.text, piece.tone._replace(bold=True)),))[-1])
    return column


def _list_levels(metric: PlottedMetric) -> Iterator[Row]:
    """The signs that occur, with their words."""
    for state, number in zip(_STATES, np.bincount(metric.ranks).tolist(), strict=False):
        if number:
            mark_of = CellText(SIGNS[state].glyph, sign_tone(state))
            yield (mark_of, CellText(f" {SIGNS[state].word} {number:,}", MUTED))


def _list_drawn(
    metric: PlottedMetric, bounds: Sequence[tuple[str, float]], upward: ValueAxis, look: PlotLook
) -> Iterator[Row]:
    """Each bound, and whether it is a line or outside."""
    for word, value in bounds:
        is_drawn = 0 <= upward.find_place(value) <= 1
        line = ("┄ " if look.fine else "- ") if is_drawn else ""
        yield (CellText(f"{line}{word} {format_number(metric, value)}{'' if is_drawn else ', outside'}", MUTED),)


def _list_left_out(metric: PlottedMetric, time: TimeAxis) -> Iterator[Row]:
    """The pauses that are drawn shorter than they were, and values that are not drawn."""
    if time.pauses:
        long = duration(sum(end - begin for begin, end in time.pauses))
        yield (CellText(f"{counted(len(time.pauses), 'pause')} of {long} shortened", MUTED),)
    lacking = len(metric.values) - len(metric.by_time)
    if lacking:
        yield (CellText(f"{counted(lacking, 'value')} without a moment not drawn", MUTED),)


# -- what all have in common


def _make_axis(plot: Plot, scale: Scale, width: int) -> ValueAxis:
    """The axis of all values of a plot, and of the bounds that are near enough."""
    ends = [float(side.in_order[place]) for side in plot.sides for place in (0, -1)]
    lines = [value for side in plot.sides for _, value in list_bounds(side.bounds)]
    return make_value_axis(*widen(min(ends), max(ends), lines), scale.factor, max(width // _TICK, 2))


def _find_column(place: float, width: int) -> int:
    return min(max(int(place * width), 0), width - 1)


def _find_row(place: float, height: int) -> int:
    """The row that a bar of this height ends in."""
    return min(max(height - 1 - int(place * height - 1e-9), 0), height - 1)


def _find_level(place: float, height: int) -> int:
    return round((1 - min(max(place, 0.0), 1.0)) * (height - 1))


def _place_lines(metric: PlottedMetric, across: ValueAxis, width: int, look: PlotLook) -> _Lines:
    """Where the lines of bounds stand, and their labels; one that is not on the axis is told at its end."""
    columns: dict[int, CellText] = {}
    labels: list[list[tuple[int, CellText]]] = []
    stroke = ":" if look.ascii else "┊"
    for word, value in sorted(list_bounds(metric.bounds), key=lambda each: each[1]):
        tone, place = _TONES_OF_LINES[word], across.find_place(value)
        text = f"{word} {format_number(metric, value)}"
        column = _find_column(place, width)
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
    return _Lines(columns, labels)


def _draw_lines(grid: PlotGrid, lines: _Lines) -> None:
    for column, piece in lines.columns.items():
        for row in range(grid.height):
            grid.put(row, column, piece)


def _draw_labels(lines: _Lines, margin: int, look: PlotLook) -> list[Row]:
    rows = []
    for row in lines.labels:
        line = CellLine(look.width)
        for column, piece in row:
            line.to(margin + 2 + column).put(*piece)
        rows.append(line.row())
    return rows


def _draw_legend(plot: Plot, what: str, look: PlotLook) -> list[Row]:
    """The metric, what is drawn of it, and the sign of each side; as many rows as it takes."""
    items: list[Row] = [(CellText(format_plot_name(plot.first), BOLD), CellText(what, MUTED))]
    for place, name in enumerate(plot.names if len(plot.names) > 1 else ()):
        items.append((mark(place, ascii_only=look.ascii), CellText(f" {sanitize(name)}", TEXT)))
    return _wrap_items(items, look.width)


def _wrap_items(items: Iterable[Row], width: int) -> list[Row]:
    """Items beside each other, in as many rows as they take."""
    lines = [CellLine(width).to(1)]
    for item in items:
        if lines[-1].at > 1 and row_width(item) + 3 > lines[-1].room:
            lines.append(CellLine(width).to(1))
        lines[-1].put("   " if lines[-1].at > 1 else "").extend(item)
    return [line.row() for line in lines]


def _assemble(grid: PlotGrid, frame: _Frame, look: PlotLook) -> list[Row]:
    """The cells between their axes, with labels."""
    rows = []
    for index in range(grid.height):
        line = CellLine(look.width).to(1).put(frame.labels.get(index, ""), MUTED, frame.margin - 1, ">").put(" ")
        rows.append(line.put("┼" if index in frame.labels else "│", FAINT).extend(grid.row(index)).row())
    foot = CellLine(look.width).to(frame.margin + 1).put("└", FAINT)
    name = f" {frame.name}" if frame.name else ""
    room = grid.width - measure_width(name)
    if frame.cursor is not None and frame.cursor >= room:
        room = -1  # the cursor is more than a name
    lines = frozenset(frame.lines)
    hidden = {column for begin, end in frame.gaps for column in range(begin + 1, end)}
    for column in range(grid.width if room < 0 else room):
        if column == frame.cursor:
            foot.put("▴", ACTIVE)
        else:
            foot.put(" " if column in hidden else "┼" if column in lines else "─", FAINT)
    foot.put(name if room >= 0 else "", MUTED)
    return [*rows, foot.row(), _draw_ticks(grid, frame, look)]


def _draw_ticks(grid: PlotGrid, frame: _Frame, look: PlotLook) -> Row:
    """The labels below their places, as far as they fit."""
    line = CellLine(look.width)
    start = frame.margin + 2
    for tick in frame.ticks:
        size = measure_width(tick.label)
        column = start + _find_column(tick.place, grid.width) - size // 2
        column = min(column, start + grid.width - size)
        if column > line.at and column >= 0:
            line.to(column).put(tick.label, MUTED)
    return line.row()
