"""Charts of several sessions put into one picture: the same metric over the same axis, a curve for each session. Pure.

A point that only some sessions have is an empty place in the curves of the others. A part of the axis can be cut out,
so that it fills the picture.
"""

from collections.abc import Iterator, Mapping, Sequence

from benchconsole.console.curves.chart_joining import MOST_CURVES
from benchconsole.console.curves.curve_model import Chart, Curve, Point
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key

SESSION = "session"
"""The label by which curves of several sessions are told apart."""


def join_sessions(charts: Mapping[str, Sequence[Chart]], span: tuple[float, float] | None = None) -> tuple[Chart, ...]:
    """The charts of sessions by name, in the order in which the first of each was met; those of one session alone, too.

    ``span``: only the points of axes of numbers from its first to its last number.
    """
    parts = [(name, part) for name, own in charts.items() for chart in own if (part := _cut(chart, span)) is not None]
    alike = group_by_key((_tell(chart), (name, chart)) for name, chart in parts)
    return tuple(chart for own in alike.values() for chart in _join(own))


def _tell(chart: Chart) -> tuple[object, ...]:
    """The key that charts of two sessions share where they show one thing; stages are named by each site."""
    return chart.probe, chart.axis, chart.metric, chart.unit, chart.shown, chart.labels, chart.held, chart.is_summed


def _cut(chart: Chart, span: tuple[float, float] | None) -> Chart | None:
    """The part of a chart within ``span``; None where nothing of it is."""
    if span is None:
        return chart
    curves = [
        replace(curve, points=tuple(p for p in curve.points if p.at is not None and span[0] <= p.at <= span[1]))
        for curve in chart.curves
    ]
    return replace(chart, curves=tuple(curves)) if any(curve.points for curve in curves) else None


def _join(named: Sequence[tuple[str, Chart]]) -> Iterator[Chart]:
    """One chart where it can tell all curves apart; else each by itself."""
    curves = [(name, curve) for name, chart in named for curve in chart.curves]
    everywhere = all(point.at is not None for _, curve in curves for point in curve.points)
    alike = len({tuple(point.value for point in curve.points) for _, curve in curves}) == 1
    if len(curves) > MOST_CURVES or not (everywhere or alike):
        yield from (replace(chart, curves=tuple(_name(name, curve) for curve in chart.curves)) for name, chart in named)
        return
    axis = {point.value: point.at for _, curve in curves for point in curve.points}
    order = sorted(axis, key=lambda value: axis[value] or 0.0) if everywhere else list(axis)
    yield replace(named[0][1], curves=tuple(_spread(_name(name, curve), axis, order) for name, curve in curves))


def _name(session: str, curve: Curve) -> Curve:
    return replace(curve, cohort=((SESSION, session), *curve.cohort))


def _spread(curve: Curve, axis: Mapping[str, float | None], order: Sequence[str]) -> Curve:
    known = {point.value: point for point in curve.points}
    return replace(curve, points=tuple(known.get(value) or Point(value, axis[value]) for value in order))
