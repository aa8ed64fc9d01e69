"""Text measured in the columns of a terminal: padded, cut and wrapped to a width, or written in ASCII."""

import re
from collections.abc import Iterator
from functools import lru_cache

from benchconsole.topology.units import counted as count

ASCII_OF = str.maketrans(
    {
        "━": "=", "╾": "=", "╼": "=", "─": "-", "┄": ".", "×": "x", "┼": "+", "┿": "+", "◆": "*", "◇": "*", "│": "|",
        "▮": "#", "▯": "_", "◧": "%", "▌": ">", "›": ">", "→": ">", "←": "<", "◂": "<", "▾": "v", "▴": "^", "·": ".",
        "…": "$",
        "✗": "X", "∅": "U", "▲": "!", "▵": "~", "▸": ">", "○": "o", "−": "-", "–": "-", "≥": ">", "≤": "<",
        "≠": "#",
        "±": "~", "¹": "1", "²": "2", "³": "3", "µ": "u", "┌": ",", "├": "|", "└": "`", "▁": ".", "▂": ":",
        "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "#", "█": "@", "¶": '"',
    }
)  # fmt: skip
"""Every sign that the screens draw, as one ASCII character of the same width."""

LEAST = 16
"""Columns that a wrapped text gets, however long its head is."""

_SIGNS = "".join(map(chr, ASCII_OF))
_NARROW = re.compile(f"[ -~\N{NO-BREAK SPACE}{re.escape(_SIGNS)}]*")
"""Text whose width is its length: ASCII and our own signs."""


def measure_width(text: str) -> int:
    """How many columns of a terminal plain ``text`` takes (Unicode Standard Annex 11, as wcwidth reads it).

    The sum over its characters: a text that is cut or joined anywhere takes as much as its parts.
    """
    return len(text) if text.isascii() and text.isprintable() else _measure_signs(text)


@lru_cache(maxsize=4096)  # a screen draws few signs, and each of them very often
def _measure_signs(text: str) -> int:
    if _NARROW.fullmatch(text):
        return len(text)
    # Imported on use: most texts are narrow, and start-up pays for every import.
    from wcwidth import wcwidth

    return sum(max(wcwidth(character), 0) for character in text)


def to_ascii(text: str) -> str:
    """``text`` for a terminal or file that takes ASCII only: our signs by their likes, anything else as ``?``."""
    return "".join(letter if letter.isascii() else "?" for letter in text.translate(ASCII_OF))


def clip_text(text: str, width: int) -> str:
    """``text`` within ``width`` columns; where something is cut, it ends in an ellipsis."""
    if measure_width(text) <= width:
        return text
    kept = _split_at(text, max(width - 1, 0))[0].rstrip()
    return f"{kept}…" if width > 0 else ""


def clip_around(text: str, kept: str, width: int) -> str:
    """``text`` within ``width`` columns: what follows the words ``kept`` in it is cut first, then what is before them.

    Text before ``kept`` loses its beginning. The end of ``kept`` is cut only where there is no room for all of it.
    """
    place = text.find(f" {kept}") + 1 if kept else 0
    head = text[: place + len(kept)]
    if not place or width < 2 or measure_width(text) <= width or measure_width(head) < width:
        return clip_text(text, width)
    end = clip_text(kept, width - 1) if measure_width(kept) >= width else _find_end(head, width - 1)
    return f"…{end}"


def cut_into_lines(text: str, width: int) -> list[str]:
    """``text`` in pieces of at most ``width`` columns, each of its characters as it is; at least one piece."""
    pieces = []
    while measure_width(text) > width:
        piece = _split_at(text, max(width, 1))[0] or text[0]
        pieces.append(piece)
        text = text[len(piece) :]
    return [*pieces, text] if text or not pieces else pieces


def fit_text(text: str, width: int, align: str = "<") -> str:
    """``text`` in exactly ``width`` columns, cut or padded; aligned ``<``, ``>`` or ``^``."""
    text = clip_text(text, width)
    gap = width - measure_width(text)
    before = {"<": 0, ">": gap, "^": gap // 2}[align]
    return " " * before + text + " " * (gap - before)


def wrap_text(text: str, width: int, head: str = "", indent: str | None = None) -> list[str]:
    """``text`` behind ``head`` in lines of ``width`` columns, broken at blanks; later lines begin with ``indent``.

    Without ``indent`` they begin below the first word. A word that is too long is broken, after a comma if it has one.
    """
    indent = " " * measure_width(head) if indent is None else indent
    room = max(width - max(measure_width(head), measure_width(indent)), LEAST if head or indent else 1)
    lines, line, is_empty = [], head, True
    for glue, piece in _break_words(text, room):
        if is_empty:
            line += piece
        elif measure_width(line + glue + piece) > width:
            lines.append(line)
            line = indent + piece
        else:
            line += glue + piece
        is_empty = False
    return [*lines, line]


def wrap_names(text: str, width: int, head: str, most: int) -> list[str]:
    """``text`` as ``wrap_text`` gives it, in at most ``most`` lines; one more line counts those that are left out."""
    lines = wrap_text(text, width, head)
    rest = len(lines) - most
    return (
        [*lines[:most], " " * measure_width(head) + f"and {count(rest, 'more line')} of names"] if rest > 0 else lines
    )


def wrap_clipped(text: str, width: int, most: int) -> list[str]:
    """``text`` in at most ``most`` lines of ``width`` columns; the last one is cut where there is more."""
    lines = wrap_text(text, width) if text.strip() and width > 0 else []
    if len(lines) > most:
        lines = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [clip_text(line, width) for line in lines]


def _split_at(text: str, width: int) -> tuple[str, str]:
    """The longest beginning of ``text`` within ``width`` columns, and the rest."""
    if _NARROW.fullmatch(text):
        return text[:width], text[width:]
    from wcwidth import iter_graphemes

    end = columns = 0
    for cluster in iter_graphemes(text):
        columns += measure_width(cluster)
        if columns > width:
            break
        end += len(cluster)
    return text[:end], text[end:]


def _find_end(text: str, width: int) -> str:
    """The longest end of ``text`` within ``width`` columns."""
    if _NARROW.fullmatch(text):
        return text[max(len(text) - width, 0) :]
    from wcwidth import iter_graphemes

    clusters = list(iter_graphemes(text))
    while clusters and sum(map(measure_width, clusters)) > width:
        del clusters[0]
    return "".join(clusters)


def _break_words(text: str, room: int) -> Iterator[tuple[str, str]]:
    """Words with the blank before them; a word wider than ``room`` columns comes in pieces."""
    for word in filter(None, re.split("[ \t\n]+", text)):  # not at a no-break space
        glue, rest = " ", word
        while measure_width(rest) > room:
            piece = _split_at(rest, room)[0] or rest[0]
            piece = piece[: piece.rfind(",") + 1] or piece
            yield glue, piece
            glue, rest = "", rest[len(piece) :]
        if rest:
            yield glue, rest
