"""Findings of all kinds as plain text that survives chat and mail."""

from collections.abc import Sequence

from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries import static_findings
from benchconsole.console.tui.queries.static_findings import AlikeFindings
from benchconsole.console.tui.queries.unjudged_reasons import UnjudgedReason, describe_reason
from benchconsole.console.tui.widgets.findings_list import Choice
from benchconsole.console.view.run_view import DetectableFaults, NotJudged, Undecided, state_of_level
from benchconsole.console.view.severity_signs import SEVERITIES
from benchconsole.probes.model.judgement import Finding
from benchconsole.topology.model.fabric import Fabric


def format_findings(fabric: Fabric, some: Sequence[Choice]) -> str:
    """Plain text that survives chat and mail."""
    made: list[str] = []
    for each in some:
        if isinstance(each, DetectableFaults):
            made += each.sentences
        elif isinstance(each, NotJudged | Undecided):
            made += _unjudged_text(each)
        else:
            made += _static_text(fabric, each) if isinstance(each, AlikeFindings) else _measured_text(each)
    return "\n".join(made) + "\n"


def _measured_text(finding: Finding) -> list[str]:
    state = state_of_level(finding.level)
    made = [f"{state.value}: {finding.suspect.value} {sanitize(finding.where)}: {sanitize(finding.what)}"]
    for name, text in (("cannot tell", finding.cannot_tell), ("means", finding.means), ("do", finding.do)):
        made += [f"  {name}: {sanitize(text)}"] if text else []
    return made


def _unjudged_text(reason: UnjudgedReason) -> list[str]:
    said = describe_reason(reason)
    made = [f"{said.kind}: {fold_names(said.names)}: {sanitize(said.why)}"]
    return [*made, f"  means: {said.means}", f"  do: {said.advise(may_run=False)}"]


def _static_text(fabric: Fabric, alike: AlikeFindings) -> list[str]:
    made = []
    for each in alike.findings:
        found = static_findings.find_place(fabric, each.where)
        at = f" ({sanitize(found.file)}:{found.line})" if found is not None else ""
        word = SEVERITIES[each.severity].word
        made.append(f"description, {word}: {sanitize(each.where)}: {sanitize(each.text)}{at}")
    return made
