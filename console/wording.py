"""Owns words and signs for states, levels and quantities; screen and reports share them. No colours."""

from dataclasses import dataclass

from console.plain import plain, plain_lines
from console.view import State
from probes.judging.verdict import Verdict
from probes.model import Fact
from topology.analysis.finding import Severity
from topology.units import Shown, Unit, digits3, show
from topology.units import counted as count


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

SEVERITIES: dict[Severity, Sign] = {
    Severity.ERROR: Sign("■", "E", "error"),
    Severity.WARNING: Sign("□", "W", "warning"),
    Severity.NOTE: Sign("▫", "N", "note"),
}
"""How findings about a description look; none of these signs is that of a verdict."""

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


def quantity(value: float | None, unit: Unit | None, shown: Shown = Shown.PLAIN) -> str:
    """A value with its unit, or the sign for not measured."""
    if value is None:
        return NOT_MEASURED
    return digits3(value) if unit is None else show(value, unit, shown)


def fact_value(fact: Fact) -> str:
    """What a node told, for people: memory in IEC, ports in bits, disks in SI, counts in full."""
    if isinstance(fact.value, str):
        return plain(fact.value)
    if fact.unit in (None, Unit.ONE) or fact.fact.endswith(".mtu"):
        return f"{fact.value:,.15g}"
    return quantity(fact.value, fact.unit, _shown(fact))


def _shown(fact: Fact) -> Shown:
    if fact.unit is Unit.BYTE_RATE:
        return Shown.NETWORK
    if fact.unit is Unit.PER_SECOND:
        return Shown.TRANSFERS if fact.fact.startswith("memory.") else Shown.FREQUENCY
    return Shown.MEMORY if fact.fact.startswith(("memory.", "numa.")) else Shown.PLAIN


def measured(verdict: Verdict) -> str:
    """What was measured, in words or as a number."""
    return plain(verdict.text) if verdict.value is None else quantity(verdict.value, verdict.unit, verdict.shown)


def expected(verdict: Verdict) -> str:
    """What was expected, in words or as a number."""
    if verdict.expected is None:
        return verdict.expected_text or NOT_MEASURED
    return quantity(verdict.expected, verdict.unit, verdict.shown)


def in_ascii(text: str) -> str:
    """``text`` for a terminal or file that takes ASCII only: our signs by their likes, anything else as ``?``."""
    return "".join(letter if letter.isascii() else "?" for letter in text.translate(ASCII_OF))


__all__ = [
    "ASCII_OF", "NOT_APPLICABLE", "NOT_MEASURED", "SEVERITIES", "SIGNS", "Sign", "count", "expected", "fact_value",
    "in_ascii", "measured", "plain", "plain_lines", "quantity",
]  # fmt: skip
