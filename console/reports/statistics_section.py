"""The statistics of every metric in words, for reports and the command: mean with its error, interval, percentiles.

The number after ± is the standard error of the mean.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from benchconsole.console.conclusions.statistic_lines import StatisticLine, TypedLine, list_statistics, list_typed
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import format_body, format_table, make_table, number, words
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import NOT_MEASURED, format_quantity
from benchconsole.probes.model.labels import TYPED, tell_labels
from benchconsole.probes.statistics.rank_correlation import RankCorrelation
from benchconsole.probes.statistics.summary import CONFIDENCE
from benchconsole.topology.arrays import Floats
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import show_with_error

ABOUT = (
    "The number after ± is the standard error of the mean; the interval holds the mean with 95 % where numbers are "
    "normal and independent. Jain's index is 1 where all nodes get the same, 1/n where one gets everything; max/min is "
    "over nodes, pairs or sets, in brackets without those that deviate from the others. Repeats: the standard "
    "deviation of repetitions of one node, pair or set, over the mean."
)
MOST = 200
"""Lines that reports for people show; the JSON report has all."""

MOST_NUMBERS = 20_000
"""Reports for people on so many numbers, which may be read in columns, leave their statistics to the command."""


class StatisticCells(NamedTuple):
    """One line of statistics as text, safe for a terminal."""

    stage: str
    metric: str
    part: str
    number: str
    mean: str
    deviation: str
    interval: str
    lowest: str
    low: str
    median: str
    high: str
    highest: str
    of_peak: str
    fairness: str
    ratio: str
    repeats: str


HEADINGS = ("stage", "metric", "of", "n", "mean ± error", "deviation", "95 % interval", "min", "5 %", "median", "95 %",
            "max", "of peak", "Jain", "max/min", "repeats")  # fmt: skip
NUMERIC = frozenset(range(3, len(HEADINGS)))
"""Columns of numbers, by their place."""


def make_cells(line: StatisticLine) -> StatisticCells:
    """One line as text."""
    found, unit, shown = line.summary, line.key.unit, line.shown

    def show(value: float | None) -> str:
        return format_quantity(value, unit, shown)

    several = found.number > 1
    fair = line.fairness
    return StatisticCells(
        stage=sanitize(line.key.stage),
        metric=sanitize(" ".join((line.key.metric, *tell_labels(line.key.labels)))),
        part=sanitize(f"{line.by} {line.part}") if line.by else "all",
        number=f"{found.number:,}" if line.subjects == found.number else f"{found.number:,} of {line.subjects:,}",
        mean=show(found.mean) if found.error is None else show_with_error(found.mean, found.error, unit, shown),
        deviation=show(found.deviation),
        interval=f"{show(found.low)} to {show(found.high)}" if several else NOT_MEASURED,
        lowest=show(found.lowest),
        low=show(found.percentile(0.05)) if several else NOT_MEASURED,
        median=show(found.median),
        high=show(found.percentile(0.95)) if several else NOT_MEASURED,
        highest=show(found.highest),
        of_peak=_format_share(line.of_peak),
        fairness=NOT_MEASURED if fair is None else f"{fair.index:.3f}",
        ratio=NOT_MEASURED if fair is None else _format_ratio(fair.ratio, fair.core_ratio),
        repeats=_format_share(None if line.repeatability is None else line.repeatability.share),
    )


def _format_share(share: float | None) -> str:
    return NOT_MEASURED if share is None else f"{share:.1%}".replace("%", " %")


def _format_ratio(ratio: float, core: float) -> str:
    return f"{ratio:.2f}" if ratio == core else f"{ratio:.2f} ({core:.2f})"


class TypedCells(NamedTuple):
    """One typed statistic as text, safe for a terminal."""

    metric: str
    subject: str
    statistic: str
    number: str
    value: str


TYPED_HEADINGS = ("metric", "of", "statistic", "n", "value ± error")
TYPED_NUMERIC = frozenset((3, 4))


def make_typed_cells(line: TypedLine) -> TypedCells:
    """One typed statistic as text."""
    error = line.typed.find_error(line.key.unit)
    labels = tuple(pair for pair in line.key.labels if pair[0] != TYPED)
    return TypedCells(
        metric=sanitize(" ".join((line.key.metric, *tell_labels(labels)))),
        subject=sanitize(line.subject),
        statistic=line.typed.statistic,
        number=f"{line.typed.number:,}",
        value=format_quantity(line.value, line.key.unit, line.shown)
        if error is None
        else show_with_error(line.value, error, line.key.unit, line.shown),
    )


class StatisticsSection(NamedTuple):
    """The lines for reports for people, and what is not among them in a sentence; each line with its distribution."""

    lines: tuple[tuple[StatisticCells, str], ...]
    left_out: str = ""
    trends: tuple[str, ...] = ()
    typed: tuple[TypedCells, ...] = ()
    typed_headings: tuple[str, ...] = TYPED_HEADINGS
    about: str = ABOUT
    headings: tuple[str, ...] = HEADINGS

    @property
    def by_metric(self) -> dict[str, list[tuple[StatisticCells, str]]]:
        """The lines by stage and metric."""
        return group_by_key((f"{cells.stage}: {cells.metric}", (cells, bars)) for cells, bars in self.lines)


def make_section(view: RunView) -> StatisticsSection:
    """The statistics of what was measured more than once; none of large sessions, which keep to their ranges."""
    numbers = sum(len(each.measurements) for each in view.results.values())
    if numbers + sum(len(each.value) for each in view.passed) >= MOST_NUMBERS:
        return StatisticsSection((), "benchconsole statistics prints them: of so many numbers they take their time.")
    found = [each for each in list_statistics(view) if each.summary.number > 1]
    left = len(found) - MOST
    lines = tuple((make_cells(each), draw_distribution(each.summary.values)) for each in found[:MOST])
    typed = tuple(map(make_typed_cells, list_typed(view)))
    trends = tuple(
        f"{sanitize(each.key.stage)}: {make_cells(each).metric}: {format_trend(each.length)}"
        for each in found
        if each.length is not None
    )
    return StatisticsSection(
        lines, f"{left:,} more lines are in the JSON report." if left > 0 else "", trends[:MOST], typed
    )


def format_trend(found: RankCorrelation) -> str:
    """How numbers follow the length of cables, in a sentence."""
    if found.is_sure:
        said = f"{'falls' if found.coefficient < 0 else 'rises'} as cables get longer"
    else:
        said = "does not follow the length of cables"
    chance = "below 0.001" if found.chance < 0.001 else f"{found.chance:.3f}"
    return f"{said}: rank correlation {found.coefficient:+.2f} over {found.number:,}, by chance {chance}"


def format_statistics(lines: Sequence[StatisticLine], typed: Sequence[TypedLine], width: int) -> Iterator[str]:
    """A block for each metric, none of its lines wider than ``width``: more columns where there is room."""
    if typed:
        headings = [number(name) if place in TYPED_NUMERIC else words(name, 10)
                    for place, name in enumerate(TYPED_HEADINGS)]  # fmt: skip
        fields = [(column, partial(_get_cell, place)) for place, column in enumerate(headings)]
        yield from format_table(make_table("Typed statistics", map(make_typed_cells, typed), *fields), width)
        yield ""
    places = [place for place, room in enumerate(_ROOM) if width >= room]
    for key, own in group_by_key((each.key, each) for each in lines).items():
        cells = [make_cells(each) for each in own]
        title = f"{key.stage}: {cells[0].metric}"
        yield from wrap_text(sanitize(title), width)
        used = [place for place in places if any(each[place] != NOT_MEASURED for each in cells)]
        columns = [number(HEADINGS[place]) if place in NUMERIC else words(HEADINGS[place], 8) for place in used]
        fields = [(column, partial(_get_cell, place)) for column, place in zip(columns, used, strict=True)]
        yield from (f"  {line}" for line in format_body(make_table("", cells, *fields), width - 2))
        yield from _format_distribution(own[0], cells[0])
        if own[0].length is not None:
            yield from (f"  {line}" for line in wrap_text(format_trend(own[0].length), width - 2))
        yield ""
    yield from wrap_text(ABOUT, width) if lines else ()


_ROOM = (1000, 1000, 0, 0, 0, 96, 176, 0, 116, 0, 116, 0, 0, 136, 136, 100)
"""The width from which on a column of ``HEADINGS`` is shown; stage and metric are the title of their block."""

_BARS = " ▁▂▃▄▅▆▇█"
BINS = 24
"""Bars of a distribution."""


def _get_cell(place: int, cells: Sequence[str]) -> str:
    return cells[place]


def draw_distribution(values: Floats) -> str:
    """How many of sorted ``values`` lie in each of ``BINS`` equal steps from the least to the most, as bars.

    A step that holds any number has a bar. Empty where all are equal.
    """
    if values[0] == values[-1]:
        return ""
    counts, _ = np.histogram(values, BINS)
    return "".join(_BARS[math.ceil(each * (len(_BARS) - 1) / counts.max())] for each in counts.tolist())


def _format_distribution(line: StatisticLine, cells: StatisticCells) -> Iterator[str]:
    bars = draw_distribution(line.summary.values) if line.summary.number > 2 else ""
    if bars:
        yield f"  {cells.lowest} |{bars}| {cells.highest}"


def make_record(lines: Iterable[StatisticLine]) -> list[dict[str, object]]:
    """The lines for machines, in base units."""
    return [_make_line_record(each) for each in lines]


def make_typed_record(lines: Iterable[TypedLine]) -> list[dict[str, object]]:
    """The typed statistics for machines, in base units."""
    return [
        {
            "stage": each.key.stage,
            "metric": each.key.metric,
            "labels": dict(each.key.labels),
            "unit": each.key.unit.value,
            "of": each.subject,
            "statistic": each.typed.statistic,
            "number": each.typed.number,
            "value": each.value,
            "error": each.typed.find_error(each.key.unit),
        }
        for each in lines
    ]


def _make_line_record(line: StatisticLine) -> dict[str, object]:
    found, fair = line.summary, line.fairness
    return {
        "stage": line.key.stage,
        "metric": line.key.metric,
        "labels": dict(line.key.labels),
        "unit": line.key.unit.value,
        "by": line.by,
        "part": line.part,
        "number": found.number,
        "subjects": line.subjects,
        "mean": found.mean,
        "deviation": found.deviation,
        "error": found.error,
        "confidence": CONFIDENCE,
        "low": found.low,
        "high": found.high,
        "lowest": found.lowest,
        "percentiles": {f"{share:g}": found.percentile(share / 100) for share in (1, 5, 25, 50, 75, 95, 99)},
        "highest": found.highest,
        "of_peak": line.of_peak,
        "jain": None if fair is None else fair.index,
        "ratio": None if fair is None else fair.ratio,
        "ratio_without_deviants": None if fair is None else fair.core_ratio,
        "repeatability": None if line.repeatability is None else line.repeatability.share,
        "cable_length": None if line.length is None else line.length._asdict(),
    }
