"""Ports as ends of flows: how they are written, what is refused, and that names and order never change a rate."""

import random
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity.demand_matrix import make_flow_sets
from benchconsole.topology.capacity.expect import expect, expect_merged
from benchconsole.topology.capacity.flow_groups import FlowSet
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import RoutingError, SelectionError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.port_selection import NodePorts, fold_ports, has_apart_ports, list_ports, select_ports
from tests.fabrics import fabric
from tests.topology import referee

RAILS = """\
schema: 1
fabric: rails
network: {goodput: 100 %}
switches: {"rail[1-4]": {role: leaf}, sw: {role: leaf}, s1: {role: leaf}, s2: {role: leaf}}
mlag: {pair: {switches: "s1,s2"}}
nodes: {"g[1-4]": {class: gpu}, h1: {}, m1: {}, d1: {}}
classes: {gpu: {}}
racks: {r7: {members: "g[1-2]"}}
links:
  - {from: "g[1-2]:p[1-4]", to: "rail[1-4]", speed: 100 Gb/s}
  - {from: "g[3-4]:p[1-2]", to: "rail[1-2]", speed: 100 Gb/s}
  - {from: h1, to: sw, speed: 100 Gb/s}
  - {from: "m1:e[0-1]", to: rail1, speed: 100 Gb/s, count: 2}
  - {from: "d1:e0", to: s1, speed: 25 Gb/s, bond: lacp}
  - {from: "d1:e1", to: s2, speed: 25 Gb/s, bond: lacp}
  - {from: s1, to: s2, speed: 100 Gb/s}
"""


def nodes(*names: str) -> tuple[NodeId, ...]:
    return tuple(NodeId(name) for name in names)


@pytest.mark.parametrize(
    ("text", "selected"),
    [
        ("g[1-2]", [(("g1", "g2"), None)]),
        ("g[1-2]:p1", [(("g1", "g2"), "p1")]),
        ("g2:p3,g1:p3", [(("g2", "g1"), "p3")]),
        ("g1:p[2,1]", [(("g1",), "p1"), (("g1",), "p2")]),
        ("g1:p1,g2", [(("g1",), "p1"), (("g2",), None)]),
        ("@rack:r7", [(("g1", "g2"), None)]),
        ("@rack:r7:p4", [(("g1", "g2"), "p4")]),
        ("@class:gpu!g[3-4]:p4", [(("g1", "g2"), "p4")]),
        ("d1:e1", [(("d1",), "e1")]),
    ],
)
def test_ports_stand_after_the_nodes_of_a_term(
    tmp_path: Path, text: str, selected: list[tuple[tuple[str, ...], str | None]]
) -> None:
    found = select_ports(fabric(tmp_path, RAILS), text)
    assert found == tuple(NodePorts(nodes(*names), port) for names, port in selected)
    again = fold_ports((each.port, each.nodes) for each in found)
    assert {(node, each.port) for each in select_ports(fabric(tmp_path, RAILS), again) for node in each.nodes} == {
        (node, port) for names, port in selected for node in names
    }


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "g[1-4]:p3",
            "2 of 4 nodes have no port p3: g[3-4]; choose the others, or describe their cables (ports of g3: ",
        ),
        ("g[1-2]:p01", "g[1-2]: no port p01, did you mean p1? (ports of g1: p[1-4])"),
        ("h1:p1", 'h1 has no port p1, for the file names none of its ports, expected links such as {from: "h1:p1"'),
        ("m1:e0", "e0 of m1 is one of the 2 cables of a LAG, which are one port to a flow: leave the port out"),
        ("@rak:r7", "unknown group @rak:r7"),
        ("g1:", "'' is no set of ports"),
        ("g9:p1", "unknown node g9"),
        (":p1", "an empty node selection"),
    ],
)
def test_a_port_that_is_not_there_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(SelectionError) as error:
        select_ports(fabric(tmp_path, RAILS), text)
    assert what in str(error.value)


def test_ports_with_addresses_of_their_own_are_those_in_no_bond(tmp_path: Path) -> None:
    described = fabric(tmp_path, RAILS)
    assert [each for each in described.nodes if has_apart_ports(described, each, ("data",))] == ["g1", "g2", "g3", "g4"]
    assert list_ports(described, NodeId("g1")) == ("p1", "p2", "p3", "p4")
    assert list_ports(described, NodeId("m1")) == ()


def test_data_between_rails_without_a_cable_between_them_stays_in_a_node(tmp_path: Path) -> None:
    described = fabric(tmp_path, RAILS)
    with pytest.raises(RoutingError, match="no path from g1 to g2 between the ports p1 and p2: no cable joins their"):
        expect(described, [Flow(NodeId("g1"), NodeId("g2"), leg="p1", last_leg="p2")])
    with pytest.raises(RoutingError, match=r"no path from g1 to h1$"):
        expect(described, [Flow(NodeId("g1"), NodeId("h1"), leg="p1")])
    with pytest.raises(RoutingError, match="g1 cannot take p1: its cable is down"):
        expect(remove_elements(described, switches=["rail1"]), [Flow(NodeId("g1"), NodeId("g2"), leg="p1")])


