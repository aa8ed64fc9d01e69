"""The HTML report: one file that loads nothing, runs nothing, and prints on A4 to be signed.

Everything handed to the template is plain text already, and autoescaped: a node can neither write markup nor move the
reader's eyes. There are no scripts, links to elsewhere or raw HTML; a test holds the template to it.
"""

from typing import TextIO

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.environment import TemplateStream
from markupsafe import escape

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
from benchconsole.console.reports.evidence import list_cases
from benchconsole.console.reports.fabric_cells import MOST_LINKS, draw_fabric
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize, shorten_text
from benchconsole.console.view.acceptance import STAYS
from benchconsole.console.view.result_rows import ResultColumn, ResultRow, select_columns, state_word
from benchconsole.console.view.run_view import RunView, State, state_of_failure, state_of_level
from benchconsole.console.view.totals import compute_totals
from benchconsole.console.view.wording import NOT_MEASURED, SIGNS
from benchconsole.topology.units import counted as count

RESULT_COLUMNS = select_columns("subject", "labels", "value", "expected", "share", "from", "limiting", "because")
CHUNK = 64
"""Pieces of template output that are joined before they are written."""

CASES, FINDINGS, REASONS = 60, 60, 200
PASSING = frozenset((State.PASS, State.SKIPPED, State.MEASURED))


def make_environment() -> Environment:
    """The one environment of the report: autoescape on, an unknown name is an error."""
    made = Environment(
        loader=PackageLoader("benchconsole.console.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        plain=sanitize,
        cut=shorten_text,
        folded=fold_names,
        glyph=lambda state: SIGNS[state].glyph,
        word=lambda state: SIGNS[state].word,
        thousands=lambda number: f"{number:,}",
        counted=count,
    )
    return made


def format_operator(operator: str) -> str:
    """The operator as the page has it."""
    return str(escape(sanitize(operator) or content.NOT_RECORDED))


_BAR = ("tested", "failed to run", "unreachable", "skipped", "not run")


def make_bar(lines: tuple[content.CoverageLine, ...]) -> list[tuple[int, int, str]]:
    """The tests of the plan as a bar: start and width of each part in thousandths, and its name."""
    parts = [(line.name, line.number) for line in lines if line.name in _BAR and line.number]
    whole = sum(number for _, number in parts)
    pieces, before = [], 0
    for name, number in parts:
        start, end = before * 1000 // whole, (before + number) * 1000 // whole
        # Four thousandths are the least that can be seen: one unreachable node of 10,000 must be.
        pieces.append((start, max(end - start, 4), name))
        before += number
    return pieces


def select_used_columns(table: tables.MetricTable) -> tuple[ResultColumn, ...]:
    """The columns in which this table has anything to say."""
    empty = ("", NOT_MEASURED)
    return tuple(
        column
        for column in RESULT_COLUMNS
        if column.name in ("subject", "value") or any(column.shown(row) not in empty for row in table.rows)
    )


def format_cells(row: ResultRow, columns: tuple[ResultColumn, ...]) -> list[tuple[str, bool]]:
    """A row as text with whether it stands to the right; long texts cut."""
    return [(shorten_text(column.shown(row)), column.numeric) for column in columns]


def render(view: RunView, out: TextIO, options: ReportOptions) -> None:
    """Write the page in pieces."""
    stream = _fill_template(view, options)
    stream.enable_buffering(CHUNK)
    for piece in stream:
        out.write(piece)


def _fill_remarks(view: RunView, options: ReportOptions) -> dict[str, object]:
    """The values of the template on the words of people."""
    remarks = options.details.remarks
    return {
        "remarks": remark_section.make_sections(view, remarks),
        "remark_words": remark_section,
        "accepted": remark_section.format_accepted(view, remarks),
        "accepted_stays": STAYS,
    }


def _fill_template(view: RunView, options: ReportOptions) -> TemplateStream:
    template = make_environment().get_template("report.html")
    totals = compute_totals(view)
    lines = content.list_coverage(view, totals.covered)
    metrics = tables.make_metric_tables(view)
    held, unlike = tables.compare_inventory(view)
    findings = content.sort_findings(view.findings)
    sweeps, more_sweeps = curve_section.make_sections(view)
    return template.stream(
        view=view,
        title=content.make_title(view, options),
        name=content.find_name(view),
        summary=options.details.decide(view),
        **_fill_remarks(view, options),
        conduct=list(conduct.list_conduct(view, options.details)),
        coverage=lines,
        bar=make_bar(lines),
        untested=content.UNTESTED,
        detectable=content.list_detectable(view, options.details),
        findings=[
            (finding, state_of_level(finding.level), content.list_details(view, finding, options.details.remarks))
            for finding in findings
        ],
        left_out_findings=content.format_more_findings(findings[FINDINGS:]),
        not_judged=totals.reasons,
        picture=draw_fabric(view),
        most_links=MOST_LINKS,
        built=tables.list_oversubscription(view),
        criteria=tables.list_criteria(view),
        reported=reported_section.make_lines(view),
        reported_words=reported_section,
        statistics=statistics_section.make_section(view),
        load=load_section.make_section(view),
        system=system_section.make_tables(view),
        sweeps=sweeps,
        more_sweeps=more_sweeps,
        metrics=metrics,
        folding=any(table.note for table in metrics),
        used_columns=select_used_columns,
        most_findings=FINDINGS,
        most_reasons=REASONS,
        most_rows=tables.LONG,
        cells=format_cells,
        state_word=state_word,
        passing=PASSING,
        held=held,
        unlike=unlike,
        strange=tables.find_unlike_class(view),
        checklists=checklist_section.make_sections(view.checklists),
        not_done=checklist_section.NOT_DONE,
        searched=bool(view.proofs or view.ended),
        left_sentence=conduct.format_cleanliness(view.proofs),
        left=conduct.list_leftovers(view.proofs)[: conduct.EXCEPTIONS],
        more_left=conduct.format_more(conduct.list_leftovers(view.proofs)),
        cases_and_more=list_cases(view, CASES),
        state_of_failure=state_of_failure,
        sha=content.hash_topology(view),
        when=content.format_period(view),
    )
