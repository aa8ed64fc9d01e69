"""Owns the grouped summary that ``run`` prints at its end and ``show`` prints later.

Plain text for any terminal, good from 60 columns up; ``ascii`` on request. No colours, no
control characters, nothing that a node could have smuggled in.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from typing import TextIO

from console import view as picture
from console.reports import checklists, conduct, content
from console.reports.content import Options, Told, folded, shortened
from console.reports.tables import MetricTable, Spread, metric_tables
from console.view import RunView, State, state_of_failure, state_of_level
from console.wording import SIGNS, count, in_ascii, plain
from probes.checklist import StepState
from probes.judging.verdict import Finding, Level

NARROWEST = 60
NUMBER = 13
NUMBERS_FROM = 76
"""Columns of a number, and from which width on there is room for three of them."""
LEAST = 16
"""Columns that a text gets however long the words before it are."""
FINDINGS = 20
NODE_LINES = 12
REASON_LINES = 20
CONDUCT_LINES = 30


def render(view: RunView, out: TextIO, options: Options) -> None:
    """Write the summary, one line at a time."""
    width = max(options.width, NARROWEST)
    for line in _lines(view, width, options.told):
        out.write(_finished(line, options.ascii) + "\n")


def _finished(line: str, ascii_only: bool) -> str:
    line = line.rstrip()
    if not ascii_only:
        return line
    return in_ascii(line)


def _lines(view: RunView, width: int, told: Told) -> Iterator[str]:
    yield from _head(view, width, told)
    yield from _section("conduct", _conduct(view, width, told))
    yield from _section("findings", _findings(view, width))
    yield from _section("not judged", _not_judged(view, width))
    yield from _section("nodes", _nodes(view, width))
    yield from _section("results", _results(view, width))
    yield from _section("checklists", _checklists(told, width))
    yield from _section("left on nodes", _left(view, width))
    yield ""
    yield from wrapped(content.coverage_sentence(view), width, "coverage   ")
    yield " " * 11 + content.UNTESTED


def _section(name: str, lines: Iterable[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield ""
        yield name
        yield from body


def _head(view: RunView, width: int, told: Told) -> Iterator[str]:
    crumb = " › ".join(part for part in (plain(view.fabric.name), content.name_of(view), plain(view.suite)) if part)
    badge = "SIMULATED" if view.fabric.simulated else ""
    room = width - len(badge)
    yield padded(clipped(crumb, room - 2), room) + badge
    yield content.when(view)
    yield ""
    summary = checklists.summary(view, told)
    yield from wrapped(summary.sentence, width, f"{SIGNS[summary.state].glyph} ")


def _conduct(view: RunView, width: int, told: Told) -> Iterator[str]:
    lines = conduct.lines(view, told)
    widest = min(max((cells(line.kind) for line in lines), default=0), 12)
    for line in lines[:CONDUCT_LINES]:
        when = f"{line.when}: " if line.when else ""
        yield from wrapped(f"{when}{line.text}", width, f" {padded(clipped(line.kind, widest), widest)}  ")
    if len(lines) > CONDUCT_LINES:
        yield f"   and {count(len(lines) - CONDUCT_LINES, 'more line')}"


def _checklists(told: Told, width: int) -> Iterator[str]:
    """Every step with its state, who said so and when, the note and what was attached."""
    for section in checklists.sections(told.checklists):
        yield from wrapped(f"{section.title}; {section.tally}", width, " ")
        for line in section.lines:
            head = f"{line.head}: {line.word}"
            said = f" by {line.who}, {line.when}" if line.word != StepState.NOT_DONE or line.note else ""
            yield from wrapped(f"{head}{said}", width, f" {SIGNS[line.state].glyph} ")
            for text in (line.text, line.note, *line.evidence):
                if text:
                    yield from wrapped(text, width, "     ")


def _left(view: RunView, width: int) -> Iterator[str]:
    """What the search at the end has shown; nothing while the session runs."""
    if not view.proofs and not view.ended:
        return
    clean = bool(view.proofs) and all(proof.clean for proof in view.proofs)
    state = State.PASS if clean else State.WATCH if view.proofs else State.SKIPPED
    yield from wrapped(conduct.sentence(view.proofs), width, f" {SIGNS[state].glyph} ")
    kinds = conduct.left(view.proofs)
    for each in kinds[:REASON_LINES]:
        yield from wrapped(each.text, width, f" {SIGNS[each.state].glyph} ")
        yield from wrapped(f"{each.nodes} ({count(each.number, 'node')})", width, "   ")
    if len(kinds) > REASON_LINES:
        yield f"   and {count(len(kinds) - REASON_LINES, 'more exception')}"


def _findings(view: RunView, width: int) -> Iterator[str]:
    everything = content.ordered(view.findings)
    findings = everything[:FINDINGS]
    places = [shortened(finding.where or finding.element, 60) for finding in findings]
    where = min(max((cells(place) for place in places), default=0), 24)
    for finding, place in zip(findings, places, strict=True):
        glyph = SIGNS[state_of_level(finding.level)].glyph
        head = f" {glyph} {finding.suspect:<8} {padded(clipped(place, where), where)}  "
        yield from wrapped(shortened(finding.what), width, head)
        yield from _finding_tail(finding, width)
    if len(everything) > FINDINGS:
        yield f"   and {content.more_findings(everything[FINDINGS:])}"


def _finding_tail(finding: Finding, width: int) -> Iterator[str]:
    counts = f"{count(len(finding.nodes), 'node')}, {finding.confidence}, {count(len(finding.tests), 'test')}"
    indent = " " * 12
    yield from wrapped(counts, width, indent)
    if finding.cannot_tell:
        yield from wrapped(shortened(finding.cannot_tell), width, f"{indent}cannot tell: ")
    if finding.do:
        yield from wrapped(shortened(finding.do), width, f"{indent}do: ")


def _not_judged(view: RunView, width: int) -> Iterator[str]:
    reasons = picture.not_judged(view)
    for reason in reasons[:REASON_LINES]:
        detail = f": {shortened(reason.detail)}" if reason.detail else ""
        yield from wrapped(f"{reason.stage}{detail}", width, f" {SIGNS[state_of_failure(reason.stage)].glyph} ")
        who = f"{folded(reason.nodes)} ({count(len(reason.nodes), 'node')}, {count(reason.tests, 'test')})"
        yield from wrapped(who, width, "   ")
    if len(reasons) > REASON_LINES:
        left = reasons[REASON_LINES:]
        yield f"   and {count(len(left), 'more reason')} with {count(sum(reason.tests for reason in left), 'test')}"
    yield from _undecided(view, width)


def _undecided(view: RunView, width: int) -> Iterator[str]:
    """Numbers that were measured and that no verdict could be made of."""
    found: dict[str, dict[str, None]] = {}
    for test in picture.superseding(view):
        for verdict in view.verdicts.get(test, ()):
            if verdict.level is Level.UNKNOWN:
                found.setdefault(verdict.because, {})[verdict.subject] = None
    for because, subjects in list(found.items())[:REASON_LINES]:
        yield from wrapped(shortened(because), width, f" {SIGNS[State.UNKNOWN].glyph} ")
        yield from wrapped(folded(subjects), width, "   ", most=NODE_LINES)
    if len(found) > REASON_LINES:
        yield f"   and {count(len(found) - REASON_LINES, 'more number')} that could not be judged"


def _nodes(view: RunView, width: int) -> Iterator[str]:
    """Nodes folded by state, worst first; those that pass are only counted."""
    by_state: dict[State, list[str]] = {}
    for node, seen in view.nodes.items():
        by_state.setdefault(seen.state, []).append(node)
    quiet = (State.PASS, State.SKIPPED)
    for state in State:
        names = by_state.get(state, [])
        head = f" {SIGNS[state].glyph} {state:<12}{len(names):>6,}"
        if names and state not in quiet:
            yield from wrapped(folded(names), width, f"{head}  ", most=NODE_LINES)
        elif names:
            yield head


def _results(view: RunView, width: int) -> Iterator[str]:
    """Judged metrics by stage; those that nothing was expected of are only named."""
    judged = [table for table in metric_tables(view) if table.judged]
    rows = [(table, _result_name(table, spread), spread) for table in judged for spread in table.spreads]
    heads = ("lowest", "median", "expected") if width >= NUMBERS_FROM else ("lowest", "expected")
    widest = min(max((cells(name) for _, name, _ in rows), default=0), width - 10 - len(heads) * NUMBER)
    if rows:
        yield f"   {padded('', widest)} number" + "".join(f"{head:>{NUMBER}}" for head in heads)
    stage = None
    for table, name, spread in rows:
        if table.stage != stage:
            stage = table.stage
            yield f" {clipped(stage, width - 2)}"
        numbers = {"lowest": spread.lowest, "median": spread.middle, "expected": spread.expected}
        shown = "".join(f" {aligned(clipped(numbers[head], NUMBER - 1), NUMBER - 1)}" for head in heads)
        yield f" {SIGNS[spread.state].glyph} {padded(clipped(name, widest), widest)} {spread.number:>6,}{shown}"
    unjudged = picture.unjudged_metrics(view)
    if unjudged:
        yield from wrapped(", ".join(shortened(name, 80) for name in unjudged), width, " ○ not judged: ", most=3)


def _result_name(table: MetricTable, spread: Spread) -> str:
    return f"{table.metric} {spread.values}".strip()


def cells(text: str) -> int:
    """How many columns of a terminal ``text`` takes."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def padded(text: str, width: int) -> str:
    """``text`` with blanks up to ``width`` columns."""
    return text + " " * (width - cells(text))


