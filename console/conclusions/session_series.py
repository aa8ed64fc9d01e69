"""The series of a number over sessions: how far it varies from day to day, and whether it follows the time. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchconsole.console.conclusions.session_overview import OverviewLine
from benchconsole.probes.model.measuring import Labels
from benchconsole.probes.statistics.rank_correlation import RankCorrelation, correlate_ranks
from benchconsole.probes.statistics.summary import Summary, summarise
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import Shown, Unit

FEWEST = 3
"""Sessions from which their variation is told."""


class SeriesPoint(NamedTuple):
    """The mean of a number in a session that ``started`` (UTC seconds)."""

    session: str
    started: float
    value: float


@dataclass(frozen=True, slots=True)
class SessionSeries:
    """One metric under one condition over sessions; ``points`` are by the time of their sessions.

    ``across`` is the value of the label that stands across in the overview. ``summary`` is of the values of the
    points: its deviation is that between sessions.
    """

    metric: str
    stage: str
    labels: Labels
    across: str
    unit: Unit
    shown: Shown
    points: tuple[SeriesPoint, ...]
    summary: Summary

    @property
    def spread(self) -> float | None:
        """The deviation between sessions as a share of the mean; None where the mean is no such measure."""
        deviation = self.summary.deviation
        return deviation / self.summary.mean if deviation is not None and self.summary.mean > 0 else None

    @property
    def drift(self) -> RankCorrelation | None:
        """Whether the number follows the time of the sessions; None of few sessions."""
        return correlate_ranks([each.started for each in self.points], [each.value for each in self.points])


def list_series(lines: Iterable[OverviewLine]) -> Iterator[SessionSeries]:
    """Every number that at least FEWEST sessions have, in the order of ``lines``; typed statistics are left out."""
    found = group_by_key(
        ((line.metric, line.stage, line.labels, across, value.unit, value.shown), (line, value.mean.mean))
        for line in lines
        for across, value in line.values.items()
        if value.statistic == "mean"
    )
    for key, own in found.items():
        points = _join_points([SeriesPoint(line.session, line.started, mean) for line, mean in own])
        summary = summarise(each.value for each in points)
        if len(points) >= FEWEST and summary is not None and summary.number == len(points):
            yield SessionSeries(*key, points, summary)


def _join_points(points: Sequence[SeriesPoint]) -> tuple[SeriesPoint, ...]:
    """The points by time; none where one session has several, as of conditions that the overview does not part."""
    names = [each.session for each in points]
    return tuple(sorted(points, key=lambda each: each.started)) if len(set(names)) == len(names) else ()
