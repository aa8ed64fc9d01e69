"""Owns the Markdown report, for tickets and mail: short enough to paste, whole enough to act on.

Text from nodes cannot become a link, a mention, HTML or a table cell of its own: what could is
set as code. Refuses pictures and long tables; those are in the HTML report.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from console import view as picture
from console.columns import chosen
from console.reports import checklists, conduct, content, curves, tables
from console.reports.content import Options, folded, shortened
from console.view import NotJudged, RunView, State, state_of_failure, state_of_level
from console.wording import SIGNS, count, plain
from probes.judging.verdict import Finding

FINDINGS = 30
REASONS = 50
ROWS = 60
"""Rows of results below their threshold that are listed; tickets have limits, and readers too."""
RESULT_COLUMNS = chosen("state", "subject", "metric", "labels", "value", "expected", "from", "share", "because")
_ACTIVE = re.compile(r"://|www\.|[@<]|#\d|&[#\w]+;|\]\s*[(:\[]|javascript:", re.IGNORECASE)
# Brackets stay as they are (node sets are full of them): alone they make no link.
_MARKUP = re.compile(r"[`*|]|~~|\\(?=[!-/:-@\[-`{-~])|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")


def render(view: RunView, out: TextIO, options: Options) -> None:
    """Write the report line by line."""
    blocks = (
        _head(view, options),
        _conduct(view, options),
        _coverage(view),
        _findings(view),
        _not_judged(view),
        _results(view),
        _sweeps(view),
        _inventory(view),
        _criteria(view),
        _built(view),
        _checklists(options),
        _left(view),
    )
    for block in blocks:
        for line in block:
            out.write(f"{line}\n")


def inline(text: str) -> str:
    """``text`` for a paragraph: as it reads when it is tame, as code when a reader could act on it."""
    safe = plain(text).strip()
    if _ACTIVE.search(safe):
        return _code(safe)
    return _MARKUP.sub(lambda found: "".join(f"\\{letter}" for letter in found[0]), safe)


def cell(text: str) -> str:
    """``text`` for a table cell; a bar would end the cell, even within code."""
    safe = plain(text).strip()
    if not _ACTIVE.search(safe):
        return inline(safe)
    # Readers differ on a bar after a backslash, so that one bar is drawn broken.
    return _code(safe).replace("\\|", "\\¦").replace("|", "\\|")


def _code(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> Iterator[str]:
    aligned = frozenset(right)
    yield f"| {' | '.join(headings)} |"
    yield f"|{'|'.join('---:' if index in aligned else '---' for index in range(len(headings)))}|"
    for row in rows:
        yield f"| {' | '.join(cell(text) for text in row)} |"
    yield ""


def _signed(state: State, word: str | None = None) -> str:
    return f"{SIGNS[state].glyph} {word or SIGNS[state].word}"


def _head(view: RunView, options: Options) -> Iterator[str]:
    yield f"# Acceptance test report: {inline(view.fabric.name)}, {inline(content.name_of(view))}"
    yield ""
    if view.fabric.simulated:
        yield "**SIMULATED: no real cluster was measured.**"
        yield ""
    said = checklists.summary(view, options.told)
    yield f"**{SIGNS[said.state].glyph} {inline(said.sentence)}**"
    yield ""
    yield from _table(("", ""), content.title(view, options))


def _conduct(view: RunView, options: Options) -> Iterator[str]:
    lines = conduct.lines(view, options.told)
    if not lines:
        return
    yield "## Conduct"
    yield ""
    yield from _table(("kind", "when", "what"), ((line.kind, line.when, line.text) for line in lines[:ROWS]))
    if len(lines) > ROWS:
        yield f"And {count(len(lines) - ROWS, 'more line')}; they are in the JSON report."
        yield ""


def _sweeps(view: RunView) -> Iterator[str]:
    sections, left = curves.sections(view)
    if sections:
        yield "## Sweeps"
        yield ""
    for section in sections:
        yield f"### {inline(section.stage)}: {inline(section.name)}"
        yield ""
        for said in section.said:
            yield f"{inline(said)}."
            yield ""
        right = [index for index, name in enumerate(section.headings) if name not in ("cohort", "note")]
        headings = ("", *(cell(name) for name in section.headings))
        rows = ((SIGNS[row.state].glyph if row.state else "", *texts) for row, texts in section.rows)
        yield from _table(headings, rows, [index + 1 for index in right])
    if left:
        yield left
        yield ""


def _checklists(options: Options) -> Iterator[str]:
    for section in checklists.sections(options.told.checklists):
        yield f"## Checklist: {inline(section.title)}"
        yield ""
        yield f"{_signed(section.state, inline(section.tally))}. {checklists.NOT_DONE}"
        yield ""
        headings = ("clause", "step", "state", "who", "when", "note", "attached")
        rows = (
            (
                line.clause,
                f"{line.step}: {line.text}",
                _signed(line.state, line.word),
                line.who,
                line.when,
                line.note,
                "; ".join(line.evidence),
            )
            for line in section.lines
        )
        yield from _table(headings, rows)


def _left(view: RunView) -> Iterator[str]:
    if not view.proofs and not view.ended:
        return
    yield "## Left on nodes"
    yield ""
    yield inline(conduct.sentence(view.proofs))
    yield ""
    kinds = conduct.left(view.proofs)
    if kinds:
        rows = ((SIGNS[each.state].glyph, each.text, each.nodes, f"{each.number:,}") for each in kinds[:REASONS])
        yield from _table(("", "what", "nodes", "number"), rows, (3,))
    if len(kinds) > REASONS:
        yield f"And {count(len(kinds) - REASONS, 'more exception')}; they are in the JSON report."
        yield ""


def _coverage(view: RunView) -> Iterator[str]:
    yield "## Coverage"
    yield ""
    covered = content.coverage_lines(view)
    yield from _table(("tests", "number", "which means"), ((c.name, f"{c.number:,}", c.meaning) for c in covered), (1,))
    yield content.UNTESTED
    yield ""


def _findings(view: RunView) -> Iterator[str]:
    yield "## Findings"
    yield ""
    if not view.findings:
        yield "None." if view.verdicts else "None: nothing was judged."
        yield ""
    found = content.ordered(view.findings)
    for number, finding in enumerate(found[:FINDINGS], 1):
        yield from _finding(view, number, finding)
    if len(found) > FINDINGS:
        yield f"And {content.more_findings(found[FINDINGS:])}; they are in the JSON report."
        yield ""


def _finding(view: RunView, number: int, finding: Finding) -> Iterator[str]:
    state = state_of_level(finding.level)
    place = inline(shortened(finding.where or finding.element, 120))
    yield f"### {number}. {SIGNS[state].glyph} {finding.suspect}, {place}"
    yield ""
    yield f"**{inline(shortened(finding.what))}**"
    yield ""
    who = f": {inline(folded(finding.nodes))}" if finding.nodes else ""
    tests = count(len(finding.tests), "test")
    yield f"- level: {_signed(state)}, {finding.confidence}, {tests}, {count(len(finding.nodes), 'node')}{who}"
    for name, texts in content.finding_details(view, finding):
        if len(texts) == 1:
            yield f"- {name}: {inline(texts[0])}"
        else:
            yield f"- {name}:"
            yield from (f"  - {inline(text)}" for text in texts)
    yield ""


def _not_judged(view: RunView) -> Iterator[str]:
    reasons = picture.not_judged(view)
    if not reasons:
        return
    yield "## Not judged"
    yield ""
    rows = (_reason(reason) for reason in reasons[:REASONS])
    yield from _table(("failed at", "what was seen", "nodes", "number", "tests"), rows, (3, 4))
    if len(reasons) > REASONS:
        yield f"And {count(len(reasons) - REASONS, 'more reason')}; they are in the JSON report."
        yield ""
    yield "None of these counts as passed."
    yield ""


def _reason(reason: NotJudged) -> tuple[str, ...]:
    failed_at = _signed(state_of_failure(reason.stage), reason.stage)
    numbers = (f"{len(reason.nodes):,}", f"{reason.tests:,}")
    return (failed_at, shortened(reason.detail), folded(reason.nodes), *numbers)


def _results(view: RunView) -> Iterator[str]:
    found = tables.metric_tables(view)
    if not found:
        return
    yield "## Results"
    yield ""
    headings = ("stage", "metric", "labels", "number", "lowest", "median", "highest", "expected", "judged")
    rows = (
        (table.stage, table.metric, s.labels, f"{s.number:,}", s.lowest, s.middle, s.highest, s.expected, s.states)
        for table in found
        for s in table.spreads
    )
    yield from _table(headings, rows, (3, 4, 5, 6, 7))
    bad = [row for table in found for row in table.rows if row.state.rank < State.MEASURED.rank]
    bad.sort(key=lambda row: row.state.rank)
    if not bad:
        return
    yield "### Not passed"
    yield ""
    right = [index for index, column in enumerate(RESULT_COLUMNS) if column.numeric]
    listed = ([column.shown(row) for column in RESULT_COLUMNS] for row in bad[:ROWS])
    yield from _table([column.heading for column in RESULT_COLUMNS], listed, right)
    if len(bad) > ROWS:
        yield f"{len(bad) - ROWS:,} more rows that did not pass are in the CSV and JSON reports."
        yield ""


def _inventory(view: RunView) -> Iterator[str]:
    held, unlike = tables.inventory(view)
    strange = tables.unlike_class(view)
    if not (held or unlike or strange):
        return
    yield "## Inventory"
    yield ""
    yield f"{count(held, 'declared fact')} found as declared, {count(len(unlike), 'difference')}."
    yield ""
    headings = ("fact", "found", "declared", "nodes", "number")
    if unlike:
        rows = ((d.fact, d.found, d.declared, d.nodes, f"{d.number:,}") for d in unlike)
        yield from _table(headings, rows, (4,))
    if strange:
        yield "Unlike most nodes of their class (not declared, not judged):"
        yield ""
        rows = ((d.fact, d.found, d.declared, d.nodes, f"{d.number:,}") for d in strange)
        yield from _table(("fact", "found", "most have", "nodes", "number"), rows, (4,))


def _criteria(view: RunView) -> Iterator[str]:
    lines = tables.criteria(view)
    if not lines:
        return
    yield "## Criteria"
    yield ""
    headings = ("clause", "metric", "applies to", "required", "target", "rounding", "outcome")
    rows = (
        (c.source, c.metric, c.applies, c.bound, c.target, c.rounding, f"{SIGNS[c.state].glyph} {c.outcome}")
        for c in lines
    )
    yield from _table(headings, rows)


def _built(view: RunView) -> Iterator[str]:
    lines = tables.oversubscribed(view)
    if not lines:
        return
    yield "## Oversubscription as built"
    yield ""
    headings = ("switches", "number", "role", "to nodes", "upward", "same tier", "ratio")
    rows = ((s.switches, f"{s.number:,}", s.role, s.down, s.up, s.side, s.ratio) for s in lines)
    yield from _table(headings, rows, (1, 3, 4, 5, 6))
