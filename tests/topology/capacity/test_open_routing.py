"""The least rates of flows by any routing: against rational water levels, and never above those of a drawn routing."""

import itertools
import random
from fractions import Fraction
from types import MappingProxyType

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity.bracket import compute_bracket
from benchconsole.topology.capacity.expect import expect, sample_hashes
from benchconsole.topology.capacity.open_routing import LeastRates, OpenRouting
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.ceiling import Ceiling
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.topology import referee
from tests.topology.routing.test_path_rules import DRAGONFLY, TORUS

OPEN_TORUS, OPEN_DRAGONFLY = (text.replace(", routing: RULE", "") for text in (TORUS, DRAGONFLY))


def flows_of(*pairs: tuple[str, str]) -> list[Flow]:
    return [Flow(NodeId(a), NodeId(b)) for a, b in pairs]


def bound(described: Fabric, flows: list[Flow]) -> LeastRates | None:
    routes = Routes(described)
    return OpenRouting(routes).bound(flows, [routes.route(flow) for flow in flows])


@st.composite
def flat(draw: st.DrawFn) -> tuple[Fabric, bool]:
    """Switches of one tier with a node each: a torus, or a ring with chords of which some close triangles."""
    speeds = st.sampled_from(("10G", "25G", "40G", "100G"))
    if draw(st.booleans()):
        wide, high = draw(st.sampled_from(((4, 4), (4, 5), (5, 4), (6, 4))))
        graph = nx.grid_2d_graph(wide, high, periodic=True)
        edges = sorted((f"r{a}-{b}", f"r{c}-{d}") for (a, b), (c, d) in graph.edges)
    else:
        size = draw(st.integers(4, 6))
        around = [(f"r{i}-0", f"r{(i + 1) % size}-0") for i in range(size)]
        edges = [*around, *((f"r{i}-0", f"r{(i + 2) % size}-0") for i in range(draw(st.integers(1, 2))))]
    names = sorted({end for edge in edges for end in edge})
    links = [f"{{from: {a}, to: {b}, speed: {draw(speeds)}, count: {draw(st.integers(1, 2))}}}" for a, b in edges]
    links += [f"{{from: n{each[1:]}, to: {each}, speed: {draw(speeds)}}}" for each in names]
    text = "\n".join([
        "schema: 1", "fabric: flat", "network: {mtu: 9000}",
        "switches: {" + ", ".join(f"{each}: {{}}" for each in names) + "}",
        "nodes: {" + ", ".join(f"n{each[1:]}: {{}}" for each in names) + "}",
        "links:", *(f"  - {each}" for each in links),
    ])  # fmt: skip
    return load_text(text + "\n", "flat.yaml"), any(nx.triangles(nx.Graph(edges)).values())


def cable_rates(described: Fabric, path: list[str]) -> dict[referee.Way, Fraction]:
    """One cable of each link between switches, the whole of a leg."""
    found: dict[referee.Way, Fraction] = {}
    for here, there in itertools.pairwise(path):
        link = next(each for each in described.links_at[here] if each.other(here) == there)
        rate = link.speed if here[0] == there[0] else link.speed * link.count
        found[link.id, here, there] = Fraction(int(rate * 8), 8)
    return found


