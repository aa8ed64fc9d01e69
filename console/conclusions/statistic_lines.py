"""The statistics of every metric of a session as lines: of all numbers, and by class, cohort, place or node. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple

from benchconsole.console.conclusions.metric_samples import (
    MetricSample,
    Naming,
    SampleKey,
    list_dimensions,
    list_samples,
    name_cohort,
)
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.judging.patterns import group_nodes
from benchconsole.probes.model.labels import TypedStatistic
from benchconsole.probes.model.measuring import Test
from benchconsole.probes.statistics.fairness import Fairness
from benchconsole.probes.statistics.rank_correlation import RankCorrelation, correlate_ranks
from benchconsole.probes.statistics.repeatability import Repeatability, compute_repeatability
from benchconsole.probes.statistics.summary import Summary, summarise
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.natural_order import make_natural_key
from benchconsole.topology.units import RATES, Shown, Unit

CLASS, NODE = "class", "node"
"""Names of groupings: by the class of the nodes, and by what each number is of (a node, a pair or a set)."""


class TypedLine(NamedTuple):
    """A typed statistic: ``value`` in the unit of ``key``, of ``subject``, with what it was typed as."""

    key: SampleKey
    shown: Shown
    subject: str
    value: float
    typed: TypedStatistic


class StatisticLine(NamedTuple):
    """The statistics of one part of a sample: ``part`` of the grouping ``by``, both empty of the whole.

    ``subjects`` counts different nodes, pairs or sets. ``of_peak`` is the mean of the shares of the stated peaks, None
    where one is not stated. ``fairness`` is that among subjects, of rates of two or more that all got something;
    ``repeatability`` is that within subjects, None where none was repeated. ``length`` is the correlation with the
    length of cables (``find_cable_length``), of the whole where it is described.
    """

    key: SampleKey
    shown: Shown
    by: str
    part: str
    subjects: int
    summary: Summary
    of_peak: float | None
    fairness: Fairness | None
    repeatability: Repeatability | None
    length: RankCorrelation | None


def list_groupings(fabric: Fabric) -> dict[str, Naming]:
    """The ways to part the numbers of a session: class, the dimensions of cohorts, switch and groups, node.

    A test of several nodes is in a part where all of its nodes are in it.
    """
    ways = {CLASS: name_class(fabric)}
    ways |= {dimension: name_cohort(dimension) for dimension in list_dimensions(fabric)}
    for kind, group_of in group_nodes(fabric).items():
        ways.setdefault(kind, _name_alike(group_of))
    return {**ways, NODE: lambda test: test.target.key}


def name_class(fabric: Fabric) -> Naming:
    """The class of a test: that of its nodes, where all are of one."""
    return _name_alike({node.id: node.hardware.name for node in fabric.nodes.values()})


def _name_alike(group_of: Mapping[str, str]) -> Naming:
    def name(test: Test) -> str:
        found = {group_of.get(node.id, "") for node in test.target.nodes}
        return found.pop() if len(found) == 1 else ""

    return name


def list_statistics(view: RunView, by: Sequence[str] | None = None, metric: str = "") -> Iterator[StatisticLine]:
    """The statistics of each sample of a session, whole and in the parts of each grouping of ``by``.

    ``by`` are names of ``list_groupings``; None for classes and cohorts, where nodes are in several. A grouping that
    does not part a sample gives no line of it. ``metric`` selects one by its name, or those of a probe. Statistics that
    were typed are no numbers of a sample: ``list_typed`` has them.
    """
    ways = list_groupings(view.fabric)
    chosen = (CLASS, *list_dimensions(view.fabric)) if by is None else by
    for sample in _select(view, metric):
        if not sample.statistic:
            yield from _list_parts(view.fabric, sample, {name: ways[name] for name in chosen}, every=by is not None)


def list_typed(view: RunView, metric: str = "") -> Iterator[TypedLine]:
    """The typed statistics of a session; ``metric`` as in ``list_statistics``."""
    for sample in _select(view, metric):
        for subject, (value, typed) in zip(sample.subjects, sample.list_typed(), strict=False):
            yield TypedLine(sample.key, sample.shown, subject, value, typed)


def _select(view: RunView, metric: str) -> Iterator[MetricSample]:
    return (each for each in list_samples(view) if metric in ("", each.key.metric, each.key.probe))


def _list_parts(
    fabric: Fabric, sample: MetricSample, ways: Mapping[str, Naming], *, every: bool
) -> Iterator[StatisticLine]:
    yield _make_line(sample)._replace(length=_correlate_length(fabric, sample))
    for by, name in ways.items():
        parts = sample.part(name)
        if len(parts) > 1 or (every and parts):
            for part in sorted(parts, key=make_natural_key):
                yield _make_line(parts[part], by, part)


def _make_line(sample: MetricSample, by: str = "", part: str = "") -> StatisticLine:
    summary = summarise(sample.values)
    if summary is None:
        raise ValueError("a sample without a finite number")
    each = sample.group()
    return StatisticLine(
        sample.key, sample.shown, by, part, len(each), summary, _find_share_of_peak(sample), _weigh_fairness(sample),
        compute_repeatability(each.values()), None,
    )  # fmt: skip


def _correlate_length(fabric: Fabric, sample: MetricSample) -> RankCorrelation | None:
    """How the mean of each subject follows the length of its cables; subjects of unknown length are left out."""
    lengths = {test.target.key: find_cable_length(fabric, test) for test in sample.tests}
    pairs = [(length, fmean(values)) for key, values in sample.group().items() if (length := lengths[key]) is not None]
    return correlate_ranks([length for length, _ in pairs], [value for _, value in pairs])


def find_cable_length(fabric: Fabric, test: Test) -> float | None:
    """Metres of the longest active cable of each node of a test, added up; None where one is not described."""
    longest = [
        max((link.cable.length or 0.0 for link in fabric.active_legs(node.id) if link.cable is not None), default=0.0)
        for node in test.target.nodes
    ]
    return math.fsum(longest) if all(longest) else None


def _find_share_of_peak(sample: MetricSample) -> float | None:
    if sample.key.unit is not Unit.FLOP_RATE:
        return None
    peaks = [[node.hardware.peak for node in test.target.nodes] for test in sample.tests]
    sums = [math.fsum(peak or 0.0 for peak in own) if all(own) else 0.0 for own in peaks]
    return fmean(sample.values / sums) if all(sums) else None


def _weigh_fairness(sample: MetricSample) -> Fairness | None:
    """The fairness among subjects, each with the mean of its numbers."""
    if sample.key.unit not in RATES:
        return None
    import numpy as np

    means = np.array([fmean(values) for values in sample.group().values()])
    return Fairness.of(means)
