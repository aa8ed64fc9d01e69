"""The JSON report: one document, versioned, streamed item by item, and the records that scripts stand on.

``run --jsonl`` has the same records; ``docs/reference/report.schema.json`` describes them. Pure ASCII. Text stays as
the node wrote it, save lone surrogates, which no JSON reader must accept; a number that is not finite becomes null.
A key is added freely, changed only with ``SCHEMA``.
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import TextIO, cast

from benchconsole.console.conclusions.statistic_lines import list_statistics
from benchconsole.console.reports import checklist_section, statistics_section
from benchconsole.console.reports.content import (
    ReportOptions,
    SessionDetails,
    count_not_run,
    describe_fabric,
    find_version,
    hash_topology,
    list_detectable,
    sort_findings,
)
from benchconsole.console.reports.evidence import CommandExcerpt, list_commands
from benchconsole.console.reports.reported_section import compare_reported
from benchconsole.console.view.acceptance import find_acceptances, list_accepted, name_cause
from benchconsole.console.view.result_rows import RowOutcome, list_rows
from benchconsole.console.view.run_view import Coverage, NotJudged, RunView, State, state_of
from benchconsole.console.view.session_judgements import list_session_judgements
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.judging.session_criteria import SessionJudgement
from benchconsole.probes.model.checklist import Checked, CheckedList
from benchconsole.probes.model.judgement import Finding, Verdict
from benchconsole.probes.model.measuring import Fact, Failure, Proof, Reading, Result, Round, Test
from benchconsole.probes.model.remark import Remark
from benchconsole.topology.analysis.reported_results import ReportedCell
from benchconsole.topology.model.fabric import Basis, Criterion
from benchconsole.topology.units import Unit

SCHEMA = 1

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Record = dict[str, Json]


def render(view: RunView, out: TextIO, options: ReportOptions) -> None:
    """Write the document; lists item by item, one line each, so that memory stays bounded."""
    results, accepted = view.results.values(), list_accepted(options.details.remarks)
    failures = (make_failure_record(each, each.failure) for each in results if each.failure is not None)
    verdicts = (
        make_verdict_record(
            row.verdict, row.stage, affected_by=row.affected_by, superseded=row.outcome is RowOutcome.REPEATED
        )
        for row in list_rows(view)
        if row.verdict is not None
    )
    out.write(f'{{"schema": {SCHEMA}')
    _write_member(out, "program", "benchconsole")
    _write_member(out, "session", make_session_record(view, options))
    _write_member(out, "conduct", make_conduct_record(view, options.details))
    _write_items(out, "remarks", map(make_remark_record, options.details.remarks))
    _write_items(out, "criteria", map(make_criterion_record, view.fabric.criteria))
    _write_items(out, "reported", map(make_reported_record, compare_reported(view)))
    _write_items(out, "together", map(make_session_judgement_record, list_session_judgements(view)))
    _write_items(out, "statistics", map(_make_record, statistics_section.make_record(list_statistics(view))))
    _write_member(out, "coverage", make_coverage_record(compute_totals(view).covered))
    _write_member(out, "detectable", make_detectable_record(view, options.details))
    _write_items(
        out,
        "findings",
        (make_finding_record(each, accepted.get(name_cause(each))) for each in sort_findings(view.findings)),
    )
    _write_items(out, "not_judged", map(make_not_judged_record, compute_totals(view).reasons))
    _write_items(out, "plan", map(make_round_record, view.plan))
    _write_items(out, "verdicts", verdicts)
    _write_items(
        out, "measurements", (make_measurement_record(each.test, one) for each in results for one in each.measurements)
    )
    _write_items(out, "facts", (make_fact_record(each, fact) for each in results for fact in each.facts))
    _write_items(out, "failures", failures)
    _write_items(out, "proofs", map(make_proof_record, view.proofs))
    _write_items(out, "checklists", map(make_checklist_record, view.checklists))
    out.write("\n}\n")


def _dump(value: Json) -> str:
    return json.dumps(value, allow_nan=False)


def _write_member(out: TextIO, name: str, value: Json) -> None:
    out.write(f",\n{_dump(name)}: {_dump(value)}")


def _write_items(out: TextIO, name: str, items: Iterable[Record]) -> None:
    out.write(f",\n{_dump(name)}: [")
    before = "\n  "
    for item in items:
        out.write(before + _dump(item))
        before = ",\n  "
    out.write("]")


def make_text(value: str) -> str:
    """``value`` without lone surrogates, which strict readers refuse even as escapes."""
    if value.isascii():
        return value
    return "".join(f"\\u{{{ord(c):x}}}" if "\ud800" <= c <= "\udfff" else c for c in value)


def make_number(value: float | None) -> float | int | None:
    """``value``, or null where it is no number."""
    return value if value is not None and math.isfinite(value) else None


def _encode(value: object) -> Json:
    if isinstance(value, str):
        return make_text(value)
    if isinstance(value, float):
        return make_number(value)
    if isinstance(value, Mapping):
        return _make_record(value)
    if isinstance(value, Iterable):
        return [_encode(item) for item in value]
    return cast(Json, value)


def _make_record(fields: Mapping[str, object]) -> Record:
    """``fields`` as JSON takes them: texts and numbers that every reader accepts, sequences as lists."""
    return {make_text(key): _encode(value) for key, value in fields.items()}


def _select(item: object, *names: str) -> dict[str, object]:
    return {name: getattr(item, name) for name in names}


def make_verdict_record(verdict: Verdict, stage: str, *, affected_by: str, superseded: bool = False) -> Record:
    """One verdict with everything that the contract promises; ``superseded`` by a later repeat."""
    return _make_record(
        {
            **_select(verdict, "subject", "nodes"),
            "stage": stage,
            **_select(verdict, "round", "test", "probe", "metric"),
            "labels": dict(verdict.labels),
            **_select(verdict, "value", "unit"),
            "text": verdict.text or None,
            "expected": verdict.expected,
            "expected_text": verdict.expected_text or None,
            "expected_from": verdict.kind,
            **_select(verdict, "source", "required", "least", "share", "limiting"),
            "affected_by": affected_by,
            "level": verdict.level,
            "state": State.AFFECTED if affected_by else state_of(verdict),
            "reason": verdict.because,
            "evidence": verdict.evidence,
            "superseded": superseded,
        }
    )


def make_finding_record(finding: Finding, accepted: Remark | None = None) -> Record:
    """One finding with its grounds, and who answers for it."""
    fields = _select(
        finding, "suspect", "element", "where", "what", "level", "confidence", "nodes", "tests", "evidence",
        "because", "rules_out", "cannot_tell", "means", "do", "value", "expected", "unit",
    )  # fmt: skip
    return _make_record({**fields, "accepted": make_acceptance_record(accepted)})


def make_acceptance_record(accepted: Remark | None) -> Record | None:
    """Who answers for a finding, when (UTC seconds since 1970), why, and the number of the remark that says so."""
    if accepted is None:
        return None
    return _make_record({**_select(accepted, "by", "at", "number"), "reason": accepted.text})


def make_coverage_record(coverage: Coverage) -> Record:
    """The number of planned tests by outcome."""
    return {
        "planned": coverage.planned,
        "tested": coverage.tested,
        "failed_to_run": coverage.failed,
        "unreachable": coverage.unreachable,
        "skipped": coverage.skipped,
        "not_run": count_not_run(coverage),
        "complete": coverage.complete,
    }


def make_not_judged_record(reason: NotJudged) -> Record:
    """Nodes without a number, by reason."""
    return _make_record(_select(reason, "stage", "detail", "nodes", "tests"))


def make_session_record(view: RunView, options: ReportOptions) -> Record:
    """The session and its fabric, by whom and when; moments are seconds since 1970, UTC."""
    verdict = options.details.decide(view)
    return _make_record(
        {
            "id": view.session,
            **_select(view, "label", "suite"),
            "fabric": view.fabric.name,
            "described": describe_fabric(view),
            "simulated": view.fabric.simulated,
            "topology_sha256": hash_topology(view),
            "started": view.started or None,
            **_select(view, "ended", "complete", "because"),
            "operator": options.operator,
            "version": find_version(options),
            "state": verdict.state,
            "summary": verdict.sentence,
            "accepted": find_acceptances(view.findings, options.details.remarks).sentence,
            "verdict": {
                "outcome": verdict.outcome,
                "missing": verdict.missing,
                "exit_code": verdict.exit_code(allow_untested=bool(options.details.options.get("allow_untested"))),
            },
        }
    )


def make_conduct_record(view: RunView, details: SessionDetails) -> Record:
    """The options of the session, the decisions while it ran, and the rounds that a rule stopped."""
    return _make_record(
        {
            "options": details.options,
            "notes": [_select(note, "kind", "text", "at") for note in details.notes],
            "stopped": [{"round": each, "because": because} for each, because in sorted(view.stopped.items())],
            "not_covered": details.uncovered,
        }
    )


def make_detectable_record(view: RunView, details: SessionDetails) -> Record:
    """The smallest loss that the tests could have shown, by kind of element, and the same in words."""
    losses = [_select(each, "fault", "elements", "seen", "loss", "widest") for each in details.losses]
    return _make_record({"losses": losses, "sentences": list_detectable(view, details)})


def make_criterion_record(criterion: Criterion) -> Record:
    """One criterion that the session is judged with; numbers in ``unit``, or shares of ``basis``."""
    return _make_record(
        {
            **_select(criterion, "metric", "comparator", "required", "target", "unit", "basis"),
            **_select(criterion, "rounding", "rounds_share"),
            "where": dict(criterion.where),
            "nodes": sorted(criterion.nodes),
            "source": criterion.source,
            **_select(criterion, "statistic", "author", "date"),
            "reference": criterion.reference if criterion.basis is Basis.REFERENCE else None,
            "other": None
            if criterion.other is None
            else {"metric": criterion.other.metric, "where": dict(criterion.other.where)},
        }
    )


def make_session_judgement_record(each: SessionJudgement) -> Record:
    """One judgement on all numbers together; a share where ``is_share``, else in the unit of its criterion."""
    return _make_record(
        {
            **_select(each.criterion, "metric", "statistic", "source"),
            "where": dict(each.criterion.where),
            "unit": Unit.ONE if each.is_share else each.criterion.unit,
            **_select(each, "subject", "level", "because", "value", "required", "number", "is_share", "nodes", "tests"),
        }
    )


def make_reported_record(cell: ReportedCell) -> Record:
    """One number that a document reports; in ``unit``, or a share of ``of``, beside what was measured."""
    result = cell.result
    return _make_record(
        {
            **_select(result, "metric", "statistic"),
            "unit": Unit.ONE if cell.of else result.unit,
            "of": cell.of,
            "where": dict(result.where),
            "nodes": sorted(result.nodes),
            "source": result.source,
            "reported": cell.written.value,
            **_select(cell, "computed", "how", "outcome"),
        }
    )


def make_proof_record(proof: Proof) -> Record:
    """The result of the search of one node at the end."""
    return _make_record(_select(proof, "node", "asked", "clean", "left", "ended", "detail"))


def make_remark_record(remark: Remark) -> Record:
    """One remark, or the withdrawal of one, as it is stored; times in UTC seconds since 1970."""
    return _make_record(
        {
            **_select(remark, "number", "kind", "about", "subject", "text", "by", "at", "written"),
            "withdraws": remark.withdraws or None,
        }
    )


def make_checklist_record(checklist: CheckedList) -> Record:
    """One checklist with its steps as they stand; attachments by their SHA-256."""
    return _make_record(
        {
            **_select(checklist, "name", "source"),
            "state": checklist_section.find_state(checklist),
            "steps": [_describe_step(each) for each in checklist.steps],
        }
    )


def _describe_step(each: Checked) -> dict[str, object]:
    mark = each.mark
    return {
        **_select(each.step, "id", "clause", "text", "argv"),
        "state": each.state,
        "by": mark.by if mark else None,
        "at": mark.at if mark else None,
        "note": mark.note if mark else "",
        "earlier": each.earlier,
        "attachments": [_select(attached, "name", "size", "sha256") for attached in each.attachments],
    }


def make_round_record(planned: Round) -> Record:
    """One round of the plan with its tests."""
    tests = [{"id": test.id, "target": test.target.key, "bundle": test.bundle} for test in planned.tests]
    return _make_record({**_select(planned, "number", "stage", "probe", "seconds", "because"), "tests": tests})


def make_measurement_record(test: Test, reading: Reading) -> Record:
    """One number of a test with the text that it was read from."""
    return _make_record(
        {
            "id": reading.id,
            "test": test.id,
            "target": test.target.key,
            "probe": test.probe,
            **_select(reading, "metric", "value", "unit"),
            "labels": dict(reading.labels),
            "raw": reading.raw,
            "at": reading.at,
        }
    )


def make_fact_record(result: Result, fact: Fact) -> Record:
    """One fact that a node told of itself."""
    identity = {"node": result.test.target.node.id, "test": result.test.id}
    return _make_record({**identity, **_select(fact, "fact", "value", "unit"), "labels": dict(fact.labels)})


def make_failure_record(result: Result, failure: Failure) -> Record:
    """A test that gave no number, with its commands."""
    test = result.test
    return _make_record(
        {
            "test": test.id,
            "target": test.target.key,
            "probe": test.probe,
            "node": failure.node,
            "outcome": result.outcome,
            **_select(failure, "stage", "detail"),
            "commands": [_describe_command(command) for command in list_commands(result)],
        }
    )


def _describe_command(command: CommandExcerpt) -> dict[str, object]:
    return {
        "node": command.node,
        **_select(command.output, "argv", "exit_status"),
        "signal": command.output.signal or None,
        **_select(command.output, "seconds", "truncated"),
        **_select(command, "stdout", "stderr"),
    }
