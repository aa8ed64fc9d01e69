"""Models: which next hop and member each flow takes by hash, in turn or as known, and what that makes of rates."""

import gc
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.topology.capacity.expect import APART, compute_capacities, expect, sample_hashes
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.flow_streams import Crossings, trace_flows
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.capacity.maxmin import Usage, certify, max_min, weigh_usage
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, LinkId, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.routing.flow_hashes import hash_flows
from benchconsole.topology.routing.hashed_paths import CableStep, Hashed, InTurn, Walker
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import SMALL, fabric
from tests.topology.fabrics import flows_of, networks

GBPS = 1e9 / 8
EVERY = [Model.FLUID, Model.HASH, Model.POLARISED, Model.STEERED]

LAGS = """\
schema: 1
fabric: lags
network: {mtu: 9000, hash: HASH}
switches: {a: {role: leaf}, b: {role: leaf}}
nodes: {"s[1-60]": {}, "t[1-60]": {}}
links:
  - {from: "s[1-60]", to: a, speed: 10G}
  - {from: "t[1-60]", to: b, speed: 10G}
  - {from: a, to: b, speed: 10G, count: 12, lag: up}
"""
UP = Direction(LinkId("a--b"), "a")


def lags(folder: Path, policy: str = "l3l4") -> Fabric:
    return fabric(folder, LAGS.replace("HASH", policy))


def flow(source: str, sink: str) -> Flow:
    return Flow(NodeId(source), NodeId(sink))


def straight(count: int) -> list[Flow]:
    return [flow(f"s{i}", f"t{i}") for i in range(1, count + 1)]


def members(described: Fabric, flows: list[Flow], model: Model, seed: int = 0) -> list[int]:
    """The member of the LAG that each flow is on."""
    crossed = trace_flows(Routes(described), flows, model, seed=seed)
    on = {
        int(stream): crossed.parts[part].member
        for stream, part in zip(crossed.used.flow, crossed.used.link, strict=True)
        if crossed.parts[part].way == UP and crossed.parts[part].member is not None
    }
    return [member for stream in range(len(flows)) if (member := on[stream]) is not None]


def test_a_hash_always_comes_out_the_same(tmp_path: Path) -> None:
    described = lags(tmp_path)
    first = members(described, straight(60), Model.HASH, seed=1)
    assert first == members(described, straight(60), Model.HASH, seed=1)
    assert first != members(described, straight(60), Model.HASH, seed=2)
    assert members(described, straight(60)[::-1], Model.HASH, seed=1) == first[::-1]


def test_hashed_members_are_uniform(tmp_path: Path) -> None:
    """Chi-square with 11 degrees of freedom is above 31.3 once in a thousand; the seeds are fixed."""
    described = lags(tmp_path)
    found = Counter(member for seed in range(40) for member in members(described, straight(60), Model.HASH, seed))
    each = 40 * 60 / 12
    assert sum((found[member] - each) ** 2 / each for member in range(12)) < 31.3


def test_busy_members_are_as_many_as_balls_in_bins_say(tmp_path: Path) -> None:
    found = sample_hashes(lags(tmp_path), straight(30), draws=600, seed=5)
    expected = 12 * (1 - (11 / 12) ** 30)
    assert found.aggregate.mean / (8948 / 9038) / GBPS / 10 == pytest.approx(expected, abs=0.12)
    assert (found.model, found.draws, found.flows) == (Model.HASH, 600, 30)
    assert found.slowest.p5 <= found.slowest.mean <= found.slowest.p95
    assert found.barrier.mean == pytest.approx(30 * found.slowest.mean)


def test_draws_that_were_stopped_are_the_first_of_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchconsole.topology.capacity.expect._AT_ONCE", 60)
    described, flows = lags(tmp_path), straight(30)
    told: list[int] = []

    def go_on(made: int) -> bool:
        told.append(made)
        return made < 6

    stopped = sample_hashes(described, flows, draws=100, seed=5, go_on=go_on)
    assert told == [2, 4, 6]
    assert (stopped.draws, stopped.asked) == (6, 100)
    assert stopped.aggregate == sample_hashes(described, flows, draws=6, seed=5).aggregate


