"""Owns the HTML report: one file that loads nothing, runs nothing, and prints on A4 to be signed.

Jinja2 with autoescape makes it; everything handed to the template is plain text already, so a
node can neither write markup nor move the reader's eyes. Streamed. Refuses scripts, links to
elsewhere, and raw HTML (no ``safe`` filter, no ``Markup``; a test holds the template to it).
"""

from dataclasses import dataclass
from typing import TextIO

from jinja2 import Environment, PackageLoader, StrictUndefined

from console import view as session_view
from console.columns import Column, Row, chosen, state_word
from console.reports import checklists, conduct, content, curves, tables
from console.reports.content import Options, folded, shortened
from console.reports.evidence import appendix
from console.reports.picture import draw
from console.view import RunView, State, state_of_failure, state_of_level
from console.wording import NOT_MEASURED, SIGNS, count, plain

RESULT_COLUMNS = chosen("subject", "labels", "value", "expected", "share", "from", "limiting", "because")
CHUNK = 64
"""Pieces of template output that are joined before they are written."""

FINDINGS = 60
REASONS = 200
PASSING = frozenset((State.PASS, State.SKIPPED, State.MEASURED))


def environment() -> Environment:
    """The one environment of the report: autoescape on, an unknown name is an error."""
    made = Environment(
        loader=PackageLoader("console.reports", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        plain=plain,
        cut=shortened,
        folded=folded,
        glyph=lambda state: SIGNS[state].glyph,
        word=lambda state: SIGNS[state].word,
        thousands=lambda number: f"{number:,}",
        counted=count,
    )
    return made


@dataclass(frozen=True, slots=True)
class Piece:
    """One part of the coverage bar, in thousandths of its length."""

    start: int
    width: int
    colour: str


_BAR = {
    "tested": "#9db3a6",
    "failed to run": "#b3161a",
    "unreachable": "#7538ad",
    "skipped": "#c9c6bd",
    "not run": "#e6e3db",
}


def bar(lines: tuple[content.Counted, ...]) -> list[Piece]:
    """The tests of the plan as a bar; empty when nothing was planned."""
    parts = [(line.name, line.number) for line in lines if line.name in _BAR and line.number]
    whole = sum(number for _, number in parts)
    pieces, before = [], 0
    for name, number in parts:
        start, end = before * 1000 // whole, (before + number) * 1000 // whole
        # Four thousandths are the least that can be seen: one unreachable node of 10,000 must be.
        pieces.append(Piece(start, max(end - start, 4), _BAR[name]))
        before += number
    return pieces


def used_columns(table: tables.MetricTable) -> tuple[Column, ...]:
    """The columns in which this table has anything to say."""
    empty = ("", NOT_MEASURED)
    return tuple(
        column
        for column in RESULT_COLUMNS
        if column.name in ("subject", "value") or any(column.shown(row) not in empty for row in table.rows)
    )


def cells(row: Row, columns: tuple[Column, ...]) -> list[tuple[str, bool]]:
    """A row as text with whether it stands to the right; long texts cut."""
    return [(shortened(column.shown(row)), column.numeric) for column in columns]


def render(view: RunView, out: TextIO, options: Options) -> None:
    """Write the page in pieces."""
    template = environment().get_template("report.html")
    lines = content.coverage_lines(view)
    metrics = tables.metric_tables(view)
    held, unlike = tables.inventory(view)
    findings = content.ordered(view.findings)
    sweeps, more_sweeps = curves.sections(view)
    stream = template.stream(
        view=view,
        title=content.title(view, options),
        name=content.name_of(view),
        summary=checklists.summary(view, options.told),
        conduct=conduct.lines(view, options.told),
        coverage=lines,
        bar=bar(lines),
        untested=content.UNTESTED,
        findings=[
            (finding, state_of_level(finding.level), content.finding_details(view, finding)) for finding in findings
        ],
        left_out_findings=content.more_findings(findings[FINDINGS:]),
        not_judged=session_view.not_judged(view),
        picture=draw(view),
        built=tables.oversubscribed(view),
        criteria=tables.criteria(view),
        sweeps=sweeps,
        more_sweeps=more_sweeps,
        metrics=metrics,
        folding=any(table.note for table in metrics),
        used_columns=used_columns,
        most_findings=FINDINGS,
        most_reasons=REASONS,
        most_rows=tables.LONG,
        cells=cells,
        state_word=state_word,
        passing=PASSING,
        held=held,
        unlike=unlike,
        strange=tables.unlike_class(view),
        checklists=checklists.sections(options.told.checklists),
        not_done=checklists.NOT_DONE,
        searched=bool(view.proofs or view.ended),
        left_sentence=conduct.sentence(view.proofs),
        left=conduct.left(view.proofs)[: conduct.EXCEPTIONS],
        more_left=conduct.more(conduct.left(view.proofs)),
        appendix=appendix(view),
        state_of_failure=state_of_failure,
        sha=content.topology_sha256(view),
        when=content.when(view),
    )
    stream.enable_buffering(CHUNK)
    for piece in stream:
        out.write(piece)
