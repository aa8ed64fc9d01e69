"""The expectation of a flow of a round: its rate, its streams, and the members that its port means."""

from types import MappingProxyType

import pytest

from benchconsole.probes.api import Reading, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.part_loads import PartLoads
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.round_flows import RoundFlows, find_flow, find_steered_path, limit_flows
from benchconsole.probes.model.measuring import Target, Test
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.probes.planning.stream_placement import FIRST_PORT, StreamPaths
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import METRICS
from tests.probes.judging.rounds import PAIRED, RATE, Sent, close, flow, star, steer, way

BONDED = """\
schema: 1
fabric: bonded
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}}
nodes: {"n[1-2]": {}, wide: {}}
links:
  - {from: "n[1-2]", to: leaf, speed: 8 Gb/s, count: 4, network: flat, hash: steered}
  - {from: wide, to: leaf, speed: 80 Gb/s, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""
FABRIC = load_text(BONDED, "bonded.yaml")


def pair(described: Fabric, sending: Sending, **options: str) -> Test:
    ends = described.nodes[NodeId("n1")], described.nodes[NodeId("n2")]
    return Test("t", "iperf3", Target(*ends, MappingProxyType(options)), 1, sending=sending)


@pytest.mark.parametrize(
    ("streams", "rate", "demand"),
    [
        (1, None, 1.0),  # one member
        (1, 0.9, 0.9),
        (1, 1.0, 1.0),
        (1, 1.1, 1.0),
        (3, None, 3.0),
        (3, 2.9, 2.9),
        (3, 3.1, 3.0),
        (4, None, None),  # as much as all members: its links bound it, not its streams
        (4, 3.9, 3.9),
        (5, None, None),
    ],
)
def test_a_flow_demands_its_rate_or_what_its_streams_can_reach(
    streams: int, rate: float | None, demand: float | None
) -> None:
    sending = Sending(streams, None if rate is None else rate * RATE)
    reading = Reading("iperf3.throughput", RATE, Unit.BYTE_RATE)
    routes, sent = Routes(FABRIC), find_flow(pair(FABRIC, sending), reading)
    assert sent is not None
    (flow,) = limit_flows(routes.graph, [sent], [routes.route(sent)], [streams])
    assert flow.demand == (None if demand is None else demand * RATE)


@pytest.mark.parametrize(("streams", "links"), [(3, False), (4, True), (5, True)])
def test_what_the_slowest_link_carries_is_no_demand_of_the_flow(streams: int, links: bool) -> None:
    """Four streams fill the four members of n1, whatever the faster link beyond could carry."""
    context = JudgingContext(FABRIC, METRICS)
    closed = close(FABRIC, 1, Sent("n1", "wide", (("out", RATE),), sending=Sending(streams)))
    (each,) = context.flows.read(closed, "iperf3.throughput").measured(context.criteria[-1])
    assert each.expected.value == min(streams, 4) * RATE
    assert bool(each.expected.limiting) is links


STEERED = Sending(1, source_port=FIRST_PORT + 1)


@pytest.mark.parametrize(
    ("design", "sending", "known"),
    [
        ("steered", STEERED, True),
        ("sample", STEERED, False),
        ("steered", replace(STEERED, source_port=None), False),
        ("steered", replace(STEERED, streams=2), False),  # the second stream has another port
        ("steered", replace(STEERED, directions=Directions.REVERSED), False),  # the port is that of the other end
        ("steered", replace(STEERED, directions=Directions.BOTH), False),
    ],
)
def test_members_are_known_of_one_stream_that_is_sent_from_a_steered_port(
    design: str, sending: Sending, known: bool
) -> None:
    test = pair(FABRIC, sending, design=design)
    found = find_steered_path(StreamPaths(Routes(FABRIC)), test, test.flows[0])
    assert bool(found) is known


@pytest.mark.parametrize(
    ("change", "known"),
    [
        (("", ""), True),
        ((", count: 4", ""), False),  # no fork: there is nothing to steer
        (("steered", "unknown"), False),
        (("steered", "l3l4"), False),
    ],
)
def test_members_are_known_where_there_are_forks_of_a_steered_hash(change: tuple[str, str], known: bool) -> None:
    described = load_text(BONDED.replace(*change) if change[0] else BONDED, "bonded.yaml")
    test = pair(described, STEERED, design="steered")
    path = find_steered_path(StreamPaths(Routes(described)), test, test.flows[0])
    assert [step.member for step in path] == ([1, 0] if known else [])


@pytest.mark.parametrize(("direction", "model"), [("out", Model.STEERED), ("in", Model.FLUID)])
def test_the_port_says_nothing_of_what_the_peer_sent(direction: str, model: Model) -> None:
    context = JudgingContext(FABRIC, METRICS)
    closed = close(FABRIC, 1, Sent("n1", "n2", ((direction, RATE),), sending=STEERED))
    (result,) = closed.results
    target = replace(result.test.target, options=MappingProxyType({"design": "steered"}))
    result = replace(result, test=replace(result.test, target=target))
    (each,) = context.flows.read(replace(closed, results=(result,)), "iperf3.throughput").measured(context.criteria[-1])
    assert each.model == model.value


# -- what a round tells of its parts


def read(described: Fabric, *sent: Sent) -> tuple[RoundFlows, Parts]:
    context = JudgingContext(described, METRICS)
    return context.flows.read(close(described, 1, *sent), "iperf3.throughput"), context.parts


@pytest.mark.parametrize(("rate", "slow"), [(0.849, True), (0.85, False), (0.851, False)])
def test_a_flow_is_slow_below_85_per_cent_of_its_expectation(rate: float, slow: bool) -> None:
    flows, _ = read(star(), flow("n1", "n2", rate), flow("n3", "n4", 1.0))
    assert flows.slow.tolist() == [slow, False]


@pytest.mark.parametrize(
    ("rates", "spared"),
    [
        ([0.1], False),  # no other flow to compare with
        ([0.3], False),
        ([0.5, 0.5], True),
        ([0.5, 0.1], True),  # one is slow
        ([0.1, 0.1], False),
        ([0.33, 0.33, 0.1], True),
        ([0.33, 0.1, 0.1], False),
    ],
)
def test_a_part_is_spared_if_not_more_than_one_of_several_flows_is_slow(rates: list[float], spared: bool) -> None:
    flows, parts = read(star(), *(flow("n1", f"n{number}", rate) for number, rate in enumerate(rates, 2)))
    n1 = parts.graph.way(parts.graph.links[0], "n1")
    assert bool(flows.spared[n1]) is spared
    assert not flows.spared[n1 + 1 :].any()  # a single flow goes into each of the others


def test_loads_and_offers_are_told_of_each_part() -> None:
    flows, parts = read(star(), flow("n1", "n2", 0.2), flow("n1", "n3", 0.4), flow("n4", "n3", 0.3))
    number = {link.a: 2 * index for index, link in enumerate(parts.graph.links)}
    told = {name: (flows.loads[part], flows.offered[part]) for name, part in number.items()}
    assert told["n1"] == pytest.approx((0.6 * RATE, RATE))
    assert told["n4"] == pytest.approx((0.3 * RATE, 0.5 * RATE))
    assert told["n2"] == (0, 0)  # it sent nothing
    into = number["n3"] + 1
    assert flows.loads[into] == pytest.approx(0.7 * RATE)
    assert flows.offered[into] == pytest.approx(RATE)


@pytest.mark.parametrize(
    ("rates", "outpaced"),
    [
        ((0.299, 0.4), (True, False)),  # the only other one is clearly faster
        ((0.3, 0.4), (False, False)),  # 75 % of it: the bound
        ((0.301, 0.4), (False, False)),
        ((0.1, 0.1, 0.4), (False, False, False)),  # one of two others
        ((0.1, 0.3, 0.4), (True, False, False)),  # both others
        ((0.1, 0.1, 0.3, 0.4), (True, True, False, False)),  # two of three
        ((0.4,), (False,)),
    ],
)
def test_a_flow_is_outpaced_where_most_others_over_a_part_are_clearly_faster(
    rates: tuple[float, ...], outpaced: tuple[bool, ...]
) -> None:
    sent = [flow("n1", f"n{number}", rate) for number, rate in enumerate(rates, 2)]
    flows, _ = read(star(), *sent)
    measured = flows.find_measured([f"1/{number}#0" for number in range(len(rates))])
    assert tuple(bool(each.outpaced[0]) for each in measured) == outpaced
    assert not any(each.outpaced[1:].any() for each in measured)


def test_nobody_is_outpaced_where_flows_cross_in_part() -> None:
    described = load_text(PAIRED, "paired.yaml")
    flows, parts = read(described, Sent("b1", "s1", (("out", 0.8 * RATE),), sending=Sending(8)))
    ways = {parts.graph.direction(part): part for part in range(parts.ways)}
    leg, last = ways[way("b1--leaf1", "b1")], ways[way("s1--tor", "tor")]
    assert (flows.loads[leg], flows.loads[last]) == (0.4 * RATE, 0.8 * RATE)
    assert not flows.outpaced.any()
    assert not flows.spared[leg]


def test_a_steered_flow_loads_its_member_and_the_lag() -> None:
    flows, parts = read(FABRIC, steer("n1", "n2", 0.5, 2), steer("n2", "n1", 0.25, 0))
    links = {link.id: link for link in parts.graph.links}
    out = parts.graph.way(links[LinkId("n1--leaf")], "n1")
    loads = [flows.loads[parts.member(out, member)] / RATE for member in range(4)]
    assert (loads, flows.loads[out]) == ([0, 0, 0.5, 0], 0.5 * RATE)
    back = [flows.offered[parts.member(out ^ 1, member)] / RATE for member in range(4)]
    assert (sum(back), flows.offered[out ^ 1]) == (1, RATE)
    (first, _) = flows.find_measured(["1/0#0", "1/1#0"])
    known = {parts.way(part): parts.member_of(part) for part in first.parts.tolist() if part >= parts.ways}
    assert known[out] == 2
    assert first.parts[: len(first.route.ways)].tolist() == first.route.ways.tolist()


def test_streams_on_assumed_paths_prove_nothing_to_others() -> None:
    """A stream that was steered over a lost member falls on another: that it was fast does not clear the member."""
    flows, parts = read(FABRIC, steer("n1", "n2", 1.0, 2))
    loads = PartLoads(parts)
    loads.add(flows)
    out = parts.graph.way(next(link for link in parts.graph.links if link.id == "n1--leaf"), "n1")
    assert loads.assumed[parts.member(out, 2)] == RATE
    assert not loads.proven.any()
    flows, parts = read(FABRIC, Sent("n1", "n2", (("out", 3 * RATE),), sending=Sending(32)))
    loads.add(flows)
    assert loads.proven[out] == loads.assumed[out] == 3 * RATE
