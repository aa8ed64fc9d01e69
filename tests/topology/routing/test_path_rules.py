"""Rules of dragonflies and tori, weights and sprayed packets: shares and rates against a referee of rational numbers."""

import itertools
from fractions import Fraction

import pytest

from benchconsole.topology.capacity.expect import _fill_evenly, expect, sample_hashes
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.sprayed import spray
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import RoutingError, TopologyError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.path_rules import PathRules
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import SMALL
from tests.topology import referee

DRAGONFLY = """\
schema: 1
fabric: dragonfly
network: {mtu: 9000, routing: RULE}
templates:
  group:
    switches: {"r{g}-[0-3]": {}}
    nodes: {"n{g}-[0-3]": {}}
    pods: {"g{g}": {members: "r{g}-[0-3],n{g}-[0-3]"}}
    links:
      - {from: "n{g}-[0-3]", to: "r{g}-[0-3]", wiring: one-to-one, speed: 100G}
      - {from: "r{g}-0", to: "r{g}-[1-3]", speed: 100G}
      - {from: "r{g}-1", to: "r{g}-[2-3]", speed: 100G}
      - {from: "r{g}-2", to: "r{g}-3", speed: 100G}
  between:
    links: [{from: "r{g}-{(d-1-(d-1)%2)/2}", to: "r{(g+d)%9}-{(8-d-(8-d)%2)/2}", speed: 100G}]
use:
  - {template: group, g: "0-8"}
  - {template: between, g: "0-8", d: "1-4"}
"""
TORUS = """\
schema: 1
fabric: torus
network: {mtu: 9000, routing: RULE}
switches: {"r[0-3]-[0-3]": {}}
nodes: {"n[0-3]-[0-3]": {}}
links:
  - {from: "n[0-3]-[0-3]", to: "r[0-3]-[0-3]", wiring: one-to-one, speed: 100G}
  - {from: "r[0-3]-[0-3]", to: "r1-[0-3],r2-[0-3],r3-[0-3],r0-[0-3]", wiring: one-to-one, speed: 100G}
templates:
  ring: {links: [{from: "r{x}-[0-3]", to: "r{x}-[1-3],r{x}-0", wiring: one-to-one, speed: 100G}]}
use: [{template: ring, x: "0-3"}]
"""


def load(text: str, rule: str) -> Fabric:
    return load_text(text.replace("RULE", rule), "rules.yaml")


def check(described: Fabric, shares: dict[tuple[str, str], referee.Shares]) -> None:
    """Shares of each pair, and the rates of all of them at once."""
    routes = Routes(described)
    for (source, sink), expected in shares.items():
        found = {(way.link, way.source): share for way, share in routes.shares(source, sink).items()}
        assert found == pytest.approx({(link, a): float(share) for (link, a, _), share in expected.items()})
    rates = expect(described, [Flow(NodeId(a), NodeId(b)) for a, b in shares], routes=routes)
    filled = referee.fill(referee.rates_of(described), list(shares.values()))
    assert [rate.value / described.goodput for rate in rates] == pytest.approx(
        [float(each) for each in filled], rel=1e-9
    )


ACROSS = [(f"n{a}-{i}", f"n{b}-{j}") for (a, i), (b, j) in itertools.product(
    [(0, 0), (0, 1), (1, 3), (5, 2)], [(1, 0), (4, 3), (8, 1), (0, 2)]
) if (a, i) != (b, j)]  # fmt: skip


def test_minimal_takes_one_global_cable() -> None:
    described = load(DRAGONFLY, "minimal")
    check(described, {(a, b): referee.walk(described, referee.minimal(described, a, b)) for a, b in ACROSS})


def test_valiant_goes_by_every_third_group() -> None:
    described = load(DRAGONFLY, "valiant")
    apart = [(a, b) for a, b in ACROSS if a[:2] != b[:2]]
    check(described, {(a, b): referee.walk(described, referee.valiant(described, a, b)) for a, b in apart})
    within = Routes(described).shares("n0-0", "n0-3")
    assert len(within) == 3  # out, the one local cable, in


