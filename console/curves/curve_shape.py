"""The shape of a curve of a rate over a growing load: maximum, plateau, saturation, collapse, dips. Pure.

Each is defined on the medians of the measured points, with one tolerance; ``docs/explanation/sweeps.md`` has the
definitions. A mark that the spread of a point could turn round is not certain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchconsole.console.curves.curve_model import Curve, Point

TOLERANCE = 0.05
"""Values within this share of each other are alike."""

COLLAPSE = 0.5
"""A curve has collapsed where it stays below this share of its maximum."""

FEWEST = 4
"""Of fewer measured points nothing but the maximum is told."""


class Place(NamedTuple):
    """A point that means something; ``certain`` where no spread of a point speaks against it."""

    point: Point
    certain: bool


@dataclass(frozen=True, slots=True)
class CurveShape:
    """The marks of one curve; None and empty where there are none, or ``is_short``.

    ``plateau`` are its first and last point. ``saturation`` is the last point before the curve falls for good.
    ``is_rising``: the last measured point is the maximum and stands on no plateau, so the sweep may have ended early.
    """

    maximum: Point
    plateau: tuple[Place, Place] | None = None
    saturation: Place | None = None
    collapse: Place | None = None
    dips: tuple[Place, ...] = ()
    is_rising: bool = False
    is_short: bool = False


def find_shape(curve: Curve, tolerance: float = TOLERANCE) -> CurveShape | None:
    """The shape of a curve of which more is better; None on an axis of words, and where nothing was measured."""
    points = curve.measured
    if not points or any(point.at is None for point in curve.points):
        return None
    values = [point.median or 0.0 for point in points]
    top = values.index(max(values))
    maximum = points[top]
    if len(points) < FEWEST:
        return CurveShape(maximum, is_short=True)
    first, last = _find_run(values, top, tolerance)
    plateau = None
    if last > first:
        plateau = (
            Place(points[first], first == 0 or _is_below(points[first - 1], values[top] * (1 - tolerance))),
            Place(points[last], last == len(points) - 1 or _is_below(points[last + 1], values[top] * (1 - tolerance))),
        )
    falls = last < len(points) - 1 and max(values[last + 1 :]) < values[top] * (1 - tolerance)
    saturation = Place(points[last], all(_is_below(each, values[top] * (1 - tolerance)) for each in points[last + 1 :]))
    return CurveShape(
        maximum,
        plateau,
        saturation if falls else None,
        _find_collapse(points, values, top),
        tuple(_list_dips(points, values, tolerance)),
        is_rising=plateau is None and top == len(points) - 1,
    )


def _is_below(point: Point, bound: float) -> bool:
    return (point.high or 0.0) < bound


def _is_above(point: Point, bound: float) -> bool:
    return (point.low or 0.0) > bound


def _find_run(values: Sequence[float], top: int, tolerance: float) -> tuple[int, int]:
    """The first and last of the consecutive places around ``top`` whose values are alike."""
    least = values[top] * (1 - tolerance)
    first = last = top
    while first > 0 and values[first - 1] >= least:
        first -= 1
    while last < len(values) - 1 and values[last + 1] >= least:
        last += 1
    return first, last


def _find_collapse(points: Sequence[Point], values: Sequence[float], top: int) -> Place | None:
    """The first point after the maximum from which on all stay below half of it."""
    bound = COLLAPSE * values[top]
    start = len(values)
    while start > top + 1 and values[start - 1] <= bound:
        start -= 1
    if start == len(values):
        return None
    return Place(points[start], all(_is_below(each, bound) for each in points[start:]))


def _list_dips(points: Sequence[Point], values: Sequence[float], tolerance: float) -> Iterator[Place]:
    """The lowest point of each stretch that is below what was reached before it and again after it."""
    stretch: list[int] = []
    for place in range(1, len(values)):
        before, after = max(values[:place]), max(values[place + 1 :], default=0.0)
        is_low = values[place] < min(before, after) * (1 - tolerance)
        if is_low:
            stretch.append(place)
        if stretch and (not is_low or place == len(values) - 1):
            lowest = min(stretch, key=values.__getitem__)
            yield _make_dip(points, values, lowest, tolerance)
            stretch = []


def _make_dip(points: Sequence[Point], values: Sequence[float], lowest: int, tolerance: float) -> Place:
    before = max(range(lowest), key=values.__getitem__)
    after = max(range(lowest + 1, len(values)), key=values.__getitem__)
    bound = min(values[before], values[after]) * (1 - tolerance)
    certain = _is_below(points[lowest], bound) and all(_is_above(points[each], bound) for each in (before, after))
    return Place(points[lowest], certain)
