"""Owns how the severity of a static finding looks: a sign, a word and a tone, none of them that of a verdict."""

from collections import Counter
from collections.abc import Iterable

from console.tui.drawing import FAIL, MUTED, WATCH, Piece, Row
from console.tui.themes import Tone
from console.wording import SEVERITIES, count
from topology.analysis.finding import Finding, Severity

_TONES: dict[Severity, Tone] = {Severity.ERROR: FAIL, Severity.WARNING: WATCH, Severity.NOTE: MUTED}


def tone(severity: Severity) -> Tone:
    """How its sign and word look."""
    return _TONES[severity]


def sign(severity: Severity) -> Piece:
    """Its glyph."""
    return Piece(SEVERITIES[severity].glyph, _TONES[severity])


def tally(found: Iterable[Finding]) -> dict[Severity, int]:
    """Findings by severity, worst first; only what occurs."""
    counts = Counter(each.severity for each in found)
    return {severity: counts[severity] for severity in Severity if counts[severity]}


def in_words(found: Iterable[Finding]) -> str:
    """``2 errors, 5 warnings, 1 note``; ``nothing stands out``."""
    words = [count(number, SEVERITIES[severity].word) for severity, number in tally(found).items()]
    return ", ".join(words) or "nothing stands out"


def in_signs(found: Iterable[Finding]) -> Row:
    """The same with signs before the words."""
    made: list[Piece] = []
    for severity, number in tally(found).items():
        made += [sign(severity), Piece(f" {count(number, SEVERITIES[severity].word)}  ", MUTED)]
    return tuple(made)
