"""Statements of documents, held against the cabling: ratios, cuts, and statements that cannot be checked."""

from pathlib import Path

import pytest

from benchconsole import topology
from benchconsole.topology.analysis.bisection import BisectionReport, analyse_bisection
from benchconsole.topology.analysis.end_to_end import analyse_end_to_end
from benchconsole.topology.analysis.oversubscription import analyse_oversubscription
from benchconsole.topology.analysis.stated_vs_computed import ClaimOutcome, Comparison, compare_claims, list_findings
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric

TREE = """\
schema: 1
fabric: tree
switches:
  spine[1-2]: {{role: spine}}
  leaf[1-4]: {{role: leaf}}
nodes:
  n[01-32]: {{}}
links:
  - {{from: "n[01-08]", to: leaf1, speed: 10G}}
  - {{from: "n[09-16]", to: leaf2, speed: 10G}}
  - {{from: "n[17-24]", to: leaf3, speed: 10G}}
  - {{from: "n[25-32]", to: leaf4, speed: {speed}}}
  - {{from: "leaf[1-4]", to: "spine[1-2]", speed: 10G, count: 2}}
racks:
  r1: {{members: "n[01-08],leaf1"}}
  r2: {{members: "n[25-32],leaf4"}}
sites:
  west: {{members: "n[01-16],leaf[1-2]"}}
  east: {{members: "n[17-32],leaf[3-4]"}}
stated:
  - {claim}
"""


def tree(folder: Path, claim: str, speed: str = "10G") -> Fabric:
    return fabric(folder, TREE.format(claim=claim, speed=speed))


def compare_all(described: Fabric) -> tuple[Comparison, ...]:
    reports = (
        analyse_oversubscription(make_tables(described)),
        analyse_end_to_end(make_tables(described)),
        analyse_bisection(make_tables(described)),
    )
    return compare_claims(make_tables(described), *reports)


def compared(described: Fabric) -> Comparison:
    return compare_all(described)[0]


def said(described: Fabric) -> StaticFinding:
    (found,) = list_findings(described, compare_all(described))
    return found


def test_a_true_ratio_is_no_finding(tmp_path: Path) -> None:
    described = tree(tmp_path, '{oversubscription: "2:1", source: the offer}')
    assert compared(described).outcome is ClaimOutcome.HOLDS
    assert compared(described).computed == pytest.approx(2.0)
    assert list(list_findings(described, compare_all(described))) == []


def test_end_to_end_means_the_worst_way(tmp_path: Path) -> None:
    described = tree(tmp_path, '{oversubscription: "2:1", source: the offer}', speed="25G")
    assert compared(described).computed == pytest.approx(5.0)
    found = said(described)
    assert (found.severity, found.code, found.where) == (Severity.ERROR, "claim-contradicted", "tree")
    assert found.text == (
        "stated 2.00:1 end to end (the offer); the cabling gives 5.00:1 at the leaf, 5.00:1 end to end"
    )


@pytest.mark.parametrize(
    ("scope", "outcome", "value"),
    [
        ("leaf", ClaimOutcome.CONTRADICTED, 5.0),
        ("leaf1", ClaimOutcome.HOLDS, 2.0),
        ("leaf4", ClaimOutcome.CONTRADICTED, 5.0),
        ("rack", ClaimOutcome.CONTRADICTED, 5.0),
        ("r1", ClaimOutcome.HOLDS, 2.0),
        ("spine", ClaimOutcome.UNKNOWN, None),
    ],
)
def test_a_ratio_of_a_part(tmp_path: Path, scope: str, outcome: ClaimOutcome, value: float | None) -> None:
    found = compared(tree(tmp_path, f'{{oversubscription: "2:1", of: {scope}}}', speed="25G"))
    assert found.outcome is outcome
    assert found.computed == (value and pytest.approx(value))


def test_several_parts_are_given_with_the_worst(tmp_path: Path) -> None:
    found = said(tree(tmp_path, '{oversubscription: "2:1", of: leaf}', speed="25G"))
    assert found.text == "stated 2.00:1 at leaf; the cabling gives 2.00:1 to 5.00:1 (at leaf4)"


