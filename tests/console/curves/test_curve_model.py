"""Curves of sweeps: every number that was stored and no other, whatever the order, with what is missing and why."""

import math
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as some

from benchconsole.console.curves.curve_model import Chart, Curve, Point, is_multiplied, make_scale, place_points
from benchconsole.console.curves.curve_text import format_chart, format_chart_name, format_sentences, make_point_rows
from benchconsole.console.curves.sweep_series import ChartCache, is_swept
from benchconsole.console.session.session import Session
from benchconsole.console.view.events import RoundStarted, SessionEnded, SessionOpened
from benchconsole.console.view.reducer import advance, opened
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import (
    FailedAt,
    Failure,
    Labels,
    Reading,
    Result,
    Round,
    Swept,
    Target,
    Test,
    labels,
)
from benchconsole.store.store import Store
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.model.sweep import Ending
from benchconsole.topology.units import Shown, Unit
from tests.console.curves.test_sweep_series import follow, four_at_most, session
from tests.console.tui.fabrics import mini
from tests.probes.stepped import IOR, SteppedReach

FABRIC = mini(leaves=2, per_leaf=2)
NODES = [FABRIC.nodes[NodeId(name)] for name in ("n001", "n002")]

Given = float | Failure
Told = Mapping[str, Sequence[Sequence[Given]]]
"""From a value of the axis to its repetitions, of each what every node gave."""


def failed(stage: FailedAt, detail: str = "") -> Failure:
    return Failure(stage, detail, NODES[0].id)


def rounds_of(told: Told, axis: str = "tasks", cohorts: Sequence[str] = ("", ""), **more: str) -> list[Round]:
    made: list[Round] = []
    bundle = more.pop("bundle", "")
    ending = Ending(gain=0.1) if more.pop("ending", "") else None
    for value, repetitions in told.items():
        for turn, gave in enumerate(repetitions, 1):
            number = len(made) + 1
            point = (*more.items(), (axis, value))
            tests = tuple(
                Test(
                    f"{number}-{place}",
                    "ior",
                    _target(place, (*point, ("repetition", str(turn))), cohorts),
                    number,
                    bundle,
                )
                for place in range(len(gave))
            )
            swept = Swept(1, point, turn, len(repetitions), "up", ending)
            made.append(Round(number, f"ior over {axis}", "ior", tests, 1.0, "", (), swept))
    return made


def _target(place: int, point: Labels, cohorts: Sequence[str]) -> Target:
    kind = (("kind", cohorts[place]),) if cohorts[place] else ()
    return Target(NODES[place], labels=tuple(sorted((*point, *kind))))


def judged(each: Round, gave: Sequence[Given], unit: Unit = Unit.BYTE_RATE, required: float = 0.0) -> ClosedRound:
    results, verdicts = [], []
    for test, found in zip(each.tests, gave, strict=True):
        if isinstance(found, Failure):
            results.append(Result(test, failure=found))
            continue
        reading = Reading("ior.write", found, unit, tuple(sorted((*test.target.labels, ("operation", "write")))))
        measurement = replace(reading, id=f"{test.id}/0", at=1.0)
        results.append(Result(test, measurements=(measurement,)))
        if required:
            verdicts.append(verdict(test, measurement, required))
    closed = ClosedRound(each, tuple(results), CloseReason.COMPLETE, each.number * 10.0, each.number * 10.0 + 1)
    return replace(closed, verdicts=tuple(verdicts))


def verdict(test: Test, measurement: Reading, required: float) -> Verdict:
    level = Level.PASS if measurement.value >= required else Level.FAIL
    return Verdict(
        test.id, test.round, test.probe, test.target.key, (test.target.node.id,), "ior.write", (), level,
        Yardstick.CRITERION, "", Unit.BYTE_RATE, Shown.STORAGE, measurement.value, required, required,
        evidence=(measurement.id,),
    )  # fmt: skip


def planned(rounds: Sequence[Round]) -> RunView:
    return opened(SessionOpened("s1", "swept", FABRIC, "default", tuple(rounds), 0.0))


