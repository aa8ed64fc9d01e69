"""Linear programs: what colour refinement makes small has the same optimum, and a wrong answer fails its certificate."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import csr_array

from benchconsole.topology.capacity.linear_program import LinearProgram, certify, solve


@st.composite
def programs(draw: st.DrawFn) -> LinearProgram:
    """Programs of few different numbers, so that much in them is alike; the first variable is bounded by a row."""
    rows, columns = draw(st.integers(1, 5)), draw(st.integers(1, 6))
    cells = st.sampled_from((0.0, 0.0, 1.0, 1.0, 2.0))
    matrix = np.array(draw(st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=rows, max_size=rows)))
    every = np.vstack((matrix, np.ones(columns)))
    most = np.array(draw(st.lists(st.sampled_from((1.0, 2.0, np.inf)), min_size=columns, max_size=columns)))
    gain = np.array(draw(st.lists(st.sampled_from((0.0, 1.0, 1.0)), min_size=columns, max_size=columns)))
    bound = np.array(draw(st.lists(st.sampled_from((1.0, 3.0)), min_size=rows + 1, max_size=rows + 1)))
    return LinearProgram(gain, most, csr_array(every), bound, 0)


@given(programs())
@settings(deadline=None, max_examples=80)
def test_the_optimum_is_that_of_the_whole_program(program: LinearProgram) -> None:
    whole = linprog(
        -program.gain,
        A_ub=program.matrix.toarray(),
        b_ub=program.bound,
        bounds=[(0, most) for most in program.most],
    )
    found = solve(program)
    assert found.value == pytest.approx(-whole.fun, abs=1e-9)
    assert found.variables @ program.gain == pytest.approx(-whole.fun, abs=1e-9)
    assert certify(program, found.variables, found.price)


def test_rows_that_are_equalities_stay_equalities() -> None:
    # Two pipes in a row: what enters the middle leaves it, and the narrow one (1 of 3) is the price.
    program = LinearProgram(
        np.array([0.0, 1.0]), np.full(2, np.inf), csr_array(np.array([[1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])),
        np.array([0.0, 3.0, 1.0]), 1,
    )  # fmt: skip
    found = solve(program)
    assert found.value == pytest.approx(1.0)
    assert found.variables == pytest.approx([1.0, 1.0])
    assert found.price[1:] == pytest.approx([0.0, 1.0])


def test_a_variable_that_stands_alone_in_row_zero_is_not_taken_for_one_without_it() -> None:
    # The first row is of class 0 and its entry of number 0: it must still tell the two variables apart.
    program = LinearProgram(np.ones(2), np.array([5.0, 5.0]), csr_array(np.array([[1.0, 0.0]])), np.array([1.0]), 0)
    assert solve(program).value == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("variables", "price"),
    [((2.0, 0.0), (1.0,)), ((0.5, 0.0), (1.0,)), ((1.0, 0.0), (0.5,)), ((1.0, 0.0), (-1.0,))],
    ids=["breaks a row", "below the optimum", "price too low", "price below zero"],
)
def test_a_wrong_answer_fails_its_certificate(variables: tuple[float, float], price: tuple[float]) -> None:
    program = LinearProgram(
        np.array([1.0, 1.0]), np.full(2, np.inf), csr_array(np.array([[1.0, 1.0]])), np.array([1.0]), 0
    )
    assert certify(program, np.array([1.0, 0.0]), np.array([1.0]))
    assert not certify(program, np.array(variables), np.array(price))


def test_a_program_without_an_optimum_is_an_error() -> None:
    program = LinearProgram(np.ones(1), np.full(1, np.inf), csr_array(np.array([[0.0]])), np.array([1.0]), 0)
    with pytest.raises(ArithmeticError):
        solve(program)
