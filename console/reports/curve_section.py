"""The section on sweeps in reports for people: curves as SVG paths with their tables.

Only digits and fixed letters go into a path. Curves that are too many are counted in words.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from benchconsole.console.curves.curve_model import Chart, Curve, ValueScale, make_scale
from benchconsole.console.curves.curve_text import (
    PointRow,
    format_chart_name,
    format_cohort_name,
    format_sentences,
    format_shapes,
    format_value,
    make_point_table,
)
from benchconsole.console.curves.sweep_series import ChartCache
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import format_quantity
from benchconsole.topology.units import Shown, Unit
from benchconsole.topology.units import counted as count

MOST = 200
"""Charts that are drawn, and told in a report without pictures."""

WIDTH, HEIGHT = 640, 200
SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "m0-5l5 5l-5 5l-5-5z", "m-4-4l8 8m0-8l-8 8", "m-5 0h10m-5-5v10",
    "m-4-4h8v8h-8z", "m0-5l5 9h-10z",
)  # fmt: skip
"""The shape at a point of each curve, from its middle."""

_EDGE = 8


class CurvePaths(NamedTuple):
    """One curve as paths: its line, the spread and the shape of each point; ``key`` is the shape for the legend."""

    name: str
    line: str
    spreads: str
    points: str
    key: str


class CurveSection(NamedTuple):
    """One chart: its curves, what was required as a path, labels of both axes, and its table."""

    stage: str
    name: str
    unit: str
    axis: str
    curves: tuple[CurvePaths, ...]
    required: str
    ticks: tuple[str, ...]
    ends: tuple[str, str]
    said: tuple[str, ...]
    headings: Sequence[str]
    rows: Sequence[tuple[PointRow, Sequence[str]]]


def make_sections(view: RunView) -> tuple[tuple[CurveSection, ...], str]:
    """The charts of a session, and in words those that are too many; empty where there are none."""
    return make_chart_sections(ChartCache().compute(view))


def make_chart_sections(charts: Sequence[Chart]) -> tuple[tuple[CurveSection, ...], str]:
    """The same of charts that are known."""
    left = f"And {count(len(charts) - MOST, 'more curve')}; their numbers are in the JSON report."
    return tuple(map(_make_section, charts[:MOST])), left if len(charts) > MOST else ""


def _make_section(chart: Chart) -> CurveSection:
    up = make_scale(chart.numbers, 0.125 if chart.unit is Unit.BYTE_RATE and chart.shown is Shown.NETWORK else 1.0)
    across = {value: round(_EDGE + place * (WIDTH - 2 * _EDGE)) for value, place in chart.places.items()}
    headings, rows = make_point_table(chart)
    values = chart.values or ("", "")
    return CurveSection(
        stage=sanitize(chart.stage),
        name=format_chart_name(chart),
        unit=_describe_values(chart) if chart.metric else "",
        axis=sanitize(chart.axis) + (", logarithmic" if chart.is_axis_log() else ""),
        curves=tuple(_draw_curve(chart, index, across, up) for index in range(len(chart.curves)))
        if chart.metric
        else (),
        required="".join(_draw_bounds(curve, across, up) for curve in chart.curves),
        ticks=tuple(format_quantity(tick, chart.unit, chart.shown) for tick in reversed(up.ticks)),
        ends=(values[0], values[-1]),
        said=(*format_sentences(chart), *format_shapes(chart)),
        headings=headings,
        rows=rows,
    )


def _describe_values(chart: Chart) -> str:
    """The unit of the values, and that their axis is logarithmic."""
    return format_value(chart) + ("; the axis of the values is logarithmic" if chart.is_value_log() else "")


def _draw_curve(chart: Chart, index: int, across: dict[str, int], up: ValueScale) -> CurvePaths:
    curve, shape = chart.curves[index], SHAPES[index % len(SHAPES)]
    at = {point.value: (across[point.value], _scale_down(up, point.median or 0.0)) for point in curve.measured}
    ordered = all(point.at is not None for point in curve.points)
    asked = [point for point in curve.points if point.is_asked]
    joined = [(at[one.value], at[two.value]) for one, two in pairwise(asked) if one.values and two.values]
    return CurvePaths(
        name=format_cohort_name(chart, curve),
        line="".join(f"M{one[0]} {one[1]}L{two[0]} {two[1]}" for one, two in joined) if ordered else "",
        spreads="".join(
            f"M{across[point.value]} {_scale_down(up, point.low or 0.0)}V{_scale_down(up, point.high or 0.0)}"
            for point in curve.measured
        ),
        points="".join(f"M{x} {y}{shape}" for x, y in at.values()),
        key=f"M6 6{shape}",
    )


def _draw_bounds(curve: Curve, across: dict[str, int], up: ValueScale) -> str:
    """The required bounds, as far as half way to the neighbours of a point."""
    places = [across[point.value] for point in curve.points]
    found = []
    for index, point in enumerate(curve.points):
        first = (places[max(index - 1, 0)] + places[index]) // 2
        last = (places[index] + places[min(index + 1, len(places) - 1)]) // 2
        ends = {point.bounds[0], point.bounds[-1]} if point.bounds else set()
        found += [f"M{first} {_scale_down(up, bound)}H{last}" for bound in sorted(ends)]
    return "".join(found)


def _scale_down(up: ValueScale, value: float) -> int:
    """How far from the upper edge a value stands."""
    return round(_EDGE + (1 - min(max(up.find_height(value), 0.0), 1.0)) * (HEIGHT - 2 * _EDGE))
