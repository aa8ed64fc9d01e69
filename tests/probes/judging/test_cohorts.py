"""Criteria on one cohort or one point: they bind there, see the whole load, and blame nobody for a part of it."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Level, Suspect
from benchconsole.probes.model.labels import add_labels
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Direction, Fabric
from tests.fabrics import METRICS, SMALL, fabric, play
from tests.probes.played import PROBES

CRITERION = "  - {metric: iperf3.throughput, at_least: 80 %, of: capacity}\n"
CRITERIA = """\
  - {metric: iperf3.throughput, at_least: 60 %, of: capacity, where: {kind: virtual}}
  - {metric: iperf3.throughput, at_least: 80 %, of: capacity, where: {kind: bare metal}}
"""
COHORTS = 'cohorts: {kind: {virtual: "n[1-2],n[5-6]", bare metal: "n[3-4],n[7-8]"}}\n'
SWEPT = "    - {probe: iperf3, design: permutation, nodes: 'n[1-8]', sweep: {clients: [1, 4, 8]}}\n"


def described(folder: Path, criteria: str = CRITERIA, stage: str = "") -> Fabric:
    text = SMALL.replace(CRITERION, criteria).replace("criteria:\n", f"{COHORTS}criteria:\n")
    return fabric(folder, re.sub(r"(?s)(  default:\n).*", rf"\1{stage}", text) if stage else text)


def judged(found: Fabric, faults: Mapping[Direction, float]) -> list[ClosedRound]:
    context = JudgingContext(found, METRICS)
    done = []
    for each in plan(found, found.suites["default"], PROBES):
        closed = play(found, each, faults)
        results = tuple(
            replace(
                result,
                measurements=tuple(add_labels(each, result.test.target) for each in result.measurements),
            )
            for result in closed.results
        )
        closed = replace(closed, results=results)
        done.append(replace(closed, verdicts=judge_round(context, closed)))
    return done


def slow(found: Fabric, share: float, *names: str) -> dict[Direction, float]:
    links = [link for link in found.links.values() if not names or link.a in names]
    return {Direction(link.id, end): link.capacity * share for link in links for end in (link.a, link.b)}


def test_each_cohort_is_held_to_its_own_bound(tmp_path: Path) -> None:
    found = described(tmp_path)
    levels: dict[str, set[Level]] = {}
    for closed in judged(found, slow(found, 0.7)):
        for verdict in closed.verdicts:
            kind = dict(verdict.labels).get("kind", "")
            levels.setdefault(kind, set()).add(verdict.level)
    assert levels["virtual"] == {Level.PASS}
    assert Level.FAIL in levels["bare metal"]


def test_what_is_low_in_one_cohort_is_explained_by_the_flows_of_both(tmp_path: Path) -> None:
    found = described(tmp_path)
    rounds = judged(found, slow(found, 0.5, "n3"))
    low = [verdict.subject for closed in rounds for verdict in closed.verdicts if verdict.level is Level.FAIL]
    assert low
    assert all("n3" in subject for subject in low)
    (cause,) = list_findings(JudgingContext(found, METRICS), rounds)
    assert (cause.suspect, cause.where.split()[0]) == (Suspect.NIC, "n3")


def test_a_round_in_which_the_first_criterion_speaks_of_nobody_is_explained_too(tmp_path: Path) -> None:
    stage = "    - {probe: iperf3, nodes: 'n[3-4]'}\n"
    found = described(tmp_path, stage=stage)
    rounds = judged(found, slow(found, 0.5, "n3"))
    assert {dict(verdict.labels)["kind"] for closed in rounds for verdict in closed.verdicts} == {"bare metal"}
    assert list_findings(JudgingContext(found, METRICS), rounds)


def test_a_point_has_its_own_bound_and_company(tmp_path: Path) -> None:
    criteria = CRITERION.replace("80 %", "90 %").replace("}", ", where: {clients: 8}}")
    found = described(tmp_path, criteria, SWEPT)
    (one, four, eight) = judged(found, {})
    for others in (one, four):
        assert ["at least 80 % asked" in verdict.because for verdict in others.verdicts] == [True]
    (verdict,) = eight.verdicts
    assert "at least 90 % asked" in verdict.because
    assert (verdict.subject, verdict.level) == ("clients=8", Level.PASS)
    assert ("clients", "8") in verdict.labels
    assert "kind" not in dict(verdict.labels)
    assert verdict.expected is not None
    assert verdict.value is not None
    assert verdict.value <= verdict.expected


@pytest.mark.parametrize(("share", "level"), [(1.0, Level.PASS), (0.5, Level.UNKNOWN)])
def test_a_part_of_a_shared_load_is_never_failed_by_itself(tmp_path: Path, share: float, level: Level) -> None:
    criteria = CRITERION.replace("}", ", where: {kind: virtual to bare metal}}")
    found = described(tmp_path, criteria, SWEPT.replace("permutation", "permutation, shift: 3"))
    eight = judged(found, slow(found, share))[-1]
    part, whole = sorted(eight.verdicts, key=lambda verdict: len(verdict.evidence))
    assert part.level is level
    assert 0 < len(part.evidence) < 8
    assert ("these are" in part.because) == (level is Level.UNKNOWN)
    assert len(whole.evidence) == 8
    assert whole.level is (Level.PASS if share == 1.0 else Level.FAIL)


def test_points_are_series_of_their_own(tmp_path: Path) -> None:
    found = described(tmp_path, CRITERION, SWEPT)
    keys = [(v.subject, v.metric, v.labels) for closed in judged(found, {}) for v in closed.verdicts]
    assert len(set(keys)) == len(keys) == 3
