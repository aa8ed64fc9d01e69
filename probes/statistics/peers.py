"""Peers: which of a group of alike subjects deviate from the others, and whether they are two groups or more.

Everything is robust: medians, and the median absolute deviation (MAD) from them, of the logarithms where all values are
above 0. A deviant is told where chance would give one in a hundred healthy groups at most, and only from ``LEAST`` on.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchconsole.topology.arrays import Floats, Indices

FEWEST = 5
"""A group of fewer has no deviants: nobody can tell who is usual."""

LEAST = 0.05
"""Deviations below this share of the median are none."""

CHANCE = 0.01
"""Healthy groups of normal numbers in which any deviant is named, as a share."""

APART, APART_OF_FEW, FEW = 5.0, 6.0, 50
"""Medians of two groups are apart by so many deviations within them, or they are one group; more below ``FEW`` values.

Fewer than 1 in 100 machines of 16 to 30 healthy nodes are parted so, whatever their distribution.
"""

FEWEST_OF_GROUP = 8
LEAST_OF_GROUP = 0.1
"""A group has so many members, and this share of all; what is apart and less are deviants."""

FAR, MOST_FAR = 0.2, 0.25
"""Deviants that are too many to be single ones, and too few to be a group, are told where they stand this far from all
others: a share of the nearest of these, and more than these spread. They are at most the second share of all.
"""

MOST_GROUPS = 4

_TO_DEVIATION = 1.4826
"""MAD to standard deviation of normal numbers (Rousseeuw and Croux, JASA 88, 1993)."""

_EFFICIENCY = 0.37
"""Of n numbers the MAD tells as much as the standard deviation of 0.37 n (the same)."""

_FINEST = 0.005
"""The deviation of a group is taken as this share of its median at least: equal numbers would make all else deviant."""


@dataclass(frozen=True, slots=True, eq=False)
class Deviants:
    """The subjects below (``low``) and above (``high``) their group, furthest first, by their places in it.

    ``median`` and ``deviation`` are those of the group; ``deviation`` is a share of the median. ``cut`` is the share
    of the median by which a subject may differ.
    """

    median: float
    deviation: float
    cut: float
    low: Indices
    high: Indices


def find_deviants(values: Floats, samples: int = 1) -> Deviants:
    """The deviants of one group of finite ``values``; none in groups below ``FEWEST``, and where the median is 0.

    ``samples`` are looked at together: chance names a deviant in any of them in ``CHANCE`` of all cases.
    """
    none = np.zeros(0, np.intp)
    median = float(np.median(values)) if len(values) else 0.0
    if len(values) < FEWEST or median == 0:
        return Deviants(median, 0.0, math.inf, none, none)
    distance, deviation = _measure_distances(values, median)
    cut = max(LEAST, deviation * _find_cut(len(values), samples))
    order = np.argsort(-np.abs(distance), kind="stable")
    apart = order[np.abs(distance[order]) > cut]
    return Deviants(median, deviation, cut, apart[distance[apart] < 0], apart[distance[apart] > 0])


def count_as_deviants(values: Floats, side: Indices) -> bool:
    """Whether the ``side`` of the deviants of ``values`` is told: few of all, or so far away that it is no spread."""
    if len(side) <= LEAST_OF_GROUP * len(values):
        return True
    if len(side) > MOST_FAR * len(values) or values.min() <= 0:
        return False
    apart = np.zeros(len(values), bool)
    apart[side] = True
    far, usual = np.log(values[apart]), np.log(values[~apart])
    gap = max(float(usual.min() - far.max()), float(far.min() - usual.max()))
    return gap > max(-math.log1p(-FAR), float(usual.max() - usual.min()))


def _measure_distances(values: Floats, median: float) -> tuple[Floats, float]:
    """How far each value is from the median, as a share of it, and the robust deviation of these shares.

    A value of half the median is as far as one of twice the median, where all are above 0.
    """
    distance = np.log(values / median) if values.min() > 0 else (values - median) / abs(median)
    deviation = _TO_DEVIATION * float(np.median(np.abs(distance)))
    return distance, max(deviation, _FINEST)


def _find_cut(number: int, samples: int) -> float:
    """How many robust deviations the furthest of ``number`` normal values reaches by chance in any of ``samples``."""
    from scipy.special import stdtrit  # scipy is slow to load

    return float(stdtrit(_EFFICIENCY * (number - 1), 1 - CHANCE / (2 * number * samples)))


def find_groups(values: Floats) -> tuple[Indices, ...]:
    """The places of ``values`` by group, lowest group first; one group where nothing parts them.

    Sorted values are parted where the sum of squares within the parts becomes least (Fisher, JASA 53, 1958), one part
    after the other. The most parts count, up to ``MOST_GROUPS``, of which each two neighbours are apart: their medians
    by ``APART`` and by ``LEAST``, and each has members enough.
    """
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    least = max(FEWEST_OF_GROUP, math.ceil(LEAST_OF_GROUP * len(values)))
    apart = APART if len(values) >= FEW else APART_OF_FEW
    kept: list[int] = []
    ends: list[int] = []
    for _ in range(MOST_GROUPS - 1):
        ends = _split_further(ranked, ends, least)
        parts = np.split(ranked, ends)
        if len(parts) > len(kept) + 1 and all(_are_apart(one, other, apart) for one, other in pairwise(parts)):
            kept = ends
    return tuple(np.split(order, kept))


def _scale(values: Floats) -> Floats:
    """Sorted values on the scale on which shares of them are distances."""
    return np.asarray(np.log(values) if values[0] > 0 else values / max(float(np.abs(values).max()), 1e-300))


def _split_further(ranked: Floats, ends: Sequence[int], least: int) -> list[int]:
    """``ends`` of parts with one more, which lowers the sum of squares most; the same where no part is large enough."""
    starts = [0, *ends]
    splits = [
        (gain, start + place)
        for start, end in zip(starts, [*ends, len(ranked)], strict=True)
        for gain, place in _find_split(ranked[start:end], least)
    ]
    return sorted([*ends, max(splits)[1]]) if splits else list(ends)


def _find_split(ranked: Floats, least: int) -> Iterator[tuple[float, int]]:
    """Where a part falls into two of ``least`` or more, and by how much that lowers the sum of squares."""
    number = len(ranked)
    if number < 2 * least:
        return
    scaled = _scale(ranked)
    places = np.arange(least, number - least + 1)
    clipped = np.clip(scaled, scaled[least - 1], scaled[-least])  # deviants, which are fewer, draw no line
    total = np.cumsum(clipped)
    below, whole = total[places - 1], total[-1]
    gain = np.square(below) / places + np.square(whole - below) / (number - places) - whole**2 / number
    best = int(np.argmax(gain))
    yield float(gain[best]), int(places[best])


def _are_apart(one: Floats, other: Floats, apart: float) -> bool:
    scaled = _scale(np.concatenate((one, other)))
    low, high = scaled[: len(one)], scaled[len(one) :]
    spread = max(_find_spread(low), _find_spread(high), _FINEST)
    return float(np.median(high) - np.median(low)) > max(apart * spread, LEAST)


def _find_spread(values: Floats) -> float:
    return _TO_DEVIATION * float(np.median(np.abs(values - np.median(values))))
