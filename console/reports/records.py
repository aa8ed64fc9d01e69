"""Owns the records that scripts stand on: verdicts, findings, coverage and the rest as plain JSON objects.

The JSON report and ``run --jsonl`` share them; ``docs/reference/report.schema.json`` describes
them. Text stays as the node wrote it, save lone surrogates, which no JSON reader must accept;
a number that is not finite becomes null. A key is added freely, changed only with ``SCHEMA``.
"""

import math
from collections.abc import Iterable

from console.columns import outcome_of
from console.reports import checklists
from console.reports.content import Options, Told, described, not_run, program_version, topology_sha256
from console.reports.evidence import Command, commands
from console.view import Coverage, NotJudged, RunView, state_of
from probes.checklist import Checked, CheckedList
from probes.judging.verdict import Finding, Kind, Verdict
from probes.model import Fact, Labels, Measurement, Proof, Result, Round

SCHEMA = 1

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Record = dict[str, Json]


def text(value: str) -> str:
    """``value`` without lone surrogates, which strict readers refuse even as escapes."""
    if value.isascii():
        return value
    return "".join(f"\\u{{{ord(c):x}}}" if "\ud800" <= c <= "\udfff" else c for c in value)


def number(value: float | None) -> float | int | None:
    """``value``, or null where it is no number."""
    return value if value is not None and math.isfinite(value) else None


def _texts(values: Iterable[str]) -> list[Json]:
    return [text(value) for value in values]


def _labels(labels: Labels) -> Record:
    return {text(name): text(value) for name, value in labels}


def verdict_record(verdict: Verdict, stage: str = "", *, superseded: bool = False) -> Record:
    """One verdict with everything that the contract promises; ``superseded`` by a later repeat."""
    return {
        "subject": text(verdict.subject),
        "nodes": _texts(verdict.nodes),
        "stage": text(stage),
        "round": verdict.round,
        "test": text(verdict.test),
        "probe": text(verdict.probe),
        "metric": text(verdict.metric),
        "labels": _labels(verdict.labels),
        "value": number(verdict.value),
        "unit": verdict.unit,
        "text": text(verdict.text) or None,
        "expected": number(verdict.expected),
        "expected_text": text(verdict.expected_text) or None,
        "expected_from": None if verdict.kind is Kind.NONE else verdict.kind,
        "source": text(verdict.source),
        "required": number(verdict.required),
        "share": number(verdict.share),
        "limiting": text(verdict.limiting),
        "affected_by": text(verdict.affected_by),
        "level": verdict.level,
        "state": state_of(verdict),
        "reason": text(verdict.because),
        "evidence": _texts(verdict.evidence),
        "superseded": superseded,
    }


def finding_record(finding: Finding) -> Record:
    """One finding with what it rests on."""
    return {
        "suspect": finding.suspect,
        "element": text(finding.element),
        "where": text(finding.where),
        "what": text(finding.what),
        "level": finding.level,
        "confidence": finding.confidence,
        "nodes": _texts(finding.nodes),
        "tests": _texts(finding.tests),
        "evidence": _texts(finding.evidence),
        "because": _texts(finding.because),
        "rules_out": _texts(finding.rules_out),
        "cannot_tell": text(finding.cannot_tell),
        "means": text(finding.means),
        "do": text(finding.do),
        "value": number(finding.value),
        "expected": number(finding.expected),
        "unit": finding.unit,
    }


def coverage_record(coverage: Coverage) -> Record:
    """What became of the planned tests."""
    return {
        "planned": coverage.planned,
        "tested": coverage.tested,
        "failed_to_run": coverage.failed,
        "unreachable": coverage.unreachable,
        "skipped": coverage.skipped,
        "not_applicable": coverage.not_applicable,
        "not_run": not_run(coverage),
        "complete": coverage.complete,
    }


def not_judged_record(reason: NotJudged) -> Record:
    """Nodes without a number, by reason."""
    return {
        "stage": reason.stage,
        "detail": text(reason.detail),
        "nodes": _texts(reason.nodes),
        "tests": reason.tests,
    }


