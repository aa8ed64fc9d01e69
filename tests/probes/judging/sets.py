"""Closed rounds of tests on sets of nodes, or on a storage system that nodes share, with the verdicts on them."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Metric, Reading, Target, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Result, Round, Test
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, NodeId
from benchconsole.topology.selection import choose

ASKED = 1e9
"""byte/s, or FLOP/s, that every test is asked for."""

SITE = """\
schema: 1
fabric: site
networks: {flat: {goodput: 100 %}}
switches: {leaf: {role: leaf}, far: {role: leaf}}
nodes:
  n[1-8]: {}
  m[1-4]: {}
  gw[1-2]: {role: gateway, forwards: true}
  st[1-3]: {role: storage}
  nfs: {role: storage}
links:
  - {from: "n[1-8],gw[1-2],st[1-3],nfs", to: leaf, speed: 8 Gb/s, network: flat}
  - {from: "m[1-4],gw[1-2]", to: far, speed: 8 Gb/s, network: flat}
storage:
  lake: {servers: "st[1-3]", clients: {near: {nodes: "n[1-8]"}, far: {nodes: "m[1-4]", gateways: "gw[1-2]"}}}
  home: {servers: nfs, clients: {near: {nodes: "n[1-8]"}}}
criteria:
  - {metric: ior.throughput, at_least: 1 GB/s, source: "4.1"}
  - {metric: fio.read, at_least: 1 GB/s, source: "4.2"}
  - {metric: hpl.rate, at_least: 1 GFLOP/s, source: "4.3"}
"""

METRICS = {
    "ior.throughput": Metric("ior.throughput", Unit.BYTE_RATE, "moved"),
    "fio.read": Metric("fio.read", Unit.BYTE_RATE, "read"),
    "hpl.rate": Metric("hpl.rate", Unit.FLOP_RATE, "solved"),
}


def site(text: str = SITE) -> Fabric:
    """Nodes with storage on one switch, and others that reach it over two gateways."""
    return load_text(text, "site.yaml")


def close_sets(
    described: Fabric,
    number: int,
    *sets: tuple[str, float],
    metric: str = "ior.throughput",
    shared: str = "",
    alone: bool = False,
    clients: Sequence[Mapping[str, float]] = (),
) -> ClosedRound:
    """One round of tests, each on ``n[1-4]`` with its share of what is asked, judged.

    ``alone``: tests on a node by itself. ``clients`` are, for each test, further readings of one node with their share.
    """
    probe = metric.partition(".")[0]
    results = []
    for index, (names, share) in enumerate(sets):
        nodes = tuple(described.nodes[NodeId(name)] for name in choose(names, described.nodes, {}))
        options = MappingProxyType({"shared": shared})
        target = Target(nodes[0], options=options) if alone else Target(nodes[0], options=options, members=nodes)
        test = Test(f"{number}/{index}", probe, target, number)
        unit = METRICS[metric].unit
        readings = [Reading(metric, share * ASKED, unit, labels(client="all") if clients else ())]
        own = clients[index] if clients else {}
        readings += [Reading(metric, part * ASKED, unit, labels(client=name)) for name, part in own.items()]
        named = tuple(replace(each, id=f"{test.id}#{place}") for place, each in enumerate(readings))
        results.append(Result(test, measurements=named))
    made = Round(number, f"{probe} {shared}", probe, tuple(each.test for each in results), 1.0, "")
    closed = ClosedRound(made, tuple(results), CloseReason.COMPLETE, 0.0, 1.0)
    return replace(closed, verdicts=judge_round(JudgingContext(described, METRICS), closed))
