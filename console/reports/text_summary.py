"""The grouped summary that ``run`` prints at its end and ``show`` prints later.

Plain text for any terminal from 60 columns up: no colours, no control characters, nothing that a node smuggled in.
"""

from collections.abc import Iterable, Iterator
from typing import TextIO

from benchconsole.console.reports import (
    checklist_section,
    conduct,
    content,
    load_section,
    remark_section,
    reported_section,
)
from benchconsole.console.reports.content import ReportOptions, SessionDetails
from benchconsole.console.reports.remark_section import RemarkLine
from benchconsole.console.reports.tables import make_metric_tables
from benchconsole.console.text.cells import fit_text, measure_width, to_ascii, wrap_names, wrap_text
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize, shorten_text
from benchconsole.console.view import run_view as picture
from benchconsole.console.view.acceptance import STAYS
from benchconsole.console.view.run_view import RunView, State, state_of_failure, state_of_level, worst
from benchconsole.console.view.session_judgements import list_session_judgements
from benchconsole.console.view.totals import SessionTotals, compute_totals
from benchconsole.console.view.wording import NOT_MEASURED, SIGNS
from benchconsole.probes.model.checklist import StepState
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.remark import RemarkKind
from benchconsole.topology.analysis.reported_results import CellOutcome
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.units import counted as count

NARROWEST = 60
NUMBER = 13
NUMBERS_FROM = 76
"""Columns of a number, and from which width on there is room for three of them."""
FINDINGS = 20
KIND = 8
"""Columns of the kind of a suspect at least."""
NODE_LINES = 12
REASON_LINES = 20
CONDUCT_LINES = 30
LOAD_LINES = 6


def render(view: RunView, out: TextIO, options: ReportOptions) -> None:
    """Write the summary, one line at a time."""
    width = max(options.width, NARROWEST)
    for line in _format_lines(view, width, options.details):
        out.write((to_ascii(line.rstrip()) if options.ascii else line.rstrip()) + "\n")


def _format_lines(view: RunView, width: int, details: SessionDetails) -> Iterator[str]:
    yield from _format_head(view, width, details)
    totals = compute_totals(view)
    sections = {
        **{
            remark_section.TITLES[kind].lower(): _format_remarks(kind, lines, width)
            for kind, lines in remark_section.make_sections(view, details.remarks)
        },
        "conduct": _format_conduct(view, width, details),
        "findings": _format_findings(view, width, details),
        "not judged": _format_not_judged(view, width, totals),
        "nodes": _format_nodes(view, width),
        "results": _format_results(view, width),
        "of all numbers together": _format_together(view, width),
        "load during tests": _format_load(view, width),
        "as reported": _format_reported(view, width),
        "checklists": _format_checklists(view, width),
        "left on nodes": _format_leftovers(view, width),
    }
    for name, lines in sections.items():
        body = list(lines)
        if body:
            yield from ("", name, *body)
    yield ""
    yield from wrap_text(content.format_coverage(view, totals.covered), width, "coverage   ")
    yield " " * 11 + content.UNTESTED
    for sentence in content.list_detectable(view, details):
        yield from wrap_text(sentence, width, " " * 11)


def _format_head(view: RunView, width: int, details: SessionDetails) -> Iterator[str]:
    crumb = " › ".join(
        part for part in (sanitize(view.fabric.name), content.find_name(view), sanitize(view.suite)) if part
    )
    badge = "SIMULATED" if view.fabric.simulated else ""
    room = width - len(badge)
    first, *below = wrap_text(crumb, room - 2)
    yield fit_text(first, room) + badge
    yield from below
    yield content.format_period(view)
    yield ""
    verdict = details.decide(view)
    yield from wrap_text(verdict.sentence, width, f"{SIGNS[verdict.state].glyph} ")
    accepted = remark_section.format_accepted(view, details.remarks)
    if accepted:
        yield from wrap_text(accepted, width, "  ")
    if verdict.is_brief:
        yield ""
        yield "missing"
        for gap in verdict.missing:
            yield from wrap_text(gap, width, f" {SIGNS[State.UNKNOWN].glyph} ")


def _format_remarks(kind: RemarkKind, lines: Iterable[RemarkLine], width: int) -> Iterator[str]:
    for line in lines:
        yield from wrap_text(f"{line.when}, of {line.about}, by {line.by}", width, f" {line.number}. ")
        for text in line.paragraphs:
            yield from wrap_text(text, width, "    ")
    if kind is RemarkKind.ACCEPTED:
        yield from wrap_text(STAYS, width, "    ")


