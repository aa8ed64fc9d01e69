"""Owns how a source's words become facts: what says nothing is left out, text is one clean line."""

from collections.abc import Iterable

from probes.api import Fact, Labels, ProbeOutputError, Unit, UnitError, labels, parse
from probes.builtin.captured import one_line, whole

_SAYS_NOTHING = frozenset(
    (
        "", "-", "n/a", "na", "none", "null", "unknown", "unknown!", "not specified", "not available", "default string",
        "to be filled by o.e.m.", "to be filled by oem", "system product name", "system manufacturer", "other",
    )
)  # fmt: skip


def said(name: str, value: object, marks: Labels = ()) -> list[Fact]:
    """A text fact, or nothing when ``value`` is one of the ways of not saying anything."""
    text = one_line(value) if isinstance(value, str) else ""
    return [] if text.lower() in _SAYS_NOTHING else [Fact(name, text, None, marks)]


def counted(name: str, value: object, marks: Labels = ()) -> list[Fact]:
    """A count from text or a JSON number, or nothing when it is not a whole number."""
    number = whole(str(value)) if not isinstance(value, bool) else None
    return [] if number is None else [Fact(name, float(number), Unit.ONE, marks)]


def measured(name: str, text: str, unit: Unit, marks: Labels = ()) -> list[Fact]:
    """A quantity written with its unit as ``topology.units`` reads it, or nothing when it cannot be read."""
    try:
        return [Fact(name, parse(text, unit), unit, marks)]
    except UnitError:
        return []


def on(kind: str, name: object) -> Labels:
    """The label that says which of several parts a fact is about."""
    return labels(**{kind: one_line(str(name), 60)})


def some(found: Iterable[Fact], expected: str) -> tuple[Fact, ...]:
    """The facts, or ProbeOutputError when there are none."""
    facts = tuple(found)
    if not facts:
        raise ProbeOutputError("nothing that could be read", expected)
    return facts
