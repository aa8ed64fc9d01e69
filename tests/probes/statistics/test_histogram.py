"""The histogram: no number is lost, bins are of equal width, and their number follows the rule within its limit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchconsole.probes.statistics.histogram import choose_bin_count, make_histogram

NUMBERS = some.lists(some.floats(-1e20, 1e20), min_size=1, max_size=60)


@given(NUMBERS, some.integers(1, 200))
def test_every_number_is_in_one_bin_and_in_its_own(numbers: list[float], most: int) -> None:
    found = make_histogram(np.array(numbers), most)
    assert int(found.counts.sum()) == len(numbers) == len(found.place)
    assert 1 <= len(found.counts) == len(found.edges) - 1 <= most
    assert (found.edges[0], found.edges[-1]) == (min(numbers), max(numbers))
    slack = (max(numbers) - min(numbers)) * 1e-9
    for number, place in zip(numbers, found.place.tolist(), strict=True):
        assert found.edges[place] - slack <= number <= found.edges[place + 1] + slack


def test_bins_are_as_wide_as_freedman_and_diaconis_say() -> None:
    values = np.arange(1000.0)  # IQR 499.5: a bin of 99.9 numbers, and a span of 999
    assert choose_bin_count(values, 200) == 10
    assert make_histogram(values, 200).counts.tolist() == [100] * 10
    assert choose_bin_count(values, 7) == 7


@pytest.mark.parametrize(
    ("numbers", "bins"),
    [
        ([5.0], [1]),
        ([5.0, 5.0, 5.0], [3]),
        ([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0], [7, 0, 0, 1]),  # the middle half are equal: 1 + log2 8
        ([1.0, 2.0], [1, 1]),
    ],
)
def test_equal_numbers_are_one_bin_and_equal_quartiles_end_nothing(numbers: list[float], bins: list[int]) -> None:
    assert make_histogram(np.array(numbers), 20).counts.tolist() == bins


def test_one_number_far_away_does_not_make_more_bins_than_there_is_room_for() -> None:
    values = np.concatenate([np.linspace(1.0, 1.001, 99), [1e18]])
    found = make_histogram(values, 80)
    assert len(found.counts) == 80
    assert (found.counts[0], found.counts[-1]) == (99, 1)


POSITIVE = some.lists(some.floats(1e-21, 1e20), min_size=1, max_size=60)


@given(POSITIVE, some.integers(1, 200))
def test_bins_on_logarithms_hold_every_number_and_grow_by_one_ratio(numbers: list[float], most: int) -> None:
    found = make_histogram(np.array(numbers), most, is_log=True)
    assert int(found.counts.sum()) == len(numbers)
    assert 1 <= len(found.counts) == len(found.edges) - 1 <= most
    assert (found.edges[0], found.edges[-1]) == (min(numbers), max(numbers))
    for number, place in zip(numbers, found.place.tolist(), strict=True):
        assert found.edges[place] * (1 - 1e-9) <= number <= found.edges[place + 1] * (1 + 1e-9)


def test_a_decade_is_as_wide_as_another_on_logarithms() -> None:
    found = make_histogram(np.array([1.0, 10.0, 100.0, 1000.0]), 9, is_log=True)
    assert found.edges == pytest.approx([1.0, 1000.0**0.5, 1000.0])
    assert found.counts.tolist() == [2, 2]
