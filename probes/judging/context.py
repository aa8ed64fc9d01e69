"""Inputs of every yardstick: the fabric, the declared metrics, the criteria in force, the flows of a round."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from benchconsole.probes.judging.criterion_match import DefaultCriterion
from benchconsole.probes.judging.hash_interval import HashIntervals
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.patterns import group_nodes
from benchconsole.probes.judging.round_flows import FlowReader
from benchconsole.probes.model.measuring import Against, Metric, Test
from benchconsole.topology.analysis.storage_ceilings import GroupCeilings, compute_ceilings
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, Fabric
from benchconsole.topology.model.storage import Storage
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.units import Shown, Unit

CAPACITY_SHARE = 0.8
"""Share of the computed capacity that is asked of flows of which no criterion of the file asks a share of it."""


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
        return FlowReader(self.routes, self.parts)

    @cached_property
    def parts(self) -> Parts:
        return Parts(self.routes.graph)

    @cached_property
    def hash_intervals(self) -> HashIntervals:
        return HashIntervals(self.routes)

    @cached_property
    def groupings(self) -> dict[str, dict[str, str]]:
        """The group of each node, by kind of group: switch, chassis, rack, VLAN."""
        return group_nodes(self.fabric)

    @cached_property
    def ceilings(self) -> tuple[GroupCeilings, ...]:
        """The ceiling of each storage system for each set of its clients."""
        return compute_ceilings(self.fabric)

    @cached_property
    def criteria(self) -> tuple[Criterion, ...]:
        """The file's criteria, and the default share of capacity for each metric that a probe declares for it.

        The default stands beside every other criterion. It is left out where the file asks for a share of capacity
        itself, of all nodes and labels; where that speaks of some only, ``capacity`` holds the rest to the default.
        """
        own = {each.metric for each in self.fabric.criteria if _asks_capacity(each) and not (each.where or each.nodes)}
        defaults = (
            DefaultCriterion(metric.name, Comparator.AT_LEAST, CAPACITY_SHARE, Unit.ONE, Basis.CAPACITY)
            for metric in self.metrics.values()
            if metric.against is Against.FABRIC and metric.name not in own
        )
        return (*self.fabric.criteria, *defaults)

    @cached_property
    def session_probes(self) -> frozenset[str]:
        """The probes of whose numbers a criterion asks something together."""
        asked = [each for each in self.fabric.criteria if each.is_of_session]
        metrics = [each.metric for each in asked] + [each.other.metric for each in asked if each.other is not None]
        return frozenset(metric.partition(".")[0] for metric in metrics)

    def capacity_criteria_of_file(self, metric: str) -> tuple[Criterion, ...]:
        """The criteria of the file that ask for a share of capacity in place of the default."""
        return tuple(each for each in self.fabric.criteria if each.metric == metric and _asks_capacity(each))

    def capacity_criteria(self, probe: str) -> tuple[Criterion, ...]:
        """The criteria that hold the metrics of a probe against the fabric."""
        return tuple(
            each for each in self.criteria if each.basis is Basis.CAPACITY and each.metric.startswith(f"{probe}.")
        )

    def ceiling_criteria(self, probe: str) -> tuple[Criterion, ...]:
        """The criteria that hold the metrics of a probe against ceilings of storage systems."""
        return tuple(
            each for each in self.criteria if each.basis is Basis.CEILING and each.metric.startswith(f"{probe}.")
        )

    def find_system(self, test: Test) -> Storage | None:
        """The storage system that a test was told to use."""
        return self.fabric.storage.get(str(test.target.options.get("shared") or ""))

    def shown(self, metric: str) -> Shown:
        """How values of ``metric`` are written."""
        declared = self.metrics.get(metric)
        return declared.shown if declared else Shown.PLAIN


def _asks_capacity(criterion: Criterion) -> bool:
    return criterion.basis is Basis.CAPACITY and criterion.comparator is Comparator.AT_LEAST
