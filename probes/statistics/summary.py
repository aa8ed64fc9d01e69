"""The summary of a sample: n, mean, deviation, interval of the mean, median, percentiles, least and most."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Floats

CONFIDENCE = 0.95
"""The confidence of every interval, unless said otherwise."""


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """A sample of one number or more, in the unit of its ``values``, which are sorted.

    ``deviation`` is the sample standard deviation (n - 1), ``error`` the standard error of the mean; both are None of
    one number. ``low`` and ``high`` bound the mean with ``CONFIDENCE`` (Student, Biometrika 6, 1908), None of one.
    """

    values: Floats
    mean: float
    deviation: float | None
    error: float | None
    low: float | None
    high: float | None

    @property
    def number(self) -> int:
        """How many numbers there are."""
        return len(self.values)

    @property
    def lowest(self) -> float:
        return float(self.values[0])

    @property
    def highest(self) -> float:
        return float(self.values[-1])

    @property
    def median(self) -> float:
        return self.percentile(0.5)

    def percentile(self, share: float) -> float:
        """The value that ``share`` of the sample are not above, between neighbours in proportion.

        Type 7 of Hyndman and Fan, Sample quantiles in statistical packages, The American Statistician 50, 1996.
        """
        return float(np.quantile(self.values, share))


def summarise(values: Iterable[float]) -> Summary | None:
    """The summary of the finite numbers among ``values``; None without any."""
    found = np.sort(np.fromiter(values, np.float64))
    found = found[np.isfinite(found)]
    if not len(found):
        return None
    mean = float(found.mean())
    if len(found) == 1:
        return Summary(found, mean, None, None, None, None)
    # The mean of equal numbers may differ from them in its last bit.
    deviation = float(found.std(ddof=1)) if found[0] < found[-1] else 0.0
    error = deviation / math.sqrt(len(found))
    half = error * find_student(len(found) - 1, CONFIDENCE)
    return Summary(found, mean, deviation, error, mean - half, mean + half)


def find_student(freedom: float, confidence: float) -> float:
    """How many standard errors hold the middle ``confidence`` of Student's distribution with ``freedom`` degrees."""
    from scipy.special import stdtrit  # scipy is slow to load

    return float(stdtrit(freedom, (1 + confidence) / 2))