@given(flat(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=40)
def test_no_routing_gives_less(drawn: tuple[Fabric, bool], chance: random.Random) -> None:
    """Each flow on one path, and of each link on one cable, with all the others on whatever they took."""
    described, has_triangles = drawn
    nodes = [*described.nodes]
    ends = [chance.sample(nodes, 2) for _ in range(chance.randint(1, 8))]
    flows = [Flow(a, b, chance.choice([None, None, 2e9])) for a, b in ends]
    least = bound(described, flows)
    rates = [each.value for each in expect(described, flows)]
    if least is None:
        return
    graph = nx.Graph((link.a, link.b) for link in described.links.values())
    paths = [list((nx.all_simple_paths if has_triangles else nx.all_shortest_paths)(graph, flow.source, flow.sink))
             for flow in flows]  # fmt: skip
    taken = [chance.choice(each) for each in paths]
    capacity: dict[referee.Way, Fraction] = {}
    shares = []
    for number, (flow, path) in enumerate(zip(flows, taken, strict=True)):
        own = cable_rates(described, path)
        capacity |= own
        held = ("demand", str(number), "")
        capacity[held] = Fraction(int((flow.demand or 1e15) / described.goodput))
        shares.append({**dict.fromkeys(own, Fraction(1)), held: Fraction(1)})
    found = [float(rate) * described.goodput for rate in referee.fill(capacity, shares)]
    for rate, low, even, is_open in zip(found, least.rates.tolist(), rates, least.is_open.tolist(), strict=True):
        if is_open:
            assert min(low, even) <= rate * (1 + 1e-8)


def level(capacity: Fraction, asked: list[Fraction]) -> Fraction | None:
    """The rate of each on a link where nobody gets more than it asks; None where there is enough for all."""
    left, room = sorted(asked), capacity
    while left and left[0] * len(left) <= room:
        room -= left.pop(0)
    return room / len(left) if left else None


def test_a_torus_is_bounded_by_the_flows_of_least_hops_that_may_meet() -> None:
    described = load_text(OPEN_TORUS, "torus.yaml")
    pairs = [("n0-0", "n1-1"), ("n1-0", "n1-1"), ("n0-1", "n2-1"), ("n3-3", "n2-3"), ("n2-2", "n0-0")]
    least = bound(described, flows_of(*pairs))
    assert least is not None
    crossed = [
        {way for _, path in referee.least_hops(described, a, b) for way in itertools.pairwise(path)} for a, b in pairs
    ]
    ways = set().union(*crossed)
    full = Fraction(100 * 10**9, 8)
    levels = {way: level(full, [full] * sum(way in each for each in crossed)) for way in ways}
    expected = [min(filter(None, (full, *(levels[way] for way in each)))) for each in crossed]
    assert least.is_free.tolist() == [True, False, True, False, True]
    assert least.is_open.tolist() == [True, True, True, False, True]  # one is alone on its only link
    found = [rate / described.goodput for rate in least.rates.tolist()]
    assert found == pytest.approx([float(each) if is_open else float("inf") for each, is_open in zip(
        expected, least.is_open, strict=True)], rel=1e-9)  # fmt: skip


def test_what_others_ask_for_leaves_the_rest() -> None:
    described = load_text(OPEN_TORUS, "torus.yaml")
    flows = [Flow(NodeId("n0-0"), NodeId("n1-1")), *(
        Flow(NodeId("n0-0"), NodeId(sink), demand=1e9) for sink in ("n1-0", "n0-1", "n2-0")
    )]  # fmt: skip
    least = bound(described, flows)
    assert least is not None
    whole = 12.5e9 * described.goodput
    assert least.rates.tolist() == pytest.approx([whole - 3e9, 1e9, 1e9, 1e9], rel=1e-9)


def test_a_dragonfly_is_bounded_by_all_flows_on_its_thinnest_link() -> None:
    described = load_text(OPEN_DRAGONFLY, "dragonfly.yaml")
    least = bound(described, flows_of(("n0-0", "n1-1"), ("n0-1", "n5-1"), ("n3-0", "n4-2"), ("n2-0", "n2-1")))
    assert least is not None
    assert least.is_open.all()
    assert least.rates / described.goodput == pytest.approx([12.5e9 / 4] * 4, rel=1e-9)


PLAIN = """\
schema: 1
fabric: plain
network: {mtu: 9000}
networks: {rings: {mtu: 9000, role: management}}
switches: {"leaf[1-4]": {role: leaf}, "spine[1-3]": {role: spine}, "m[1-3]": {role: leaf}}
nodes: {"n[1-4]": {}}
links:
  - {from: "n[1-4]", to: "leaf[1-4]", wiring: one-to-one, speed: 10G}
  - {from: "leaf[1-4]", to: "spine[1-3]", speed: 10G}
  - {from: "n[1-3]", to: "m[1-3]", wiring: one-to-one, speed: 1G, network: rings}
  - {from: "m[1-3]", to: "m2,m3,m1", wiring: one-to-one, speed: 1G, network: rings}
"""


def test_a_clos_fabric_stays_as_it_is_beside_a_network_of_rings() -> None:
    described = load_text(PLAIN, "plain.yaml")
    every = [Flow(NodeId(a), NodeId(b)) for a, b in itertools.permutations(("n1", "n2", "n3"), 2)]
    assert bound(described, every) is None
    ringed = bound(described, [Flow(each.source, each.sink, network="rings") for each in every])
    assert ringed is not None
    assert ringed.is_open.all()


@pytest.mark.parametrize(
    ("more", "is_open"),
    [
        ("- {from: spine1, to: spine2, speed: 10G}", False),
        ("- {from: spine1, to: spine2, speed: 10G, count: 2}", False),
        ('- {from: "spine[1-3]", to: "spine2,spine3,spine1", wiring: one-to-one, speed: 10G}', False),
        ('- {from: "leaf[1-3]", to: "leaf2,leaf3,leaf1", wiring: one-to-one, speed: 10G}', True),
    ],
)
def test_only_flows_over_rings_are_open(more: str, is_open: bool) -> None:
    """Spines that are joined in a ring change nothing of flows that go up to one of them and down."""
    described = load_text(f"{PLAIN}  {more}\n", "plain.yaml")
    assert (bound(described, flows_of(("n1", "n2"), ("n3", "n4"))) is not None) is is_open


def test_a_routing_that_is_said_leaves_nothing_open() -> None:
    for rule in ("shortest", "spray", "dimension-order"):
        assert bound(load_text(TORUS.replace("RULE", rule), "torus.yaml"), flows_of(("n0-0", "n1-1"))) is None


@pytest.mark.parametrize("text", [OPEN_TORUS, OPEN_DRAGONFLY])
def test_the_bracket_begins_with_any_routing(text: str) -> None:
    described = load_text(text, "flat.yaml")
    chance = random.Random(5)
    flows = [Flow(a, b) for a, b in (chance.sample([*described.nodes], 2) for _ in range(12))]
    found = compute_bracket(
        Routes(described), flows, expect(described, flows), sample_hashes(described, flows, draws=20)
    )
    assert found.least is not None
    assert found.unlucky is not None
    assert found.judged == found.least
    above = [found.unlucky, found.routing, *(each for _, each in found.others)]
    assert all(found.least.slowest <= each.slowest * (1 + 1e-9) for each in above)
    assert all(found.least.total <= each.total * (1 + 1e-9) for each in above)
    assert [rule for rule, _ in found.others] == (
        ["minimal", "valiant"] if text == OPEN_DRAGONFLY else ["dimension-order"]
    )


@pytest.mark.parametrize(("text", "least"), [(OPEN_TORUS, 12.5e9 / 4), (OPEN_DRAGONFLY, 6.25e9 / 4)])
def test_ceilings_of_switches_that_flows_may_pass_bound_them(text: str, least: float) -> None:
    """By least hops some pass the switch with half of themselves, by another routing with all."""
    ends = (
        [("n0-0", "n1-1"), ("n0-1", "n1-0"), ("n1-0", "n0-1"), ("n1-1", "n0-0")]
        if text == OPEN_TORUS
        else [("n0-0", "n1-1"), ("n0-1", "n5-1"), ("n3-0", "n4-2"), ("n6-0", "n7-1")]
    )
    slow = "r0-0" if text == OPEN_TORUS else "r8-3"
    rate = 100 if text == OPEN_TORUS else 50
    described = load_text(text, "flat.yaml")
    side = Ceiling("backplane", rate * 1e9 / 8)
    described = replace(described, ceilings=MappingProxyType({slow: (side,)}))
    found = bound(described, flows_of(*ends))
    assert found is not None
    assert found.rates.min() / described.goodput == pytest.approx(least, rel=1e-9)


UGAL = DRAGONFLY.replace("RULE", "ugal")


@given(st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=15)
def test_whatever_ugal_chooses_gives_no_less(chance: random.Random) -> None:
    """Each flow on one of its minimal or Valiant paths; between two groups alone nobody else may come there."""
    described = load_text(UGAL, "dragonfly.yaml")
    ends = [chance.sample([*described.nodes], 2) for _ in range(chance.randint(1, 10))]
    flows = [Flow(a, b) for a, b in ends if a[:2] != b[:2]]
    least = bound(described, flows)
    if least is None:
        assert not flows
        return
    assert least.is_free.all()
    taken = []
    for flow in flows:
        paths = [
            *referee.minimal(described, flow.source, flow.sink),
            *referee.valiant(described, flow.source, flow.sink),
        ]
        taken.append(referee.walk(described, [(Fraction(1), chance.choice(paths)[1])]))
    rates = [float(rate) * described.goodput for rate in referee.fill(referee.rates_of(described), taken)]
    assert all(low <= rate * (1 + 1e-9) for low, rate in zip(least.rates.tolist(), rates, strict=True))


def test_ugal_is_bounded_by_the_links_of_its_two_rules() -> None:
    described = load_text(UGAL, "dragonfly.yaml")
    least = bound(described, flows_of(("n0-0", "n0-1"), ("n0-2", "n1-1"), ("n3-2", "n0-1"), ("n5-0", "n5-3")))
    assert least is not None
    # The first and the third have one receiver, and the second may meet the third on its way; nobody meets the last.
    assert least.rates / described.goodput == pytest.approx([6.25e9, 6.25e9, 6.25e9, 12.5e9], rel=1e-9)
    flows = flows_of(*((f"n0-{i}", f"n1-{i}") for i in range(4)))
    found = compute_bracket(Routes(described), flows, expect(described, flows))
    assert found.rule == "ugal"
    assert [rule for rule, _ in found.others] == ["valiant"]
    assert found.least is not None
    assert found.judged == found.least
    assert found.routing.slowest == pytest.approx(12.5e9 / 4 * described.goodput)
    assert found.routing.slowest < found.others[0][1].slowest
