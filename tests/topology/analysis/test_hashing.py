"""LAGs of a fabric by kind, what their hashes do to few flows, and repeated hashes."""

from pathlib import Path

import pytest

from benchconsole.topology.analysis.hashing import analyse_hashing, list_findings
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.model.fabric import Fabric, HashPolicy
from tests.fabrics import fabric

TREE = """\
schema: 1
fabric: tree
network: {{hash: {policy}}}
switches:
  core[1-2]: {{role: core}}
  spine[1-2]: {{role: spine}}
  leaf[1-2]: {{role: leaf}}
nodes:
  n[1-6]: {{}}
  w[1-6]: {{}}
links:
  - {{from: "n[1-6]", to: leaf1, speed: 10G}}
  - {{from: "w[1-6]", to: leaf2, speed: 10G}}
  - {{from: "leaf[1-2]", to: "spine[1-2]", speed: 10G, count: {up}}}
  - {{from: "spine[1-2]", to: "core[1-2]", speed: 10G, count: {top}, wiring: one-to-one}}
"""


def tree(folder: Path, policy: str = "l3l4", up: int = 12, top: int = 2) -> Fabric:
    return fabric(folder, TREE.format(policy=policy, up=up, top=top))


def said(described: Fabric) -> dict[str, StaticFinding]:
    return {finding.code: finding for finding in list_findings(analyse_hashing(described))}


def test_equal_lags_are_one_line(tmp_path: Path) -> None:
    lags = analyse_hashing(tree(tmp_path)).lags
    assert [(lag.lower, lag.upper, lag.members, len(lag.links), lag.nodes) for lag in lags] == [
        ("leaf", "spine", 12, 4, 6),
        ("spine", "core", 2, 2, 12),
    ]
    assert (lags[0].flows_95, lags[0].policy) == (35, HashPolicy.L3L4)
    assert lags[0].use == pytest.approx(1 - (11 / 12) ** 6)


def test_few_flows_and_an_unknown_hash(tmp_path: Path) -> None:
    found = said(tree(tmp_path, "unknown"))["lag-hash-unknown"]
    assert found.severity is Severity.WARNING
    assert "12 x 10.0 Gb/s" in found.text
    assert "6 nodes" in found.text
    assert "35 flows" in found.text


def test_streams_help_where_ports_are_hashed_only(tmp_path: Path) -> None:
    assert said(tree(tmp_path, "l3l4"))["lag-few-flows"].severity is Severity.NOTE
    addresses = said(tree(tmp_path, "l3"))["lag-hash-addresses"]
    assert addresses.severity is Severity.WARNING
    assert "share a member" in addresses.text


def test_steered_lags_are_noted_and_nothing_else(tmp_path: Path) -> None:
    described = tree(tmp_path, "steered")
    assert {finding.code for finding in list_findings(analyse_hashing(described))} == {"lag-steered"}


def test_enough_flows_are_no_finding(tmp_path: Path) -> None:
    described = tree(tmp_path, up=3)
    assert [(lag.upper, lag.nodes >= lag.flows_95) for lag in analyse_hashing(described).lags] == [
        ("spine", False),
        ("core", True),
    ]
    few = [finding.where for finding in list_findings(analyse_hashing(described)) if finding.code == "lag-few-flows"]
    assert few == ["leaf1--spine1 and 3 more"]


def test_the_choice_of_a_spine_leaves_members_of_its_lag_unused(tmp_path: Path) -> None:
    stages = analyse_hashing(tree(tmp_path)).stages
    assert [(each.lower, each.choices, each.upper, each.members, each.reachable, each.apart) for each in stages] == [
        ("leaf", 2, "spine", 2, 1, True)
    ]
    found = said(tree(tmp_path))["hash-polarisation"]
    assert found.severity is Severity.WARNING
    assert "uses 1 of its 2 members" in found.text


@pytest.mark.parametrize(("up", "reached"), [(1, [1]), (2, []), (3, [])])
def test_a_pair_is_one_lag_whose_cables_decide_what_is_reached(tmp_path: Path, up: int, reached: list[int]) -> None:
    """One cable to each of the pair: the first gets the even hashes only. With two it gets 0 and 1 of 4: both."""
    text = TREE.format(policy="l3l4", up=up, top=2) + 'mlag: {pair: {switches: "spine[1-2]"}}\n'
    described = fabric(tmp_path, text)
    assert [stage.reachable for stage in analyse_hashing(described).stages if stage.apart] == reached


def test_three_members_under_two_choices_are_all_reached(tmp_path: Path) -> None:
    assert analyse_hashing(tree(tmp_path, top=3)).stages == ()


def test_lags_in_a_row_repeat_collisions_but_use_every_member(tmp_path: Path) -> None:
    text = (
        TREE.format(policy="l3l4", up=4, top=2)
        .replace('"leaf[1-2]", to: "spine[1-2]"', "leaf1, to: spine1")
        .replace('w[1-6]", to: leaf2', 'w[1-6]", to: leaf1')
    )
    described = fabric(tmp_path, text)
    assert [(each.apart, each.reachable) for each in analyse_hashing(described).stages] == [(False, 1)]
    assert said(described)["hash-repeated"].severity is Severity.NOTE


def test_virtual_machines_count_instead_of_their_host(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        "schema: 1\nfabric: vms\nswitches: {leaf1: {role: leaf}}\n"
        'nodes: {h: {}, "vm[1-7]": {host: h}}\nlinks: [{from: h, to: leaf1, speed: 10G, count: 2}]\n',
    )
    assert [lag.nodes for lag in analyse_hashing(described).lags] == [7]


def test_the_bond_of_one_node_is_a_note(tmp_path: Path) -> None:
    text = "schema: 1\nfabric: one\nswitches: {leaf1: {}}\nnodes: {n: {}}\nlinks: [{from: n, to: leaf1, speed: 10G, count: 2}]\n"
    found = said(fabric(tmp_path, text))["lag-hash-unknown"]
    assert found.severity is Severity.NOTE
    assert found.text.endswith("one flow of the node behind it uses 1 of 2; 95 % of the members need 5 flows")
