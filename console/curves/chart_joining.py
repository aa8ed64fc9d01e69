"""Joins charts that belong together. Pure.

Statistics of one number are one curve with its band; reading and writing, and several file systems, are curves of one
chart.
"""

from collections.abc import Iterable, Iterator, Sequence

from benchconsole.console.curves.curve_model import Chart, Curve, Point
from benchconsole.probes.model.measuring import Labels
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key

MOST_CURVES = 6
"""Curves that one chart can tell apart."""

STATISTIC = "statistic"
"""The label by which tools tell their statistics apart."""

OPERATIONS = ("operation", "direction")
"""Labels whose values belong into one picture."""

SYSTEMS = ("scratch", "shared")
"""Axes that vary the file system, by the options of probes."""

_MIDDLES, _ENDS = ("mean", "avg", "average"), ("max", "min", "maximum", "minimum")


def join_charts(charts: Iterable[Chart]) -> tuple[Chart, ...]:
    """The charts in the order in which the first of each was met."""
    return tuple(_join_curves(list(_fold_statistics(charts))))


# -- statistics


def _fold_statistics(charts: Iterable[Chart]) -> Iterator[Chart]:
    """One chart for those that differ in their statistic alone, where a mean is among them."""
    alike = group_by_key((_name_without(each, STATISTIC), each) for each in charts)
    for own in alike.values():
        by_statistic = {dict(each.labels).get(STATISTIC, ""): each for each in own}
        middle = next((by_statistic[name] for name in _MIDDLES if name in by_statistic), None)
        ends = [by_statistic[name] for name in _ENDS if name in by_statistic]
        if middle is None or not ends or len(by_statistic) < len(own):
            yield from own
            continue
        yield _add_band(middle, ends)
        yield from (each for each in own if each is not middle and each not in ends)


def _name_without(chart: Chart, label: str) -> tuple[object, ...]:
    labels = tuple(pair for pair in chart.labels if pair[0] != label)
    return chart.stage, chart.probe, chart.axis, chart.held, chart.metric, labels, len(chart.curves)


def _add_band(middle: Chart, ends: Sequence[Chart]) -> Chart:
    curves = []
    for place, curve in enumerate(middle.curves):
        sides = zip(*(each.curves[place].points for each in ends), strict=True)
        points = tuple(_add_ends(point, side) for point, side in zip(curve.points, sides, strict=True))
        curves.append(replace(curve, points=points))
    return replace(middle, curves=tuple(curves), labels=tuple(pair for pair in middle.labels if pair[0] != STATISTIC))


def _add_ends(point: Point, ends: Sequence[Point]) -> Point:
    """``point`` with the least and most of its statistics, and the bounds that any of them was held to."""
    known = [value for each in (point, *ends) for value in each.values]
    if not point.values or not known:
        return point
    bounds = {bound for each in (point, *ends) for bound in each.bounds}
    states = [each.state for each in (point, *ends) if each.state is not None]
    return replace(
        point,
        least=min(known),
        most=max(known),
        bounds=tuple(sorted(bounds)),
        state=min(states, key=lambda state: state.rank) if states else None,
    )


# -- curves of one chart


def _join_curves(charts: Sequence[Chart]) -> Iterator[Chart]:
    """Charts joined along the file system, then the operation, be it a label or the metric."""
    for tell in (_tell_system, _tell_operation, _tell_metric):
        groups = group_by_key((tell(each), each) for each in charts)
        charts = [chart for own in groups.values() for chart in _join(own)]
    yield from charts


def _frame(chart: Chart) -> tuple[object, ...]:
    return chart.stage, chart.probe, chart.axis, chart.unit, chart.shown, chart.is_summed, chart.is_split, chart.gain


def _tell_system(chart: Chart) -> object:
    held = tuple(pair for pair in chart.held if pair[0] not in SYSTEMS)
    return (*_frame(chart), chart.metric, chart.labels, held)


def _tell_operation(chart: Chart) -> object:
    labels = tuple(pair for pair in chart.labels if pair[0] not in OPERATIONS)
    return (*_frame(chart), chart.metric, labels, chart.held)


def _tell_metric(chart: Chart) -> object:
    """Reading and writing of one probe."""
    operation = chart.metric.rpartition(".")[2]
    stem = operation.replace("read", "").replace("write", "")
    is_transfer = "read" in operation or "write" in operation
    return (*_frame(chart), chart.labels, chart.held, stem) if is_transfer else id(chart)


def _join(charts: Sequence[Chart]) -> Iterator[Chart]:
    """One chart of them, each curve with what it has otherwise; as they are where there would be too many curves."""
    if len(charts) == 1 or sum(len(each.curves) for each in charts) > MOST_CURVES or _differ_in_axis(charts):
        yield from charts
        return
    curves = tuple(_name_curve(curve, chart, charts) for chart in charts for curve in chart.curves)
    first = charts[0]
    common = frozenset.intersection(*(frozenset((*each.labels, *each.held)) for each in charts))
    yield replace(
        first,
        metric=", ".join(dict.fromkeys(each.metric for each in charts)),
        curves=curves,
        labels=tuple(pair for pair in first.labels if pair in common),
        held=tuple(pair for pair in first.held if pair in common),
    )


def _differ_in_axis(charts: Sequence[Chart]) -> bool:
    """Whether they have not the same values on their axis, so that no table could hold them."""
    return len({each.values for each in charts}) > 1


def _name_curve(curve: Curve, chart: Chart, charts: Sequence[Chart]) -> Curve:
    own: Labels = (("metric", chart.metric), *chart.labels, *chart.held)
    every = [frozenset((("metric", each.metric), *each.labels, *each.held)) for each in charts]
    told = tuple(pair for pair in own if not all(pair in labels for labels in every))
    return replace(curve, cohort=(*told, *curve.cohort))
