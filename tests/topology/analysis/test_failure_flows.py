"""Rates of flows without an element, against ``expect`` on the fabric without it, flow by flow, with nothing merged.

The two sides of a link are found by networkx here, on a graph of its own.
"""

import random
from pathlib import Path

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.analysis.failure_flows import FailureFlows, FlowLoss
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow, Link, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.tables.single_failures import FailureKind
from tests.fabrics import fabric
from tests.topology.fabrics import networks
from tests.topology.wild import MAX_SEED, wild

GIGABIT = 1.25e8
HEAD = "schema: 1\nfabric: x\nnetwork: {mtu: 9000}\n"
FAR = 1 << 20


def machines(described: Fabric) -> list[NodeId]:
    return [node.id for node in described.nodes.values() if node.host is None and described.switch_of(node.id)]


def distances(described: Fabric, egress: str) -> dict[str, int]:
    """Per device the links to ``egress``; a pair is one, and a forwarding node on the way is farther than any switch."""
    one_of: dict[str, str] = {switch: pair.switches[0] for pair in described.mlags for switch in pair.switches}
    forwarding = {node.id for node in described.nodes.values() if node.forwards and node.host is None}
    graph = nx.DiGraph()
    target = one_of.get(egress, egress)
    for link in described.links.values():
        ends = [one_of.get(end, end) for end in (link.a, link.b)]
        waits = any(is_waiting(described, link, end) for end in forwarding & {link.a, link.b})
        if waits or ends[0] == ends[1] or not all(end in described.switches or end in forwarding for end in ends):
            continue
        for near, away in (ends, ends[::-1]):
            cost = 1 + (FAR if near in forwarding and near != target else 0)
            graph.add_edge(near, away, weight=min(cost, graph.get_edge_data(near, away, {"weight": cost})["weight"]))
    found = nx.single_source_dijkstra_path_length(graph, target) if target in graph else {target: 0}
    return {
        switch: found[one_of.get(switch, switch)]
        for switch in (*described.switches, *forwarding)
        if one_of.get(switch, switch) in found
    }


def is_waiting(described: Fabric, link: Link, node: str) -> bool:
    """Whether a leg of ``node`` stands by while another of its bond is up."""
    bonds = {(each.bond, each.network) for each in described.legs(node) if not each.standby}
    return link.standby and (link.bond, link.network) in bonds


def sides(described: Fabric, link: Link) -> tuple[list[NodeId], list[NodeId]]:
    """The machines nearer to each end of ``link``."""
    one, other = (distances(described, end) for end in (link.a, link.b))
    found: tuple[list[NodeId], list[NodeId]] = ([], [])
    for node in machines(described):
        ends = [leg.other(node) for leg in described.legs(node) if not is_waiting(described, leg, node)]
        ends += [node] if described.nodes[node].forwards else []
        steps = [min((away[end] for end in ends if end in away), default=10 * FAR) for away in (one, other)]
        if steps[0] != steps[1]:
            found[steps[1] < steps[0]].append(node)
    return found


def rates(described: Fabric, flows: list[Flow]) -> dict[Flow, float]:
    """byte/s of each flow when all run at once; 0 without a path."""
    routes = Routes(described)
    possible = []
    for flow in flows:
        try:
            routes.route(flow)
        except RoutingError:
            continue
        possible.append(flow)
    found = dict.fromkeys(flows, 0.0)
    found.update(zip(possible, (each.value for each in expect(described, possible)), strict=True))
    return found


def check(loss: FlowLoss, whole: dict[Flow, float], worn: dict[Flow, float], near: set[NodeId]) -> None:
    ways = [[flow for flow in whole if (flow.source in near) is out] for out in (True, False)]
    totals = [(sum(whole[flow] for flow in way), sum(worn[flow] for flow in way)) for way in ways]
    assert any(loss.before == pytest.approx(a) and loss.after == pytest.approx(b) for a, b in totals)
    shares = [b / a for a, b in totals if a]
    assert (loss.after / loss.before if loss.before else 1.0) == pytest.approx(min(shares, default=1.0))
    kept = []
    for end in ("source", "sink"):
        for node in {getattr(flow, end) for flow in whole}:
            had, has = (sum(each[flow] for flow in whole if getattr(flow, end) == node) for each in (whole, worn))
            if had and has:
                kept.append(has / had)
    assert loss.share == pytest.approx(min(*kept, 1.0, 1.0))


def check_links(described: Fabric, chance: random.Random) -> None:
    between = [link for link in described.links.values() if {link.a, link.b} <= described.switches.keys()]
    peers = {link for pair in described.mlags for link in pair.peer}
    if not machines(described) or not between:
        return
    flows = FailureFlows(described)
    for link in chance.sample(between, min(3, len(between))):
        for kind in (FailureKind.LINK, FailureKind.MEMBER):
            if link.id in peers or (kind is FailureKind.MEMBER and link.count == 1):
                continue
            loss = flows.list_losses([(kind, link.id)])[kind, link.id]
            near, far = sides(described, link)
            both = [Flow(a, b) for one, other in ((near, far), (far, near)) for a in one for b in other]
            if not both:
                continue
            routes = Routes(described)
            whole = rates(described, both)
            crossed = any(way.link == link.id for flow in both if whole[flow] for way in routes.shares_of(flow))
            if not crossed:
                assert loss == FlowLoss()
                continue
            down = {"links": [link.id]} if kind is FailureKind.LINK else {"members": {link.id: 1}}
            worn = rates(remove_elements(described, **down), both)
            check(loss, whole, worn, set(near))


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_a_lost_link_costs_what_expect_says_without_it(described: Fabric, chance: random.Random) -> None:
    check_links(described, chance)


