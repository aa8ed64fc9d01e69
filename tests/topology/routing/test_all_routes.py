"""Flows that are routed and walked in arrays cross what each crosses by itself, whatever the fabric is like."""

import random
from collections.abc import Callable, Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity import flow_streams
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.flow_streams import Crossings, trace_flows
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing import all_routes
from benchconsole.topology.routing.all_routes import find_simple, route_together
from benchconsole.topology.routing.flow_hashes import hash_flows
from benchconsole.topology.routing.hashed_paths import CableStep, Hashed, Walker
from benchconsole.topology.routing.hashed_walks import CannotWalkError, HashedWalks, walk_flows
from benchconsole.topology.routing.routes import Routes
from tests.topology.capacity.test_ceilings import write as write_ceilings
from tests.topology.fabrics import networks
from tests.topology.routing.test_link_preference import SITES, TURNED
from tests.topology.routing.test_network_choice import TEXT as SEVERAL_NETWORKS
from tests.topology.routing.test_path_rules import DRAGONFLY, HYPERX, TORUS, UNEQUAL
from tests.topology.routing.test_routing import GATEWAYS
from tests.topology.routing.test_table_paths import TABLES
from tests.topology.wild import MAX_SEED, wild

PAIRS = """\
schema: 1
fabric: pairs
switches: {"l[1-6]": {role: leaf}, "s[1-2]": {role: spine}}
nodes: {"n[1-8]": {}, "o[1-4]": {}, "r[1-4]": {}, "v[1-2]": {host: n1}, "w[1-2]": {host: o2}}
mlag: {a: {switches: "l1,l2"}, b: {switches: "l3,l4"}, top: {switches: "s1,s2"}}
links:
  - {from: "n[1-4]", to: "l1,l2", speed: 10G, bond: lacp, hash: l2}
  - {from: "n[5-6]", to: "l3,l4", speed: 10G, count: 2, bond: lacp, hash: l3}
  - {from: "n[7-8]", to: "l3,l4", speed: 10G, bond: lacp}
  - {from: "o1,o2", to: l1, speed: 10G}
  - {from: "o[3-4]", to: l4, speed: 10G, count: 3}
  - {from: "r[1-2]", to: "l[5-6]", speed: 10G}
  - {from: "r[3-4]", to: l5, speed: 10G, lag: x}
  - {from: "r[3-4]", to: l5, speed: 25G, lag: x}
  - {from: l1, to: l2, speed: 40G, lag: peer}
  - {from: l3, to: l4, speed: 40G, lag: peer, count: 2}
  - {from: s1, to: s2, speed: 40G, lag: peer}
  - {from: "l[1-2]", to: s1, speed: 40G, count: 2, hash: l3l4}
  - {from: "l[3-4]", to: "s[1-2]", speed: 40G}
  - {from: "l[5-6]", to: "s[1-2]", speed: 40G, lag: u}
  - {from: l5, to: s1, speed: 10G, lag: u}
"""
ON_ONE_SWITCH = """\
schema: 1
fabric: shared
networks: {x: {goodput: 90 %}, y: {goodput: 90 %}}
switches: {"s[1-2]": {role: leaf}}
nodes: {"x[1-4]": {}, "y[1-4]": {}, "gw[1-2]": {role: gateway, forwards: true}}
links:
  - {from: "x[1-2],gw1", to: s1, speed: 10G, network: x}
  - {from: "x[3-4]", to: s2, speed: 10G, network: x}
  - {from: "y[1-2]", to: s1, speed: 10G, network: y}
  - {from: "y[3-4],gw2", to: s2, speed: 10G, network: y}
  - {from: s1, to: s2, speed: 40G, lag: x, network: x}
  - {from: s1, to: s2, speed: 40G, lag: y, network: y}
"""
KINDS: dict[str, Callable[[], Fabric]] = {
    "pairs": lambda: load_text(PAIRS, "pairs.yaml"),
    "pairs without a cable between": lambda: load_text(
        "".join(line for line in PAIRS.splitlines(keepends=True) if "lag: peer" not in line), "pairs.yaml"
    ),
    "weights": lambda: load_text(UNEQUAL.replace("RULE", "weighted"), "weights.yaml"),
    "dragonfly": lambda: load_text(DRAGONFLY.replace("RULE", "minimal"), "rules.yaml"),
    "torus": lambda: load_text(TORUS.replace("RULE", "dimension-order"), "rules.yaml"),
    "hyperx": lambda: load_text(HYPERX.replace("RULE", "valiant"), "rules.yaml"),
    "tables": lambda: load_text(TABLES, "tables.yaml"),
    "gateways": lambda: load_text(GATEWAYS, "gateways.yaml"),
    "preferred lines": lambda: load_text(SITES, "sites.yaml"),
    "preferred lines, turned": lambda: load_text(TURNED, "sites.yaml"),
    "networks on one switch": lambda: load_text(ON_ONE_SWITCH, "shared.yaml"),
    "several networks": lambda: load_text(SEVERAL_NETWORKS.replace("MORE\n", ""), "several.yaml"),
    "ceilings": lambda: write_ceilings({"n0": ["slot: {rate: 120 Gb/s}"], "s": ["card: {rate: 300 Gb/s}"]}),
}
SHAPES = list(KINDS)


