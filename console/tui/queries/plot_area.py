"""The area of plots: every metric with its numbers, or the histogram, quantiles and bounds of those of one name."""

from collections.abc import Iterator

from benchconsole.console.conclusions.plot_text import (
    QUANTILES,
    format_axis,
    format_bounds,
    format_class,
    format_deviation,
    format_few,
    format_number,
    format_part,
    format_plot_name,
    format_spread,
)
from benchconsole.console.conclusions.plotted_metric import Plot, PlottedMetric, list_classes, list_plots
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row
from benchconsole.console.tui.rows.axes import count_places
from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.statistics.histogram import make_histogram
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Shown, Unit

_COUNTS = {"count": scale_for(Unit.ONE, Shown.PLAIN, ())}

MOST_BINS = 40
"""Bins of a histogram that is printed."""


def list_plotted(view: RunView, metric: str = "") -> Area:
    """Every metric with two values or more as one row; those called ``metric`` with all that their pictures show."""
    every = list_plots(view)
    drawn = [plot for plot in every if plot.can_be_drawn and metric in ("", plot.first.key.metric)]
    if not metric:
        few = sum(not plot.can_be_drawn for plot in every)
        return Area("Plot", _COLUMNS, tuple(map(_make_metric, drawn)), {}, format_few(few))
    columns = {
        "stage": words("stage"), "metric": words("metric"), "kind": Column("kind"), "name": words("name", 6),
        "from": number("value"), "to": number("to"), "count": number("count"), "share": number("at or below"),
        "said": words("said"),
    }  # fmt: skip
    title = f"Plot {sanitize(metric)}"
    if len(drawn) == 1:
        title = f"Plot {sanitize(drawn[0].first.key.stage)}: {format_plot_name(drawn[0].first)}"
        del columns["stage"], columns["metric"]
    rows = tuple(row for plot in drawn for row in _list_rows(plot))
    few = sum(not plot.can_be_drawn and plot.first.key.metric == metric for plot in every)
    return Area(title, columns, rows, _COUNTS, format_few(few))


_COLUMNS = {
    "stage": words("stage"), "metric": words("metric"), "n": number("values"), "median": number("median"),
    "low": number("low"), "high": number("high"), "required": number("required"), "fails": number("fail"),
    "judged": number("judged"), "axis": Column("axis"),
}  # fmt: skip


_AXES = {True: "logarithmic", False: "linear"}
"""How values stand on the axis of their pictures."""


def _describe(metric: PlottedMetric) -> Record:
    """The fields of every record on its metric."""
    key = metric.key
    return {"stage": key.stage, "metric": key.metric, "labels": dict(key.labels), "unit": key.unit.value}


def _make_metric(plot: Plot) -> Row:
    metric = plot.first
    low, median, high = (metric.find_quantile(share) for share in (0.0, 0.5, 1.0))
    required = metric.bounds.required
    text = {
        "stage": sanitize(metric.key.stage), "metric": format_plot_name(metric), "n": f"{len(metric.values):,}",
        "median": format_number(metric, median), "low": format_number(metric, low),
        "high": format_number(metric, high), "fails": f"{len(metric.failing):,}", "judged": f"{metric.judged:,}",
        "required": "" if required is None else format_number(metric, required),
        "axis": "log" if plot.is_log() else "linear",
    }  # fmt: skip
    record = {
        **_describe(metric), "values": len(metric.values), "low": low, "median": median, "high": high,
        **_record_bounds(metric), "axis": _AXES[plot.is_log()],
    }  # fmt: skip
    return Row(text, {}, record)


def _record_bounds(metric: PlottedMetric) -> Record:
    bounds = metric.bounds
    return {
        "required": bounds.required, "target": bounds.target, "expected": bounds.expected,
        "different_bounds": bounds.different, "judged": metric.judged, "fails": len(metric.failing),
        "parts_of_sums": metric.parts_of_sums, "left_out": metric.left_out,
    }  # fmt: skip


def _list_rows(plot: Plot) -> Iterator[Row]:
    """The sentences on one metric, its bins, its quantiles and its classes."""
    metric = plot.first
    name = {"stage": sanitize(metric.key.stage), "metric": format_plot_name(metric)}
    yield Row(
        {**name, "kind": "values", "count": f"{len(metric.values):,}", "said": format_spread(metric)}, {},
        {**_describe(metric), "kind": "values", "count": len(metric.values), "left_out": metric.left_out},
    )  # fmt: skip
    yield Row({**name, "kind": "bound", "said": format_bounds(metric)}, {}, {
        **_describe(metric), "kind": "bound", **_record_bounds(metric),
    })  # fmt: skip
    axis = _AXES[plot.is_log()]
    yield Row({**name, "kind": "axis", "said": format_axis(plot)}, {}, {
        **_describe(metric), "kind": "axis", "axis": axis, "low": plot.ends[0], "high": plot.ends[1],
    })  # fmt: skip
    yield from _list_bins(plot, name)
    for share in QUANTILES:
        value = metric.find_quantile(share)
        text = {**name, "kind": "quantile", "name": f"p{100 * share:g}", "from": format_number(metric, value)}
        yield Row(text, {}, {**_describe(metric), "kind": "quantile", "share": share, "value": value})
    for each in list_classes(plot):
        text = {
            **name, "kind": "class", "name": format_class(each.name), "count": f"{each.number:,}",
            "from": format_number(metric, each.median), "said": format_deviation(each),
        }  # fmt: skip
        yield Row(text, {}, {
            **_describe(metric), "kind": "class", "class": each.name, "count": each.number, "median": each.median,
            "mean": each.mean, "deviation": each.deviation, "low": each.quartiles[0], "high": each.quartiles[-1],
        })  # fmt: skip


def _list_bins(plot: Plot, name: dict[str, str]) -> Iterator[Row]:
    """The bins of the histogram, as the axis of the picture has them, with as many decimals as tell them apart."""
    metric = plot.first
    found = make_histogram(metric.values, MOST_BINS, is_log=plot.is_log())
    edges, counts = found.edges.tolist(), found.counts.tolist()
    scale = scale_for(metric.key.unit, metric.shown, [metric.find_quantile(share) for share in (0.0, 0.5, 1.0)])
    step = (edges[1] - edges[0]) / scale.factor
    scale = replace(scale, places=max(scale.places, count_places(float(f"{step:.2g}")) if step else 0))
    below = 0
    for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True):
        below += count
        text = {
            **name, "kind": "bin", "from": f"{scale.shown(low)} {scale.symbol}".rstrip(),
            "to": f"{scale.shown(high)} {scale.symbol}".rstrip(), "count": f"{count:,}",
            "share": format_part(below / len(metric.values)),
        }  # fmt: skip
        yield Row(text, {"count": float(count)}, {
            **_describe(metric), "kind": "bin", "from": low, "to": high, "count": count,
            "at_or_below": below / len(metric.values),
        })  # fmt: skip
