"""Sweeps as a file describes them: axes with their values, repetitions, order, and the rule that ends one early.

Frozen and already checked (``topology.description.declarations`` does that).
"""

import math
import re
from enum import StrEnum
from typing import TypeVar

from msgspec import Struct

from benchconsole.topology.units import Unit, UnitError, parse_any

_ALIKE = 1e-6
_ROUNDED = re.compile(r"[0-9]+\.[0-9]{1,2}([MGT])iB")
_HALF_A_STEP = {prefix: 0.005001 * 1024.0**power for power, prefix in enumerate("MGT", start=2)}
"""Bytes, by the prefix of a size with two decimals."""

CLIENTS = "clients"
"""The axis of the planner's own: how many nodes, or flows, run at once."""

MOST_POINTS = 1_000
"""Points of one sweep; repetitions do not count."""

Value = str | int | float


class Order(StrEnum):
    """In which order the points of a sweep are run; ``SHUFFLED`` anew for each repetition."""

    UP = "up"
    DOWN = "down"
    SHUFFLED = "shuffled"


class Axis(Struct, frozen=True):
    """An option and its values, each once; from small to large where they can be measured."""

    name: str
    values: tuple[Value, ...]


class Ending(Struct, frozen=True):
    """When a sweep ends before its last point.

    ``gain``: the share that ``metric`` (empty: the probe's first throughput) must win over ``after``
    consecutive larger points; None for no such rule. ``on_failure``: a test that failed ends it.
    """

    gain: float | None = None
    after: int = 1
    metric: str = ""
    on_failure: bool = False


VALUE = "{value}"
"""Stands for the value of the axis in the command of a step."""


class Step(Struct, frozen=True):
    """Commands that set the value of ``axis`` on ``nodes`` between the points of a sweep, and set it back afterwards.

    ``run`` (with ``VALUE`` in it) and ``undo`` are argument lists; with ``sudo`` they run as the administrator.
    ``timeout`` is seconds for each node.
    """

    axis: str
    run: tuple[str, ...]
    undo: tuple[str, ...]
    nodes: tuple[str, ...]
    sudo: bool = False
    timeout: float = 60.0

    def make_command(self, value: Value) -> tuple[str, ...]:
        """``run`` for one value."""
        return tuple(word.replace(VALUE, str(value)) for word in self.run)


class Sweep(Struct, frozen=True):
    """The product of ``axes``, the last one varying first; one point without any. ``seed`` is that of ``SHUFFLED``.

    The axes of ``steps`` are no options of the probe: their values are set on nodes.
    """

    axes: tuple[Axis, ...] = ()
    repeat: int = 1
    order: Order = Order.UP
    seed: int = 1
    ending: Ending | None = None
    steps: tuple[Step, ...] = ()

    @property
    def points(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes)


def parse_number(value: Value) -> tuple[float, Unit | None] | None:
    """A value as a number, in base units where it names one (None: a bare number); None for any other text."""
    if isinstance(value, int | float):
        return float(value), None
    try:
        number = float(value)
    except ValueError:
        pass
    else:
        return (number, None) if math.isfinite(number) else None
    try:
        return parse_any(value)
    except UnitError:
        return None


def are_alike(label: str, number: float, other: float) -> bool:
    """Whether the ``number`` that a ``label`` says, in base units, can be the ``other``.

    Tools and parsers write sizes from 1 MiB on with two decimals (``95.37MiB`` for 100 MB): it may be half a step off.
    """
    rounded = _ROUNDED.fullmatch(label)
    return math.isclose(number, other, rel_tol=_ALIKE, abs_tol=_HALF_A_STEP[rounded[1]] if rounded else 0.0)


V = TypeVar("V", bound=Value)


def sort_values(values: tuple[V, ...]) -> tuple[V, ...] | None:
    """``values`` from small to large; None where they are not numbers of one unit."""
    numbers = [parse_number(value) for value in values]
    if len({number[1] for number in numbers if number is not None}) != 1 or None in numbers:
        return None
    order = sorted(range(len(values)), key=lambda index: numbers[index] or (0.0, None))
    return tuple(values[index] for index in order)