def test_dimension_order_goes_the_shorter_way_round_and_splits_half_way() -> None:
    described = load(TORUS, "dimension-order")
    pairs = [(a, b) for a in described.nodes for b in described.nodes if a != b]
    check(described, {(a, b): referee.walk(described, referee.dimension_order(a, b, 4)) for a, b in pairs})


HYPERX = """\
schema: 1
fabric: hyperx
network: {mtu: 9000, routing: RULE}
switches: {"r[0-3]-[0-4]": {}}
nodes: {"n[0-3]-[0-4]": {}}
links:
  - {from: "n[0-3]-[0-4]", to: "r[0-3]-[0-4]", wiring: one-to-one, speed: 100G}
  - {from: "r0-[0-4]", to: "r1-[0-4]", wiring: one-to-one, speed: 100G}
  - {from: "r0-[0-4]", to: "r2-[0-4]", wiring: one-to-one, speed: 100G}
  - {from: "r1-[0-4]", to: "r2-[0-4]", wiring: one-to-one, speed: 100G}
templates:
  row:
    links:
      - {from: "r{x}-0", to: "r{x}-[1-4]", speed: 50G}
      - {from: "r{x}-1", to: "r{x}-[2-4]", speed: 50G}
      - {from: "r{x}-2", to: "r{x}-[3-4]", speed: 50G}
      - {from: "r{x}-3", to: "r{x}-4", speed: 50G}
  column: {links: [{from: "r[0-2]-{y}", to: "r3-{y}", speed: 100G}]}
use: [{template: row, x: "0-3"}, {template: column, y: "0-4"}]
"""
OVER_HYPERX = [
    ("n0-0", "n3-4"), ("n0-0", "n0-2"), ("n1-3", "n2-3"), ("n2-1", "n0-4"), ("n3-2", "n1-2"), ("n1-1", "n2-4"),
]  # fmt: skip


def test_a_hyperx_is_crossed_dimension_by_dimension_or_by_a_third_switch() -> None:
    """Minimal in any order of the dimensions, which is what least hops give; Valiant by each other switch."""
    described = load(HYPERX, "minimal")
    shares = {(a, b): referee.walk(described, referee.hyperx_minimal(a, b)) for a, b in OVER_HYPERX}
    check(described, shares)
    check(load(HYPERX, "shortest"), shares)
    described = load(HYPERX, "valiant")
    found = {(a, b): referee.walk(described, referee.hyperx_valiant(a, b, described.switches)) for a, b in OVER_HYPERX}
    check(described, found)
    ordered = Routes(load(HYPERX, "dimension-order")).shares("n0-0", "n3-4")
    assert {str(way.link) for way in ordered} == {"n0-0--r0-0", "r0-0--r3-0", "r3-0--r3-4", "n3-4--r3-4"}


def test_a_hyperx_with_a_cable_less_goes_round_it_or_says_so() -> None:
    described = remove_elements(load(HYPERX, "minimal"), links=["r0-0--r3-0"])
    assert {str(way.link) for way in Routes(described).shares("n0-0", "n3-4")} == {
        "n0-0--r0-0", "r0-0--r0-4", "r0-4--r3-4", "n3-4--r3-4"
    }  # fmt: skip
    with pytest.raises(RoutingError, match="no minimal path from r0-0 to r3-0: one cable in each dimension"):
        Routes(described).shares("n0-0", "n3-0")
    valiant = Routes(remove_elements(load(HYPERX, "valiant"), links=["r0-0--r3-0"])).shares("n0-0", "n3-0")
    assert sum(share for way, share in valiant.items() if way.source == "n0-0") == pytest.approx(1)


def test_a_hash_chooses_among_the_paths_of_the_rule() -> None:
    for text, rule, ends in ((DRAGONFLY, "minimal", ("n0-0", "n1-0")), (TORUS, "dimension-order", ("n0-0", "n2-2"))):
        described = load(text, rule)
        flow = Flow(NodeId(ends[0]), NodeId(ends[-1]))
        taken = set()
        for seed in range(40):
            [rate] = expect(described, [flow], model=Model.HASH, seed=seed)
            taken.add(round(rate.value / described.goodput))
        assert taken == {12_500_000_000}
        assert sample_hashes(described, [flow], draws=5).aggregate.mean == pytest.approx(12.5e9 * described.goodput)


