"""Rank correlation: published values, what it must not depend on, and when nothing is said."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.statistics.rank_correlation import FEWEST, SURE, correlate_ranks


def test_it_is_spearmans_coefficient() -> None:
    # Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, example 8.1: tuna, lightness against quality.
    lightness = [44.4, 45.9, 41.9, 53.3, 44.7, 44.1, 50.7, 45.2, 60.1]
    quality = [2.6, 3.1, 2.5, 5.0, 3.6, 4.0, 5.2, 2.8, 3.8]
    found = correlate_ranks(lightness, quality)
    assert found is not None
    assert found.coefficient == pytest.approx(0.6)
    assert 0.05 < found.chance < 0.1
    assert found.number == 9
    assert not found.is_sure


def test_its_chance_is_near_that_of_all_orders() -> None:
    order = list(range(8))
    told = correlate_ranks(order, [0, 1, 2, 3, 4, 5, 7, 6])
    assert told is not None
    few = [correlate_ranks(order, [*each, 5, 6, 7]) for each in permutations(range(5))]
    assert all(each is not None and each.coefficient <= 1 for each in few)
    assert told.chance < SURE
    assert told.is_sure


@given(st.lists(st.tuples(st.sampled_from([1.0, 3.0, 5.0, 10.0]), st.floats(1.0, 1e6)), min_size=FEWEST, max_size=40))
def test_neither_units_nor_the_order_of_pairs_change_it(pairs: list[tuple[float, float]]) -> None:
    found = correlate_ranks([length for length, _ in pairs], [value for _, value in pairs])
    other = correlate_ranks([length * 100 for length, _ in pairs[::-1]], [value * 2 for _, value in pairs[::-1]])
    assert (found is None) == (other is None)
    if found is not None and other is not None:
        assert other.coefficient == pytest.approx(found.coefficient, abs=1e-9)


@pytest.mark.parametrize(
    ("lengths", "values"),
    [([1.0] * 4 + [2.0] * 4, list(range(8))), ([1.0, 2.0, 3.0], [3.0, 2.0, 1.0]), (list(range(8)), [1.0] * 8)],
)
def test_of_too_few_nothing_is_said(lengths: list[float], values: list[float]) -> None:
    assert correlate_ranks(lengths, values) is None
