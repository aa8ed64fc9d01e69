"""The expectation of a test that runs is the one that judges it when its round has ended."""

from collections import defaultdict
from pathlib import Path
from types import MappingProxyType

import pytest

from benchconsole.probes.api import Interval, Labels, Target, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.running_round import RunningRound
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, NodeId
from tests.fabrics import METRICS, fabric, play
from tests.probes.judging.rounds import RATE, STAR, star
from tests.probes.played import PROBES


def prepared(described: Fabric, each: Round) -> RunningRound:
    running = RunningRound(JudgingContext(described, METRICS), each)
    running.prepare()
    return running


OUT, IN = (("direction", "out"),), (("direction", "in"),)


def told(metric: str = "iperf3.throughput", labels: Labels = OUT) -> Interval:
    return Interval(metric, 1.0, Unit.BYTE_RATE, 1.0, 1.0, labels)


def test_every_flow_of_a_suite_is_expected_to_reach_what_it_is_judged_by(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    context, sums, alone = JudgingContext(described, METRICS), 0, 0
    for each in plan(described, find_suite(described, None), PROBES):
        running = prepared(described, each)
        expected = {test.id: running.find_expected(test.id, told()) or 0.0 for test in each.tests}
        subjects: dict[str, list[float]] = defaultdict(list)
        for test in each.tests:
            subjects[test.bundle or test.target.key].append(expected[test.id])
        for verdict in judge_round(context, play(described, each, {})):
            assert sum(subjects[verdict.subject]) == pytest.approx(verdict.expected)
            sums, alone = sums + (">" not in verdict.subject), alone + (">" in verdict.subject)
    assert sums
    assert alone


def one(sending: Sending = Sending(4)) -> Round:  # noqa: B008 - frozen
    described = star()
    ends = described.nodes[NodeId("n1")], described.nodes[NodeId("n2")]
    return Round(1, "one", "iperf3", (Test("t", "iperf3", Target(*ends), 1, sending=sending),), 5.0, "to see")


def test_both_directions_have_their_own_number_and_a_missing_one_has_none() -> None:
    both = prepared(star(), one(Sending(4, directions=Directions.BOTH)))
    assert both.find_expected("t", told(labels=OUT)) == both.find_expected("t", told(labels=IN)) == RATE
    back = prepared(star(), one(Sending(4, directions=Directions.REVERSED)))
    assert back.find_expected("t", told(labels=OUT)) is None
    assert back.find_expected("t", told(labels=IN)) == RATE


def test_a_test_that_is_held_to_a_rate_is_expected_to_reach_it() -> None:
    held = prepared(star(), one(Sending(4, 0.25 * RATE)))
    assert held.find_expected("t", told()) == 0.25 * RATE


def test_a_flow_without_a_path_is_said() -> None:
    alone = load_text(STAR.replace('nodes: {"n[1-8]": {}}', 'nodes: {"n[1-8]": {}, far: {}}'), "far.yaml")
    ends = alone.nodes[NodeId("n1")], alone.nodes[NodeId("far")]
    each = Round(1, "one", "iperf3", (Test("t", "iperf3", Target(*ends), 1),), 5.0, "to see")
    with pytest.raises(RoutingError):
        prepared(alone, each)


CRITERIA = """\
criteria:
  - {metric: fio.read, at_least: 500 MB/s, where: {pattern: sequential}}
  - {metric: fio.read, at_least: 700 MB/s, where: {pattern: sequential}, nodes: "n2"}
  - {metric: fio.read, at_most: 900 MB/s}
  - {metric: fio.read, at_least: 90 %, of: peers}
"""


@pytest.mark.parametrize(
    ("node", "labels", "expected"),
    [
        ("n1", (("block", "1MiB"), ("pattern", "sequential")), 500e6),
        ("n2", (("block", "1MiB"), ("pattern", "sequential")), 700e6),
        ("n1", (("block", "4KiB"), ("pattern", "random")), None),
    ],
)
def test_a_test_of_a_node_is_expected_to_reach_what_criteria_ask(
    node: str, labels: Labels, expected: float | None
) -> None:
    described = load_text(STAR + CRITERIA, "asked.yaml")
    test = Test("t", "fio", Target(described.nodes[NodeId(node)], None, MappingProxyType({})), 1)
    running = prepared(described, Round(1, "one", "fio", (test,), 5.0, "to see"))
    assert running.find_expected("t", told("fio.read", labels)) == expected
