"""Summaries against the standard library and scipy's own intervals."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from benchconsole.probes.statistics.summary import CONFIDENCE, summarise

NUMBERS = st.lists(st.integers(-(10**9), 10**9).map(lambda number: number / 1000), min_size=2, max_size=50)


@given(NUMBERS)
def test_a_summary_is_that_of_the_standard_library(values: list[float]) -> None:
    found = summarise(values)
    assert found is not None
    scale = max(map(abs, values)) + 1e-300
    assert found.number == len(values)
    assert found.mean == pytest.approx(statistics.fmean(values), rel=1e-9, abs=1e-9 * scale)
    assert found.deviation == pytest.approx(statistics.stdev(values), rel=1e-6, abs=1e-9 * scale)
    assert found.median == pytest.approx(statistics.median(values), rel=1e-9, abs=1e-12 * scale)
    assert (found.lowest, found.highest) == (min(values), max(values))


def test_the_interval_is_that_of_student() -> None:
    values = [8.11, 8.19, 8.15, 8.2, 8.1]
    found = summarise(values)
    assert found is not None
    low, high = stats.t.interval(CONFIDENCE, len(values) - 1, statistics.fmean(values), stats.sem(values))
    assert [found.low, found.high] == pytest.approx([low, high])
    assert found.error == pytest.approx(stats.sem(values))


def test_percentiles_lie_between_neighbours_in_proportion() -> None:
    found = summarise([4.0, 1.0, 2.0, 3.0])
    assert found is not None
    assert [found.percentile(share) for share in (0, 0.25, 0.5, 1)] == [1.0, 1.75, 2.5, 4.0]


def test_one_number_has_no_spread_and_none_has_no_summary() -> None:
    found = summarise([5.0])
    assert found is not None
    assert (found.mean, found.deviation, found.error, found.low) == (5.0, None, None, None)
    assert summarise([]) is None
    assert summarise([math.nan, math.inf]) is None


def test_what_is_no_finite_number_is_left_out() -> None:
    found = summarise([1.0, math.nan, 3.0, -math.inf])
    assert found is not None
    assert (found.number, found.mean, found.lowest) == (2, 2.0, 1.0)


def test_equal_numbers_have_no_deviation() -> None:
    found = summarise([0.1] * 7)
    assert found is not None
    assert (found.deviation, found.low, found.high) == (0.0, found.mean, found.mean)
