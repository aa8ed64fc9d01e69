"""Resolves ``sweep``, ``repeat``, ``order`` and ``stop`` of a stage: the points of its sweep.

Reports an axis that its probe does not have, a value that it would not run with, too many points, and a rule
that has nothing to compare.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.description.vocabulary import Vocabulary
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.sweep import CLIENTS, MOST_POINTS, Axis, Ending, Order, Sweep, Value, sort_values
from benchconsole.topology.units import Unit, UnitError, parse

RANGE = "a list such as [1, 2, 4], or a range such as 1..512 x2, 1..16 or 10..100 +10"
GAIN = "a percentage above 0 % and up to 1000 %, such as 5 %"
_RANGE = re.compile(r"\s*(\d{1,15})\s*\.\.\s*(\d{1,15})(?:\s*([x+])\s*(\d{1,15}))?\s*")
_ORDER = re.compile(r"\s*(?:(up|down)|(shuffled)(?:\s+(\d{1,9}))?)\s*")
_ORDERS = "up, down, shuffled, or shuffled with a seed such as shuffled 7"
_GROWING = (Unit.BYTE_RATE, Unit.FLOP_RATE, Unit.PER_SECOND)

Options = Mapping[str, str | int | float]


def parse_range(text: str) -> tuple[int, ...]:
    """The whole numbers of a range, its end with them where a step meets it. UnitError for anything else."""
    match = _RANGE.fullmatch(text)
    if match is None:
        raise UnitError(text, RANGE)
    low, high, step = int(match[1]), int(match[2]), int(match[4] or 1)
    doubling = match[3] == "x"
    if low > high:
        raise UnitError(text, "a range from small to large (order: down runs it the other way)")
    if step < 1 or (doubling and (step < 2 or low < 1)):
        raise UnitError(text, "a step of at least 1, or a factor of at least 2 from 1 or more on")
    if not doubling and (high - low) // step >= MOST_POINTS:
        raise UnitError(text, f"a range of at most {MOST_POINTS:,} values")
    return tuple(_grown(low, high, step)) if doubling else tuple(range(low, high + 1, step))


def _grown(value: int, high: int, factor: int) -> Iterator[int]:
    while value <= high:
        yield value
        value *= factor


@dataclass(frozen=True, slots=True)
class SweepReader:
    """Reads the sweep of one stage: ``here`` is where it stands, ``options`` those of the stage, ``nodes`` how many."""

    report: ProblemReport
    vocabulary: Vocabulary | None
    here: Location
    probe: str
    options: Options
    nodes: int

    def sweep(self, written: raw.RawStage) -> Sweep | None:
        """The sweep of a stage; None where it has none, or where a problem with it was noted."""
        before = len(self.report.problems)
        for name in ("order", "stop") if written.sweep is None else ():
            if name in written.model_fields_set and not (name == "order" and written.repeat > 1):
                self.report.add_key((*self.here, name), f"{name} without a sweep", "sweep: {OPTION: [VALUES]}")
        if written.sweep is None and written.repeat == 1:
            return None
        axes = tuple(self._axes(written.sweep or {}))
        if written.sweep is not None and not written.sweep:
            self.report.add((*self.here, "sweep"), "a sweep of nothing", "sweep: {OPTION: [VALUES]}")
        points = prod(len(axis.values) for axis in axes)
        if points > MOST_POINTS:
            self.report.add((*self.here, "sweep"), f"{points:,} points", f"at most {MOST_POINTS:,}")
        order, seed = self._order(written.order)
        ending = self._ending(written.stop, axes, order) if written.stop is not None else None
        if len(self.report.problems) > before:
            return None
        self._refused(axes)
        return Sweep(axes, written.repeat, order, seed, ending)

    # -- axes

    def _axes(self, written: Mapping[str, raw.Scalar | list[raw.Scalar | None]]) -> Iterator[Axis]:
        known = self.vocabulary.probes.get(self.probe) if self.vocabulary is not None else None
        for name, values in written.items():
            here = (*self.here, "sweep", name)
            if known is not None and name not in known and name != CLIENTS:
                expected = f"{CLIENTS}, or one of {', '.join(known)}"
                self.report.add_key(here, f"unknown axis {name!r}", expected, find_near(name, (*known, CLIENTS)))
            elif name in self.options:
                self.report.add_key(here, f"{name} as an option and as an axis", "one of the two")
            read = tuple(self._values(name, values, here))
            yield Axis(name, sort_values(read) or read)

    def _values(self, name: str, written: raw.Scalar | list[raw.Scalar | None], here: Location) -> Iterator[Value]:
        if not isinstance(written, list):
            yield from self._span(written, here)
            return
        if not written:
            self.report.add(here, "an empty list", RANGE)
        seen: set[str] = set()
        for index, value in enumerate(written):
            where = (*here, index)
            if value is None:
                continue
            if isinstance(value, bool):
                self.report.add(where, repr(value), "a number or text (0 and 1 for no and yes)")
            elif str(value) in seen:
                self.report.add(where, f"{value!r} a second time", "each value once")
            elif name == CLIENTS and not (isinstance(value, int) and 1 <= value <= self.nodes):
                self.report.add(where, f"{CLIENTS} {value!r}", f"a whole number from 1 to the {self.nodes} nodes")
            else:
                seen.add(str(value))
                yield value

    def _span(self, written: raw.Scalar, here: Location) -> Iterator[int]:
        if not isinstance(written, str):
            self.report.add(here, repr(written), RANGE)
            return
        found: tuple[int, ...] = ()
        try:
            found = parse_range(written)
        except UnitError as error:
            self.report.add(here, repr(written), error.expected)
        if here[-1] == CLIENTS and found and not 1 <= found[0] <= found[-1] <= self.nodes:
            self.report.add(here, f"{CLIENTS} {written!r}", f"whole numbers from 1 to the {self.nodes} nodes")
        yield from found

    def _refused(self, axes: tuple[Axis, ...]) -> None:
        """Note the values with which the probe would not run, each beside the first value of the other axes."""
        if self.vocabulary is None or self.probe not in self.vocabulary.probes:
            return
        own = [axis for axis in axes if axis.name != CLIENTS and axis.values]
        first = {axis.name: axis.values[0] for axis in own}
        said: set[str] = set()
        for axis in own:
            for index, value in enumerate(axis.values):
                why = self.vocabulary.refuses(self.probe, {**self.options, **first, axis.name: value})
                if why and why not in said:
                    said.add(why)
                    self._refuse(axis, index, why)

    def _refuse(self, axis: Axis, index: int, why: str) -> None:
        found, _, expected = why.partition(", expected ")
        here: Location = (*self.here, "sweep", axis.name)
        written: Any = self.report.document.data
        for part in here:
            written = written[part]
        if isinstance(written, list):
            here = (*here, next(at for at, value in enumerate(written) if value == axis.values[index]))
        self.report.add(here, found, expected or f"a value that {self.probe} takes")

    # -- how it is run

    def _order(self, written: str | None) -> tuple[Order, int]:
        if written is None:
            return Order.UP, 1
        match = _ORDER.fullmatch(written)
        if match is None:
            self.report.add((*self.here, "order"), repr(written), _ORDERS)
            return Order.UP, 1
        return Order(match[1] or match[2]), int(match[3] or 1)

    def _ending(self, written: raw.RawStop, axes: tuple[Axis, ...], order: Order) -> Ending | None:
        here: Location = (*self.here, "stop")
        if written.gain is None:
            if written.on is None:
                self.report.add(here, "a rule of neither gain nor on", "gain: 5 %, or on: failure")
            for name in ("after", "metric"):
                if name in written.model_fields_set:
                    self.report.add_key((*here, name), f"{name} without gain", "gain: 5 %")
            return Ending(on_failure=True)
        gain = self.report.quantity(written.gain, (*here, "gain"), _gain)
        if order is not Order.UP:
            self.report.add_key(
                (*here, "gain"), f"gain with the order {order.value}", "order: up, to see larger points"
            )
        if not axes or sort_values(axes[-1].values) is None:
            last = axes[-1].name if axes else "no axis"
            self.report.add_key((*here, "gain"), f"gain over {last}", "a last axis whose values are numbers")
        self._check_metric(written.metric, here)
        return Ending(gain, written.after, written.metric or "", written.on is not None)

    def _check_metric(self, metric: str | None, here: Location) -> None:
        if self.vocabulary is None or self.probe not in self.vocabulary.probes:
            return
        known = {name: unit for name, unit in self.vocabulary.metrics.items() if name.startswith(f"{self.probe}.")}
        growing = [name for name, unit in known.items() if unit in _GROWING]
        if metric is None and not growing:
            self.report.add(here, f"gain, and no throughput among the metrics of {self.probe}", "metric: NAME")
        elif metric is not None and metric not in known:
            expected = f"one of {', '.join(known)}"
            self.report.add(
                (*here, "metric"), f"unknown metric {metric!r} of {self.probe}", expected, find_near(metric, known)
            )
        elif metric is not None and known[metric] is Unit.SECOND:
            self.report.add((*here, "metric"), f"{metric}, a time", "a metric that grows where more is won")


def _gain(text: str) -> float:
    if not text.strip().endswith("%"):
        raise UnitError(text, GAIN, f"{text.strip()} %" if text.strip().isdecimal() else None)
    found = parse(text, Unit.ONE)
    if not 0 < found <= 10:
        raise UnitError(text, GAIN)
    return found
