"""Judges measurements against numbers that are known before: absolute ones, shares of a peak, a ceiling, a reference.

All measurements of a round at once, in columns: a stored session may have a million of them.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.criterion_match import speaks_of_labels, speaks_of_test
from benchconsole.probes.judging.grading import LEVELS, rank, rounded
from benchconsole.probes.judging.physical_limits import Impossible, find_impossible
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measurement_table import (
    MeasurementKind,
    MeasurementTable,
    MeasurementVerdicts,
    make_verdicts,
    tabulate,
)
from benchconsole.probes.model.measuring import Round, Test
from benchconsole.topology.analysis.storage_ceilings import find_only_system, list_ceilings, name_operation
from benchconsole.topology.analysis.wan import read_trip
from benchconsole.topology.arrays import Flags, Indices
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion
from benchconsole.topology.units import duration, percent, show


def give_verdicts(context: JudgingContext, closed: ClosedRound) -> Iterator[Verdict]:
    """One verdict for each measurement and each criterion that speaks of it."""
    if _list_criteria(context, closed):
        table = tabulate(closed.results)
        yield from make_verdicts(closed.results, table, judge_table(context, closed, table))


def judge_table(context: JudgingContext, closed: ClosedRound, table: MeasurementTable) -> MeasurementVerdicts:
    """One verdict for each measurement of ``table`` and each criterion that speaks of it, in the order of the results.

    The measurements of ``closed`` itself are read for flows only.
    """
    tests = _Tests([result.test for result in closed.results])
    asked = _list_criteria(context, closed)
    metrics = dict.fromkeys(each.metric for each in asked)
    impossible = {name: find_impossible(context, closed, table, name) for name in metrics}
    forms: dict[Verdict, int] = {}
    place, form, order = [np.zeros(0, np.intp)], [np.zeros(0, np.intp)], [np.zeros(0, np.intp)]
    for number, criterion in enumerate(asked):
        bound = _Bound(context, closed.round, criterion, impossible[criterion.metric], tests, table, forms)
        for places, found in bound.judge():
            place.append(places)
            form.append(found)
            order.append(np.full(len(places), number))
    places = np.concatenate(place)
    sort = np.lexsort((places, np.concatenate(order), table.result[places]))
    return MeasurementVerdicts(places[sort], np.concatenate(form)[sort], tuple(forms))


def is_summed(criterion: Criterion, test: Test) -> bool:
    """Whether the sum of the bundle of ``test`` is held against ``criterion``, and not its own number."""
    return criterion.basis is Basis.CEILING and bool(test.bundle)


def _list_criteria(context: JudgingContext, closed: ClosedRound) -> list[Criterion]:
    own = f"{closed.round.probe}."
    return [
        each
        for each in context.criteria
        if each.basis is not Basis.CAPACITY and not each.is_of_session and each.metric.startswith(own)
    ]


class Scale(NamedTuple):
    """The base of relative bounds, in the unit of the measurement, in words too; None, and why it is not known."""

    value: float | None
    basis: str = ""
    why: str = ""


_ABSOLUTE = Scale(1.0)


def _find_peak(test: Test) -> Scale:
    """The peaks of all nodes of a test in FLOP/s."""
    nodes = test.target.nodes
    known = [node.hardware.peak for node in nodes if node.hardware.peak is not None]
    if len(known) < len(nodes):
        return Scale(None, why="no peak is declared")
    bases = "; ".join(dict.fromkeys(node.hardware.peak_basis or "basis not stated" for node in nodes))
    whose = f"the peaks of {len(nodes)} nodes" if len(nodes) > 1 else "peak"
    return Scale(sum(known), f" of {whose} ({bases})")


def find_ceiling(context: JudgingContext, tests: Sequence[Test], kind: MeasurementKind) -> Scale:
    """The ceiling of the storage system of tests that run at once, for what was measured and all their clients."""
    nodes = [str(node.id) for test in tests for node in test.target.nodes]
    system = context.find_system(tests[0]) or find_only_system(context.fabric, nodes)
    if system is None:
        return Scale(None, why="neither its test (option shared) nor the clients of one tell which storage system")
    operation = name_operation(kind.metric, kind.labels)
    if not operation:
        return Scale(None, why="it does not say whether it reads or writes")
    found = [each for each in list_ceilings(context.ceilings, system, nodes, operation) if each.limiting is not None]
    if not found:
        return Scale(None, why=f"no ceiling of {system.name} is known for its nodes")
    least = min(found, key=lambda each: each.limiting.rate if each.limiting else math.inf)
    limiting = least.limiting
    rate = limiting.rate if limiting else 0.0
    name = limiting.name if limiting else ""
    return Scale(rate, f" of {show(rate, kind.unit, context.shown(kind.metric))} ({system.name} {operation}, {name})")


def find_round_trip(context: JudgingContext, test: Test) -> Scale:
    """The round trip in seconds that the lines between the two nodes of a test are described with."""
    if not test.flows:
        return Scale(None, why="its test is not between two nodes")
    try:
        route = context.routes.route(test.flows[0])
    except RoutingError as error:
        return Scale(None, why=f"{error}")
    trips = (read_trip(context.routes.graph.links[way >> 1]) for way in route.ways.tolist())
    described = float(sum(trip * share for trip, share in zip(trips, route.shares.tolist(), strict=True)))
    if not described:
        return Scale(None, why="no line between its nodes has a described round trip")
    return Scale(described, f" of the described round trip {duration(described)}")


class _Tests:
    """Properties of the tests of a round that criteria ask for, each read once for all measurements."""

    def __init__(self, tests: Sequence[Test]) -> None:
        self._tests = tests

    @cached_property
    def sizes(self) -> Indices:
        """On how many nodes each ran."""
        return np.array([len(test.target.nodes) for test in self._tests], np.intp)

    @cached_property
    def peaks(self) -> tuple[Sequence[Scale], Indices]:
        """All different peaks, and which of them are those of each test."""
        return _number_scales(map(_find_peak, self._tests))

    def list_ceilings(self, context: JudgingContext, kind: MeasurementKind) -> tuple[Sequence[Scale], Indices]:
        """All different ceilings of what ``kind`` measures, and which of them are those of each test."""
        return _number_scales(find_ceiling(context, [test], kind) for test in self._tests)

    def list_round_trips(self, context: JudgingContext) -> tuple[Sequence[Scale], Indices]:
        """All different described round trips, and which of them are those of each test."""
        return _number_scales(find_round_trip(context, test) for test in self._tests)

    def find_meant(self, criterion: Criterion) -> Flags:
        """Of which ``criterion`` may speak one by one: a ceiling is that of all who load it together."""
        meant = (speaks_of_test(criterion, test) and not is_summed(criterion, test) for test in self._tests)
        return np.array(list(meant), bool)


def _number_scales(scales: Iterable[Scale]) -> tuple[Sequence[Scale], Indices]:
    numbers: dict[Scale, int] = {}
    found = [numbers.setdefault(each, len(numbers)) for each in scales]
    return tuple(numbers), np.array(found, np.intp)


@dataclass(slots=True, eq=False)
class _Bound:
    """A criterion that the measurements of a round are held against; ``forms`` are numbered as they are met."""

    context: JudgingContext
    round: Round
    criterion: Criterion
    impossible: Impossible
    tests: _Tests
    table: MeasurementTable
    forms: dict[Verdict, int]

    def judge(self) -> Iterator[tuple[Indices, Indices]]:
        """Places of measurements that the criterion speaks of, with the forms of their verdicts."""
        meant = self.tests.find_meant(self.criterion)
        for kind, places in self.table.find(self.criterion.metric):
            of = self.table.result[places]
            sizes = np.unique(self.tests.sizes[of])
            spoken = [size for size in sizes.tolist() if speaks_of_labels(self.criterion, kind.labels, size)]
            chosen = places[meant[of] & np.isin(self.tests.sizes[of], spoken)]
            for scale, alike in self._part_by_scale(kind, chosen):
                form = self._grade(scale, alike)
                self._weigh_impossible(alike, form)
                yield alike, form

    def _part_by_scale(self, kind: MeasurementKind, places: Indices) -> Iterator[tuple[Scale, Indices]]:
        """``places`` whose bounds are shares of the same number; of 1 where the bound is a number itself."""
        if self.criterion.basis in (Basis.PEAK, Basis.CEILING, Basis.RTT):
            scales, of_test = self._list_scales(kind)
            own = of_test[self.table.result[places]]
            for number in np.unique(own).tolist():
                yield scales[number], places[own == number]
        elif self.criterion.basis is Basis.REFERENCE:
            reference = self.criterion.reference
            words = show(reference, kind.unit, self.context.shown(kind.metric))
            yield Scale(reference, f" of the reference {words}"), places
        else:
            yield _ABSOLUTE, places

    def _list_scales(self, kind: MeasurementKind) -> tuple[Sequence[Scale], Indices]:
        """The bases of the bounds of tests, each once, and which of them is that of each test."""
        if self.criterion.basis is Basis.PEAK:
            return self.tests.peaks
        if self.criterion.basis is Basis.RTT:
            return self.tests.list_round_trips(self.context)
        return self.tests.list_ceilings(self.context, kind)

    def _grade(self, of: Scale, places: Indices) -> Indices:
        """The forms of the verdicts on measurements: level and reason depend on what a value is rounded to alone."""
        if of.value is None:
            return np.full(len(places), self._number(Level.UNKNOWN, of.why, None))
        criterion, scale, value = self.criterion, of.value, self.table.value[places]
        required, step = criterion.required * scale, criterion.step(scale)
        target = None if criterion.target is None else criterion.target * scale
        ranks = rank(value, required, comparator=criterion.comparator, target=target, step=step)
        near = rounded(value, step) if criterion.rounding else ranks
        _, first, which = np.unique(near, return_index=True, return_inverse=True)
        levels = [LEVELS[int(each)] for each in ranks[first].tolist()]
        reasons = [
            describe_level(self.context, criterion, *each, scale) + of.basis
            for each in zip(levels, near[first].tolist(), strict=True)
        ]
        numbers = [self._number(*each, required) for each in zip(levels, reasons, strict=True)]
        return np.array(numbers, np.intp)[which]

    def _weigh_impossible(self, places: Indices, form: Indices) -> None:
        """Put the forms of measurements that cannot be right, alone or together, in place of theirs."""
        alone, together = self.impossible
        if not alone and not together:
            return
        forms = list(self.forms)
        for index, place in enumerate(places.tolist()):
            name, found = self.table.ids[place], forms[form[index]]
            if name in alone:
                form[index] = self._number(Level.UNKNOWN, alone[name], found.required)
            elif name in together and found.level in (Level.PASS, Level.WATCH):
                because = f"{found.because}, but with the others of its bundle {together[name]}"
                form[index] = self._number(Level.UNKNOWN, because, found.required)

    def _number(self, level: Level, because: str, required: float | None) -> int:
        form = Verdict(
            test="",
            round=self.round.number,
            probe=self.round.probe,
            subject="",
            nodes=(),
            metric=self.criterion.metric,
            labels=(),
            level=level,
            kind=Yardstick.CRITERION,
            because=because,
            shown=self.context.shown(self.criterion.metric),
            expected=required,
            required=required,
            source=self.criterion.source or "criterion",
        )
        return self.forms.setdefault(form, len(self.forms))


def describe_level(context: JudgingContext, criterion: Criterion, level: Level, near: float, scale: float) -> str:
    """The reason of a level; ``near`` is the value as it was rounded, where the criterion rounds."""
    shown = context.shown(criterion.metric)
    unit = context.metrics[criterion.metric].unit if criterion.metric in context.metrics else criterion.unit
    least = criterion.comparator is Comparator.AT_LEAST
    bound = criterion.target if level is Level.WATCH and criterion.target is not None else criterion.required
    words = show(bound, unit, shown) if criterion.basis is Basis.ABSOLUTE else percent(bound)
    note = ""
    if criterion.rounding:
        note = f", rounded to {percent(near / scale) if criterion.rounds_share else show(near, unit, shown)}"
    if level is Level.PASS:
        return f"{'at least' if least else 'at most'} {words}{note}"
    which = "target" if level is Level.WATCH else "required"
    return f"{'below' if least else 'above'} the {which} {words}{note}"
