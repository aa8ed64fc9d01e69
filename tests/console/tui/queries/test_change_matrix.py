"""The matrix of changes: where nodes and pairs stand, the words of loss and gain, and what one side alone has."""

from collections.abc import Mapping, Sequence

import pytest

from benchconsole.console.conclusions.session_comparison import ComparedMetric, Outcome
from benchconsole.console.tui.queries.change_matrix import (
    Turn,
    format_cell,
    has_map,
    make_change_matrix,
    tell_counts,
)
from benchconsole.console.tui.queries.matrix import MOST_NODES
from benchconsole.console.view.run_view import RunView
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Comparator
from benchconsole.topology.units import Unit
from tests.console.conclusions.test_session_comparison import NODES, compare
from tests.console.reports.building import Story, fabric

UNDER = {name: f"leaf{1 + place // 4}" for place, name in enumerate(NODES)}


def measured(values: Mapping[str, float], metric: str = "iperf3.throughput") -> RunView:
    """A session of one number for each node, or for each pair ``a>b``."""
    story = Story(fabric(9))
    unit = Unit.SECOND if metric.endswith("rtt") else Unit.BYTE_RATE
    for test, value in zip(story.round("stage", metric.partition(".")[0], [*values]), values.values(), strict=True):
        story.answer(test, metric, value, unit, raw="")
    return story.view()


def changed(
    one: Mapping[str, float], other: Mapping[str, float],
    sense: Comparator | None = Comparator.AT_LEAST, metric: str = "iperf3.throughput",
) -> ComparedMetric:  # fmt: skip
    (found,) = compare(measured(one, metric), measured(other, metric))
    return replace(found, sense=sense)


def pairs(names: Sequence[str], value: float) -> dict[str, float]:
    return {f"{one}>{other}": value for one in names for other in names if one != other}


def test_pairs_stand_by_sender_and_receiver_with_their_change() -> None:
    before = pairs(NODES[:4], 100.0)
    found = changed(before, {**before, "n01>n03": 88.0, "n02>n01": 130.0, "n03>n01": 101.9})
    matrix = make_change_matrix(found, UNDER)
    assert (matrix.sources, matrix.sinks, matrix.is_grouped) == (tuple(NODES[:4]), tuple(NODES[:4]), False)
    lost = matrix.cells["n01", "n03"]
    assert found.comparison is not None
    assert {*found.comparison.apart} == {"n01>n03", "n02>n01"}
    assert lost.turn is Turn.WORSE
    assert lost.change == pytest.approx(-0.12)
    assert matrix.cells["n02", "n01"].turn is Turn.BETTER
    assert matrix.cells["n03", "n01"].turn is Turn.SAME
    assert ("n01", "n01") not in matrix.cells
    assert matrix.by_source["n01"].mean == pytest.approx(-0.04)
    assert tell_counts(matrix.by_sink["n01"].counts) == "1 better, 2 same"


def test_a_latency_that_rose_is_worse_and_without_a_sense_it_is_only_higher() -> None:
    one, other = dict.fromkeys(NODES, 1.0), {**dict.fromkeys(NODES, 1.0), "n02": 1.2, "n03": 0.5}
    for sense, up, down in (
        (Comparator.AT_MOST, Turn.WORSE, Turn.BETTER),
        (Comparator.AT_LEAST, Turn.BETTER, Turn.WORSE),
        (None, Turn.HIGHER, Turn.LOWER),
    ):
        matrix = make_change_matrix(changed(one, other, sense, "ping.rtt"), UNDER)
        assert [matrix.cells["leaf1", place].turn for place in "123"] == [Turn.SAME, up, down]


def test_a_cell_is_never_worse_where_the_table_says_no_effect() -> None:
    """Noise of 20 % in both directions: no node stands apart, and none is coloured whatever its own number did."""
    one = dict.fromkeys(NODES, 100.0)
    other = {name: 100.0 * (0.8 if place % 2 else 1.2) for place, name in enumerate(NODES)}
    found = changed(one, other)
    assert (found.outcome, found.comparison and found.comparison.apart) == (Outcome.NO_EFFECT, ())
    cells = make_change_matrix(found, UNDER).cells.values()
    assert {cell.turn for cell in cells} == {Turn.NO_EFFECT}
    assert {format_cell(cell) for cell in cells} == {"·-20", "·+20"}


def test_a_metric_that_is_worse_colours_those_that_fell_and_not_those_that_rose() -> None:
    one = dict.fromkeys(NODES, 100.0)
    other = {name: 88.0 + 1.38 * place for place, name in enumerate(NODES)}
    found = changed(one, other)
    assert (found.outcome, found.comparison and found.comparison.apart) == (Outcome.LOWER, ())
    turns = {cell.row.words("of"): cell.turn for cell in make_change_matrix(found, UNDER).cells.values()}
    assert [turns[name] for name in NODES] == [*[Turn.WORSE] * 8, *[Turn.SAME] * 3, Turn.NO_EFFECT]


