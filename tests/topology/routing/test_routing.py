"""Paths: what divides where, over pairs, legs, gateways and channels, and what is refused in words."""

import re
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, LinkId, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import are_connected, fabric
from tests.topology.fabrics import networks, pairs_of

PAIR = """\
schema: 1
fabric: pair
switches:
  top: {role: spine}
  m[1-2]: {role: chassis}
  leaf: {role: leaf}
mlag: {vlt: {switches: "m[1-2]"}}
nodes: {"n[1-2]": {}, far: {}, one: {}}
links:
  - {from: "n[1-2]", to: "m[1-2]", speed: 10G, bond: lacp}
  - {from: one, to: m1, speed: 10G}
  - {from: m1, to: m2, speed: 40G, count: 2, lag: peer}
  - {from: m1, to: leaf, speed: 40G, count: 2}
  - {from: m2, to: leaf, speed: 40G}
  - {from: leaf, to: top, speed: 100G}
  - {from: far, to: top, speed: 100G}
"""


def flow(source: str, sink: str, **more: object) -> Flow:
    return Flow(NodeId(source), NodeId(sink), **more)  # type: ignore[arg-type]


def shown(described: Fabric, each: Flow) -> dict[str, float]:
    """Shares as ``a>b`` to the part."""
    found = Routes(described).shares_of(each)
    return {f"{way.source}>{described.links[way.link].other(way.source)}": share for way, share in found.items()}


def test_a_bond_to_a_pair_leaves_by_own_links_and_comes_back_over_all_its_cables(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR)
    up = {"n1>m1": 1 / 2, "n1>m2": 1 / 2, "m1>leaf": 1 / 2, "m2>leaf": 1 / 2, "leaf>top": 1, "top>far": 1}
    assert shown(described, flow("n1", "far")) == pytest.approx(up)
    down = {"far>top": 1, "top>leaf": 1, "leaf>m1": 2 / 3, "leaf>m2": 1 / 3, "m1>n1": 2 / 3, "m2>n1": 1 / 3}
    assert shown(described, flow("far", "n1")) == pytest.approx(down)
    assert shown(described, flow("n1", "n2")) == pytest.approx(
        {"n1>m1": 1 / 2, "n1>m2": 1 / 2, "m1>n2": 1 / 2, "m2>n2": 1 / 2}
    )


def test_what_has_no_way_on_crosses_the_peer_link(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR)
    orphan = {"far>top": 1, "top>leaf": 1, "leaf>m1": 2 / 3, "leaf>m2": 1 / 3, "m2>m1": 1 / 3, "m1>one": 1}
    assert shown(described, flow("far", "one")) == pytest.approx(orphan)
    cut = remove_elements(described, links=["m1--leaf"])
    assert shown(cut, flow("n1", "far")) == pytest.approx(
        {"n1>m1": 1 / 2, "n1>m2": 1 / 2, "m1>m2": 1 / 2, "m2>leaf": 1, "leaf>top": 1, "top>far": 1}
    )


def test_a_missing_peer_link_is_named(tmp_path: Path) -> None:
    bare = fabric(tmp_path, PAIR.replace("  - {from: m1, to: m2, speed: 40G, count: 2, lag: peer}\n", ""))
    with pytest.raises(RoutingError, match=r"m2 can go on over m1 only \(pair vlt\), and no peer link"):
        Routes(bare).shares("far", "one")
    assert are_connected(Routes(bare), "far", "n1")


def test_distances_count_a_pair_as_one(tmp_path: Path) -> None:
    assert Routes(fabric(tmp_path, PAIR)).hops_to("top") == {"top": 0, "m1": 2, "m2": 2, "leaf": 1}


def test_a_switch_is_no_way_from_itself_nor_from_its_pair(tmp_path: Path) -> None:
    routes = Routes(fabric(tmp_path, PAIR))
    assert dict(routes.between("leaf", "leaf")) == dict(routes.between("m1", "m2")) == {}
    assert sum(routes.between("top", "m1").values()) >= 1


def test_pinned_legs(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR)
    first = flow("n1", "far", leg=LinkId("n1--m2"))
    assert shown(described, first) == pytest.approx({"n1>m2": 1, "m2>leaf": 1, "leaf>top": 1, "top>far": 1})
    last = flow("far", "n1", last_leg=LinkId("n1--m2"))
    assert shown(described, last) == pytest.approx({"far>top": 1, "top>leaf": 1, "leaf>m2": 1, "m2>n1": 1})
    inside = flow("n1", "n2", last_leg=LinkId("n2--m2"))
    assert shown(described, inside) == pytest.approx({"n1>m2": 1, "m2>n2": 1})
    with pytest.raises(RoutingError, match="n1 cannot take one--m1: it is no leg of n1"):
        Routes(described).shares_of(flow("n1", "far", leg=LinkId("one--m1")))


