"""The overview of several sessions as tables: their numbers, their clauses, and the steps that were checked by hand."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from typing import TextIO

from benchconsole.console.conclusions.session_overview import (
    OverviewLine,
    OverviewSession,
    OverviewValue,
    name_sessions,
)
from benchconsole.console.conclusions.session_series import SessionSeries, list_series
from benchconsole.console.reports.checklist_section import ChecklistLine, make_sections
from benchconsole.console.reports.table_csv import cell
from benchconsole.console.reports.tables import list_criteria
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, Table, number, words
from benchconsole.console.view.wording import NOT_MEASURED, format_moment, format_quantity
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.statistics.rank_correlation import RankCorrelation
from benchconsole.topology.units import Shown, Unit, show, show_with_error

Told = Mapping[tuple[str, ...], str]
"""The words of a session on each row of a table, by the cells that name the row."""


def make_tables(sessions: Sequence[OverviewSession], lines: Sequence[OverviewLine]) -> tuple[Table, ...]:
    """The tables; one without rows is not shown."""
    return (_make_numbers(lines), _make_variation(lines), _make_clauses(sessions), _make_steps(sessions))


def write_html(
    sessions: Sequence[OverviewSession],
    lines: Sequence[OverviewLine],
    out: TextIO,
    span: tuple[float, float] | None = None,
) -> None:
    """The tables and the curves of all sessions as one page; ``span``: only this part of the axes of numbers."""
    from benchconsole.console.curves.session_charts import join_sessions
    from benchconsole.console.curves.sweep_series import ChartCache
    from benchconsole.console.reports.curve_section import make_chart_sections
    from benchconsole.console.reports.html import make_environment

    names = name_sessions(sessions)
    charts = {name: ChartCache().compute(each.view) for name, each in zip(names, sessions, strict=True)}
    sweeps, more = make_chart_sections(join_sessions(charts, span))
    tables = [table for table in make_tables(sessions, lines) if table.rows]
    page = make_environment().get_template("overview.html")
    out.write(page.render(names=", ".join(names), tables=tables, sweeps=sweeps, more_sweeps=more))


def _make_numbers(lines: Sequence[OverviewLine]) -> Table:
    across = tuple(dict.fromkeys(name for line in lines for name in line.values))
    columns = (
        words("session", 10), words("metric", 12), words("condition", 10), words("date", 10),
        *(number(sanitize(name) or "value") for name in across), number("n"), words("notes", 16),
    )  # fmt: skip
    rows = tuple(
        (
            sanitize(line.session),
            sanitize(line.metric),
            sanitize(" ".join(filter(None, (line.stage, *tell_labels(line.labels))))),
            format_moment(line.started)[:10],
            *(_format_value(line.values.get(name)) for name in across),
            _format_number([line.values[name] for name in across if name in line.values]),
            sanitize("; ".join(" ".join(note.split()) for note in line.notes)),
        )
        for line in lines
    )
    used = [place for place, _ in enumerate(columns) if any(row[place] for row in rows)]
    return Table(
        "Numbers",
        tuple(columns[place] for place in used),
        tuple(tuple(row[place] for place in used) for row in rows),
        "The number after ± is the standard error of the mean.",
    )


def _format_value(value: OverviewValue | None) -> str:
    if value is None:
        return NOT_MEASURED
    mean = value.mean
    shown = (
        format_quantity(mean.mean, value.unit, value.shown)
        if mean.error is None
        else show_with_error(mean.mean, mean.error, value.unit, value.shown)
    )
    return shown if value.statistic == "mean" else f"{shown} ({value.statistic})"


def _format_number(values: Sequence[OverviewValue]) -> str:
    return ", ".join(f"{each:,}" for each in dict.fromkeys(value.mean.number for value in values))


def _make_variation(lines: Sequence[OverviewLine]) -> Table:
    """How far each number varies over the sessions, with its least and its most and their days."""
    columns = (
        words("metric", 12), words("condition", 10), number("sessions"), number("mean"), number("deviation"),
        number("share"), words("least", 12), words("most", 12), words("over time", 10),
    )  # fmt: skip
    note = "The deviation is that between the means of sessions, the share is of their mean."
    return Table("Variation over the sessions", columns, tuple(map(_format_series, list_series(lines))), note)


def _format_series(series: SessionSeries) -> tuple[str, ...]:
    low, high = (choose(series.points, key=lambda each: each.value) for choose in (min, max))
    deviation, spread = series.summary.deviation, series.spread
    return (
        sanitize(series.metric),
        sanitize(" ".join(filter(None, (series.stage, series.across, *tell_labels(series.labels))))),
        f"{len(series.points):,}",
        format_quantity(series.summary.mean, series.unit, series.shown),
        NOT_MEASURED if deviation is None else format_quantity(deviation, series.unit, series.shown),
        NOT_MEASURED if spread is None else show(spread, Unit.ONE, Shown.PERCENT),
        *(
            f"{format_quantity(each.value, series.unit, series.shown)} {sanitize(each.session)} "
            f"{format_moment(each.started)[:10]}"
            for each in (low, high)
        ),
        _format_drift(series.drift),
    )


def _format_drift(drift: RankCorrelation | None) -> str:
    if drift is None:
        return NOT_MEASURED
    if not drift.is_sure:
        return "no trend"
    return f"{'rises' if drift.coefficient > 0 else 'falls'} (rank correlation {drift.coefficient:+.2f})"


def _make_clauses(sessions: Sequence[OverviewSession]) -> Table:
    """Every criterion of any session, and what came of it in each."""
    columns = (words("clause", 8), words("metric", 12), words("applies to", 10), words("required", 12))
    found: list[Told] = [
        {(line.source, line.metric, line.applies, line.bound): line.outcome for line in list_criteria(each.view)}
        for each in sessions
    ]
    return _put_beside("Clauses", columns, sessions, found, "Nothing that was not tested is counted as passed.")


def _make_steps(sessions: Sequence[OverviewSession]) -> Table:
    """Every step of any checklist, and its state in each session, with the day it was marked."""
    columns = (words("checklist", 10), words("clause", 8), words("step", 10))
    found: list[Told] = [
        {
            (section.title, line.clause, line.step): _format_step(line)
            for section in make_sections(each.view.checklists)
            for line in section.lines
        }
        for each in sessions
    ]
    return _put_beside("Checklists", columns, sessions, found)


def _format_step(line: ChecklistLine) -> str:
    return line.word if line.when == NOT_MEASURED else f"{line.word}, {line.when[:10]}"


def _put_beside(
    title: str, columns: tuple[Column, ...], sessions: Sequence[OverviewSession], found: Sequence[Told], note: str = ""
) -> Table:
    """A row for each key of any session, with a column for each session."""
    keys = dict.fromkeys(key for own in found for key in own)
    rows = tuple((*key, *(own.get(key, NOT_MEASURED) for own in found)) for key in keys)
    return Table(title, (*columns, *(words(sanitize(name), 10) for name in name_sessions(sessions))), rows, note)


CSV_COLUMNS = (
    "session", "started", "stage", "metric", "labels", "across", "statistic", "value", "error", "n", "unit",
)  # fmt: skip


def write_csv(lines: Sequence[OverviewLine], out: TextIO) -> None:
    """A row for each value, in base units; text is guarded as in the CSV report."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for line in lines:
        for name, value in line.values.items():
            labels = ";".join(f"{label}={text}" for label, text in line.labels)
            mean = value.mean
            row = (
                line.session, line.started, line.stage, line.metric, labels, name, value.statistic,
                mean.mean, mean.error, mean.number, value.unit.value,
            )  # fmt: skip
            writer.writerow(map(cell, row))


