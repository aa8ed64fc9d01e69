"""Verdicts to rows and back, both directions side by side; as ``store.codec.rows``."""

import math
from collections.abc import Sequence
from sys import intern
from typing import Any, NamedTuple

from benchconsole.probes.model.judgement import Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Labels, Test
from benchconsole.store.codec.rows import clean_labels
from benchconsole.store.codec.values import (
    dump_strings,
    members_by_value,
    name_column,
    parse_strings,
    replace_surrogates,
    require_finite,
)
from benchconsole.topology.units import Shown, Unit

_make = tuple.__new__
"""Makes a verdict of as many values as it has fields, in a fifth of the time of its own constructor."""

_LEVELS, _UNITS = members_by_value(Level), members_by_value(Unit)
_SHOWN, _YARDSTICKS = members_by_value(Shown), members_by_value(Yardstick)


class VerdictRow(NamedTuple):
    """A verdict without its metric and labels, which have tables of their own."""

    test: str
    probe: str
    subject: str
    nodes: str
    level: str
    kind: str
    because: str
    shown: str
    value: float | None
    expected: float | None
    required: float | None
    least: float | None
    text: str
    expected_text: str
    source: str
    limiting: str
    evidence: str


class NamedVerdictRow(NamedTuple):
    """A verdict before its metric and labels have numbers. ``unit`` is empty where it is about words."""

    metric: str
    unit: str
    labels: Labels
    verdict: VerdictRow


def make_verdict_row(verdict: Verdict) -> NamedVerdictRow:
    """The row of a verdict; RefusedError for a number that cannot be kept."""
    row = VerdictRow(
        replace_surrogates(verdict.test),
        replace_surrogates(verdict.probe),
        replace_surrogates(verdict.subject),
        dump_strings(verdict.nodes),
        verdict.level.value,
        verdict.kind.value,
        replace_surrogates(verdict.because),
        verdict.shown.value,
        _require_kept(verdict.value, "value", verdict),
        _require_kept(verdict.expected, "expected", verdict),
        _require_kept(verdict.required, "required", verdict),
        _require_kept(verdict.least, "least", verdict),
        replace_surrogates(verdict.text),
        replace_surrogates(verdict.expected_text),
        replace_surrogates(verdict.source),
        replace_surrogates(verdict.limiting),
        dump_strings(verdict.evidence),
    )
    unit = verdict.unit.value if verdict.unit else ""
    return NamedVerdictRow(replace_surrogates(verdict.metric), unit, clean_labels(verdict.labels), row)


def _require_kept(number: float | None, column: str, verdict: Verdict) -> float | None:
    if number is None or (type(number) is float and math.isfinite(number)):
        return number
    return require_finite(number, name_column(column), f"{verdict.metric} of {verdict.subject}")


class VerdictParser:
    """Reads the verdicts of the round ``number``. Equal values of several of them are one object: they fill the memory.

    ``tests`` are the tests of the round: their names and those of their nodes are shared, too.
    """

    def __init__(self, number: int, tests: Sequence[Test] = ()) -> None:
        self._round = number
        self._texts = {name: name for test in tests for name in (test.id, *(node.id for node in test.target.nodes))}
        self._numbers: dict[float | None, float | None] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def parse(self, row: NamedVerdictRow) -> Verdict:
        """The verdict of a row."""
        return self.parse_columns((row.metric, row.unit), row.labels, row.verdict)

    def parse_columns(self, metric: tuple[str, str], labels: Labels, columns: Sequence[Any]) -> Verdict:
        """The verdict of ``columns``, those of a ``VerdictRow``; ``metric`` is its name and its unit, or no unit."""
        test, probe, subject, nodes, level, kind, because, shown, value, expected, required, least, *words = columns
        text, expected_text, source, limiting, evidence = words
        share, number = self._texts.setdefault, self._numbers.setdefault
        name, unit = metric
        return _make(Verdict, (
            share(test, test), self._round, intern(probe), share(subject, subject),
            self._names.get(nodes) or self._parse_names(nodes), name,
            labels, _LEVELS[level], _YARDSTICKS[kind], intern(because), _UNITS[unit] if unit else None, _SHOWN[shown],
            number(value, value), number(expected, expected), number(required, required), number(least, least),
            text, expected_text, intern(source), share(limiting, limiting),
            self._names.get(evidence) or self._parse_names(evidence),
        ))  # fmt: skip

    def _parse_names(self, value: str) -> tuple[str, ...]:
        names = parse_strings(value)
        found = self._names[value] = tuple(map(self._texts.setdefault, names, names))
        return found
