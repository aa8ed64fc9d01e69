"""The sum of a bundle: how far its flows were apart is said, and what they certainly carried is less."""

from pathlib import Path

import pytest

from benchconsole.probes.api import Directions, Output, Reading, Sending, Target, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.detectable_loss import DetectableLosses
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level
from benchconsole.probes.model.measuring import Result, Round, Test, join_probes
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.fabric import Fabric, Node, NodeId, Stage, Suite
from tests.fabrics import METRICS, SMALL, fabric, play
from tests.probes.played import PROBES


def apart(closed: ClosedRound, seconds: float, step: float) -> ClosedRound:
    """The same round with commands of this length whose ends follow each other by ``step`` seconds."""
    results = [
        replace(
            result,
            outputs=(Output(("iperf3",), seconds=seconds),),
            measurements=tuple(replace(m, at=index * step) for m in result.measurements),
        )
        for index, result in enumerate(closed.results)
    ]
    return replace(closed, results=tuple(results))


def faster(closed: ClosedRound, times: float) -> ClosedRound:
    """The same round with every rate so many times as high."""
    results = [
        replace(
            result,
            measurements=tuple(replace(m, value=m.value * times) for m in result.measurements),
        )
        for result in closed.results
    ]
    return replace(closed, results=tuple(results))


