"""Smoothing of interval numbers, and how long they stand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.view.interval_rates import (
    SMOOTHING,
    STALE,
    IntervalRate,
    IntervalRates,
    ToldInterval,
    advance_rates,
    find_shown,
    smooth,
)
from benchconsole.probes.api import Interval, Labels, Unit

OUT, IN = (("direction", "out"),), (("direction", "in"),)
RUNNING = frozenset(("t1", "t2"))


def interval(value: float, until: float, labels: Labels = OUT, metric: str = "iperf3.throughput") -> Interval:
    return Interval(metric, value, Unit.BYTE_RATE, until, 1.0, labels)


def rate(value: float, until: float = 1.0, *, told: float = 1.0, expected: float | None = None) -> IntervalRate:
    return IntervalRate(interval(value, until), value, expected, told)


def fed(*values: float, step: float = 1.0) -> float:
    """The smoothed number after intervals that follow each other by ``step`` seconds."""
    rates: IntervalRates = {}
    for number, value in enumerate(values, 1):
        told = [ToldInterval("t1", interval(value, number * step))]
        rates = advance_rates(rates, told, float(number), RUNNING)
    return rates["t1"][0].smoothed


def test_the_first_number_stands_as_it_is() -> None:
    assert fed(7.0) == 7.0


def test_after_the_time_constant_63_per_cent_of_a_step_are_seen() -> None:
    assert fed(0.0, 1.0, step=SMOOTHING) == pytest.approx(1 - 1 / math.e)
    assert fed(0.0, *[1.0] * 20, step=SMOOTHING / 20) == pytest.approx(1 - 1 / math.e)


def test_a_step_is_seen_in_the_second_second() -> None:
    assert fed(10.0, 2.0) < 7.0
    assert fed(10.0, *[2.0] * 4) < 3.2


@given(values=st.lists(st.floats(0, 1e12), min_size=1, max_size=30), step=st.floats(0.1, 60))
def test_it_stays_between_the_least_and_the_most(values: list[float], step: float) -> None:
    assert min(values) * (1 - 1e-9) <= fed(*values, step=step) <= max(values) * (1 + 1e-9)


@pytest.mark.parametrize("until", [0.5, 1.0])
def test_a_run_that_begins_again_begins_with_its_own_number(until: float) -> None:
    assert smooth(rate(100.0, 1.0), interval(7.0, until)) == 7.0


def test_other_labels_and_metrics_are_not_mixed() -> None:
    rates = advance_rates({}, [ToldInterval("t1", interval(100.0, 1.0))], 1.0, RUNNING)
    told = [ToldInterval("t1", interval(4.0, 2.0, IN)), ToldInterval("t1", interval(6.0, 2.0, metric="iperf3.other"))]
    rates = advance_rates(rates, told, 2.0, RUNNING)
    assert [each.smoothed for each in rates["t1"]] == [6.0, 4.0, 100.0]


@pytest.mark.parametrize(("later", "is_there"), [(STALE, True), (STALE + 0.01, False)])
def test_a_number_that_no_other_follows_is_dropped(later: float, is_there: bool) -> None:
    rates = advance_rates({"t1": (rate(7.0, told=1.0),)}, [], 1.0 + later, RUNNING)
    assert ("t1" in rates) is is_there


def test_numbers_of_tests_that_do_not_run_are_dropped_and_not_taken() -> None:
    known = {"over": (rate(7.0),), "t1": (rate(7.0),)}
    told = [ToldInterval("over", interval(1.0, 2.0)), ToldInterval("never", interval(1.0, 2.0))]
    assert set(advance_rates(known, told, 2.0, RUNNING)) == {"t1"}


def test_what_is_expected_and_the_share_come_with_the_number() -> None:
    rates = advance_rates({}, [ToldInterval("t1", interval(7.0, 1.0), 10.0)], 1.0, RUNNING)
    assert (rates["t1"][0].expected, rates["t1"][0].share) == (10.0, 0.7)
    assert rate(7.0).share is None


def test_of_the_newest_numbers_the_lowest_share_stands_for_a_test() -> None:
    old, high, low = rate(1.0, expected=10.0), rate(9.0, told=2.0, expected=10.0), rate(80.0, told=2.0, expected=100.0)
    assert find_shown([old, high, low]) is low
    assert find_shown([rate(3.0), high]) is high
    assert find_shown([rate(3.0, told=2.0), rate(2.0, told=2.0)]) == rate(2.0, told=2.0)
    assert find_shown([]) is None
