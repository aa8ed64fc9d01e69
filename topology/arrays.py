"""The types of the numpy arrays that hold a fabric's numbers, and how some are made of others."""

from collections.abc import Callable
from itertools import repeat
from math import isqrt
from typing import Generic, TypeVarTuple, cast

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

NO_INDICES: Indices = np.empty(0, np.intp)
NO_FLOATS: Floats = np.empty(0)

_Columns = TypeVarTuple("_Columns")


def sum_at(values: Floats | Indices, at: Indices, size: int) -> Floats:
    """The sum of ``values`` at each of the places 0 to ``size`` - 1."""
    return np.bincount(at, weights=values, minlength=size).astype(np.float64, copy=False)


def join_slices(start: Indices, count: Indices) -> Indices:
    """The positions of several slices, one after the other."""
    ends = np.cumsum(count)
    return np.arange(int(count.sum())) + np.repeat(start - ends + count, count)


def mix_words(words: Words) -> Words:
    """64 bits for each word, each of which depends on each of it.

    SplitMix64: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


_SPARSE = 16
"""Times as many possible values as values from which sorting these is cheaper than a look at all possible ones."""


def find_distinct(values: Indices, size: int) -> tuple[Indices, Indices]:
    """The different ones of ``values``, all in [0, ``size``), in order, and which of them each value is."""
    if size > _SPARSE * len(values):
        found, at = np.unique(values, return_inverse=True)
        return found, at
    is_met = np.zeros(size, bool)
    is_met[values] = True
    found = np.flatnonzero(is_met)
    place = np.empty(size, np.intp)
    place[found] = np.arange(len(found))
    return found, place[values]


def find_in_order(values: Indices) -> tuple[Indices, Indices]:
    """The different ones of ``values``, none below 0, in the order in which they are first met, and which of them each
    value is.
    """
    found, at = find_distinct(values, int(values.max(initial=-1)) + 1)
    first = np.full(len(found), len(values))
    np.minimum.at(first, at, np.arange(len(values)))
    order = np.argsort(first)
    place = np.empty(len(found), np.intp)
    place[order] = np.arange(len(found))
    return found[order], place[at]


def list_distinct(values: Indices) -> list[int]:
    """The different ones of ``values`` in the order in which they are first met."""
    return [int(value) for value in find_in_order(values)[0]]


def split_alike(values: Indices) -> list[Indices]:
    """The positions of equal ``values``, ascending, for each different one of them, in the order of the values."""
    order = np.argsort(values, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(values[order])) + 1) if len(values) else []


def pair_numbers(one: Indices, other: Indices) -> Indices:
    """A number for each pair of numbers from 0, below the square of what follows the larger of the two.

    M. Szudzik, An Elegant Pairing Function, Wolfram Research 2006.
    """
    return np.where(one < other, other * other + one, one * one + one + other)


def split_pair(pair: int) -> tuple[int, int]:
    """The two numbers of which ``pair_numbers`` made one."""
    larger = isqrt(pair)
    rest = pair - larger * larger
    return (rest, larger) if rest < larger else (larger, rest - larger)


class Ragged(Generic[*_Columns]):
    """Rows of several values each, one row after the other in flat columns. Rows are only added.

    Row ``r`` has its values at ``start[r]`` to ``start[r] + count[r]`` of each column.
    """

    def __init__(self, *empty: *_Columns) -> None:
        """``empty`` are columns without a value, of the types that the columns are to have."""
        self.start: Indices = np.empty(0, np.intp)
        self.count: Indices = np.empty(0, np.intp)
        self.columns: tuple[*_Columns] = empty

    def add(self, count: Indices, *columns: *_Columns) -> Indices:
        """Add rows of so many values each; their numbers."""
        old = [cast(NDArray[np.generic], column) for column in self.columns]
        new = [cast(NDArray[np.generic], column) for column in columns]
        before, first = len(old[0]), len(self.start)
        both = tuple(np.concatenate(pair, dtype=pair[0].dtype) for pair in zip(old, new, strict=True))
        self.columns = cast(tuple[*_Columns], both)
        self.start = np.concatenate((self.start, before + np.cumsum(count) - count))
        self.count = np.concatenate((self.count, count))
        return np.arange(first, len(self.start))

    def find(self, rows: Indices) -> Indices:
        """The places of all values of ``rows``, row by row."""
        return join_slices(self.start[rows], self.count[rows])


_DENSE = 1 << 20
"""Keys below this are looked up in an array, which is as long as the highest of them asks for."""

_NEW = -2
"""No number of a key; -1 may be one, for what there is not."""


class KeyedNumbers:
    """A number for each integer key from 0, worked out when it is first asked for."""

    def __init__(self) -> None:
        self._near: Indices = np.empty(0, np.intp)
        self._far: dict[int, int] = {}

    def find(self, keys: Indices, work_out: Callable[[Indices], Indices]) -> Indices:
        """The numbers of ``keys``; ``work_out`` is given those that are new, each once and in order."""
        found = self._look_up(keys)
        missing = found == _NEW
        if missing.any():
            new, _ = find_distinct(keys[missing], int(keys.max()) + 1)
            self._keep(new, work_out(new))
            found = self._look_up(keys)
        return found

    def _look_up(self, keys: Indices) -> Indices:
        is_near = keys < len(self._near)
        if is_near.all():
            return self._near[keys]
        found = np.full(len(keys), _NEW)
        found[is_near] = self._near[keys[is_near]]
        is_far = keys >= _DENSE
        if is_far.any():
            far = keys[is_far].tolist()
            found[is_far] = np.fromiter(map(self._far.get, far, repeat(_NEW)), np.intp, len(far))
        return found

    def _keep(self, keys: Indices, numbers: Indices) -> None:
        is_near = keys < _DENSE
        if is_near.any():
            most = int(keys[is_near].max()) + 1
            if most > len(self._near):
                room = min(max(most, 2 * len(self._near)), _DENSE)
                self._near = np.concatenate((self._near, np.full(room - len(self._near), _NEW)))
            self._near[keys[is_near]] = numbers[is_near]
        self._far.update(zip(keys[~is_near].tolist(), numbers[~is_near].tolist(), strict=True))
