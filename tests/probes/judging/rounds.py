"""Closed rounds made flow by flow, so that a test decides every number that judging sees."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.probes.api import Output, Reading, Target, Unit, labels
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Bundle, Result, Round, Test
from benchconsole.probes.model.sending import ONE_STREAM, Directions, Sending
from benchconsole.probes.planning.stream_placement import FIRST_PORT
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId, NodeId

RATE = 1e9
"""byte/s of payload that a link of ``STAR`` carries: 8 Gb/s without overhead, so that every share is exact."""

STAR = """\
schema: 1
fabric: star
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}}
nodes: {"n[1-8]": {}}
links: [{from: "n[1-8]", to: leaf, speed: 8 Gb/s, network: flat}]
"""

PAIRED = """\
schema: 1
fabric: paired
networks: {flat: {goodput: 100 %}}
switches: {"spine[1-2]": {role: spine}, "leaf[1-2]": {role: leaf}, tor: {role: leaf}}
mlag: {vlt: {switches: "leaf[1-2]"}}
nodes: {"b[1-2]": {}, "s[1-3]": {}, wide: {}}
links:
  - {from: "b[1-2]", to: "leaf[1-2]", speed: 8 Gb/s, bond: lacp, network: flat}
  - {from: "s[1-3]", to: tor, speed: 8 Gb/s, network: flat}
  - {from: wide, to: tor, speed: 8 Gb/s, count: 2, network: flat}
  - {from: "leaf[1-2]", to: spine1, speed: 8 Gb/s, count: 2, network: flat}
  - {from: "tor:te[1-2]", to: "spine1:Eth[1-2]", speed: 8 Gb/s, count: 2, lag: po1, network: flat}
  - {from: "tor:te3", to: "spine1:Eth3", speed: 16 Gb/s, lag: po1, network: flat}
  - {from: tor, to: spine2, speed: 8 Gb/s, network: flat}
  - {from: leaf1, to: leaf2, speed: 8 Gb/s, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""
"""Bonds on an MLAG pair, whose two LAGs lead to one spine; beside it a switch with a LAG of mixed speeds."""


BOTH_WAYS = Sending(directions=Directions.BOTH)


def star(criterion: str = "at_least: 80 %", *, headers: bool = False) -> Fabric:
    """Eight nodes on one switch, with one criterion on throughput; with ``headers``, the wire carries 10 Gb/s."""
    wire = STAR.replace("100 %", "80 %").replace("8 Gb/s", "10 Gb/s") if headers else STAR
    text = f"{wire}criteria: [{{metric: iperf3.throughput, {criterion}, of: capacity}}]\n"
    return load_text(text, "star.yaml")


@dataclass(frozen=True)
class Sent:
    """One test from ``source`` to ``sink`` with its rates, each of one direction, in byte/s."""

    source: str
    sink: str
    rates: Sequence[tuple[str, float]]
    bundle: str = ""
    at: float = 0.0
    ran: float = 10.0
    sending: Sending = ONE_STREAM
    design: str = "pairs"
    share: str = ""


def flow(source: str, sink: str, rate: float, bundle: str = "", *, at: float = 0.0, ran: float = 10.0) -> Sent:
    """One test that sends one way; ``rate`` is a share of what a link carries."""
    return Sent(source, sink, (("out", rate * RATE),), bundle, at, ran)


def steer(source: str, sink: str, rate: float, choice: int) -> Sent:
    """One stream that its source port puts on the way ``choice`` (from 0) at the first fork, on the first at others."""
    sending = Sending(1, source_port=FIRST_PORT + choice)
    return Sent(source, sink, (("out", rate * RATE),), sending=sending, design="steered")


def out_of(described: Fabric, node: str) -> Direction:
    """The way out of a node with one cable."""
    return Direction(described.links_at[node][0].id, node)


def into(described: Fabric, node: str) -> Direction:
    """The way into a node with one cable."""
    link = described.links_at[node][0]
    return Direction(link.id, link.other(node))


def way(link: str, source: str) -> Direction:
    """A directed link by its names."""
    return Direction(LinkId(link), source)


def close(described: Fabric, number: int, *sent: Sent, bundles: Sequence[Bundle] = ()) -> ClosedRound:
    """The round ``number`` after its tests gave these rates."""
    results = []
    for index, each in enumerate(sent):
        ends = described.nodes[NodeId(each.source)], described.nodes[NodeId(each.sink)]
        test = Test(
            f"{number}/{index}",
            "iperf3",
            Target(*ends, MappingProxyType({"design": each.design, "share": each.share})),
            number,
            each.bundle,
            each.sending,
        )
        measured = tuple(
            Reading(
                "iperf3.throughput", rate, Unit.BYTE_RATE, labels(direction=direction),
                id=f"{test.id}#{place}", at=each.at,
            )
            for place, (direction, rate) in enumerate(each.rates)
        )  # fmt: skip
        results.append(Result(test, (Output(("iperf3",), seconds=each.ran),), measured))
    tests = tuple(result.test for result in results)
    made = Round(number, "pairs", "iperf3", tests, 10.0, "", tuple(bundles))
    return ClosedRound(made, tuple(results), CloseReason.COMPLETE, 0.0, 10.0)