def test_a_better_cabling_is_a_note(tmp_path: Path) -> None:
    found = said(tree(tmp_path, '{oversubscription: "3:1", source: the offer}'))
    assert (found.severity, found.code) == (Severity.NOTE, "claim-exceeded")


def test_two_digits_are_enough(tmp_path: Path) -> None:
    assert compared(tree(tmp_path, '{oversubscription: "2.03:1"}')).outcome is ClaimOutcome.HOLDS
    assert compared(tree(tmp_path, '{oversubscription: "1.9:1"}')).outcome is ClaimOutcome.CONTRADICTED


def test_what_has_no_way_up_cannot_be_checked(tmp_path: Path) -> None:
    found = said(tree(tmp_path, '{oversubscription: "2:1", of: spine}'))
    assert (found.severity, found.code, found.where) == (Severity.NOTE, "claim-unknown", "spine")
    assert found.text.endswith("it cannot be checked: nothing leads up from spine")


@pytest.mark.parametrize(
    ("of", "gbps", "outcome"),
    [
        ("end-to-end", 80, ClaimOutcome.HOLDS),
        ("end-to-end", 60, ClaimOutcome.HOLDS),
        ("end-to-end", 90, ClaimOutcome.CONTRADICTED),
        ("leaf", 80, ClaimOutcome.HOLDS),
        ("leaf", 100, ClaimOutcome.CONTRADICTED),
        ("site", 80, ClaimOutcome.HOLDS),
        ("site", 160, ClaimOutcome.CONTRADICTED),
        ("r1", 80, ClaimOutcome.UNKNOWN),
    ],
)
def test_a_bisection_beside_the_cut(tmp_path: Path, of: str, gbps: int, outcome: ClaimOutcome) -> None:
    assert compared(tree(tmp_path, f"{{bisection: {gbps} Gb/s, of: {of}}}")).outcome is outcome


def test_a_bisection_above_the_cut_names_its_cables(tmp_path: Path) -> None:
    found = said(tree(tmp_path, "{bisection: 1.6 Tb/s, source: offer}"))
    assert (found.severity, found.code) == (Severity.ERROR, "claim-contradicted")
    assert found.text.startswith("stated 1.60 Tb/s bisection (offer); the cabling gives at most 80.0 Gb/s (")
    assert "8 cables leaf to spine" in found.text


def test_half_of_the_ports_bounds_what_halves_exchange(tmp_path: Path) -> None:
    text = (
        'schema: 1\nfabric: one\nswitches: {a: {}}\nnodes: {"n[1-2]": {}}\n'
        'links: [{from: "n[1-2]", to: a, speed: 1G}]\nstated: [{bisection: 2 Gb/s}]\n'
    )
    found = said(fabric(tmp_path, text))
    assert found.text == (
        "stated 2.00 Gb/s bisection; the cabling gives at most 1.00 Gb/s (1 cable node to leaf between n1 and n2)"
    )


@pytest.mark.parametrize(
    ("claim", "why"),
    [
        ('{oversubscription: "2:1"}', "no node has a way up"),
        ("{bisection: 1 Gb/s}", "there are no halves"),
    ],
)
def test_without_a_cable_nothing_can_be_checked(tmp_path: Path, claim: str, why: str) -> None:
    described = fabric(tmp_path, f'schema: 1\nfabric: none\nnodes: {{"n[1-2]": {{}}}}\nstated: [{claim}]\n')
    cuts = BisectionReport("none", None, "there are no halves", ())
    (found,) = compare_claims(make_tables(described), analyse_oversubscription(make_tables(described)), (), cuts)
    assert (found.outcome, found.computed, found.why) == (ClaimOutcome.UNKNOWN, None, why)