def _format_conduct(view: RunView, width: int, details: SessionDetails) -> Iterator[str]:
    lines = list(conduct.list_conduct(view, details))
    widest = min(max((measure_width(line.kind) for line in lines), default=0), 12)
    for line in lines[:CONDUCT_LINES]:
        when = f"{line.when}: " if line.when else ""
        yield from wrap_text(f"{when}{line.text}", width, f" {fit_text(line.kind, widest)}  ")
    if len(lines) > CONDUCT_LINES:
        yield f"   and {count(len(lines) - CONDUCT_LINES, 'more line')}"


def _format_reported(view: RunView, width: int) -> Iterator[str]:
    """The numbers of the documents that something was measured for, each beside ours; the others counted."""
    lines = reported_section.make_lines(view)
    known = [line for line in lines if line.computed != NOT_MEASURED]
    for (source, metric, applies), cells in group_by_key((line[:3], line) for line in known).items():
        yield from wrap_text(f"{source}: {metric}, {applies}", width, " ")
        for cell in cells:
            head = f"   {reported_section.GLYPHS[cell.outcome]} {cell.reported}: "
            yield from wrap_text(f"{cell.computed} here ({cell.how})", width, head)
    if len(lines) > len(known):
        left = len(lines) - len(known)
        yield f" {reported_section.GLYPHS[CellOutcome.UNKNOWN]} {count(left, 'number')} that nothing was measured for"


def _format_together(view: RunView, width: int) -> Iterator[str]:
    """Each statistic that a criterion asks, and of shares of other metrics and of peers how many stand how."""
    judged = group_by_key((id(each.criterion), each) for each in list_session_judgements(view))
    for own in judged.values():
        criterion = own[0].criterion
        state = worst(state_of_level(each.level) for each in own)
        name = sanitize(" ".join(filter(None, (criterion.source, criterion.metric))))
        told = sanitize(f"{own[0].subject}: {own[0].because}") if criterion.statistic else (
            content.format_levels(each.level for each in own)
        )  # fmt: skip
        yield from wrap_text(f"{name}: {told}", width, f" {SIGNS[state].glyph} ")


def _format_load(view: RunView, width: int) -> Iterator[str]:
    """The fullest cores; the other reports have the rest."""
    section = load_section.make_section(view)
    for test, node, samples, core, busy, softirq, *_ in section.lines[:LOAD_LINES]:
        words = f"core {core} {busy} busy, {softirq} softirq (median of {samples})"
        yield from wrap_text(f"{test}: {node} {words}", width, " ")
    left = len(section.lines) - LOAD_LINES
    if left > 0:
        yield f" and {count(left, 'more line')} in the HTML and Markdown reports"
    for note in section.notes[:LOAD_LINES]:
        yield from wrap_text(note, width, " ")


def _format_checklists(view: RunView, width: int) -> Iterator[str]:
    for section in checklist_section.make_sections(view.checklists):
        yield from wrap_text(f"{section.title}; {section.tally}", width, " ")
        for line in section.lines:
            head = f"{line.head}: {line.word}"
            said = f" by {line.who}, {line.when}" if line.word != StepState.NOT_DONE or line.note else ""
            yield from wrap_text(f"{head}{said}", width, f" {SIGNS[line.state].glyph} ")
            for text in (line.text, line.note, *line.evidence):
                if text:
                    yield from wrap_text(text, width, "     ")


def _format_leftovers(view: RunView, width: int) -> Iterator[str]:
    if not view.proofs and not view.ended:
        return
    clean = bool(view.proofs) and all(proof.clean for proof in view.proofs)
    state = State.PASS if clean else State.WATCH if view.proofs else State.SKIPPED
    yield from wrap_text(conduct.format_cleanliness(view.proofs), width, f" {SIGNS[state].glyph} ")
    kinds = conduct.list_leftovers(view.proofs)
    for each in kinds[:REASON_LINES]:
        yield from wrap_text(each.text, width, f" {SIGNS[each.state].glyph} ")
        yield from wrap_text(f"{each.nodes} ({count(each.number, 'node')})", width, "   ")
    if len(kinds) > REASON_LINES:
        yield f"   and {count(len(kinds) - REASON_LINES, 'more exception')}"


