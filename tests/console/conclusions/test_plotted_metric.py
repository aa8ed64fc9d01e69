"""The content of a plot: the numbers that count and no others, their verdicts, the bounds, and the words on them."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchconsole.console.conclusions.metric_samples import list_samples
from benchconsole.console.conclusions.plot_text import (
    format_bounds,
    format_part,
    format_sentences,
    format_value,
    format_verdict,
)
from benchconsole.console.conclusions.plotted_metric import Plot, PlottedMetric, list_classes, list_plots, pair_plots
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.judgement import Level
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Comparator, Criterion
from benchconsole.topology.units import Shown, Unit
from tests.console.conclusions.test_session_comparison import compare, measure
from tests.console.reports.building import Story, fabric, verdict

Given = tuple[float, Level | None, float | None]
"""A value, the level of its verdict (None: not judged) and the required bound."""


def told(
    values: Sequence[Given],
    metric: str = "stream.triad",
    unit: Unit = Unit.BYTE_RATE,
    criteria: Sequence[Criterion] = (),
) -> RunView:
    """A session with a value for each node in order, again from the first one on where there are more."""
    story = Story(replace(fabric(), criteria=tuple(criteria)))
    names = [f"n{number:02d}" for number in range(1, 13)]
    for first in range(0, len(values), 12):
        part = values[first : first + 12]
        tests = story.round(f"stage {first // 12}" if first else "stage", metric.partition(".")[0], names[: len(part)])
        for test, (value, level, required) in zip(tests, part, strict=True):
            reading = story.answer(test, metric, value, unit)
            if level is not None:
                story.judge(test, verdict(test, reading, level, required=required, expected=required))
    return story.view()


def only(view: RunView) -> PlottedMetric:
    (plot,) = list_plots(view)
    return plot.first


def judged(*values: float, required: float = 9.0) -> list[Given]:
    return [(value, Level.PASS if value >= required else Level.FAIL, required) for value in values]


# -- which numbers


@given(some.lists(some.floats(0, 1e12), min_size=1, max_size=12))
def test_the_numbers_are_those_of_the_samples(values: list[float]) -> None:
    view = told([(value, None, None) for value in values])
    metric = only(view)
    assert sorted(metric.values.tolist()) == sorted(list_samples(view)[0].values.tolist()) == sorted(values)
    assert Plot((metric,)).can_be_drawn is (len(values) > 1)
    assert [test.id for test in metric.tests] == [name.rsplit("-", 1)[0].removeprefix("m") for name in metric.ids]


@given(some.lists(some.floats(-1e12, 1e12), min_size=1, max_size=40), some.floats(0, 1))
def test_a_quantile_is_that_of_numpy(values: list[float], share: float) -> None:
    metric = replace(only(told(judged(1.0, 2.0))), values=np.array(values))
    assert metric.find_quantile(share) == pytest.approx(float(np.quantile(values, share)), rel=1e-9, abs=1e-3)
    assert metric.find_share(max(values)) == 1.0
    assert metric.find_share(min(values) - 1e3) == 0.0


def test_a_repeated_test_counts_once_with_its_newest_number() -> None:
    story = Story(fabric())
    for value in (1.0, 2.0):
        for test in story.round("stage", "stream", ["n01", "n02"]):
            story.answer(test, "stream.triad", value, Unit.BYTE_RATE)
    assert only(story.view()).values.tolist() == [2.0, 2.0]


def test_what_no_machine_gives_is_counted_and_not_drawn() -> None:
    metric = only(told([*judged(10.0, 11.0), (1e21, Level.UNKNOWN, None), (float("inf"), None, None)]))
    assert (metric.values.tolist(), metric.left_out) == ([10.0, 11.0], 1)
    assert "1 value of 1e21 or more is no measurement, and is not drawn" in next(format_sentences(Plot((metric,))))


def test_a_number_without_a_moment_is_in_no_order_of_time() -> None:
    metric = replace(only(told(judged(10.0, 11.0, 12.0))), moments=np.array([3.0, np.nan, 1.0]))
    assert metric.by_time.tolist() == [2, 0]


# -- bounds and verdicts


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (judged(10, 8, 11), "1 of 3 below the required 9.00 B/s (33 %)."),
        (judged(9, 10), "0 of 2 below the required 9.00 B/s (0 %)."),
        ([*judged(10, 8), (7.0, None, None)], "1 of 2 below the required 9.00 B/s (50 %); 1 not judged."),
        ([*judged(10, 8), (7.0, Level.UNKNOWN, 9.0)], "1 of 2 below the required 9.00 B/s (50 %); 1 not judged."),
        ([(7.0, None, None)] * 2, "No value was held against a bound by itself."),
        (
            [*judged(10, 8), *judged(3, required=2.0)],
            "1 of 3 below their bounds (33 %); 2 bounds from 2.00 B/s to 9.00 B/s: none is drawn.",
        ),
        ([*judged(10, 8), (9.5, Level.WATCH, 9.0)], "1 of 3 below the required 9.00 B/s (33 %), 1 more to watch."),
    ],
)
def test_what_fails_is_counted_among_what_was_judged(values: list[Given], words: str) -> None:
    assert format_bounds(only(told(values))) == words


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.0, "0 %"), (0.0001, "<0.1 %"), (0.01875, "1.9 %"), (0.5, "50 %"), (0.994, "99 %"), (0.996, "99.6 %"),
        (0.9999, ">99.9 %"), (1.0, "100 %"), (1.5, "150 %"),
    ],
)  # fmt: skip
def test_no_part_reads_as_none_or_all(share: float, words: str) -> None:
    assert format_part(share) == words


def test_the_highest_value_alone_is_at_percentile_100() -> None:
    few = only(told(judged(1.0, 2.0)))
    metric = replace(few, values=np.arange(10_000.0), tests=[few.tests[0]] * 10_000)
    assert format_value(metric, 9_998).endswith("percentile >99.9")
    assert format_value(metric, 9_999).endswith("percentile 100")


def test_the_target_is_that_of_the_criterion_with_the_same_bound() -> None:
    criterion = Criterion("stream.triad", Comparator.AT_LEAST, 9.0, Unit.BYTE_RATE, target=10.0)
    values = [*judged(11, 8), (9.5, Level.WATCH, 9.0)]
    metric = only(told(values, criteria=[criterion]))
    assert (metric.bounds.required, metric.bounds.target) == (9.0, 10.0)
    assert format_bounds(metric).endswith("(33 %), 1 more below the target 10.0 B/s.")
    other = replace(criterion, required=9.1)
    assert only(told(values, criteria=[other])).bounds.target is None


@pytest.mark.parametrize(
    ("metric", "unit", "sides", "found"),
    [
        ("ping.rtt", Unit.SECOND, (), Comparator.AT_MOST),
        ("stream.triad", Unit.BYTE_RATE, (), Comparator.AT_LEAST),
        ("odd.count", Unit.ONE, (), None),
        ("odd.count", Unit.ONE, (Comparator.AT_MOST,), Comparator.AT_MOST),
        ("odd.count", Unit.ONE, (Comparator.AT_MOST, Comparator.AT_LEAST), None),
    ],
)
def test_the_good_side_is_that_of_the_criteria_else_of_the_unit(
    metric: str, unit: Unit, sides: Sequence[Comparator], found: Comparator | None
) -> None:
    criteria = [Criterion(metric, side, 9.0, unit) for side in sides]
    view = told([(10.0, Level.FAIL, 9.0), (8.0, Level.PASS, 9.0)], metric, unit, criteria)
    assert only(view).bounds.comparator is found
    word = {Comparator.AT_LEAST: "below", Comparator.AT_MOST: "above", None: "beyond"}[found]
    assert f"1 of 2 {word} the required" in format_bounds(only(view))


def test_a_part_of_a_sum_is_not_judged_by_itself() -> None:
    story = Story(fabric())
    tests = story.round("leave", "iperf3", ["n01>n05", "n02>n06"], bundle="leaf1 up")
    readings = [story.answer(test, "iperf3.throughput", 1e9, Unit.BYTE_RATE) for test in tests]
    summed = verdict(tests[0], readings[0], Level.FAIL, subject="leaf1 up", value=2e9, required=3e9,
                     evidence=tuple(each.id for each in readings))  # fmt: skip
    story.judge(tests[0], summed)
    metric = only(story.view())
    assert set(metric.states) == {State.MEASURED}
    assert metric.bounds.required is None
    assert metric.shown is Shown.NETWORK
    assert format_bounds(metric) == "No value was held against a bound by itself: 2 are parts of sums that were judged."
    assert format_verdict(metric, 1) == "not judged by itself; the sum of leaf1 up: fail"


def test_the_worst_of_several_verdicts_on_one_number_is_its_state_and_their_bounds_differ() -> None:
    story = Story(fabric())
    test, other = story.round("stage", "stream", ["n01", "n02"])
    reading = story.answer(test, "stream.triad", 10.0, Unit.BYTE_RATE)
    story.answer(other, "stream.triad", 20.0, Unit.BYTE_RATE)
    for level, required in ((Level.PASS, 9.0), (Level.FAIL, 12.0), (Level.WATCH, 9.0)):
        story.judge(test, verdict(test, reading, level, required=required, because=f"{level} at {required}"))
    metric = only(story.view())
    assert (metric.levels, metric.failing.tolist()) == ([Level.FAIL, None], [0])
    assert (metric.bounds.required, metric.bounds.different) == (None, 2)
    assert "at 12.0" in format_verdict(metric, 0)
    assert format_verdict(metric, 1) == "not judged"
    assert format_value(metric, 0) == "n01   10.0 B/s   percentile 50"


def test_one_bound_that_is_written_two_ways_is_one_bound() -> None:
    assert only(told([(1.0, Level.PASS, 0.1 + 0.2), (1.0, Level.PASS, 0.3)])).bounds.required == 0.3


# -- classes, and two sessions


def test_classes_part_all_numbers_where_there_are_several() -> None:
    story = Story(fabric())
    for test, value in zip(story.round("stage", "fio", ["n01", "n02", "st1"]), (1.0, 3.0, 9.0), strict=True):
        story.answer(test, "fio.write", value, Unit.BYTE_RATE)
    (plot,) = list_plots(story.view())
    assert [(each.name, each.number, each.median) for each in list_classes(plot)] == [
        ("blade", 2, 2.0),
        ("store", 1, 9.0),
    ]
    assert list_classes(list_plots(told(judged(1.0, 2.0)))[0]) == []


def test_two_sessions_are_one_picture_whose_values_are_counted_through() -> None:
    (compared,) = compare(measure(1.0, 1), measure(1.1, 2))
    (plot,) = pair_plots([compared], ("A one", "B other"))
    both = np.concatenate([side.values for side in plot.sides])
    assert both[plot.order].tolist() == sorted(both.tolist())
    for number in range(len(both)):
        side, place = plot.find(number)
        assert plot.sides[side].values[place] == both[number]
    assert list(format_sentences(plot))[-1] == "No bound is drawn: each session was judged by its own criteria."
    assert list(pair_plots([replace(compared, samples=())], ("A", "B"))) == []
