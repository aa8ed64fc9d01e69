import math
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.oversubscription import (
    OversubscriptionReport,
    WorstFailure,
    analyse_oversubscription,
    list_findings,
)
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric
from tests.topology.fabrics import networks
from tests.topology.slowly import after_each_cable, after_each_switch, group_sums, quotient, sums
from tests.topology.wild import MAX_SEED, wild

GIGABIT = 1.25e8
HEAD = "schema: 1\nfabric: x\n"

PAIR = (
    HEAD
    + """\
switches:
  leaf[1-2]: {role: leaf, ports: {"e[1-8]": 10 Gb/s, "q[1-2]": 40 Gb/s}}
  spine[1-2]: {role: spine}
nodes: {"n[1-4]": {}, "st[1-2]": {role: storage}}
mlag: {pair: {switches: "leaf[1-2]"}}
racks: {r1: {members: "n[1-4],leaf[1-2]"}}
links:
  - {from: "n[1-4]", to: "leaf[1-2]", speed: 10 Gb/s, bond: lacp}
  - {from: leaf1, to: leaf2, speed: 40 Gb/s}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 10 Gb/s}
  - {from: "st[1-2]", to: "spine[1-2]", speed: 40 Gb/s, wiring: one-to-one}
"""
)


def test_a_pair_counts_each_switch_and_both_together(tmp_path: Path) -> None:
    report = analyse_oversubscription(make_tables(fabric(tmp_path, PAIR)))
    leaf = report.switches[0]
    assert (leaf.down, leaf.up, leaf.side, leaf.ratio) == (5e9, 2.5e9, 5e9, 2.0)
    pair, rack = report.groups
    assert (pair.kind, pair.name, pair.down, pair.up, pair.side) == ("mlag", "pair", 10e9, 5e9, 0.0)
    assert (rack.kind, rack.name, rack.down, rack.up, rack.ratio) == ("rack", "r1", 10e9, 5e9, 2.0)
    assert pair.cable == WorstFailure("leaf1--spine1", 10 / 3.75)
    # A dead leaf takes half of both sums, a dead spine half of the way up.
    assert pair.switch_lost == WorstFailure("spine1", 4.0)


def test_free_ports_are_filled_with_node_links(tmp_path: Path) -> None:
    leaf = analyse_oversubscription(make_tables(fabric(tmp_path, PAIR))).switches[0]
    # Four nodes and two uplinks take e[1-6], the peer link q1: e[7-8] are left, q2 is too fast for a node.
    assert (leaf.free, leaf.filled) == (2.5e9, 3.0)


def test_spines_are_the_top_and_count_what_is_cabled_to_them(tmp_path: Path) -> None:
    report = analyse_oversubscription(make_tables(fabric(tmp_path, PAIR)))
    spine = report.switches[2]
    assert (spine.down, spine.up, spine.ratio, spine.cable, spine.switch_lost) == (
        2 * 1.25e9 + 5e9,
        0,
        None,
        None,
        None,
    )
    assert [(tier.role.value, tier.switches, tier.ratio) for tier in report.tiers] == [
        ("leaf", 2, 2.0),
        ("spine", 2, None),
    ]


def test_a_tier_names_the_switch_that_its_sum_hides(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"leaf[1-3]": {role: leaf}, spine: {role: spine}}\nnodes: {"a[1-2]": {}, "b[1-2]": {}, "c[1-8]": {}}\nlinks:\n'
        '  - {from: "a[1-2]", to: leaf1, speed: 10G}\n  - {from: "b[1-2]", to: leaf2, speed: 10G}\n'
        '  - {from: "c[1-8]", to: leaf3, speed: 10G}\n  - {from: "leaf[1-3]", to: spine, speed: 40G}\n'
    )
    described = fabric(tmp_path, text)
    report = analyse_oversubscription(make_tables(described))
    tier = report.tiers[0]
    assert tier.ratio == 1.0
    assert tier.least is not None
    assert tier.most is not None
    assert (tier.least.switch, tier.least.ratio, tier.most.switch, tier.most.ratio) == ("leaf1", 0.5, "leaf3", 2.0)
    said = [each for each in list_findings(report) if each.code == "uneven-oversubscription"]
    assert [(each.where, each.text) for each in said] == [
        ("leaf3", "leaf3 is oversubscribed 2.00:1, leaf1 of the same role leaf 0.50:1; the 3 together 1.00:1")
    ]


def test_a_skipped_tier_is_a_way_up_and_a_cable_across_is_none(tmp_path: Path) -> None:
    text = HEAD + (
        "switches: {a: {role: leaf}, b: {role: leaf}, core: {role: core}}\nnodes: {n: {}, m: {}}\nlinks:\n"
        "  - {from: n, to: a, speed: 10G}\n  - {from: m, to: core, speed: 25G}\n  - {from: a, to: b, speed: 40G}\n"
        "  - {from: a, to: core, speed: 100G}\n"
    )
    found = {each.switch: each for each in analyse_oversubscription(make_tables(fabric(tmp_path, text)))}
    assert [found["a"].down, found["a"].side, found["a"].up] == [1.25e9, 5e9, 12.5e9]  # type: ignore[index]
    assert found["core"].down == 12.5e9 + 3.125e9  # type: ignore[index]
    assert found["b"].ratio is None  # type: ignore[index]