TWO_CORES = """\
schema: 1
fabric: cores
switches: {"core[1-2]": {role: core}, "m[1-2]": {role: leaf}, edge: {role: core}}
mlag: {vlt: {switches: "m[1-2]"}}
nodes: {"n[1-2]": {}, far: {}, one: {}}
links:
  - {from: "n[1-2]", to: "m[1-2]", speed: 10G, bond: lacp}
  - {from: one, to: m1, speed: 10G}
  - {from: m1, to: m2, speed: 40G}
  - {from: "m[1-2]", to: "core[1-2]", speed: 40G}
  - {from: "core[1-2]", to: edge, speed: 100G}
  - {from: far, to: edge, speed: 100G}
"""


def test_what_is_pinned_changes_nothing_for_the_next_flow(tmp_path: Path) -> None:
    """Everything that is kept for later flows is asked for with pins first, and without them then."""
    described = fabric(tmp_path, TWO_CORES)
    routes = Routes(described)
    up = routes.graph.way(described.links[LinkId("m1--core1")], "m1")
    via = frozenset({up, up ^ 1, routes.graph.way(described.links[LinkId("m2--core2")], "m2")})
    free = [flow("far", "one"), flow("far", "n1"), flow("n1", "far"), flow("one", "far")]
    for each in (flow("far", "n1", last_leg=LinkId("n1--m1")), flow("n1", "far", leg=LinkId("n1--m1"))):
        routes.shares_of(each)
    assert len(routes.route(free[2], via).ways) == 7 < len(routes.route(free[2]).ways)
    for each in free:
        routes.route(each, via)
    for each in free:
        assert routes.shares_of(each) == Routes(described).shares_of(each)


def test_next_hops_share_evenly_whatever_their_cables(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: uneven
switches: {"leaf[1-2]": {role: leaf}, "s[1-2]": {role: spine}, "p[1-2]": {role: spine}}
mlag: {both: {switches: "p[1-2]"}}
nodes: {a: {}, b: {}}
links:
  - {from: a, to: leaf1, speed: 10G}
  - {from: b, to: leaf2, speed: 10G}
  - {from: "leaf[1-2]", to: s1, speed: 10G, count: 4}
  - {from: "leaf[1-2]", to: s2, speed: 10G}
  - {from: "leaf[1-2]", to: p1, speed: 10G, count: 3}
  - {from: "leaf[1-2]", to: p2, speed: 10G}
"""
    found = shown(fabric(tmp_path, text), flow("a", "b"))
    assert [found[f"leaf1>{each}"] for each in ("s1", "s2", "p1", "p2")] == pytest.approx([1 / 3, 1 / 3, 1 / 4, 1 / 12])
    assert found["p1>leaf2"] == pytest.approx(1 / 4)


DUAL = """\
schema: 1
fabric: dual
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}}
nodes: {a: {}, b: {}, c: {}}
links:
  - {from: "a,b", to: "leaf[1-2]", speed: 10G%s}
  - {from: c, to: leaf2, speed: 10G}
  - {from: "leaf[1-2]", to: spine, speed: 10G}
"""


def test_legs_to_switches_that_are_no_pair_are_used_where_the_partner_is_nearest(tmp_path: Path) -> None:
    described = fabric(tmp_path, DUAL % "")
    assert shown(described, flow("a", "c")) == {"a>leaf2": 1, "leaf2>c": 1}
    even = {"a>leaf1": 1 / 2, "leaf1>b": 1 / 2, "a>leaf2": 1 / 2, "leaf2>b": 1 / 2}
    assert shown(described, flow("a", "b")) == even


def test_standby_legs_carry_nothing_until_they_are_the_last(tmp_path: Path) -> None:
    described = fabric(tmp_path, DUAL % ", bond: active-backup")
    assert shown(described, flow("a", "b")) == {"a>leaf1": 1, "leaf1>b": 1}
    with pytest.raises(RoutingError, match="a--leaf2: it stands by while another leg"):
        Routes(described).shares_of(flow("a", "b", leg=LinkId("a--leaf2")))
    failed = remove_elements(described, links=["a--leaf1"])
    assert shown(failed, flow("a", "c")) == {"a>leaf2": 1, "leaf2>c": 1}


GATEWAYS = """\
schema: 1
fabric: gateways
networks: {elan: {goodput: 90 %}}
switches: {"e[1-2]": {role: leaf}, etop: {role: spine}, "g[1-2]": {role: leaf}, gtop: {role: spine}}
nodes:
  c[1-4]: {}
  s[1-2]: {role: storage}
  gw[1-2]: {role: gateway, forwards: true}
  dumb: {}
