"""Several sessions in one table: a line for each metric of each, reading beside writing, with the remarks on it. Pure.

Of a sample stands its mean with the standard error, of a typed mean what was typed. The sessions may be of several
machines.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchconsole.console.conclusions.metric_samples import MetricSample, list_samples
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.labels import TYPED
from benchconsole.probes.model.measuring import Labels
from benchconsole.probes.model.remark import About, Remark, list_standing
from benchconsole.probes.statistics.comparison import StatedMean, join_means
from benchconsole.probes.statistics.summary import summarise
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Shown, Unit

ACROSS = "operation"
"""The label whose values stand beside each other, where nothing else is asked for."""


class OverviewSession(NamedTuple):
    """A session with the remarks on it."""

    view: RunView
    remarks: Sequence[Remark] = ()


class OverviewValue(NamedTuple):
    """The summary of ``number`` values: a mean with its standard error where it has one, or one typed statistic."""

    mean: StatedMean
    unit: Unit
    shown: Shown
    statistic: str = "mean"


@dataclass(frozen=True, slots=True)
class OverviewLine:
    """One metric of a session under one condition: ``labels`` that not all of its numbers have alike.

    ``stage`` is empty where the metric is of one stage. ``values`` are by the values of the label that stands across,
    under "" where there is none. ``notes`` are the remarks on the session, told on its first line. ``started`` is UTC
    seconds.
    """

    session: str
    started: float
    stage: str
    metric: str
    labels: Labels
    values: Mapping[str, OverviewValue]
    notes: tuple[str, ...] = ()


def name_sessions(sessions: Sequence[OverviewSession]) -> list[str]:
    """Each session as people call it: by its label, with its id where several have one label."""
    labels = [each.view.label for each in sessions]
    return [
        each.view.session if not each.view.label else each.view.label
        if labels.count(each.view.label) == 1
        else f"{each.view.label} {each.view.session}"
        for each in sessions
    ]  # fmt: skip


def list_overview(
    sessions: Sequence[OverviewSession], across: str = ACROSS, metric: str = ""
) -> Iterator[OverviewLine]:
    """The lines of the sessions in their order; ``metric`` selects one by its name, or those of a probe."""
    for name, each in zip(name_sessions(sessions), sessions, strict=True):
        notes = tuple(one.text for one in list_standing(each.remarks) if one.about is About.SESSION)
        for stage, of, labels, values in _list_lines(each.view, across, metric):
            yield OverviewLine(name, each.view.started, stage, of, labels, values, notes)
            notes = ()


def _list_lines(view: RunView, across: str, metric: str) -> Iterator[tuple[str, str, Labels, dict[str, OverviewValue]]]:
    samples = [each for each in list_samples(view) if metric in ("", each.key.metric, each.key.probe)]
    for name, own in group_by_key((each.key.metric, each) for each in samples).items():
        common = frozenset.intersection(*(frozenset(each.key.labels) for each in own))
        is_one_stage = len({each.key.stage for each in own}) == 1
        parts = [(labels, part) for each in own for labels, part in _part_statistics(each)]
        lines = group_by_key(
            ((part.key.stage, part.statistic, _drop(labels, across, common)), part) for labels, part in parts
        )
        for (stage, _, labels), alike in lines.items():
            values = {dict(part.key.labels).get(across, ""): _average(part) for part in alike}
            yield "" if is_one_stage else stage, name, labels, values


def _part_statistics(sample: MetricSample) -> Iterator[tuple[Labels, MetricSample]]:
    """A sample with its labels; of typed statistics that cannot be joined each part, with what it is of."""
    if sample.statistic in ("", "mean"):
        yield sample.key.labels, sample
        return
    for subject, part in sample.part(lambda test: test.target.key).items():
        for place in range(len(part.values)):
            yield (*sample.key.labels, ("of", subject)), part.select([place])


def _drop(labels: Labels, across: str, common: frozenset[tuple[str, str]]) -> Labels:
    return tuple(pair for pair in labels if pair[0] not in (across, TYPED) and pair not in common)


def _average(sample: MetricSample) -> OverviewValue:
    typed = sample.list_typed()
    if typed:
        means = [StatedMean(value, each.find_error(sample.key.unit), each.number) for value, each in typed]
        return OverviewValue(join_means(means), sample.key.unit, sample.shown, sample.statistic)
    found = summarise(sample.values)
    if found is None:
        raise ValueError("a sample without a finite number")
    return OverviewValue(StatedMean(found.mean, found.error, found.number), sample.key.unit, sample.shown)
