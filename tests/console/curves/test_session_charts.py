"""Charts of several sessions: curves of one thing in one picture, points that only one has, and a part of the axis."""

from benchconsole.console.curves.chart_joining import MOST_CURVES
from benchconsole.console.curves.curve_model import Chart, Curve, Point
from benchconsole.console.curves.session_charts import join_sessions
from benchconsole.topology.units import Shown, Unit


def chart(*values: float, metric: str = "ior.write", stage: str = "ior over clients", word: bool = False) -> Chart:
    points = tuple(Point(f"{value:g}", None if word else value, (100.0 * value,)) for value in values)
    return Chart(stage, "ior", "clients", metric, Unit.BYTE_RATE, Shown.STORAGE, (Curve((), points),))


def told(found: Chart) -> dict[str, list[tuple[str, bool]]]:
    return {
        dict(curve.cohort)["session"]: [(point.value, bool(point.values)) for point in curve.points]
        for curve in found.curves
    }


def test_the_same_metric_over_the_same_axis_is_one_chart_whatever_the_stages_are_called() -> None:
    (found,) = join_sessions({"iu": [chart(1, 2, 4)], "tacc": [chart(1, 4, 8, stage="writes over clients")]})
    assert told(found) == {
        "iu": [("1", True), ("2", True), ("4", True), ("8", False)],
        "tacc": [("1", True), ("2", False), ("4", True), ("8", True)],
    }
    assert found.numbers == (100.0, 100.0, 200.0, 200.0, 400.0, 400.0, 100.0, 100.0, 400.0, 400.0, 800.0, 800.0)


def test_other_metrics_and_other_words_stay_apart() -> None:
    found = join_sessions({"iu": [chart(1, 2), chart(1, 2, metric="ior.read")], "tacc": [chart(1, 2)]})
    assert [(each.metric, len(each.curves)) for each in found] == [("ior.write", 2), ("ior.read", 1)]
    words = join_sessions({"iu": [chart(1, 2, word=True)], "tacc": [chart(1, 3, word=True)]})
    assert [len(each.curves) for each in words] == [1, 1]
    same = join_sessions({"iu": [chart(1, 2, word=True)], "tacc": [chart(1, 2, word=True)]})
    assert [len(each.curves) for each in same] == [2]


def test_more_curves_than_can_be_told_apart_are_charts_of_their_own_with_their_session() -> None:
    found = join_sessions({f"s{number}": [chart(1, 2)] for number in range(MOST_CURVES + 1)})
    assert len(found) == MOST_CURVES + 1
    assert told(found[3]) == {"s3": [("1", True), ("2", True)]}


def test_a_part_of_the_axis_is_cut_out() -> None:
    (found,) = join_sessions({"iu": [chart(1, 2, 4, 8), chart(1, 2, metric="x", word=True)]}, (2, 4))
    assert told(found) == {"iu": [("2", True), ("4", True)]}
    assert join_sessions({"iu": [chart(1, 2)]}, (16, 32)) == ()
