"""Two leaves with a LAG between them whose members source ports choose, and tests that divide over all of it."""

from benchconsole.probes.model.sending import Sending
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.probes.judging.rounds import RATE, Sent

LAG = """\
schema: 1
fabric: lag
network: {hash: steered}
networks: {flat: {goodput: 100 %}}
switches: {"leaf[1-2]": {role: leaf}}
nodes: {"a[1-4]": {}, "b[1-4]": {}, "fat[1-2]": {}}
links:
  - {from: "a[1-4]", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "b[1-4]", to: leaf2, speed: 8 Gb/s, network: flat}
  - {from: fat1, to: leaf1, speed: 80 Gb/s, network: flat}
  - {from: fat2, to: leaf2, speed: 80 Gb/s, network: flat}
  - {from: leaf1, to: leaf2, speed: 8 Gb/s, count: COUNT, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""


def load_lag(count: int = 4) -> Fabric:
    """The fabric with so many members, each of ``RATE``; the cables of fat1 and fat2 carry ten times that."""
    return load_text(LAG.replace("COUNT", str(count)), "lag.yaml")


def many(source: str, sink: str, rate: float) -> Sent:
    """One test of so many streams that they divide over all members and legs."""
    return Sent(source, sink, (("out", rate * RATE),), sending=Sending(64))
