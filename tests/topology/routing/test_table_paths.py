"""Forwarding tables of the file: flows follow them, exactly, and holes, loops and slips are told with their place."""

import itertools
from fractions import Fraction

import pytest

from benchconsole.topology.capacity.expect import expect, expect_merged, sample_hashes
from benchconsole.topology.capacity.flow_groups import FlowSet
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import RoutingError, TopologyError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.routes import Routes
from tests.topology import referee

TABLES = """\
schema: 1
fabric: tables
networks:
  ib:
    goodput: 100 %
    routing: tables
    tables:
      leaf1: {"5": n5, "6": "n[6-7]", "7": n8}
      leaf2: {"5": "n[1-3]", "6": n4}
      spine1: {"1": "n[1-4]", "2": "n[5-8]"}
      spine2: {"1": n3, "2": "n1 n[2,4]", "3": "n[5-8]"}
switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}}
nodes: {"n[1-8]": {}}
links:
  - {from: "n[1-4]", to: "leaf1:[1-4]", speed: 100G, network: ib}
  - {from: "n[5-8]", to: "leaf2:[1-4]", speed: 100G, network: ib}
  - {from: "leaf1:5", to: "spine1:1", speed: 100G, network: ib}
  - {from: "leaf1:6", to: "spine2:1", speed: 100G, lag: a, network: ib}
  - {from: "leaf1:7", to: "spine2:2", speed: 100G, lag: b, network: ib}
  - {from: "leaf2:5", to: "spine1:2", speed: 100G, network: ib}
  - {from: "leaf2:6", to: "spine2:3", speed: 40G, network: ib}
"""
WAYS = {  # by hand: the cables after the leg of the sender, before that of the receiver
    ("n1", "n5"): ("leaf1--spine1", "leaf2--spine1"),
    ("n2", "n6"): ("leaf1--spine2", "leaf2--spine2"),
    ("n3", "n7"): ("leaf1--spine2", "leaf2--spine2"),
    ("n4", "n8"): ("leaf1--spine2/b", "leaf2--spine2"),
    ("n5", "n2"): ("leaf2--spine1", "leaf1--spine1"),
    ("n6", "n4"): ("leaf2--spine2", "leaf1--spine2/b"),
    ("n1", "n2"): (),
}


def load(*changes: tuple[str, str]) -> Fabric:
    text = TABLES
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    return load_text(text, "tables.yaml")


def find_shares(described: Fabric, source: str, sink: str) -> referee.Shares:
    """The links of ``WAYS`` and the two legs, each with its direction."""
    found: referee.Shares = {}
    here = source
    names = [described.links_at[source][0].id, *WAYS[source, sink], described.links_at[sink][0].id]
    for link in (described.links[next(key for key in described.links if key == name)] for name in names):
        found[link.id, here, link.other(here)] = Fraction(1)
        here = link.other(here)
    assert here == sink
    return found


def test_flows_follow_the_tables() -> None:
    described = load()
    flows = [Flow(NodeId(a), NodeId(b)) for a, b in WAYS]
    routes = Routes(described)
    shares = [find_shares(described, a, b) for a, b in WAYS]
    for (source, sink), own in zip(WAYS, shares, strict=True):
        found = {(way.link, way.source): share for way, share in routes.shares(source, sink).items()}
        assert found == {(link, here): 1.0 for link, here, _ in own}
    filled = [float(each) for each in referee.fill(referee.rates_of(described), shares)]
    assert filled[1:4] == pytest.approx([40e9 / 8 / 3] * 3)
    assert [each.value for each in expect(described, flows, routes=routes)] == pytest.approx(filled, rel=1e-9)
    drawn = sample_hashes(described, flows, draws=3)  # nothing is drawn
    assert (drawn.aggregate.p5, drawn.aggregate.p95) == pytest.approx((sum(filled), sum(filled)), rel=1e-9)


def test_merged_flows_are_those_of_the_tables() -> None:
    described = load()
    sources, sinks = (tuple(map(NodeId, names)) for names in (("n1", "n2", "n3", "n4"), ("n5", "n6", "n7", "n8")))
    every = [Flow(a, b) for a, b in itertools.product(sources, sinks)]
    alone = [each.value for each in expect(described, every)]
    merged = [rate.value for _, rate in expect_merged(described, [FlowSet(sources, sinks)])]
    assert merged == pytest.approx(alone, rel=1e-9)
    assert len({f"{each:.6g}" for each in alone}) > 1


def test_without_an_element_least_hops_stand_in() -> None:
    described = load()
    assert remove_elements(described).tables == described.tables
    less = remove_elements(described, links=["leaf1--spine1"])
    assert less.networks["ib"].routing is RoutingRule.SHORTEST
    assert not less.tables
    assert {str(way.link) for way in Routes(less).shares("n1", "n5")} > {"leaf1--spine2", "leaf1--spine2/b"}


