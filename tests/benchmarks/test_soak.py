"""The figures of the soak: slopes and plots of series that are known."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.soak import BARS, WIDTH, find_slope, plot


@given(st.integers(2, 600), st.floats(-5, 5), st.floats(0, 100))
def test_the_slope_of_a_line_is_its_own(number: int, slope: float, start: float) -> None:
    assert find_slope([start + slope * place for place in range(number)]) == pytest.approx(slope, abs=1e-9)


def test_a_few_jumps_do_not_make_a_slope() -> None:
    values = [10.0] * 50
    values[7] = values[31] = 1000.0
    assert find_slope(values) == 0.0
    assert find_slope([1.0]) == 0.0


def test_a_plot_begins_at_zero() -> None:
    assert plot([0.0, 5.0, 10.0]) == f"{BARS[0]}{BARS[4]}{BARS[-1]}"
    assert plot([0.0, 0.0]) == BARS[0] * 2
    assert len(plot([float(place) for place in range(1000)])) == WIDTH
