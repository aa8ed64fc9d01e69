"""The measurements of a round in columns, and verdicts on them: for rounds with more numbers than objects are cheap."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchconsole.probes.model.alike_passes import AlikePasses
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict
from benchconsole.probes.model.measuring import Labels, Reading, Result
from benchconsole.topology.arrays import Flags, Floats, Indices
from benchconsole.topology.units import Unit


class MeasurementKind(NamedTuple):
    """The properties that measurements of a round have in common."""

    metric: str
    unit: Unit
    labels: Labels


@dataclass(frozen=True, slots=True, eq=False)
class MeasurementTable:
    """The measurements of a round, in their order within each result.

    Of each: its ``kind`` (a place in ``kinds``), its ``result`` (a place in the results of the round), its ``value`` in
    the unit of its kind, and its id.
    """

    kinds: Sequence[MeasurementKind]
    kind: Indices
    result: Indices
    value: Floats
    ids: Sequence[str]

    def find(self, metric: str) -> Iterator[tuple[MeasurementKind, Indices]]:
        """The kinds of one metric, each with the places of its measurements, in order."""
        for number, kind in enumerate(self.kinds):
            if kind.metric == metric:
                yield kind, np.flatnonzero(self.kind == number)

    def group_by_kind(self) -> Iterator[tuple[MeasurementKind, Indices]]:
        """Every kind that has measurements, with their places, in order."""
        order = np.argsort(self.kind, kind="stable")
        ends = np.cumsum(np.bincount(self.kind, minlength=len(self.kinds)))
        for kind, places in zip(self.kinds, np.split(order, ends[:-1]), strict=True):
            if len(places):
                yield kind, places

    def read(self, place: int) -> Reading:
        """The measurement at a place, without the text that it was read from and without its time."""
        metric, unit, labels = self.kinds[self.kind[place]]
        return Reading(metric, float(self.value[place]), unit, labels, id=self.ids[place])


def tabulate(results: Sequence[Result]) -> MeasurementTable:
    """The measurements of ``results`` in columns."""
    numbers: dict[MeasurementKind, int] = {}
    kind, result, value, ids = [], [], [], []
    for place, each in enumerate(results):
        for reading in each.measurements:
            of = MeasurementKind(reading.metric, reading.unit, reading.labels)
            kind.append(numbers.setdefault(of, len(numbers)))
            result.append(place)
            value.append(reading.value)
            ids.append(reading.id)
    return MeasurementTable(
        tuple(numbers), np.array(kind, np.intp), np.array(result, np.intp), np.array(value, np.float64), ids
    )


@dataclass(frozen=True, slots=True, eq=False)
class MeasurementVerdicts:
    """Verdicts on measurements by themselves, in order.

    Of each: the ``place`` of its measurement in the table of the round, and its ``form`` (a place in ``forms``): a
    verdict that names neither a test nor its nodes, and has neither a value nor evidence.
    """

    place: Indices
    form: Indices
    forms: Sequence[Verdict]

    def count_levels(self) -> Counter[str]:
        """How many verdicts there are of each level."""
        counts = np.bincount(self.form, minlength=len(self.forms)).tolist()
        found: Counter[str] = Counter()
        for form, count in zip(self.forms, counts, strict=True):
            found[form.level] += count
        return found


def make_verdicts(results: Sequence[Result], table: MeasurementTable, judged: MeasurementVerdicts) -> Iterator[Verdict]:
    """The verdicts of ``judged``, each as an object."""
    for place, form in zip(judged.place.tolist(), judged.form.tolist(), strict=True):
        test, measurement = results[table.result[place]].test, table.read(place)
        yield judged.forms[form]._replace(
            test=test.id,
            subject=test.target.key,
            nodes=tuple([node.id for node in test.target.nodes]),
            labels=measurement.labels,
            unit=measurement.unit,
            value=measurement.value if math.isfinite(measurement.value) else None,
            evidence=(measurement.id,),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Passes:
    """Verdicts of a round that passed, in order; each is on a measurement of a test on one node.

    Of each: its ``result`` (a place in the results of the round), its ``value``, and places of our own for the ``kind``
    of its measurement and for its ``form``: all that it shares with others but their wording.
    """

    result: Indices
    kind: Indices
    form: Indices
    value: Floats


def list_plan_places(closed: ClosedRound) -> Indices:
    """The place in the plan of the test of each result of a round."""
    order = {test.id: place for place, test in enumerate(closed.round.tests)}
    return np.array([order[result.test.id] for result in closed.results], np.intp)


def find_first(at: Indices, result: Indices, kind: Indices) -> Indices:
    """The results that are the first in the plan with each kind; ``at`` is the place in the plan of each result."""
    by_plan = np.argsort(at[result], kind="stable")
    return result[by_plan[np.unique(kind[by_plan], return_index=True)[1]]]


def choose_told(at: Indices, passes: Passes, apart: Indices) -> Flags:
    """Which results of a round are told one by one, so that reports say of columns what they say of single verdicts.

    Those in ``apart``, the first in the plan with each kind (what is told of kinds comes in the order in which the plan
    meets them), those without a pass, and those where two passes of a kind have one form: they may be one and the same.
    ``at`` is the place in the plan of each result.
    """
    is_told = np.ones(len(at), bool)
    is_told[passes.result] = False
    is_told[apart] = True
    is_told[find_first(at, passes.result, passes.kind)] = True
    size = int(passes.form.max(initial=-1)) + 1
    same = (passes.kind * size + passes.form) * len(at) + passes.result
    same.sort()
    is_told[same[1:][same[1:] == same[:-1]] % max(len(at), 1)] = True
    return is_told


def group_passes(
    results: Sequence[Result], passes: Passes, is_told: Flags, make_one: Callable[[int], Verdict]
) -> tuple[AlikePasses, ...]:
    """The passes on results that are not told; ``make_one`` makes the verdict at a place in ``passes``."""
    rest = np.flatnonzero(~is_told[passes.result])
    group = passes.kind[rest] * (int(passes.form.max(initial=-1)) + 1) + passes.form[rest]
    members = [rest[group == number] for number in np.unique(group).tolist()]
    return tuple(AlikePasses(make_one(int(own[0])), results, passes.result[own], passes.value[own]) for own in members)


class PartedVerdicts(NamedTuple):
    """The verdicts on a table: those ``told`` one by one, and the others.

    ``is_told`` says of each result whether it is told; no other has any of its verdicts in ``told``.
    """

    told: tuple[Verdict, ...]
    passed: tuple[AlikePasses, ...]
    is_told: Flags


def part_verdicts(
    results: Sequence[Result], order: Indices, table: MeasurementTable, judged: MeasurementVerdicts, apart: Indices
) -> PartedVerdicts:
    """Verdicts on ``table`` in columns where all of a result passed, all others as objects, in their order.

    ``order`` are the places of ``results`` in the plan; those at ``apart`` are told whatever their verdicts are.
    """
    has_passed = np.array([form.level is Level.PASS for form in judged.forms], bool)[judged.form]
    of = table.result[judged.place]
    numbers: dict[Verdict, int] = {}
    alike = np.array([numbers.setdefault(_reduce(form), len(numbers)) for form in judged.forms], np.intp)
    places, form = judged.place[has_passed], judged.form[has_passed]
    passes = Passes(table.result[places], table.kind[places], alike[form], table.value[places])
    first = find_first(order, table.result, table.kind)
    is_told = choose_told(order, passes, np.concatenate((apart, first, of[~has_passed])))

    def make_one(place: int) -> Verdict:
        one = MeasurementVerdicts(places[place : place + 1], form[place : place + 1], judged.forms)
        return next(make_verdicts(results, table, one))

    told = MeasurementVerdicts(judged.place[is_told[of]], judged.form[is_told[of]], judged.forms)
    passed = group_passes(results, passes, is_told, make_one)
    return PartedVerdicts(tuple(make_verdicts(results, table, told)), passed, is_told)


def _reduce(form: Verdict) -> Verdict:
    """A form without its wording, which tells what a value was rounded to."""
    return form._replace(because="")
