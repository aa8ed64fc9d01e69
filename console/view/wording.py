"""Words and signs for states, levels and quantities, shared by screens and reports. No colours."""

import math
from datetime import UTC, datetime

from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.run_view import State
from benchconsole.console.view.severity_signs import Sign
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.load import COUNTS, is_load
from benchconsole.probes.model.measuring import Fact
from benchconsole.topology.units import Shown, Unit, counted, digits3, percent, show


def tell_reading(reading: tuple[int, int]) -> tuple[str, str]:
    """That a session is ``being read:``, and how far: `` 12 of 60 rounds.``; one that has no round is only opened."""
    read, of = reading
    return ("being read:", f" {read:,} of {counted(of, 'round')}.") if of else ("being opened.", "")


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

NOT_MEASURED = "–"


def name_state(state: State, *, was_asked: bool) -> str:
    """The word of a state; a node or link that no test has been at is untested, not skipped."""
    return "untested" if state is State.SKIPPED and not was_asked else SIGNS[state].word


def format_quantity(value: float | None, unit: Unit | None, shown: Shown = Shown.PLAIN) -> str:
    """A value with its unit, or the sign for not measured; ``?`` where a tool gave no finite number."""
    if value is None:
        return NOT_MEASURED
    if not math.isfinite(value):
        return "?"
    return digits3(value) if unit is None else show(value, unit, shown)


def format_moment(at: float | None) -> str:
    """A moment in UTC to the second, or the sign for nothing."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC") if at else NOT_MEASURED


def format_played(seconds: float) -> str:
    """Seconds since a beginning, as a replay counts them: ``3:12``, ``1:03:12``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def format_fact(fact: Fact) -> str:
    """A fact of a node, for people: memory in IEC, ports in bits, disks in SI, counts in full."""
    if isinstance(fact.value, str):
        return sanitize(fact.value)
    if is_load(fact):
        return _format_load(fact.fact, fact.value, fact.unit)
    if fact.unit in (None, Unit.ONE) or fact.fact.endswith(".mtu"):
        return f"{fact.value:,.15g}"
    shown = Shown.MEMORY if fact.fact.startswith(("memory.", "numa.")) else Shown.PLAIN
    if fact.unit is Unit.BYTE_RATE:
        shown = Shown.NETWORK
    elif fact.unit is Unit.PER_SECOND:
        shown = Shown.TRANSFERS if fact.fact.startswith("memory.") else Shown.FREQUENCY
    return format_quantity(fact.value, fact.unit, shown)


def _format_load(name: str, value: float, unit: Unit | None) -> str:
    """Rates of disks in bytes, of NICs in bits; what is counted in full, shares in percent."""
    if unit is Unit.PER_SECOND:
        return f"{value:,.0f}/s"
    if unit is Unit.ONE:
        return f"{value:,.0f}" if name in COUNTS else percent(value)
    shown = {Unit.BYTE: Shown.MEMORY, Unit.BYTE_RATE: Shown.STORAGE}.get(unit or Unit.ONE, Shown.PLAIN)
    return format_quantity(value, unit, Shown.NETWORK if name.startswith("load.nic.") else shown)


def format_measured(verdict: Verdict) -> str:
    """The measured value, in words or as a number."""
    return (
        sanitize(verdict.text) if verdict.value is None else format_quantity(verdict.value, verdict.unit, verdict.shown)
    )


def format_expected(verdict: Verdict) -> str:
    """The expected value, in words or as a number."""
    if verdict.expected is None:
        return sanitize(verdict.expected_text) or NOT_MEASURED
    return format_quantity(verdict.expected, verdict.unit, verdict.shown)


def format_share(share: float | None) -> str:
    """A share in percent, or the sign for not measured."""
    return NOT_MEASURED if share is None or not math.isfinite(share) else percent(share)
