"""Owns the section on sweeps of reports for people: curves as SVG paths with their tables.

Only digits and fixed letters go into a path. Curves that are too many are counted in words; their numbers
are in the JSON report. Refuses colours: the template has them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from console.curve_words import (
    PointRow,
    chart_name,
    cohort_name,
    heading,
    point_rows,
    sentences,
    value_words,
    wanted_columns,
)
from console.curves import Chart, Curve, Rise, multiplies, rise
from console.sweeps import Sweeps
from console.view import RunView
from console.wording import count, plain, quantity
from topology.units import Shown, Unit

MOST = 24
"""Charts that are drawn, and told in a report without pictures."""

WIDTH, HEIGHT = 640, 200
SHAPES = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z", "m0-5l5 5l-5 5l-5-5z", "m-4-4l8 8m0-8l-8 8", "m-5 0h10m-5-5v10",
    "m-4-4h8v8h-8z", "m0-5l5 9h-10z",
)  # fmt: skip
"""What stands at a point of each curve, from its middle."""

_EDGE = 8


@dataclass(frozen=True, slots=True)
class Drawn:
    """One curve as paths: its line, the spread and the shape of each point; ``key`` is the shape for the legend."""

    name: str
    line: str
    spreads: str
    points: str
    key: str


@dataclass(frozen=True, slots=True)
class Section:
    """One chart: its curves, what was required as a path, labels of both axes, and its table."""

    stage: str
    name: str
    unit: str
    axis: str
    curves: tuple[Drawn, ...]
    required: str
    ticks: tuple[str, ...]
    ends: tuple[str, str]
    said: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[PointRow, tuple[str, ...]], ...]


def sections(view: RunView) -> tuple[tuple[Section, ...], str]:
    """The charts of a session, and in words those that are too many; empty where there are none."""
    charts = Sweeps().of(view)
    left = f"And {count(len(charts) - MOST, 'more curve')}; their numbers are in the JSON report."
    return tuple(map(_section, charts[:MOST])), left if len(charts) > MOST else ""


def _section(chart: Chart) -> Section:
    up = rise(chart.numbers, 0.125 if chart.unit is Unit.BYTE_RATE and chart.shown is Shown.NETWORK else 1.0)
    across = {value: round(_EDGE + place * (WIDTH - 2 * _EDGE)) for value, place in chart.places.items()}
    rows = point_rows(chart)
    columns = wanted_columns(rows)
    several = len(chart.curves) > 1
    values = chart.values or ("", "")
    known = [point.at for curve in chart.curves[:1] for point in curve.points if point.at is not None]
    return Section(
        stage=plain(chart.stage),
        name=chart_name(chart),
        unit=value_words(chart) if chart.metric else "",
        axis=plain(chart.axis) + (", logarithmic" if len(known) == len(values) and multiplies(known) else ""),
        curves=tuple(_drawn(chart, index, across, up) for index in range(len(chart.curves))) if chart.metric else (),
        required="".join(_bounds(curve, across, up) for curve in chart.curves),
        ticks=tuple(quantity(tick, chart.unit, chart.shown) for tick in reversed(up.ticks)),
        ends=(values[0], values[-1]),
        said=tuple(sentences(chart)),
        headings=(*(("cohort",) if several else ()), *(heading(chart, name) for name in columns)),
        rows=tuple((row, tuple(_cells(chart, row, columns, several=several))) for row in rows),
    )


def _cells(chart: Chart, row: PointRow, columns: Sequence[str], *, several: bool) -> Iterator[str]:
    if several:
        yield cohort_name(chart, chart.curves[row.curve])
    yield from (row.cells[name] for name in columns)


def _drawn(chart: Chart, index: int, across: dict[str, int], up: Rise) -> Drawn:
    curve, shape = chart.curves[index], SHAPES[index % len(SHAPES)]
    at = {point.value: (across[point.value], _down(up, point.median or 0.0)) for point in curve.measured}
    ordered = all(point.at is not None for point in curve.points)
    joined = [(at[one.value], at[two.value]) for one, two in pairwise(curve.points) if one.values and two.values]
    return Drawn(
        name=cohort_name(chart, curve),
        line="".join(f"M{one[0]} {one[1]}L{two[0]} {two[1]}" for one, two in joined) if ordered else "",
        spreads="".join(
            f"M{across[point.value]} {_down(up, point.low or 0.0)}V{_down(up, point.high or 0.0)}"
            for point in curve.measured
        ),
        points="".join(f"M{x} {y}{shape}" for x, y in at.values()),
        key=f"M6 6{shape}",
    )


def _bounds(curve: Curve, across: dict[str, int], up: Rise) -> str:
    """What was required, as far as half way to the neighbours of a point."""
    places = [across[point.value] for point in curve.points]
    found = []
    for index, point in enumerate(curve.points):
        first = (places[max(index - 1, 0)] + places[index]) // 2
        last = (places[index] + places[min(index + 1, len(places) - 1)]) // 2
        ends = {point.bounds[0], point.bounds[-1]} if point.bounds else set()
        found += [f"M{first} {_down(up, bound)}H{last}" for bound in sorted(ends)]
    return "".join(found)


def _down(up: Rise, value: float) -> int:
    """How far from the upper edge a value stands."""
    return round(_EDGE + (1 - min(max(up.of(value), 0.0), 1.0)) * (HEIGHT - 2 * _EDGE))