def view_of(told: Told, axis: str = "tasks", cohorts: Sequence[str] = ("", ""), **more: str) -> RunView:
    unit = Unit(more.pop("unit", Unit.BYTE_RATE.value))
    required = float(more.pop("required", 0.0))
    rounds = rounds_of(told, axis, cohorts, **more)
    gave = [turn for turns in told.values() for turn in turns]
    view = planned(rounds)
    for each, found in zip(rounds, gave, strict=True):
        view = advance(view, judged(each, found, unit, required))
    return view


def only(view: RunView) -> Chart:
    (chart,) = ChartCache().compute(view)
    return chart


def medians(chart: Chart, curve: int = 0) -> dict[str, float | None]:
    return {point.value: point.median for point in chart.curves[curve].points}


# -- what is measured is what is shown

NUMBERS = some.floats(min_value=1e-3, max_value=1e12)
TURNS = some.lists(some.lists(NUMBERS | some.just(failed(FailedAt.TOOL, "exit 1")), min_size=2, max_size=2),
                   min_size=1, max_size=4)  # fmt: skip
SWEEPS = some.dictionaries(some.sampled_from([str(2**power) for power in range(8)]), TURNS, min_size=1, max_size=6)


@given(SWEEPS)
def test_every_number_is_in_its_point_and_no_other_is(told: dict[str, list[list[Given]]]) -> None:
    chart = only(view_of(told))
    assert list(chart.values) == sorted(told, key=int)
    for point in chart.curves[0].points:
        every = [number for turn in told[point.value] for number in turn]
        numbers = [number for number in every if isinstance(number, float)]
        assert sorted(point.values) == sorted(numbers)
        assert point.median == (median(numbers) if numbers else None)
        assert (point.low, point.high) == (min(numbers, default=None), max(numbers, default=None))
        assert point.planned == len(every) == point.tests + sum(each.tests for each in point.missing)
        assert point.of == len(told[point.value])


@given(SWEEPS)
def test_a_load_that_is_shared_is_summed_and_has_no_sum_where_a_part_is_missing(
    told: dict[str, list[list[Given]]],
) -> None:
    chart = only(view_of(told, axis="clients"))
    for point in chart.curves[0].points:
        turns = told[point.value]
        whole = [turn for turn in turns if all(isinstance(number, float) for number in turn)]
        sums = [math.fsum(number for number in turn if isinstance(number, float)) for turn in whole]
        assert sorted(point.values) == pytest.approx(sorted(sums))
        assert (point.repetitions, point.of) == (len(whole), len(turns))
    assert not chart.metric or chart.is_summed


@given(SWEEPS, some.integers(0, 1000))
def test_the_order_in_which_rounds_were_closed_says_nothing(told: dict[str, list[list[Given]]], seed: int) -> None:
    rounds = rounds_of(told, cohorts=("virtual", "bare metal"))
    gave = [turn for turns in told.values() for turn in turns]
    events = [judged(each, found) for each, found in zip(rounds, gave, strict=True)]
    shuffled = random.Random(seed).sample(events, len(events))
    one = other = planned(rounds)
    for event in events:
        one = advance(one, event)
    for event in shuffled:
        other = advance(other, event)
    assert ChartCache().compute(one) == ChartCache().compute(other)


@given(SWEEPS)
def test_what_is_kept_from_view_to_view_is_what_is_worked_out_anew(told: dict[str, list[list[Given]]]) -> None:
    rounds = rounds_of(told)
    gave = [turn for turns in told.values() for turn in turns]
    kept, view = ChartCache(), planned(rounds)
    for each, found in zip(rounds, gave, strict=True):
        for event in (RoundStarted(each, 1.0), judged(each, found)):
            view = advance(view, event)
            assert kept.compute(view) == ChartCache().compute(view)
            assert kept.compute(view) is kept.compute(replace(view, log=()))
    view = advance(view, SessionEnded(99.0, complete=True))
    assert kept.compute(view) == ChartCache().compute(view)


