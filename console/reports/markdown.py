"""The Markdown report, for tickets and mail: short enough to paste, whole enough to act on.

Text from nodes cannot become a link, a mention, HTML or a table cell of its own: it is then set as code.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from benchconsole.console.reports import (
    checklist_section,
    conduct,
    content,
    curve_section,
    load_section,
    remark_section,
    reported_section,
    statistics_section,
    system_section,
    tables,
)
from benchconsole.console.reports.content import ReportOptions
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize, shorten_text
from benchconsole.console.text.table import Table
from benchconsole.console.view.acceptance import STAYS
from benchconsole.console.view.result_rows import select_columns
from benchconsole.console.view.run_view import RunView, State, state_of_failure, state_of_level
from benchconsole.console.view.totals import SessionTotals, compute_totals
from benchconsole.console.view.wording import SIGNS
from benchconsole.probes.model.judgement import Finding
from benchconsole.probes.model.remark import Remark, RemarkKind
from benchconsole.topology.units import counted as count

FINDINGS = 30
REASONS = 50
ROWS = 60
"""Rows of results below their threshold that are listed; tickets have limits, and readers too."""
RESULT_COLUMNS = select_columns("state", "subject", "metric", "labels", "value", "expected", "from", "share", "because")
_ACTIVE = re.compile(r"://|www\.|[@<]|#\d|&[#\w]+;|\]\s*[(:\[]|javascript:", re.IGNORECASE)
# Brackets stay as they are (node sets are full of them): alone they make no link.
# Lenient readers make a link of a bare name whose last part could be a domain's, such as ``1.ba``.
_DOMAIN = r"\.(?=(?:[a-z]{2}|biz|com|edu|gov|net|org|pro|web|xxx|aero|asia|coop|info|museum|name|shop)(?![^\W_]))"
_MARKUP = re.compile(rf"[`*|]|~~|\\(?=[!-/:-@\[-`{{-~])|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])|{_DOMAIN}", re.IGNORECASE)


def render(view: RunView, out: TextIO, options: ReportOptions) -> None:
    """Write the report block by block; an empty line stands behind each."""
    totals = compute_totals(view)
    for blocks in (
        _list_head(view, options),
        _list_remarks(view, options),
        _list_conduct(view, options),
        _list_coverage(view, totals, options),
        _list_findings(view, options),
        _list_not_judged(totals),
        _list_results(view),
        _list_statistics(view),
        _list_load(view),
        _list_sweeps(view),
        _list_system(view),
        _list_inventory(view),
        _list_criteria(view),
        _list_reported(view),
        _list_oversubscription(view),
        _list_checklists(view),
        _list_leftovers(view),
    ):
        for block in blocks:
            out.write(f"{block}\n\n")


def format_operator(operator: str) -> str:
    """The operator as the report has it."""
    return make_cell(sanitize(operator) or content.NOT_RECORDED)


def make_inline(text: str) -> str:
    """``text`` for a paragraph: as it reads when it is tame, as code when a reader could act on it."""
    safe = sanitize(text).strip()
    if _ACTIVE.search(safe):
        return _make_code(safe)
    return _MARKUP.sub(lambda found: "".join(f"\\{letter}" for letter in found[0]), safe)


def make_cell(text: str) -> str:
    """``text`` for a table cell; a bar would end the cell, even within code."""
    safe = sanitize(text).strip()
    if not _ACTIVE.search(safe):
        return make_inline(safe)
    # Readers differ on a bar after a backslash, so that one bar is drawn broken.
    return _make_code(safe).replace("\\|", "\\¦").replace("|", "\\|")


def _make_code(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    gap = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{gap}{text}{gap}{fence}"


def _make_table(headings: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    aligned = frozenset(right)
    rule = "|".join("---:" if index in aligned else "---" for index in range(len(headings)))
    body = (f"| {' | '.join(make_cell(text) for text in row)} |" for row in rows)
    return "\n".join((f"| {' | '.join(headings)} |", f"|{rule}|", *body))


def format_tables(tables: Iterable[Table]) -> Iterator[str]:
    """Tables with their titles and notes, a block each; those without rows are left out."""
    for each in tables:
        if each.rows:
            yield f"## {make_inline(each.title)}"
            right = [place for place, column in enumerate(each.columns) if column.right]
            yield _make_table([make_cell(column.heading) for column in each.columns], each.rows, right)
            if each.note:
                yield make_inline(each.note)


def _sign(state: State, word: str | None = None) -> str:
    return f"{SIGNS[state].glyph} {word or SIGNS[state].word}"


def _count_more(number: int, noun: str) -> Iterator[str]:
    if number > 0:
        yield f"And {count(number, noun)}; they are in the JSON report."


def _list_head(view: RunView, options: ReportOptions) -> Iterator[str]:
    yield f"# Acceptance test report: {make_inline(view.fabric.name)}, {make_inline(content.find_name(view))}"
    if view.fabric.simulated:
        yield "**SIMULATED: no real cluster was measured.**"
    verdict = options.details.decide(view)
    yield f"**{SIGNS[verdict.state].glyph} {make_inline(verdict.sentence)}**"
    if verdict.is_brief:
        yield "\n".join(f"- {make_inline(gap)}" for gap in verdict.missing)
    accepted = remark_section.format_accepted(view, options.details.remarks)
    if accepted:
        yield make_inline(accepted)
    yield _make_table(("", ""), content.make_title(view, options))


def _list_remarks(view: RunView, options: ReportOptions) -> Iterator[str]:
    """Every remark in full: conclusions and the like as paragraphs, the tuning log as a table."""
    sections = remark_section.make_sections(view, options.details.remarks)
    for kind, lines in sections:
        yield f"## {remark_section.TITLES[kind]}"
        if kind is RemarkKind.TUNING:
            rows = ((line.when, line.about, line.text, line.by) for line in lines)
            yield _make_table(("when", "of", "what", "by"), rows)
            continue
        for line in lines:
            yield from map(make_inline, line.paragraphs)
            yield f"{make_inline(f'Of {line.about}, by {line.by}, {line.when}')}."
        if kind is RemarkKind.ACCEPTED:
            yield STAYS
    if sections:
        yield remark_section.NOT_JUDGED


def _list_conduct(view: RunView, options: ReportOptions) -> Iterator[str]:
    lines = list(conduct.list_conduct(view, options.details))
    if lines:
        yield "## Conduct"
        yield _make_table(("kind", "when", "what"), ((line.kind, line.when, line.text) for line in lines[:ROWS]))
        yield from _count_more(len(lines) - ROWS, "more line")


def _list_sweeps(view: RunView) -> Iterator[str]:
    sections, left = curve_section.make_sections(view)
    if sections:
        yield "## Sweeps"
    for section in sections:
        yield f"### {make_inline(section.stage)}: {make_inline(section.name)}"
        yield from (f"{make_inline(sentence)}." for sentence in section.said)
        right = [index for index, name in enumerate(section.headings, 1) if name not in ("cohort", "note")]
        headings = ("", *(make_cell(name) for name in section.headings))
        rows = ((SIGNS[row.state].glyph if row.state else "", *texts) for row, texts in section.rows)
        yield _make_table(headings, rows, right)
    if left:
        yield left


def _list_checklists(view: RunView) -> Iterator[str]:
    headings = ("clause", "step", "state", "who", "when", "note", "attached")
    for section in checklist_section.make_sections(view.checklists):
        yield f"## Checklist: {make_inline(section.title)}"
        yield f"{_sign(section.state, make_inline(section.tally))}. {checklist_section.NOT_DONE}"
        rows = (
            (
                line.clause,
                f"{line.step}: {line.text}",
                _sign(line.state, line.word),
                line.who,
                line.when,
                line.note,
                "; ".join(line.evidence),
            )
            for line in section.lines
        )
        yield _make_table(headings, rows)


def _list_leftovers(view: RunView) -> Iterator[str]:
    if not view.proofs and not view.ended:
        return
    yield "## Left on nodes"
    yield make_inline(conduct.format_cleanliness(view.proofs))
    kinds = conduct.list_leftovers(view.proofs)
    if kinds:
        rows = ((SIGNS[each.state].glyph, each.text, each.nodes, f"{each.number:,}") for each in kinds[:REASONS])
        yield _make_table(("", "what", "nodes", "number"), rows, (3,))
    yield from _count_more(len(kinds) - REASONS, "more exception")


def _list_coverage(view: RunView, totals: SessionTotals, options: ReportOptions) -> Iterator[str]:
    yield "## Coverage"
    rows = ((line.name, f"{line.number:,}", line.meaning) for line in content.list_coverage(view, totals.covered))
    yield _make_table(("tests", "number", "which means"), rows, (1,))
    yield content.UNTESTED
    sentences = content.list_detectable(view, options.details)
    if sentences:
        yield "\n".join(f"- {make_inline(each)}" for each in sentences)


def _list_findings(view: RunView, options: ReportOptions) -> Iterator[str]:
    yield "## Findings"
    if not view.findings:
        yield "None." if view.verdicts else "None: nothing was judged."
    findings = content.sort_findings(view.findings)
    for number, finding in enumerate(findings[:FINDINGS], 1):
        yield from _describe_finding(view, number, finding, options.details.remarks)
    if len(findings) > FINDINGS:
        yield f"And {content.format_more_findings(findings[FINDINGS:])}; they are in the JSON report."


def _describe_finding(view: RunView, number: int, finding: Finding, remarks: Sequence[Remark]) -> Iterator[str]:
    state = state_of_level(finding.level)
    place = make_inline(finding.where or finding.element)
    yield f"### {number}. {SIGNS[state].glyph} {finding.suspect}, {place}"
    yield f"**{make_inline(finding.what)}**"
    who = f": {make_inline(fold_names(finding.nodes))}" if finding.nodes else ""
    tests = count(len(finding.tests), "test")
    points = [f"- level: {_sign(state)}, {finding.confidence}, {tests}, {count(len(finding.nodes), 'node')}{who}"]
    for name, texts in content.list_details(view, finding, remarks):
        if len(texts) == 1:
            points.append(f"- {name}: {make_inline(texts[0])}")
        else:
            points += [f"- {name}:", *(f"  - {make_inline(text)}" for text in texts)]
    yield "\n".join(points)


def _list_not_judged(totals: SessionTotals) -> Iterator[str]:
    reasons = totals.reasons
    if not reasons:
        return
    yield "## Not judged"
    rows = (
        (
            _sign(state_of_failure(reason.stage), reason.stage),
            shorten_text(reason.detail),
            fold_names(reason.nodes),
            f"{len(reason.nodes):,}",
            f"{reason.tests:,}",
        )
        for reason in reasons[:REASONS]
    )
    yield _make_table(("failed at", "what was seen", "nodes", "number", "tests"), rows, (3, 4))
    yield from _count_more(len(reasons) - REASONS, "more reason")
    yield "None of these counts as passed."


def _list_results(view: RunView) -> Iterator[str]:
    metrics = tables.make_metric_tables(view)
    if not metrics:
        return
    yield "## Results"
    headings = ("stage", "metric", "labels", "number", "lowest", "median", "highest", "expected", "judged")
    rows = (
        (table.stage, table.metric, s.labels, f"{s.number:,}", s.lowest, s.middle, s.highest, s.expected, s.states)
        for table in metrics
        for s in table.spreads
    )
    yield _make_table(headings, rows, (3, 4, 5, 6, 7))
    bad = [row for table in metrics for row in table.rows if row.state.rank < State.MEASURED.rank]
    bad.sort(key=lambda row: row.state.rank)
    if not bad:
        return
    yield "### Not passed"
    right = [index for index, column in enumerate(RESULT_COLUMNS) if column.numeric]
    listed = ([column.shown(row) for column in RESULT_COLUMNS] for row in bad[:ROWS])
    yield _make_table([column.heading for column in RESULT_COLUMNS], listed, right)
    if len(bad) > ROWS:
        yield f"{len(bad) - ROWS:,} more rows that did not pass are in the CSV and JSON reports."


def _list_statistics(view: RunView) -> Iterator[str]:
    section = statistics_section.make_section(view)
    if section.lines or section.left_out or section.typed:
        yield "## Statistics"
    if section.typed:
        yield "Typed statistics:"
        yield _make_table(section.typed_headings, section.typed, statistics_section.TYPED_NUMERIC)
    if section.lines:
        yield section.about
        headings = (*section.headings, "distribution")
        yield _make_table(headings, ((*cells, bars) for cells, bars in section.lines), statistics_section.NUMERIC)
    for note in filter(None, (*section.trends, section.left_out)):
        yield make_inline(note)


def _list_load(view: RunView) -> Iterator[str]:
    section = load_section.make_section(view)
    if section.lines or section.notes:
        yield "## Load during tests"
    if section.lines:
        yield section.about
        yield _make_table(section.headings, section.lines, section.numeric)
    for note in section.notes:
        yield make_inline(note)


def _list_system(view: RunView) -> Iterator[str]:
    found = system_section.make_tables(view)
    if found:
        yield "## System"
    for each in found:
        yield f"### {make_inline(each.title)}"
        right = [place for place, column in enumerate(each.columns) if column.right]
        yield _make_table([column.heading for column in each.columns], each.rows, right)


def _list_inventory(view: RunView) -> Iterator[str]:
    held, unlike = tables.compare_inventory(view)
    strange = tables.find_unlike_class(view)
    if not (held or unlike or strange):
        return
    yield "## Inventory"
    yield f"{count(held, 'declared fact')} found as declared, {count(len(unlike), 'difference')}."
    if unlike:
        yield _make_differences(unlike, "declared")
    if strange:
        yield "Unlike most nodes of their class (not declared, not judged):"
        yield _make_differences(strange, "most have")


def _make_differences(differences: Iterable[tables.FactDifference], declared: str) -> str:
    rows = ((d.fact, d.found, d.declared, d.nodes, f"{d.number:,}") for d in differences)
    return _make_table(("fact", "found", declared, "nodes", "number"), rows, (4,))


def _list_criteria(view: RunView) -> Iterator[str]:
    lines = tables.list_criteria(view)
    if lines:
        yield "## Criteria"
        headings = (
            "clause", "metric", "applies to", "required", "target", "rounding",
            "number", "worst", "mean", "of required", "of target", "outcome",
        )  # fmt: skip
        rows = (
            (
                c.source, c.metric, c.applies, c.bound, c.target, c.rounding,
                f"{c.number:,}", c.worst, c.mean, c.of_required, c.of_target, f"{SIGNS[c.state].glyph} {c.outcome}",
            )
            for c in lines
        )  # fmt: skip
        yield _make_table(headings, rows, range(6, 11))


def _list_reported(view: RunView) -> Iterator[str]:
    lines = reported_section.make_lines(view)
    if lines:
        yield "## As reported"
        yield reported_section.ABOUT
        headings = ("source", "metric", "applies to", "reported", "here", "from", "")
        rows = ((*line[:-1], f"{reported_section.GLYPHS[line.outcome]} {line.outcome}") for line in lines)
        yield _make_table(headings, rows, (3, 4))


def _list_oversubscription(view: RunView) -> Iterator[str]:
    lines = tables.list_oversubscription(view)
    if lines:
        yield "## Oversubscription as built"
        headings = ("switches", "number", "role", "to nodes", "upward", "same tier", "ratio")
        rows = ((s.switches, f"{s.number:,}", s.role, s.down, s.up, s.side, s.ratio) for s in lines)
        yield _make_table(headings, rows, (1, 3, 4, 5, 6))
