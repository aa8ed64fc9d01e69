"""The text and the JSON of maps of changes: what ``compare --map`` prints, from the matrix that the screen draws."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from benchconsole.console.conclusions.metric_names import name_metrics
from benchconsole.console.conclusions.session_comparison import ComparedMetric
from benchconsole.console.reports.comparison_page import ComparisonReport
from benchconsole.console.text.cells import fit_text, measure_width, wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.change_matrix import (
    ChangeCell,
    Turn,
    format_cell,
    format_change,
    has_map,
    make_change_matrix,
    tell_counts,
)
from benchconsole.console.tui.queries.matrix import Matrix
from benchconsole.console.tui.queries.node_columns import under_of

LEGEND = (
    "In percent of A, of several pairs the worst: ▾ worse, ▴ better, · the same, or with a number no effect, "
    "? not comparable, A or B measured in that session alone. Means are over all cells, and are not judged."
)

_CELL = 6
_WIDEST_NAME = 16
_MEAN = "mean"


def list_mapped(report: ComparisonReport) -> list[tuple[ComparedMetric, Matrix[ChangeCell]]]:
    """Every metric of nodes or of pairs that was compared, with its matrix."""
    under: Mapping[str, str] = {} if report.fabric is None else under_of(report.fabric)
    return [(each, make_change_matrix(each, under)) for each in report.metrics if has_map(each)]


def format_maps(report: ComparisonReport, width: int) -> Iterator[str]:
    """The lines of all maps, none wider than ``width`` from 40 columns on; empty where no metric has a map."""
    names = name_metrics(report.metrics)
    mapped = list_mapped(report)
    for each, matrix in mapped:
        counts = tell_counts(_count_turns(matrix))
        yield from wrap_text(f"{names[each].text}, {sanitize(each.like.key.stage)}: {each.outcome}", width)
        yield from wrap_text(f"{_name_rows(each, matrix)}: {counts}", width)
        yield from _format_matrix(matrix, width)
        yield ""
    if mapped:
        yield from wrap_text(LEGEND, width)


def _name_rows(each: ComparedMetric, matrix: Matrix[ChangeCell]) -> str:
    """The meaning of rows and columns."""
    if not _is_of_pairs(each):
        return "nodes by switch"
    return "pairs from switch to switch" if matrix.is_grouped else "pairs from sender to receiver"


def _is_of_pairs(each: ComparedMetric) -> bool:
    return any(test.target.peer is not None for sample in each.samples for test in sample.tests)


def _count_turns(matrix: Matrix[ChangeCell]) -> Counter[Turn]:
    found: Counter[Turn] = Counter()
    for cell in matrix.cells.values():
        found.update(cell.counts)
    return found


def _format_matrix(matrix: Matrix[ChangeCell], width: int) -> Iterator[str]:
    """The matrix in blocks of as many columns as fit; the mean of each row stands behind the last."""
    names = {each: sanitize(each) for each in (*matrix.sources, *matrix.sinks)}
    gutter = min(max(len(_MEAN), *(measure_width(names[each]) for each in matrix.sources)), _WIDEST_NAME)
    cell = min(max(_CELL, *(measure_width(names[each]) for each in matrix.sinks)), _WIDEST_NAME) + 1
    columns = max((width - gutter) // cell - 1, 1)
    for start in range(0, len(matrix.sinks), columns):
        shown = matrix.sinks[start : start + columns]
        is_last = start + columns >= len(matrix.sinks)
        ends = [_MEAN] if is_last else []
        yield _join("", [*(names[each] for each in shown), *ends], gutter, cell)
        for source in matrix.sources:
            cells = (matrix.cells.get((source, sink)) for sink in shown)
            texts = ["" if each is None else format_cell(each) for each in cells]
            yield _join(names[source], [*texts, *(_format_mean(matrix.by_source, source) for _ in ends)], gutter, cell)
        if matrix.by_sink:
            yield _join(_MEAN, [_format_mean(matrix.by_sink, sink) for sink in shown], gutter, cell)


def _format_mean(sums: Mapping[str, ChangeCell], name: str) -> str:
    return format_change(sums[name].mean) if name in sums else ""


def _join(name: str, texts: Sequence[str], gutter: int, cell: int) -> str:
    cells = "".join(f" {fit_text(text, cell - 1, '>')}" for text in texts)
    return f"{fit_text(name, gutter)}{cells}".rstrip()


def make_map_record(report: ComparisonReport) -> dict[str, object]:
    """The maps for machines: a list of cells for each metric, changes as shares of A, numbers in base units."""
    return {
        "schema": "benchconsole-change-map/1",
        "a": report.names[0],
        "b": report.names[1],
        "maps": [_make_map(each, matrix) for each, matrix in list_mapped(report)],
    }


def _make_map(each: ComparedMetric, matrix: Matrix[ChangeCell]) -> dict[str, object]:
    return {
        "stage": each.like.key.stage,
        "metric": each.like.key.metric,
        "labels": dict(each.labels),
        "unit": each.like.key.unit.value,
        "outcome": each.outcome.value,
        "rows": _name_rows(each, matrix),
        "cells": [_make_cell(place, cell) for place, cell in matrix.cells.items()],
    }


def _make_cell(place: tuple[str, str], cell: ChangeCell) -> dict[str, object]:
    worst = cell.row.record
    return {
        "row": place[0],
        "column": place[1],
        "outcome": cell.turn.value,
        "counts": {turn.value: number for turn, number in cell.counts.items()},
        "mean_change": cell.mean,
        "worst": {name: worst[name] for name in ("of", "a", "b", "change", "apart")},
    }
