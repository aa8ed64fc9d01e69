"""The measurements of a round in columns, and verdicts on them: for rounds with more numbers than objects are cheap."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from benchconsole.probes.model.alike_passes import AlikePasses
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.measuring import Labels, Reading, Result
from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.units import Unit


class MeasurementKind(NamedTuple):
    """What measurements of a round have in common."""

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
        yield replace(
            judged.forms[form],
            test=test.id,
            subject=test.target.key,
            nodes=tuple([node.id for node in test.target.nodes]),
            labels=measurement.labels,
            unit=measurement.unit,
            value=measurement.value if math.isfinite(measurement.value) else None,
            evidence=(measurement.id,),
        )


class PartedVerdicts(NamedTuple):
    """The verdicts on a table: those that are told one by one, and the others.

    ``places`` are those of the measurements that some of the first, or none at all, are of.
    """

    told: tuple[Verdict, ...]
    passed: tuple[AlikePasses, ...]
    places: Indices


def part_verdicts(
    results: Sequence[Result],
    order: Indices,
    table: MeasurementTable,
    judged: MeasurementVerdicts,
    *,
    in_columns: bool,
) -> PartedVerdicts:
    """Verdicts on ``table`` that passed ``in_columns``, all others as objects, in their order.

    ``order`` are the places of ``results`` in the plan. The first verdict on each kind of measurement is an object too:
    what is told of kinds comes in the order in which the plan meets them.
    """
    kind, at = table.kind[judged.place], order[table.result[judged.place]]
    by_plan = np.argsort(at, kind="stable")
    is_first = np.zeros(len(by_plan), bool)
    is_first[by_plan[np.unique(kind[by_plan], return_index=True)[1]]] = True
    numbers: dict[Verdict, int] = {}
    alike = np.array([numbers.setdefault(_reduce(form), len(numbers)) for form in judged.forms], np.intp)
    has_passed = np.array([form.level is Level.PASS for form in judged.forms], bool)
    is_apart = is_first | ~has_passed[judged.form] | (not in_columns)
    told = MeasurementVerdicts(judged.place[is_apart], judged.form[is_apart], judged.forms)
    rest = np.flatnonzero(~is_apart)
    group = kind[rest] * len(numbers) + alike[judged.form[rest]]
    is_told = np.ones(len(table.value), bool)
    is_told[judged.place[rest]] = False
    is_told[told.place] = True
    passed = []
    for number in np.unique(group).tolist():
        own = rest[group == number]
        first = MeasurementVerdicts(judged.place[own[:1]], judged.form[own[:1]], judged.forms)
        (like,) = make_verdicts(results, table, first)
        places = judged.place[own]
        passed.append(AlikePasses(like, results, table.result[places], table.value[places]))
    return PartedVerdicts(tuple(make_verdicts(results, table, told)), tuple(passed), np.flatnonzero(is_told))


def _reduce(form: Verdict) -> Verdict:
    """A form without its wording, which tells what a value was rounded to."""
    return replace(form, because="")