def aligned(text: str, width: int) -> str:
    """``text`` with blanks before it up to ``width`` columns."""
    return " " * (width - cells(text)) + text


def clipped(text: str, width: int) -> str:
    """``text`` within ``width`` columns; what is cut ends in an ellipsis."""
    if cells(text) <= width:
        return text
    kept = ""
    for letter in text:
        if cells(kept + letter) >= width:
            break
        kept += letter
    return kept + "…"


def _pieces(text: str, room: int) -> Iterator[tuple[str, str]]:
    """Words with the blank before them; one too long is broken, after a comma where there is one."""
    for word in text.split():
        glue, rest = " ", word
        while cells(rest) > room:
            end = room
            while end > 1 and cells(rest[:end]) > room:
                end -= 1
            comma = rest.rfind(",", 0, end)
            end = comma + 1 if comma > 0 else end
            yield glue, rest[:end]
            glue, rest = "", rest[end:]
        if rest:
            yield glue, rest


def wrapped(text: str, width: int, head: str, most: int = 0) -> Iterator[str]:
    """``text`` after ``head``, going on under its first word; at most ``most`` lines when given."""
    indent = cells(head)
    lines, line, fresh = [], head, True
    for glue, piece in _pieces(text, max(width - indent, LEAST)):
        if fresh:
            line += piece
        elif cells(line + glue + piece) > width:
            lines.append(line)
            line = " " * indent + piece
        else:
            line += glue + piece
        fresh = False
    lines.append(line)
    if most and len(lines) > most:
        left = len(lines) - most
        lines = [*lines[:most], f"{' ' * indent}and {count(left, 'more line')} of names"]
    yield from lines
