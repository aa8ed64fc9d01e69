"""Criteria on round trips as a share of what the lines on the way are described with."""

import pytest

from benchconsole.probes.api import Metric, Reading, Target, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level
from benchconsole.probes.model.measuring import Result, Round, Test
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import NodeId

FILE = """\
schema: 1
fabric: line
switches: {west: {role: core}, middle: {role: core}, east: {role: core}}
nodes: {"w[1-2]": {}, e1: {}, lone: {}}
links:
  - {from: "w[1-2]", to: west, speed: 10G}
  - {from: e1, to: east, speed: 10G}
  - {from: west, to: middle, speed: 100G, rtt: 40 ms}
  - {from: middle, to: east, speed: 100G, rtt: 10 ms}
criteria: [{metric: ping.rtt, at_most: 110 %, of: rtt, target: 104 %, source: II.A}]
"""
METRIC = Metric("ping.rtt", Unit.SECOND, "round trip")


def judge(seconds: float, node: str, peer: str | None) -> tuple[Level, str, float | None]:
    fabric = load_text(FILE, "line.yaml")
    target = Target(fabric.nodes[NodeId(node)], None if peer is None else fabric.nodes[NodeId(peer)])
    test = Test("t", "ping", target, 1)
    result = Result(test, measurements=(Reading("ping.rtt", seconds, Unit.SECOND, id="t#0"),))
    closed = ClosedRound(Round(1, "ping", "ping", (test,), 1.0, ""), (result,), CloseReason.COMPLETE, 0.0, 1.0)
    (verdict,) = judge_round(JudgingContext(fabric, {"ping.rtt": METRIC}), closed)
    return verdict.level, verdict.because, verdict.expected


@pytest.mark.parametrize(
    ("seconds", "level"),
    [(0.051, Level.PASS), (0.052, Level.PASS), (0.0521, Level.WATCH), (0.055, Level.WATCH), (0.0551, Level.FAIL)],
)
def test_the_lines_on_the_way_are_added_up(seconds: float, level: Level) -> None:
    found, because, expected = judge(seconds, "w1", "e1")
    assert found is level
    assert because.endswith("of the described round trip 50.0 ms")
    assert expected == pytest.approx(0.055)


@pytest.mark.parametrize(
    ("peer", "why"),
    [
        ("w2", "no line between its nodes has a described round trip"),
        (None, "its test is not between two nodes"),
        ("lone", "lone is not cabled to anything"),
    ],
)
def test_without_a_described_line_nothing_is_known(peer: str | None, why: str) -> None:
    assert judge(0.001, "w1", peer) == (Level.UNKNOWN, why, None)
