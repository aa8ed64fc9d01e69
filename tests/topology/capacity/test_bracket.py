"""Brackets on drawn fabrics: in order, whatever the order and the names of the file, against all cuts and all paths."""

import itertools
import random
import re
from collections.abc import Iterator, Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from benchconsole.topology.capacity.arcs import make_arcs
from benchconsole.topology.capacity.bracket import Bracket, compute_bracket
from benchconsole.topology.capacity.cuts import Cut, Cuts, name_cut
from benchconsole.topology.capacity.expect import expect, sample_hashes
from benchconsole.topology.capacity.optimum import ProgramTooLarge, compute_optimum
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, LinkId, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.topology.fabrics import flows_of, networks

SLACK = 1 + 1e-9


def bracket_of(described: Fabric, flows: Sequence[Flow], *, hashed: bool = True) -> Bracket:
    drawn = sample_hashes(described, flows, draws=10) if hashed else None
    return compute_bracket(Routes(described), flows, expect(described, flows), drawn)


@given(networks(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=25)
def test_the_bounds_are_in_order(described: Fabric, chance: random.Random) -> None:
    flows = flows_of(described, chance, 8)
    found = bracket_of(described, flows)
    assert found.optimum is not None
    assert found.unlucky is not None
    assert found.lucky is not None
    for bound in ("slowest", "total"):
        rising = [getattr(each, bound) for each in (found.judged, found.routing, found.optimum, found.cut)]
        assert all(low <= high * SLACK for low, high in itertools.pairwise(rising)), (bound, rising)
        assert getattr(found.lucky, bound) <= getattr(found.optimum, bound) * SLACK


def shuffled(described: Fabric, chance: random.Random) -> Fabric:
    """The same file, its devices and links in another order."""
    lines = described.text.splitlines()
    first = lines.index("links:") + 1
    links = chance.sample(lines[first:], len(lines) - first)
    for number, line in enumerate(lines[:first]):
        if line.startswith(("switches: {", "nodes: {")):
            key, _, inside = line.partition(": {")
            items = inside.removesuffix("}").split(", ")
            lines[number] = f"{key}: {{" + ", ".join(chance.sample(items, len(items))) + "}"
    return load_text("\n".join(lines[:first] + links) + "\n", "shuffled.yaml")


def renamed(described: Fabric, chance: random.Random) -> tuple[Fabric, dict[str, str]]:
    names = [*described.nodes, *described.switches]
    other = dict(zip(names, chance.sample([f"x{number}" for number in range(len(names))], len(names)), strict=True))
    pattern = re.compile("|".join(sorted(map(re.escape, names), key=len, reverse=True)))
    return load_text(pattern.sub(lambda match: other[match[0]], described.text), "renamed.yaml"), other


@given(networks(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=8)
def test_the_order_of_the_file_changes_nothing(described: Fabric, chance: random.Random) -> None:
    flows = flows_of(described, chance, 6)
    other = shuffled(described, chance)
    assume([*other.links] != [*described.links])
    found, again = bracket_of(described, flows), bracket_of(other, flows)
    for name in ("cut", "optimum", "routing", "lucky", "unlucky"):
        one, two = getattr(found, name), getattr(again, name)
        assert (two.slowest, two.total) == pytest.approx((one.slowest, one.total), rel=1e-9), name
    for one, two in ((found.narrowest, again.narrowest), (found.all_cut, again.all_cut)):
        assert name_cut(other, two) == name_cut(described, one)
    rates = [each.value for each in expect(described, flows)]
    assert [each.value for each in expect(other, flows)] == pytest.approx(rates, rel=1e-9)


@given(networks(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=15)
def test_other_names_change_nothing(described: Fabric, chance: random.Random) -> None:
    flows = flows_of(described, chance, 6)
    other, names = renamed(described, chance)
    same = [Flow(NodeId(names[each.source]), NodeId(names[each.sink]), each.demand) for each in flows]
    found, again = bracket_of(described, flows, hashed=False), bracket_of(other, same, hashed=False)
    for name in ("cut", "optimum", "routing"):
        one, two = getattr(found, name), getattr(again, name)
        assert (two.slowest, two.total) == pytest.approx((one.slowest, one.total), rel=1e-9), name


@given(networks(), st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=15)
def test_a_further_link_never_lowers_the_optimum(described: Fabric, chance: random.Random) -> None:
    flows = flows_of(described, chance, 6)
    one, two = chance.sample([*described.switches], 2)
    more = load_text(f"{described.text}  - {{from: {one}, to: {two}, speed: 10G, lag: more}}\n", "more.yaml")
    before, after = (compute_optimum(make_arcs(Routes(each), flows), flows, Routes(each).attachments) for each in (
        described, more,
    ))  # fmt: skip
    assert after.slowest >= before.slowest / SLACK
    assert after.total >= before.total / SLACK


SMALL = """\
schema: 1
fabric: small
network: {mtu: 9000}
switches: {a: {}, b: {}, c: {}, d: {}}
nodes: {n1: {}, n2: {}, n3: {}, n4: {}}
links:
  - {from: n1, to: a, speed: SPEED0}
  - {from: n2, to: b, speed: SPEED1}
  - {from: n3, to: c, speed: SPEED2}
  - {from: n4, to: d, speed: SPEED3}
  - {from: a, to: b, speed: SPEED4}
  - {from: b, to: c, speed: SPEED5}
  - {from: c, to: d, speed: SPEED6}
  - {from: d, to: a, speed: SPEED7}
"""
EVERY = [(f"n{a}", f"n{b}") for a in range(1, 5) for b in range(1, 5) if a != b]


def small(speeds: Sequence[int]) -> Fabric:
    text = SMALL
    for number, speed in enumerate(speeds):
        text = text.replace(f"SPEED{number}", f"{speed}G")
    return load_text(text, "small.yaml")


def simple_paths(described: Fabric, flow: Flow) -> Iterator[list[tuple[str, str]]]:
    """Every path between two nodes that crosses no third."""
    graph = nx.Graph((link.a, link.b) for link in described.links.values())
    others = [node for node in described.nodes if node not in (flow.source, flow.sink)]
    graph.remove_nodes_from(others)
    for path in nx.all_simple_paths(graph, flow.source, flow.sink):
        yield list(itertools.pairwise(path))


def referee(described: Fabric, flows: Sequence[Flow], *, concurrent: bool) -> float:
    """The optimum over paths, one variable each: another form of the program, without arcs and without symmetry."""
    paths = [(index, path) for index, flow in enumerate(flows) for path in simple_paths(described, flow)]
    capacity = {
        (a, b): described.payload(link)
        for link in described.links.values() for a, b in ((link.a, link.b), (link.b, link.a))
    }  # fmt: skip
    hops = {hop: row for row, hop in enumerate(capacity)}
    load = np.zeros((len(hops), len(paths) + 1))
    for column, (_, path) in enumerate(paths):
        for hop in path:
            load[hops[hop], column] = 1.0
    tied = np.zeros((len(flows), len(paths) + 1))
    for column, (index, _) in enumerate(paths):
        tied[index, column] = 1.0
    tied[:, -1] = -1.0
    cost = np.zeros(len(paths) + 1)
    if concurrent:
        cost[-1] = -1.0
    else:
        cost[:-1] = -1.0
    found = linprog(
        cost, A_ub=load, b_ub=list(capacity.values()),
        A_eq=tied if concurrent else None, b_eq=np.zeros(len(flows)) if concurrent else None,
    )  # fmt: skip
    return float(-found.fun)


def every_cut(described: Fabric, flows: Sequence[Flow]) -> float:
    """The least share over all 2^n cuts."""
    devices = [*described.nodes, *described.switches]
    least = float("inf")
    for inside in itertools.product((False, True), repeat=len(devices)):
        side = dict(zip(devices, inside, strict=True))
        crossing = sum(side[flow.source] and not side[flow.sink] for flow in flows)
        carried = sum(described.payload(link) for link in described.links.values() if side[link.a] != side[link.b])
        if crossing:
            least = min(least, carried / crossing)
    return least


@given(
    st.lists(st.sampled_from((10, 25, 40, 100)), min_size=8, max_size=8),
    st.lists(st.sampled_from(EVERY), min_size=1, max_size=6),
)
@settings(deadline=None, max_examples=60)
def test_the_optimum_and_the_cut_are_those_of_all_paths_and_all_cuts(
    speeds: list[int], pairs: list[tuple[str, str]]
) -> None:
    described = small(speeds)
    flows = [Flow(NodeId(a), NodeId(b)) for a, b in pairs]
    found = bracket_of(described, flows, hashed=False)
    assert found.optimum is not None
    assert found.optimum.slowest == pytest.approx(referee(described, flows, concurrent=True), rel=1e-9)
    assert found.optimum.total == pytest.approx(referee(described, flows, concurrent=False), rel=1e-9)
    assert found.narrowest.share >= every_cut(described, flows) / SLACK


def test_a_ring_of_four_carries_what_its_ports_do() -> None:
    """Each to the next but one: half goes each way round, so the ports are the least cut."""
    described = small([100] * 8)
    flows = [Flow(NodeId(f"n{i + 1}"), NodeId(f"n{(i + 2) % 4 + 1}")) for i in range(4)]
    found = bracket_of(described, flows, hashed=False)
    assert found.optimum is not None
    assert found.optimum.slowest == pytest.approx(found.routing.slowest)
    assert name_cut(described, found.narrowest) == "the ports into each of n[1-4]"


def test_demands_bound_too_and_tell_what_of_them_can_be_served() -> None:
    described = small([100] * 8)
    flows = [Flow(NodeId("n1"), NodeId("n2"), demand=5e9), Flow(NodeId("n1"), NodeId("n3"), demand=20e9)]
    found = bracket_of(described, flows, hashed=False)
    carried = 12.5e9 * described.goodput
    assert found.served == pytest.approx(carried / 25e9)
    assert found.optimum is not None
    assert (found.optimum.slowest, found.cut.slowest) == pytest.approx((5e9, 5e9))
    assert (found.optimum.total, found.cut.total) == pytest.approx((carried, carried))


def test_a_channel_carries_its_own_vlan_only() -> None:
    described = load_text(
        "schema: 1\nfabric: vlans\nnetwork: {mtu: 9000}\nswitches: {a: {}, b: {}}\n"
        "nodes: {n1: {}, n2: {}, m1: {}, m2: {}}\nvlans: {1: {members: 'n1,m1'}, 2: {members: 'n2,m2'}}\n"
        "links:\n  - {from: 'n1,n2', to: a, speed: 100G}\n  - {from: 'm1,m2', to: b, speed: 100G}\n"
        "  - {from: a, to: b, speed: 100G, channels: {1: 30G, 2: 70G}}\n",
        "vlans.yaml",
    )
    flows = [Flow(NodeId("n1"), NodeId("m1")), Flow(NodeId("n2"), NodeId("m2"))]
    found = bracket_of(described, flows, hashed=False)
    assert found.optimum is not None
    assert found.optimum.slowest / described.goodput == pytest.approx(30e9 / 8)
    assert found.optimum.total / described.goodput == pytest.approx(100e9 / 8)


def test_a_program_of_too_many_variables_leaves_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchconsole.topology.capacity.optimum.MOST_VARIABLES", 3)
    described = small([100] * 8)
    flows = [Flow(NodeId("n1"), NodeId("n3"))]
    with pytest.raises(ProgramTooLarge):
        compute_optimum(make_arcs(Routes(described), flows), flows, Routes(described).attachments)
    found = bracket_of(described, flows, hashed=False)
    assert found.optimum is None
    assert found.cut.slowest == pytest.approx(12.5e9 * described.goodput)


def test_no_flow_has_no_bracket() -> None:
    with pytest.raises(ValueError, match="no flow"):
        compute_bracket(Routes(small([100] * 8)), [], [])


@pytest.mark.parametrize(
    ("ways", "alike", "name"),
    [
        ([("a--b", "a")], (), "a to b"),
        ([("a--b", "a"), ("b--c", "c")], (), "2 links, a,c to b"),
        ([("n1--a", "n1")], ("n1",), "the ports out of n1"),
        ([("n1--a", "a")], ("n1", "n2"), "the ports into each of n[1-2]"),
        ([("n1--a", "a"), ("n2--b", "b")], (), "all ports into n[1-2]"),
        ([("n1--a", "n1"), ("n2--b", "n2")], (), "all ports out of n[1-2]"),
    ],
)
def test_cuts_are_named(ways: list[tuple[str, str]], alike: tuple[str, ...], name: str) -> None:
    links = tuple(Direction(LinkId(link), source) for link, source in ways)
    assert name_cut(small([100] * 8), Cut(1.0, links, 1, alike)) == name


def test_the_least_cut_in_the_middle_is_found_without_the_prices() -> None:
    described = load_text(
        "schema: 1\nfabric: dumbbell\nswitches: {a1: {}, a2: {}, b1: {}, b2: {}}\nnodes: {'n[1-8]': {}, 'm[1-8]': {}}\n"
        "links:\n  - {from: 'n[1-8]', to: 'a[1-2]', speed: 10G}\n  - {from: 'm[1-8]', to: 'b[1-2]', speed: 10G}\n"
        "  - {from: 'a[1-2]', to: 'b[1-2]', speed: 1G}\n",
        "dumbbell.yaml",
    )
    flows = [Flow(NodeId(f"n{i}"), NodeId(f"m{i}")) for i in range(1, 9)]
    cut = Cuts(make_arcs(Routes(described), flows), flows).find_share()
    assert cut.share / described.goodput == pytest.approx(4e9 / 8 / 8)
    assert name_cut(described, cut) == "4 links, a[1-2] to b[1-2]"


def test_a_port_that_flows_name_is_bounded_by_its_own_cable() -> None:
    """The program knows that the ways of a flow begin and end at its ports, and that ports share what they share."""
    described = load_text(
        'schema: 1\nfabric: x\nnetwork: {goodput: 100 %}\nswitches: {"r[1-2]": {}, s: {role: spine}}\n'
        'nodes: {"g[1-4]": {}}\nlinks:\n  - {from: "g[1-4]:p[1-2]", to: "r[1-2]", speed: 80 Gb/s}\n'
        '  - {from: "r[1-2]", to: s, speed: 120 Gb/s}\n',
        "x.yaml",
    )
    one, two, three = (NodeId(f"g{number}") for number in (1, 2, 3))
    same = [Flow(one, two, leg="p1", last_leg="p1")]
    found = bracket_of(described, same)
    assert found.optimum is not None
    assert found.optimum.slowest == found.cut.slowest == pytest.approx(10e9)
    assert "the ports out of g1:p1" in name_cut(described, found.narrowest)
    # A flow of all ports beside it: p1 carries half of each, so 160 Gb/s are shared as 80 and 80.
    found = bracket_of(described, [*same, Flow(one, two)], hashed=False)
    assert found.optimum is not None
    assert found.optimum.slowest == pytest.approx(10e9)
    assert found.routing.slowest == pytest.approx(80e9 / 1.5 / 8)
    # Across rails two flows share the 120 Gb/s to the spine.
    across = [Flow(node, other, leg="p1", last_leg="p2") for node, other in ((one, two), (two, three))]
    found = bracket_of(described, across)
    assert found.optimum is not None
    assert [found.routing.slowest, found.optimum.slowest, found.cut.slowest] == pytest.approx([7.5e9] * 3)