@given(st.integers(0, MAX_SEED), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_a_lost_link_of_a_wild_fabric(seed: int, chance: random.Random) -> None:
    check_links(wild(seed, 10), chance)


def check_switches(described: Fabric, chance: random.Random) -> None:
    if not machines(described) or not described.switches:
        return
    flows, routes = FailureFlows(described), Routes(described)
    everyone = [Flow(a, b) for a in machines(described) for b in machines(described) if a != b]
    for name in chance.sample(list(described.switches), min(2, len(described.switches))):
        loss = flows.list_losses([(FailureKind.SWITCH, name)])[FailureKind.SWITCH, name]
        ends = {
            node for node in machines(described) if {link.other(node) for link in described.links_at[node]} == {name}
        }
        crossing = []
        for flow in everyone:
            try:
                ways = routes.shares_of(flow)
            except RoutingError:
                continue
            at = {end for way in ways for end in (described.links[way.link].a, described.links[way.link].b)}
            if name in at and not {flow.source, flow.sink} & ends:
                crossing.append(flow)
        if not crossing:
            assert loss == FlowLoss()
            continue
        check(
            loss,
            rates(described, crossing),
            rates(remove_elements(described, switches=[name]), crossing),
            set(machines(described)),
        )


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_a_lost_switch_costs_what_expect_says_without_it(described: Fabric, chance: random.Random) -> None:
    check_switches(described, chance)


@given(st.integers(0, MAX_SEED), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_a_lost_switch_of_a_wild_fabric(seed: int, chance: random.Random) -> None:
    check_switches(wild(seed, 10), chance)


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=20, deadline=None)
def test_a_lost_leg_costs_what_expect_says_without_it(described: Fabric, chance: random.Random) -> None:
    node = chance.choice(machines(described))
    leg = chance.choice(described.links_at[node])
    loss = FailureFlows(described).list_losses([(FailureKind.LEG, leg.id)])[FailureKind.LEG, leg.id]
    others = [each for each in machines(described) if each != node]
    both = [*(Flow(node, each) for each in others), *(Flow(each, node) for each in others)]
    whole = rates(described, both)
    if loss.is_idle:
        assert not any(way.link == leg.id for flow in both if whole[flow] for way in Routes(described).shares_of(flow))
        return
    worn = rates(remove_elements(described, links=[leg.id]), both)
    ways = [[flow for flow in both if getattr(flow, end) == node] for end in ("source", "sink")]
    totals = [(sum(whole[flow] for flow in way), sum(worn[flow] for flow in way)) for way in ways]
    shares = [b / a for a, b in totals if a]
    assert loss.after / loss.before == pytest.approx(min(shares))
    assert loss.share == pytest.approx(min([each for each in shares if each], default=1.0))


def lose(described: Fabric, *links: str) -> list[tuple[float, float]]:
    """Gb/s on the wire before and after the loss of each of ``links``."""
    losses = FailureFlows(described).list_losses([(FailureKind.LINK, link) for link in links])
    wire = GIGABIT * described.goodput
    return [(round(loss.before / wire, 6), round(loss.after / wire, 6)) for loss in losses.values()]


def test_two_unequal_lines_between_sites(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {ra: {role: core}, rb: {role: core}}\nnodes: {"a[1-8]": {}, "b[1-8]": {}}\nlinks:\n'
        '  - {from: "a[1-8]", to: ra, speed: 25G}\n  - {from: "b[1-8]", to: rb, speed: 25G}\n'
        "  - {from: ra, to: rb, speed: 100G, count: 1, lag: north}\n"
        "  - {from: ra, to: rb, speed: 100G, rtt: 10 ms, available: 60G, lag: south}\n"
    )
    # Half of each flow is on each line, so the slower of the two holds it up: 120 of 160.
    assert lose(fabric(tmp_path, text), "ra--rb", "ra--rb/south") == [(120, 60), (120, 100)]


def test_the_uplink_of_one_switch_of_a_pair(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"tor[1-2]": {role: leaf}, core: {role: core}}\nnodes: {"n[1-16]": {}, "s[1-8]": {}}\n'
        'mlag: {p: {switches: "tor[1-2]"}}\nlinks:\n  - {from: "n[1-16]", to: "tor[1-2]", speed: 10G, bond: lacp}\n'
        '  - {from: "s[1-8]", to: core, speed: 25G}\n  - {from: "tor[1-2]", to: core, speed: 40G}\n'
        "  - {from: tor1, to: tor2, speed: 40G, count: 8, lag: peer}\n"
    )
    assert lose(fabric(tmp_path, text), "tor1--core") == [(80, 40)]
    described = fabric(tmp_path, text.replace("  - {from: tor1, to: tor2, speed: 40G, count: 8, lag: peer}\n", ""))
    loss = FailureFlows(described).list_losses([(FailureKind.LINK, "tor1--core")])[FailureKind.LINK, "tor1--core"]
    assert loss.lacks_peer_link
    assert not loss.keeps_all


def test_three_ways_without_tiers(tmp_path: Path) -> None:
    text = HEAD + (
        'switches: {"a,b,m[1-3]": {role: leaf}}\nnodes: {"x[1-8]": {}, "y[1-8]": {}}\nlinks:\n'
        '  - {from: "x[1-8]", to: a, speed: 10G}\n  - {from: "y[1-8]", to: b, speed: 10G}\n'
        '  - {from: "m[1-3]", to: "a,b", speed: 20G}\n'
    )
    assert lose(fabric(tmp_path, text), "m1--a") == [(60, 40)]
