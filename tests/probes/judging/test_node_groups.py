"""Which nodes below a criterion are one finding: by criterion, by level, by group."""

from collections.abc import Mapping

from benchconsole.probes.api import Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.node_group_text import make_group_finding
from benchconsole.probes.judging.node_groups import EVERYTHING, Asked, MeasuredNodes, group_low_nodes
from benchconsole.probes.model.judgement import Finding, Level, Verdict, Yardstick
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Comparator, Criterion, NodeId
from tests.probes.judging.rounds import star
from tests.probes.judging.sets import close_sets, site

NODES = [f"n{number}" for number in range(1, 9)]


def low(node: str, metric: str, value: float, level: Level = Level.FAIL) -> Verdict:
    return Verdict(
        node, 1, "stream", node, (node,), metric, (), level, Yardstick.CRITERION, "below",
        unit=Unit.SECOND, value=value, expected=1.0,
    )  # fmt: skip


def divide(own: Mapping[str, list[Verdict]], groupings: Mapping[str, Mapping[str, str]]) -> list[tuple[str, ...]]:

    def find(asked: Asked) -> set[str]:
        return {node for node, verdicts in own.items() if any(each.metric == asked[1] for each in verdicts)}

    return [tuple(each.low) for each in group_low_nodes(own, find, groupings)]


def test_nodes_below_other_criteria_are_other_groups() -> None:
    own = {node: [low(node, "stream.triad" if node < "n5" else "stream.copy", 0.5)] for node in NODES}
    assert divide(own, {}) == [("n5", "n6", "n7", "n8"), ("n1", "n2", "n3", "n4")]


def test_a_node_below_two_criteria_is_taken_with_the_most() -> None:
    own = {node: [low(node, "stream.triad", 0.5)] for node in NODES[:4]}
    own["n4"].append(low("n4", "stream.copy", 0.5))
    assert divide(own, {}) == [("n1", "n2", "n3", "n4")]


def test_nodes_to_watch_are_no_failures() -> None:
    own = {node: [low(node, "stream.triad", 0.5, Level.WATCH if node > "n4" else Level.FAIL)] for node in NODES}
    assert divide(own, {"rack": {node: "r1" if node < "n5" else "r2" for node in NODES}}) == [
        tuple(NODES[:4]),
        tuple(NODES[4:]),
    ]


def test_only_nodes_that_a_criterion_asks_and_that_gave_a_result_are_counted() -> None:
    asked = Criterion(
        "fio.read",
        Comparator.AT_LEAST,
        1.0,
        Unit.BYTE_RATE,
        nodes=frozenset({NodeId("n1"), NodeId("n4")}),
        source="4.2",
    )
    every = replace(asked, nodes=frozenset())
    measured = MeasuredNodes()
    measured.add_round(close_sets(site(), 1, ("n1", 1.0), ("n2", 1.0), metric="fio.read", alone=True))
    measured.add_round(close_sets(site(), 2, ("n[3-4]", 1.0), metric="fio.read"))
    assert measured.find(("fio", "fio.read", "4.2"), [asked]) == {"n1"}
    assert measured.find(("fio", "fio.read", "4.2"), [asked, every]) == {"n1", "n2"}
    assert measured.find(("fio", "fio.read", "criterion"), [every, replace(asked, source="")]) == {"n1"}


def find_one(values: Mapping[str, float]) -> Finding:
    own = {node: [low(node, "stream.triad", value)] for node, value in values.items()}
    groupings = {"rack": dict.fromkeys(NODES, "r1"), "chassis": dict.fromkeys(NODES, "c1")}
    (group,) = group_low_nodes(own, lambda _: {*own, "out"}, groupings)
    assert EVERYTHING not in group.names
    return make_group_finding(JudgingContext(star(), {}), group)


def test_the_worst_is_the_furthest_on_its_bad_side_and_equal_groups_are_a_tie() -> None:
    found = find_one({"n1": 2.0, "n2": 4.0, "n3": 3.0})
    assert found.what.startswith("3 of 4 nodes below, all that were measured of rack r1, worst n2: stream.triad")
    assert [line[:2] for line in found.because] == ["n2", "n3", "n1"]
    assert found.cannot_tell == "whether it is rack r1 or chassis c1: they have the same nodes here"
    assert (found.nodes_at, found.metrics) == (("n1", "n2", "n3"), ("stream.triad",))
