"""Remarks on a stored session: what they are about is looked up in it, so that no remark hangs in the air."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchconsole.console.reports.content import sort_findings
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.acceptance import name_cause
from benchconsole.console.view.remark_words import name_point
from benchconsole.console.view.run_view import RunView
from benchconsole.probes.model.judgement import Finding
from benchconsole.probes.model.remark import LONGEST, About, RemarkKind
from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.model.fabric import LinkId, NodeId, SwitchId


@dataclass(frozen=True, slots=True)
class RemarkPlace:
    """Where somebody says that a remark belongs; everything empty is the session."""

    element: str = ""
    finding: int | None = None
    clause: str = ""
    point: str = ""


def find_subject(view: RunView, place: RemarkPlace, kind: RemarkKind = RemarkKind.REMARK) -> tuple[About, str]:
    """The subject of a remark, and its name. SelectionError for one that the session lacks, or for two at once."""
    given = [bool(place.element), place.finding is not None, bool(place.clause), bool(place.point)]
    if sum(given) > 1:
        raise SelectionError("a remark is about one thing: give one of --element, --finding, --clause and --point")
    if kind is RemarkKind.ACCEPTED and place.finding is None:
        raise SelectionError("a finding alone can be accepted: give its number in reports with --finding")
    if place.element:
        return _find_element(view, place.element)
    if place.finding is not None:
        return About.FINDING, name_finding(_find_finding(view, place.finding), kind)
    if place.clause:
        return About.CLAUSE, _find_clause(view, place.clause)
    if place.point:
        return About.POINT, _find_point(view, place.point)
    return About.SESSION, ""


def name_finding(finding: Finding, kind: RemarkKind) -> str:
    """The subject of a remark on a finding: its element; of an acceptance the cause, so that it is of no other one."""
    return name_cause(finding) if kind is RemarkKind.ACCEPTED else finding.element


def _find_element(view: RunView, name: str) -> tuple[About, str]:
    fabric = view.fabric
    if NodeId(name) in fabric.nodes:
        return About.NODE, name
    if SwitchId(name) in fabric.switches:
        return About.SWITCH, name
    link = name.replace(" to ", "--")
    for each in (link, "--".join(reversed(link.split("--")))):
        if LinkId(each) in fabric.links:
            return About.LINK, each
    known = (*fabric.nodes, *fabric.switches, *fabric.links)
    raise SelectionError(_refuse(f"no node, switch or link {name!r} in {fabric.name}", name, known))


def _find_finding(view: RunView, number: int) -> Finding:
    """A finding by its number in reports."""
    findings = sort_findings(view.findings)
    if not 1 <= number <= len(findings):
        told = f"1 to {len(findings)}" if findings else "none: the session has no finding"
        raise SelectionError(f"no finding {number}, expected {told}")
    return findings[number - 1]


def _find_clause(view: RunView, text: str) -> str:
    """A criterion by its source as it is written, or by its metric."""
    sources = {each.source.casefold(): each.source for each in view.fabric.criteria if each.source}
    metrics = {each.metric: each.metric for each in view.fabric.criteria}
    steps = {step.step.clause: step.step.clause for each in view.checklists for step in each.steps if step.step.clause}
    known: Mapping[str, str] = {**{key.casefold(): name for key, name in {**steps, **metrics}.items()}, **sources}
    if text.casefold() not in known:
        raise SelectionError(_refuse(f"no criterion or checklist step with the clause {text!r}", text, known.values()))
    return known[text.casefold()]


def _find_point(view: RunView, text: str) -> str:
    """``STAGE:VALUE``: the point of a sweep; of several axes the values as ``8,4``."""
    points = {
        f"{each.stage}:{','.join(value for _, value in each.swept.point)}": each.swept.point
        for each in view.plan
        if each.swept is not None and each.swept.point
    }
    if text not in points:
        raise SelectionError(_refuse(f"no point {text!r} of a sweep, expected STAGE:VALUE", text, points))
    return name_point(text.partition(":")[0], points[text])


def _refuse(why: str, text: str, known: Iterable[str]) -> str:
    near = find_near(text, tuple(known))
    return f"{why}, did you mean {near}?" if near else why


def check_text(text: str) -> str:
    """The text as it is kept: without control characters. SelectionError for an empty one, and for one too long."""
    lines = (sanitize(line.rstrip()) for line in text.replace("\r\n", "\n").split("\n"))
    kept = "\n".join(lines).strip()
    if not kept:
        raise SelectionError("an empty remark, expected a text (- reads it from standard input)")
    if len(kept) > LONGEST:
        raise SelectionError(
            f"a remark of {len(kept):,} characters, expected at most {LONGEST:,}: keep a file as evidence"
        )
    return kept
