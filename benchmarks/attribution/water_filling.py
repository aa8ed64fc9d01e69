"""Max-min fair rates of streams over cables, written for the referee alone, and the certificate of their fairness.

All rates rise together, each in proportion to the weight of its stream, until a cable is full: its streams stop, the
others go on (Bertsekas and Gallager, Data Networks, chapter 6).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

TIE = 1e-9
"""Levels that differ by less, relatively, are one."""


class Crossing(NamedTuple):
    """Entry ``i``: the stream ``stream[i]`` sends the part ``share[i]`` of itself over the cable ``cable[i]``."""

    stream: Ints
    cable: Ints
    share: Floats


def fill(crossing: Crossing, capacity: Floats, weight: Floats, demand: Floats) -> Floats:
    """The rate of each stream, in the unit of ``capacity`` (by cable) and ``demand`` (by stream, inf for no limit).

    ``weight`` is what a stream counts for beside others. Every stream must cross a cable or have a finite demand.
    """
    stream, cable, share = crossing
    level = np.zeros(len(weight))
    active = np.ones(len(weight), bool)
    left = capacity.astype(float)
    while active.any():
        live = active[stream]
        at, over, part = stream[live], cable[live], share[live]
        load = np.bincount(over, part * weight[at], minlength=len(capacity))
        full = np.full(len(capacity), np.inf)
        np.divide(left, load, out=full, where=load > 0)
        reach = np.where(active, demand / weight, np.inf)
        np.minimum.at(reach, at, full[over])
        if not np.isfinite(reach[active]).all():
            raise ValueError("a stream crosses no cable and has no demand: nothing limits it")
        lowest = np.full(len(capacity), np.inf)
        np.minimum.at(lowest, over, reach[at])
        # No stream on such a cable is held back elsewhere before, and shares of others can only grow.
        tight = lowest >= full * (1 - TIE)
        stopped = active & (demand / weight <= reach * (1 + TIE))
        stopped[at[tight[over]]] = True
        level[stopped] = reach[stopped]
        gone = stopped[at]
        left -= np.bincount(over[gone], (part * weight[at] * level[at])[gone], minlength=len(capacity))
        np.maximum(left, 0.0, out=left)
        active &= ~stopped
    return level * weight


def is_max_min_fair(crossing: Crossing, capacity: Floats, weight: Floats, demand: Floats, rate: Floats) -> bool:
    """Whether no cable is overloaded, and each stream has its demand or a full cable on which no stream has more."""
    stream, cable, share = crossing
    load = np.bincount(cable, share * rate[stream], minlength=len(capacity))
    if (load > capacity * (1 + 1e-6)).any() or (rate > demand * (1 + 1e-6)).any():
        return False
    level = rate / weight
    highest = np.zeros(len(capacity))
    np.maximum.at(highest, cable, level[stream])
    held = (load[cable] >= capacity[cable] * (1 - 1e-6)) & (level[stream] >= highest[cable] * (1 - 1e-6))
    bounded = rate >= demand * (1 - 1e-6)
    bounded[stream[held]] = True
    return bool(bounded.all())
