"""Rows of cells before they are painted: texts with tones, fitted to exact widths.

Pure functions of values; everything that the screens show passes through here, so text of a
node gets no further than ``sanitize``. ``strips`` turns rows into strips.
"""

from collections.abc import Iterable
from typing import NamedTuple

from benchconsole.console.text.cells import clip_text, fit_text, measure_width, wrap_clipped
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.rows.themes import (
    FAIL,
    FAIL_CELL,
    MUTED,
    RUNNING,
    TEXT,
    WATCH,
    WATCH_BOLD,
    Ground,
    Ink,
    Tone,
)
from benchconsole.console.view.run_view import State
from benchconsole.console.view.wording import SIGNS

_SIGN_TONE = {
    State.FAIL: FAIL_CELL,
    State.UNREACHABLE: Tone(Ink.UNREACHABLE, bold=True),
    State.WATCH: WATCH_BOLD,
    State.UNKNOWN: TEXT,
    State.AFFECTED: WATCH,
    State.HELD: MUTED,
    State.RUNNING: RUNNING,
    State.MEASURED: TEXT,
    State.SKIPPED: MUTED,
    State.PASS: MUTED,
}
_WORD_TONE = _SIGN_TONE | {
    State.FAIL: FAIL,
    State.UNREACHABLE: Tone(Ink.UNREACHABLE),
    State.WATCH: WATCH,
    State.PASS: MUTED,
}


class CellText(NamedTuple):
    """Text of one tone."""

    text: str
    tone: Tone = TEXT


Row = tuple[CellText, ...]
BLANK: Row = ()

REMARKED = "¶"
"""Before a row of which people said something."""


def sign_tone(state: State) -> Tone:
    """How the glyph of ``state`` looks."""
    return _SIGN_TONE[state]


def word_tone(state: State) -> Tone:
    """How a word or number that says ``state`` looks."""
    return _WORD_TONE[state]


def value_tone(state: State) -> Tone:
    """How a judged number looks: coloured and bold only when it deviates."""
    tone = _WORD_TONE[state]
    return tone._replace(bold=True) if state in (State.FAIL, State.WATCH) else tone


def sign(state: State) -> CellText:
    """The glyph of ``state``; white on red for a fault."""
    return CellText(SIGNS[state].glyph, _SIGN_TONE[state])


def set_ground(row: Iterable[CellText], ground: Ground) -> Row:
    """``row`` on another ground; pieces that have a ground of their own keep it."""
    return tuple(
        CellText(text, tone._replace(ground=ground) if tone.ground is Ground.BG else tone) for text, tone in row
    )


_SEL_KEEPS = (Ink.FG, Ink.BRIGHT, Ink.ACCENT, Ink.LOAD, Ink.SLOT, Ink.FAINT, Ink.TRACK)


def _selected_tone(text: str, tone: Tone) -> Tone:
    if tone.ground is not Ground.BG:
        return tone
    ink = tone.ink
    if len(text.strip()) > 1 and ink not in _SEL_KEEPS:
        ink = Ink.FG if ink is Ink.MUTED else Ink.BRIGHT
    elif ink in (Ink.MUTED, Ink.FAINT):
        ink = Ink.FG
    return Tone(ink, Ground.SEL, tone.bold)


def selected(row: Iterable[CellText]) -> Row:
    """A row under the cursor: muted becomes plain and words bright; a lone sign keeps its colour."""
    made = [CellText(text, _selected_tone(text, tone)) for text, tone in row]
    if made and made[0].text[:1] == " ":
        made[0] = CellText(made[0].text[1:], made[0].tone)
        made.insert(0, CellText("▌", Tone(Ink.ACCENT, Ground.SEL)))
    return tuple(made)


def row_width(row: Iterable[CellText]) -> int:
    """Cells that ``row`` takes."""
    return sum(measure_width(piece.text) for piece in row)


def put_over(row: Row, column: int, text: str, tone: Tone, width: int) -> Row:
    """``row`` of ``width`` cells with ``text`` over those from ``column`` on. A wide character is not cut: it goes."""
    end = min(column + measure_width(text), width)
    before, after = _cut(row, column), _cut(row, end)
    kept = CellLine(width).extend(before[0]).to(column).put(text, tone)
    return kept.to(end + after[2]).extend(after[1]).row()


def _cut(row: Row, column: int) -> tuple[Row, Row, int]:
    """The pieces that end before ``column``, those that begin from it on, and how many cells after it that is."""
    before: list[CellText] = []
    after: list[CellText] = []
    at = late = 0
    for piece in row:
        wide = measure_width(piece.text)
        # Only the piece with the column in it is taken apart.
        parts = [CellText(each, piece.tone) for each in piece.text] if at < column < at + wide else [piece]
        for part in parts:
            end = at + measure_width(part.text)
            if end <= column:
                before.append(part)
            elif at >= column:
                late = late if after else at - column
                after.append(part)
            at = end
    return tuple(before), tuple(after), late if after else max(at - column, 0)


def plain_text(row: Iterable[CellText]) -> str:
    """The text of a row, without tones."""
    return "".join(piece.text for piece in row)


def wrap_under(name: str, texts: Iterable[str], width: int, gutter: int, most: int, tone: Tone = TEXT) -> list[Row]:
    """``texts`` from column ``gutter`` on, each in at most ``most`` rows, with ``name`` before the first of all."""
    lines = [line for text in texts for line in wrap_clipped(sanitize(text), width - gutter - 1, most)]
    return [
        CellLine(width).to(1).put("" if index else name, MUTED).to(gutter).put(line, tone).row()
        for index, line in enumerate(lines)
    ]


class CellLine:
    """A row in the making, from left to right; what does not fit into ``width`` is cut."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.at = 0
        self._pieces: list[CellText] = []

    def to(self, column: int) -> "CellLine":
        """Go to ``column``; stay when already past it."""
        gap = min(column, self.width) - self.at
        if gap > 0:
            self._add(" " * gap, TEXT)
        return self

    def put(self, text: str, tone: Tone = TEXT, width: int | None = None, align: str = "<") -> "CellLine":
        """Add ``text``, in exactly ``width`` cells when given."""
        if width is not None:
            text = fit_text(text, min(width, self.room), align)
        self._add(clip_text(text, self.room), tone)
        return self

    def add(self, row: Row, width: int) -> "CellLine":
        """Add a row of ``width`` cells that was made before: as it is where it fits, cut where it does not."""
        if width > self.room:
            return self.extend(row)
        self._pieces += row
        self.at += width
        return self

    def extend(self, pieces: Iterable[CellText]) -> "CellLine":
        for text, tone in pieces:
            self.put(text, tone)
        return self

    def right(self, pieces: Iterable[CellText], margin: int = 1) -> "CellLine":
        """Add ``pieces`` so that they end ``margin`` cells before the edge; nothing when they do not fit."""
        pieces = tuple(pieces)
        column = self.width - margin - row_width(pieces)
        if column >= self.at + (1 if self.at else 0):
            self.to(column).extend(pieces)
        return self

    @property
    def room(self) -> int:
        return max(self.width - self.at, 0)

    def row(self) -> Row:
        return tuple(self._pieces)

    def _add(self, text: str, tone: Tone) -> None:
        if text:
            self._pieces.append(CellText(text, tone))
            self.at += measure_width(text)
