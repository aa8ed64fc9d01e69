"""A series of numbers in one row: a cell for each, in eight heights."""

import math
from collections.abc import Sequence

HEIGHTS = "▁▂▃▄▅▆▇█"

LEAST_SPAN = 0.2
"""The share of the largest number that the whole height is worth at least: chance must not look like a change."""


def draw_sparkline(values: Sequence[float | None]) -> str:
    """A cell for each value, blank where there is none, ``?`` where it is not finite."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    largest = max(map(abs, known), default=0.0) or 1.0
    low, high = min(known, default=0.0) / largest, max(known, default=0.0) / largest
    span = max(high - low, LEAST_SPAN)
    # Where chance alone is shown its middle lies within a height, and not between two.
    within = 0.5 / len(HEIGHTS) if span > high - low else 0.0
    bottom = (low + high) / 2 - span * (0.5 + within)
    return "".join(_draw(value, largest, bottom, span) for value in values)


def _draw(value: float | None, largest: float, bottom: float, span: float) -> str:
    if value is None:
        return " "
    if not math.isfinite(value):
        return "?"
    share = (value / largest - bottom) / span
    return HEIGHTS[max(min(int(share * len(HEIGHTS)), len(HEIGHTS) - 1), 0)]
