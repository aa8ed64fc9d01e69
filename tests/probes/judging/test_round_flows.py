"""What a flow of a round is expected to reach: its rate, its streams, and the members that its port means."""

from dataclasses import replace
from types import MappingProxyType

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.round_flows import find_steered_path, read_flow
from benchconsole.probes.model.measuring import Target, Test
from benchconsole.probes.model.sending import Directions, Sending
from benchconsole.probes.planning.stream_placement import FIRST_PORT, StreamPaths
from benchconsole.topology.capacity.flow_streams import Model
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import METRICS
from tests.probes.judging.rounds import RATE, Sent, close

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
    flow = read_flow(Routes(FABRIC), pair(FABRIC, sending))
    assert flow is not None
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


@pytest.mark.parametrize(("direction", "model"), [("out", Model.STEERED), ("in", Model.FLUID)])
def test_the_port_says_nothing_of_what_the_peer_sent(direction: str, model: Model) -> None:
    context = JudgingContext(FABRIC, METRICS)
    closed = close(FABRIC, 1, Sent("n1", "n2", ((direction, RATE),), sending=STEERED))
    (result,) = closed.results
    target = replace(result.test.target, options=MappingProxyType({"design": "steered"}))
    result = replace(result, test=replace(result.test, target=target))
    (each,) = context.flows.read(replace(closed, results=(result,)), "iperf3.throughput").measured(context.criteria[-1])
    assert each.model == model.value