links:
  - {from: "c[1-2]", to: e1, speed: 10G, network: elan}
  - {from: "c[3-4]", to: e2, speed: 10G, network: elan}
  - {from: "e[1-2]", to: etop, speed: 40G, network: elan}
  - {from: "gw1,dumb", to: "e[1-2]", speed: 10G, network: elan}
  - {from: gw2, to: e2, speed: 10G, network: elan}
  - {from: "gw[1-2],dumb", to: "g[1-2]", speed: 10G}
  - {from: s1, to: g1, speed: 10G}
  - {from: s2, to: g2, speed: 10G}
  - {from: "g[1-2]", to: gtop, speed: 40G}
"""


def test_only_nodes_that_forward_join_networks(tmp_path: Path) -> None:
    described = fabric(tmp_path, GATEWAYS)
    near = {"c1>e1": 1, "e1>gw1": 1, "gw1>g1": 1, "g1>s1": 1}
    assert shown(described, flow("c1", "s1")) == near
    both = shown(described, flow("c3", "s1"))
    assert both["e2>gw1"] == both["e2>gw2"] == both["gw2>g1"] == 1 / 2
    assert "e2>dumb" not in both
    cut = remove_elements(described, nodes=["gw1", "gw2"])
    assert not are_connected(Routes(cut), "c1", "s1")


def test_a_gateway_carries_nothing_that_switches_can(tmp_path: Path) -> None:
    found = shown(fabric(tmp_path, GATEWAYS), flow("c1", "c3"))
    assert found == {"c1>e1": 1, "e1>etop": 1, "etop>e2": 1, "e2>c3": 1}


def test_a_standby_leg_of_a_gateway_leads_nowhere_until_its_bond_has_no_other(tmp_path: Path) -> None:
    bonded = 'gw2, to: "e[1-2]", speed: 10G, bond: active-backup'
    described = fabric(tmp_path, GATEWAYS.replace("gw2, to: e2, speed: 10G", bonded))
    assert shown(described, flow("c3", "s1")) == {"c3>e2": 1, "e2>gw1": 1, "gw1>g1": 1, "g1>s1": 1}
    failed = remove_elements(described, links=["gw2--e1"])
    assert shown(failed, flow("c3", "s1"))["e2>gw2"] == 1 / 2


def test_a_gateway_as_an_end_sends_by_the_near_network_and_never_through_itself(tmp_path: Path) -> None:
    described = fabric(tmp_path, GATEWAYS)
    assert shown(described, flow("gw2", "s1")) == {"gw2>g1": 1, "g1>s1": 1}
    only = Routes(remove_elements(described, nodes=["gw1"]))
    with pytest.raises(RoutingError, match="no path from gw2 to s1 but through gw2 itself"):
        only.shares_of(flow("gw2", "s1", leg=LinkId("gw2--e2")))


def test_what_leaves_no_machine_is_refused(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: cloud
switches: {leaf: {role: leaf}}
nodes: {"n[1-2]": {}, "vm[1-4]": {host: "n[1-2]"}, lone: {}}
links: [{from: "n[1-2]", to: leaf, speed: 10G}]
"""
    described = fabric(tmp_path, text)
    assert shown(described, flow("vm1", "vm3")) == {"n1>leaf": 1, "leaf>n2": 1}
    for one, other, words in (
        ("vm1", "vm2", "vm1 and vm2 are on one machine, n1: there is no link between them"),
        ("vm1", "n1", "vm1 and n1 are on one machine, n1"),
        ("n1", "n1", "a flow from n1 to itself"),
        ("lone", "n1", "lone is not cabled to anything"),
    ):
        with pytest.raises(RoutingError, match=re.escape(words)):
            Routes(described).shares(one, other)


