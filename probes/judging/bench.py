"""Owns what every yardstick may look at: the fabric, the declared metrics, the criteria in force."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from probes.model import Measurement, Metric, Result, Test
from probes.streams import Walks, fastest
from topology.model import Basis, Comparator, Criterion, Direction, Fabric, Flow, NodeId
from topology.routing import Routes
from topology.units import Shown, Unit, parse

CAPACITY_METRIC = "iperf3.throughput"
CAPACITY_SHARE = 0.8
"""Share of the computed capacity that is asked when a file declares no criterion of its own."""


@dataclass(frozen=True)
class Bench:
    """Everything a judgement depends on beside the measurements. Frozen before the first packet."""

    fabric: Fabric
    metrics: Mapping[str, Metric]

    @cached_property
    def remembered(self) -> dict[int, object]:
        """What attribution made of each closed round, by its number: it is asked again after every round."""
        return {}

    @cached_property
    def routes(self) -> Routes:
        """Path shares, computed once."""
        return Routes(self.fabric)

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The file's criteria, and the default share of capacity where the file asks for none."""
        own = self.fabric.criteria
        if any(criterion.metric == CAPACITY_METRIC for criterion in own):
            return own
        default = Criterion(
            CAPACITY_METRIC, Comparator.AT_LEAST, CAPACITY_SHARE, Unit.ONE, Basis.CAPACITY, source="default"
        )
        return (*own, default)

    def flow(self, test: Test, *, inward: bool | None = None) -> Flow | None:
        """What a test between two nodes sends, or has sent to it (``inward``; None: as it was told); None for others.

        Its demand is the bit rate that it is held to, or what its streams can reach at most: each
        is on one member of every LAG on its way.
        """
        target = test.target
        if target.peer is None or target.ends is None:
            return None
        ends = (target.ends[0].id, target.ends[1].id)
        if inward is not None:
            ends = (target.peer.id, target.node.id) if inward else (target.node.id, target.peer.id)
        flow = Flow(*ends)
        demands = [found for found in (self._bitrate(test), self._of_streams(test, flow)) if found is not None]
        return Flow(*ends, demand=min(demands)) if demands else flow

    @staticmethod
    def _bitrate(test: Test) -> float | None:
        written = test.target.options.get("bitrate")
        return parse(str(written), Unit.BYTE_RATE) if written else None

    def _of_streams(self, test: Test, flow: Flow) -> float | None:
        """What the streams of a test reach at most, where that is less than the whole path offers one flow."""
        streams = test.target.options.get("streams")
        if not isinstance(streams, int) or streams < 1:
            return None
        shares = self.routes.shares_of(flow)
        most = streams * fastest(self.fabric, shares)
        return most if most < min(self.capacity(way) / share for way, share in shares.items()) * (1 - 1e-9) else None

    def members(self, test: Test, flow: Flow) -> Mapping[Direction, int]:
        """The member of each link that a steered test was put on by its source port; empty where that is not known."""
        options = test.target.options
        port = options.get("source_port")
        if options.get("design") != "steered" or not isinstance(port, int) or options.get("streams") != 1:
            return {}
        return self._walks.members(flow, port) if self._walks.ports(flow) > 1 else {}

    @cached_property
    def _walks(self) -> Walks:
        return Walks(self.routes)

    def shown(self, metric: str) -> Shown:
        """How values of ``metric`` are written."""
        found = self.metrics.get(metric)
        return found.shown if found else Shown.PLAIN

    def capacity(self, way: Direction) -> float:
        """Payload capacity of a directed link in byte/s."""
        link = self.fabric.links[way.link]
        return link.capacity * self.fabric.goodput_of(link)

    def wire(self, way: Direction, payload: float) -> float:
        """byte/s on the wire of ``way`` that carry ``payload`` byte/s."""
        return payload / self.fabric.goodput_of(self.fabric.links[way.link])


def matching(criterion: Criterion, result: Result) -> tuple[Measurement, ...]:
    """The measurements of ``result`` that ``criterion`` speaks of."""
    if criterion.nodes and result.test.target.node.id not in criterion.nodes:
        return ()
    return tuple(
        measurement
        for measurement in result.measurements
        if measurement.reading.metric == criterion.metric and set(criterion.where) <= set(measurement.reading.labels)
    )


def nodes_of(result: Result) -> tuple[NodeId, ...]:
    """The nodes that a result speaks of."""
    return tuple(node.id for node in result.test.target.nodes)
