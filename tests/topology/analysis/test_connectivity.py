from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.connectivity import check_connectivity, find_islands
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import expand
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric
from tests.topology.slowly import network_of, switches_of
from tests.topology.wild import MAX_SEED, wild

HEAD = "schema: 1\nfabric: x\n"


def said(described: Fabric) -> dict[str, str]:
    return {each.code: each.text for each in check_connectivity(make_tables(described))}


def islands_of(described: Fabric) -> list[tuple[int, list[str], list[str]]]:
    return [(each.nodes, list(each.switches), list(each.outside)) for each in find_islands(make_tables(described))]


@pytest.mark.fault("F04")
def test_an_island(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {one: {role: leaf}, two: {role: leaf}}\nnodes: {"a[1-3]": {}, "b[1-2]": {}}\n'
        'links: [{from: "a[1-3]", to: one, speed: 10G}, {from: "b[1-2]", to: two, speed: 10G}]\n'
    )
    described = fabric(tmp_path, text)
    assert islands_of(described) == [(3, ["one"], []), (2, ["two"], ["b1", "b2"])]
    assert said(described) == {"island": "b[1-2] cannot reach the 3 nodes around one"}


@pytest.mark.parametrize("forwards", [True, False])
def test_a_gateway_joins_networks_only_if_it_forwards(forwards: bool, tmp_path: Path) -> None:
    text = HEAD + (
        f'switches: {{one: {{role: leaf}}, two: {{role: leaf}}}}\nnodes: {{"a[1-3]": {{}}, b: {{}}, gw: {{role: gateway, forwards: {str(forwards).lower()}}}}}\n'
        'links: [{from: "a[1-3],gw", to: one, speed: 10G}, {from: "b,gw", to: two, speed: 10G}]\n'
    )
    described = fabric(tmp_path, text)
    assert ("island" not in said(described)) == forwards
    assert len(islands_of(described)) == (1 if forwards else 2)


def test_a_second_network_of_all_nodes_is_no_island(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {data: {role: leaf}, admin: {role: leaf}}\nnodes: {"n[1-3]": {}}\nnetworks: {gige: {}}\n'
        'links: [{from: "n[1-3]", to: data, speed: 10G}, {from: "n[1-2]", to: admin, speed: 1G, network: gige}]\n'
    )
    described = fabric(tmp_path, text)
    assert "island" not in said(described)
    assert [nodes for nodes, _, _ in islands_of(described)] == [3, 2]


def test_devices_without_a_cable_and_switches_without_a_node(tmp_path: Path) -> None:
    text = HEAD + (
        "switches: {leaf: {role: leaf}, empty: {role: leaf}, spine: {role: spine}, spare: {role: spine}}\n"
        "nodes: {n: {}, lone: {}, vm: {host: n}}\n"
        'links: [{from: n, to: leaf, speed: 10G}, {from: "leaf,empty", to: spine, speed: 40G}, {from: empty, to: spare, speed: 40G}]\n'
    )
    described = fabric(tmp_path, text)
    assert said(described)["no-cable"] == "lone has no cable"
    assert said(described)["no-node-below"] == "empty,spare have no node below"


def leaves(links: str) -> str:
    return HEAD + (
        'switches: {"leaf[1-4]": {role: leaf}, "spine[1-2]": {role: spine}, border: {role: core}}\n'
        'nodes: {"n[1-4]": {}}\nlinks:\n  - {from: "n[1-4]", to: "leaf[1-4]", speed: 10G, wiring: one-to-one}\n' + links
    )


@pytest.mark.fault("F04")
def test_a_leaf_that_lacks_a_spine(tmp_path: Path) -> None:
    text = leaves('  - {from: "leaf[1-4]", to: spine1, speed: 40G}\n  - {from: "leaf[1-3]", to: spine2, speed: 40G}\n')
    described = fabric(tmp_path, text)
    assert said(described)["missing-trunk"] == "leaf4 is not cabled to spine2, 3 of its 3 peers are"


