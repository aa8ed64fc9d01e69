"""The shape of curves: every border of every mark, and what the curves of the source reports say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.curves.curve_model import Curve, Point
from benchconsole.console.curves.curve_shape import COLLAPSE, FEWEST, TOLERANCE, CurveShape, find_shape


def draw(*values: float | tuple[float, ...], at: list[float] | None = None) -> Curve:
    """A curve over 1, 2, 3 ... or ``at``; of a point with several values the middle is drawn."""
    places = at or [float(place) for place in range(1, len(values) + 1)]
    points = [
        Point(f"{place:g}", place, value if isinstance(value, tuple) else (value,), 1, 1, 1, 1)
        for place, value in zip(places, values, strict=True)
    ]
    return Curve((), tuple(points))


def shape(*values: float | tuple[float, ...], at: list[float] | None = None) -> CurveShape:
    found = find_shape(draw(*values, at=at))
    assert found is not None
    return found


def plateau(found: CurveShape) -> tuple[str, str] | None:
    return None if found.plateau is None else (found.plateau[0].point.value, found.plateau[1].point.value)


IU_WRITE = shape(210, 820, 1630, 2900, 3210, 3260, 3240, 3290, 3325, 3200, at=[1, 4, 8, 16, 32, 64, 128, 332, 414, 498])
IU_READ = shape(280, 2200, 15100, 22500, 25900, 28500, 29766, 29100, 26800, 25200,
                at=[1, 8, 166, 250, 300, 350, 394, 420, 460, 498])  # fmt: skip
TACC_READ = shape(160, 1280, 5100, 9300, 14217, at=[1, 8, 32, 64, 166])
SC11 = shape(20, 40, 60, 80, 71, 78, 88, 96, at=[2, 4, 6, 8, 9, 12, 20, 30])
"""Curves that go through the numbers that the reports print, in MB/s and Gb/s."""


def test_jetstream_iu_writes_on_a_plateau_from_32_tasks_with_its_maximum_at_414() -> None:
    assert IU_WRITE.maximum.value == "414"
    assert plateau(IU_WRITE) == ("32", "498")
    assert IU_WRITE.saturation is None


def test_jetstream_iu_reads_on_a_plateau_from_350_saturates_at_420_with_its_maximum_at_394() -> None:
    assert IU_READ.maximum.value == "394"
    assert plateau(IU_READ) == ("350", "420")
    assert IU_READ.saturation is not None
    assert IU_READ.saturation.point.value == "420"


def test_jetstream_tacc_reads_beyond_166_tasks() -> None:
    assert TACC_READ.is_rising
    assert plateau(TACC_READ) is None


def test_sc11_is_steady_at_8_congests_with_a_ninth_and_has_its_peak_at_30() -> None:
    assert SC11.maximum.value == "30"
    assert [dip.point.value for dip in SC11.dips] == ["9"]


@pytest.mark.parametrize(("second", "found"), [(95, ("2", "3")), (94.9, None)])
def test_a_plateau_is_within_the_tolerance_of_the_maximum(second: float, found: tuple[str, str] | None) -> None:
    assert plateau(shape(10, second, 100, 50, 40)) == found


@pytest.mark.parametrize(("last", "found"), [(94.9, "2"), (95, None), (96, None)])
def test_saturation_is_where_a_fall_for_good_begins(last: float, found: str | None) -> None:
    saturation = shape(10, 100, 90, last).saturation
    assert (None if saturation is None else saturation.point.value) == found


@pytest.mark.parametrize(("last", "found"), [(50, "3"), (50.1, None)])
def test_a_collapse_stays_below_half_of_the_maximum(last: float, found: str | None) -> None:
    collapse = shape(10, 100, 40, last).collapse
    assert (None if collapse is None else collapse.point.value) == found


@pytest.mark.parametrize(("low", "found"), [(76, []), (75.9, ["3"])])
def test_a_dip_is_below_what_was_reached_before_and_again(low: float, found: list[str]) -> None:
    assert [dip.point.value for dip in shape(20, 80, low, 90, 100).dips] == found


def test_one_stretch_is_one_dip_and_the_lowest_point_of_it() -> None:
    assert [dip.point.value for dip in shape(20, 80, 70, 60, 65, 90, 50, 95).dips] == ["4", "7"]


def test_a_spread_that_reaches_the_neighbours_makes_a_dip_uncertain() -> None:
    (sure,) = shape((79, 80, 81), (59, 60, 61), (89, 90, 91), (94, 95, 96)).dips
    (unsure,) = shape((79, 80, 81), (59, 60, 99), (89, 90, 91), (94, 95, 96)).dips
    assert (sure.certain, unsure.certain) == (True, False)


def test_short_sweeps_tell_their_maximum_alone() -> None:
    found = shape(*[100.0] * (FEWEST - 1))
    assert found.is_short
    assert (found.plateau, found.saturation, found.collapse, found.dips) == (None, None, None, ())


def test_axes_of_words_and_empty_curves_have_no_shape() -> None:
    words = Curve((), (Point("posix", None, (1.0,)), Point("mpiio", None, (2.0,))))
    assert find_shape(words) is None
    assert find_shape(Curve((), (Point("1", 1.0),))) is None


@given(st.lists(st.floats(1, 1e6), min_size=FEWEST, max_size=20), st.floats(1e-3, 1e9))
def test_units_change_nothing_and_marks_keep_their_order(values: list[float], factor: float) -> None:
    found, scaled = shape(*values), shape(*(value * factor for value in values))
    assert found.maximum.value == scaled.maximum.value
    top = max(values)
    if found.plateau is not None:
        first, last = (float(each.point.value) for each in found.plateau)
        assert first <= float(found.maximum.value) <= last
        inside = values[int(first) - 1 : int(last)]
        assert min(inside) >= top * (1 - TOLERANCE) * (1 - 1e-12)
    if found.collapse is not None:
        assert all(value <= COLLAPSE * top for value in values[int(found.collapse.point.value) - 1 :])
    assert all(1 < float(dip.point.value) < len(values) for dip in found.dips)
