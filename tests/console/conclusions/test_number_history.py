"""Which value stands for a session, and what is said of the change over sessions."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchconsole.console.conclusions.number_history import (
    HistoryKey,
    HistoryPoint,
    NumberHistory,
    choose_point,
    list_numbers_of_metric,
    list_numbers_of_node,
)
from benchconsole.console.view.run_view import State
from benchconsole.probes.model.judgement import Level
from benchconsole.store.model import HistoryValue, NumberVerdict
from benchconsole.topology.units import Shown, Unit

KEY = HistoryKey("n1", "flows", "iperf3.throughput", ())


def value(
    number: float, level: Level | None = None, expected: float | None = 10.0, numbers: int = 1, **changed: Any
) -> HistoryValue:
    verdict = None if level is None else NumberVerdict(level, expected, Shown.NETWORK, numbers)
    made = HistoryValue("t", 1, "flows", "n1", "n2", (), "", KEY.metric, Unit.BYTE_RATE, (), number, verdict)
    return made._replace(**changed)


def history(*values: float | None) -> NumberHistory:
    points = [None if each is None else HistoryPoint(each, None, State.MEASURED, "t", 1) for each in values]
    return NumberHistory(KEY, Unit.BYTE_RATE, Shown.PLAIN, tuple(points))


@pytest.mark.parametrize(
    ("values", "chosen", "state"),
    [
        ([value(9.0)], 9.0, State.MEASURED),
        ([value(7.0), value(9.0), value(8.0)], 8.0, State.MEASURED),
        ([value(7.0), value(9.0)], 7.0, State.MEASURED),
        ([value(9.0, Level.PASS), value(9.5, Level.FAIL)], 9.5, State.FAIL),
        ([value(9.0, Level.UNKNOWN), value(9.5, Level.WATCH)], 9.5, State.WATCH),
        ([value(9.0, Level.PASS), value(8.0, Level.PASS)], 8.0, State.PASS),
        ([value(9.0, Level.PASS, 9.0), value(9.5, Level.PASS, 19.0)], 9.5, State.PASS),
        ([value(9.0, Level.PASS), value(1.0)], 9.0, State.PASS),
        ([value(1.0, Level.PASS, unit=Unit.SECOND), value(2.0, Level.PASS, unit=Unit.SECOND)], 2.0, State.PASS),
    ],
)
def test_the_worst_that_was_judged_stands_for_a_session_else_the_middle_one(
    values: list[HistoryValue], chosen: float, state: State
) -> None:
    point = choose_point("n1", values)
    assert point is not None
    assert (point.value, point.state, point.number) == (chosen, state, len(values))


@pytest.mark.parametrize(
    ("changed", "shown"),
    [
        ({}, Shown.NETWORK),
        ({"peer": None}, Shown.PLAIN),
        ({"unit": Unit.SECOND}, Shown.PLAIN),
        ({"verdict": NumberVerdict(Level.PASS, 1.0, Shown.STORAGE, 1)}, Shown.STORAGE),
    ],
)
def test_a_rate_between_nodes_that_nobody_judged_is_that_of_a_network(changed: dict[str, Any], shown: Shown) -> None:
    (found,) = list_numbers_of_node("n1", [[value(9.0, **changed)]])
    assert found.shown is shown


def test_of_a_sum_it_is_the_part_that_the_node_sent() -> None:
    shared = [value(each, Level.WATCH, 40.0, 4, bundle="up") for each in (6.0, 7.0)]
    received = value(5.0, Level.WATCH, 40.0, 4, bundle="up", node="n9", peer="n1")
    point = choose_point("n1", [*shared, received])
    assert point is not None
    assert (point.value, point.expected, point.state, point.number) == (13.0, 20.0, State.WATCH, 1)
    assert choose_point("n1", [received]) is None
    unknown = choose_point("n1", [value(6.0, Level.UNKNOWN, None, 4)])
    assert unknown is not None
    assert (unknown.value, unknown.expected) == (6.0, None)


def test_two_bundles_are_two_sums() -> None:
    point = choose_point("n1", [value(6.0, Level.PASS, 40.0, 4, bundle=name) for name in "ab"])
    assert point is not None
    assert (point.value, point.expected, point.number) == (6.0, 10.0, 2)


@pytest.mark.parametrize(
    ("values", "change"),
    [
        ((10.0,), None),
        ((10.0, 10.0), 0.0),
        ((10.0, 12.0), 0.2),
        ((None, 10.0, None, 5.0, None), -0.5),
        ((0.0, 5.0), None),
        ((-10.0, -5.0), 0.5),
        ((10.0, math.nan), None),
        ((10.0, math.inf), None),
    ],
)
def test_the_change_is_a_share_of_the_first_value(values: tuple[float | None, ...], change: float | None) -> None:
    assert history(*values).change == change


@given(st.lists(st.none() | st.floats(allow_nan=True), min_size=1).filter(any))
def test_lowest_and_highest_are_places_of_sessions_with_a_value(values: list[float | None]) -> None:
    found = history(*values)
    for (place, point), choose in ((found.lowest, min), (found.highest, max)):
        assert found.points[place] is point
        finite = [each for each in values if each is not None and math.isfinite(each)]
        assert not finite or point.value == choose(finite)


def test_an_expectation_that_is_another_one_is_marked() -> None:
    sessions = [[value(9.0, Level.PASS, each)] for each in (10.0, 20.0, 20.0 * (1 + 1e-9), None, 20.0)]
    (found,) = list_numbers_of_node("n1", sessions)
    assert [point and point.differs for point in found.points] == [True, False, False, False, False]


def test_a_session_without_the_number_has_no_point_and_stages_are_told_apart() -> None:
    first, second = [value(9.0), value(8.0, stage="others")], [value(7.0)]
    flows, others = list_numbers_of_node("n1", [first, [], second])
    assert [point and point.value for point in flows.points] == [9.0, None, 7.0]
    assert [point and point.value for point in others.points] == [8.0, None, None]
    assert flows.key.stage == "flows"


def test_what_was_ever_judged_comes_first() -> None:
    values = [value(1.0, metric="iperf3.cwnd"), value(9.0, Level.PASS)]
    assert [each.key.metric for each in list_numbers_of_node("n1", [values])] == ["iperf3.throughput", "iperf3.cwnd"]


def test_a_metric_is_of_all_nodes_of_its_tests() -> None:
    of_set = value(5.0, node="n1", peer=None, members=("n1", "n3"))
    alone = value(4.0, node="n4", peer=None)
    found = list_numbers_of_metric([[value(9.0, labels=(("size", "8"),)), of_set, alone]])
    assert [(each.key.node, each.key.labels) for each in found] == [
        ("n1", (("size", "8"),)), ("n2", (("size", "8"),)), ("n1", ()), ("n3", ()), ("n4", ()),
    ]  # fmt: skip
    joined = list_numbers_of_metric([[value(9.0, labels=(("size", "8"),)), of_set]], by_labels=False)
    assert [each.key.node for each in joined] == ["n1", "n2", "n3"]


def test_numbers_are_shown_as_a_verdict_says() -> None:
    (found,) = list_numbers_of_node("n1", [[value(9.0)], [value(9.0, Level.PASS)]])
    assert found.shown is Shown.NETWORK