def test_the_last_cable_leaves_nothing(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        HEAD + "switches: {a: {role: leaf}, s: {role: spine}}\nnodes: {n: {}}\n"
        "links: [{from: n, to: a, speed: 10G}, {from: a, to: s, speed: 10G}]\n",
    )
    found = analyse_oversubscription(make_tables(described))
    assert found.switches[0].cable == WorstFailure("a--s", math.inf)
    assert found.switches[0].switch_lost == WorstFailure("s", math.inf)


def test_standby_legs_come_to_the_other_leaf_when_theirs_is_dead(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}\nnodes: {"n[1-4]": {}, "m[1-2]": {}}\n'
        'chassis: {c1: {members: "n[1-4],m[1-2],leaf[1-2]"}}\nmlag: {pair: {switches: "leaf[1-2]"}}\nlinks:\n'
        '  - {from: "n[1-4]", to: "leaf[1-2]", speed: 10G, bond: active-backup}\n'
        '  - {from: "m[1-2]", to: "leaf[2,1]", speed: 10G, bond: lacp}\n'
        '  - {from: "leaf[1-2]", to: spine, speed: 10G, count: 4}\n'
    )
    report = analyse_oversubscription(make_tables(fabric(tmp_path, text)))
    first, second = report.switches[:2]
    assert (first.down / 1.25e9, second.down / 1.25e9) == (6, 2)
    assert second.switch_lost == WorstFailure("spine", math.inf)
    pair, chassis = report.groups
    assert (pair.down, chassis.down) == (8 * 1.25e9, 8 * 1.25e9)
    worn = analyse_oversubscription(make_tables(remove_elements(fabric(tmp_path, text), switches=["leaf1"])))
    assert worn.switches[1].ratio == 6 / 4
    assert [group.ratio for group in worn.groups] == [6 / 4, 6 / 4]


def test_sites_are_joined_by_cables_of_their_own_tier(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {west: {role: core}, east: {role: core}}\nnodes: {"w[1-4]": {}, "e[1-2]": {}}\n'
        'sites: {w: {members: "w[1-4],west"}, e: {members: "e[1-2],east"}}\nlinks:\n'
        '  - {from: "w[1-4]", to: west, speed: 10G}\n  - {from: "e[1-2]", to: east, speed: 10G}\n'
        "  - {from: west, to: east, speed: 10G}\n"
    )
    found = analyse_oversubscription(make_tables(fabric(tmp_path, text))).groups
    assert [(group.up, group.side, group.ratio) for group in found] == [(0, 1.25e9, 4.0), (0, 1.25e9, 2.0)]


def test_a_fabric_without_switches_has_none(tmp_path: Path) -> None:
    report = analyse_oversubscription(make_tables(fabric(tmp_path, HEAD + "nodes: {n: {}}\n")))
    assert (list(report), report.tiers, report.groups) == ([], (), ())


def worst(ratios: list[float]) -> float | None:
    return max(ratios, default=None)


def check_switches(described: Fabric, report: OversubscriptionReport) -> None:
    for each in report:
        down, up, side = sums(described, each.switch)
        assert [each.down, each.up, each.side] == pytest.approx([down, up, side])
        if not down or not up:
            continue
        assert each.cable is not None
        assert each.cable.ratio == pytest.approx(worst(list(after_each_cable(described, each.switch))))
        assert each.switch_lost is not None
        assert each.switch_lost.ratio == pytest.approx(worst(list(after_each_switch(described, each.switch))))


@given(networks())
@settings(max_examples=30, deadline=None)
def test_failures_are_those_of_the_fabric_without_the_element(described: Fabric) -> None:
    check_switches(described, analyse_oversubscription(make_tables(described)))


@given(st.integers(0, MAX_SEED))
@settings(max_examples=100, deadline=None)
def test_failures_in_wild_fabrics(seed: int) -> None:
    described = wild(seed, 12)
    report = analyse_oversubscription(make_tables(described))
    check_switches(described, report)
    members = {group.name: group.members for group in described.groups}
    members.update((pair.name, pair.switches) for pair in described.mlags)
    for group in report.groups:
        down, up = group_sums(described, members[group.name])
        assert [group.down, group.up] == pytest.approx([down, up])
        if not up or not down:
            continue
        worn = [
            group_sums(remove_elements(described, switches=[name]), members[group.name]) for name in described.switches
        ]
        found = 0.0 if group.switch_lost is None else group.switch_lost.ratio
        assert max(found, down / up) == pytest.approx(max(down / up, *(quotient(*each) for each in worn)))


@given(networks(), st.data())
@settings(max_examples=30, deadline=None)
def test_a_wider_uplink_never_raises_a_ratio(described: Fabric, data: st.DataObject) -> None:
    tier = described.tier
    trunks = [link for link in described.links.values() if 0 < tier(link.a) < tier(link.b)]
    link = data.draw(st.sampled_from(trunks))
    wider = replace(link, speed=link.speed * 2, mixed=tuple(2 * speed for speed in link.mixed))
    changed = replace(described, links=MappingProxyType({**described.links, link.id: wider}))
    before = {each.switch: each for each in analyse_oversubscription(make_tables(described))}
    for each in analyse_oversubscription(make_tables(changed)):
        was = before[each.switch]
        if each.switch == link.a:
            assert each.ratio is not None
            assert was.ratio is not None
            assert each.ratio <= was.ratio
        elif each.switch != link.b:
            assert (each.ratio, each.cable, each.switch_lost) == (was.ratio, was.cable, was.switch_lost)