@pytest.mark.parametrize(("policy", "together"), [("l2", True), ("l3", True), ("l3l4", False), ("unknown", False)])
def test_parallel_streams_part_where_the_hash_sees_ports(tmp_path: Path, policy: str, together: bool) -> None:
    on = members(lags(tmp_path, policy), [flow("s1", "t1")] * 24, Model.HASH)
    assert (len(set(on)) == 1) is together


def test_steering_uses_members_in_turn(tmp_path: Path) -> None:
    assert members(lags(tmp_path), straight(30), Model.STEERED) == [i % 12 for i in range(30)]
    assert members(lags(tmp_path, "steered"), straight(30), Model.HASH) == [i % 12 for i in range(30)]


STAGES = """\
schema: 1
fabric: stages
switches: {a: {role: leaf}, b: {role: leaf}, c: {role: leaf}}
nodes: {"s[1-200]": {}, t: {}}
links:
  - {from: "s[1-200]", to: a, speed: 10G}
  - {from: t, to: c, speed: 100G}
  - {from: a, to: b, speed: 10G, count: FIRST, lag: one}
  - {from: b, to: c, speed: 10G, count: SECOND, lag: two}
"""


@pytest.mark.parametrize(("one", "two"), [(2, 2), (2, 3), (4, 6), (6, 4), (3, 3)])
def test_one_hash_everywhere_reaches_few_members_behind_each(tmp_path: Path, one: int, two: int) -> None:
    text = STAGES.replace("FIRST", str(one)).replace("SECOND", str(two))
    routes = Routes(fabric(tmp_path, text))
    flows = [flow(f"s{i}", "t") for i in range(1, 201)]
    for polarised, reached in ((True, two // math.gcd(one, two)), (False, two)):
        walker = Walker(routes, Hashed(3, polarised=polarised))
        behind: dict[int, set[int]] = {}
        for each, key in zip(flows, hash_flows(flows), strict=True):
            _, first, second, _ = walker.path(each, key)
            behind.setdefault(first.member, set()).add(second.member)
        assert {len(found) for found in behind.values()} == {reached}
        assert len(behind) == one


def test_equal_next_hops_are_used_in_turn_in_the_order_of_the_file(tmp_path: Path) -> None:
    described = fabric(
        tmp_path, SMALL.replace("  spine[1-2]: {role: spine}", "  spine2: {role: spine}\n  spine1: {role: spine}")
    )
    walker = Walker(Routes(described), InTurn())
    flows = [flow(f"n{i}", f"n{i + 4}") for i in range(1, 5)]
    graph = Routes(described).graph
    taken = [
        [(graph.direction(step.way).link, step.member) for step in walker.path(each, key)[1:3]]
        for each, key in zip(flows, hash_flows(flows), strict=True)
    ]
    assert taken == [
        [("leaf1--spine2", 0), ("leaf2--spine2", 0)],
        [("leaf1--spine1", 0), ("leaf2--spine1", 0)],
        [("leaf1--spine2", 1), ("leaf2--spine2", 1)],
        [("leaf1--spine1", 1), ("leaf2--spine1", 1)],
    ]


PAIR = """\
schema: 1
fabric: pair
switches: {"m[1-2]": {role: chassis}, leaf: {role: leaf}}
mlag: {vlt: {switches: "m[1-2]"}}
nodes: {"n[1-2]": {}, "far[1-20]": {}}
links:
  - {from: "n[1-2]", to: "m[1-2]", speed: 10G, bond: lacp}
  - {from: "m[1-2]", to: leaf, speed: 40G, count: 2}
  - {from: "far[1-20]", to: leaf, speed: 10G}
"""


def test_a_pinned_last_leg_is_reached_without_a_peer_link(tmp_path: Path) -> None:
    walker = Walker(Routes(fabric(tmp_path, PAIR)), Hashed(1))
    flows = [Flow(NodeId(f"far{i}"), NodeId("n1"), last_leg=LinkId("n1--m2")) for i in range(1, 21)]
    paths = [walker.path(each, key) for each, key in zip(flows, hash_flows(flows), strict=True)]
    assert {len(path) for path in paths} == {3}
    assert {path[1].member for path in paths} == {0, 1}


def test_known_members_pin_legs(tmp_path: Path) -> None:
    described = fabric(tmp_path, PAIR)
    out, into = Direction(LinkId("n1--m2"), "n1"), Direction(LinkId("n2--m1"), "m1")
    up, down = Direction(LinkId("m2--leaf"), "m2"), Direction(LinkId("m1--leaf"), "leaf")
    flows = [flow("n1", "far1"), flow("far2", "n2")]
    found = trace_flows(Routes(described), flows, Model.MEMBERS, members={0: {out: 0, up: 1}, 1: {into: 0}})
    crossed = {(int(stream), found.parts[part]) for stream, part in zip(found.used.flow, found.used.link, strict=True)}
    assert {(0, LinkPart(out)), (0, LinkPart(up)), (0, LinkPart(up, member=1))} <= crossed
    assert {(1, LinkPart(into)), (1, LinkPart(down))} <= crossed
    assert found.used.share.tolist() == [1.0] * len(crossed) == [1.0] * 7


@given(networks(), st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_walk_is_one_of_the_ways_that_a_fluid_takes(described: Fabric, chance: object, turns: bool) -> None:
    routes = Routes(described)
    flows = flows_of(described, chance, 6)
    walker = Walker(routes, InTurn() if turns else Hashed(7))
    for each, key in zip(flows, hash_flows(flows), strict=True):
        path = walker.path(each, key)
        ways = [routes.graph.direction(step.way) for step in path]
        assert ways[0].source == each.source
        ends = [described.links[way.link].other(way.source) for way in ways]
        assert [way.source for way in ways[1:]] == ends[:-1]
        assert ends[-1] == each.sink
        assert set(ways) <= set(routes.shares_of(each))
        for step, way in zip(path, ways, strict=True):
            link = described.links[way.link]
            assert 0 <= step.member < link.count
            assert (step.vlan is None) is (not link.channels)


@given(networks(), st.randoms(use_true_random=False), st.sampled_from(EVERY))
@settings(max_examples=120, deadline=None)
def test_rates_hold_their_certificate(described: Fabric, chance: object, model: Model) -> None:
    flows = flows_of(described, chance, 12)
    crossed = trace_flows(Routes(described), flows, model, seed=1)
    limits = compute_capacities(described, crossed.parts, {})
    demand = np.array([math.inf if each.demand is None else each.demand for each in flows])[crossed.owner]
    used = weigh_usage(crossed.used, crossed.weight)
    level = max_min(used, limits, demand)
    assert certify(used, limits, demand, level)
    found = expect(described, flows, model=model, seed=1)
    assert [each.value for each in found] == pytest.approx(np.bincount(crossed.owner, level * crossed.weight).tolist())
    assert np.bincount(crossed.owner, crossed.weight).tolist() == pytest.approx([1.0] * len(flows))
    for each, limit in zip(flows, found, strict=True):
        assert limit.limiting or limit.value == pytest.approx(each.demand)


@given(networks(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_what_flows_load_together_is_what_each_loads_by_its_shares(described: Fabric, chance: object) -> None:
    flows = flows_of(described, chance, 12)
    crossed = trace_flows(Routes(described), flows, Model.FLUID)
    loaded: list[Counter[Direction]] = [Counter() for _ in flows]
    for stream, link, share in zip(crossed.used.flow, crossed.used.link, crossed.used.share, strict=True):
        if crossed.parts[link].is_whole:
            loaded[crossed.owner[stream]][crossed.parts[link].way] += share * crossed.weight[stream]
    for each, load in zip(flows, loaded, strict=True):
        assert dict(load) == pytest.approx(dict(Routes(described).shares_of(each)), rel=1e-12)


@given(networks(), st.randoms(use_true_random=False), st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_path_does_not_depend_on_those_that_were_walked_before(
    described: Fabric, chance: object, polarised: bool
) -> None:
    flows = flows_of(described, chance, 12)
    walker = Walker(Routes(described), Hashed(3, polarised=polarised))
    for each, key in zip(flows, hash_flows(flows), strict=True):
        assert walker.path(each, key) == Walker(Routes(described), Hashed(3, polarised=polarised)).path(each, key)


def test_hashed_flows_leave_no_cycles_behind(tmp_path: Path) -> None:
    routes = Routes(lags(tmp_path))
    trace_flows(routes, straight(4), Model.HASH)
    gc.collect()
    trace_flows(routes, straight(60), Model.HASH)
    assert gc.collect() < 60


UNEQUAL = """\
schema: 1
fabric: unequal
switches: {a: {role: leaf}, b: {role: leaf}, c: {role: leaf}}
nodes: {"s[1-4]": {}, "t[1-4]": {}, u: {}}
links:
  - {from: "s[1-4]", to: a, speed: 10G}
  - {from: "t[1-4]", to: b, speed: 10G}
  - {from: u, to: c, speed: 100G}
  - {from: a, to: b, speed: 40G, lag: up}
  - {from: a, to: b, speed: 10G, lag: up}
  - {from: b, to: c, speed: 10G, lag: up}
  - {from: b, to: c, speed: 5G, lag: up}
"""


def test_unequal_members_do_not_wait_for_each_other(tmp_path: Path) -> None:
    """Of each flow, half is on the slow member: 2.5 Gb/s. Tied to it, the other half would get no more."""
    described = fabric(tmp_path, UNEQUAL)
    found = expect(described, straight(4))
    assert [each.value / described.goodput / GBPS for each in found] == pytest.approx([10.0] * 4)
    assert {each.model for each in found} == {"fluid" + APART}
    assert {part for each in found for part in each.parts} == {LinkPart(UP, member=1)}
    crowd = expect(described, straight(4) * 2)
    assert [each.value / described.goodput / GBPS for each in crowd] == pytest.approx([5.0] * 8)
    hurt = expect(described, straight(4), capacity={UP: 20 * GBPS})
    assert sum(each.value for each in hurt) / described.goodput / GBPS == pytest.approx(20.0)


def test_unequal_members_one_after_another(tmp_path: Path) -> None:
    """Each quarter of a flow is on one member of either LAG; four flows fill the second, 15 Gb/s."""
    described = fabric(tmp_path, UNEQUAL)
    crossed = trace_flows(Routes(described), [flow("s1", "u")], Model.FLUID)
    assert crossed.weight.tolist() == [1 / 4] * 4
    found = expect(described, [flow(f"s{i}", "u") for i in range(1, 5)])
    assert sum(each.value for each in found) / described.goodput / GBPS == pytest.approx(15.0)


def test_equal_members_are_one_pipe(tmp_path: Path) -> None:
    """The members taken one by one give what the pipe gives: the rule that the fluid model rests on."""
    described = lags(tmp_path)
    flows = straight(60)
    pipe = expect(described, flows)
    apart = member_by_member(described, flows)
    limits = compute_capacities(described, apart.parts, {})
    level = max_min(weigh_usage(apart.used, apart.weight), limits, np.full(len(apart.owner), math.inf))
    assert np.bincount(apart.owner, level * apart.weight).tolist() == pytest.approx([each.value for each in pipe])


def member_by_member(described: Fabric, flows: list[Flow]) -> Crossings:
    """Every flow as twelve streams, one on each member."""
    each = [
        trace_flows(Routes(described), flows, Model.FLUID, members={i: {UP: m} for i in range(60)}) for m in range(12)
    ]
    parts = tuple(dict.fromkeys(part for found in each for part in found.parts))
    number = {part: index for index, part in enumerate(parts)}
    stream = np.concatenate([found.used.flow + 60 * m for m, found in enumerate(each)])
    column = np.concatenate([[number[found.parts[link]] for link in found.used.link] for found in each])
    used = Usage(stream, column, np.concatenate([found.used.share for found in each]))
    return Crossings(used, parts, np.tile(np.arange(60), 12), np.full(720, 1 / 12))


def test_known_members_choose_the_link_among_equal_ones(tmp_path: Path) -> None:
    described = fabric(tmp_path)
    via = Direction(LinkId("leaf1--spine2"), "leaf1")
    found = expect(described, [flow("n1", "n5"), flow("n2", "n6")], members={0: {via: 1}})
    assert [each.value / described.goodput / GBPS for each in found] == pytest.approx([10.0, 10.0])
    shares = Routes(described).route(
        flow("n1", "n5"), frozenset({Routes(described).graph.way(described.links[via.link], "leaf1")})
    )
    assert shares.shares.tolist() == [1.0] * 4
    both = expect(described, [flow("n1", "n5"), flow("n2", "n6")], members={0: {via: 1}, 1: {via: 1}})
    assert [each.value / described.goodput / GBPS for each in both] == pytest.approx([5.0, 5.0])
    assert both[0].parts == (LinkPart(via, member=1),)


@pytest.mark.parametrize(
    ("known", "words"),
    [
        ({0: {Direction(LinkId("leaf1--spine1"), "leaf1"): 2}}, "cannot be on member 2 of leaf1--spine1"),
        ({0: {Direction(LinkId("leaf9--spine1"), "leaf9"): 0}}, "cannot be on member 0 of leaf9--spine1"),
        ({0: {Direction(LinkId("leaf1--spine1"), "spine1"): 0}}, "does not cross leaf1--spine1 from spine1"),
        ({7: {Direction(LinkId("leaf1--spine1"), "leaf1"): 0}}, "members of flow 7 are given, but there are 1 flows"),
    ],
)
def test_known_members_that_cannot_be(tmp_path: Path, known: dict[int, dict[Direction, int]], words: str) -> None:
    with pytest.raises(RoutingError, match=words):
        expect(fabric(tmp_path), [flow("n1", "n5")], members=known)


def test_models_that_choose_take_no_known_members(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="chooses its own"):
        expect(fabric(tmp_path), [flow("n1", "n5")], model=Model.HASH, members={0: {}})
    with pytest.raises(ValueError, match="nothing to draw"):
        sample_hashes(fabric(tmp_path), [flow("n1", "n5")], model=Model.FLUID)


def test_a_hashed_flow_without_a_vlan_is_in_one_channel(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: split
switches: {west: {role: core}, east: {role: core}}
nodes: {"w[1-20]": {}, "e[1-20]": {}}
links:
  - {from: "w[1-20]", to: west, speed: 10G}
  - {from: "e[1-20]", to: east, speed: 10G}
  - {from: west, to: east, speed: 100G, channels: {265: 50G, 266: 50G}}
"""
    described = fabric(tmp_path, text)
    flows = [flow(f"w{i}", f"e{i}") for i in range(1, 21)]
    walker = Walker(Routes(described), Hashed(0))
    taken = {walker.path(each, key)[1].vlan for each, key in zip(flows, hash_flows(flows), strict=True)}
    assert taken == {265, 266}
    fluid = expect(described, flows)
    assert sum(each.value for each in fluid) / described.goodput / GBPS == pytest.approx(100.0)
    assert {part.vlan for part in fluid[0].parts} == {265, 266}


def test_a_shared_line_is_no_wider_than_what_is_left_of_it(tmp_path: Path) -> None:
    text = LAGS.replace("HASH", "l3l4").replace("lag: up}", "lag: up, rtt: 50 ms, available: 40G}")
    described = fabric(tmp_path, text)
    for model in EVERY:
        found = expect(described, straight(60), model=model)
        assert sum(each.value for each in found) / described.goodput / GBPS == pytest.approx(40.0)


def test_payload_is_that_of_the_limiting_network(tmp_path: Path) -> None:
    text = """\
schema: 1
fabric: nets
network: {mtu: 9000}
networks: {elan: {goodput: 90 %}}
switches: {e: {role: leaf}, g: {role: leaf}}
nodes: {c: {}, gw: {forwards: true}, s: {}}
links:
  - {from: "c,gw", to: e, speed: 10G, network: elan}
  - {from: "gw,s", to: g, speed: 10G}
"""
    described = fabric(tmp_path, text)
    alone = expect(described, [flow("c", "s")])[0]
    assert (alone.value / GBPS, alone.goodput) == pytest.approx((9.0, 0.9))
    behind = remove_elements(described, links=["s--g"])
    slow = replace(behind.links[LinkId("gw--g")], id=LinkId("s--g"), a="s", speed=GBPS)
    slower = replace(behind, links={**behind.links, slow.id: slow})
    other = expect(slower, [flow("c", "s")])[0]
    assert other.goodput == pytest.approx(described.goodput)
    small = expect(described, [Flow(NodeId("c"), NodeId("s"), demand=GBPS)])[0]
    assert (small.value, small.limiting) == (GBPS, ())
    assert small.goodput == pytest.approx(0.9)


def test_steps_name_member_and_channel() -> None:
    assert CableStep(4, 1) == (4, 1, None)
