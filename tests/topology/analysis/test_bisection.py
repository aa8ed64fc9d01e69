from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.bisection import analyse_bisection, find_cut, list_findings
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric
from tests.topology.fabrics import networks
from tests.topology.slowly import usable
from tests.topology.wild import MAX_SEED, wild

GIGABIT = 1.25e8
HEAD = "schema: 1\nfabric: x\n"

LEAVES = (
    HEAD
    + """\
switches: {"leaf[1-4]": {role: leaf}, "spine[1-2]": {role: spine}, border: {role: core}}
nodes: {"a[1-4]": {}, "b[1-4]": {}, "c[1-4]": {}, "d[1-4]": {}, vm: {host: a1}, lone: {}}
links:
  - {from: "a[1-4]", to: leaf1, speed: 10 Gb/s}
  - {from: "b[1-4]", to: leaf2, speed: 10 Gb/s}
  - {from: "c[1-4]", to: leaf3, speed: 10 Gb/s}
  - {from: "d[1-4]", to: leaf4, speed: 10 Gb/s}
  - {from: "leaf[1-4]", to: "spine[1-2]", speed: 10 Gb/s}
  - {from: "spine[1-2]", to: border, speed: 100 Gb/s}
"""
)


def test_halves_by_leaf_and_the_tiers(tmp_path: Path) -> None:
    described = fabric(tmp_path, LEAVES)
    report = analyse_bisection(make_tables(described))
    assert report.halves is not None
    assert (report.halves.near, report.halves.far, report.halves.bound / GIGABIT) == (9, 8, 40)
    assert [(each.low, each.high, each.cables, each.capacity / GIGABIT) for each in report.halves.where] == [
        ("leaf", "spine", 4, 40)
    ]
    # Above the spines there is only the way out.
    assert [(each.below, each.up / GIGABIT, each.bound / GIGABIT) for each in report.tiers] == [
        ("node", 160, 80), ("leaf", 80, 40)
    ]  # fmt: skip
    assert next(list_findings(report)).text == (
        "9 nodes and 8 nodes (by switches) can exchange at most 40.0 Gb/s in each direction: 4 cables leaf to spine"
    )


def test_named_sides(tmp_path: Path) -> None:
    described = fabric(tmp_path, LEAVES)
    assert find_cut(make_tables(described), ["leaf1"], ["leaf2", "leaf3", "leaf4"]).bound / GIGABIT == 20
    assert find_cut(make_tables(described), ["a1", "a2", "a3"], ["b1"]).bound / GIGABIT == 10
    assert find_cut(make_tables(described), ["a1", "a2", "a3"], ["b1", "b2", "b3"]).bound / GIGABIT == 20
    assert find_cut(make_tables(described), ["spine1"], ["border"]).bound / GIGABIT == 100 + 40
    found = find_cut(make_tables(described), ["vm"], ["b1"])
    assert (found.bound / GIGABIT, found.near, found.far) == (10, 2, 1)


def test_nodes_do_not_carry_for_others(tmp_path: Path) -> None:
    text = HEAD + (
        "switches: {one: {role: leaf}, two: {role: leaf}}\nnodes: {a: {}, b: {}, both: {forwards: FORWARDS, role: gateway}}\n"
        'links: [{from: "a,both", to: one, speed: 10G}, {from: "b,both", to: two, speed: 10G, lag: x}]\n'
    )
    assert find_cut(make_tables(fabric(tmp_path, text.replace("FORWARDS", "false"))), ["a"], ["b"]).bound == 0
    assert find_cut(make_tables(fabric(tmp_path, text.replace("FORWARDS", "true"))), ["a"], ["b"]).bound / GIGABIT == 10


@pytest.mark.parametrize(
    ("near", "far", "says"),
    [
        (["leaf1"], ["leaf9"], "leaf9"),
        (["leaf1", "leaf2"], ["leaf2"], "leaf2"),
        ([], ["leaf1"], "empty"),
        (["leaf1"], [], "empty"),
        (["lone"], ["leaf1"], "no cable"),
        (["vm"], ["a1"], "both sides"),
    ],
)
def test_sides_that_are_none(near: list[str], far: list[str], says: str, tmp_path: Path) -> None:
    with pytest.raises(SelectionError, match=says):
        find_cut(make_tables(fabric(tmp_path, LEAVES)), near, far)


def test_one_place_has_no_halves(tmp_path: Path) -> None:
    text = (
        HEAD
        + 'switches: {leaf: {role: leaf}}\nnodes: {"n[1-4]": {}}\nlinks: [{from: "n[1-4]", to: leaf, speed: 10G}]\n'
    )
    described = fabric(tmp_path, text)
    report = analyse_bisection(make_tables(described))
    assert report.halves is None
    assert next(list_findings(report)).code == "no-bisection"


def test_capacities_that_have_no_common_unit_are_refused_in_words(tmp_path: Path) -> None:
    text = HEAD + (
        "switches: {a: {role: leaf}, b: {role: leaf}}\nnodes: {m: {}, n: {}}\n"
        "links: [{from: m, to: a, speed: 0.3333333333333 Gb/s}, {from: n, to: b, speed: 10G}, {from: a, to: b, speed: 1.7 Gb/s}]\n"
    )
    report = analyse_bisection(make_tables(fabric(tmp_path, text)))
    assert report.halves is None
    assert "units" in report.refused


def flow(described: Fabric, near: list[str], far: list[str]) -> float:
    """The maximum flow by networkx, every device a vertex of its own."""
    graph = nx.DiGraph()
    graph.add_nodes_from(["source", "sink"])
    capacity = usable(described)
    for link in described.links.values():
        for one, other in ((link.a, link.b), (link.b, link.a)):
            carries = [
                end in described.switches or described.nodes[end].forwards or end in (*near, *far)  # type: ignore[index]
                for end in (one, other)
            ]
            both = one in described.nodes and other in described.nodes
            if all(carries) and not both:
                # A node of a side only sends, or only receives.
                if other in near and other in described.nodes and not described.nodes[other].forwards:  # type: ignore[index]
                    continue
                if one in far and one in described.nodes and not described.nodes[one].forwards:  # type: ignore[index]
                    continue
                graph.add_edge(one, other, capacity=capacity[link.id])
    for name in near:
        graph.add_edge("source", name)
    for name in far:
        graph.add_edge(name, "sink")
    return float(nx.maximum_flow_value(graph, "source", "sink"))


@given(st.integers(0, MAX_SEED), st.data())
@settings(max_examples=60, deadline=None)
def test_cuts_are_flows(seed: int, data: st.DataObject) -> None:
    described = wild(seed, 12)
    cabled = [
        name for name in (*described.nodes, *described.switches)
        if name in described.switches or any(link.other(name) in described.switches for link in described.links_at[name])
    ]  # fmt: skip
    if len(cabled) < 2:
        return
    near = data.draw(st.lists(st.sampled_from(cabled), min_size=1, max_size=4, unique=True))
    rest = [name for name in cabled if name not in near]
    if not rest:
        return
    far = data.draw(st.lists(st.sampled_from(rest), min_size=1, max_size=4, unique=True))
    found = find_cut(make_tables(described), near, far)
    assert found.bound == pytest.approx(flow(described, near, far))
    assert sum(each.capacity for each in found.where) == pytest.approx(found.bound)


@given(networks())
@settings(max_examples=20, deadline=None)
def test_no_halves_pass_the_bound_of_a_tier(described: Fabric) -> None:
    report = analyse_bisection(make_tables(described))
    if report.halves is not None:
        assert report.halves.bound <= min(each.up for each in report.tiers) + 1