def test_flows_that_did_not_run_together_are_said_to_have_done_so(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    context = JudgingContext(described, METRICS)
    each = next(found for found in plan(described, find_suite(described, None), PROBES) if found.bundles)
    closed = play(described, each, {})
    together = {verdict.subject: verdict for verdict in judge_round(context, apart(closed, 10.0, 0.01))}
    spread = {verdict.subject: verdict for verdict in judge_round(context, apart(closed, 4.0, 0.5))}
    assert "apart" not in together["leaf1 to spine1"].because
    assert "up to 38 % apart" in spread["leaf1 to spine1"].because


def test_a_sum_that_meets_the_bound_only_if_its_flows_ran_together_is_no_pass(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    context = JudgingContext(described, METRICS)
    each = next(found for found in plan(described, find_suite(described, None), PROBES) if found.bundles)
    closed = play(described, each, {})
    levels = {
        step: {verdict.subject: verdict for verdict in judge_round(context, apart(closed, 4.0, step))}[
            "leaf1 to spine1"
        ]
        for step in (0.0, 0.2, 0.5)
    }
    assert [verdict.level for verdict in levels.values()] == [Level.PASS, Level.PASS, Level.UNKNOWN]
    assert "run them for more seconds" in levels[0.5].because


def test_a_sum_below_the_bound_fails_however_far_its_flows_were_apart(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    each = next(found for found in plan(described, find_suite(described, None), PROBES) if found.bundles)
    lost = dict.fromkeys(each.bundles[0].elements, 600000000.0)
    closed = play(described, each, lost)
    verdict = judge_round(JudgingContext(described, METRICS), apart(closed, 4.0, 0.5))[0]
    assert verdict.level is Level.FAIL


TARGET = SMALL.replace("at_least: 80 %, of: capacity", "at_least: 80 %, target: 95 %, of: capacity")


def test_a_sum_that_meets_the_target_only_if_its_flows_ran_together_is_to_be_watched(tmp_path: Path) -> None:
    described = fabric(tmp_path, TARGET)
    context = JudgingContext(described, METRICS)
    each = next(found for found in plan(described, find_suite(described, None), PROBES) if found.bundles)
    closed = play(described, each, {})
    judged = {
        step: {verdict.subject: verdict for verdict in judge_round(context, apart(closed, 4.0, step))}[
            "leaf1 to spine1"
        ]
        for step in (0.0, 0.2, 0.5)
    }
    assert [verdict.level for verdict in judged.values()] == [Level.PASS, Level.WATCH, Level.UNKNOWN]
    assert "95 % aimed at" in judged[0.2].because
    assert "below" not in judged[0.2].because
    assert "run them for more seconds" in judged[0.2].because


def test_a_sum_between_bound_and_target_says_that_it_may_be_less(tmp_path: Path) -> None:
    described = fabric(tmp_path, TARGET)
    each = next(found for found in plan(described, find_suite(described, None), PROBES) if found.bundles)
    bundle = next(one for one in each.bundles if one.name.startswith("leaf1 to spine1"))
    lost = {way: 0.93 * described.links[way.link].capacity for way in bundle.elements}
    verdicts = judge_round(JudgingContext(described, METRICS), apart(play(described, each, lost), 4.0, 0.1))
    verdict = next(one for one in verdicts if one.subject == bundle.name)
    assert verdict.level is Level.WATCH
    assert "below 95 %" in verdict.because
    assert "apart" in verdict.because


def held(described: Fabric, design: str, **options: str | int) -> ClosedRound:
    stage = Stage("iperf3", tuple(described.nodes), {"design": design, **options})
    return play(described, plan(described, Suite("one", (stage,)), {"iperf3": Iperf3()})[0], {}, noise=0.0)


def test_a_test_that_was_held_back_is_judged_by_its_rate_and_says_what_it_does_not_show(tmp_path: Path) -> None:
    described = replace(fabric(tmp_path), caps=Caps(0.5))
    verdicts = judge_round(JudgingContext(described, METRICS), held(described, "neighbours"))
    assert {verdict.level for verdict in verdicts} == {Level.PASS}
    for verdict in verdicts:
        assert verdict.expected is not None
        assert verdict.expected <= 0.5 * 10e9 / 8 * described.goodput
        assert "more that its links could carry is not shown" in verdict.because


def test_a_bundle_that_was_held_back_says_how_far_it_fills(tmp_path: Path) -> None:
    described = replace(fabric(tmp_path), caps=Caps(0.5))
    verdicts = judge_round(JudgingContext(described, METRICS), held(described, "trunks"))
    assert all("can load it to 50 % only" in verdict.because for verdict in verdicts)


def test_one_stream_is_not_expected_to_use_both_legs_of_its_node() -> None:
    text = "schema: 1\nfabric: bonded\nswitches: {leaf: {role: leaf}}\nnodes: {'n[1-2]': {}}\n"
    described = load_text(text + "links: [{from: 'n[1-2]', to: leaf, speed: 10G, count: 2}]\n", "bonded.yaml")
    context = JudgingContext(described, METRICS)
    rate = 10e9 / 8 * described.goodput
    for streams, legs in ((1, 1), (2, 2), (8, 2)):
        closed = held(described, "permutation", shift=1, streams=streams)
        found = context.flows.read(closed, context.criteria[-1].metric).measured(context.criteria[-1])
        assert [one.expected.value for one in found] == pytest.approx([legs * rate] * 2)


def test_virtual_machines_are_judged_on_the_legs_of_their_host() -> None:
    text = "schema: 1\nfabric: guests\nswitches: {leaf: {role: leaf}}\nnodes: {'n[1-2]': {}, v1: {host: n1}}\n"
    described = load_text(text + "links: [{from: 'n[1-2]', to: leaf, speed: 10G}]\n", "guests.yaml")
    context = JudgingContext(described, METRICS)
    stage = Stage("iperf3", tuple(described.nodes), {"design": "all-pairs"})
    for each in plan(described, Suite("one", (stage,)), {"iperf3": Iperf3()}):
        for verdict in judge_round(context, play(described, each, {}, noise=0.0)):
            assert verdict.level is Level.PASS
            assert verdict.expected == pytest.approx(10e9 / 8 * described.goodput)


@pytest.mark.parametrize(
    ("times", "level"), [(1.0, Level.PASS), (1.09, Level.PASS), (1.2, Level.UNKNOWN), (3.0, Level.UNKNOWN)]
)
def test_a_flow_faster_than_its_wire_was_not_measured_right(tmp_path: Path, times: float, level: Level) -> None:
    """10 Gb/s carry 9.41 Gb/s of payload; bursts may show a little more than 10, nothing shows 12."""
    described = fabric(tmp_path)
    each = next(found for found in plan(described, find_suite(described, None), PROBES) if not found.bundles)
    closed = play(described, each, {}, noise=0.0)
    verdicts = judge_round(JudgingContext(described, METRICS), faster(closed, times))
    assert {verdict.level for verdict in verdicts} == {level}
    assert all(("the description is wrong" in verdict.because) is (level is Level.UNKNOWN) for verdict in verdicts)


def test_a_bundle_faster_than_its_link_was_not_measured_right(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    each = next(found for found in plan(described, find_suite(described, None), PROBES) if found.bundles)
    closed = faster(apart(play(described, each, {}, noise=0.0), 10.0, 0.0), 1.4)
    named = {verdict.subject: verdict for verdict in judge_round(JudgingContext(described, METRICS), closed)}
    assert named["leaf1 to spine1"].level is Level.UNKNOWN
    assert "leaf1 to spine1" in named["leaf1 to spine1"].because


def both_ways(described: Fabric, out: float, inward: float) -> ClosedRound:
    """One test that sent both ways at once, at these rates."""
    test = Test("t", "iperf3", Target(*two(described)), 1, sending=Sending(2, directions=Directions.BOTH))
    rates = (("out", out), ("in", inward))
    found = tuple(
        Reading("iperf3.throughput", rate, Unit.BYTE_RATE, labels(direction=way), id=f"t#{way}") for way, rate in rates
    )
    each = Round(1, "iperf3 sample", "iperf3", (test,), 1.0, "")
    return ClosedRound(each, (Result(test, measurements=found),), CloseReason.COMPLETE, 0.0, 1.0)


def two(described: Fabric) -> tuple[Node, Node]:
    return described.nodes[NodeId("n1")], described.nodes[NodeId("n2")]


def test_each_way_of_a_test_that_sends_both_is_judged_by_itself(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    verdicts = judge_round(JudgingContext(described, METRICS), both_ways(described, 1.17e9, 0.2e9))
    assert {verdict.subject: verdict.level for verdict in verdicts} == {"n1>n2": Level.PASS, "n2>n1": Level.FAIL}


@pytest.mark.parametrize(("times", "level"), [(1.0, Level.PASS), (0.5, Level.UNKNOWN)])
def test_a_low_flow_beside_tests_of_another_probe_is_unknown_and_accuses_nothing(
    tmp_path: Path, times: float, level: Level
) -> None:
    described = fabric(tmp_path)
    context = JudgingContext(described, METRICS)
    each = plan(described, find_suite(described, None), PROBES)[0]
    nodes = {node.id: node for test in each.tests for node in test.target.nodes}
    others = tuple(Test(f"x/{name}", "fio", Target(node, None, {}), each.number) for name, node in nodes.items())
    closed = faster(play(described, each, {}), times)
    both = replace(
        closed,
        round=replace(each, probe=join_probes(["fio", "iperf3"]), tests=(*others, *each.tests)),
        results=(*map(Result, others), *closed.results),
    )
    alone = {verdict.subject: verdict.level for verdict in judge_round(context, closed)}
    beside = judge_round(context, both)
    assert alone.keys() == {verdict.subject for verdict in beside}
    assert {verdict.level for verdict in beside} == {level}
    if level is Level.UNKNOWN:
        assert set(alone.values()) == {Level.FAIL}
        words = {verdict.because.partition(" of ")[2] for verdict in beside}
        assert words == {"expected, but fio ran at the same time"}
    judged = replace(both, verdicts=beside)
    assert list_findings(context, [judged]) == ()
    losses = DetectableLosses(context)
    losses.add_round(judged)
    assert losses.sum_up() == ()
