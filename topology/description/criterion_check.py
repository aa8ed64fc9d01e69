"""Criteria that cannot be right: what contradicts the metric that they speak of, or themselves."""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from benchconsole.topology.description import raw
from benchconsole.topology.description.document import Location, ProblemReport
from benchconsole.topology.description.vocabulary import MetricTraits, Vocabulary
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.conditions import IMPLIED, parse_condition
from benchconsole.topology.model.fabric import Basis, Comparator
from benchconsole.topology.model.sweep import CLIENTS
from benchconsole.topology.units import Unit, UnitError, parse, percent, show, storage_rate

COARSEST = 0.1
"""A measurement may be rounded to this share of its bound at most: a coarser step decides by itself."""

_WHOLES = (Basis.CAPACITY, Basis.PEAK, Basis.CEILING)
"""Bases of which nothing has more than all."""

_IN_BITS = re.compile(r"[0-9.\s]+[kMGTP]?i?(?:b|bit|bits)(?:/s|ps)\s*")


@dataclass(frozen=True, slots=True)
class CriterionCheck:
    """One criterion as it is written at ``here``, on a metric of base unit ``unit``, a share of ``basis``.

    ``cohorts`` are those of the file.

    Reports each contradiction where it stands.
    """

    report: ProblemReport
    vocabulary: Vocabulary
    unit: Unit
    here: Location
    written: raw.RawCriterion
    basis: Basis
    cohorts: Collection[str]

    @property
    def traits(self) -> MetricTraits:
        return self.vocabulary.traits.get(self.written.metric, MetricTraits())

    def report_contradictions(
        self, bound: Comparator, required: float, target: float | None, step: float | None
    ) -> None:
        """``required``, ``target`` and ``step`` as they were read; ``step`` is None where it is of another basis."""
        self._check_basis()
        self._check_sense(bound)
        self._check_bound(bound, required, target)
        self._check_target(bound, required, target)
        self._check_step(required, step)
        self._check_bits()
        where = self.written.where or {}
        check_labels(self.report, self.vocabulary, self.written.metric, where, (*self.here, "where"), self.cohorts)

    def _check_basis(self) -> None:
        of, metric = self.basis, self.written.metric
        if of is Basis.CAPACITY and self.vocabulary.traits and not self.traits.of_capacity:
            held = [name for name, each in self.vocabulary.traits.items() if each.of_capacity]
            expected = f"one of {', '.join(held)}, which are held against the fabric, or a bound without of"
            self.report.add((*self.here, "of"), f"capacity, of which {metric} is no share", expected)
        elif of is Basis.CEILING and self.unit is not Unit.BYTE_RATE:
            expected = "a metric in B/s, as the ceilings of storage systems are, or a bound without of"
            self.report.add((*self.here, "of"), f"ceiling, of which {metric} is no share", expected)
        elif of is Basis.RTT and self.unit is not Unit.SECOND:
            expected = "a metric in s, as round trips are, or a bound without of"
            self.report.add((*self.here, "of"), f"rtt, of which {metric} is no share", expected)
        elif of is Basis.PEAK and self.unit is not Unit.FLOP_RATE:
            expected = "a metric in FLOP/s, as the stated peak is, or a bound without of"
            self.report.add((*self.here, "of"), f"peak, of which {metric} is no share", expected)

    def _check_sense(self, bound: Comparator) -> None:
        sense = self.traits.sense
        if sense is not None and bound is not sense:
            way = "more" if sense is Comparator.AT_LEAST else "less"
            found = f"{bound.value} on {self.written.metric}"
            self.report.add_key((*self.here, bound.value), found, f"{sense.value}: {way} of it is better")

    def _check_bound(self, bound: Comparator, required: float, target: float | None) -> None:
        """Report a bound that every measurement meets, or that none can."""
        least, shares = bound is Comparator.AT_LEAST, self.basis in _WHOLES
        relative = self.basis is not Basis.ABSOLUTE and not shares
        found = f"{bound.value} {self._bound(bound)}"
        if least and required <= 0:
            self.report.add((*self.here, bound.value), found, "a bound above 0: nothing can be below it")
        elif not least and required >= 1 and not relative and self._bound(bound).rstrip().endswith("%"):
            self.report.add((*self.here, bound.value), found, "a share below 100 %: nothing can be above it")
        elif not least and required <= 0 and self.unit is Unit.SECOND:
            self.report.add((*self.here, bound.value), found, "a time above 0: nothing takes less")
        elif least and shares and required > 1:
            self.report.add((*self.here, bound.value), found, f"100 % of {self.basis.value} at most: nothing has more")
        if least and shares and target is not None and target > 1 >= required:
            expected = f"100 % of {self.basis.value} at most: nothing has more"
            self.report.add((*self.here, "target"), f"a target of {self.written.target}", expected)

    def _check_target(self, bound: Comparator, required: float, target: float | None) -> None:
        least = bound is Comparator.AT_LEAST
        if target is not None and (target < required if least else target > required):
            found = f"a target of {self.written.target}, which is worse than {bound.value} {self._bound(bound)}"
            expected = "the better of the two as target: what lies between them is to be watched"
            self.report.add((*self.here, "target"), found, expected)

    def _check_step(self, required: float, step: float | None) -> None:
        if step and step > COARSEST * required * (1 + 1e-9):
            most = COARSEST * required
            shown = percent(most) if self.basis is not Basis.ABSOLUTE else show(most, self.unit)
            expected = f"at most a tenth of the bound ({shown}): a coarser step decides by itself"
            self.report.add((*self.here, "round"), f"a step of {self.written.round}", expected)

    def _check_bits(self) -> None:
        if not self.traits.in_bytes or self.basis is not Basis.ABSOLUTE:
            return
        for name in ("at_least", "at_most", "target", "round"):
            text = str(getattr(self.written, name))
            if _IN_BITS.fullmatch(text):
                expected = f"a rate in bytes, as {self.written.metric} is told"
                near = storage_rate(parse(text, Unit.BYTE_RATE))
                self.report.add((*self.here, name), f"{text!r}, a rate in bits", expected, near)

    def _bound(self, bound: Comparator) -> str:
        return str(getattr(self.written, bound.value))


def check_labels(
    report: ProblemReport,
    vocabulary: Vocabulary,
    metric: str,
    where: Mapping[str, raw.Scalar],
    here: Location,
    cohorts: Collection[str],
) -> None:
    """Report labels of ``where`` that no number of ``metric`` carries, and conditions that cannot be read."""
    known = tuple(_list_labels(vocabulary, metric, cohorts))
    for name, value in where.items():
        if known and name not in known:
            expected = f"one of {', '.join(known)}"
            report.add_key((*here, name), f"unknown label {name!r} of {metric}", expected, find_near(name, known))
        try:
            parse_condition(str(value))
        except UnitError as error:
            report.add((*here, name), repr(value), error.expected, error.suggestion)


def _list_labels(vocabulary: Vocabulary, metric: str, cohorts: Collection[str]) -> Iterator[str]:
    """Labels that a number of the metric may carry: of its parser, points of sweeps, cohorts; none if not told."""
    own = vocabulary.traits.get(metric, MetricTraits()).labels
    if own is not None:
        options = vocabulary.probes.get(metric.partition(".")[0], {})
        yield from sorted({*own, *options, *cohorts, *IMPLIED, CLIENTS})