def test_flows_in_order_pair_port_by_port(tmp_path: Path) -> None:
    described = fabric(tmp_path, RAILS)
    like = FlowSet((), (), in_order=True)
    found = make_flow_sets(described, "g1:p[1-2]", "g2:p[1-2]", like)
    assert [(each.leg, each.last_leg) for each in found] == [("p1", "p1"), ("p2", "p2")]
    with pytest.raises(SelectionError, match="pairs 2 ports with 1 in order, expected as many"):
        make_flow_sets(described, "g1:p[1-2]", "g2:p1", like)
    with pytest.raises(SelectionError, match="pairs 2 ports with 2 in order, expected as many nodes for each port"):
        make_flow_sets(described, "g1:p[1-2]", "g[2-3]:p1", like)


def draw_rails(chance: random.Random, *, may_cross: bool) -> list[tuple[str, str, int]]:
    """Legs of six nodes as node, switch and Gb/s; every node has one to each rail, perhaps a second to rail 0.

    ``may_cross``: some have the cables of their first two ports exchanged.
    """
    rails, found = chance.randint(2, 3), []
    for node in range(1, 7):
        ports = list(range(rails))
        if may_cross and chance.random() < 0.4:
            ports[:2] = 1, 0
        speed = chance.choice((50, 100))
        found += [(f"n{node}:p{port}", f"rail{rail}", speed) for rail, port in enumerate(ports)]
        found += [(f"n{node}:p9", "rail0", 100)] if node % 2 else []
    return found


def describe(legs: list[tuple[str, str, int]], spines: int, order: random.Random | None = None) -> Fabric:
    links = [f'{{from: "{port}", to: {switch}, speed: {speed} Gb/s}}' for port, switch, speed in legs]
    rails = sorted({switch for _, switch, _ in legs})
    links += [f"{{from: {rail}, to: s{spine}, speed: 200 Gb/s}}" for rail in rails for spine in range(spines)]
    if order is not None:
        order.shuffle(links)
        order.shuffle(rails)
    switches = [f"{rail}: {{role: leaf}}" for rail in rails] + [f"s{spine}: {{role: spine}}" for spine in range(spines)]
    head = f'schema: 1\nfabric: x\nnetwork: {{goodput: 100 %}}\nnodes: {{"n[1-6]": {{}}}}\nswitches: {{{", ".join(switches)}}}'
    return load_text(head + "\nlinks:\n" + "".join(f"  - {link}\n" for link in links), "x.yaml")


def draw_flows(chance: random.Random, legs: list[tuple[str, str, int]], spines: int) -> list[FlowSet]:
    ports = sorted({port.partition(":")[2] for port, _, _ in legs})
    found = []
    for _ in range(chance.randint(1, 3)):
        one = chance.choice(ports)
        other = chance.choice(ports) if spines else one
        at = [[each for each in range(1, 7) if not port.endswith("9") or each % 2] for port in (one, other)]
        sources, sinks = (tuple(NodeId(f"n{node}") for node in chance.sample(nodes, 3)) for nodes in at)
        found.append(FlowSet(sources, sinks, in_order=chance.random() < 0.4, leg=one, last_leg=other))
    return [each for each in found if len(each)]


@given(st.randoms(use_true_random=False), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_rates_are_those_of_ports_that_are_nodes_whatever_the_order(chance: random.Random, spines: int) -> None:
    """The referee sees a device with one cable for each port; the file in another order says the same."""
    legs = draw_rails(chance, may_cross=spines > 0)
    asked = draw_flows(chance, legs, spines)
    if not asked:
        return
    described = describe(legs, spines)
    capacity, cables = referee_fabric(legs, spines)
    flows = [flow for each in asked for flow in each]
    ends = [(f"{flow.source}:{flow.leg}", f"{flow.sink}:{flow.last_leg}") for flow in flows]
    filled = referee.fill(capacity, [spread(cables, spines, *pair) for pair in ends])
    for each in (described, describe(legs, spines, chance)):
        rates = [rate.value for rate in expect(each, flows)]
        assert rates == pytest.approx([float(rate) / 8 for rate in filled], rel=1e-9)
        assert [rate.value for _, rate in expect_merged(each, asked)] == pytest.approx(rates, rel=1e-9)


def referee_fabric(legs: list[tuple[str, str, int]], spines: int) -> tuple[dict[referee.Way, Fraction], dict[str, str]]:
    capacity: dict[referee.Way, Fraction] = {}
    for port, switch, speed in legs:
        capacity[port, port, switch] = capacity[port, switch, port] = Fraction(speed * 10**9)
    for rail in {switch for _, switch, _ in legs}:
        for spine in range(spines):
            capacity["up", rail, f"s{spine}"] = capacity["up", f"s{spine}", rail] = Fraction(200 * 10**9)
    return capacity, {port: switch for port, switch, _ in legs}


def spread(cables: dict[str, str], spines: int, source: str, sink: str) -> referee.Shares:
    """Out by the port, evenly over the spines where the rails differ, in by the other port."""
    one, other = cables[source], cables[sink]
    shares = {(source, source, one): Fraction(1), (sink, other, sink): Fraction(1)}
    for spine in range(spines) if one != other else ():
        shares["up", one, f"s{spine}"] = shares["up", f"s{spine}", other] = Fraction(1, spines)
    return shares