def test_a_test_that_was_repeated_counts_once_with_its_newest_result() -> None:
    told: Told = {"1": [[1e9]], "2": [[failed(FailedAt.TIMEOUT)]]}
    view = view_of(told)
    second = view.plan[1]
    again = replace(second, number=3, tests=tuple(replace(each, id="3-0", round=3) for each in second.tests))
    kept = ChartCache()
    assert medians(only(view)) == {"1": 1e9, "2": None}
    kept.compute(view)
    view = advance(view, SessionOpened("s1", "swept", FABRIC, "default", (*view.plan, again), 0.0))
    (waiting,) = kept.compute(view)
    assert waiting.curves[0].points[1].planned == 1
    view = advance(view, judged(again, [1.5e9]))
    (chart,) = kept.compute(view)
    assert medians(chart) == {"1": 1e9, "2": 1.5e9}
    assert chart.curves[0].points[1].missing == ()
    assert chart == only(view)


# -- what is missing


def test_points_without_a_number_say_why_and_are_not_made_up() -> None:
    why = "ended at tasks=2: ior.write gained less than 5 % since tasks=1"
    told: Told = {
        "1": [[1e9, 1e9]],
        "2": [[1e9, failed(FailedAt.UNREACHABLE, "refused")]],
        "4": [[failed(FailedAt.SKIPPED, why), failed(FailedAt.SKIPPED, why)]],
    }
    chart = only(view_of(told))
    first, second, third = chart.curves[0].points
    assert first.missing == ()
    assert [(each.state, each.why, each.tests) for each in second.missing] == [
        (State.UNREACHABLE, "unreachable: refused", 1)
    ]
    assert third.median is None
    assert [each.why for each in third.missing] == [f"not needed any more: {why}"]
    assert make_point_rows(chart)[2].cells["note"] == f"not needed any more: {why}"


WRONG = (math.nan, math.inf, -1e9, 1e21, 1.7e308)
"""Numbers that no measurement gives: of a database that was edited, or of a plugin."""


@pytest.mark.parametrize("wrong", WRONG)
def test_a_number_that_cannot_be_right_is_none_of_its_point(wrong: float) -> None:
    chart = only(view_of({"1": [[1e9, 1e9]], "2": [[2e9, wrong]], "4": [[2.01e9, 2.02e9]]}))
    second = chart.curves[0].points[1]
    assert second.values == (2e9,)
    assert [(each.state, each.why, each.tests) for each in second.missing] == [
        (State.UNKNOWN, "gave a number that cannot be right", 1)
    ]
    assert format_sentences(chart) == ["knee at tasks=2, 2.00 GB/s: no later point gained 5 %"]


@pytest.mark.parametrize("wrong", WRONG)
def test_a_sum_has_no_part_that_cannot_be_right(wrong: float) -> None:
    chart = only(view_of({"1": [[1e9, 1e9]], "2": [[2e9, wrong]]}, axis="clients"))
    assert [point.values for point in chart.curves[0].points] == [(2e9,), ()]


def test_a_chart_of_which_no_number_can_be_right_says_so() -> None:
    chart = only(view_of({"1": [[math.nan, math.nan]]}))
    assert chart.metric == "ior.write"
    assert make_point_rows(chart)[0].cells["note"] == "gave a number that cannot be right"


def test_a_sweep_without_any_number_is_still_there() -> None:
    chart = only(view_of({"1": [[failed(FailedAt.MISSING_TOOL, "no ior")]], "2": [[failed(FailedAt.TOOL)]]}))
    assert (chart.metric, format_chart_name(chart), chart.values) == ("", "nothing measured yet", ("1", "2"))
    assert chart.curves[0].measured == ()
    assert format_sentences(chart) == []


def test_what_has_not_run_waits_or_runs() -> None:
    told: Told = {"1": [[1e9]], "2": [[1e9]]}
    rounds = rounds_of(told)
    view = advance(planned(rounds), judged(rounds[0], [1e9]))
    assert [each.why for each in only(view).curves[0].points[1].missing] == ["not run yet"]
    view = advance(view, RoundStarted(rounds[1], 20.0))
    assert [each.state for each in only(view).curves[0].points[1].missing] == [State.RUNNING]
    view = advance(view, SessionEnded(30.0, complete=False, because="by the operator"))
    assert [each.why for each in only(view).curves[0].points[1].missing] == ["not run: by the operator"]


