"""Owns what a measurement is labelled with: what its parser says of it, and what its test was asked for.

Refuses a reading whose label contradicts what its tool was told: a tool that did something else gives
no measurement of the point that was asked for.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from probes.errors import ProbeOutputError
from probes.model import Labels, Reading, Target
from topology.sweep import CLIENTS, measured

ASKED = "asked "
"""Before the name of what was asked for in other words than the parser has for it."""

OWN = "own "
"""Before the name of a parser's label that is something else than a label of its test has that name for."""

_ALIKE = 1e-6


def labelled(readings: Sequence[Reading], target: Target) -> tuple[Reading, ...]:
    """``readings`` with the labels of their target besides their own.

    A label that the parser gives itself stays as it is where it says the same. Where both are words and differ,
    what was asked for stands beside it (``asked pattern``). What the tool was not told (cohorts, how many nodes
    run at once) keeps its name, and the parser's label gets another (``own clients``). ProbeOutputError where
    the parser says another number than the tool was told.
    """
    if not target.labels:
        return tuple(readings)
    return tuple(replace(reading, labels=_joined(reading, target)) for reading in readings)


def _joined(reading: Reading, target: Target) -> Labels:
    found = dict(reading.labels)
    for name, asked in target.labels:
        said = found.get(name)
        alike = True if said is None else _same(said, asked)
        if said is None or (not alike and not _told(target, name)):
            found[name] = asked
        if said is not None and not alike:
            found.update(_differing(reading, target, name, (said, asked), certain=alike is False))
    return tuple(sorted(found.items()))


def _differing(reading: Reading, target: Target, name: str, both: tuple[str, str], *, certain: bool) -> dict[str, str]:
    """What stands beside a label of which the parser says one thing and the test another."""
    said, asked = both
    if not _told(target, name):
        return {OWN + name: said}
    if certain:
        raise ProbeOutputError(f"{reading.metric} with {name}={said}", f"{name}={asked}, which the tool was told")
    return {ASKED + name: asked}


def _told(target: Target, name: str) -> bool:
    """Whether the tool was told this: an option, or the size of a set."""
    return name in target.options or (name == CLIENTS and bool(target.members))


def _same(said: str, asked: str) -> bool | None:
    """Whether two texts say the same; None where one of them is a word, so that they may mean the same."""
    if said.strip().casefold() == asked.strip().casefold():
        return True
    one, other = measured(said), measured(asked)
    if one is None or other is None:
        return None
    if None not in (one[1], other[1]) and one[1] is not other[1]:
        return False
    return math.isclose(one[0], other[0], rel_tol=_ALIKE)
