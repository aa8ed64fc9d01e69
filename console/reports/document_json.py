"""The JSON report: one document, versioned, streamed item by item.

Pure ASCII, every number finite. What the document holds is described in
``docs/reference/report.schema.json`` and made in ``benchconsole.console.reports.json_records``.
"""

import json
from collections.abc import Iterable, Iterator
from typing import TextIO

from benchconsole.console.reports import json_records
from benchconsole.console.reports.content import ReportOptions, sort_findings
from benchconsole.console.reports.json_records import Json, Record
from benchconsole.console.view.result_rows import RowOutcome, list_rows
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.totals import compute_totals


def render(view: RunView, out: TextIO, options: ReportOptions) -> None:
    """Write the document; lists item by item, one line each, so that memory stays bounded."""
    results = view.results.values()
    failures = (json_records.make_failure_record(result) for result in results)
    out.write(f'{{"schema": {json_records.SCHEMA}')
    _write_member(out, "program", "benchconsole")
    _write_member(out, "session", json_records.make_session_record(view, options))
    _write_member(out, "conduct", json_records.make_conduct_record(view, options.details))
    _write_member(out, "coverage", json_records.make_coverage_record(compute_totals(view).covered))
    _write_items(out, "findings", map(json_records.make_finding_record, sort_findings(view.findings)))
    _write_items(out, "not_judged", map(json_records.make_not_judged_record, compute_totals(view).reasons))
    _write_items(out, "plan", map(json_records.make_round_record, view.plan))
    _write_items(out, "verdicts", _list_verdicts(view))
    _write_items(
        out,
        "measurements",
        (json_records.make_measurement_record(each.test, one) for each in results for one in each.measurements),
    )
    _write_items(out, "facts", (json_records.make_fact_record(each, fact) for each in results for fact in each.facts))
    _write_items(out, "failures", (record for record in failures if record is not None))
    _write_items(out, "proofs", map(json_records.make_proof_record, view.proofs))
    _write_items(out, "checklists", map(json_records.make_checklist_record, options.details.checklists))
    out.write("\n}\n")


def _encode(value: Json) -> str:
    return json.dumps(value, allow_nan=False)


def _write_member(out: TextIO, name: str, value: Json) -> None:
    out.write(f",\n{_encode(name)}: {_encode(value)}")


def _write_items(out: TextIO, name: str, items: Iterable[Record]) -> None:
    out.write(f",\n{_encode(name)}: [")
    before = "\n  "
    for item in items:
        out.write(before + _encode(item))
        before = ",\n  "
    out.write("]")


def _list_verdicts(view: RunView) -> Iterator[Record]:
    for row in list_rows(view):
        if row.verdict is not None:
            superseded = row.outcome is RowOutcome.REPEATED
            yield json_records.make_verdict_record(
                row.verdict, row.stage, affected_by=row.affected_by, superseded=superseded
            )
