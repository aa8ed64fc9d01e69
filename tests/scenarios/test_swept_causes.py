"""One cause is one finding, at however many points of a sweep it shows: from the plan of a sweep to the findings."""

from types import MappingProxyType

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import Suspect
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Stage, Suite
from benchconsole.topology.model.sweep import Axis, Sweep
from tests.fabrics import METRICS, play
from tests.probes.judging.rounds import STAR, into, out_of

CRITERION = "criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]\n"


@pytest.mark.parametrize(("nodes", "slow"), [(8, ("n2", "n5", "n7")), (24, ("n2", "n9", "n17"))])
@pytest.mark.parametrize(
    ("sweep", "points"),
    [
        (Sweep((Axis("streams", (4, 8, 16)),)), 3),
        (Sweep((Axis("streams", (4, 8)), Axis("seconds", (5, 10))), repeat=2), 8),
        (Sweep(repeat=3), 3),
    ],
)
def test_three_slow_nodes_are_three_findings_in_a_sweep(
    sweep: Sweep, points: int, nodes: int, slow: tuple[str, ...]
) -> None:
    described = load_text(f"{STAR.replace('n[1-8]', f'n[1-{nodes}]')}{CRITERION}", "star.yaml")
    stage = Stage("iperf3", tuple(described.nodes), MappingProxyType({"design": "neighbours"}), sweep)
    rounds = plan(described, Suite("swept", (stage,)), {"iperf3": Iperf3()})
    assert len({each.swept for each in rounds}) == points
    context = JudgingContext(described, METRICS)
    findings = Findings(context)
    left = {
        way: 0.3 * described.links[way.link].capacity
        for node in slow
        for way in (out_of(described, node), into(described, node))
    }
    for each in rounds:
        closed = play(described, each, left)
        findings.add_round(replace(closed, verdicts=judge_round(context, closed)))
    found = findings.rank()
    assert len(found) == len(slow)
    assert {(each.suspect, each.where) for each in found} == {(Suspect.NIC, f"{node} NIC") for node in slow}
    round_of = {test.id: each.number for each in rounds for test in each.tests}
    assert all({round_of[test] for test in each.tests} == set(round_of.values()) for each in found)
