"""Owns how a source's words become facts: what says nothing is left out, text is one clean line.

Owns as well what all readers of lines agree on: which lines can be trusted, and that of two
lines that say the same thing of the same part the first counts. Refuses to know any one source.
"""

import re
from collections.abc import Iterable, Sequence

from probes.api import Fact, Labels, ProbeOutputError, Unit, UnitError, labels, parse
from probes.builtin.captured import ABSURD, decimal, fields, one_line, whole

_SAYS_NOTHING = frozenset(
    (
        "", "-", "n/a", "na", "none", "null", "unknown", "unknown!", "not specified", "not available", "default string",
        "to be filled by o.e.m.", "to be filled by oem", "system product name", "system manufacturer", "other",
        "[removed]", "<bad index>", "<out of spec>",
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


def worded(name: str, number: str, unit: str, marks: Labels = ()) -> list[Fact]:
    """A number as text with its unit behind it (``23 degrees C``), for what has no base unit here; or nothing."""
    value = decimal(number)
    return [] if value is None or not unit or abs(value) >= ABSURD else [Fact(name, f"{value:g} {unit}", None, marks)]


def once(found: Iterable[Fact]) -> list[Fact]:
    """Of the facts of one name and part the first: a heading that was lost must not give its part to another."""
    first: dict[tuple[str, Labels], Fact] = {}
    for fact in found:
        first.setdefault((fact.fact, fact.labels), fact)
    return list(first.values())


def settled(lines: Sequence[str], own: re.Pattern[str], heads: re.Pattern[str] | None = None) -> list[str]:
    """The lines that ``own`` matches, but not one with a foreign line right behind it.

    For lines that end in a bare number: where a job was ended in the middle of one, and
    something else went on behind it, the number's end cannot be told from its middle. Lines in which
    ``heads`` is found stay whatever follows: without its heading a part would go to another.
    """

    def is_head(line: str) -> bool:
        return heads is not None and heads.search(line) is not None

    def goes_on(line: str) -> bool:
        return not line.strip() or own.match(line) is not None or is_head(line)

    pairs = zip(lines, [*lines, ""][1:], strict=True)
    return [line for line, follows in pairs if is_head(line) or (own.match(line) and goes_on(follows))]


def firsts(lines: Sequence[str], own: re.Pattern[str]) -> dict[str, str]:
    """Of ``key: value`` lines the first value of each key, where that line is one of the ``settled``."""
    first: dict[str, str] = {}
    for key, value in fields(lines):
        first.setdefault(key, value)
    trusted = set(fields(settled(lines, own)))
    return {key: value for key, value in first.items() if (key, value) in trusted}


def some(found: Iterable[Fact], expected: str) -> tuple[Fact, ...]:
    """The facts, or ProbeOutputError when there are none."""
    facts = tuple(found)
    if not facts:
        raise ProbeOutputError("nothing that could be read", expected)
    return facts
