"""Topology files that several tests share, and rounds played on them without any network."""

import random
from collections.abc import Mapping
from pathlib import Path

from benchconsole import topology
from benchconsole.probes.api import Against, Metric, Shown, Unit, labels
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Reading, Result, Round
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Direction, Fabric
from benchconsole.topology.routing.routes import Routes

METRICS = {
    "iperf3.throughput": Metric("iperf3.throughput", Unit.BYTE_RATE, "what arrived", Shown.NETWORK, Against.FABRIC),
    "fio.read": Metric("fio.read", Unit.BYTE_RATE, "read", Shown.STORAGE),
}

SMALL = """\
schema: 1
fabric: small
network: {mtu: 1500}
switches:
  spine[1-2]: {role: spine}
  leaf[1-2]: {role: leaf}
nodes:
  n[1-4]: {role: compute}
  n[5-8]: {role: compute}
  st[1-2]: {role: storage}
links:
  - {from: "n[1-4]", to: leaf1, speed: 10 Gb/s}
  - {from: "n[5-8]", to: leaf2, speed: 10 Gb/s}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 10 Gb/s, count: 2}
  - {from: st1, to: spine1, speed: 40 Gb/s}
  - {from: st2, to: spine2, speed: 40 Gb/s}
criteria:
  - {metric: iperf3.throughput, at_least: 80 %, of: capacity}
suites:
  default:
    - {probe: iperf3, design: neighbours}
    - {probe: iperf3, design: trunks}
"""


def fabric(folder: Path, text: str = SMALL) -> Fabric:
    """The fabric that ``text`` describes, read from a file in ``folder``."""
    path = folder / "topology.yaml"
    path.write_text(text)
    return topology.load(path)


def play(
    described: Fabric, each: Round, faults: Mapping[Direction, float], seed: int = 1, noise: float = 0.01
) -> ClosedRound:
    """Run ``each`` on a fabric whose links carry ``faults`` (byte/s on the wire) instead of what is described."""
    chance = random.Random(f"{seed}/{each.number}")
    rates = expect(described, each.flows, capacity=faults)
    results = []
    for test, rate in zip(each.tests, rates, strict=True):
        value = rate.value * (1 - abs(chance.gauss(0, noise)))
        reading = Reading("iperf3.throughput", value, Unit.BYTE_RATE, labels(direction="out"))
        results.append(Result(test, measurements=(replace(reading, id=f"{test.id}#0"),)))
    return ClosedRound(each, tuple(results), CloseReason.COMPLETE, 0.0, 1.0)


def are_connected(routes: Routes, source: str, sink: str) -> bool:
    try:
        routes.shares(source, sink)
    except RoutingError:
        return False
    return True
