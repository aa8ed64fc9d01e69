"""Merged flows: the rates of groups are those of their flows, by the unmerged filling and by fractions over networkx."""

import random
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity import flow_groups
from benchconsole.topology.capacity.expect import expect, expect_merged
from benchconsole.topology.capacity.flow_groups import FlowSet, merge_flows
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import RoutingError, SelectionError
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from tests.fabrics import fabric
from tests.topology.fabrics import networks


def draw_sets(described: Fabric, chance: random.Random) -> list[FlowSet]:
    """One to three sets of flows between random nodes, of which some may be on both sides."""
    names = list(described.nodes)
    found = []
    for _ in range(chance.randint(1, 3)):
        sources = tuple(chance.sample(names, chance.randint(1, len(names))))
        in_order = chance.random() < 0.4
        size = len(sources) if in_order else chance.randint(1, len(names))
        found.append(FlowSet(sources, tuple(chance.sample(names, size)), in_order, chance.choice((1, 1, 3))))
    return found


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_groups_get_what_their_flows_get(described: Fabric, chance: random.Random) -> None:
    if chance.random() < 0.3:
        described = remove_elements(described, links=[chance.choice(list(described.links))])
    asked = draw_sets(described, chance)
    flows = [flow for each in asked for flow in each]
    assert len(flows) == sum(map(len, asked))
    try:
        merged = expect_merged(described, asked)
    except RoutingError:
        with pytest.raises(RoutingError):
            expect(described, flows)
        return
    assert sum(group.count for group in merged.merged.groups) == len(flows)
    found = list(merged)
    assert [flow for flow, _ in found] == flows
    for (_, rate), alone in zip(found, expect(described, flows), strict=True):
        assert rate.value == pytest.approx(alone.value, rel=1e-9)
        assert set(rate.limiting) == set(alone.limiting)
        assert (rate.model, rate.goodput) == (alone.model, alone.goodput)


@st.composite
def plain_fabrics(draw: st.DrawFn) -> Fabric:
    """Leaves below spines, with nodes of one leg each; legs, trunks and the nodes of a leaf differ."""
    leaves, spines = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    lines = [
        "schema: 1", "fabric: plain", f'switches: {{"l[1-{leaves}]": {{role: leaf}}, "s[1-{spines}]": {{role: spine}}}}'
    ]  # fmt: skip
    nodes, links = [], []
    for leaf in range(1, leaves + 1):
        links += [
            f"{{from: l{leaf}, to: s{spine}, speed: 10G, count: {draw(st.integers(1, 2))}}}"
            for spine in range(1, spines + 1)
        ]
        for number in range(1, draw(st.integers(1, 5)) + 1):
            nodes.append(f"n{leaf}-{number}")
            links.append(f"{{from: {nodes[-1]}, to: l{leaf}, speed: {draw(st.sampled_from(('10G', '25G')))}}}")
    lines += ["nodes: {" + ", ".join(f"{name}: {{}}" for name in nodes) + "}", "links:", *(f"  - {x}" for x in links)]
    return load_text("\n".join(lines) + "\n", "plain.yaml")


def divide(graph: nx.Graph, source: str, sink: str) -> dict[tuple[str, str], Fraction]:
    """The part of a flow on each directed link, where it divides evenly over all next hops of shortest paths."""
    distance = nx.single_source_shortest_path_length(graph, sink)
    part: dict[tuple[str, str], Fraction] = {}
    here = {source: Fraction(1)}
    while here.keys() != {sink}:
        there: dict[str, Fraction] = defaultdict(Fraction)
        for device, carried in here.items():
            hops = [other for other in graph[device] if distance[other] == distance[device] - 1]
            for hop in hops:
                part[device, hop] = carried / len(hops)
                there[hop] += carried / len(hops)
        here = there
    return part


def fill_by_fractions(
    capacity: Mapping[tuple[str, str], Fraction], parts: Sequence[Mapping[tuple[str, str], Fraction]]
) -> list[Fraction]:
    """All rates rise together; whoever meets a full link stops."""
    rate, rising, left = [Fraction(0)] * len(parts), set(range(len(parts))), dict(capacity)
    while rising:
        load: Counter[tuple[str, str]] = Counter()
        for flow in rising:
            load.update(parts[flow])
        step = min(left[link] / load[link] for link in load)
        for link in load:
            left[link] -= step * load[link]
        for flow in rising:
            rate[flow] += step
        rising = {flow for flow in rising if all(left[link] for link in parts[flow])}
    return rate


