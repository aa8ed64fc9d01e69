"""The vocabulary of a topology file: the metrics, probes and designs that it may name, by what is installed."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from benchconsole.probes.model.measuring import Against
from benchconsole.probes.planning.design_options import find_refusal
from benchconsole.probes.planning.designs import DESIGNS
from benchconsole.probes.planning.plan_rounds import DESIGN_OPTIONS
from benchconsole.topology.description.vocabulary import MetricTraits, Vocabulary
from benchconsole.topology.units import Shown

if TYPE_CHECKING:
    from benchconsole.probes.api import Metric, Probe


def make_vocabulary(installed: "Mapping[str, Probe]") -> Vocabulary:
    """The vocabulary that the ``installed`` probes, by name, give a file."""
    return Vocabulary(
        {metric.name: metric.unit for probe in installed.values() for metric in probe.metrics},
        {name: {**DESIGN_OPTIONS, **probe.options, "design": ""} for name, probe in installed.items()},
        tuple(DESIGNS),
        {metric.name: _describe_metric(probe, metric) for probe in installed.values() for metric in probe.metrics},
        lambda name, options, nodes: find_refusal(installed[name], options, nodes),
    )


def _describe_metric(probe: "Probe", metric: "Metric") -> MetricTraits:
    of_capacity, in_bytes = metric.against is Against.FABRIC, metric.shown is Shown.STORAGE
    return MetricTraits(metric.meant, of_capacity, in_bytes, probe.label_names)
