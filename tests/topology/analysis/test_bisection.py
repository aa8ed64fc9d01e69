import random
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.bisection import analyse_bisection, find_cut, list_findings
from benchconsole.topology.analysis.redundancy import analyse_redundancy
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId, SwitchId
from benchconsole.topology.tables.fabric_tables import make_tables
from tests.fabrics import fabric
from tests.topology.fabrics import networks
from tests.topology.slowly import usable
from tests.topology.wild import MAX_SEED, wild

K = TypeVar("K")
V = TypeVar("V")
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
        "the halves a[1-4],b[1-4] and c[1-4],d[1-4] can exchange at most 40.0 Gb/s in each direction: "
        "4 cables leaf to spine; no halves have less"
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


def test_nodes_that_are_cabled_alike_have_halves(tmp_path: Path) -> None:
    text = (
        HEAD
        + 'switches: {"leaf[1-2]": {role: leaf}}\nnodes: {"n[1-4]": {}}\nlinks: [{from: "n[1-4]", to: "leaf[1-2]", speed: 10G}]\n'
    )
    report = analyse_bisection(make_tables(fabric(tmp_path, text)))
    assert report.halves is not None
    assert (report.halves.bound / GIGABIT, report.halves.near, report.halves.far, report.halves.exact) == (
        40,
        2,
        2,
        True,
    )
    alone = fabric(tmp_path, text.replace("n[1-4]", "n1"))
    assert next(list_findings(analyse_bisection(make_tables(alone)))).code == "no-bisection"


STAR = HEAD + (
    'switches: {"leaf[1-4]": {role: leaf}, spine: {role: spine}}\n'
    'nodes: {"a[1-4]": {}, "b[1-4]": {}, "c[1-4]": {}, "d[1-4]": {}}\nlinks:\n'
    '  - {from: "a[1-4]", to: leaf1, speed: 25G}\n  - {from: "b[1-4]", to: leaf2, speed: 25G}\n'
    '  - {from: "c[1-4]", to: leaf3, speed: 25G}\n  - {from: "d[1-4]", to: leaf4, speed: 25G}\n'
    '  - {from: "leaf1,leaf3", to: spine, speed: 10G}\n  - {from: "leaf2,leaf4", to: spine, speed: 100G}\n'
)


def test_the_thin_leaves_are_one_half_whatever_the_order_of_the_file(tmp_path: Path) -> None:
    for order in ("leaf[1-4]", "leaf1,leaf3,leaf2,leaf4", "leaf4,leaf2,leaf1,leaf3"):
        report = analyse_bisection(make_tables(fabric(tmp_path, STAR.replace('"leaf[1-4]"', f'"{order}"'))))
        assert report.halves is not None
        assert (report.halves.bound / GIGABIT, report.halves.exact) == (20, True)
        assert [sorted(side) for side in report.halves.sides] == [
            sorted(f"{leaf}{node}" for leaf in leaves for node in range(1, 5)) for leaves in ("ac", "bd")
        ]


def test_capacities_of_any_common_unit_have_a_bisection(tmp_path: Path) -> None:
    text = HEAD + (
        "switches: {a: {role: leaf}, b: {role: leaf}}\nnodes: {m: {}, n: {}}\n"
        "links: [{from: m, to: a, speed: 0.3333333333333 Gb/s}, {from: n, to: b, speed: 10G}, {from: a, to: b, speed: 1.7 Gb/s}]\n"
    )
    report = analyse_bisection(make_tables(fabric(tmp_path, text)))
    assert report.refused == ""
    assert report.halves is not None
    assert report.halves.bound == pytest.approx(0.3333333333333e9 / 8, rel=1e-12)


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


def brute_force(described: Fabric) -> float:
    """The least maximum flow between any two halves of the machines, every pair of halves tried."""
    machines: list[str] = [
        node.id for node in described.nodes.values()
        if node.host is None and any(link.other(node.id) in described.switches for link in described.links_at[node.id])
    ]  # fmt: skip
    size = len(machines) // 2
    halves = [list(some) for some in combinations(machines, size)]
    return min(flow(described, near, [name for name in machines if name not in near]) for near in halves)


@given(st.integers(0, MAX_SEED))
@settings(max_examples=40, deadline=None)
def test_no_halves_have_less_than_the_exact_ones(seed: int) -> None:
    described = wild(seed, 7)
    report = analyse_bisection(make_tables(described))
    if report.halves is not None and report.halves.exact:
        assert report.halves.bound == pytest.approx(brute_force(described))
        near, far = map(list, report.halves.sides)
        assert abs(len(near) - len(far)) <= 1
        assert report.halves.bound == pytest.approx(flow(described, near, far))


