"""Numbers of the intervals of a running test, and the outputs that they are read from while its commands run.

An interval number is shown while its test runs. It is never a measurement: nothing stores or judges it.
"""

import weakref
from contextvars import ContextVar
from typing import Protocol

from msgspec import Struct

from benchconsole.probes.model.measuring import Labels
from benchconsole.topology.units import Unit


class Interval(Struct, frozen=True):
    """The number that a tool told of one interval of a test that still runs.

    ``metric`` is the declared metric whose readings come when the test has ended, ``unit`` its base unit.
    ``until`` is seconds from the start of the tool's run to the end of the interval, ``seconds`` how long it was.
    ``labels`` tell one number of a test from another (``direction=in``).
    """

    metric: str
    value: float
    unit: Unit
    until: float
    seconds: float
    labels: Labels = ()


class GrowingOutput(Protocol):
    """One stream of a command that may still run."""

    def read_from(self, place: int, most: int) -> tuple[bytes, int]:
        """At most ``most`` bytes, the newest of those from ``place`` on, and the place behind them."""


class RunningOutputs:
    """The streams of the commands of one test. A stream that nobody else holds any more is forgotten."""

    def __init__(self) -> None:
        self._fresh: list[weakref.ref[GrowingOutput]] = []

    def add(self, *streams: GrowingOutput) -> None:
        self._fresh += map(weakref.ref, streams)

    def take_fresh(self) -> "list[weakref.ref[GrowingOutput]]":
        """The streams that were added since the last time."""
        fresh, self._fresh = self._fresh, []
        return fresh


current_outputs: ContextVar[RunningOutputs | None] = ContextVar("current_outputs", default=None)
"""Where commands that are started for the running test leave their streams; None where nobody reads them."""
