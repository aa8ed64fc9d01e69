"""A rate that is measured over cables that nobody counted is neither a pass nor a fail."""

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import Level, Yardstick
from benchconsole.topology.description.resolve import load_text
from tests.fabrics import METRICS
from tests.probes.judging.rounds import close, flow

TREE = """\
schema: 1
fabric: tree
network: {mtu: 9000}
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}
nodes: {"n[1-4]": {}}
links:
  - {from: "n[1-2]", to: leaf1, speed: 8 Gb/s}
  - {from: "n[3-4]", to: leaf2, speed: 8 Gb/s}
  - {from: "leaf[1-2]", to: spine, speed: 8 Gb/s, count: COUNT}
"""


@pytest.mark.parametrize(
    ("count", "sink", "rate", "level"),
    [
        ("unknown", "n3", 0.2, Level.UNKNOWN),
        ("unknown", "n3", 0.95, Level.UNKNOWN),
        ("unknown", "n2", 0.2, Level.FAIL),
        ("unknown", "n2", 0.95, Level.PASS),
        ("1", "n3", 0.2, Level.FAIL),
        ("1", "n3", 0.95, Level.PASS),
    ],
)
def test_a_flow_over_uncounted_cables_is_not_judged(count: str, sink: str, rate: float, level: Level) -> None:
    described = load_text(TREE.replace("COUNT", count), "tree.yaml")
    verdicts = judge_round(JudgingContext(described, METRICS), close(described, 1, flow("n1", sink, rate)))
    (verdict,) = (each for each in verdicts if each.kind is Yardstick.CAPACITY)
    assert verdict.level is level
    said = "nobody counted the cables of leaf1 to spine, so nothing is expected there"
    assert (said in verdict.because) is (level is Level.UNKNOWN)
