"""Results that documents report: their percentages held against their numbers, and one number told twice.

A percentage is a share of the required value or target of the one criterion that speaks of the same numbers, or of the
stated peak of one node (of as many as the label ``nodes`` says). A number of a document is taken as rounded to its last
digit: it is wrong where no number is rounded to it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding, fold_names
from benchconsole.topology.analysis.storage_ceilings import (
    compute_ceilings,
    find_only_system,
    list_ceilings,
    name_operation,
)
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.claims import ReportedResult, ShareOf, Statistic
from benchconsole.topology.model.conditions import format_condition, parse_condition
from benchconsole.topology.model.fabric import Basis, Criterion, Fabric, NodeId
from benchconsole.topology.units import Written


class CellOutcome(StrEnum):
    """How a reported number stands beside what was computed or measured for it."""

    AGREES = "agrees"
    DIFFERS = "differs"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ReportedCell:
    """One number of a document: the value of ``result``, or with ``of`` a percentage beside it.

    ``computed`` is None where it cannot be known; ``how`` says what it was made of, or why it is not known.
    """

    result: ReportedResult
    of: ShareOf | None
    written: Written
    computed: float | None
    how: str
    outcome: CellOutcome

    @property
    def shown(self) -> str:
        """The computed value, with one digit more than is written where the two differ; empty where it is not known."""
        if self.computed is None:
            return ""
        return self.written.format(self.computed, more=int(self.outcome is CellOutcome.DIFFERS))


def list_share_cells(
    fabric: Fabric, result: ReportedResult, value: float, span: tuple[float, float]
) -> Iterator[ReportedCell]:
    """The percentages of ``result``, computed from ``value``, which lies between the ends of ``span``."""
    for of, written in result.shares.items():
        base, why = _find_base(fabric, result, of)
        if base is None:
            yield ReportedCell(result, of, written, None, why, CellOutcome.UNKNOWN)
            continue
        agrees = written.agrees(*(sorted(end / base for end in span)))
        how = f"{result.value.format(value)} of {_format_base(result.value, base)}"
        outcome = CellOutcome.AGREES if agrees else CellOutcome.DIFFERS
        yield ReportedCell(result, of, written, value / base, how, outcome)


def _format_base(like: Written, base: float) -> str:
    number = f"{base / like.scale:,.2f}".rstrip("0").rstrip(".")
    return f"{number} {like.unit}".rstrip()


def _find_base(fabric: Fabric, result: ReportedResult, of: ShareOf) -> tuple[float | None, str]:
    """The base of a percentage, in the unit of the value; or None and the reason."""
    if of is ShareOf.PEAK:
        return _find_peak(fabric, result)
    criteria = [each for each in fabric.criteria if _speaks_of(each, result)]
    if len(criteria) != 1:
        return None, f"{len(criteria) or 'no'} criteria speak of it"
    criterion = criteria[0]
    bound = criterion.required if of is ShareOf.REQUIRED else criterion.target
    if bound is None:
        return None, "its criterion has no target"
    if criterion.basis is Basis.CAPACITY:
        return None, "its criterion asks for a share of capacity, which differs by test"
    if criterion.basis is Basis.RTT:
        return None, "its criterion asks for a share of the described round trip, which differs by test"
    base, why = _find_share_base(fabric, result, criterion)
    return None if base is None else bound * base, why


def _find_share_base(fabric: Fabric, result: ReportedResult, criterion: Criterion) -> tuple[float | None, str]:
    """The base of the bounds of a criterion, 1 where they are no shares; or None and the reason."""
    if criterion.basis is Basis.ABSOLUTE:
        return 1.0, ""
    if criterion.basis is Basis.PEAK:
        return _find_peak(fabric, result)
    if criterion.basis is Basis.REFERENCE:
        return criterion.reference, ""
    if criterion.basis is Basis.CEILING:
        return _find_ceiling(fabric, result)
    return None, f"its criterion asks for a share of {criterion.basis.value}, which is measured"


def _find_ceiling(fabric: Fabric, result: ReportedResult) -> tuple[float | None, str]:
    nodes, operation = result.nodes or tuple(fabric.nodes), name_operation(result.metric, result.where)
    system = find_only_system(fabric, nodes)
    if system is None or not operation:
        return None, "no storage system of its nodes, or no operation, is named"
    found = [each.value for each in list_ceilings(compute_ceilings(fabric), system, nodes, operation)]
    least = min((each for each in found if each is not None), default=None)
    return least, "" if least is not None else f"no ceiling of {system.name} is known"


def _find_peak(fabric: Fabric, result: ReportedResult) -> tuple[float | None, str]:
    peaks = {fabric.nodes[NodeId(name)].hardware.peak for name in result.nodes or fabric.nodes}
    peak = next(iter(peaks))
    if peak is None or len(peaks) > 1:
        return None, "its nodes have several peaks" if len(peaks - {None}) > 1 else "not all of its nodes state a peak"
    together = dict(result.where).get("nodes", "1")
    return (peak * int(together), "") if together.isdecimal() else (None, f"the number of nodes is {together}")


def _speaks_of(criterion: Criterion, result: ReportedResult) -> bool:
    """Whether a criterion asks for something of all these numbers; a label that is not written may be the one asked."""
    asked = dict(result.where)
    return (
        criterion.metric == result.metric
        and (not criterion.nodes or (bool(result.nodes) and criterion.nodes.issuperset(map(NodeId, result.nodes))))
        and all(_may_be(asked.get(name, text), text) for name, text in criterion.where)
    )


def _may_be(written: str, asked: str) -> bool:
    return written == asked or parse_condition(asked).accepts(written)


def _describe_result(result: ReportedResult) -> str:
    """``highest dd.throughput (operation=write)``; a mean is not named."""
    labels = ", ".join(format_condition(name, text) for name, text in result.where)
    which = "" if result.statistic is Statistic.MEAN else f"{result.statistic} "
    return f"{which}{result.metric}{f' ({labels})' if labels else ''}"


def list_findings(fabric: Fabric) -> Iterator[StaticFinding]:
    """Percentages that contradict their own numbers, percentages that nothing is known of, and contradictions."""
    for result in fabric.reported:
        for cell in list_share_cells(fabric, result, result.value.value, result.value.span):
            if cell.outcome is not CellOutcome.AGREES:
                yield _describe_cell(fabric, cell)
    alike = group_by_key(((each.metric, each.where, each.nodes, each.statistic), each) for each in fabric.reported)
    for results in alike.values():
        if any(not one.value.agrees(*other.value.span) for one, other in combinations(results, 2)):
            yield _describe_twice(fabric, results)


def _place(fabric: Fabric, result: ReportedResult) -> str:
    return fold_names(result.nodes) if result.nodes else fabric.name


def _cite(result: ReportedResult) -> str:
    return f" ({result.source})" if result.source else ""


def _describe_cell(fabric: Fabric, cell: ReportedCell) -> StaticFinding:
    result, written = cell.result, cell.written.format(cell.written.value)
    text = f"{_describe_result(result)}: {written} of {cell.of} is reported{_cite(result)};"
    if cell.outcome is CellOutcome.UNKNOWN:
        text = f"{text} it cannot be checked: {cell.how}"
        return StaticFinding(Severity.NOTE, "reported-unknown", _place(fabric, result), text)
    text = f"{text} {cell.how} is {cell.shown}"
    return StaticFinding(Severity.ERROR, "reported-share", _place(fabric, result), text)


def _describe_twice(fabric: Fabric, results: Iterable[ReportedResult]) -> StaticFinding:
    same = list(results)
    values = dict.fromkeys(f"{each.value.format(each.value.value)}{_cite(each)}" for each in same)
    text = f"{_describe_result(same[0])}: {' and '.join(values)} are reported; no number is rounded to both"
    return StaticFinding(Severity.ERROR, "reported-twice", _place(fabric, same[0]), text)
