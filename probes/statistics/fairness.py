"""The fairness of shares among clients: Jain's index, and the most over the least with and without outliers."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from benchconsole.probes.statistics.peers import find_deviants
from benchconsole.topology.arrays import Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class Fairness:
    """How clients shared what they had together. ``values`` are above 0, in their own order.

    ``low`` and ``high`` are the places of outliers (``find_deviants``), ``core`` those of all others.
    """

    values: Floats
    low: Indices
    high: Indices
    core: Indices

    @property
    def index(self) -> float:
        """Jain's index: 1 where all are alike, 1/n where one has everything.

        Jain, Chiu and Hawe, A quantitative measure of fairness and discrimination, DEC-TR-301, 1984.
        """
        return float(self.values.sum() ** 2 / (len(self.values) * np.square(self.values).sum()))

    @property
    def ratio(self) -> float:
        """The most over the least."""
        return float(self.values.max() / self.values.min())

    @property
    def core_ratio(self) -> float:
        """The most over the least, without outliers."""
        core = self.values[self.core]
        return float(core.max() / core.min())

    @classmethod
    def of(cls, values: Floats) -> Self | None:
        """The fairness of two clients or more that each got something; None of fewer, and where one got nothing."""
        if len(values) < 2 or not np.isfinite(values).all() or values.min() <= 0:
            return None
        found = find_deviants(values)
        core = np.setdiff1d(np.arange(len(values)), np.concatenate((found.low, found.high)))
        return cls(values, found.low, found.high, core)