def test_a_session_without_a_sweep_has_no_curve() -> None:
    plain = [replace(each, swept=None) for each in rounds_of({"1": [[1e9]]})]
    repeated = [replace(each, swept=Swept(1, (), 1, 3)) for each in plain]
    for rounds in (plain, repeated):
        assert not is_swept(planned(rounds))
        assert ChartCache().compute(planned(rounds)) == ()


# -- what tells curves apart


def test_cohorts_are_curves_of_one_chart() -> None:
    chart = only(view_of({"1": [[1e9, 5e8]], "2": [[2e9, 6e8]]}, cohorts=("bare metal", "virtual")))
    assert [curve.cohort for curve in chart.curves] == [(("kind", "bare metal"),), (("kind", "virtual"),)]
    assert medians(chart) == {"1": 1e9, "2": 2e9}
    assert medians(chart, 1) == {"1": 5e8, "2": 6e8}


def test_axes_that_stay_make_charts_of_their_own() -> None:
    small = view_of({"1": [[1e9]], "2": [[2e9]]}, block="4 KiB")
    large = [
        replace(each, number=each.number + 2, tests=tuple(_moved(test) for test in each.tests),
                swept=replace(each.swept, point=(("block", "1 MiB"), each.swept.point[-1])))
        for each in small.plan if each.swept is not None
    ]  # fmt: skip
    view = advance(small, SessionOpened("s1", "swept", FABRIC, "default", (*small.plan, *large), 0.0))
    for each, number in zip(large, (3e9, 4e9), strict=True):
        view = advance(view, judged(each, [number]))
    found = ChartCache().compute(view)
    assert [(chart.held, medians(chart)) for chart in found] == [
        ((("block", "4 KiB"),), {"1": 1e9, "2": 2e9}),
        ((("block", "1 MiB"),), {"1": 3e9, "2": 4e9}),
    ]


def _moved(test: Test) -> Test:
    number = test.round + 2
    told = dict(test.target.labels) | {"block": "1 MiB"}
    return replace(
        test, id=f"{number}-0", round=number, target=replace(test.target, labels=tuple(sorted(told.items())))
    )


def with_readings(told: Mapping[str, Sequence[tuple[float, Labels]]]) -> RunView:
    rounds = rounds_of({value: [[0.0]] for value in told}, axis="streams")
    view = planned(rounds)
    for each, readings in zip(rounds, told.values(), strict=True):
        (test,) = each.tests
        found = tuple(
            Reading("ior.write", value, Unit.BYTE_RATE, more, "", f"{test.id}/{place}", 1.0)
            for place, (value, more) in enumerate(readings)
        )
        closed = ClosedRound(each, (Result(test, measurements=found),), CloseReason.COMPLETE, 1.0, 2.0)
        view = advance(view, closed)
    return view


def test_reading_and_writing_are_curves_of_one_chart_even_where_one_lacks_a_point() -> None:
    read, write = labels(operation="read"), labels(operation="write")
    (chart,) = ChartCache().compute(with_readings({"1": [(1.0, read), (2.0, write)], "2": [(3.0, read)]}))
    assert format_chart_name(chart) == "ior.write"
    assert [dict(curve.cohort) for curve in chart.curves] == [{"operation": "read"}, {"operation": "write"}]
    assert [[point.median for point in curve.points] for curve in chart.curves] == [[1.0, 3.0], [2.0, None]]
    (silent,) = chart.curves[1].points[1].missing
    assert (silent.state, silent.why, silent.tests) == (State.MEASURED, "gave other numbers, not this one", 1)


def test_max_min_and_mean_of_a_tool_are_one_curve_with_its_band() -> None:
    three = [(float(value), labels(statistic=name)) for name, value in (("max", 9), ("min", 4), ("mean", 6))]
    chart = only(with_readings({"1": three, "2": [(value * 2, own) for value, own in three]}))
    assert format_chart_name(chart) == "ior.write"
    assert [(point.low, point.median, point.high) for point in chart.curves[0].points] == [(4, 6, 9), (8, 12, 18)]


