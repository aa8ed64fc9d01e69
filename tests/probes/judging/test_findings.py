"""From planted faults to findings: the right element, once, and nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchconsole.probes.api import Output, Probe, Shape
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import Confidence, Finding, Level, Suspect
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId
from tests.fabrics import METRICS, SMALL, fabric, play


class _Pair(Probe):
    """Stands for any two-ended probe in a plan."""

    name = "iperf3"
    summary = "throughput"
    shape = Shape.PAIR

    def parse(self, output: Output) -> tuple[()]:
        return ()


def way(link: str, source: str) -> Direction:
    return Direction(LinkId(link), source)


def diagnose(described: Fabric, faults: dict[Direction, float], seed: int = 1) -> tuple[Finding, ...]:
    context = JudgingContext(described, METRICS)
    rounds = plan(described, find_suite(described, None), {"iperf3": _Pair()})
    closed = [play(described, each, faults, seed) for each in rounds]
    return list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in closed])


@pytest.mark.parametrize("seed", range(5))
def test_healthy_fabric_has_no_finding(tmp_path: Path, seed: int) -> None:
    assert diagnose(fabric(tmp_path), {}, seed) == ()


def test_slow_nic_is_named_with_its_direction(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    found = diagnose(described, {way("n3--leaf1", "n3"): 0.3 * 1.25e9})
    assert [(each.suspect, each.element, each.where) for each in found] == [(Suspect.NIC, "n3", "n3 out")]
    assert found[0].confidence is Confidence.CERTAIN
    assert "30 %" in found[0].what


@pytest.mark.parametrize("link", ["leaf1--spine1", "leaf2--spine1", "leaf2--spine2"])
def test_half_lag_is_one_finding_on_the_lag(tmp_path: Path, link: str) -> None:
    described = fabric(tmp_path)
    a, b = link.split("--")
    found = diagnose(described, {way(link, a): 1.25e9, way(link, b): 1.25e9})
    assert [(each.suspect, each.element) for each in found] == [(Suspect.LAG, link)]
    assert "1 of 2 members" in found[0].what
    assert len(found[0].nodes) == 4


def test_two_faults_are_two_findings(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    faults = {
        way("n6--leaf2", "leaf2"): 0.5 * 1.25e9,
        way("leaf1--spine2", "leaf1"): 1.25e9,
        way("leaf1--spine2", "spine2"): 1.25e9,
    }
    found = diagnose(described, faults)
    assert {(each.suspect, each.where) for each in found} == {
        (Suspect.NIC, "n6 in"),
        (Suspect.LAG, "leaf1 to spine2"),
    }


def test_storage_nic_is_told_from_the_trunks(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    found = diagnose(described, {way("st1--spine1", "st1"): 0.25 * 5e9})
    assert [(each.suspect, each.where) for each in found] == [(Suspect.NIC, "st1 out")]


def test_without_other_paths_the_tie_is_admitted(tmp_path: Path) -> None:
    text = "\n".join(
        line for line in SMALL.splitlines() if "st1" not in line and "st2" not in line and "st[" not in line
    )
    described = fabric(tmp_path, text)
    found = diagnose(described, {way("leaf1--spine1", "leaf1"): 1.25e9, way("leaf1--spine1", "spine1"): 1.25e9})
    assert found
    assert all(each.confidence is Confidence.POSSIBLE for each in found)
    assert all("which of" in each.cannot_tell for each in found)


def test_a_bundle_that_lost_its_flows_is_unknown_and_not_passed(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    context = JudgingContext(described, METRICS)
    rounds = plan(described, find_suite(described, None), {"iperf3": _Pair()})
    trunks = next(each for each in rounds if each.bundles)
    answered = tuple(test for test in trunks.tests if test.target.node.id not in ("n1", "n2", "n3"))
    closed = play(described, replace(trunks, tests=answered), {})
    verdicts = judge_round(context, replace(closed, round=trunks))
    levels = {verdict.subject: verdict.level for verdict in verdicts}
    assert levels["leaf1 to spine1"] is Level.UNKNOWN
    assert levels["leaf2 to spine2"] is Level.PASS
