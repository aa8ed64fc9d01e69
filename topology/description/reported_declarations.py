"""Resolves the section ``reported``: results as a document prints them, with the percentages beside them."""

from collections.abc import Iterator, Sequence
from types import MappingProxyType

from benchconsole.topology.dataclass import dataclass
from benchconsole.topology.description import raw
from benchconsole.topology.description.criterion_check import check_labels
from benchconsole.topology.description.declarations import Declarations
from benchconsole.topology.description.document import Location
from benchconsole.topology.model.claims import ReportedResult, ShareOf, Statistic
from benchconsole.topology.units import Unit, UnitError, Written, parse_any, read_written


@dataclass(frozen=True, slots=True)
class ReportedReader:
    """Reads the reported results of one file; ``declared`` knows its nodes and the metrics of the probes."""

    declared: Declarations

    def results(self, written: Sequence[raw.RawReported | None]) -> Iterator[ReportedResult]:
        """Those without a problem, in file order."""
        read = (self._result(("reported", index), each) for index, each in enumerate(written) if each is not None)
        return (result for result in read if result is not None)

    def _result(self, here: Location, written: raw.RawReported) -> ReportedResult | None:
        declared = self.declared
        unit = declared.metric_unit(written.metric, (*here, "metric"))
        if declared.vocabulary is not None and unit is not None:
            where = (*here, "where")
            check_labels(
                declared.report, declared.vocabulary, written.metric, written.where or {}, where, declared.cohorts
            )
        value = self._quantity(written.value, unit, (*here, "value"))
        parts = {
            ShareOf.REQUIRED: written.of_required, ShareOf.TARGET: written.of_target, ShareOf.PEAK: written.of_peak,
        }  # fmt: skip
        shares = {of: self._share(part, (*here, f"of_{of}")) for of, part in parts.items()}
        nodes = declared.chosen(written.nodes, (*here, "nodes")) if written.nodes is not None else ()
        if value is None or nodes is None:
            return None
        return ReportedResult(
            metric=written.metric,
            value=value,
            unit=unit or parse_any(str(written.value))[1],
            shares=MappingProxyType({of: share for of, share in shares.items() if share is not None}),
            statistic=Statistic(written.statistic),
            where=tuple(sorted((name, str(each)) for name, each in (written.where or {}).items())),
            nodes=nodes,
            source=written.source,
        )

    def _quantity(self, written: raw.Quantity, unit: Unit | None, here: Location) -> Written | None:
        try:
            return read_written(str(written), unit or parse_any(str(written))[1])
        except UnitError as error:
            self.declared.report.add(here, repr(written), error.expected, error.suggestion)
            return None

    def _share(self, written: raw.Quantity | None, here: Location) -> Written | None:
        if written is None:
            return None
        if not str(written).strip().endswith("%"):
            self.declared.report.add(here, repr(written), "a percentage as it is printed, such as 137.1 %")
            return None
        return self._quantity(written, Unit.ONE, here)
