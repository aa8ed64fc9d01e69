"""The labels of a measurement: those of its parser, and those of its test.

A reading whose label contradicts an option of its test is an error: a tool that did something else gives
no measurement of the point that was asked for.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Labels, Reading, Target
from benchconsole.topology.model.sweep import CLIENTS, are_alike, parse_number
from benchconsole.topology.units import Unit, parse

ASKED = "asked "
"""Before the name of what was asked for in other words than the parser has for it."""

OWN = "own "
"""Before the name of a parser's label that is something else than a label of its test has that name for."""

CHOSEN = frozenset(("ioengine",))
"""Labels of what a tool, or its probe, chose by itself for the options that it was given."""

TYPED = "typed"
"""The label of numbers that a person typed from a document: TYPED_VALUE, or what they stand for."""

TYPED_VALUE = "by hand"


class TypedStatistic(NamedTuple):
    """A statistic of ``number`` values, as it was typed.

    ``error`` is the standard error of a mean, ``deviation`` the standard deviation of its values, both as text with
    their unit; empty where they were not typed.
    """

    statistic: str
    number: int
    error: str = ""
    deviation: str = ""

    def find_error(self, unit: Unit) -> float | None:
        """The standard error in the base ``unit``; None where nothing was typed of it. UnitError for another unit."""
        if self.error:
            return parse(self.error, unit)
        return parse(self.deviation, unit) / math.sqrt(self.number) if self.deviation else None


_STATISTIC = re.compile(r"(\w+) of (\d+)(?: ± (.+)|, deviation (.+))?")


def name_typed(typed: TypedStatistic) -> str:
    """``mean of 320``, ``mean of 21 ± 0.06 MB/s`` or ``mean of 21, deviation 0.27 MB/s``."""
    spread = f" ± {typed.error}" if typed.error else f", deviation {typed.deviation}" if typed.deviation else ""
    return f"{typed.statistic} of {typed.number}{spread}"


def read_typed(labels: Labels) -> TypedStatistic | None:
    """The statistic that a typed number is; None of a value by itself."""
    found = _STATISTIC.fullmatch(dict(labels).get(TYPED, ""))
    return TypedStatistic(found[1], int(found[2]), found[3] or "", found[4] or "") if found else None


def add_labels(reading: Reading, target: Target) -> Reading:
    """``reading`` with the labels of its target besides its own.

    A label that the parser gives itself stays as it is where it says the same. Where both are words and differ,
    what was asked for stands beside it (``asked pattern``). What the tool was not told (cohorts, how many nodes
    run at once) keeps its name, and the parser's label gets another (``own clients``). ProbeOutputError where
    the parser says another number than the tool was told.
    """
    return replace(reading, labels=_join_labels(reading, target)) if target.labels else reading


def tell_labels(labels: Labels) -> Iterator[str]:
    """Each label in a sentence: by its value alone where that is a word, with its name where it looks like a number."""
    for name, value in labels:
        yield f"{name}={value}" if value[:1].isdigit() else value


def _join_labels(reading: Reading, target: Target) -> Labels:
    found = dict(reading.labels)
    for name, asked in target.labels:
        said = found.get(name)
        alike = True if said is None else _compare(said, asked)
        was_told = name in target.options or (name == CLIENTS and bool(target.members))  # or the size of a set
        if said is None:
            found[name] = asked
        elif not alike and not was_told:
            found[name] = asked
            found[OWN + name] = said
        elif alike is False:
            raise ProbeOutputError(f"{reading.metric} with {name}={said}", f"{name}={asked}, which the tool was told")
        elif not alike:
            found[ASKED + name] = asked
    return tuple(sorted(found.items()))


def _compare(said: str, asked: str) -> bool | None:
    """Whether two texts say the same; None where one of them is a word, so that they may mean the same."""
    if said.strip().casefold() == asked.strip().casefold():
        return True
    one, other = parse_number(said), parse_number(asked)
    if one is None or other is None:
        return None
    if None not in (one[1], other[1]) and one[1] is not other[1]:
        return False
    return are_alike(said, one[0], other[0])