UNEQUAL = """\
schema: 1
fabric: unequal
network: {mtu: 9000, routing: RULE}
switches: {a: {}, m1: {role: spine}, m2: {role: spine}, b: {}}
nodes: {"s[1-4]": {}, "t[1-4]": {}}
links:
  - {from: "s[1-4]", to: a, speed: 100G}
  - {from: "t[1-4]", to: b, speed: 100G}
  - {from: a, to: m1, speed: 100G}
  - {from: a, to: m2, speed: 40G}
  - {from: a, to: m2, speed: 10G, lag: south}
  - {from: m1, to: b, speed: 100G}
  - {from: m2, to: b, speed: 50G}
"""


def test_weights_share_out_by_capacity_over_next_hops_and_parallel_links() -> None:
    described = load(UNEQUAL, "weighted")
    flows = [Flow(NodeId(f"s{i}"), NodeId(f"t{i}")) for i in range(1, 5)]
    shares = Routes(described).shares("s1", "t1")
    parts = {(str(way.link), way.source): share for way, share in shares.items()}
    assert parts["a--m1", "a"] == pytest.approx(100 / 150)
    assert sum(part for (link, _), part in parts.items() if link.startswith("a--m2")) == pytest.approx(50 / 150)
    assert sum(each.value for each in expect(described, flows)) / described.goodput == pytest.approx(150e9 / 8)
    even = load(UNEQUAL, "shortest")
    assert sum(each.value for each in expect(even, flows)) / even.goodput == pytest.approx(40e9 / 8)  # 4 x 10 in m2
    mean = [
        sample_hashes(each, flows[:1], draws=2000).aggregate.mean * 8e-9 / even.goodput for each in (described, even)
    ]
    # One flow is on the cable of 100, 40 or 10 as often as it is wide, or on the first half of the time.
    assert mean == pytest.approx([(100 * 100 + 40 * 40 + 10 * 10) / 150, 100 / 2 + 40 / 4 + 10 / 4], rel=0.03)


def test_sprayed_flows_fill_what_is_there() -> None:
    described = load(UNEQUAL, "spray")
    flows = [Flow(NodeId(f"s{i}"), NodeId(f"t{i}")) for i in range(1, 5)]
    rates = expect(described, flows)
    assert [each.value / described.goodput for each in rates] == pytest.approx([150e9 / 8 / 4] * 4, rel=1e-9)
    assert rates[0].model == "sprayed"
    assert {way.link for way in rates[0].limiting} >= {"m1--b", "m2--b"} or rates[0].limiting
    small = [Flow(NodeId("s1"), NodeId("t1"), demand=1e9), *flows[1:]]
    again = expect(described, small)
    assert again[0].value == pytest.approx(1e9)
    assert again[0].limiting == ()
    assert sum(each.value for each in again) / described.goodput == pytest.approx(150e9 / 8, rel=1e-9)


def test_sprayed_levels_rise_one_after_the_other() -> None:
    """Two senders of one port, and a third with a port of its own over the same trunk, which is filled."""
    described = load_text(
        "schema: 1\nfabric: levels\nnetwork: {mtu: 9000, routing: spray}\nswitches: {a: {}, b: {}}\n"
        "nodes: {n1: {}, n2: {}, m1: {}, m2: {}, m3: {}}\nlinks:\n  - {from: n1, to: a, speed: 40G}\n"
        "  - {from: n2, to: a, speed: 100G}\n  - {from: 'm1,m2,m3', to: b, speed: 100G}\n"
        "  - {from: a, to: b, speed: 100G}\n", "levels.yaml",
    )  # fmt: skip
    flows = [Flow(NodeId(a), NodeId(b)) for a, b in (("n1", "m1"), ("n1", "m2"), ("n2", "m3"))]
    rates = [each.value / described.goodput * 8e-9 for each in expect(described, flows)]
    assert rates == pytest.approx([20.0, 20.0, 60.0], rel=1e-9)


