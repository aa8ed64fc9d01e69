"""Curves of what loads a system at once: the sum of all, of each cohort its part, and points that a limit left out."""

import pytest

from benchconsole.console.curves.curve_text import format_sentences, format_shapes, make_point_rows
from benchconsole.console.view.run_view import RunView, State
from benchconsole.probes.model.measuring import FailedAt, Labels, LeftOutPoint
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Unit
from tests.console.curves.test_curve_model import Told, failed, medians, only, view_of


def test_a_load_of_several_cohorts_has_a_sum_of_all_and_its_parts_have_no_knee() -> None:
    told: Told = {"1": [[1e9]], "2": [[1e9, 5e8]], "4": [[1.1e9, 4e8]]}
    chart = only(view_of(told, axis="clients", cohorts=("bare metal", "virtual")))
    assert [(curve.cohort, curve.is_part) for curve in chart.curves] == [
        ((), False), ((("kind", "bare metal"),), True), ((("kind", "virtual"),), True),
    ]  # fmt: skip
    assert medians(chart) == {"1": 1e9, "2": 1.5e9, "4": 1.5e9}
    assert medians(chart, 2) == {"1": None, "2": 5e8, "4": 4e8}
    assert format_sentences(chart) == ["all together: knee at clients=2, 1.50 GB/s: no later point gained 5 %"]
    assert all(row.value != "1" for row in make_point_rows(chart) if row.curve == 2)


def test_what_two_stages_gave_at_once_is_summed_over_any_axis() -> None:
    told: Told = {"1": [[1e9, 2e9]], "2": [[2e9, 3e9], [2e9, failed(FailedAt.TOOL)]]}
    chart = only(view_of(told, cohorts=("near", "far"), bundle="both"))
    assert chart.is_summed
    assert medians(chart) == {"1": 3e9, "2": 5e9}
    assert [point.workers for point in chart.curves[0].points] == [1.0, 2.0]
    assert medians(chart, 1) == {"1": 1e9, "2": 2e9}


def leave_out(view: RunView, *values: str, held: Labels = ()) -> RunView:
    """The same session, as its plan would be without the points at ``values``."""
    points = tuple(LeftOutPoint((*held, ("clients", value)), int(value), 2) for value in values)
    return replace(
        view,
        plan=tuple(replace(each, swept=replace(each.swept, left_out=points)) for each in view.plan if each.swept),
    )


def test_points_that_a_limit_left_out_are_there_with_the_reason_and_sentences_say_that_they_lack() -> None:
    told: Told = {"1": [[1e9], [1e9]], "2": [[1e9, 1e9], [1e9, 1e9]]}
    chart = only(leave_out(view_of(told, axis="clients"), "8", "4"))
    assert chart.values == ("1", "2", "4", "8")
    assert medians(chart) == {"1": 1e9, "2": 2e9, "4": None, "8": None}
    assert [point.value for point in chart.curves[0].left_out] == ["4", "8"]
    assert [(point.planned, point.of) for point in chart.curves[0].left_out] == [(0, 0)] * 2
    words = "no knee: clients=2, the last point measured, still gained 5 % or more"
    assert format_sentences(chart) == [f"{words}; it rests on fewer points, without clients=4, 8"]
    assert [(row.value, row.state, row.cells["note"]) for row in make_point_rows(chart)][2:] == [
        ("4", State.HELD, "8 tests skipped: the limit is --tests-at-once 2"),
        ("8", State.HELD, "16 tests skipped: the limit is --tests-at-once 2"),
    ]
    assert only(view_of(told, axis="clients")).curves[0].left_out == ()


def test_a_knee_and_a_plateau_say_that_points_were_left_out() -> None:
    told: Told = {value: [[number]] for value, number in zip("1234", (1e9, 2e9, 2e9, 2e9), strict=True)}
    whole = only(view_of(told, axis="clients"))
    assert "fewer" not in "".join((*format_sentences(whole), *format_shapes(whole)))
    part = only(leave_out(view_of(told, axis="clients"), "8"))
    for before, after in zip(format_shapes(whole), format_shapes(part), strict=True):
        assert "plateau from clients=2 to 4" in before
        assert after == f"{before}; it rests on fewer points, without clients=8"
    (knee,) = format_sentences(part)
    assert knee.startswith("knee at clients=2, 2.00 GB/s: no later measured point gained 5 %; it rests on fewer points")


def test_a_point_of_another_line_is_none_of_this_one() -> None:
    told: Told = {"1": [[1e9]], "2": [[1e9, 1e9]]}
    view = view_of(told, axis="clients", block="4 KiB")
    assert only(leave_out(view, "4", held=(("block", "1 MiB"),))).values == ("1", "2")
    assert only(leave_out(view, "4", held=(("block", "4 KiB"),))).values == ("1", "2", "4")


@pytest.mark.parametrize(
    ("unit", "notes"),
    [
        (Unit.BYTE_RATE, [(0, "4 tests skipped: the limit is --tests-at-once 2")]),
        (Unit.SECOND, [(number, "skipped: the limit is --tests-at-once 2") for number in (0, 1)]),
    ],
)
def test_it_is_not_known_how_many_tests_a_cohort_would_have_had(unit: Unit, notes: list[tuple[int, str]]) -> None:
    told: Told = {"1": [[1e9, 1e9]], "2": [[2e9, 1e9]]}
    view = view_of(told, axis="clients", cohorts=("bare metal", "virtual"), unit=unit.value)
    rows = make_point_rows(only(leave_out(view, "4")))
    assert [(row.curve, row.cells["note"]) for row in rows if row.value == "4"] == notes
