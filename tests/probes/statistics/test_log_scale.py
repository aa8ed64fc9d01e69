"""Logarithmic axes: the boundary of two decades, and round numbers that are on the axis and few enough."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchconsole.probes.statistics.log_scale import is_wide, list_round_numbers

POSITIVE = some.floats(1e-12, 1e20)


@pytest.mark.parametrize(
    ("low", "high", "wide"),
    [
        (1.0, 100.0, True),  # two decades are enough
        (1.0, 99.9, False),
        (1e-6, 1e-4, True),
        (3e-6, 2.9e-4, False),
        (5.0, 5.0, False),
        (0.0, 1e9, False),  # 0 has no logarithm
        (-1.0, 1e9, False),
        (1e-21, 1.0, True),
        (9e-22, 1.0, False),  # as good as 0
        (1.0, math.inf, False),
        (math.nan, 1.0, False),
    ],
)
def test_two_decades_above_zero_are_wide(low: float, high: float, wide: bool) -> None:
    assert is_wide(low, high) is wide


@pytest.mark.parametrize(
    ("low", "high", "most", "numbers"),
    [
        (1.0, 100.0, 7, [1, 2, 5, 10, 20, 50, 100]),
        (1.0, 100.0, 6, [1, 10, 100]),
        (1.0, 100.0, 2, [1, 100]),  # every second power
        (0.9, 110.0, 2, [1, 100]),
        (3.0, 40.0, 9, [5, 10, 20]),
        (3.0, 4.0, 9, []),
        (1e-6, 1e6, 4, [1e-5, 1.0, 1e5]),  # every fifth power
        (1.0, 1.0, 5, [1]),
    ],
)
def test_ticks_are_1_2_5_or_powers_of_ten(low: float, high: float, most: int, numbers: list[float]) -> None:
    assert list_round_numbers(low, high, most) == pytest.approx(numbers)


@pytest.mark.parametrize(
    ("low", "high", "most", "numbers"),
    [
        (64.0, 1024.0, 5, [64, 128, 256, 512, 1024]),
        (64.0, 1024.0, 4, [64, 256, 1024]),
        (1.0, 2.0**30, 4, [1, 2**10, 2**20, 2**30]),
        (0.3, 3.0, 9, [0.5, 1, 2]),
    ],
)
def test_binary_ticks_are_powers_of_two(low: float, high: float, most: int, numbers: list[float]) -> None:
    assert list_round_numbers(low, high, most, is_binary=True) == numbers


@given(POSITIVE, POSITIVE, some.integers(1, 15), some.booleans())
def test_round_numbers_rise_within_the_ends_and_are_no_more_than_asked_for(
    one: float, other: float, most: int, is_binary: bool
) -> None:
    low, high = sorted((one, other))
    found = list_round_numbers(low, high, most, is_binary=is_binary)
    assert len(found) <= most
    assert found == sorted(set(found))
    assert all(low * (1 - 1e-6) <= number <= high * (1 + 1e-6) for number in found)