def test_a_border_leaf_is_no_pattern_and_pods_are_their_own(tmp_path: Path) -> None:
    text = leaves(
        '  - {from: "leaf[1-2]", to: spine1, speed: 40G}\n  - {from: "leaf[3-4]", to: spine2, speed: 40G}\n'
        '  - {from: leaf4, to: border, speed: 100G}\n  - {from: "spine[1-2]", to: border, speed: 100G}\n'
    )
    assert "missing-trunk" not in said(fabric(tmp_path, text))


def test_a_thin_trunk(tmp_path: Path) -> None:
    text = leaves(
        '  - {from: "leaf[1-3]", to: "spine[1-2]", speed: 40G, count: 2}\n'
        "  - {from: leaf4, to: spine1, speed: 40G, count: 2}\n  - {from: leaf4, to: spine2, speed: 40G}\n"
    )
    described = fabric(tmp_path, text)
    assert said(described)["thin-trunk"] == "leaf4 to spine2 carries 40.0 Gb/s, most of its like 80.0 Gb/s"


@pytest.mark.fault("F04")
def test_a_lag_of_members_that_differ(tmp_path: Path) -> None:
    text = leaves(
        '  - {from: "leaf[1-4]", to: spine1, speed: 40G, lag: po1, count: 2}\n'
        "  - {from: leaf1, to: spine1, speed: 10G, lag: po1}\n"
    )
    described = fabric(tmp_path, text)
    assert said(described)["mixed-lag"] == (
        "leaf1--spine1 is 90.0 Gb/s (40.0 Gb/s + 40.0 Gb/s + 10.0 Gb/s); "
        "a hash that gives each member the same fills it at 30.0 Gb/s"
    )


def test_two_nodes_on_one_cable(tmp_path: Path) -> None:
    text = HEAD + (
        "switches: {leaf: {role: leaf}}\nnodes: {a: {}, b: {}}\n"
        'links: [{from: "a,b", to: leaf, speed: 10G}, {from: a, to: b, speed: 10G}]\n'
    )
    described = fabric(tmp_path, text)
    assert said(described)["node-to-node"] == "a--b joins two nodes without a switch: no path of the fabric uses it"


def test_many_nodes_on_cables_of_their_own_are_one_sentence(tmp_path: Path) -> None:
    text = HEAD + 'nodes: {"a[1-3]": {}, "b[1-3]": {}}\nlinks: [{from: "a[1-3]", to: "b[1-3]", speed: 10G}]\n'
    assert said(fabric(tmp_path, text))["node-to-node"] == (
        "a1--b1 and 8 more join two nodes each without a switch: no path of the fabric uses them"
    )


def test_a_sound_fabric_has_nothing_to_say(tmp_path: Path) -> None:
    described = fabric(
        tmp_path,
        leaves('  - {from: "leaf[1-4]", to: "spine[1-2]", speed: 40G}\n').replace(", border: {role: core}", ""),
    )
    assert check_connectivity(make_tables(described)) == []


@given(st.integers(0, MAX_SEED))
@settings(max_examples=80, deadline=None)
def test_islands_of_wild_fabrics(seed: int) -> None:
    described = wild(seed, 15)
    islands = islands_of(described)
    inside = {
        name: {frozenset(network_of(described, switch)) for switch in switches_of(described, name)}
        for name in described.nodes
    }
    everywhere = (
        set.intersection(*(networks for networks in inside.values() if networks), set().union(*inside.values()))
        if any(inside.values())
        else set()
    )
    assert ("island" not in said(described)) == (bool(everywhere) or not any(inside.values()))
    assert len(islands) == len(set().union(*inside.values()))
    uncabled = {name for name in (*described.nodes, *described.switches) if not described.links_at[name]}
    alone = [each.where for each in check_connectivity(make_tables(described)) if each.code == "no-cable"]
    assert {name for text in alone for name in expand(text)} == {
        name
        for name in uncabled
        if name not in described.nodes or described.nodes[name].host is None  # type: ignore[index]
    }