@given(plain_fabrics(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_groups_agree_with_fractions_over_the_paths_of_networkx(described: Fabric, chance: random.Random) -> None:
    asked = [each for each in draw_sets(described, chance) if len(each)]
    graph, capacity = nx.Graph(), {}
    for link in described.links.values():
        graph.add_edge(link.a, link.b)
        capacity[link.a, link.b] = capacity[link.b, link.a] = Fraction(link.speed) * link.count * Fraction(1448, 1538)
    flows = [flow for each in asked for flow in each]
    exact = fill_by_fractions(capacity, [divide(graph, flow.source, flow.sink) for flow in flows])
    found = [rate.value for _, rate in expect_merged(described, asked)]
    assert found == pytest.approx([float(rate) for rate in exact], rel=1e-9)


RACKS = """\
schema: 1
fabric: racks
switches: {"leaf[1-40]": {role: leaf}, "spine[1-4]": {role: spine}}
nodes: {"n[0001-1600]": {}, "st[1-4]": {role: storage}}
links:
  - {from: "st[1-4]", to: "spine[1-4]", speed: 100G}
  - {from: "leaf[1-40]", to: "spine[1-4]", speed: 100G}
"""


def racks() -> Fabric:
    legs = (f'  - {{from: "n[{40 * i + 1:04}-{40 * i + 40:04}]", to: leaf{i + 1}, speed: 25G}}\n' for i in range(40))
    return load_text(RACKS + "".join(legs), "racks.yaml")


def test_nodes_of_a_leaf_are_one_class() -> None:
    """1,600 nodes to four servers with four legs of 100G: each server has 400G for its 1,600 flows."""
    described = racks()
    nodes = tuple(node for node in described.nodes if node.startswith("n"))
    servers = tuple(node for node in described.nodes if node.startswith("st"))
    merged = expect_merged(described, [FlowSet(nodes, servers)])
    assert [group.count for group in merged.merged.groups] == [160] * 40
    assert {round(rate.value * 8 / 1e6) for rate in merged.rates} == {round(400e3 / 1600 * 1448 / 1538)}
    flow, rate = next(iter(merged))
    assert flow == Flow(nodes[0], servers[0])
    assert {each.link.partition("--")[0] for each in rate.limiting} == {"st1"}


def test_a_leg_that_lost_a_cable_or_a_switch_parts_its_node_from_the_others(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    nodes = tuple(NodeId(f"n{i}") for i in range(1, 9))
    slower = remove_elements(described, links=["leaf1--spine1"])
    for each in (described, slower):
        merged = expect_merged(each, [FlowSet(nodes[:4], nodes[4:])])
        flows = [flow for flow, _ in merged]
        assert len(merged.rates) == 1
        assert [rate.value for _, rate in merged] == pytest.approx([r.value for r in expect(each, flows)], rel=1e-9)


def test_pairs_in_order_part_nodes_by_their_partners() -> None:
    """n0001 sends within its leaf, the other nodes of the leaf into the next: a class each."""
    described = racks()
    nodes = [NodeId(f"n{i:04}") for i in range(1, 82)]
    asked = FlowSet((nodes[0], *nodes[1:4]), (nodes[4], *nodes[41:44]), in_order=True)
    merged = merge_flows(described, [asked])
    assert [(group.flow, group.count) for group in merged.groups] == [
        (Flow(nodes[0], nodes[4]), 1),
        (Flow(nodes[1], nodes[41]), 3),
    ]


def test_too_many_groups_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow_groups, "MOST_GROUPS", 39)
    described = racks()
    nodes = tuple(node for node in described.nodes if node.startswith("n"))
    with pytest.raises(SelectionError, match="more than 39 groups of flows that differ"):
        merge_flows(described, [FlowSet(nodes, (NodeId("st1"),))])


def test_flows_to_themselves_are_none() -> None:
    described = racks()
    alone = (NodeId("n0001"),)
    assert len(FlowSet(alone, alone)) == len(FlowSet(alone, alone, in_order=True)) == 0
    assert list(expect_merged(described, [FlowSet(alone, alone)])) == []


def test_the_limits_of_a_flow_are_its_own_legs() -> None:
    described = racks()
    pair = FlowSet((NodeId("n0001"), NodeId("n0002")), (NodeId("n0003"), NodeId("n0004")), in_order=True)
    merged = expect_merged(described, [pair])
    assert len(merged.rates) == 1
    assert [set(rate.limiting) for _, rate in merged] == [
        {
            Direction(described.links_at[flow.source][0].id, flow.source),
            Direction(described.links_at[flow.sink][0].id, "leaf1"),
        }
        for flow in pair
    ]


CHANNELS = """\
schema: 1
fabric: channels
switches: {a: {}, b: {}}
nodes: {"n[1-4]": {}, "m[1-4]": {}}
vlans: {1: {members: "n[1-2],m[1-2]"}, 2: {members: "n[3-4],m[3-4]"}}
links:
  - {from: "n[1-4]", to: a, speed: 10G}
  - {from: "m[1-4]", to: b, speed: 10G}
  - {from: a, to: b, speed: 100G, channels: {1: 10G, 2: 1G}}
"""


def test_nodes_of_different_vlans_are_no_class() -> None:
    asked = FlowSet(tuple(NodeId(f"n{i}") for i in range(1, 5)), tuple(NodeId(f"m{i}") for i in range(1, 5)), True)
    merged = expect_merged(load_text(CHANNELS, "channels.yaml"), [asked])
    rates = [rate.value * 8 / 1e9 / (1448 / 1538) for _, rate in merged]
    assert rates == pytest.approx([5.0, 5.0, 0.5, 0.5], rel=1e-9)
    assert len(merged.rates) == 2


TWO_NETWORKS = """\
schema: 1
fabric: two
networks: {ib: {type: infiniband, mtu: 2044}, mgmt: {type: ethernet}}
switches: {a: {}, b: {}, m: {}}
nodes: {"n[1-4]": {}, "t[1-2]": {}, x: {}}
links:
  - {from: "n[1-4]", to: a, speed: 100G, network: ib}
  - {from: "t[1-2]", to: b, speed: 100G, network: ib}
  - {from: a, to: b, speed: 100G, network: ib}
  - {from: "n[1-4],t[1-2],x", to: m, speed: 1G, network: mgmt}
"""


def test_flows_of_a_network_take_it_and_a_node_that_lost_its_leg_there_is_not_like_the_others() -> None:
    described = load_text(TWO_NETWORKS, "two.yaml")
    nodes, sinks = tuple(NodeId(f"n{i}") for i in range(1, 5)), (NodeId("t1"), NodeId("t2"))
    for network in ("", "ib", "mgmt"):
        merged = expect_merged(described, [FlowSet(nodes, sinks, network=network)])
        assert len(merged.rates) == 1
        flows = [Flow(a, b, network=network) for a in nodes for b in sinks]
        assert [rate.value for _, rate in merged] == pytest.approx(
            [rate.value for rate in expect(described, flows)], rel=1e-9
        )
    lost = remove_elements(described, links=["n4--a"])
    with pytest.raises(RoutingError, match="n4"):
        expect_merged(lost, [FlowSet(nodes, sinks)])


BEHIND = """\
schema: 1
fabric: behind
switches: {a: {}, b: {}}
nodes: {"n[1-4]": {}, "t[1-3]": {}, gw: {role: gateway, forwards: true}}
links:
  - {from: n1, to: a, speed: 10G, lag: po1}
  - {from: n1, to: b, speed: 10G}
  - {from: "n[2-4]", to: b, speed: 10G}
  - {from: "n[2-4]", to: a, speed: 10G, lag: po2}
  - {from: gw, to: a, speed: 25G}
  - {from: "t[1-3]", to: gw, speed: 40G}
"""


def test_legs_in_another_order_and_names_of_lags_part_no_nodes_nor_do_cables_to_a_node_that_forwards() -> None:
    described = load_text(BEHIND, "behind.yaml")
    nodes, sinks = tuple(NodeId(f"n{i}") for i in range(1, 5)), tuple(NodeId(f"t{i}") for i in range(1, 4))
    asked = [FlowSet(nodes, sinks), FlowSet(sinks, nodes)]
    merged = expect_merged(described, asked)
    assert [group.count for group in merged.merged.groups] == [12, 12]
    alone = expect(described, [flow for each in asked for flow in each])
    for (_, rate), other in zip(merged, alone, strict=True):
        assert rate.value == pytest.approx(other.value, rel=1e-9)
        assert set(rate.limiting) == set(other.limiting)