def make_record(sessions: Sequence[OverviewSession], lines: Sequence[OverviewLine]) -> dict[str, object]:
    """The overview for machines: numbers in base units, times in UTC seconds."""
    clauses, steps = (_make_rows(table) for table in (_make_clauses(sessions), _make_steps(sessions)))
    return {
        "schema": "benchconsole-overview/1",
        "sessions": [each.view.session for each in sessions],
        "numbers": [record for line in lines for record in _make_line_records(line)],
        "series": list(map(_make_series_record, list_series(lines))),
        "clauses": clauses,
        "checklists": steps,
    }


def _make_series_record(series: SessionSeries) -> dict[str, object]:
    drift = series.drift
    return {
        "metric": series.metric,
        "stage": series.stage,
        "labels": dict(series.labels),
        "across": series.across,
        "unit": series.unit.value,
        "mean": series.summary.mean,
        "deviation": series.summary.deviation,
        "rank_correlation": None if drift is None else drift.coefficient,
        "chance": None if drift is None else drift.chance,
        "points": [each._asdict() for each in series.points],
    }


def _make_rows(table: Table) -> list[dict[str, str]]:
    headings = [column.heading for column in table.columns]
    return [dict(zip(headings, row, strict=True)) for row in table.rows]


def _make_line_records(line: OverviewLine) -> Iterator[dict[str, object]]:
    for name, value in line.values.items():
        yield {
            "session": line.session,
            "started": line.started,
            "stage": line.stage,
            "metric": line.metric,
            "labels": dict(line.labels),
            "across": name,
            "statistic": value.statistic,
            "value": value.mean.mean,
            "error": value.mean.error,
            "number": value.mean.number,
            "unit": value.unit.value,
            "notes": list(line.notes),
        }