def test_statistics_without_a_mean_stay_charts_of_their_own() -> None:
    two = [(9.0, labels(statistic="max")), (4.0, labels(statistic="min"))]
    found = ChartCache().compute(with_readings({"1": two, "2": two}))
    assert [format_chart_name(chart) for chart in found] == ["ior.write max", "ior.write min"]


def test_numbered_parts_of_a_test_are_one_curve_without_a_share_for_each() -> None:
    def parts(*rates: float) -> list[tuple[float, Labels]]:
        return [(rate, labels(stream=place)) for place, rate in enumerate(rates, 1)]

    chart = only(with_readings({"1": parts(8.0), "2": parts(4.0, 4.0), "4": parts(2.0, 2.0, 1.0, 3.0)}))
    assert medians(chart) == {"1": 8.0, "2": 4.0, "4": 2.0}
    assert chart.is_split
    assert not chart.has_efficiency


def test_a_number_that_is_the_same_at_all_points_tells_charts_apart() -> None:
    sizes = [(1.0, labels(size=8)), (2.0, labels(size=16))]
    found = ChartCache().compute(with_readings({"1": sizes, "2": sizes}))
    assert [format_chart_name(chart) for chart in found] == ["ior.write size=8", "ior.write size=16"]


def test_an_engine_that_the_tool_chose_for_a_point_does_not_split_its_curve() -> None:
    one, more, other = (labels(ioengine=name, direct=1) for name in ("psync", "libaio", "null"))
    (chart,) = ChartCache().compute(with_readings({"1": [(1.0, one)], "2": [(3.0, more)], "4": [(4.0, more)]}))
    assert (format_chart_name(chart), medians(chart)) == ("ior.write", {"1": 1.0, "2": 3.0, "4": 4.0})
    both = ChartCache().compute(with_readings({"1": [(1.0, one), (9.0, other)], "2": [(3.0, more), (9.0, other)]}))
    assert {format_chart_name(chart) for chart in both} == {"ior.write psync", "ior.write libaio", "ior.write null"}


# -- what is said


def curve(*numbers: float, spread: float = 0.0) -> Curve:
    return Curve((), tuple(
        Point(str(2**place), float(2**place), (number - spread, number, number + spread), 1, 1, 1, 1, float(2**place))
        for place, number in enumerate(numbers)
    ))  # fmt: skip


@pytest.mark.parametrize(
    ("numbers", "gain", "knee"),
    [
        ((1.0, 2.0, 4.0, 4.1, 4.1), 0.05, "4"),
        ((1.0, 2.0, 4.0, 4.1, 4.1), 0.02, "8"),
        ((4.0, 4.0, 4.0), 0.05, "1"),
        ((4.0, 3.0, 2.0), 0.05, "1"),
        ((1.0, 0.5, 2.0, 1.0), 0.05, "4"),
        ((1.0, 2.0, 4.0), 0.05, None),
        ((1.0,), 0.05, None),
    ],
)
def test_the_knee_is_the_last_point_that_gained_enough(
    numbers: tuple[float, ...], gain: float, knee: str | None
) -> None:
    found = curve(*numbers).knee(gain)
    assert (found.point.value if found else None) == knee


def test_a_knee_within_the_spread_of_later_points_is_not_certain() -> None:
    sharp, vague = curve(1.0, 2.0, 2.0).knee(0.05), curve(1.0, 2.0, 2.0, spread=0.2).knee(0.05)
    assert sharp is not None
    assert vague is not None
    assert (sharp.certain, vague.certain) == (True, False)


def test_a_knee_of_a_sweep_that_goes_on_is_one_so_far() -> None:
    told: Told = {"1": [[1e9]], "2": [[1e9]], "4": [[4e9]]}
    rounds = rounds_of(told)
    view = planned(rounds)
    for each in rounds[:2]:
        view = advance(view, judged(each, [1e9]))
    assert format_sentences(only(view)) == ["knee so far at tasks=1, 1.00 GB/s: no later measured point gained 5 %"]
    assert [row.cells["note"] for row in make_point_rows(only(view))] == ["knee so far", "", "not run yet"]
    view = advance(view, judged(rounds[2], [4e9]))
    assert format_sentences(only(view)) == ["no knee: tasks=4, the last point measured, still gained 5 % or more"]


