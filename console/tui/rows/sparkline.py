"""A series of numbers in one row: a cell for each, in eight heights."""

import math
from collections.abc import Sequence

HEIGHTS = "▁▂▃▄▅▆▇█"

LEAST_SPAN = 0.2
"""The share of the largest number that the whole height is worth at least: chance must not look like a change."""


def draw_sparkline(values: Sequence[float | None]) -> str:
    """A cell for each value, blank where there is none, ``?`` where it is not finite."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    low, high = min(known, default=0.0), max(known, default=0.0)
    span = max(high - low, LEAST_SPAN * max(abs(low), abs(high)))
    # The middle lies within a height and not between two, where chance would show.
    return "".join(_draw(value, (low + high) / 2 - span * 4.5 / len(HEIGHTS), span) for value in values)


def _draw(value: float | None, bottom: float, span: float) -> str:
    if value is None:
        return " "
    if not math.isfinite(value):
        return "?"
    share = (value - bottom) / span if span else 0.5
    return HEIGHTS[min(int(share * len(HEIGHTS)), len(HEIGHTS) - 1)]
