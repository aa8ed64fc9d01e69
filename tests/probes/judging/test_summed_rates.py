"""Sums of rates: what is certain of tests that ran apart, and every border between a sum and its level."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.probes.api import Output, Reading, Target, Unit, labels
from benchconsole.probes.judging.grading import grade
from benchconsole.probes.judging.summed_rates import SummedRates, sum_rates
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import Result, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Comparator
from tests.probes.judging.rounds import star

NODE = next(iter(star().nodes.values()))


def measure(rate: float, start: float, end: float, **tags: str) -> tuple[Result, Reading]:
    """A test that ran from ``start`` to ``end``."""
    reading = Reading("fio.write", rate, Unit.BYTE_RATE, labels(**tags), at=1e9 + end)
    test = Test(f"{rate} {start}", "fio", Target(NODE), 1, "both")
    return Result(test, (Output(("fio",), seconds=end - start),), (reading,)), reading


@pytest.mark.parametrize(
    ("times", "least", "seconds"),
    [
        ([(10, 0, 30), (10, 0, 30)], 20, 30),
        ([(10, 0, 30), (10, 30, 60)], 10, 60),  # one after the other: never more than one of them
        ([(10, 0, 30), (10, 15, 45)], 10 * 60 / 45, 45),
        ([(20, 0, 10), (10, 0, 20)], 20, 20),  # as many bytes each: 400 in 20 s
        ([(10, 0, 30), (10, 1, 31), (10, 0.5, 30.5)], 900 / 31, 31),
    ],
)
def test_the_least_is_what_was_moved_in_the_whole_time(
    times: list[tuple[float, float, float]], least: float, seconds: float
) -> None:
    found = sum_rates(measure(*each) for each in times)
    assert found.value == pytest.approx(sum(rate for rate, *_ in times))
    assert found.least == pytest.approx(least)
    assert found.seconds == pytest.approx(seconds)


@pytest.mark.parametrize(("late", "apart"), [(1.5, False), (1.6, True)])
def test_so_far_apart_is_said(late: float, apart: bool) -> None:
    found = sum_rates([measure(10, 0, 30), measure(10, late, 30 + late)])
    assert found.ran_apart is apart
    assert bool(found.describe(str)) is apart


def test_tests_that_send_before_and_after_what_counts_are_together_so_far_apart() -> None:
    both = [measure(10, 0, 30, omit="5", tail="5"), measure(10, 4, 34, omit="5", tail="5")]
    assert sum_rates(both).least == pytest.approx(20)
    one = [both[0], measure(10, 4, 34, omit="5")]
    assert sum_rates(one).least == pytest.approx(600 / 34)


def test_without_a_time_nothing_is_taken_off() -> None:
    result, reading = measure(10, 0, 30)
    timeless = replace(result, outputs=())
    assert sum_rates([(timeless, reading), measure(10, 30, 60)]) == SummedRates(20, 20, 0.0)
    assert sum_rates([]) == SummedRates(0.0, 0.0, 0.0)


SPANS = st.tuples(st.floats(0.1, 1e9), st.floats(0, 100), st.floats(0.1, 100))


@given(st.lists(SPANS, min_size=1, max_size=6))
def test_the_least_is_between_the_largest_part_and_the_sum(spans: list[tuple[float, float, float]]) -> None:
    found = sum_rates(measure(rate, start, start + seconds) for rate, start, seconds in spans)
    window = max(start + seconds for _, start, seconds in spans) - min(start for _, start, _ in spans)
    moved = sum(rate * seconds for rate, _, seconds in spans)
    assert found.least <= found.value
    assert found.least * window == pytest.approx(moved, rel=1e-5)


@pytest.mark.parametrize(
    ("value", "least", "comparator", "level", "amount"),
    [
        (100, 100, Comparator.AT_LEAST, Level.PASS, 100),
        (100, 81, Comparator.AT_LEAST, Level.PASS, 100),
        (100, 79, Comparator.AT_LEAST, Level.WATCH, 79),
        (79, 61, Comparator.AT_LEAST, Level.WATCH, 79),
        (100, 59, Comparator.AT_LEAST, Level.UNKNOWN, 100),
        (79, 59, Comparator.AT_LEAST, Level.UNKNOWN, 79),
        (61, 59, Comparator.AT_LEAST, Level.WATCH, 61),  # not so far apart that it counts
        (59, 30, Comparator.AT_LEAST, Level.FAIL, 59),
        (60, 30, Comparator.AT_MOST, Level.PASS, 60),
        (90, 50, Comparator.AT_MOST, Level.UNKNOWN, 90),
        (90, 82, Comparator.AT_MOST, Level.FAIL, 90),
    ],
)
def test_a_sum_has_a_level_where_both_ends_agree(
    value: float, least: float, comparator: Comparator, level: Level, amount: float
) -> None:
    at_least = comparator is Comparator.AT_LEAST
    required, target = (60, 80) if at_least else (80, None)
    summed = SummedRates(value, least, 30.0)
    found = summed.grade(lambda each: grade(each, required, comparator=comparator, target=target))
    assert found == (level, amount)