def test_words_have_no_order_so_no_gain_and_no_knee() -> None:
    chart = only(view_of({"random": [[1e9]], "sequential": [[2e9]]}, axis="pattern"))
    assert chart.values == ("random", "sequential")
    assert chart.curves[0].gains == {}
    assert format_sentences(chart) == []


def test_where_less_is_better_no_knee_is_named() -> None:
    chart = only(view_of({"1": [[1e-3]], "2": [[2e-3]], "4": [[2e-3]]}, unit=Unit.SECOND.value))
    assert not chart.grows
    assert format_sentences(chart) == []
    assert not any("knee" in row.cells["note"] for row in make_point_rows(chart))


def test_gains_and_the_share_of_each() -> None:
    found = curve(1.0, 2.0, 3.0)
    assert found.gains == pytest.approx({"2": 1.0, "4": 0.5})
    assert found.efficiency == pytest.approx({"1": 1.0, "2": 1.0, "4": 0.75})


def test_bounds_are_those_of_verdicts_on_these_numbers() -> None:
    view = view_of({"1": [[1e9, 3e9]], "2": [[4e9, 4e9]]}, required="2e9")
    first, second = only(view).curves[0].points
    assert (first.bounds, first.state) == ((2e9,), State.FAIL)
    assert (second.bounds, second.state) == ((2e9,), State.PASS)
    assert make_point_rows(only(view))[0].cells["required"] == "2.00 GB/s"
    summed = only(view_of({"1": [[1e9, 3e9]], "2": [[4e9, 4e9]]}, axis="clients", required="2e9"))
    assert [point.bounds for point in summed.curves[0].points] == [(), ()]  # a bound of one is none of the sum


def test_the_table_as_text() -> None:
    text = format_chart(only(view_of({"1": [[1e9], [1.2e9]], "2": [[2e9], [failed(FailedAt.TIMEOUT)]]})))
    assert text == (
        "tasks\treps\ttests\tmedian\tmin\tmax\tgain\tper task\tnote\n"
        "1\t2\t2\t1.10 GB/s\t1.00 GB/s\t1.20 GB/s\t\t100 %\t\n"
        "2\t1/2\t1/2\t2.00 GB/s\t2.00 GB/s\t2.00 GB/s\t+82 %\t91 %\t1 test timed out\n"
    )


@given(some.lists(some.floats(min_value=1e-6, max_value=1e9), min_size=2, max_size=12, unique=True))
def test_places_keep_the_order_and_stay_within_the_picture(numbers: list[float]) -> None:
    found = place_points(sorted(numbers))
    assert found == sorted(found)
    assert (found[0], found[-1]) == pytest.approx((0.0, 1.0))


def test_values_that_multiply_stand_side_by_side() -> None:
    assert place_points([1, 2, 4, 8, 16]) == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert place_points([1, 2, 3, 4, 5]) == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    assert place_points([None, None, None]) == [0, 0.5, 1]
    assert place_points([7]) == [0.5]
    assert not is_multiplied([0, 1, 2, 4])


# -- from the file to the curve


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    with Store.open(tmp_path / "sessions.db") as made:
        yield made


