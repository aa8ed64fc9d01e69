"""The pictures of a metric as rows: distribution, shares at or below a value, values over time. Pure."""

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum

import numpy as np

from benchconsole.console.conclusions.plot_text import format_number, list_bounds
from benchconsole.console.conclusions.plotted_metric import Plot, PlottedMetric
from benchconsole.console.text.cells import measure_width
from benchconsole.console.tui.rows.axes import (
    TimeAxis,
    ValueAxis,
    make_count_axis,
    make_log_axis,
    make_time_axis,
    make_value_axis,
    widen,
)
from benchconsole.console.tui.rows.scales import Scale, scale_for
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, selected, sign, sign_tone
from benchconsole.console.tui.rows.themes import FAIL, FAINT, LOAD, MUTED, STRONG
from benchconsole.console.tui.widgets.curve import TONES, mark
from benchconsole.console.tui.widgets.plot_frame import (
    BoundLines,
    PlotFrame,
    PlotLook,
    assemble,
    draw_labels,
    draw_legend,
    draw_lines,
    find_column,
    place_lines,
)
from benchconsole.console.tui.widgets.plot_grid import PlotGrid, wrap_items
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS
from benchconsole.probes.statistics.histogram import Histogram, make_histogram
from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.units import Shown, Unit, counted, digits3, duration

_BLOCKS = " ▁▂▃▄▅▆▇█"
_STATES = tuple(State)
_LEAST_WIDTH, _LEAST_HEIGHT = 30, 7
_TICK = 12
"""Columns that a label of an axis has for itself."""


