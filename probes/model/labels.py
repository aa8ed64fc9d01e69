"""The labels of a measurement: those of its parser, and those of its test.

A reading whose label contradicts an option of its test is an error: a tool that did something else gives
no measurement of the point that was asked for.
"""

import math
import re
from collections.abc import Iterator
from functools import lru_cache
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


_SHARED = 4096
"""Sets of labels of which each is kept once: more than the tests of a session have."""


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


def add_labels(reading: Reading, target: Target, conditions: Labels = ()) -> Reading:
    """``reading`` with the labels of its target, and those of ``conditions`` that it has not itself, besides its own.

    A label that the parser gives itself stays as it is where it says the same. Where both are words and differ,
    what was asked for stands beside it (``asked pattern``). A label that the tool was not told (cohorts, how many nodes
    run at once) keeps its name, and the parser's label gets another (``own clients``). ProbeOutputError where
    the parser says another number than the tool was told.
    """
    own = reading.labels
    if conditions:
        own = _share_labels(tuple(sorted({**dict(conditions), **dict(own)}.items())))
    told = tuple(name for name, _ in target.labels if _was_told(target, name))
    try:
        found = _join_labels(own, target.labels, told)
    except _ContradictionError as error:
        name, said, asked = error.args
        raise ProbeOutputError(
            f"{reading.metric} with {name}={said}", f"{name}={asked}, which the tool was told"
        ) from None
    return Reading(reading.metric, reading.value, reading.unit, found, reading.raw, reading.id, reading.at)


def tell_labels(labels: Labels) -> Iterator[str]:
    """Each label in a sentence: by its value alone where that is a word, with its name where it looks like a number."""
    for name, value in labels:
        yield f"{name}={value}" if value[:1].isdigit() else value


class _ContradictionError(Exception):
    """A label, and two numbers that it has: the parser's, and the one that the tool was told."""


def _was_told(target: Target, name: str) -> bool:
    """Whether the tool of a test is told the value of a label: an option, or the size of a set."""
    return name in target.options or (name == CLIENTS and bool(target.members))


@lru_cache(maxsize=_SHARED)
def _share_labels(labels: Labels) -> Labels:
    """``labels``, the same object for all that are equal: thousands of readings have the same."""
    return labels


@lru_cache(maxsize=_SHARED)
def _join_labels(own: Labels, asked: Labels, told: tuple[str, ...]) -> Labels:
    """Labels of a parser with those that were ``asked``, of which the tool was ``told`` some; sorted, and shared."""
    found = dict(own)
    for name, value in asked:
        said = found.get(name)
        alike = True if said is None else _compare(said, value)
        if said is None:
            found[name] = value
        elif not alike and name not in told:
            found[name] = value
            found[OWN + name] = said
        elif alike is False:
            raise _ContradictionError(name, said, value)
        elif not alike:
            found[ASKED + name] = value
    return _share_labels(tuple(sorted(found.items())))


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
