"""The types of the numpy arrays that hold a fabric's numbers, and how some are made of others."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


def sum_at(values: Floats | Indices, at: Indices, size: int) -> Floats:
    """The sum of ``values`` at each of the places 0 to ``size`` - 1."""
    return np.bincount(at, weights=values, minlength=size).astype(np.float64, copy=False)


def join_slices(start: Indices, count: Indices) -> Indices:
    """The positions of several slices, one after the other."""
    ends = np.cumsum(count)
    return np.arange(int(count.sum())) + np.repeat(start - ends + count, count)
