"""Failures that a repeat has replaced: they count no longer, and stay in the record. All text is sanitized."""

from collections.abc import Iterator

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view import wording
from benchconsole.console.view.result_rows import format_labels
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.measuring import Result

_WORDS = {
    Level.PASS: "passed",
    Level.WATCH: "was below its target",
    Level.FAIL: "failed",
    Level.UNKNOWN: "could not be judged",
}
_Key = tuple[object, ...]


def list_replaced_failures(view: RunView) -> Iterator[str]:
    """One sentence for each verdict and each test that was no pass and that a later test replaced, in their order."""
    newest = {old: new for new, before in view.repeats.items() if new not in view.replaced for old in before}
    told: set[Verdict] = set()
    for old in view.results:
        after = view.results.get(newest.get(old, ""))
        if old not in view.replaced or after is None:
            continue
        before = view.results[old]
        verdicts = view.verdicts.get(old, ())
        if before.failure is not None and not verdicts:
            yield f"{_name_test(before)}: {_describe_result(view, before)}, then {_describe_result(view, after)}"
        later = {_key(verdict): verdict for verdict in view.verdicts.get(after.test.id, ())}
        for verdict in verdicts:
            if verdict.level is not Level.PASS and verdict not in told:
                told.add(verdict)
                now = later.get(_key(verdict))
                then = _describe_verdict(now, after) if now is not None else _describe_result(view, after)
                what = sanitize(" ".join(filter(None, (verdict.metric, format_labels(verdict.labels)))))
                yield f"{sanitize(verdict.subject)} {what}: {_describe_verdict(verdict, before)}, then {then}"


def _key(verdict: Verdict) -> _Key:
    return verdict.subject, verdict.metric, verdict.labels, verdict.kind, verdict.source


def _name_test(result: Result) -> str:
    return sanitize(f"{result.test.target.key} {result.test.probe}")


def _describe_verdict(verdict: Verdict, result: Result) -> str:
    value = wording.format_measured(verdict) or wording.NOT_MEASURED
    return f"{value} {_WORDS[verdict.level]} at {wording.format_moment(result.ended)}"


def _describe_result(view: RunView, result: Result) -> str:
    when = wording.format_moment(result.ended)
    if result.failure is not None:
        return f"{sanitize(result.failure.stage)} at {when}"
    levels = {verdict.level for verdict in view.verdicts.get(result.test.id, ())}
    worst = max(levels, key=lambda level: level.severity, default=None)
    return f"{_WORDS[worst] if worst is not None else 'measured'} at {when}"
