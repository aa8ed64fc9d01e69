"""Owns one static finding in full: its sentence, where that stands in the file, and that no test rests on it."""

from console.tui import severity
from console.tui.description import Alike, kind, place
from console.tui.drawing import BLANK, MUTED, STRONG, TEXT, TRACK, Line, Piece, Row, clip, width_of, wrapped
from console.tui.reading import names
from console.view import RunView
from console.wording import SEVERITIES, plain

GUTTER = 13
_LONGEST = 400
_NO_VERDICT = "the description alone; no verdict, count or exit code rests on it"


def static_rows(alike: Alike, view: RunView, where: str, width: int, height: int) -> list[Row]:
    """``where`` says which of how many. The sentence goes before all else; then the place in the file."""
    rule: list[Row] = [Line(width).put("─" * width, TRACK).row()] if height >= 8 else []
    head = [*rule, *_title(alike, where, width)]
    named = _sections(alike, view)
    room = max(height - len(head) - 1, 1)
    shows = _lines("shows", alike.first.text, width, room)
    others = [_lines(name, text, width, 3) for name, text in named]
    if len(head) + len(shows) + sum(len(each) + 1 for each in others) + 1 <= height:
        return [*head, BLANK, *shows, *(row for each in others for row in (BLANK, *each))]
    return [*head, *shows, *(each[0] for each in others if each)]


def _title(alike: Alike, where: str, width: int) -> list[Row]:
    first = alike.first
    word = SEVERITIES[first.severity].word
    line = Line(width).to(1)
    line.put(clip(plain(first.where), max(width - width_of(where) - len(word) - 8, 8)), STRONG).put(", ")
    return [line.put(word, severity.tone(first.severity)._replace(bold=True)).right((Piece(where, MUTED),)).row()]


def _sections(alike: Alike, view: RunView) -> list[tuple[str, str]]:
    """Names and words of what follows the sentence, most needed first."""
    first, fabric = alike.first, view.fabric
    found = place(fabric, first.where)
    at = f"{found.file}:{found.line}" if found is not None else "no single line: it follows from the whole file"
    made = [("in the file", at), ("about", kind(fabric, first.where))]
    if len(alike.findings) > 1:
        made.append(("alike", f"{names([each.where for each in alike.findings[1:]], 12)}; z shows each"))
    return [*made, ("rests on", _NO_VERDICT), ("code", first.code)]


def _lines(name: str, text: str, width: int, most: int) -> list[Row]:
    rows: list[Row] = []
    for part in wrapped(plain(text[: _LONGEST * width]), width - GUTTER - 1, most):
        rows.append(Line(width).to(1).put(name if not rows else "", MUTED).to(GUTTER).put(part, TEXT).row())
    return rows
