"""Owns the JSON report: one document, versioned, streamed item by item.

Pure ASCII, every number finite. What the document holds is described in
``docs/reference/report.schema.json`` and made in ``console.reports.records``.
"""

import json
from collections.abc import Iterable, Iterator
from typing import TextIO

from console import view as picture
from console.columns import Outcome, rows
from console.reports import records
from console.reports.content import Options, ordered
from console.reports.records import Json, Record
from console.view import RunView


def render(view: RunView, out: TextIO, options: Options) -> None:
    """Write the document; lists item by item, one line each, so that memory stays bounded."""
    out.write(f'{{"schema": {records.SCHEMA}')
    _member(out, "program", "benchconsole")
    _member(out, "session", records.session_record(view, options))
    _member(out, "conduct", records.conduct_record(view, options.told))
    _member(out, "coverage", records.coverage_record(picture.coverage(view)))
    _items(out, "findings", (records.finding_record(finding) for finding in ordered(view.findings)))
    _items(out, "not_judged", (records.not_judged_record(reason) for reason in picture.not_judged(view)))
    _items(out, "plan", map(records.round_record, view.plan))
    _items(out, "verdicts", _verdicts(view))
    _items(out, "measurements", _measurements(view))
    _items(out, "facts", _facts(view))
    _items(out, "failures", _failures(view))
    _items(out, "proofs", map(records.proof_record, view.proofs))
    _items(out, "checklists", map(records.checklist_record, options.told.checklists))
    out.write("\n}\n")


def _encoded(value: Json) -> str:
    return json.dumps(value, allow_nan=False)


def _member(out: TextIO, name: str, value: Json) -> None:
    out.write(f",\n{_encoded(name)}: {_encoded(value)}")


def _items(out: TextIO, name: str, items: Iterable[Record]) -> None:
    out.write(f",\n{_encoded(name)}: [")
    before = "\n  "
    for item in items:
        out.write(before + _encoded(item))
        before = ",\n  "
    out.write("]")


def _verdicts(view: RunView) -> Iterator[Record]:
    for row in rows(view):
        if row.verdict is not None:
            superseded = row.outcome is Outcome.REPEATED
            yield records.verdict_record(row.verdict, row.stage, superseded=superseded)


def _measurements(view: RunView) -> Iterator[Record]:
    for result in view.results.values():
        yield from map(records.measurement_record, result.measurements)


def _facts(view: RunView) -> Iterator[Record]:
    for result in view.results.values():
        for fact in result.facts:
            yield records.fact_record(result, fact)


def _failures(view: RunView) -> Iterator[Record]:
    for result in view.results.values():
        record = records.failure_record(result)
        if record is not None:
            yield record