class Picture(StrEnum):
    """The ways to draw a metric."""

    DISTRIBUTION = "distribution"
    ECDF = "ECDF"
    SERIES = "time series"


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
    across = _make_axis(plot, scale, max(width // _TICK, 2), look)
    part = (across.find_place(float(metric.in_order[-1])) - across.find_place(float(metric.in_order[0]))) * width
    found = make_histogram(metric.values, max(int(part), 1), is_log=across.is_log)
    bins = _deal_columns(across, width, found.edges, found.counts)
    lines = place_lines(metric, across, width, look)
    legend = draw_legend(plot, f" distribution, {_tell_bins(found, scale, is_log=across.is_log)}", look)
    grid = PlotGrid(width, look.height - len(legend) - len(lines.labels) - 2)
    if grid.height < 2:
        return legend
    failing = np.bincount(found.place[metric.failing], minlength=len(found.counts)) == found.counts
    draw_lines(grid, lines)
    _fill_bars(grid, bins, found.counts, failing, gap=part / len(found.counts) >= 3)
    draw_lines(grid, BoundLines({at: piece for at, piece in lines.columns.items() if _is_wide(bins, at)}, ()))
    upward = make_count_axis(int(found.counts.max()), max(grid.height // 2, 3))
    labels = {_find_row(tick.place, grid.height): tick.label for tick in upward.ticks}
    cursor = None if number is None else find_column(across.find_place(float(metric.values[number])), width)
    frame = PlotFrame(margin, labels, across.ticks, _name_axis(scale, across), cursor, lines=lines.columns)
    return [*legend, *draw_labels(lines, margin, look), *assemble(grid, frame, look)]


def _tell_bins(found: Histogram, scale: Scale, *, is_log: bool) -> str:
    """How many bins there are, how wide, and what is counted."""
    if len(found.counts) == 1:
        return "1 bin"
    if is_log:
        ratio = digits3(float(found.edges[1] / found.edges[0]))
        return f"values in each of {len(found.counts):,} bins growing ×{ratio}"
    step = digits3(float(found.edges[1] - found.edges[0]) / scale.factor)
    return f"values in each of {len(found.counts):,} bins of {step} {scale.symbol}".rstrip()


def _deal_columns(across: ValueAxis, width: int, edges: Floats, counts: Indices) -> Indices:
    """The bin that each column shows, -1 for none; each bin that holds anything has a column."""
    centres = _find_values(across, (np.arange(width) + 0.5) / width)
    bins = np.searchsorted(edges, centres, "right") - 1
    bins[(centres < edges[0]) | (centres > edges[-1])] = -1
    bins = np.minimum(bins, len(counts) - 1)
    for missing in np.setdiff1d(np.flatnonzero(counts), bins).tolist():
        bins[find_column(across.find_place(float(edges[missing] + edges[missing + 1]) / 2), width)] = missing
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
    across = _make_axis(plot, scale, max(width // _TICK, 2), look)
    lines = place_lines(plot.first, across, width, look)
    legend = draw_legend(plot, " share of values at or below", look)
    grid = PlotGrid(width, look.height - len(legend) - len(lines.labels) - 2)
    if grid.height < 2:
        return legend
    draw_lines(grid, lines)
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
        cursor = find_column(across.find_place(value), width)
        grid.put(_find_share_row(plot.sides[at].find_share(value), grid.height), cursor, CellText("◆", STRONG))
    labels = {_find_share_row(share / 100, grid.height): f"{share} %" for share in (0, 25, 50, 75, 100)}
    frame = PlotFrame(margin, labels, across.ticks, _name_axis(scale, across), cursor, lines=lines.columns)
    return [*legend, *draw_labels(lines, margin, look), *assemble(grid, frame, look)]


def _find_share_row(share: float, height: int) -> int:
    return round((1 - share) * (height * 4 - 1)) // 4


def _trace_shares(grid: PlotGrid, side: PlottedMetric, across: ValueAxis, line: CellText, look: PlotLook) -> None:
    """The share of values at or below the right end of each column, each joined to the one before."""
    wide, high = (2, 4) if look.fine else (1, 1)
    columns = grid.width * wide
    ends = _find_values(across, (np.arange(columns) + 1) / columns)
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
        grid.put(_find_share_row(tenth / 10, grid.height), find_column(across.find_place(value), grid.width), sign_of)


# -- values over time


def _draw_series(plot: Plot, number: int | None, look: PlotLook) -> list[Row]:
    """The sign of its level for each value, the worst of a cell; pauses are gaps, long ones shortened."""
    metric, scale = plot.first, choose_scale(plot)
    bounds = list(list_bounds(metric.bounds))
    upward = _make_axis(plot, scale, max(look.height // 4, 2), look)
    margin = max((measure_width(tick.label) for tick in upward.ticks), default=0) + 2
    known = metric.moments[metric.by_time]
    name = draw_legend(plot, f" over time, {_name_axis(scale, upward)}".rstrip(", "), look)
    if not len(known):
        words = "Of none of these values is known when it was measured."
        return [*name, CellLine(look.width).to(1).put(words, MUTED).row()]
    time = make_time_axis(float(known[0]), float(known[-1]), plot.busy)
    told = (*_list_levels(metric), *_list_drawn(metric, bounds, upward, look), *_list_left_out(metric, time))
    legend = [*name, *wrap_items(told, look.width)]
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
    ends = [[find_column(time.find_place(end), grid.width) for end in pause] for pause in time.pauses]
    ticks = time.list_ticks(start, max(grid.width // _TICK, 2))
    frame = PlotFrame(margin, labels, ticks, "since the start of the run", cursor, [(end[0], end[1]) for end in ends])
    return [*legend, *assemble(grid, frame, look)]


def _fill_moments(grid: PlotGrid, metric: PlottedMetric, time: TimeAxis, upward: ValueAxis) -> None:
    """The sign of each value whose moment is known; of several in a cell the worst."""
    places = metric.by_time
    columns = np.minimum((_place_moments(time, metric.moments[places]) * grid.width).astype(np.intp), grid.width - 1)
    heights = _find_places(upward, metric.values[places])
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
    column = find_column(time.find_place(float(metric.moments[number])), grid.width)
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


def _make_axis(plot: Plot, scale: Scale, most: int, look: PlotLook) -> ValueAxis:
    """The axis of all values of a plot, and of the bounds that are near enough; logarithmic by the rule, or turned."""
    low, high = plot.ends
    lines = [value for side in plot.sides for _, value in list_bounds(side.bounds)]
    if plot.is_log(turned=look.turned):
        is_binary = plot.first.key.unit is Unit.BYTE and plot.first.shown is Shown.MEMORY
        return make_log_axis(low, high, lines, scale.factor, most, is_binary=is_binary)
    return make_value_axis(*widen(low, high, lines), scale.factor, most)


def _name_axis(scale: Scale, axis: ValueAxis) -> str:
    """The unit of an axis, and that it is logarithmic."""
    return ", ".join(filter(None, (scale.symbol, "logarithmic" if axis.is_log else "")))


def _find_values(axis: ValueAxis, places: Floats) -> Floats:
    """The values that stand at places between 0 and 1."""
    if axis.is_log:
        low, high = math.log(axis.low), math.log(axis.high)
        found: Floats = np.exp(low + places * (high - low))
        return found
    return axis.low + places * (axis.high - axis.low)


def _find_places(axis: ValueAxis, values: Floats) -> Floats:
    """Where each of ``values``, which are on the axis, stands between 0 and 1."""
    if axis.is_log:
        low, high = math.log(axis.low), math.log(axis.high)
        found: Floats = np.clip((np.log(values) - low) / (high - low), 0.0, 1.0)
        return found
    return (values - axis.low) / (axis.high - axis.low)


def _find_row(place: float, height: int) -> int:
    """The row that a bar of this height ends in."""
    return min(max(height - 1 - int(place * height - 1e-9), 0), height - 1)


def _find_level(place: float, height: int) -> int:
    return round((1 - min(max(place, 0.0), 1.0)) * (height - 1))
