"""One static finding in full: its sentence, its place in the file, and that no test rests on it."""

from benchconsole.console.text.cells import clip_text, measure_width, wrap_clipped
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.queries.static_findings import AlikeFindings, describe_element, find_place
from benchconsole.console.tui.queries.view_queries import format_names
from benchconsole.console.tui.rows import severity
from benchconsole.console.tui.rows.text_rows import BLANK, CellLine, CellText, Row
from benchconsole.console.tui.rows.themes import MUTED, STRONG, TEXT, TRACK
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import SEVERITIES

GUTTER = 13
_LONGEST = 400
_NO_VERDICT = "the description alone; no verdict, count or exit code rests on it"


def static_rows(alike: AlikeFindings, view: RunView, where: str, width: int, height: int) -> list[Row]:
    """``where`` says which of how many. The sentence goes before all else; then the place in the file."""
    rule: list[Row] = [CellLine(width).put("─" * width, TRACK).row()] if height >= 8 else []
    head = [*rule, *_title(alike, where, width)]
    named = _sections(alike, view)
    room = max(height - len(head) - 1, 1)
    shows = _lines("shows", alike.first.text, width, room)
    others = [_lines(name, text, width, 3) for name, text in named]
    if len(head) + len(shows) + sum(len(each) + 1 for each in others) + 1 <= height:
        return [*head, BLANK, *shows, *(row for each in others for row in (BLANK, *each))]
    return [*head, *shows, *(each[0] for each in others if each)]


def _title(alike: AlikeFindings, where: str, width: int) -> list[Row]:
    first = alike.first
    word = SEVERITIES[first.severity].word
    line = CellLine(width).to(1)
    line.put(clip_text(sanitize(first.where), max(width - measure_width(where) - len(word) - 8, 8)), STRONG).put(", ")
    return [line.put(word, severity.tone(first.severity)._replace(bold=True)).right((CellText(where, MUTED),)).row()]


def _sections(alike: AlikeFindings, view: RunView) -> list[tuple[str, str]]:
    """Names and words of what follows the sentence, most needed first."""
    first, fabric = alike.first, view.fabric
    found = find_place(fabric, first.where)
    at = f"{found.file}:{found.line}" if found is not None else "no single line: it follows from the whole file"
    made = [("in the file", at), ("about", describe_element(fabric, first.where))]
    if len(alike.findings) > 1:
        made.append(("alike", f"{format_names([each.where for each in alike.findings[1:]], 12)}; z shows each"))
    return [*made, ("rests on", _NO_VERDICT), ("code", first.code)]


def _lines(name: str, text: str, width: int, most: int) -> list[Row]:
    rows: list[Row] = []
    for part in wrap_clipped(sanitize(text[: _LONGEST * width]), width - GUTTER - 1, most):
        rows.append(CellLine(width).to(1).put(name if not rows else "", MUTED).to(GUTTER).put(part, TEXT).row())
    return rows