def test_where_groups_changed_in_opposite_ways_each_has_its_own() -> None:
    names = [f"n{number:02d}" for number in range(1, 25)]
    other = {name: 70.0 if place % 3 == 0 else 130.0 for place, name in enumerate(names)}
    found = changed(dict.fromkeys(names, 100.0), other)
    assert found.outcome is Outcome.MIXED
    turns = [cell.turn for cell in make_change_matrix(found, dict.fromkeys(names, "leaf1")).cells.values()]
    assert turns == [Turn.BETTER if place % 3 else Turn.WORSE for place in range(len(names))]


def test_a_group_of_its_own_is_apart_and_the_others_are_not() -> None:
    names = [f"n{number:02d}" for number in range(1, 31)]
    other = {name: (70.0 if place < 10 else 100.0) + place % 3 / 10 for place, name in enumerate(names)}
    found = changed(dict.fromkeys(names, 100.0), other)
    assert found.comparison is not None
    assert {*found.comparison.apart} == {*names[:10]}
    turns = [cell.turn for cell in make_change_matrix(found, dict.fromkeys(names, "leaf1")).cells.values()]
    assert turns == [*[Turn.WORSE] * 10, *[Turn.SAME] * 20]


def test_one_value_of_one_node_has_a_number_and_no_outcome() -> None:
    matrix = make_change_matrix(changed({"n01": 100.0}, {"n01": 80.0}), UNDER)
    (cell,) = matrix.cells.values()
    assert (cell.turn, format_cell(cell)) == (Turn.UNJUDGED, "?-20")


def test_nodes_stand_in_the_row_of_their_switch() -> None:
    matrix = make_change_matrix(changed(dict.fromkeys(NODES, 1.0), {**dict.fromkeys(NODES, 1.0), "n06": 0.5}), UNDER)
    assert (matrix.sources, matrix.sinks) == (("leaf1", "leaf2", "leaf3"), ("1", "2", "3", "4"))
    assert (matrix.cells["leaf2", "2"].row.words("of"), matrix.cells["leaf2", "2"].turn) == ("n06", Turn.WORSE)
    assert matrix.by_source["leaf2"].mean == pytest.approx(-0.125)
    assert matrix.by_sink == {}


def test_what_one_side_alone_measured_is_said_and_is_no_change() -> None:
    matrix = make_change_matrix(changed(dict.fromkeys(NODES[:8], 1.0), dict.fromkeys(NODES[2:], 1.0)), UNDER)
    turns = {cell.row.words("of"): cell.turn for cell in matrix.cells.values()}
    assert turns == {
        **dict.fromkeys(NODES[:2], Turn.A_ALONE), **dict.fromkeys(NODES[2:8], Turn.SAME),
        **dict.fromkeys(NODES[8:], Turn.B_ALONE),
    }  # fmt: skip
    assert matrix.cells["leaf1", "1"].change is None
    assert matrix.by_source["leaf1"].turn is Turn.A_ALONE


def test_numbers_from_zero_have_a_direction_and_no_share() -> None:
    one, other = dict.fromkeys(NODES, 0.0), {**dict.fromkeys(NODES, 7.0), "n02": 0.0, "n03": -7.0}
    matrix = make_change_matrix(changed(one, other, Comparator.AT_MOST), UNDER)
    assert [matrix.cells["leaf1", place].turn for place in "123"] == [Turn.WORSE, Turn.SAME, Turn.NO_EFFECT]
    assert matrix.cells["leaf1", "1"].change is None


def test_many_nodes_are_grouped_by_switch_and_the_worst_pair_speaks() -> None:
    names = [f"n{number:02d}" for number in range(1, MOST_NODES + 3)]
    under = {name: f"leaf{1 + place // 20}" for place, name in enumerate(names)}
    before = {f"{one}>{other}": 1.0 for one in names for other in names[:2] if one != other}
    found = changed({**before}, {**before, "n30>n01": 0.6, "n31>n01": 0.8})
    matrix = make_change_matrix(found, under)
    assert matrix.is_grouped
    cell = matrix.cells["leaf2", "leaf1"]
    assert (cell.turn, cell.row.words("of")) == (Turn.WORSE, "n30>n01")
    assert cell.change == pytest.approx(-0.4)
    assert cell.counts[Turn.WORSE] == 2
    inside = make_change_matrix(found, under, ("leaf2", "leaf1"))
    assert not inside.is_grouped
    assert len(inside.cells) == sum(cell.counts.values())


def test_sets_of_nodes_and_what_was_not_compared_have_no_map() -> None:
    assert has_map(changed(dict.fromkeys(NODES, 1.0), dict.fromkeys(NODES, 1.0)))
    assert not has_map(replace(changed(dict.fromkeys(NODES, 1.0), dict.fromkeys(NODES, 1.0)), samples=()))
