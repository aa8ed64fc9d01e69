"""The last step to the terminal: rows become strips with shared styles, in ASCII where the terminal has no more."""

from dataclasses import dataclass, field

from rich.segment import Segment
from textual.strip import Strip

from benchconsole.console.text.cells import ASCII_OF, clip_text, measure_width
from benchconsole.console.tui.rows.text_rows import Row, row_width
from benchconsole.console.tui.rows.themes import TEXT, Ground, Palette, Tone
from benchconsole.console.view.severity_signs import SEVERITIES

_ASCII = ASCII_OF | str.maketrans({sign.glyph: sign.ascii for sign in SEVERITIES.values()})


def to_ascii(text: str) -> str:
    """``text`` in characters up to 126, of the same width; what has no stand-in becomes ``?``."""
    if text.isascii():
        return text
    text = text.translate(_ASCII)
    if text.isascii():
        return text
    return "".join(character if character.isascii() else "?" * measure_width(character) for character in text)


@dataclass(slots=True)
class Painter:
    """Makes strips. ``ascii`` and the palette belong to the terminal, not to a widget."""

    palette: Palette = field(default_factory=Palette)
    ascii: bool = False

    def strip(self, row: Row, width: int, ground: Ground = Ground.BG) -> Strip:
        """``row`` in exactly ``width`` cells; neighbours of one style and blanks share a segment."""
        pieces = self._pieces(row, width, ground)
        segments: list[Segment] = []
        text, tone = "", Tone(ground=ground)
        for more, its in pieces:
            if its == tone or not text or (its.ground is tone.ground and not more.strip()):
                tone = its if not text else tone
                text += more
            elif its.ground is tone.ground and not text.strip():
                text, tone = text + more, its
            else:
                segments.append(Segment(text, self.palette.style(tone)))
                text, tone = more, its
        if text:
            segments.append(Segment(text, self.palette.style(tone)))
        return Strip(segments, width)

    def _pieces(self, row: Row, width: int, ground: Ground) -> list[tuple[str, Tone]]:
        made = []
        left = width
        for piece in row:
            text, tone = piece
            size = measure_width(text)
            if size > left:
                text = clip_text(text, left)
                size = measure_width(text)
            if not text:
                continue
            left -= size
            if ground is not Ground.BG and tone.ground is Ground.BG:
                tone = tone._replace(ground=ground)
            made.append((to_ascii(text) if self.ascii else text, tone))
        if left > 0:
            made.append((" " * left, TEXT._replace(ground=ground)))
        return made


def differing(old: Row, new: Row) -> tuple[int, int] | None:
    """First and last column + 1 in which two rows differ, None when they are alike."""
    if old == new:
        return None
    first = 0
    for one, other in zip(old, new, strict=False):
        if one != other:
            break
        first += measure_width(one.text)
    if row_width(old) != row_width(new):
        return first, max(row_width(old), row_width(new))
    last = row_width(new)
    for one, other in zip(reversed(old), reversed(new), strict=False):
        if one != other:
            break
        last -= measure_width(one.text)
    return first, max(last, first + 1)