def _format_findings(view: RunView, width: int, details: SessionDetails) -> Iterator[str]:
    everything = content.sort_findings(view.findings)
    findings = everything[:FINDINGS]
    places = [sanitize(finding.where or finding.element) for finding in findings]
    where = min(max((measure_width(place) for place in places), default=0), 24)
    kind = max((KIND, *(len(finding.suspect) for finding in findings)))
    for finding, place in zip(findings, places, strict=True):
        glyph = SIGNS[state_of_level(finding.level)].glyph
        head, what = f" {glyph} {fit_text(finding.suspect, kind)} ", sanitize(finding.what)
        if measure_width(place) <= where:
            yield from wrap_text(what, width, f"{head}{fit_text(place, where)}  ")
        else:
            yield from wrap_text(f"{place}: {what}", width, head)
        counts = f"{count(len(finding.nodes), 'node')}, {finding.confidence}, {count(len(finding.tests), 'test')}"
        yield from wrap_text(counts, width, " " * 12)
        for name, text in (("cannot tell", finding.cannot_tell), ("do", finding.do)):
            if text:
                yield from wrap_text(sanitize(text), width, f"{' ' * 12}{name}: ")
        for text in remark_section.list_accepting(details.remarks, finding):
            yield from wrap_text(text, width, f"{' ' * 12}accepted ")
        for text in remark_section.list_beside(details.remarks, remark_section.ELEMENTS, finding.element):
            yield from wrap_text(text, width, f"{' ' * 12}remark: ")
    if len(everything) > FINDINGS:
        yield f"   and {content.format_more_findings(everything[FINDINGS:])}"


def _format_not_judged(view: RunView, width: int, totals: SessionTotals) -> Iterator[str]:
    reasons = totals.reasons
    for reason in reasons[:REASON_LINES]:
        detail = f": {shorten_text(reason.detail)}" if reason.detail else ""
        yield from wrap_text(f"{reason.stage}{detail}", width, f" {SIGNS[state_of_failure(reason.stage)].glyph} ")
        who = f"{fold_names(reason.nodes)} ({count(len(reason.nodes), 'node')}, {count(reason.tests, 'test')})"
        yield from wrap_text(who, width, "   ")
    if len(reasons) > REASON_LINES:
        left = reasons[REASON_LINES:]
        yield f"   and {count(len(left), 'more reason')} with {count(sum(reason.tests for reason in left), 'test')}"
    yield from _format_undecided(view, width)


def _format_undecided(view: RunView, width: int) -> Iterator[str]:
    """Numbers that were measured and that no verdict could be made of."""
    found: dict[str, dict[str, None]] = {}
    for test in picture.superseding(view):
        for verdict in view.verdicts.get(test, ()):
            if verdict.level is Level.UNKNOWN:
                found.setdefault(verdict.because, {})[verdict.subject] = None
    for because, subjects in list(found.items())[:REASON_LINES]:
        yield from wrap_text(shorten_text(because), width, f" {SIGNS[State.UNKNOWN].glyph} ")
        yield from wrap_names(fold_names(subjects), width, "   ", NODE_LINES)
    if len(found) > REASON_LINES:
        yield f"   and {count(len(found) - REASON_LINES, 'more number')} that could not be judged"


def _format_nodes(view: RunView, width: int) -> Iterator[str]:
    by_state = group_by_key((seen.state, node) for node, seen in view.nodes.items())
    for state in State:
        names = by_state.get(state, [])
        head = f" {SIGNS[state].glyph} {state:<12}{len(names):>6,}"
        if names and state not in (State.PASS, State.SKIPPED):
            yield from wrap_names(fold_names(names), width, f"{head}  ", NODE_LINES)
        elif names:
            yield head


def _format_results(view: RunView, width: int) -> Iterator[str]:
    """Judged metrics by stage; those that nothing was expected of are only named."""
    judged = [table for table in make_metric_tables(view) if table.judged]
    rows = [(table, f"{table.metric} {spread.values}".strip(), spread) for table in judged for spread in table.spreads]
    heads = ("lowest", "median", "expected") if width >= NUMBERS_FROM else ("lowest", "expected")
    widest = min(max((measure_width(name) for _, name, _ in rows), default=0), width - 10 - len(heads) * NUMBER)
    if rows:
        yield f"   {fit_text('', widest)} number" + "".join(f"{head:>{NUMBER}}" for head in heads)
    stage = None
    for table, name, spread in rows:
        if table.stage != stage:
            stage = table.stage
            yield from wrap_text(stage, width, " ")
        numbers = {"lowest": spread.lowest, "median": spread.middle, "expected": spread.expected}
        shown = "".join(f" {fit_text(numbers[head], NUMBER - 1, '>')}" for head in heads)
        *above, last = wrap_text(name, widest + 3, f" {SIGNS[spread.state].glyph} ")
        yield from above
        yield f"{fit_text(last, widest + 3)} {spread.number:>6,}{shown}"
    for table in judged:
        yield from wrap_text(table.unlisted, width, f"   {table.metric}: ") if table.unlisted else ()
    unjudged = picture.unjudged_metrics(view)
    if unjudged:
        yield from wrap_names(", ".join(shorten_text(name, 80) for name in unjudged), width, " ○ not judged: ", 3)
