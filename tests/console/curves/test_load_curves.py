"""Curves of what loads a system at once: the sum of all, and of each cohort its part."""

from benchconsole.console.curves.curve_text import format_sentences, make_point_rows
from benchconsole.probes.model.measuring import FailedAt
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
