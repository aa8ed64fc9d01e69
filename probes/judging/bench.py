"""Owns what every yardstick may look at: the fabric, the declared metrics, the criteria in force."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from probes.model import Measurement, Metric, Result
from topology.model import Basis, Comparator, Criterion, Direction, Fabric, NodeId
from topology.routing import Routes
from topology.units import Shown, Unit

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
