"""Severity of a static finding as sign, word and tone; none of them is that of a verdict."""

from collections import Counter
from collections.abc import Iterable

from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import FAIL, MUTED, WATCH, Tone
from benchconsole.console.view.severity_signs import SEVERITIES
from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.units import counted as count

_TONES: dict[Severity, Tone] = {Severity.ERROR: FAIL, Severity.WARNING: WATCH, Severity.NOTE: MUTED}


def tone(severity: Severity) -> Tone:
    """How its sign and word look."""
    return _TONES[severity]


def sign(severity: Severity) -> CellText:
    """Its glyph."""
    return CellText(SEVERITIES[severity].glyph, _TONES[severity])


def tally(found: Iterable[StaticFinding]) -> dict[Severity, int]:
    """Findings by severity, worst first; only what occurs."""
    counts = Counter(each.severity for each in found)
    return {severity: counts[severity] for severity in Severity if counts[severity]}


def format_severities(found: Iterable[StaticFinding]) -> str:
    """``2 errors, 5 warnings, 1 note``; ``nothing stands out``."""
    words = [count(number, SEVERITIES[severity].word) for severity, number in tally(found).items()]
    return ", ".join(words) or "nothing stands out"


def draw_severities(found: Iterable[StaticFinding]) -> Row:
    """The same with signs before the words."""
    made: list[CellText] = []
    for severity, number in tally(found).items():
        made += [sign(severity), CellText(f" {count(number, SEVERITIES[severity].word)}  ", MUTED)]
    return tuple(made)
