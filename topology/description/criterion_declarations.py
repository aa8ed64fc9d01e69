"""Reads criteria: the bound, the basis that it is a share of, the statistic that it asks, and who set it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from benchconsole.topology.description import raw
from benchconsole.topology.description.criterion_check import CriterionCheck, check_labels
from benchconsole.topology.description.declarations import Declarations
from benchconsole.topology.description.document import Location
from benchconsole.topology.errors import find_near
from benchconsole.topology.model.fabric import Basis, Comparator, Criterion, OtherMetric
from benchconsole.topology.model.statistic import NAMES, is_statistic
from benchconsole.topology.model.storage import Storage
from benchconsole.topology.units import Unit, UnitError, parse, parse_any

_PERCENT_ONLY = "a percentage such as 80 % when 'of' is given"
_WORDS = {
    each.value: each for each in (Basis.CAPACITY, Basis.PEAK, Basis.CEILING, Basis.RTT, Basis.PEERS, Basis.BASELINE)
}
_BASES = f"one of {', '.join(_WORDS)}; a reference such as 100 s; or another metric as {{metric: NAME}}"
_DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
_OF_A_STATISTIC = (Basis.ABSOLUTE, Basis.PEAK, Basis.REFERENCE)


@dataclass(frozen=True, slots=True)
class _Base:
    """The base that a bound is a share of; ``reference`` and ``other`` as of a criterion."""

    basis: Basis = Basis.ABSOLUTE
    reference: float = 0.0
    other: OtherMetric | None = None


@dataclass(frozen=True, slots=True)
class CriterionReader:
    """Turns criteria into the model; knows the storage systems of the file, whose shares a criterion may take."""

    declared: Declarations
    storage: Mapping[str, Storage]

    def read(self, index: int, written: raw.RawCriterion) -> Criterion | None:
        """The criterion at a place of the list; None and a problem where it cannot be read."""
        report, here = self.declared.report, ("criteria", index)
        unit = self.declared.metric_unit(written.metric, (*here, "metric"))
        base = self._read_base(written, unit, here)
        bound = self._name_bound(written, base, here)
        if base is None or bound is None:
            return None
        in_unit: Unit | Callable[[str], float] = unit or _find_unit(written, bound, base) or _read_any
        read = _read_share if base.basis is not Basis.ABSOLUTE else in_unit
        required, target = self._read_bounds(written, bound, base, read, here)
        share = written.of is not None and str(written.round).rstrip().endswith("%")
        rounding = report.quantity(written.round, (*here, "round"), Unit.ONE if share else in_unit)
        nodes = self.declared.chosen(written.nodes, (*here, "nodes")) if written.nodes is not None else ()
        self._check_statistic(written, base, here)
        if required is None or nodes is None:
            return None
        vocabulary = self.declared.vocabulary
        if vocabulary is not None and unit is not None:
            step = rounding if share or written.of is None else _find_share(rounding, base)
            checked = CriterionCheck(report, vocabulary, unit, here, written, base.basis, tuple(self.declared.cohorts))
            checked.report_contradictions(bound, required, target, step)
        if unit is None and written.of is None:
            unit = parse_any(str(getattr(written, bound.value)))[1]
        return Criterion(
            metric=written.metric,
            comparator=bound,
            required=required,
            unit=unit or Unit.ONE,
            basis=base.basis,
            target=target,
            rounding=rounding or 0.0,
            rounds_share=share,
            where=_sort_labels(written.where),
            nodes=frozenset(nodes),
            source=written.source,
            statistic=written.statistic or "",
            reference=base.reference,
            other=base.other,
            author=written.author,
            date=self._read_date(written, here),
        )

    def _read_base(self, written: raw.RawCriterion, unit: Unit | None, here: Location) -> _Base | None:
        of, there = written.of, (*here, "of")
        if of is None:
            return _Base()
        if isinstance(of, raw.RawOtherMetric):
            return self._read_other(written, of, unit, there)
        word = _WORDS.get(str(of).strip())
        if word is not None:
            return _Base(word)
        try:
            reference = parse(str(of), unit) if unit is not None else parse_any(str(of))[0]
        except UnitError:
            self.declared.report.add(there, repr(of), _BASES, find_near(str(of), _WORDS))
            return None
        if reference <= 0:
            self.declared.report.add(there, repr(of), "a reference above 0")
            return None
        return _Base(Basis.REFERENCE, reference)

    def _read_other(
        self, written: raw.RawCriterion, of: raw.RawOtherMetric, unit: Unit | None, there: Location
    ) -> _Base | None:
        report = self.declared.report
        other = self.declared.metric_unit(of.metric, (*there, "metric"))
        if other is not None and unit is not None and other is not unit:
            report.add((*there, "metric"), f"{of.metric} in {other.value}", f"a metric in {unit.value}, as its share")
            return None
        where = _sort_labels(of.where)
        if of.metric == written.metric and where == _sort_labels(written.where):
            report.add(there, f"{of.metric} as a share of itself", "another metric, or other labels")
            return None
        if self.declared.vocabulary is not None:
            cohorts = tuple(self.declared.cohorts)
            check_labels(report, self.declared.vocabulary, of.metric, of.where or {}, (*there, "where"), cohorts)
        return _Base(Basis.METRIC, other=OtherMetric(of.metric, where))

    def _name_bound(self, written: raw.RawCriterion, base: _Base | None, here: Location) -> Comparator | None:
        """The bound that is written; a share of a storage ceiling may leave it to the storage system."""
        bounds = [name for name in ("at_least", "at_most") if getattr(written, name) is not None]
        if len(bounds) == 1:
            return Comparator(bounds[0])
        if not bounds and base is not None and base.basis is Basis.CEILING:
            return Comparator.AT_LEAST
        found = "both at_least and at_most" if bounds else "no bound"
        self.declared.report.add(here, found, "one of at_least and at_most")
        return None

    def _read_bounds(
        self, written: raw.RawCriterion, bound: Comparator, base: _Base, read: Unit | Callable[[str], float],
        here: Location,
    ) -> tuple[float | None, float | None]:  # fmt: skip
        """The bound and the target; of a storage ceiling without a bound those of the storage systems."""
        report = self.declared.report
        if base.basis is Basis.CEILING and not self.storage:
            report.add((*here, "of"), "ceiling, and no storage system", "a storage system under storage")
            return None, None
        if getattr(written, bound.value) is not None:
            required = report.quantity(getattr(written, bound.value), (*here, bound.value), read)
            return required, report.quantity(written.target, (*here, "target"), read)
        shares = {(each.required, each.target) for each in self.storage.values()}
        if len(shares) > 1 or written.target is not None:
            found = "no bound, and storage systems with several" if len(shares) > 1 else "a target and no bound"
            report.add(here, found, "at_least: a percentage such as 60 %")
            return None, None
        return shares.pop()

    def _check_statistic(self, written: raw.RawCriterion, base: _Base, here: Location) -> None:
        report, name = self.declared.report, written.statistic
        if name is None:
            return
        if not is_statistic(name):
            hint = find_near(name, NAMES)
            report.add((*here, "statistic"), repr(name), f"one of {', '.join(NAMES)}", hint)
        elif base.basis not in _OF_A_STATISTIC:
            found = f"statistic {name} of shares of {base.basis.value}"
            report.add((*here, "statistic"), found, "a statistic of the numbers, or of their shares of a peak")

    def _read_date(self, written: raw.RawCriterion, here: Location) -> str:
        if written.date and not _DATE.fullmatch(written.date):
            self.declared.report.add((*here, "date"), repr(written.date), "a date such as 2016-04-20")
        return written.date


def _find_unit(written: raw.RawCriterion, bound: Comparator, base: _Base) -> Unit | None:
    """The unit of the bound or of the reference, of a metric that nobody knows here.

    A stored file is read without the probes.
    """
    text = {Basis.ABSOLUTE: getattr(written, bound.value), Basis.REFERENCE: written.of}.get(base.basis)
    try:
        return parse_any(str(text))[1]
    except UnitError:
        return None


def _read_any(text: str) -> float:
    return parse_any(text)[0]


def _find_share(step: float | None, base: _Base) -> float | None:
    """A step in a unit as a share of the base; None where that is not known before it is measured."""
    return step / base.reference if step is not None and base.basis is Basis.REFERENCE else None


def _read_share(text: str) -> float:
    if not text.strip().endswith("%"):
        raise UnitError(text, _PERCENT_ONLY)
    return parse(text, Unit.ONE)


def _sort_labels(where: Mapping[str, raw.Scalar] | None) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, str(value)) for key, value in (where or {}).items()))
