"""The histogram of a sample: how many numbers are in bins of equal width, or on logarithms of equal ratio. Pure."""

import math
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """``counts`` of the numbers in each bin; bin i begins at ``edges[i]`` and ends before ``edges[i + 1]``.

    The last bin holds its end. Of numbers that are all equal there is one bin without a width. ``place`` is the bin of
    each number, in the order in which they were given.
    """

    edges: Floats
    counts: Indices
    place: Indices


def make_histogram(values: Floats, most: int, *, is_log: bool = False) -> Histogram:
    """The histogram of finite ``values``, one or more, from the lowest to the highest, in at most ``most`` bins.

    With ``is_log`` it is that of their logarithms, all above 0: each bin is as many times as wide as the one before.
    """
    if is_log:
        return _make_log_histogram(values, most)
    low, high = float(values.min()), float(values.max())
    if not low < high:
        return Histogram(np.array([low, high]), np.array([len(values)], np.intp), np.zeros(len(values), np.intp))
    number = choose_bin_count(values, most)
    place = np.minimum((values - low) / (high - low) * number, number - 1).astype(np.intp)
    counts = np.bincount(place, minlength=number).astype(np.intp, copy=False)
    return Histogram(np.linspace(low, high, number + 1), counts, place)


def _make_log_histogram(values: Floats, most: int) -> Histogram:
    low, high = float(values.min()), float(values.max())
    found = make_histogram(np.log(values), most)
    edges = np.clip(np.exp(found.edges), low, high)
    edges[0], edges[-1] = low, high
    return Histogram(edges, found.counts, found.place)


def choose_bin_count(values: Floats, most: int) -> int:
    """How many bins tell the shape of ``values``, from 1 to ``most``.

    A bin is 2 IQR / n^(1/3) wide (Freedman and Diaconis, On the histogram as a density estimator, Zeitschrift für
    Wahrscheinlichkeitstheorie 57, 1981). Where the middle half of the numbers are equal, there are 1 + log2 n bins
    (Sturges, The choice of a class interval, Journal of the American Statistical Association 21, 1926).
    """
    lower, upper = np.quantile(values, (0.25, 0.75))
    span = float(values.max() - values.min())
    width = 2 * float(upper - lower) / len(values) ** (1 / 3)
    wanted = span / width if width > span / most else float(most) if width > 0 else 1 + math.log2(len(values))
    return max(1, min(math.ceil(wanted - 1e-9), most))
