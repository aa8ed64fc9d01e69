"""The least cut between two sets of devices where ceilings inside devices pass less than their cables.

Two sets exchange at most the maximum flow between them (Ford and Fulkerson, Canadian J. Math. 8, 1956). Ceilings may
have ports in common, which is no plain graph, so it is a linear program; the prices of its optimum tell which cables
and ceilings are full. Byte/s on the wire in one direction. ``topology.analysis.bisection`` asks it where a ceiling is
narrow, and counts cables alone where none is.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.analysis.device_ceilings import list_narrow
from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.capacity.linear_program import LinearProgram, make_matrix, solve
from benchconsole.topology.model.ceiling import Ceiling
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.routing.passed_ceilings import list_inside
from benchconsole.topology.tables.fabric_tables import Tables

_FULL = 1e-6
"""The price of a place that the cut passes is 1, or shared between places that are full together."""


@dataclass(frozen=True, slots=True)
class LimitedCut:
    """``bound`` byte/s, the numbers of the ``links`` that are parted, and the ``ceilings`` with their devices."""

    bound: float
    links: Indices
    ceilings: tuple[tuple[str, Ceiling], ...]


def has_narrow_ceilings(fabric: Fabric) -> bool:
    """Whether any ceiling passes less than the cables below it."""
    return any(True for _ in list_narrow(fabric))


def find_limited_cut(cabled: Tables, near: Flags, far: Flags) -> LimitedCut:
    """The least cut between the devices marked ``near`` and those marked ``far``.

    ArithmeticError where the certificate of the linear program fails.
    """
    return _Program(cabled, near, far).solve()


class _Program:
    """Columns: each link that can carry any of it, from its lower to its upper end, then the other way round."""

    def __init__(self, cabled: Tables, near: Flags, far: Flags) -> None:
        self._cabled = cabled
        ends = cabled.forwards | near | far
        self._used = np.flatnonzero((cabled.usable > 0) & ends[cabled.low] & ends[cabled.high])
        low, high = cabled.low[self._used], cabled.high[self._used]
        self._tail, self._head = np.concatenate((low, high)), np.concatenate((high, low))
        rates = cabled.usable[self._used]
        self._scale = float(rates.max(initial=1.0))
        self._capacity = np.concatenate((rates, rates)) / self._scale
        # A node that does not forward sends or receives, and nothing goes through it.
        silent = (near & ~cabled.forwards)[self._head] | (far & ~cabled.forwards)[self._tail]
        self._capacity[silent] = 0.0
        self._gain = far[self._head].astype(float) - far[self._tail]
        self._between = np.flatnonzero(cabled.forwards & ~near & ~far)
        self._ceilings = list(self._list_sides())

    def _list_sides(self) -> Iterator[tuple[str, Ceiling, Indices, Floats]]:
        """Each direction of each ceiling: its device, the columns that pass it, and which part of each does."""
        fabric, column = (
            self._cabled.fabric,
            {self._cabled.ids[link]: at for at, link in enumerate(self._used.tolist())},
        )
        for device, ceilings in fabric.ceilings.items():
            number = self._cabled.index[device]
            links = [(link, column[link.id]) for link in fabric.links_at[device] if link.id in column]
            for ceiling in ceilings:
                parts = [(np.mean(list_inside(link, device, ceiling)), at) for link, at in links]
                shares = np.array([part for part, _ in parts if part])
                places = np.array([at for part, at in parts if part], np.intp)
                out = np.where(self._tail[places] == number, places, places + len(self._used))
                for columns in (out, (out + len(self._used)) % (2 * len(self._used))):
                    if len(columns):
                        yield device, ceiling, columns, shares

    def solve(self) -> LimitedCut:
        """The cut, and where it is narrow."""
        if not len(self._used):
            return LimitedCut(0.0, self._used, ())
        balance = self._number_balance()
        rows = [balance[self._head], balance[self._tail]]
        width = len(self._tail)
        values = [np.ones(width), -np.ones(width)]
        columns = [np.arange(width)] * 2
        for number, (_, _, passing, shares) in enumerate(self._ceilings, len(self._between)):
            rows.append(np.full(len(passing), number))
            values.append(shares)
            columns.append(passing)
        row, value, column = np.concatenate(rows), np.concatenate(values), np.concatenate(columns)
        kept = row >= 0
        height = len(self._between) + len(self._ceilings)
        matrix = make_matrix(value[kept], row[kept], column[kept], height, width)
        limits = np.array([ceiling.rate / self._scale for _, ceiling, _, _ in self._ceilings])
        bound = np.concatenate((np.zeros(len(self._between)), limits))
        found = solve(LinearProgram(self._gain, self._capacity, matrix, bound, len(self._between)))
        price = self._gain - matrix.T @ found.price
        full = np.flatnonzero((price > _FULL) & (self._capacity > 0)) % len(self._used)
        narrow = found.price[len(self._between) :] > _FULL
        ceilings = dict.fromkeys(
            (device, each) for (device, each, _, _), is_full in zip(self._ceilings, narrow, strict=True) if is_full
        )
        return LimitedCut(float(f"{found.value * self._scale:.10g}"), self._used[np.unique(full)], tuple(ceilings))

    def _number_balance(self) -> Indices:
        """Per device the row in which what comes in is what goes out; -1 for one that sends, receives or is silent."""
        row = np.full(len(self._cabled.names), -1)
        row[self._between] = np.arange(len(self._between))
        return row
