"""From planted faults to findings: the right element, once, and nothing else."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from benchconsole.probes.api import Output, Probe, Sending, Shape
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Level, Suspect, Verdict, Yardstick
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId
from tests.fabrics import METRICS, SMALL, fabric, play
from tests.probes.judging.rounds import close, flow, star


class _Pair(Probe):
    """Stands for any two-ended probe in a plan."""

    name = "iperf3"
    summary = "throughput"
    shape = Shape.PAIR

    def sending(self, options: Mapping[str, str | int | float]) -> Sending:
        return Sending(streams=32)

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


# -- which verdicts count, and in which order findings come


def judged(described: Fabric, closed: ClosedRound) -> ClosedRound:
    return replace(closed, verdicts=judge_round(JudgingContext(described, METRICS), closed))


def listed(described: Fabric, *rounds: ClosedRound) -> list[tuple[Level, str]]:
    found = list_findings(JudgingContext(described, METRICS), [judged(described, each) for each in rounds])
    return [(each.level, each.where) for each in found]


@pytest.mark.parametrize(
    ("rate", "found"),
    [
        (0.799, [(Level.FAIL, "n1 out or n2 in")]),
        (0.8, [(Level.WATCH, "n1 out or n2 in")]),
        (0.899, [(Level.WATCH, "n1 out or n2 in")]),
        (0.9, []),
    ],
)
def test_what_is_watched_has_a_finding_too(rate: float, found: list[tuple[Level, str]]) -> None:
    described = star("at_least: 80 %, target: 90 %")
    assert listed(described, close(described, 1, flow("n1", "n2", rate))) == found


def test_what_fails_comes_before_what_is_watched() -> None:
    described = star("at_least: 80 %, target: 90 %")
    watched = [close(described, number, flow("n1", f"n{number + 1}", 0.85)) for number in (1, 2, 3)]
    failed = close(described, 4, flow("n7", "n8", 0.5))
    assert listed(described, *watched, failed) == [(Level.FAIL, "n7 out or n8 in"), (Level.WATCH, "n1 out")]


def test_of_findings_of_one_level_that_with_more_nodes_comes_first() -> None:
    described = star()
    one = [close(described, number, flow("n1", f"n{number + 1}", 0.5)) for number in (1, 2, 3)]
    two = close(described, 4, flow("n5", "n6", 0.5))
    assert [where for _, where in listed(described, *one, two)] == ["n5 out or n6 in", "n1 out"]


def verdict(name: str, level: Level, kind: Yardstick, **other: str) -> Verdict:
    """One of the first test of round 1, on a node."""
    made = Verdict("1/0", 1, "fio", name, (name,), "fio.read", (), level, kind, "")
    return made._replace(**other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("levels", "found"),
    [
        ((Level.FAIL, Level.PASS), 1),
        ((Level.PASS, Level.FAIL), 1),
        ((Level.FAIL, Level.FAIL), 1),
        ((Level.PASS, Level.PASS), 0),
        ((Level.UNKNOWN, Level.PASS), 0),
    ],
)
def test_of_two_numbers_of_one_round_the_second_does_not_take_the_first_back(
    levels: tuple[Level, Level], found: int
) -> None:
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.9))
    verdicts = tuple(verdict("n1", level, Yardstick.CRITERION) for level in levels)
    assert len(list_findings(JudgingContext(described, METRICS), [replace(closed, verdicts=verdicts)])) == found


@pytest.mark.parametrize(("declared", "found"), [(("2", "2"), [("n1", "n2")]), (("2", "4"), [("n1",), ("n2",)])])
def test_nodes_that_report_the_same_are_one_finding_only_if_they_were_declared_the_same(
    declared: tuple[str, str], found: list[tuple[str, ...]]
) -> None:
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.9))
    verdicts = tuple(
        verdict(name, Level.FAIL, Yardstick.HARDWARE, metric="cpu.sockets", text="1", expected_text=wanted)
        for name, wanted in zip(("n1", "n2"), declared, strict=True)
    )
    findings = list_findings(JudgingContext(described, METRICS), [replace(closed, verdicts=verdicts)])
    assert [each.nodes for each in findings] == found


@pytest.mark.parametrize("kind", [Yardstick.HARDWARE, Yardstick.CRITERION])
def test_a_finding_on_a_node_names_the_metrics_that_are_low(kind: Yardstick) -> None:
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.9))

    def find(*metrics: str) -> tuple[Finding, ...]:
        low = [verdict("n1", Level.FAIL, kind, metric=each, text="1", expected_text="2") for each in metrics]
        return list_findings(JudgingContext(described, METRICS), [replace(closed, verdicts=tuple(low))])

    assert [each.metrics for each in find("memory.dimms")] == [("memory.dimms",)]
    assert [each.metrics for each in find("memory.dimms", "bios.version")] == [("bios.version", "memory.dimms")]
