"""Fairness: Jain's index by its own definition, ratios with and without outliers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.statistics.fairness import Fairness


def test_all_alike_is_one_and_one_alone_is_one_over_n() -> None:
    alike = Fairness.of(np.full(10, 7.0))
    assert alike is not None
    assert [alike.index, alike.ratio] == pytest.approx([1, 1])
    greedy = Fairness.of(np.array([1e12] + [1.0] * 9))
    assert greedy is not None
    assert greedy.index == pytest.approx(0.1, rel=1e-6)


@given(st.lists(st.floats(1e-3, 1e9), min_size=2, max_size=40), st.floats(1e-3, 1e6))
def test_the_index_is_bounded_and_independent_of_units(values: list[float], factor: float) -> None:
    found, scaled = Fairness.of(np.array(values)), Fairness.of(np.array(values) * factor)
    assert found is not None
    assert scaled is not None
    assert 1 / len(values) - 1e-12 <= found.index <= 1 + 1e-12
    assert scaled.index == pytest.approx(found.index)


def test_the_poster_of_fermilab_233_percent_and_113_without_outliers() -> None:
    """Read times of 49 clients: the slowest at 233 % of the fastest, at 113 % without three outliers."""
    times = np.concatenate((np.linspace(100, 113, 46), [231.0, 232.0, 233.0]))
    found = Fairness.of(times)
    assert found is not None
    assert found.ratio == pytest.approx(2.33)
    assert found.core_ratio == pytest.approx(1.13)
    assert sorted(found.high.tolist()) == [46, 47, 48]


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 0.0], [1.0, float("nan")]])
def test_shares_that_have_no_fairness(values: list[float]) -> None:
    assert Fairness.of(np.array(values)) is None
