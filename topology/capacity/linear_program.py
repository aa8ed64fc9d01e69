"""Linear programs of routing, made small before they are solved: what is alike in them gets one variable.

Rows and columns that colour refinement cannot tell apart are one row and one column, which changes no optimum (Grohe,
Kersting, Mladenov and Selman, Dimension Reduction via Colour Refinement, ESA 2014). Works on numbers only.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchconsole.topology.arrays import Floats, Indices

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_Words = NDArray[np.uint64]

_WITHIN = 1e-6
"""Relative error of a row, or of a price, above which an answer is none."""


@dataclass(frozen=True, slots=True)
class LinearProgram:
    """Maximise ``gain`` times the variables, which are at least 0 and at most ``most``.

    The first ``equal`` rows of ``matrix`` are to be ``bound``, the others at most ``bound``.
    """

    gain: Floats
    most: Floats
    matrix: "csr_array"
    bound: Floats
    equal: int


@dataclass(frozen=True, slots=True)
class Solution:
    """The ``value`` of the optimum, its variables, and the ``price`` of each row: what one more of it would gain."""

    value: float
    variables: Floats
    price: Floats


def make_matrix(values: ArrayLike, rows: ArrayLike, columns: ArrayLike, height: int, width: int) -> "csr_array":
    """The matrix with these values at these places, 0 elsewhere; those at one place are added."""
    # Scipy takes as long to load as a file of ten thousand nodes, and few questions need it.
    from scipy.sparse import coo_array, csr_array

    return csr_array(coo_array((values, (rows, columns)), shape=(height, width)))


def stack_rows(*parts: "csr_array") -> "csr_array":
    """The rows of several matrices, one after the other; those without rows are left out."""
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack([part for part in parts if part.shape[0]]))


def solve(program: LinearProgram) -> Solution:
    """The optimum. ArithmeticError where there is none, or where the answer breaks a row."""
    from scipy.optimize import linprog

    rows, columns = _refine(program)
    small = _reduce(program, rows, columns)
    equal = slice(0, small.equal)
    rest = slice(small.equal, None)
    found = linprog(
        -small.gain,
        A_ub=small.matrix[rest] if small.matrix.shape[0] > small.equal else None,
        b_ub=small.bound[rest] if small.matrix.shape[0] > small.equal else None,
        A_eq=small.matrix[equal] if small.equal else None,
        b_eq=small.bound[equal] if small.equal else None,
        bounds=np.stack((np.zeros(len(small.most)), small.most), axis=1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if not found.success:
        raise ArithmeticError(f"the linear program of the optimum was not solved: {found.message}")
    variables = (np.maximum(found.x, 0.0) / np.bincount(columns))[columns]
    prices = -np.concatenate((found.eqlin.marginals, found.ineqlin.marginals))[rows]
    if not certify(program, variables, prices):
        raise ArithmeticError("the optimum of the linear program fails its certificate")
    return Solution(float(-found.fun), variables, prices)


def certify(program: LinearProgram, variables: Floats, price: Floats) -> bool:
    """Whether ``variables`` keep every row and no others gain more, which ``price`` proves (duality)."""
    found = program.matrix @ variables
    scale = np.maximum(1.0, np.maximum(np.abs(program.bound), abs(program.matrix) @ variables))
    over = (found - program.bound) / scale
    if (over > _WITHIN).any() or (over[: program.equal] < -_WITHIN).any():
        return False
    dear = np.maximum(program.gain - program.matrix.T @ price, 0.0)
    limited = np.isfinite(program.most)
    if (price[program.equal :] < -_WITHIN).any() or (dear[~limited] > _WITHIN).any():
        return False
    reached = float(program.gain @ variables)
    limit = float(program.bound @ price + program.most[limited] @ dear[limited])
    return bool(limit <= reached + _WITHIN * max(1.0, abs(reached)))


def _refine(program: LinearProgram) -> tuple[Indices, Indices]:
    """The class of each row and each column: of one class are those that stand alike to every other class."""
    entries = program.matrix.tocoo()
    value = _number(entries.data)
    rows = _number(program.bound, np.arange(len(program.bound)) >= program.equal)
    columns = _number(program.gain, program.most)
    by_row = np.argsort(entries.row, kind="stable")
    by_column = np.argsort(entries.col, kind="stable")
    while True:
        before = rows.max(initial=0) + columns.max(initial=0)
        columns = _number(_sum_words(entries.col, by_column, _mix(rows[entries.row], value), len(columns)), columns)
        rows = _number(_sum_words(entries.row, by_row, _mix(columns[entries.col], value), len(rows)), rows)
        if rows.max(initial=0) + columns.max(initial=0) == before:
            return rows, columns


def _number(*keys: NDArray[np.generic]) -> Indices:
    """Equal combinations of keys get equal numbers, from 0, in the order of the last key first."""
    order = np.lexsort(keys)
    new = np.zeros(len(order), bool)
    for key in keys:
        new[1:] |= key[order[1:]] != key[order[:-1]]
    found = np.empty(len(order), np.intp)
    found[order] = np.cumsum(new)
    return found


def _mix(one: Indices, other: Indices) -> _Words:
    """64 bits of two numbers (SplitMix64: Steele, Lea and Flood, OOPSLA 2014); never 0, which would add nothing."""
    word = (one.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15) + other.astype(np.uint64)
    word = (word ^ word >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ word >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return word ^ word >> np.uint64(31)


def _sum_words(place: Indices, order: Indices, words: _Words, size: int) -> _Words:
    """The sum, modulo 2**64, of the words of each place."""
    found = np.zeros(size, np.uint64)
    if len(order):
        sorted_places = place[order]
        starts = np.flatnonzero(np.concatenate(([True], sorted_places[1:] != sorted_places[:-1])))
        found[sorted_places[starts]] = np.add.reduceat(words[order], starts)
    return found


def _reduce(program: LinearProgram, rows: Indices, columns: Indices) -> LinearProgram:
    """One row and one column for each class: the sum of its rows, and the sum of its variables, which are equal."""
    shared = np.bincount(columns)
    gain = np.zeros(len(shared))
    most = np.zeros(len(shared))
    gain[columns], most[columns] = program.gain, program.most
    first = np.unique(rows, return_index=True)[1]
    bound = np.bincount(rows, weights=program.bound).astype(np.float64)
    matrix = (_make_sums(rows).T @ program.matrix @ _make_sums(columns, 1.0 / shared[columns])).tocsr()
    return LinearProgram(gain, most * shared, matrix, bound, int((first < program.equal).sum()))


def _make_sums(classes: Indices, weights: Floats | None = None) -> "csr_array":
    """One column for each class, with the weight (1 without) of each of its members."""
    values = np.ones(len(classes)) if weights is None else weights
    return make_matrix(values, np.arange(len(classes)), classes, len(classes), int(classes.max(initial=-1)) + 1)