async def test_a_real_session_live_and_stored(tmp_path: Path, store: Store) -> None:
    running = session(tmp_path, store, SteppedReach(four_at_most))
    view, _ = await follow(running, running.propose())
    again = Session.stored(store, running.id, IOR).view()
    chart = only(view)
    assert only(again) == chart
    assert (chart.stage, chart.axis, chart.metric, chart.gain) == ("ior over tasks", "tasks", "ior.write", 0.05)
    bare, virtual = chart.curves
    assert {point.value: point.median for point in bare.points} == {
        "1": 1e9, "2": 2e9, "4": 4e9, "8": 4e9, "16": 4e9, "32": None,
    }  # fmt: skip
    assert bare.points[2].bounds == (3.5e9,)
    assert bare.points[3].bounds == ()
    assert {point.bounds for point in virtual.measured} == {(0.5e9,)}
    assert format_sentences(chart) == [
        "bare metal: knee at tasks=4, 4.00 GB/s: no later measured point gained 5 %",
        "virtual: knee at tasks=4, 2.00 GB/s: no later measured point gained 5 %",
    ]
    (spared,) = bare.points[-1].missing
    assert spared.tests == 2
    assert spared.why == "not needed any more: ended at tasks=16: ior.write gained less than 5 % since tasks=4"


# -- logarithmic axes


def chart_of(numbers: Sequence[float | None], values: Sequence[float] = ()) -> Chart:
    """One curve over these places of its axis."""
    told = [*values, *[1.0] * (len(numbers) - len(values))]
    pairs = enumerate(zip(numbers, told, strict=True))
    points = tuple(Point(f"v{place}", at, (value,)) for place, (at, value) in pairs)
    return Chart("s", "osu", "size", "osu.bw", Unit.BYTE_RATE, Shown.PLAIN, (Curve((), points),))


@pytest.mark.parametrize(
    ("numbers", "by_rule", "turned"),
    [
        ([1, 2, 4, 8, 16], True, False),  # powers of two, whatever they span
        ([2**power for power in range(23)], True, False),
        ([1, 10, 100], True, False),
        ([1, 4], True, False),
        ([1, 3.9], False, True),
        ([1, 2, 3, 4], False, True),
        ([1, 101, 201, 301], False, True),  # two decades in equal steps
        ([0, 1, 2, 4, 8], False, False),  # 0 has no logarithm
        ([None, None, None], False, False),  # words
        ([8], False, False),
        ([], False, False),
    ],
)
def test_an_axis_is_logarithmic_where_its_values_multiply(
    numbers: Sequence[float | None], by_rule: bool, turned: bool
) -> None:
    chart = chart_of(numbers)
    assert (chart.is_axis_log(), chart.is_axis_log(turned=True)) == (by_rule, turned)
    assert list(chart.places.values()) == list(chart.place_values().values())


@pytest.mark.parametrize(
    ("values", "by_rule", "turned"),
    [
        ([1.0, 100.0], True, False),
        ([1.0, 99.9], False, True),
        ([0.0, 100.0], False, False),
        ([-1.0, 100.0], False, False),
        ([5.0, 5.0], False, True),
    ],
)
def test_values_are_logarithmic_over_two_decades(values: Sequence[float], by_rule: bool, turned: bool) -> None:
    chart = chart_of([1.0] * len(values), values)
    assert (chart.is_value_log(), chart.is_value_log(turned=True)) == (by_rule, turned)


def test_an_axis_that_is_turned_has_its_values_at_other_places() -> None:
    chart = chart_of([1, 2, 4])
    assert list(chart.place_values().values()) == pytest.approx([0.0, 0.5, 1.0])
    assert list(chart.place_values(turned=True).values()) == pytest.approx([0.0, 1 / 3, 1.0])


@pytest.mark.parametrize(
    ("numbers", "factor", "ticks"),
    [
        ([0.125e9, 12.5e9], 0.125e9, [0.125e9, 1.25e9, 12.5e9]),  # 1, 10 and 100 Gb/s
        ([2.0, 8.0], 1.0, [1, 2, 5, 10]),
        ([10.0, 10.0], 1.0, [10, 20, 50, 100]),
    ],
)
def test_ticks_of_a_logarithmic_scale_are_round_in_its_unit(
    numbers: Sequence[float], factor: float, ticks: Sequence[float]
) -> None:
    found = make_scale(numbers, factor, is_log=True)
    assert found.ticks == pytest.approx(tuple(ticks))
    assert all(0 <= found.find_height(number) <= 1 + 1e-9 for number in numbers)
    assert not make_scale([0.0, 1.0], 1.0, is_log=True).is_log
