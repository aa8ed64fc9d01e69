"""LAGs of a fabric by kind, what their hashes do to few flows, and repeated hashes."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis import hashing
from benchconsole.topology.analysis.hashing import (
    EXACT_FLOWS,
    analyse_hashing,
    compute_member_load,
    count_busy,
    count_flows,
    find_repeated_hashes,
    list_findings,
)
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.model.fabric import Fabric, HashPolicy
from benchconsole.topology.tables.fabric_tables import make_tables
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
    return {
        finding.code: finding
        for finding in (*list_findings(analyse_hashing(make_tables(described))), *find_repeated_hashes(described))
    }


def test_equal_lags_are_one_line(tmp_path: Path) -> None:
    lags = analyse_hashing(make_tables(tree(tmp_path)))
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
    assert {finding.code for finding in list_findings(analyse_hashing(make_tables(described)))} == {"lag-steered"}


def test_enough_flows_are_no_finding(tmp_path: Path) -> None:
    described = tree(tmp_path, up=3)
    assert [(lag.upper, lag.nodes >= lag.flows_95) for lag in analyse_hashing(make_tables(described))] == [
        ("spine", False),
        ("core", True),
    ]
    few = [
        finding.where
        for finding in list_findings(analyse_hashing(make_tables(described)))
        if finding.code == "lag-few-flows"
    ]
    assert few == ["leaf1--spine1 and 3 more"]


def test_the_choice_of_a_spine_leaves_members_of_its_lag_unused(tmp_path: Path) -> None:
    found = said(tree(tmp_path))["hash-polarisation"]
    assert found.severity is Severity.WARNING
    assert found.text == (
        "leaf takes 1 of 2, then spine 1 of 2 by the same l3l4 hash: "
        "unless the seeds differ, each of 2 uses 1 of its 2 members"
    )


@pytest.mark.parametrize(("up", "reached"), [(1, [1]), (2, []), (3, [])])
def test_a_pair_is_one_lag_whose_cables_decide_what_is_reached(tmp_path: Path, up: int, reached: list[int]) -> None:
    """One cable to each of the pair: the first gets the even hashes only. With two it gets 0 and 1 of 4: both."""
    text = TREE.format(policy="l3l4", up=up, top=2) + 'mlag: {pair: {switches: "spine[1-2]"}}\n'
    described = fabric(tmp_path, text)
    stages = [each.text for each in find_repeated_hashes(described) if each.code == "hash-polarisation"]
    assert [text.rpartition("uses ")[2] for text in stages] == [f"{left} of its 2 members" for left in reached]


@pytest.mark.parametrize("top", [2, 3, 4, 5, 6])
def test_a_repeated_hash_reaches_a_part(tmp_path: Path, top: int) -> None:
    reached = {hash_ % top for hash_ in range(60) if hash_ % 2 == 0}
    texts = [each.text for each in find_repeated_hashes(tree(tmp_path, top=top))]
    assert [text.rpartition("uses ")[2] for text in texts] == (
        [f"{len(reached)} of its {top} members"] if len(reached) < top else []
    )


def test_lags_in_a_row_repeat_collisions_but_use_every_member(tmp_path: Path) -> None:
    text = (
        TREE.format(policy="l3l4", up=4, top=2)
        .replace('"leaf[1-2]", to: "spine[1-2]"', "leaf1, to: spine1")
        .replace('w[1-6]", to: leaf2', 'w[1-6]", to: leaf1')
    )
    described = fabric(tmp_path, text)
    assert "hash-polarisation" not in said(described)
    found = said(described)["hash-repeated"]
    assert found.severity is Severity.NOTE
    assert found.text.endswith("flows that share a member at first reach 1 of 2")


def test_virtual_machines_count_instead_of_their_host(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        "schema: 1\nfabric: vms\nswitches: {leaf1: {role: leaf}}\n"
        'nodes: {h: {}, "vm[1-7]": {host: h}}\nlinks: [{from: h, to: leaf1, speed: 10G, count: 2}]\n',
    )
    assert [lag.nodes for lag in analyse_hashing(make_tables(described))] == [7]


def test_the_bond_of_one_node_is_a_note(tmp_path: Path) -> None:
    text = "schema: 1\nfabric: one\nswitches: {leaf1: {}}\nnodes: {n: {}}\nlinks: [{from: n, to: leaf1, speed: 10G, count: 2}]\n"
    found = said(fabric(tmp_path, text))["lag-hash-unknown"]
    assert found.severity is Severity.NOTE
    assert found.text.endswith("one flow of the node behind it uses 1 of 2; 95 % of the members need 5 flows")


# Balls in bins: the published table and a simulation

TABLE = [
    # flows, members, E[max], over the mean, P50, P95, P(even), E[busy]
    (30, 12, 5.351, 2.140, 5, 7, 2.09e-3, 11.118),
    (12, 12, 2.876, 2.876, 3, 4, 5.37e-5, 7.776),
    (16, 12, 3.481, 2.611, 3, 5, 5.48e-2, 9.018),
    (60, 12, 8.932, 1.786, 9, 11, 1.66e-8, 11.935),
    (8, 2, 5.094, 1.273, 5, 7, 0.2734, 1.992),
    (30, 2, 17.167, 1.144, 17, 20, 0.1445, 2.000),
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0]} over {row[1]}")
def test_the_table(row: tuple[float, ...]) -> None:
    flows, members, fullest, over, p50, p95, even, busy = row
    found = compute_member_load(int(flows), int(members))
    assert found.fullest == pytest.approx(fullest, abs=5e-4)
    assert found.imbalance == pytest.approx(over, abs=6e-4)
    assert np.searchsorted(found.at_most, (0.50, 0.95)).tolist() == [p50, p95]
    assert found.at_most[-(-int(flows) // int(members))] == pytest.approx(even, rel=5e-3)
    assert found.busy == pytest.approx(busy, abs=5e-4)


def test_many_flows_are_drawn() -> None:
    found = compute_member_load(480, 12)
    assert found.fullest == pytest.approx(50.6, abs=0.15)
    assert found.imbalance == pytest.approx(1.265, abs=4e-3)
    assert found.busy == pytest.approx(12.0)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 40), st.integers(1, 16))
def test_a_distribution_sums_to_one_and_starts_at_the_mean(flows: int, members: int) -> None:
    found = compute_member_load(flows, members)
    assert found.at_most[-1] == 1.0
    assert all(low <= high for low, high in zip(found.at_most, found.at_most[1:], strict=False))
    least = math.ceil(flows / members)
    assert all(share == 0.0 for share in found.at_most[:least])
    assert found.at_most[least] > 0.0
    assert max(flows / members, 1.0) - 1e-9 <= found.fullest <= flows


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 60), st.integers(1, 16))
def test_a_simulation_agrees(flows: int, members: int) -> None:
    runs = 4000
    member = np.random.default_rng(flows * 100 + members).integers(0, members, (runs, flows))
    cells = (member + members * np.arange(runs)[:, None]).ravel()
    loads = np.bincount(cells, minlength=runs * members).reshape(runs, members)
    found = compute_member_load(flows, members)
    for seen, expected in ((loads.max(axis=1), found.fullest), ((loads > 0).sum(axis=1), found.busy)):
        unseen = 10 / runs  # what is rarer may not have happened once
        assert seen.mean() == pytest.approx(expected, abs=5 * seen.std() / math.sqrt(runs) + unseen)


def test_counted_and_drawn_agree_where_they_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = compute_member_load(EXACT_FLOWS, 12)
    monkeypatch.setattr(hashing, "EXACT_FLOWS", 0)
    drawn = compute_member_load.__wrapped__(EXACT_FLOWS, 12)
    assert drawn.at_most != counted.at_most
    assert drawn.fullest == pytest.approx(counted.fullest, abs=0.08)


@pytest.mark.parametrize(("flows", "members"), [(0, 4), (4, 0), (-1, 2)])
def test_nothing_to_spread_is_refused(flows: int, members: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        compute_member_load(flows, members)


@settings(max_examples=60)
@given(st.sampled_from([0.5, 0.9, 0.95]), st.integers(1, 128))
def test_the_flows_needed_are_the_least_that_suffice(share: float, members: int) -> None:
    needed = count_flows(share, members)
    assert count_busy(needed, members) >= share * members * (1 - 1e-9)
    assert needed == 1 or count_busy(needed - 1, members) < share * members
