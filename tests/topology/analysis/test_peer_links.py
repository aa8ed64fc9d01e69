from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.peer_links import check_peer_links, list_findings
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric
from tests.topology.wild import MAX_SEED, wild

GIGABIT = 1.25e8
HEAD = "schema: 1\nfabric: x\n"

PAIR = (
    HEAD
    + """\
switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}}
nodes: {"n[1-8]": {}, "st[1-2]": {role: storage}, "far[1-8]": {}}
mlag: {pair: {switches: "leaf[1-2]"}}
links:
  - {from: "n[1-8]", to: "leaf[1-2]", speed: 10 Gb/s, bond: lacp}
  - {from: "st[1-2]", to: "leaf[1-2]", speed: 40 Gb/s, bond: lacp}
  - {from: leaf1, to: leaf2, speed: PEER Gb/s}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 40 Gb/s}
  - {from: "far[1-8]", to: "spine[1-2]", speed: 10 Gb/s, bond: lacp}
"""
)


def test_each_role_and_all_together(tmp_path: Path) -> None:
    found = check_peer_links(make_tables(fabric(tmp_path, PAIR.replace("PEER", "40"))))
    assert [(each.role, each.nodes, each.offered / GIGABIT, each.load, each.enough) for each in found] == [
        ("compute", 8, 40, 1.0, True),
        ("storage", 2, 40, 1.0, True),
        # 160 are wanted, 80 arrive at each of the two leaves at most.
        ("all", 10, 80, 2.0, False),
    ]


def test_what_a_peer_link_leaves_is_shared_fairly(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR.replace("PEER", "10"))
    found = {each.role: each for each in check_peer_links(make_tables(described))}
    # 10 over the peer link are half of all: 20 in all, 2.5 for each of 8 nodes, 2 for each of 10.
    assert found["compute"].share / GIGABIT == pytest.approx(2.5)
    assert [found["all"].leg / GIGABIT, found["all"].share / GIGABIT] == pytest.approx([40, 2])
    said = [
        each for each in list_findings(check_peer_links(make_tables(described))) if each.code == "peer-link-too-small"
    ]
    assert said[0].text == (
        "pair: with the legs of all 8 compute nodes on leaf2 lost, 40.0 Gb/s cross the peer link of 10.0 Gb/s: "
        "each gets 2.50 Gb/s of 10.0 Gb/s"
    )


def test_it_is_what_the_flows_would_reach(tmp_path: Path) -> None:
    """The same case as flows from the far nodes, one to each, on the fabric without these legs."""
    described = fabric(tmp_path, PAIR.replace("PEER", "10"))
    worn = remove_elements(described, links=[f"n{i}--leaf2" for i in range(1, 9)])
    flows = [Flow(NodeId(f"far{i}"), NodeId(f"n{i}")) for i in range(1, 9)]
    rates = [each.value / described.goodput for each in expect(worn, flows)]
    found = next(each for each in check_peer_links(make_tables(described)) if each.role == "compute")
    assert rates == pytest.approx([found.share] * 8)


def test_the_worse_side_is_told(tmp_path: Path) -> None:
    """Three quarters of what comes arrive at the switch with three of four uplinks."""
    text = HEAD + (
        'switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}\nnodes: {"n[1-4]": {}, far: {}}\n'
        'mlag: {pair: {switches: "leaf[1-2]"}}\nlinks:\n  - {from: "n[1-4]", to: "leaf[1-2]", speed: 10G, bond: lacp}\n'
        "  - {from: leaf1, to: leaf2, speed: 20G}\n  - {from: leaf1, to: spine, speed: 40G, count: 3}\n"
        "  - {from: leaf2, to: spine, speed: 40G}\n  - {from: far, to: spine, speed: 100G}\n"
    )
    found = check_peer_links(make_tables(fabric(tmp_path, text)))[0]
    assert (found.lost, found.offered / GIGABIT, found.load) == ("leaf1", 30, 1.5)


def test_pairs_that_are_alike_are_one_check_and_orphans_are_cut_off(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"leaf[1-4]": {role: leaf}, spine: {role: spine}}\nnodes: {"n[1-4]": {}, "o[1-2]": {}}\n'
        'mlag: {p: {switches: "leaf[1-2]"}, q: {switches: "leaf[3-4]"}}\nlinks:\n'
        '  - {from: "n[1-2]", to: "leaf[1-2]", speed: 10G, bond: lacp}\n  - {from: o1, to: leaf2, speed: 10G}\n'
        '  - {from: "n[3-4]", to: "leaf[3-4]", speed: 10G, bond: lacp}\n  - {from: o2, to: leaf4, speed: 10G}\n'
        '  - {from: "leaf[1,3]", to: "leaf[2,4]", speed: 10G, wiring: one-to-one}\n'
        '  - {from: "leaf[1-4]", to: spine, speed: 40G}\n'
    )
    described = fabric(tmp_path, text)
    found = check_peer_links(make_tables(described))
    assert len(found) == 1
    # With the legs on the first switch lost all three are on the second: more crosses than the other way round.
    assert (found[0].pairs, found[0].lost, found[0].nodes, found[0].cut) == (("p", "q"), "leaf1", 2, 0)
    assert (found[0].offered / GIGABIT, found[0].enough) == (15, False)


def test_without_a_peer_link_it_cannot_be_said(tmp_path: Path) -> None:
    text = PAIR.replace("  - {from: leaf1, to: leaf2, speed: PEER Gb/s}\n", "")
    described = fabric(tmp_path, text)
    found = check_peer_links(make_tables(described))
    assert {(each.capacity, each.load, each.enough) for each in found} == {(None, None, None)}
    assert {each.code for each in list_findings(found)} == {"no-peer-link"}


def test_no_pair_no_check(tmp_path: Path) -> None:
    assert check_peer_links(make_tables(fabric(tmp_path, HEAD + "nodes: {n: {}}\n"))) == ()


@given(st.integers(0, MAX_SEED))
@settings(max_examples=80, deadline=None)
def test_shares_never_exceed_the_leg_and_fill_what_is_too_small(seed: int) -> None:
    for each in check_peer_links(make_tables(wild(seed))):
        assert 0 <= each.share <= each.leg * (1 + 1e-9)
        if each.enough is False:
            assert each.share < each.leg
        assert each.nodes + each.cut > 0 or not each.offered or each.leg
