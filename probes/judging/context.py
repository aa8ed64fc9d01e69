"""What every yardstick may look at: the fabric, the declared metrics, the criteria in force, the flows of a round."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from benchconsole.probes.judging.grading import DEFAULT
from benchconsole.probes.judging.round_flows import FlowReader
from benchconsole.probes.model.measuring import Against, Metric
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, Fabric
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.units import Shown, Unit

CAPACITY_SHARE = 0.8
"""Share of the computed capacity that is asked when a file declares no criterion of its own."""


@dataclass(frozen=True)
class JudgingContext:
    """Everything a judgement depends on beside the measurements. Frozen before the first packet."""

    fabric: Fabric
    metrics: Mapping[str, Metric]

    @cached_property
    def routes(self) -> Routes:
        return Routes(self.fabric)

    @cached_property
    def flows(self) -> FlowReader:
        return FlowReader(self.routes)

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The file's criteria, and the default share of capacity for each metric that a probe declares for it.

        The default is left out where the file has a criterion of its own on the metric.
        """
        own = {criterion.metric for criterion in self.fabric.criteria}
        defaults = (
            Criterion(metric.name, Comparator.AT_LEAST, CAPACITY_SHARE, Unit.ONE, Basis.CAPACITY, source=DEFAULT)
            for metric in self.metrics.values()
            if metric.against is Against.FABRIC and metric.name not in own
        )
        return (*self.fabric.criteria, *defaults)

    def capacity_criteria(self, probe: str) -> tuple[Criterion, ...]:
        """The criteria that hold the metrics of a probe against the fabric."""
        return tuple(
            each for each in self.criteria if each.basis is Basis.CAPACITY and each.metric.startswith(f"{probe}.")
        )

    def shown(self, metric: str) -> Shown:
        """How values of ``metric`` are written."""
        declared = self.metrics.get(metric)
        return declared.shown if declared else Shown.PLAIN