SPRAYED_CLOS = """\
schema: 1
fabric: clos
network: {mtu: 9000, routing: spray}
switches: {"leaf[1-4]": {role: leaf}, "spine[1-3]": {role: spine}}
nodes: {"n[1-4]-[1-4]": {}}
templates: {rack: {links: [{from: "n{r}-[1-4]", to: "leaf{r}", speed: 100G}]}}
use: [{template: rack, r: "1-4"}]
links:
  - {from: "leaf[1-4]", to: "spine[1-3]", speed: UPG}
"""


@pytest.mark.parametrize(("up", "is_even"), [(200, True), (100, False)])
def test_an_even_split_of_sprayed_flows_is_taken_where_no_other_changes_it(up: int, is_even: bool) -> None:
    """The linear program gives the same, and where links between switches bind it is asked."""
    described = load_text(SPRAYED_CLOS.replace("UPG", f"{up}G"), "clos.yaml")
    routes, names = Routes(described), list(described.nodes)
    flows = [Flow(a, b) for a, b in zip(names, names[5:] + names[:5], strict=True)] + [Flow(names[0], names[9])]
    assert (_fill_evenly(routes, flows, {}) is not None) is is_even
    capacity = dict(enumerate(routes.graph.payload.tolist()))
    rates = [each.value for each in spray(routes, flows, capacity)]
    assert [each.value for each in expect(described, flows, routes=routes)] == pytest.approx(rates, rel=1e-9)


@pytest.mark.parametrize(
    ("text", "rule", "what"),
    [
        (TORUS, "minimal", "r0-0 is in no pod: the groups of a dragonfly are pods of the file"),
        (SMALL.replace("mtu: 1500", "routing: RULE"), "dimension-order", "leaf1 and spine1 are at the same place of the torus"),
        (TORUS.replace("switches: {", "switches: {core: {}, ").replace(
            "links:", "links:\n  - {from: core, to: r0-0, speed: 1G}", 1
        ), "dimension-order", "core has 0 and others have 2"),
        (TORUS.replace("links:", "links:\n  - {from: r0-0, to: r1-1, speed: 1G}", 1),
         "dimension-order", "r0-0 to r1-1 joins no neighbours of a torus or mesh"),
    ],
)  # fmt: skip
def test_a_fabric_of_another_shape_is_refused(text: str, rule: str, what: str) -> None:
    described = load(text, rule)
    first, *_, last = described.nodes
    with pytest.raises(RoutingError, match=what):
        Routes(described).route(Flow(first, last))


def test_the_long_way_round_is_taken_where_the_short_one_is_cut() -> None:
    described = remove_elements(load(TORUS, "dimension-order"), links=["r0-0--r1-0"])
    found = {(way.link, way.source) for way in Routes(described).shares("n0-0", "n1-0")}
    assert ("r2-0--r3-0", "r3-0") in found
    described = remove_elements(described, links=["r3-0--r0-0"])
    with pytest.raises(RoutingError, match="no path from r0-0 to r1-0 in the order of the dimensions"):
        Routes(described).route(Flow(NodeId("n0-0"), NodeId("n1-0")))


def test_parts_of_paths_add_up_to_one() -> None:
    described = load(DRAGONFLY, "valiant")
    rules = PathRules(Routes(described).graph)
    for rule in (RoutingRule.MINIMAL, RoutingRule.VALIANT):
        for sink in ("r0-1", "r4-2", "r8-0"):
            paths = rules.find(rule, "r0-0", sink)
            assert sum((path.part for path in paths), Fraction()) == 1
            assert all(path.devices[0] == "r0-0" and path.devices[-1] == sink for path in paths)


def test_an_unknown_rule_is_refused_with_its_place() -> None:
    with pytest.raises(TopologyError, match=r"rules.yaml:3:\d+: 'adaptive', expected one of shortest"):
        load(TORUS, "adaptive")