def shuffle(described: Fabric, chance: random.Random) -> Fabric:
    """The same fabric, written in another order."""

    def mix(known: Mapping[K, V]) -> Mapping[K, V]:
        items = list(known.items())
        chance.shuffle(items)
        return MappingProxyType(dict(items))

    return replace(described, nodes=mix(described.nodes), switches=mix(described.switches), links=mix(described.links))


def rename(described: Fabric, chance: random.Random) -> Fabric:
    """The same fabric with other names of devices."""
    devices = [*described.nodes, *described.switches]
    fresh = [f"x{number}" for number in range(len(devices))]
    chance.shuffle(fresh)
    name = dict(zip(devices, fresh, strict=True))
    links = {}
    for link in described.links.values():
        number = LinkId(f"{name[link.a]}--{name[link.b]}")
        links[link.id] = replace(link, id=number, a=name[link.a], b=name[link.b])
    return replace(
        described,
        nodes=MappingProxyType({
            NodeId(name[node.id]): replace(node, id=NodeId(name[node.id]), host=NodeId(name[node.host]) if node.host else None)
            for node in described.nodes.values()
        }),
        switches=MappingProxyType({
            SwitchId(name[switch.id]): replace(switch, id=SwitchId(name[switch.id])) for switch in described.switches.values()
        }),
        links=MappingProxyType({link.id: link for link in links.values()}),
        mlags=tuple(
            replace(pair, switches=(SwitchId(name[pair.switches[0]]), SwitchId(name[pair.switches[1]])), peer=tuple(links[each].id for each in pair.peer))
            for pair in described.mlags
        ),
        groups=(), storage=MappingProxyType({}), vlans=MappingProxyType({}),
    )  # fmt: skip


def answers(described: Fabric) -> tuple[object, ...]:
    """The results on halves and losses, without names."""
    tables = make_tables(described)
    halves = analyse_bisection(tables).halves
    losses = analyse_redundancy(tables)
    return (
        None if halves is None else (float(f"{halves.bound:.9g}"), halves.exact),
        sorted(
            (loss.kind, loss.effect.cut, repr(loss.flows), repr(loss.redundant))
            for loss in losses
            for _ in loss.elements
        ),
    )


@given(st.integers(0, MAX_SEED), st.randoms(use_true_random=False))
@settings(max_examples=12, deadline=None)
def test_neither_the_order_of_the_file_nor_its_names_change_an_answer(seed: int, chance: random.Random) -> None:
    drawn = wild(seed, 8)
    # Of legs that all stand by, the first of the file is in use: there the order has a meaning.
    links = {name: replace(link, standby=False) for name, link in drawn.links.items()}
    described = replace(
        drawn, links=MappingProxyType(links), groups=(), storage=MappingProxyType({}), vlans=MappingProxyType({})
    )
    told = answers(described)
    assert answers(shuffle(described, chance)) == told
    assert answers(rename(described, chance)) == told


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_order_and_names_of_leaves_and_spines(described: Fabric, chance: random.Random) -> None:
    if described.vlans:
        return
    told = answers(described)
    assert answers(shuffle(described, chance)) == told
    assert answers(rename(described, chance)) == told


def torus(side: int) -> str:
    lines = [
        HEAD,
        f'switches: {{"r[0-{side - 1}]-[0-{side - 1}]": {{role: leaf}}}}\nnodes: {{"n[0-{side - 1}]-[0-{side - 1}]": {{}}}}\nlinks:\n',
    ]
    for one in range(side):
        for other in range(side):
            lines.append(f"  - {{from: n{one}-{other}, to: r{one}-{other}, speed: 100G}}\n")
            lines.append(f"  - {{from: r{one}-{other}, to: r{(one + 1) % side}-{other}, speed: 10G}}\n")
            lines.append(f"  - {{from: r{one}-{other}, to: r{one}-{(other + 1) % side}, speed: 10G}}\n")
    return "".join(lines)


def test_a_torus_is_halved_across(tmp_path: Path) -> None:
    """Of 6 x 6 the sides are searched, not all tried: twelve cables in a ring of six rows."""
    described = fabric(tmp_path, torus(6))
    for each in (described, shuffle(described, random.Random(1)), rename(described, random.Random(2))):
        halves = analyse_bisection(make_tables(each)).halves
        assert halves is not None
        assert (halves.bound / GIGABIT, halves.exact) == (120, False)