def test_a_cable_between_two_nodes_counts_where_one_of_them_forwards(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: direct
switches: {leaf: {role: leaf}}
nodes: {a: {}, b: {}, gw: {forwards: true}, c: {}}
links: [{from: a, to: b, speed: 10G}, {from: a, to: gw, speed: 10G}, {from: gw, to: leaf, speed: 10G}, {from: c, to: leaf, speed: 10G}]
"""
    described = fabric(tmp_path, text)
    assert shown(described, flow("a", "gw")) == {"a>gw": 1}
    assert shown(described, flow("c", "a")) == {"c>leaf": 1, "leaf>gw": 1, "gw>a": 1}
    with pytest.raises(RoutingError, match="a and b are cabled to each other without a switch"):
        Routes(described).shares("a", "b")


def test_the_data_network_comes_first(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: two
networks: {admin: {mtu: 1500}}
switches: {"leaf[1-2]": {role: leaf}, spine: {role: spine}, desk: {role: leaf}}
nodes: {a: {}, b: {}, old: {}}
links:
  - {from: a, to: leaf1, speed: 10G}
  - {from: b, to: leaf2, speed: 10G}
  - {from: "leaf[1-2]", to: spine, speed: 10G}
  - {from: "a,b,old", to: desk, speed: 1G, network: admin}
"""
    described = fabric(tmp_path, text)
    assert shown(described, flow("a", "b")) == {"a>leaf1": 1, "leaf1>spine": 1, "spine>leaf2": 1, "leaf2>b": 1}
    assert shown(described, flow("a", "old")) == {"a>desk": 1, "desk>old": 1}
    assert shown(described, flow("a", "b", leg=LinkId("a--desk"))) == {"a>desk": 1, "desk>b": 1}


def test_a_flow_in_a_vlan_needs_both_ends_in_it(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: vlans
switches: {west: {role: core}, east: {role: core}}
nodes: {"w[1-3]": {}, "e[1-3]": {}}
vlans: {265: {members: "w[1-2],e[1-2]"}, 300: {members: "w[2-3],e[2-3]"}}
links:
  - {from: "w[1-3]", to: west, speed: 10G}
  - {from: "e[1-3]", to: east, speed: 10G}
  - {from: west, to: east, speed: 100G, channels: {265: 50G, 266: 50G}}
"""
    routes = Routes(fabric(tmp_path, text))
    assert are_connected(routes, "w1", "e1")
    assert routes.attachments.vlan(flow("w2", "e2")) == 265
    assert routes.attachments.vlan(flow("w1", "e3")) is None
    with pytest.raises(RoutingError, match="w1 is not in VLAN 300 of the flow from w1 to e2"):
        routes.shares_of(flow("w1", "e2", vlan=300))
    with pytest.raises(RoutingError, match="from w3 to e3 is in VLAN 300, for which west--east has no channel"):
        routes.shares("w3", "e3")


def test_a_flow_between_two_vlans_takes_the_channels_of_both(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: vlans
switches: {west: {role: core}, east: {role: core}}
nodes: {"w[1-3]": {}, "e[1-3]": {}}
vlans: {265: {members: "w1,e1"}, 300: {members: "w2,e2"}, 301: {members: e3}}
links:
  - {from: "w[1-3]", to: west, speed: 10G}
  - {from: "e[1-3]", to: east, speed: 10G}
  - {from: west, to: east, speed: 100G, channels: {265: 50G, 266: 30G, 300: 20G}}
"""
    described = fabric(tmp_path, text)
    attachments = Routes(described).attachments
    (line,) = (link for link in described.links.values() if link.channels)

    def channels(source: str, sink: str) -> list[int]:
        return [each.vlan for each in attachments.channels(flow(source, sink), line)]

    assert channels("w1", "e1") == [265]
    assert channels("w1", "e2") == channels("w2", "e1") == [265, 300]
    assert channels("w1", "e3") == [265]
    assert channels("w3", "e1") == [265, 266, 300]  # w3 is in no VLAN: nothing is known


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_nothing_is_lost_on_the_way(described: Fabric, chance: object) -> None:
    routes = Routes(described)
    for source, sink in pairs_of(described, chance, 6):
        held: dict[str, float] = defaultdict(float)
        for way, share in routes.shares(source, sink).items():
            held[way.source] -= share
            held[described.links[way.link].other(way.source)] += share
            assert 0 < share <= 1 + 1e-12
        expected: dict[str, float] = {source: -1.0, sink: 1.0}
        assert {device: held[device] for device in held} == pytest.approx(
            {device: expected.get(device, 0.0) for device in held}
        )


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_nodes_cabled_alike_take_the_same_way(described: Fabric, chance: object) -> None:
    cold = [Routes(described).shares(*pair) for pair in pairs_of(described, chance, 3)]
    warm = Routes(described)
    for source in described.nodes:
        for sink in described.nodes:
            if source != sink:
                warm.shares(source, sink)
    for shares in cold:
        first = next(iter(shares))
        last = next(way for way in shares if described.links[way.link].other(way.source) in described.nodes)
        assert warm.shares(first.source, described.links[last.link].other(last.source)) == shares


def test_directions_go_both_ways(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    graph = Routes(described).graph
    for link in described.links.values():
        for source in (link.a, link.b):
            assert graph.direction(graph.way(link, source)) == Direction(link.id, source)
