"""Statistics by their names in a file: mean, median, lowest, highest, sum, and percentiles such as p95."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean, median

NAMES = ("mean", "median", "lowest", "highest", "sum", "p1 to p99")
"""As messages list them."""

_PERCENTILE = re.compile(r"p([1-9][0-9]?)")
_COMPUTE: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": fmean,
    "median": median,
    "lowest": min,
    "highest": max,
    "sum": math.fsum,
}


def is_statistic(name: str) -> bool:
    """Whether ``name`` is that of a statistic."""
    return name in _COMPUTE or _PERCENTILE.fullmatch(name) is not None


def compute_statistic(name: str, values: Sequence[float]) -> float:
    """The statistic of one number or more; percentiles between neighbours in proportion. ValueError for other names."""
    if name in _COMPUTE:
        return _COMPUTE[name](values)
    match = _PERCENTILE.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is no statistic")
    ranked = sorted(values)
    place = (len(ranked) - 1) * int(match[1]) / 100
    below = math.floor(place)
    above = min(below + 1, len(ranked) - 1)
    return ranked[below] + (ranked[above] - ranked[below]) * (place - below)