@pytest.fixture(autouse=True, scope="module")
def few_are_many() -> Iterable[None]:
    """However few flows there are, they are routed in arrays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_routes, "FEW", 0)
        yield


def draw_flows(described: Fabric, chance: random.Random, count: int) -> list[Flow]:
    """Flows between any nodes, some over legs that they name, in a VLAN or a network."""
    nodes, found = list(described.nodes), []
    for _ in range(count):
        flow = Flow(chance.choice(nodes), chance.choice(nodes))
        ends = [described.legs(end) for end in (flow.source, flow.sink)]
        pins: dict[str, Any] = {
            "leg": ends[0] and chance.choice(ends[0]).id,
            "last_leg": ends[1] and chance.choice(ends[1]).id,
            "vlan": chance.choice([*described.vlans, 7]),
            "network": chance.choice([*described.used_networks, ""]),
        }
        kept = {name: value for name, value in pins.items() if value and chance.random() < 0.15}
        found += [replace(flow, **kept)] * chance.choice((1, 1, 2))
    return found


def part_led(described: Fabric, flows: list[Flow], follow: Callable[[Flow], object]) -> tuple[list[Flow], str]:
    """The flows that ``follow`` finds a path for, and what it says of the first other one."""
    led, said = [], ""
    for flow in flows:
        try:
            follow(flow)
        except RoutingError as error:
            said = said or str(error)
        else:
            led.append(flow)
    return led, said


def check_divided(described: Fabric, flows: list[Flow]) -> None:
    """All flows in arrays twice on the same routes, where the second time knows all from the first."""
    alone = Routes(described)
    led, said = part_led(described, flows, alone.route)
    routes = Routes(described)
    for _ in range(2):
        if said:
            with pytest.raises(RoutingError) as refused:
                route_together(routes, flows)
            assert str(refused.value) == said
        if not led:
            continue
        crossed = route_together(routes, led)
        assert (crossed.flow[1:] >= crossed.flow[:-1]).all()
        found: list[dict[int, float]] = [{} for _ in led]
        for flow, way, share in zip(*(column.tolist() for column in crossed), strict=True):
            assert way not in found[flow]
            found[flow][way] = share
        for own, flow in zip(found, led, strict=True):
            route = alone.route(flow)
            other = dict(zip(route.ways.tolist(), route.shares.tolist(), strict=True))
            assert own == pytest.approx(other, rel=1e-12, abs=0)


def walk_alone(walker: Walker, flows: list[Flow]) -> tuple[list[list[CableStep] | None], str]:
    """The path of each flow, None for one that comes to nowhere, and what is said of the first such."""
    paths: list[list[CableStep] | None] = []
    said = ""
    for flow, key in zip(flows, hash_flows(flows), strict=True):
        try:
            paths.append(walker.path(flow, key))
        except RoutingError as error:
            said = said or str(error)
            paths.append(None)
    return paths, said


def check_walked(described: Fabric, flows: list[Flow], *, polarised: bool) -> None:
    """The same for hashed flows. Without one that is refused its parallel streams have other numbers, and other paths."""
    walker, routes = Walker(Routes(described), Hashed(5, polarised=polarised)), Routes(described)
    while flows:
        paths, said = walk_alone(walker, flows)
        try:
            crossed = walk_flows(routes, flows, 5, polarised=polarised)
        except CannotWalkError:
            assert any(link.channels for link in described.links.values())
            return
        except RoutingError as error:
            refused = str(error)
        else:
            steps = list(zip(*(column.tolist() for column in crossed), strict=True))
            assert steps == [(at, step.way, step.member) for at, path in enumerate(paths) for step in path or ()]
            assert not said
            return
        assert refused == said
        flows = [flow for flow, path in zip(flows, paths, strict=True) if path is not None]


def fabrics() -> st.SearchStrategy[Fabric]:
    return st.one_of(
        networks(),
        st.integers(0, MAX_SEED).map(wild),
        st.sampled_from(SHAPES).map(lambda kind: KINDS[kind]()),
    ).filter(lambda described: len(described.nodes) > 0 and len(described.links) > 0)


@given(fabrics(), st.integers(0, MAX_SEED))
@settings(max_examples=200, deadline=None)
def test_flows_together_cross_what_each_crosses_alone(described: Fabric, seed: int) -> None:
    check_divided(described, draw_flows(described, random.Random(seed), 15))


@given(fabrics(), st.integers(0, MAX_SEED), st.booleans())
@settings(max_examples=200, deadline=None)
def test_hashed_flows_together_take_the_path_of_each(described: Fabric, seed: int, polarised: bool) -> None:
    check_walked(described, draw_flows(described, random.Random(seed), 15), polarised=polarised)


@pytest.mark.parametrize("kind", SHAPES)
def test_every_kind_of_fabric_is_routed_and_walked_together(kind: str) -> None:
    described = KINDS[kind]()
    for seed in range(6):
        flows = draw_flows(described, random.Random(seed), 40)
        check_divided(described, flows)
        check_walked(described, flows, polarised=seed % 2 > 0)


@pytest.mark.parametrize("kind", ["pairs", "weights", "preferred lines", "several networks", "ceilings"])
def test_flows_between_simple_ends_are_not_routed_one_by_one(kind: str) -> None:
    described = KINDS[kind]()
    led, _ = part_led(described, draw_flows(described, random.Random(1), 60), Routes(described).route)
    simple = sum(len(each.places) for each in find_simple(Routes(described), led))
    assert simple > len(led) / 4


def test_a_node_that_forwards_does_not_make_its_neighbours_others() -> None:
    described = load_text(ON_ONE_SWITCH, "shared.yaml")
    flows = [Flow(NodeId(source), NodeId(sink)) for source in ("x1", "x2", "gw1") for sink in ("x3", "x4")]
    (found,) = find_simple(Routes(described), flows)
    assert found.places.tolist() == [0, 1, 2, 3]


def test_routes_within_a_network_know_no_nodes_and_no_cables_of_another() -> None:
    routes = Routes(load_text(ON_ONE_SWITCH, "shared.yaml"), frozenset({"x"}))
    flows = [Flow(NodeId("x1"), NodeId("x3")), Flow(NodeId("y1"), NodeId("y3")), Flow(NodeId("x2"), NodeId("x4"))]
    assert routes.ends.find(flows)[2].tolist() == [True, False, True]
    assert {link.network for link in routes.graph.hops_from("s1")["s2"].links} == {"x"}


@given(fabrics(), st.integers(0, MAX_SEED))
@settings(max_examples=100, deadline=None)
def test_walks_under_many_seeds_are_those_under_each(described: Fabric, seed: int) -> None:
    flows = draw_flows(described, random.Random(seed), 10)
    flows, _ = part_led(described, flows, Routes(described).route)
    try:
        walks = HashedWalks(Routes(described), flows)
    except (CannotWalkError, RoutingError):  # one may come to a device from which no peer link leads on
        return
    if not flows:
        return
    found = walks.walk((3, 4))
    crossed = [
        (walk, *walks.cables[cable]) for walk, cable in zip(found.walk.tolist(), found.cable.tolist(), strict=True)
    ]
    each = [walk_flows(Routes(described), flows, number, polarised=False) for number in (3, 4)]
    assert crossed == [
        (turn * len(flows) + flow, way, member)
        for turn, steps in enumerate(each)
        for flow, way, member in zip(*(column.tolist() for column in steps), strict=True)
    ]


def list_loads(crossed: Crossings) -> list[dict[LinkPart, float]]:
    """Per stream the parts that it loads."""
    found: list[dict[LinkPart, float]] = [{} for _ in crossed.owner]
    used = crossed.used
    for stream, link, share in zip(used.flow.tolist(), used.link.tolist(), used.share.tolist(), strict=True):
        part = crossed.parts[link]
        found[stream][part] = found[stream].get(part, 0.0) + share
    return found


@given(fabrics(), st.integers(0, MAX_SEED))
@settings(max_examples=100, deadline=None)
def test_what_flows_load_does_not_depend_on_how_they_are_routed(described: Fabric, seed: int) -> None:
    flows, _ = part_led(described, draw_flows(described, random.Random(seed), 15), Routes(described).route)
    if not flows:
        return
    together = trace_flows(Routes(described), flows, Model.FLUID)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(all_routes, "FEW", len(flows))
        alone = trace_flows(Routes(described), flows, Model.FLUID)
    check_alike(together, alone)


@given(fabrics(), st.integers(0, MAX_SEED))
@settings(max_examples=100, deadline=None)
def test_what_hashed_flows_load_does_not_depend_on_how_they_are_walked(described: Fabric, seed: int) -> None:
    flows, _ = part_led(described, draw_flows(described, random.Random(seed), 15), Routes(described).route)

    def refuse(*_: object, **__: object) -> None:
        raise CannotWalkError

    if not flows:
        return
    try:
        together = trace_flows(Routes(described), flows, Model.HASH, seed=seed)
    except RoutingError:  # one came to a device from which no peer link leads on
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flow_streams, "walk_flows", refuse)
        alone = trace_flows(Routes(described), flows, Model.HASH, seed=seed)
    check_alike(together, alone)
    assert together.used.link.tolist() == alone.used.link.tolist()


def check_alike(crossed: Crossings, other: Crossings) -> None:
    assert list(crossed.parts) == list(other.parts)
    assert crossed.owner.tolist() == other.owner.tolist()
    for own, loads in zip(list_loads(crossed), list_loads(other), strict=True):
        assert own == pytest.approx(loads, rel=1e-12, abs=0)