PORTS = """\
schema: 1
fabric: ports
networks:
  ib:
    goodput: 100 %
    routing: tables
    tables: {leaf1: {"3": "n2:mlx5_0/1", "4": "n2:mlx5_1/1"}, leaf2: {"3": "n1:mlx5_0/1", "4": "n1:mlx5_1/1"}}
switches: {"leaf[1-2]": {role: leaf}}
nodes: {"n[1-2]": {}}
links:
  - {from: "n1:mlx5_0/1", to: "leaf1:1", speed: 100G, network: ib, lag: a}
  - {from: "n1:mlx5_1/1", to: "leaf1:2", speed: 100G, network: ib, lag: b}
  - {from: "n2:mlx5_0/1", to: "leaf2:1", speed: 100G, network: ib, lag: a}
  - {from: "n2:mlx5_1/1", to: "leaf2:2", speed: 100G, network: ib, lag: b}
  - {from: "leaf1:3", to: "leaf2:3", speed: 100G, network: ib, lag: a}
  - {from: "leaf1:4", to: "leaf2:4", speed: 50G, network: ib, lag: b}
"""


def test_ports_of_a_node_are_destinations_of_their_own() -> None:
    described = load_text(PORTS, "ports.yaml")
    shares = {(str(way.link), way.source): share for way, share in Routes(described).shares("n1", "n2").items()}
    assert shares["leaf1--leaf2", "leaf1"] == shares["leaf1--leaf2/b", "leaf1"] == pytest.approx(0.5)
    leg = next(link for link in described.links_at["n2"] if link.ports_a == ("mlx5_1/1",))
    [rate] = expect(described, [Flow(NodeId("n1"), NodeId("n2"), last_leg=leg.id)])
    assert rate.value == pytest.approx(50e9 / 8, rel=1e-9)


@pytest.mark.parametrize(
    ("before", "after", "what"),
    [
        ('leaf1: {"5": n5, "6": "n[6-7]", "7": n8}', 'leaf1: {"5": n5, "6": "n[6-7]"}',
         r"tables.yaml:8:7: a hole: leaf1 has no port for n8, expected tables that lead everywhere: let the subnet"),
        ('spine1: {"1": "n[1-4]", "2": "n[5-8]"}', 'spine1: {"1": "n[1-5]", "2": "n[6-8]"}',
         r"tables.yaml:8:7: a loop for n5: leaf1, spine1, leaf1, expected tables"),
        ('      spine1: {"1": "n[1-4]", "2": "n[5-8]"}\n', "", r"8:7: a way that ends at spine1 instead of n5"),
        ('leaf2: {"5"', 'leaf9: {"5"', r"9:7: unknown switch 'leaf9', expected a switch of this file; did you mean leaf"),
        ('"7": n8}', '"8": n8}', r"8:39: the port 8 of leaf1, which no link of this network names, expected a port"),
        ('"7": n8}', '"7": n9}', r"8:44: unknown node 'n9'"),
        ('"7": n8}', '"7": "n[7-8]"}', r"8:44: n7 at a second port of leaf1, expected each node at one port"),
        ('leaf1:6", to: "spine2:1", speed: 100G, lag: a', 'leaf1:[6,8]", to: "spine2:[1,4]", speed: 100G, count: 2, lag: a',
         r"8:24: the port 6 of leaf1, one of 2 cables of a LAG, expected each cable as a link of its own"),
        ("routing: tables\n", "routing: shortest\n", r"7:5: tables with routing shortest, expected routing: tables"),
        ("    routing: tables\n", "", r"6:5: tables with routing not said, expected routing: tables"),
    ],
)  # fmt: skip
def test_what_tables_cannot_be_is_told_with_its_place(before: str, after: str, what: str) -> None:
    with pytest.raises(TopologyError, match=what):
        load((before, after))


def test_a_rule_without_its_tables_is_refused() -> None:
    first = TABLES.index("    tables:\n")
    text = TABLES[:first] + TABLES[TABLES.index("switches:") :]
    with pytest.raises(
        TopologyError, match=r"6:14: routing: tables without tables, expected tables, as init --from ib"
    ):
        load_text(text, "tables.yaml")


def test_a_switch_that_no_node_is_at_needs_no_whole_table() -> None:
    described = load(('spine2: {"1": n3, ', "spine2: {"))  # what leaf2 sends to n3 goes over spine1
    assert expect(described, [Flow(NodeId("n5"), NodeId("n3"))])[0].value == pytest.approx(100e9 / 8)
    with pytest.raises(RoutingError, match="the forwarding tables have a hole: spine2 has no port for n3"):
        Routes(described).tables.find("spine2", ("n3",), "leaf1")
