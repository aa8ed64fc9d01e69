"""Described cabling, and what its nodes see of it when all is as described."""

from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.wire.cabling import CableOutcome, DescribedCable, list_cables
from benchconsole.topology.wire.comparison import WireReport
from benchconsole.topology.wire.differences import CablingDifference
from benchconsole.topology.wire.observations import HeardNeighbour, Observed, ObservedPort

PLAIN = """\
schema: 1
fabric: plain
switches:
  spine1: {role: spine}
  leaf[1-3]: {role: leaf}
nodes:
  n[1-4]: {}
  n[5-8]: {}
  n9: {}
links:
  - {from: "n[1-4]", to: leaf1, speed: 10 Gb/s}
  - {from: "n[5-8]", to: leaf2, speed: 10 Gb/s}
  - {from: n9, to: leaf3, speed: 10 Gb/s}
  - {from: "leaf[1-3]", to: spine1, speed: 40 Gb/s}
"""

PORTS = """\
schema: 1
fabric: ports
switches:
  leaf[1-2]: {role: leaf}
nodes:
  n[1-8]: {}
links:
""" + "".join(f'  - {{from: n{node}, to: "leaf{1 + node % 2}:Eth{node}", speed: 10 Gb/s}}\n' for node in range(1, 9))

LEGS = """\
schema: 1
fabric: legs
switches:
  leaf[1-4]: {role: leaf}
nodes:
  n[1-4]: {}
links:
  - {from: "n[1-2]", to: "leaf[1-2]", speed: 10 Gb/s, bond: lacp}
  - {from: "n[3-4]", to: "leaf[3-4]", speed: 10 Gb/s, bond: lacp}
mlag:
  pair: {switches: "leaf[1-2]"}
"""

LAG = """\
schema: 1
fabric: lag
switches:
  leaf1: {role: leaf}
nodes:
  n[1-2]: {}
links:
  - {from: "n[1-2]", to: leaf1, speed: 10 Gb/s, count: 2}
"""

Seen = dict[str, Observed | None]


def port(cable: DescribedCable, index: int, to: str = "") -> ObservedPort:
    """The port that confirms ``cable``, or ends at ``to`` (``leaf2`` or ``leaf2:Eth3``)."""
    device, _, far = (to or cable.place).partition(":")
    return ObservedPort(
        cable.own_port or f"eth{index}", (HeardNeighbour(device, (far,) if far else ()),), cable.speed, carrier=True
    )


def healthy(described: Fabric) -> Seen:
    return {
        node: Observed(tuple(port(cable, index) for index, cable in enumerate(list_cables(described, node))))
        for node in described.nodes
    }


def plugged(described: Fabric, node: str, *ends: str) -> Observed:
    """``node`` with its cables at ``ends`` instead."""
    pairs = zip(list_cables(described, node), ends, strict=True)
    return Observed(tuple(port(cable, index, to) for index, (cable, to) in enumerate(pairs)))


def kinds(report: WireReport) -> list[tuple[CableOutcome, tuple[str, ...]]]:
    return [(difference.kind, difference.nodes) for difference in report.differences]


def only(report: WireReport) -> CablingDifference:
    assert len(report.differences) == 1, report.differences
    return report.differences[0]
