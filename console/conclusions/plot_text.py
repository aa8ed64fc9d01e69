"""A plot in words, for the screen and its headless twin: its name, its numbers, what they were held against. Pure."""

from collections.abc import Iterator

from benchconsole.console.conclusions.plotted_metric import FEWEST, ClassNumbers, Plot, PlotBounds, PlottedMetric
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.wording import SIGNS, format_quantity
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.statistics.log_scale import WIDE, is_positive
from benchconsole.topology.model.fabric import Comparator
from benchconsole.topology.units import counted, digits3, percent

QUANTILES = (0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0)
"""The shares whose values are told as numbers."""

_FAILING = {Comparator.AT_LEAST: "below", Comparator.AT_MOST: "above", None: "beyond"}
"""Where a value that fails stands, by the side of the bound that is good."""


def format_plot_name(metric: PlottedMetric) -> str:
    """The metric with the labels that tell it from its like."""
    return sanitize(" ".join((metric.key.metric, *tell_labels(metric.told))))


def format_number(metric: PlottedMetric, value: float) -> str:
    """One number of a metric with its unit."""
    return format_quantity(value, metric.key.unit, metric.shown)


def format_sentences(plot: Plot) -> Iterator[str]:
    """The spread of the numbers of a plot, then their bounds; of two sessions, each by its name."""
    for name, metric in zip(plot.names, plot.sides, strict=True):
        yield f"{sanitize(name)}: {format_spread(metric)}" if name else format_spread(metric)
    if len(plot.sides) == 1:
        yield format_bounds(plot.first)
    else:
        yield "No bound is drawn: each session was judged by its own criteria."


def format_spread(metric: PlottedMetric) -> str:
    """``320 values: median 9.41 Gb/s, middle half 9.35 Gb/s to 9.44 Gb/s, all 2.97 Gb/s to 9.90 Gb/s``."""
    lowest, lower, median, upper, highest = (
        format_number(metric, metric.find_quantile(share)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)
    )
    number = counted(len(metric.values), "value")
    said = f"{number}: median {median}, middle half {lower} to {upper}, all {lowest} to {highest}"
    return f"{said}; {format_left_out(metric)}" if metric.left_out else said


def format_left_out(metric: PlottedMetric) -> str:
    """How many numbers are too large to be measured; empty for none."""
    is_one = metric.left_out == 1
    are = "is no measurement, and is not drawn" if is_one else "are no measurements, and are not drawn"
    return f"{counted(metric.left_out, 'value')} of 1e21 or more {are}" if metric.left_out else ""


def format_bounds(metric: PlottedMetric) -> str:
    """How many values fail by themselves, and against which bound; what was not judged is counted, too."""
    bounds, judged, failing = metric.bounds, metric.judged, len(metric.failing)
    rest = len(metric.values) - judged
    sums = metric.parts_of_sums
    if not judged:
        said = "No value was held against a bound by itself"
        return f"{said}: {sums:,} are parts of sums that were judged." if sums else f"{said}."
    beyond = f"{_FAILING[bounds.comparator]} {_name_bound(metric)}"
    said = f"{failing:,} of {judged:,} {beyond} ({format_part(failing / judged)})"
    watched = sum(level is Level.WATCH for level in metric.levels)
    if watched and bounds.target is not None:
        said += f", {watched:,} more {_FAILING[bounds.comparator]} the target {format_number(metric, bounds.target)}"
    elif watched:
        said += f", {watched:,} more to watch"
    if bounds.different > 1:
        ends = f"{format_number(metric, bounds.lowest)} to {format_number(metric, bounds.highest)}"
        said += f"; {bounds.different:,} bounds from {ends}: none is drawn"
    if rest:
        said += f"; {rest:,} not judged" + (f", {sums:,} of them parts of sums" if sums else "")
    return f"{said}."


def _name_bound(metric: PlottedMetric) -> str:
    required = metric.bounds.required
    return "their bounds" if required is None else f"the required {format_number(metric, required)}"


def format_part(share: float) -> str:
    """A share with a decimal where it is small or nearly all: 0.01875 is ``1.9 %``. Neither reads as none or all."""
    if not share or share >= 1 or 0.1 <= share < 0.995:
        return percent(share)
    if 0.0005 <= share < 0.9995:
        return f"{share:.1%}".replace("%", " %")
    return "<0.1 %" if share < 0.5 else ">99.9 %"


def format_axis(plot: Plot) -> str:
    """How the axis of its values is drawn unless somebody turns it, and why."""
    low, high = plot.ends
    if not is_positive(low):
        return "axis linear: a value is 0 or below"
    if plot.is_log():
        return f"axis logarithmic: the highest value is {digits3(high / low)} times the lowest"
    return f"axis linear: the highest value is less than {WIDE:g} times the lowest"


def format_few(number: int) -> str:
    """How many metrics have too few values for a picture; empty for none."""
    return f"{counted(number, 'metric')} with fewer than {FEWEST} values not listed" if number else ""


def format_value(metric: PlottedMetric, place: int) -> str:
    """One value: of which node or pair, how large, at which percentile, and how it was judged."""
    value = float(metric.values[place])
    share = metric.find_share(value)
    percentile = f"{100 * share:.3g}" if share == 1 or share < 0.9995 else ">99.9"
    name, number = sanitize(metric.tests[place].target.key), format_number(metric, value)
    return f"{name}   {number}   percentile {percentile}"


def format_verdict(metric: PlottedMetric, place: int) -> str:
    """How one value was judged: by itself, as a part of a sum, or not at all."""
    name = metric.ids[place]
    if name in metric.alone:
        row = metric.alone[name][0]
        words = SIGNS[row.state].word + (f" by {sanitize(row.affected_by)}" if row.affected_by else "")
        return f"{words}: {sanitize(row.because)}" if row.because else words
    if name in metric.summed:
        row = metric.summed[name][0]
        return f"not judged by itself; the sum of {sanitize(row.subject)}: {SIGNS[row.state].word}"
    return "not judged"


def format_class(name: str) -> str:
    """The name of a class of nodes."""
    return sanitize(name) or "several classes"


def list_bounds(bounds: PlotBounds) -> Iterator[tuple[str, float]]:
    """The bounds that a picture has a line for, by their words; what is expected only where it is no bound itself."""
    if bounds.required is not None:
        yield "required", bounds.required
    if bounds.target is not None:
        yield "target", bounds.target
    if bounds.expected is not None and bounds.expected != bounds.required:
        yield "expected", bounds.expected


def format_deviation(numbers: ClassNumbers) -> str:
    """The spread of a class as a share of its mean; that there is one value, or no share."""
    if numbers.deviation is None:
        return "one value"
    return f"spread {format_part(abs(numbers.deviation / numbers.mean))}" if numbers.mean else "spread n/a"
