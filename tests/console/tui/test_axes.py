"""Axes: ticks are round, few and on the axis, whatever it holds; time rises, and long pauses are shortened."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchconsole.console.tui.rows.axes import (
    count_places,
    list_idle,
    make_count_axis,
    make_log_axis,
    make_time_axis,
    make_value_axis,
    widen,
)

NUMBERS = some.floats(-1e20, 1e20)


@given(NUMBERS, NUMBERS, some.sampled_from([1e-6, 0.125e9, 1.0, 1e9]), some.integers(2, 15))
def test_ticks_are_on_the_axis_and_no_more_than_there_is_room_for(
    one: float, other: float, factor: float, most: int
) -> None:
    low, high = sorted((one, other))
    axis = make_value_axis(low, high, factor, most)
    assert axis.low <= low <= high <= axis.high
    assert axis.low < axis.high
    ticks = list(axis.ticks)
    assert len(ticks) <= most + 1
    assert all(0 <= tick.place <= 1 for tick in ticks)
    assert [tick.place for tick in ticks] == sorted(tick.place for tick in ticks)


@given(some.floats(1e-6, 1e6), some.floats(1.001, 1e9), some.integers(2, 15))
def test_an_axis_has_a_tick_whatever_its_ends_are(low: float, ratio: float, most: int) -> None:
    assert list(make_value_axis(low, low * ratio, 1.0, most).ticks)
    assert list(make_log_axis(low, low * ratio, [], 1.0, most).ticks)


def test_a_low_axis_between_two_multiples_of_its_step_has_a_smaller_step() -> None:
    assert [tick.label for tick in make_value_axis(7.4, 99.0, 1.0, 2).ticks] == ["50"]


@pytest.mark.parametrize(
    ("low", "high", "factor", "labels"),
    [
        (0.0, 10.0, 1.0, ["0", "2", "4", "6", "8", "10"]),
        (9.2e9 / 8, 9.9e9 / 8, 1e9 / 8, ["9.2", "9.4", "9.6", "9.8"]),
        (0.0, 1.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-1.0, 1.0, 1.0, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
        (5.0, 5.0, 1.0, ["4.8", "4.9", "5.0", "5.1", "5.2"]),
        (0.0, 0.0, 1.0, ["-1.0", "-0.5", "0.0", "0.5", "1.0"]),
    ],
)
def test_labels_are_in_the_unit_with_the_decimals_of_their_step(
    low: float, high: float, factor: float, labels: list[str]
) -> None:
    assert [tick.label for tick in make_value_axis(low, high, factor, 6).ticks] == labels


@pytest.mark.parametrize(
    ("most_counted", "labels"), [(1, ["0", "1"]), (3, ["0", "1", "2", "3"]), (7, ["0", "5"]), (126, ["0", "50", "100"])]
)
def test_things_are_counted_in_whole_numbers(most_counted: int, labels: list[str]) -> None:
    assert [tick.label for tick in make_count_axis(most_counted, 4).ticks] == labels


@pytest.mark.parametrize(("step", "places"), [(1.0, 0), (2.5, 1), (0.25, 2), (0.005, 3), (20.0, 0)])
def test_decimals_tell_neighbours_apart(step: float, places: int) -> None:
    assert count_places(step) == places


@pytest.mark.parametrize(
    ("lines", "ends"),
    [
        ([], (10.0, 20.0)),
        ([15.0], (10.0, 20.0)),
        ([5.0], (5.0, 20.0)),
        ([-10.0], (-10.0, 20.0)),  # the values keep a third
        ([-10.1], (10.0, 20.0)),
        ([40.0, 45.0], (10.0, 40.0)),
    ],
)
def test_an_axis_holds_the_bounds_that_leave_its_values_a_third(lines: list[float], ends: tuple[float, float]) -> None:
    assert widen(10.0, 20.0, lines) == ends


# -- time

MINUTES = some.lists(some.tuples(some.floats(0, 1e6), some.floats(0, 1e4)), max_size=8)


@given(MINUTES, some.floats(0, 1e6), some.floats(0, 1e6))
def test_time_rises_between_its_ends_whatever_was_busy(
    spans: list[tuple[float, float]], one: float, other: float
) -> None:
    first, last = sorted((one, other))
    axis = make_time_axis(first, last, sorted((begin, begin + long) for begin, long in spans))
    moments = [first + (last - first) * step / 20 for step in range(21)]
    places = [axis.find_place(moment) for moment in moments]
    assert all(-1e-9 <= place <= 1 + 1e-9 for place in places)
    assert all(after >= before - 1e-9 for before, after in pairwise(places))
    assert all(0 <= tick.place <= 1 + 1e-9 for tick in axis.list_ticks(first, 8))


def test_a_long_pause_is_a_tenth_of_what_was_busy_and_has_no_tick() -> None:
    axis = make_time_axis(0.0, 10_100.0, [(0.0, 50.0), (10_050.0, 10_100.0)])
    assert axis.pauses == [(50.0, 10_050.0)]
    assert axis.find_place(50.0) == pytest.approx(50 / 110)
    assert axis.find_place(10_050.0) == pytest.approx(60 / 110)
    assert [tick.label for tick in axis.list_ticks(0.0, 5)] == ["0:00", "0:30", "2:47:30", "2:48:00"]


@pytest.mark.parametrize(
    ("busy", "pauses"),
    [
        ([(0.0, 45.0), (50.0, 100.0)], []),  # less than a tenth
        ([(0.0, 4.0), (9.0, 10.0)], []),  # no longer than rounds may be apart
        ([(0.0, 4.0), (9.1, 10.0)], [(4.0, 9.1)]),
    ],
)
def test_a_short_pause_is_as_long_as_it_was(busy: list[tuple[float, float]], pauses: list[tuple[float, float]]) -> None:
    axis = make_time_axis(0.0, busy[-1][1], busy)
    assert axis.pauses == pauses
    assert pauses or axis.find_place(busy[-1][1] / 2) == 0.5


def test_what_was_not_busy_is_idle() -> None:
    assert list(list_idle(0.0, 10.0, [(1.0, 3.0), (2.0, 4.0), (6.0, 7.0)])) == [(0.0, 1.0), (4.0, 6.0), (7.0, 10.0)]
    assert list(list_idle(5.0, 10.0, [(0.0, 20.0)])) == []


# -- logarithmic

POSITIVE = some.floats(1e-21, 1e20)


@given(
    POSITIVE, POSITIVE, some.lists(NUMBERS, max_size=3), some.sampled_from([1e-6, 0.125e9, 1.0, 2.0**30]),
    some.integers(2, 15), some.booleans(),
)  # fmt: skip
def test_a_logarithmic_axis_holds_its_values_and_has_few_round_ticks(
    one: float, other: float, lines: list[float], factor: float, most: int, is_binary: bool
) -> None:
    low, high = sorted((one, other))
    axis = make_log_axis(low, high, lines, factor, most, is_binary=is_binary)
    assert 0 < axis.low <= low <= high <= axis.high
    assert axis.low < axis.high
    assert 0 <= axis.find_place(low) <= axis.find_place(high) <= 1
    ticks = list(axis.ticks)
    assert len(ticks) <= most + 1
    assert all(0 <= tick.place <= 1 for tick in ticks)
    assert [tick.place for tick in ticks] == sorted(tick.place for tick in ticks)
    assert "0" not in [tick.label for tick in ticks]


@pytest.mark.parametrize(
    ("low", "high", "factor", "most", "labels"),
    [
        (1.0, 1000.0, 1.0, 5, ["1", "10", "100", "1,000"]),
        (1.0, 100.0, 1.0, 7, ["1", "2", "5", "10", "20", "50", "100"]),
        (0.00125e9, 1.25e9, 0.125e9, 9, ["0.01", "0.1", "1", "10"]),
        (1e10, 1e14, 1.0, 9, ["1e10", "1e11", "1e12", "1e13", "1e14"]),
        (3.0, 4.0, 1.0, 5, ["3.00", "3.25", "3.50", "3.75", "4.00"]),  # too few of its own: those of a linear one
    ],
)
def test_a_logarithmic_axis_has_round_labels_in_its_unit(
    low: float, high: float, factor: float, most: int, labels: list[str]
) -> None:
    assert [tick.label for tick in make_log_axis(low, high, (), factor, most).ticks] == labels


def test_sizes_are_powers_of_two_each_in_its_own_unit() -> None:
    axis = make_log_axis(2.0**10, 2.0**30, (), 2.0**20, 5, is_binary=True)
    assert [tick.label for tick in axis.ticks] == ["1 KiB", "32 KiB", "1 MiB", "32 MiB", "1 GiB"]


def test_what_is_not_above_zero_is_before_a_logarithmic_axis() -> None:
    axis = make_log_axis(1.0, 100.0, [0.0, -5.0, 1e9], 1.0, 5)
    assert (axis.low, axis.high) == (1.0, 100.0)
    assert axis.find_place(10.0) == pytest.approx(0.5)
    assert max(axis.find_place(0.0), axis.find_place(-5.0)) < 0
    assert make_log_axis(1.0, 100.0, [0.5], 1.0, 5).low == 0.5
