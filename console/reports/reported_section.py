"""The numbers that a document reports beside those of the session: one line for each, agreeing or not.

A number of a document is no criterion: where it differs from what was measured, the document or the session is another
one, and no verdict changes.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.result_rows import format_labels
from benchconsole.console.view.run_view import RunView, superseding
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.probes.model.measuring import Result
from benchconsole.topology.analysis.reported_results import CellOutcome, ReportedCell, list_share_cells
from benchconsole.topology.model.claims import ReportedResult, Statistic
from benchconsole.topology.model.conditions import accept_labels
from benchconsole.topology.model.statistic import compute_statistic
from benchconsole.topology.units import counted as count

GLYPHS: Mapping[CellOutcome, str] = {CellOutcome.AGREES: "=", CellOutcome.DIFFERS: "≠", CellOutcome.UNKNOWN: "?"}
"""None of these is the sign of a verdict: what a document prints is not judged."""

ABOUT = "Numbers as the documents print them, beside those of this session. None of them is a criterion."


class ReportedLine(NamedTuple):
    """One number of a document as text: where it stands, what it is of, and what was measured for it."""

    source: str
    metric: str
    applies: str
    reported: str
    computed: str
    how: str
    outcome: CellOutcome


def compare_reported(view: RunView) -> Iterator[ReportedCell]:
    """Every number that the file reports, in its order, beside the measurements that count."""
    results = list(superseding(view).values()) if view.fabric.reported else []
    for reported in view.fabric.reported:
        found = [(result.test.round, value) for result in results for value in _list_values(reported, result)]
        values, rounds = [value for _, value in found], {number for number, _ in found}
        apart = reported.statistic is Statistic.SUM and len(rounds) > 1
        if not values or apart:
            cells = [(None, reported.value), *reported.shares.items()]
            why = f"its tests ran in {len(rounds)} rounds, not at once" if apart else "nothing was measured for it"
            yield from (ReportedCell(reported, of, written, None, why, CellOutcome.UNKNOWN) for of, written in cells)
            continue
        value = compute_statistic(reported.statistic.value, values)
        agrees = reported.value.agrees(value, value)
        how = f"{reported.statistic} of {count(len(values), 'measurement')}"
        outcome = CellOutcome.AGREES if agrees else CellOutcome.DIFFERS
        yield ReportedCell(reported, None, reported.value, value, how, outcome)
        yield from list_share_cells(view.fabric, reported, value, (value, value))


def _list_values(reported: ReportedResult, result: Result) -> Iterator[float]:
    """The measurements of one result that a reported number stands for."""
    nodes = result.test.target.nodes
    if reported.nodes and not any(node.id in reported.nodes for node in nodes):
        return
    implied = {"nodes": str(len(nodes))}
    for each in result.measurements:
        if each.metric == reported.metric and accept_labels(reported.where, {**implied, **dict(each.labels)}):
            yield each.value


def make_lines(view: RunView) -> tuple[ReportedLine, ...]:
    """The numbers of the documents as text, safe for a terminal."""
    return tuple(map(_make_line, compare_reported(view)))


def _make_line(cell: ReportedCell) -> ReportedLine:
    result = cell.result
    where = format_labels(result.where)
    nodes = fold_names(result.nodes) if result.nodes else "all nodes"
    written = cell.written.format(cell.written.value)
    return ReportedLine(
        source=sanitize(result.source) or NOT_MEASURED,
        metric=sanitize(result.metric),
        applies=sanitize(f"{nodes}; {where}" if where else nodes),
        reported=f"{written} of {cell.of}" if cell.of else written,
        computed=cell.shown or NOT_MEASURED,
        how=sanitize(cell.how),
        outcome=cell.outcome,
    )
