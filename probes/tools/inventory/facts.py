"""Facts of the words of a source: no fact of words that say nothing, and text as one clean line.

Every function that begins with ``make`` gives a list, which is empty where there is no such fact.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from benchconsole.probes.api import Fact, Labels, Unit, UnitError, parse
from benchconsole.probes.readers.documents import Document, read_array, read_mapping
from benchconsole.probes.readers.lines import shorten, split_fields
from benchconsole.probes.readers.numbers import ABSURD, parse_count, parse_decimal
from benchconsole.probes.readers.readings import add_labels

_SAYS_NOTHING = frozenset(
    (
        "", "-", "n/a", "na", "none", "null", "unknown", "unknown!", "not specified", "not available", "default string",
        "to be filled by o.e.m.", "to be filled by oem", "system product name", "system manufacturer", "other",
        "[removed]", "<bad index>", "<out of spec>",
    )
)  # fmt: skip


_SHARED = 4096
"""Facts of which each is kept once for all nodes: what machines of several kinds say alike."""


def make_text(name: str, value: object, marks: Labels = ()) -> list[Fact]:
    """A text fact; none when ``value`` is one of the ways of not saying anything."""
    text = shorten(value) if isinstance(value, str) else ""
    return [] if text.lower() in _SAYS_NOTHING else [Fact(name, text, None, marks)]


def make_texts(names: Mapping[str, str], fields: Mapping[str, object], marks: Labels = ()) -> list[Fact]:
    """A text fact of each field that has a name in ``names``."""
    return [fact for key, name in names.items() for fact in make_text(name, fields.get(key), marks)]


def make_count(name: str, value: object, marks: Labels = ()) -> list[Fact]:
    """A count from text or a JSON number; none when it is not a whole number."""
    number = parse_count(str(value)) if not isinstance(value, bool) else None
    return [] if number is None else [Fact(name, float(number), Unit.ONE, marks)]


def make_quantity(name: str, text: str, unit: Unit, marks: Labels = ()) -> list[Fact]:
    """A quantity written with its unit as ``topology.units`` reads it; none when it cannot be read."""
    try:
        return [Fact(name, parse(text, unit), unit, marks)]
    except UnitError:
        return []


def make_size(name: str, size: float, marks: Labels = ()) -> list[Fact]:
    """A size in bytes; none of 0, which says that it is not known."""
    return [Fact(name, float(size), Unit.BYTE, marks)] if size > 0 else []


def make_measure(name: str, number: str, unit: str, marks: Labels = ()) -> list[Fact]:
    """A number as text with its unit behind it (``23 degrees C``), for what has no base unit here."""
    value = parse_decimal(number)
    return [] if value is None or not unit or abs(value) >= ABSURD else [Fact(name, f"{value:g} {unit}", None, marks)]


def label_part(kind: str, name: object, marks: Labels = ()) -> Labels:
    """``marks`` with the label that says which of several parts a fact is about."""
    return add_labels(marks, **{kind: shorten(str(name), 60)})


def scale_binary(number: str, letter: str) -> float:
    """``number`` in units of 1024 to the power that ``letter`` says (K, M, G, T, P, or none)."""
    return float(number) * 1024.0 ** " KMGTP".index(letter.upper() or " ")


def share_fact(fact: Fact) -> Fact:
    """``fact`` as the same object for all nodes that say the same, while it is remembered."""
    return (
        _share_equal(fact) if isinstance(fact.value, (str, float)) else fact
    )  # a whole number is equal to another kind


@lru_cache(maxsize=_SHARED)
def _share_equal(fact: Fact) -> Fact:
    return fact


def keep_first(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Of the facts of one name and part the first: a heading that was lost must not give its part to another."""
    first: dict[tuple[str, Labels], Fact] = {}
    for fact in facts:
        first.setdefault((fact.fact, fact.labels), fact)
    return tuple(first.values())


def keep_whole_lines(lines: Sequence[str], own: re.Pattern[str], heads: re.Pattern[str] | None = None) -> list[str]:
    """The lines that ``own`` matches, but not one with a foreign line right behind it.

    For lines that end in a bare number: where a job was ended in the middle of one, and
    something else went on behind it, the number's end cannot be told from its middle. Lines in which
    ``heads`` is found stay whatever follows: without its heading a part would go to another.
    """
    is_head = [heads is not None and heads.search(line) is not None for line in lines]
    is_own = [own.match(line) is not None for line in lines]
    goes_on = [not line.strip() or ours or head for line, ours, head in zip(lines, is_own, is_head, strict=True)]
    rows = zip(lines, is_own, is_head, [*goes_on, True][1:], strict=True)
    return [line for line, ours, head, follows in rows if head or (ours and follows)]


def read_first_fields(lines: Iterable[str]) -> dict[str, str]:
    """Of ``key: value`` lines the first value of each key."""
    first: dict[str, str] = {}
    for key, value in split_fields(lines):
        first.setdefault(key, value)
    return first


def read_whole_fields(lines: Sequence[str], own: re.Pattern[str]) -> dict[str, str]:
    """``read_first_fields`` of the keys whose first line is one of ``keep_whole_lines``."""
    trusted = set(split_fields(keep_whole_lines(lines, own)))
    return {key: value for key, value in read_first_fields(lines).items() if (key, value) in trusted}


def walk_tree(entries: Sequence[object]) -> Iterator[Document]:
    """The JSON objects of ``entries`` with all their ``children``, each before its own."""
    waiting = list(reversed(entries))
    while waiting:
        entry = read_mapping(waiting.pop())
        yield entry
        waiting.extend(reversed(read_array(entry.get("children"))))
