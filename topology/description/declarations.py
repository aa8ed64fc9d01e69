"""Resolves the declarations beside the cabling: node classes, suites and the sweeps of their stages."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel

from benchconsole.topology.copying import replace
from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.description.stages_at_once import refuse_unlike_stages
from benchconsole.topology.description.vocabulary import Vocabulary
from benchconsole.topology.errors import SelectionError, find_near
from benchconsole.topology.model.fabric import Fabric, Hardware, Node, NodeId, Stage, Suite
from benchconsole.topology.model.fact_rule import FactRule
from benchconsole.topology.model.sweep import (
    CLIENTS,
    MOST_POINTS,
    VALUE,
    Axis,
    Ending,
    Order,
    Step,
    Sweep,
    Value,
    sort_values,
)
from benchconsole.topology.selection import choose
from benchconsole.topology.units import RATES, Unit, UnitError, parse_any, parse_link_speed, parse_percentage

_QUANTITIES: Mapping[str, Unit | Callable[[str], float]] = {
    **dict.fromkeys(("memory.total", "memory.dimm_size", "disk.size", "raid.cache"), Unit.BYTE),
    "nic.speed": parse_link_speed,
    "cpu.clock": Unit.PER_SECOND,
}
RANGE = "a list such as [1, 2, 4], or a range such as 1..512 x2, 1..16 or 10..100 +10"
GAIN = "a percentage above 0 % and up to 1000 %, such as 5 %"
_RANGE = re.compile(r"\s*(\d{1,15})\s*\.\.\s*(\d{1,15})(?:\s*([x+])\s*(\d{1,15}))?\s*")
_ORDER = re.compile(r"\s*(?:(up|down)|(shuffled)(?:\s+(\d{1,9}))?)\s*")
_ORDERS = "up, down, shuffled, or shuffled with a seed such as shuffled 7"


def resolve_hardware(name: str, written: raw.RawClass, report: ProblemReport) -> Hardware:
    """One node class with its declared facts in base units."""
    facts: dict[str, str | float] = {}
    for section, part in written:
        location = ("classes", name, section)
        if part is None or section in ("peak", "peak_basis", "facts"):
            continue
        for key, value in _list_facts(section, part):
            number = _make_fact(section, key, value, report, (*location, key))
            if number is not None:
                facts[f"{section}.{key}"] = number
    peak = report.quantity(written.peak, ("classes", name, "peak"), Unit.FLOP_RATE)
    rules = read_rules(written.facts or {}, ("classes", name, "facts"), facts, report)
    return Hardware(name, MappingProxyType(facts), peak, written.peak_basis, MappingProxyType(rules))


_BOUND = re.compile(r"\s*(>=|<=)\s*(\S.*)")
_BOUNDS = 'a bound such as ">= 10000" or "<= 2.5 GHz"'


def read_rules(
    written: Mapping[str, raw.Scalar | list[raw.Scalar]], here: Location, known: Collection[str], report: ProblemReport
) -> dict[str, FactRule]:
    """The rules for facts, by their names; a problem for a name that is ``known``: declared already.

    Labels behind the name part its parts: ``fs.available mount=/data``.
    """
    found: dict[str, FactRule] = {}
    for key, value in written.items():
        location = (*here, key)
        name, *parts = key.split() or [""]
        where = tuple(sorted((label, part) for label, _, part in (each.partition("=") for each in parts)))
        if "." not in name:
            report.add_key(location, f"a fact {name!r}", "its whole name, such as nic.txqueuelen")
        elif not all(label and part for label, part in where) or len(dict(where)) < len(where):
            report.add_key(location, f"the parts {' '.join(parts)!r} of {name}", "labels such as mount=/data")
        elif " ".join((name, *parts)) in known:
            report.add_key(location, f"{key} a second time", "each fact once, here or in its section")
        elif isinstance(value, bool) or (
            isinstance(value, list) and (not value or any(isinstance(v, bool) for v in value))
        ):
            report.add(location, repr(value), "a number, a text such as on, a bound, or a list of them")
        else:
            rule = _read_rule(name, value, location, report)
            if rule is not None:
                found[" ".join((name, *parts))] = replace(rule, where=where)
    return found


def _read_rule(
    name: str, value: raw.Scalar | list[raw.Scalar], location: Location, report: ProblemReport
) -> FactRule | None:
    bound = _BOUND.fullmatch(value) if isinstance(value, str) else None
    if bound is not None:
        limit = _read_value(name, bound[2], location, report)
        if not isinstance(limit, float):
            report.add(location, repr(value), _BOUNDS)
            return None
        is_least = bound[1] == ">="
        text = f"{'at least' if is_least else 'at most'} {bound[2].strip()}"
        return FactRule(at_least=limit if is_least else None, at_most=None if is_least else limit, text=text)
    several = value if isinstance(value, list) else [value]
    if any(isinstance(each, bool) for each in several):
        report.add(location, repr(value), "a list of numbers and texts such as on")
        return None
    values = [_read_wanted(name, each, location, report) for each in several]
    if None in values:
        return None
    return FactRule(tuple(v for v in values if v is not None), text=" or ".join(str(each).strip() for each in several))


def _read_wanted(name: str, value: raw.Scalar, location: Location, report: ProblemReport) -> str | float | None:
    """A value that is asked for; a number in quotes is text, for 8.10 and 8.1 are two versions."""
    is_text = isinstance(value, str) and name not in _QUANTITIES and _is_bare_number(value)
    return str(value) if is_text else _read_value(name, value, location, report)


def _is_bare_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_value(name: str, value: raw.Scalar, location: Location, report: ProblemReport) -> str | float | None:
    """A number in the base unit of a fact, or a text; a quantity with its unit for facts that have one."""
    read = _QUANTITIES.get(name)
    if read is not None:
        return report.quantity(value, location, read)
    try:
        return float(value)
    except ValueError:
        pass
    try:
        return parse_any(str(value))[0]
    except UnitError:
        return str(value)


def _list_facts(section: str, part: object) -> Iterator[tuple[str, object]]:
    if section == "memory" and not isinstance(part, raw.RawMemory):
        yield "total", part
    elif isinstance(part, dict):
        yield from part.items()
    elif isinstance(part, BaseModel):
        yield from ((key, value) for key, value in part if value is not None)


def _make_fact(section: str, key: str, value: object, report: ProblemReport, location: Location) -> str | float | None:
    read = _QUANTITIES.get(f"{section}.{key}")
    if read is not None:
        return report.quantity(value, location, read)
    if isinstance(value, bool) or section in ("sysctl", "raid"):
        return str(value)
    return float(value) if isinstance(value, int | float) else str(value)


@dataclass(frozen=True)
class Declarations:
    """Turns suites into the model; knows the nodes and what the probes offer. ``fabric`` has what is cabled so far."""

    report: ProblemReport
    nodes: Mapping[NodeId, Node]
    fabric: Fabric
    vocabulary: Vocabulary | None
    cohorts: Collection[str] = ()

    @cached_property
    def groups(self) -> Mapping[str, Collection[str]]:
        """The groups that a node set may name."""
        return self.fabric.node_groups

    def chosen(self, text: str, location: Location) -> tuple[NodeId, ...] | None:
        """The nodes that ``text`` selects, or None and a problem."""
        try:
            return tuple(NodeId(name) for name in choose(text, self.nodes, self.groups))
        except SelectionError as error:
            self.report.add(location, str(error), "nodes or groups of this file")
            return None

    def metric_unit(self, metric: str, location: Location) -> Unit | None:
        """The unit of a metric that a probe has; None where no vocabulary tells, and for a problem."""
        if self.vocabulary is None:
            return None
        unit = self.vocabulary.metrics.get(metric)
        if unit is None:
            known = self.vocabulary.metrics
            self.report.add(location, f"unknown metric {metric!r}", "a metric of the probes", find_near(metric, known))
        return unit

    def suite(self, name: str, stages: list[raw.RawStage | None]) -> Suite:
        """One suite; stages with problems are left out and reported."""
        read = {
            index: self._stage(("suites", name, index), stage)
            for index, stage in enumerate(stages)
            if stage is not None
        }
        known = {index: stage for index, stage in read.items() if stage is not None}
        if len(known) == len(stages):
            refuse_unlike_stages(("suites", name), known, self.report)
        return Suite(name, tuple(known.values()))

    def _stage(self, here: Location, written: raw.RawStage) -> Stage | None:
        probe = written.probe
        if probe is None:
            self.report.add(here, "a stage without a probe", "probe: NAME")
            return None
        nodes: tuple[NodeId, ...] | None = tuple(self.nodes)
        if written.nodes is not None:
            nodes = self.chosen(written.nodes, (*here, "nodes"))
        options: dict[str, raw.Scalar] = dict(written.model_extra or {})
        known = self._known_options(probe, (*here, "probe"))
        for key in options:
            if known is not None and key not in known:
                self.report.add_key(
                    (*here, key), f"unknown option {key!r}", _parse_one_of(known), find_near(key, known)
                )
        design, designs = options.get("design"), self.vocabulary.designs if self.vocabulary else ()
        if design is not None and designs and design not in designs:
            hint = find_near(str(design), designs)
            self.report.add((*here, "design"), repr(design), _parse_one_of(designs), hint)
        if not nodes:
            return None
        members = tuple(self.nodes[node] for node in nodes)
        sweep = _SweepReader(self.report, self.vocabulary, here, probe, options, members, self.chosen).sweep(written)
        if written.sweep is None:
            self._refuse_options(here, probe, options, members)
        return Stage(probe, nodes, MappingProxyType(options), sweep, at_once=written.at_once or "")

    def _refuse_options(
        self, here: Location, probe: str, options: Mapping[str, raw.Scalar], nodes: Sequence[Node]
    ) -> None:
        """Report what a run would refuse, at the option without which it would run."""
        words = self.vocabulary
        if words is None or probe not in words.probes or not options.keys() <= words.probes[probe].keys():
            return
        why = words.refuses(probe, options, nodes)
        if why:
            left = {key: {name: value for name, value in options.items() if name != key} for key in options}
            blamed = next((key for key, rest in left.items() if not words.refuses(probe, rest, nodes)), None)
            found, _, expected = why.partition(", expected ")
            place = here if blamed is None else (*here, blamed)
            self.report.add(place, found, expected or f"options that {probe} takes")

    def _known_options(self, probe: str, location: Location) -> list[str] | None:
        if self.vocabulary is None:
            return None
        options = self.vocabulary.probes.get(probe)
        if options is None:
            known = self.vocabulary.probes
            self.report.add(location, f"unknown probe {probe!r}", _parse_one_of(known), find_near(probe, known))
            return None
        return [*options, *raw.RawStage.model_fields]


def _parse_one_of(words: Iterable[str]) -> str:
    return f"one of {', '.join(words)}"


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
class _SweepReader:
    """Reads the sweep of one stage: ``here`` is where it stands, ``options`` and ``nodes`` those of the stage."""

    report: ProblemReport
    vocabulary: Vocabulary | None
    here: Location
    probe: str
    options: Mapping[str, raw.Scalar]
    nodes: Sequence[Node]
    choose: Callable[[str, Location], tuple[NodeId, ...] | None]

    def sweep(self, written: raw.RawStage) -> Sweep | None:
        """The sweep of a stage; None where it has none, or where a problem with it was noted."""
        before = len(self.report.problems)
        for name in ("order", "stop", "steps") if written.sweep is None else ():
            if name in written.model_fields_set and not (name == "order" and written.repeat > 1):
                self.report.add_key((*self.here, name), f"{name} without a sweep", "sweep: {OPTION: [VALUES]}")
        if written.sweep is None and written.repeat == 1:
            return None
        axes = tuple(self._axes(written.sweep or {}, written.steps))
        steps = tuple(self._steps(written.steps, axes))
        if written.sweep is not None and not written.sweep:
            self.report.add((*self.here, "sweep"), "a sweep of nothing", "sweep: {OPTION: [VALUES]}")
        points = prod(len(axis.values) for axis in axes)
        if points > MOST_POINTS:
            self.report.add((*self.here, "sweep"), f"{points:,} points", f"at most {MOST_POINTS:,}")
        order, seed = self._order(written.order)
        ending = self._ending(written.stop, axes, order) if written.stop is not None else None
        if len(self.report.problems) > before:
            return None
        self._refused([axis for axis in axes if axis.name not in written.steps])
        return Sweep(axes, written.repeat, order, seed, ending, steps)

    def _steps(self, written: Mapping[str, raw.RawStep], axes: Sequence[Axis]) -> Iterator[Step]:
        """The steps of a sweep; a problem for one of no axis, of an option, or without the value in its command."""
        known = self.vocabulary.probes.get(self.probe, {}) if self.vocabulary is not None else {}
        names = [axis.name for axis in axes]
        for name, each in written.items():
            here: Location = (*self.here, "steps", name)
            if name not in names:
                self.report.add_key(here, f"a step for {name!r}", _parse_one_of(names), find_near(name, names))
            if name in known or name == CLIENTS:
                self.report.add_key(here, f"{name}, an option of {self.probe}", "a name of its own, or no step")
            if not each.run or VALUE not in " ".join(each.run):
                self.report.add((*here, "run"), str(each.run), f"a list of words with {VALUE} in one of them")
            if not each.undo or not all(each.undo):
                self.report.add((*here, "undo"), str(each.undo), "a list of words: the command that sets it back")
            seconds = self.report.quantity(each.timeout, (*here, "timeout"), Unit.SECOND)
            nodes = tuple(node.id for node in self.nodes) if each.nodes is None else None
            nodes = self.choose(each.nodes, (*here, "nodes")) if each.nodes is not None else nodes
            yield Step(name, tuple(each.run), tuple(each.undo), nodes or (), each.sudo, seconds or 60.0)

    def _axes(
        self, written: Mapping[str, raw.Scalar | list[raw.Scalar | None]], steps: Collection[str]
    ) -> Iterator[Axis]:
        known = self.vocabulary.probes.get(self.probe) if self.vocabulary is not None else None
        for name, values in written.items():
            here = (*self.here, "sweep", name)
            if known is not None and name not in known and name != CLIENTS and name not in steps:
                expected = f"{CLIENTS}, a name under steps, or one of {', '.join(known)}"
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
            elif name == CLIENTS and not (isinstance(value, int) and 1 <= value <= len(self.nodes)):
                self.report.add(where, f"{CLIENTS} {value!r}", f"a whole number from 1 to the {len(self.nodes)} nodes")
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
        if here[-1] == CLIENTS and found and not 1 <= found[0] <= found[-1] <= len(self.nodes):
            self.report.add(here, f"{CLIENTS} {written!r}", f"whole numbers from 1 to the {len(self.nodes)} nodes")
        yield from found

    def _refused(self, axes: Sequence[Axis]) -> None:
        if self.vocabulary is None or self.probe not in self.vocabulary.probes:
            return
        own = [axis for axis in axes if axis.name != CLIENTS and axis.values]
        first = {axis.name: axis.values[0] for axis in own}
        said: set[str] = set()
        for axis in own:
            for index, value in enumerate(axis.values):
                why = self.vocabulary.refuses(self.probe, {**self.options, **first, axis.name: value}, self.nodes)
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
        gain = self.report.quantity(written.gain, (*here, "gain"), lambda text: parse_percentage(text, GAIN, most=10))
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
        growing = [name for name, unit in known.items() if unit in RATES]
        if metric is None and not growing:
            self.report.add(here, f"gain, and no throughput among the metrics of {self.probe}", "metric: NAME")
        elif metric is not None and metric not in known:
            expected = f"one of {', '.join(known)}"
            self.report.add(
                (*here, "metric"), f"unknown metric {metric!r} of {self.probe}", expected, find_near(metric, known)
            )
        elif metric is not None and known[metric] is Unit.SECOND:
            self.report.add((*here, "metric"), f"{metric}, a time", "a metric that grows where more is won")