@pytest.mark.parametrize(("per_tor", "end"), [(1, 2.0), (2, 4.0), (4, 8.0), (5, 10.0)])
def test_jetstream_is_two_to_one_for_one_chassis_on_a_switch_only(per_tor: int, end: float) -> None:
    example = Path(topology.__file__).parent / "examples" / "jetstream.yaml"
    described = topology.load(example, None, {"per_tor": per_tor})
    assert compared(described).computed == pytest.approx(end)
    assert (compared(described).outcome is ClaimOutcome.HOLDS) == (per_tor == 1)
    if per_tor > 1:
        assert next(list_findings(described, compare_all(described))).text == (
            f"stated 2.00:1 end to end (3.1.1, 3.1.9); the cabling gives 2.00:1 at the chassis, {per_tor}.00:1 at the leaf,"
            f" {end:.2f}:1 end to end; 2.00:1 holds up to the chassis only"
        )


CLASSES = """\
schema: 1
fabric: cloud
switches: {s1: {}}
classes:
  blade: {cpu: {sockets: 2, cores: 24}, memory: 128 GiB, disk: {count: 2, size: 1 TB}, peak: 806.4 GFLOP/s}
  server: {cpu: {sockets: 2, cores: 24}, memory: 64 GiB}
nodes:
  b[1-320]: {class: blade}
  st[1-20]: {class: server, role: storage}
  vm[1-20]: {class: server, host: "st[1-20]"}
links: [{from: "b[1-320],st[1-20]", to: s1, speed: 10 Gb/s}]
"""


@pytest.mark.parametrize(
    ("claim", "outcome", "text"),
    [
        ("nodes: 320, of: '@compute & @class:blade'", ClaimOutcome.HOLDS, ""),
        ("sockets: 640, of: 'b[1-320]'", ClaimOutcome.HOLDS, ""),
        ("cores: 7680, of: 'b[1-320]'", ClaimOutcome.HOLDS, ""),
        ("peak: 258 TFLOP/s, of: 'b[1-320]'", ClaimOutcome.HOLDS, ""),
        ("disk: 640 TB, of: 'b[1-320]'", ClaimOutcome.HOLDS, ""),
        ("memory: 40 TiB, of: 'b[1-320]'", ClaimOutcome.HOLDS, ""),
        (
            "memory: 40 TB, of: 'b[1-320]', source: '2'",
            ClaimOutcome.BETTER,
            "stated 36.4 TiB (40.0 TB) of b[1-320] (2); the classes give 40.0 TiB (44.0 TB): 320 nodes of blade x 128 GiB",
        ),
        (
            "cores: '15,360', of: 'b[1-320]', source: '2'",
            ClaimOutcome.CONTRADICTED,
            (
                "stated 15,360 cores of b[1-320] (2); the classes give 7,680 cores: 320 nodes of blade x 24 cores; stated is"
                " 2 times that"
            ),
        ),
        (
            "cores: 7681, of: 'b[1-320]'",
            ClaimOutcome.CONTRADICTED,
            "stated 7,681 cores of b[1-320]; the classes give 7,680 cores: 320 nodes of blade x 24 cores",
        ),
        (
            "cores: 8000",
            ClaimOutcome.BETTER,
            "stated 8,000 cores; the classes give 8,160 cores: 320 nodes of blade x 24 cores, 20 nodes of server x 24 cores",
        ),
        (
            "peak: 1 PFLOP/s",
            ClaimOutcome.UNKNOWN,
            "stated 1.00 PFLOP/s; it cannot be checked: class server declares no peak",
        ),
        (
            "cores: 24, of: vm1",
            ClaimOutcome.UNKNOWN,
            "stated 24 cores of vm1; it cannot be checked: no machine is meant",
        ),
    ],
)
def test_a_total_beside_the_sum_over_its_classes(tmp_path: Path, claim: str, outcome: ClaimOutcome, text: str) -> None:
    described = fabric(tmp_path, f"{CLASSES}stated: [{{{claim}}}]\n")
    assert compared(described).outcome is outcome
    assert [each.text for each in list_findings(described, compare_all(described))] == ([text] if text else [])


def test_nothing_stated_is_nothing_computed(tmp_path: Path) -> None:
    assert compare_all(fabric(tmp_path)) == ()
