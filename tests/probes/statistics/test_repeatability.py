"""Repeatability: worked out by hand, and what it must not depend on."""

import math
from statistics import stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.statistics.repeatability import compute_repeatability

NUMBERS = st.floats(1.0, 1e6)


def test_it_pools_what_lies_within_subjects() -> None:
    found = compute_repeatability([[10.0, 12.0], [20.0, 22.0, 24.0], [7.0]])
    assert found is not None
    # 2 within the first, 8 within the second, of three degrees of freedom; the mean of all six is 95 / 6.
    assert found.share == pytest.approx(math.sqrt(10 / 3) / (95 / 6))
    assert found.freedom == 3


@pytest.mark.parametrize("groups", [[], [[1.0], [2.0]], [[]], [[1.0, -1.0]]])
def test_without_a_repetition_or_a_mean_there_is_none(groups: list[list[float]]) -> None:
    assert compute_repeatability(groups) is None


@given(st.lists(NUMBERS, min_size=2, max_size=9), st.floats(0.5, 2.0))
def test_of_one_subject_it_is_the_standard_deviation_and_has_no_unit(values: list[float], factor: float) -> None:
    found, scaled = compute_repeatability([values]), compute_repeatability([[factor * each for each in values]])
    assert found is not None
    assert scaled is not None
    assert found.share == pytest.approx(stdev(values) / (sum(values) / len(values)), abs=1e-9)
    assert scaled.share == pytest.approx(found.share, abs=1e-9)


@given(st.lists(NUMBERS, min_size=2, max_size=9))
def test_what_lies_between_subjects_does_not_count(values: list[float]) -> None:
    apart = compute_repeatability([values, [2 * sum(values) / len(values)]])
    assert apart is not None
    mean = (sum(values) + 2 * sum(values) / len(values)) / (len(values) + 1)
    assert apart.share == pytest.approx(stdev(values) / mean, abs=1e-9)