def session_record(view: RunView, options: Options) -> Record:
    """What was run, on what, by whom and when; moments are seconds since 1970, UTC."""
    said = checklists.summary(view, options.told)
    return {
        "id": text(view.session),
        "label": text(view.label),
        "suite": text(view.suite),
        "fabric": text(view.fabric.name),
        "described": _texts(described(view)),
        "simulated": view.fabric.simulated,
        "topology_sha256": topology_sha256(view),
        "started": number(view.started) or None,
        "ended": number(view.ended),
        "complete": view.complete,
        "because": text(view.because),
        "operator": text(options.operator),
        "version": program_version(options),
        "state": said.state,
        "summary": said.sentence,
    }


def conduct_record(view: RunView, told: Told) -> Record:
    """What the session was started with, what was decided while it ran, and what a rule stopped."""
    return {
        "options": {
            text(name): text(value) if isinstance(value, str) else number(value) for name, value in told.options.items()
        },
        "notes": [{"kind": text(note.kind), "text": text(note.text), "at": number(note.at)} for note in told.notes],
        "stopped": [{"round": each, "because": text(because)} for each, because in sorted(view.stopped.items())],
        "not_covered": _texts(told.uncovered),
    }


def proof_record(proof: Proof) -> Record:
    """What one node showed at the end."""
    return {
        "node": text(proof.node),
        "asked": proof.asked,
        "clean": proof.clean,
        "left": _texts(proof.left),
        "ended": proof.ended,
        "detail": text(proof.detail),
    }


def checklist_record(checklist: CheckedList) -> Record:
    """One checklist with its steps as they stand; attachments by their SHA-256."""
    return {
        "name": text(checklist.name),
        "source": text(checklist.source),
        "state": checklists.state_of(checklist),
        "steps": [_step_record(each) for each in checklist.steps],
    }


def _step_record(each: Checked) -> Json:
    mark = each.mark
    return {
        "id": text(each.step.id),
        "clause": text(each.step.clause),
        "text": text(each.step.text),
        "argv": _texts(each.step.argv),
        "state": each.state,
        "by": text(mark.by) if mark else None,
        "at": number(mark.at) if mark else None,
        "note": text(mark.note) if mark else "",
        "earlier": each.earlier,
        "attachments": [
            {"name": text(found.name), "size": found.size, "sha256": text(found.sha256)} for found in each.attachments
        ],
    }


def round_record(planned: Round) -> Record:
    """One round of the plan with its tests."""
    return {
        "number": planned.number,
        "stage": text(planned.stage),
        "probe": text(planned.probe),
        "seconds": number(planned.seconds),
        "because": text(planned.because),
        "tests": [
            {"id": text(test.id), "target": text(test.target.key), "bundle": text(test.bundle)}
            for test in planned.tests
        ],
    }


def measurement_record(measurement: Measurement) -> Record:
    """One number with the text it was read from."""
    reading = measurement.reading
    return {
        "id": text(measurement.id),
        "test": text(measurement.test.id),
        "target": text(measurement.test.target.key),
        "probe": text(measurement.test.probe),
        "metric": text(reading.metric),
        "value": number(reading.value),
        "unit": reading.unit,
        "labels": _labels(reading.labels),
        "raw": text(reading.raw),
        "at": number(measurement.at),
    }


def fact_record(result: Result, fact: Fact) -> Record:
    """One fact that a node told of itself."""
    value: Json = text(fact.value) if isinstance(fact.value, str) else number(fact.value)
    return {
        "node": text(result.test.target.node.id),
        "test": text(result.test.id),
        "fact": text(fact.fact),
        "value": value,
        "unit": fact.unit,
        "labels": _labels(fact.labels),
    }


def failure_record(result: Result) -> Record | None:
    """A test that gave no number, with its commands; None for one that did."""
    if result.failure is None:
        return None
    return {
        "test": text(result.test.id),
        "target": text(result.test.target.key),
        "probe": text(result.test.probe),
        "node": text(result.failure.node),
        "outcome": outcome_of(result),
        "stage": result.failure.stage,
        "detail": text(result.failure.detail),
        "commands": [_command(command) for command in commands(result)],
    }


def _command(command: Command) -> Json:
    return {
        "node": text(command.node),
        "argv": _texts(command.argv),
        "exit_status": command.exit_status,
        "signal": text(command.signal) or None,
        "seconds": number(command.seconds),
        "truncated": command.truncated,
        "stdout": list(command.stdout),
        "stderr": list(command.stderr),
    }
