"""Owns words and signs for states, levels and quantities; screen and reports share them. No colours."""

import re
import unicodedata
from dataclasses import dataclass

from console.view import State
from probes.judging.verdict import Verdict
from topology.units import Shown, Unit, digits3, show


@dataclass(frozen=True, slots=True)
class Sign:
    """One state as a glyph of one cell, as ASCII, and as the word used in tables."""

    glyph: str
    ascii: str
    word: str


SIGNS: dict[State, Sign] = {
    State.FAIL: Sign("✗", "X", "fail"),
    State.UNREACHABLE: Sign("∅", "U", "no ssh"),
    State.WATCH: Sign("▲", "!", "watch"),
    State.UNKNOWN: Sign("?", "?", "unknown"),
    State.AFFECTED: Sign("▵", "~", "affected"),
    State.HELD: Sign("=", "=", "held"),
    State.RUNNING: Sign("▸", ">", "running"),
    State.MEASURED: Sign("○", "o", "measured"),
    State.SKIPPED: Sign("-", "-", "skipped"),
    State.PASS: Sign("·", ".", "pass"),
}

ASCII_OF = str.maketrans(
    {
        "━": "=", "╾": "=", "╼": "=", "─": "-", "┄": ".", "×": "x", "┼": "+", "┿": "+", "◆": "*", "│": "|",
        "▮": "#", "▯": "_", "◧": "%", "▌": ">", "›": ">", "→": ">", "◂": "<", "▾": "v", "·": ".", "…": ".",
        "✗": "X", "∅": "U", "▲": "!", "▵": "~", "▸": ">", "○": "o", "−": "-", "–": "-", "≥": ">", "≤": "<",
        "±": "~", "¹": "1", "²": "2", "³": "3", "µ": "u", "┌": ",", "├": "|", "└": "`", "▁": ".", "▂": ":",
        "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "#", "█": "@",
    }
)  # fmt: skip
"""Every sign that the screens draw, as one ASCII character of the same width."""

NOT_MEASURED = "–"
NOT_APPLICABLE = "n/a"


def plain(text: str) -> str:
    """Text from a node made safe to show anywhere: one line, nothing that a terminal acts on.

    C0 controls become control pictures (``␛``), DEL ``␡``; C1, bidirectional marks, other format
    characters, surrogates and private-use characters become ``\\u{85}``. The bytes stay as they
    were in the store.
    """
    return "".join(_plain_character(character) for character in text)


def _plain_character(character: str) -> str:
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"):
        return f"\\u{{{code:x}}}"
    return character


def plain_lines(text: str) -> list[str]:
    """``text`` as safe lines; tabs become spaces, CRLF ends a line."""
    return [plain(line.expandtabs(8)) for line in re.split(r"\r\n|\n", text)]


def quantity(value: float | None, unit: Unit | None, shown: Shown = Shown.PLAIN) -> str:
    """A value with its unit, or the sign for not measured."""
    if value is None:
        return NOT_MEASURED
    return digits3(value) if unit is None else show(value, unit, shown)


def measured(verdict: Verdict) -> str:
    """What was measured, in words or as a number."""
    return plain(verdict.text) if verdict.value is None else quantity(verdict.value, verdict.unit, verdict.shown)


def expected(verdict: Verdict) -> str:
    """What was expected, in words or as a number."""
    if verdict.expected is None:
        return verdict.expected_text or NOT_MEASURED
    return quantity(verdict.expected, verdict.unit, verdict.shown)


def count(number: int, noun: str) -> str:
    """``1 node``, ``1,024 nodes``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
