"""Events as lines: for people who watch a run without the screen, and as JSON for scripts."""

import json
import time
from collections.abc import Iterator, Sequence

from msgspec import to_builtins

from benchconsole.console.reports.document_json import make_finding_record, make_verdict_record
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view import events
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import RunView, state_of
from benchconsole.console.view.time_left import eta
from benchconsole.console.view.wording import SIGNS, format_expected, format_measured
from benchconsole.probes.model.judgement import ClosedRound, Level
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.model.measuring import Proof, Result
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import duration


def _format_clock(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))


def format_event(event: events.Event, view: RunView) -> Iterator[str]:
    """The lines on ``event`` for a person: rounds, what failed in them, how long it still takes."""
    if isinstance(event, events.SessionOpened):
        tests = sum(len(each.tests) for each in event.plan)
        simulated = "  SIMULATED" if event.fabric.simulated else ""
        name = event.session or "new"
        planned = f"{count(len(event.plan), 'round')}, {count(tests, 'test')}"
        yield f"{_format_clock(event.at)}  session {name}: {planned}{simulated}"
    elif isinstance(event, events.RoundStarted):
        left = eta(view, event.at)
        words = f", {duration(left[0])} to {duration(left[1])} left" if left else ""
        each = event.round
        what = f"{each.stage}, {count(len(each.tests), 'test')}{words}"
        yield f"{_format_clock(event.at)}  round {each.number} of {len(view.plan)}: {what}"
    elif isinstance(event, Result) and event.failure:
        target, failure = event.test.target.key, event.failure
        words = f"{target}: {failure.stage} on {failure.node}: {sanitize(failure.detail)}"
        yield f"{_format_clock(event.ended)}    ? {words}"
    elif isinstance(event, ClosedRound):
        yield from (f"{_format_clock(event.ended)}    {line}" for line in _format_below(event))
    elif isinstance(event, events.Held):
        kept = f"; what is finished is kept in {event.spool}" if event.spool else ""
        yield f"{_format_clock(event.at)}  held: {sanitize(event.because)}{kept}"
    elif isinstance(event, events.Resumed):
        back = f", {count(event.imported, 'result')} brought back" if event.imported else ""
        yield f"{_format_clock(event.at)}  going on{back}"
    elif isinstance(event, events.Noticed):
        yield f"{_format_clock(event.at)}  {sanitize(event.text)}"
    elif isinstance(event, events.NodesProven):
        yield from (f"{_format_clock(event.at)}  {line}" for line in format_proofs(event.proofs))
    elif isinstance(event, events.SessionEnded):
        yield f"{_format_clock(event.at)}  {sanitize(event.words)}"


def format_proofs(proofs: Sequence[Proof]) -> Iterator[str]:
    """The proofs of the nodes at the end of a run: one line, and one for each node that is not clean."""
    clean = [proof.node for proof in proofs if proof.clean]
    if any(proof.asked for proof in proofs):
        yield f"nothing of ours is left on {count(len(clean), 'node')} of {len(proofs):,}"
    else:
        yield f"none of {count(len(proofs), 'node')} could be searched for anything of ours"
    for proof in proofs:
        if not proof.asked:
            yield f"  ? {proof.node}: not proven, {sanitize(proof.detail)}"
        elif proof.left:
            yield f"  x {proof.node}: left: {sanitize(', '.join(proof.left))}"


def _format_below(event: ClosedRound) -> Iterator[str]:
    for verdict in event.verdicts:
        if verdict.level is not Level.PASS:
            sign = SIGNS[state_of(verdict)].glyph
            labels = " ".join(tell_labels(verdict.labels))
            what = f"{verdict.subject} {verdict.metric} {labels}".strip()
            numbers = f"{format_measured(verdict)}, expected {format_expected(verdict)}"
            yield f"{sign} {sanitize(what)}: {numbers}: {sanitize(verdict.because)}"


def format_event_json(event: events.Event) -> str:
    """``event`` as one JSON line, in base units; ``event`` names its kind."""
    name = _NAMES.get(type(event), type(event).__name__)
    return json.dumps({"event": name, **_make_fields(event)}, allow_nan=False) + "\n"


_NAMES: dict[type[events.Event], str] = {Result: "TestEnded", ClosedRound: "RoundJudged"}
"""Events that have another name in files than their class."""


def _make_fields(event: events.Event) -> dict[str, object]:
    if isinstance(event, events.SessionOpened):
        tests = sum(len(each.tests) for each in event.plan)
        return {
            "session": event.session,
            "label": event.label,
            "fabric": event.fabric.name,
            "suite": event.suite,
            "simulated": event.fabric.simulated,
            "rounds": len(event.plan),
            "tests": tests,
            "at": event.at,
        }
    if isinstance(event, events.RoundStarted):
        each = event.round
        times = {"seconds": each.seconds, "limit": event.limit or None}
        return {"round": each.number, "stage": each.stage, "tests": len(each.tests), **times, "at": event.at}
    if isinstance(event, events.TestStarted):
        return {"test": event.test.id, "at": event.at}
    if isinstance(event, Result):
        failure = event.failure
        return {
            "test": event.test.id,
            "at": event.ended,
            "measurements": [
                {"metric": m.metric, "value": m.value, "unit": m.unit, "labels": dict(m.labels)}
                for m in event.measurements
            ],
            "failure": None if failure is None else to_builtins(failure),
        }
    if isinstance(event, ClosedRound):
        blame, stage = Blame(event.findings), event.round.stage
        return {
            "round": event.round.number,
            "reason": event.reason,
            "verdicts": [
                make_verdict_record(each, stage, affected_by=blame.affected_by(each)) for each in event.verdicts
            ],
            "findings": [make_finding_record(finding) for finding in event.findings],
            "at": event.ended,
        }
    if isinstance(event, events.Held):
        return {"at": event.at, "because": event.because, "spool": event.spool}
    if isinstance(event, events.Resumed):
        return {"at": event.at, "imported": event.imported}
    if isinstance(event, events.Noticed):
        is_omission = event.kind in (events.LEFT_OUT, events.SPARED)
        return {"at": event.at, "text": event.text, **({"reason": event.reason.value} if is_omission else {})}
    if isinstance(event, events.IntervalsTold):
        found, loads = ([to_builtins(each) for each in told] for told in (event.found, event.loads))
        return {"at": event.at, "found": found, "loads": loads}
    if isinstance(event, events.NodesProven):
        return {"at": event.at, "nodes": [{**to_builtins(proof), "clean": proof.clean} for proof in event.proofs]}
    return {"at": event.at, "complete": event.complete, "because": event.because}
