"""The areas of what was measured: single results, pairs of nodes, points of curves, criteria."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from benchconsole.console.curves.curve_model import Chart, Curve, Point
from benchconsole.console.curves.curve_text import format_chart_name, format_cohort_name
from benchconsole.console.curves.sweep_series import ChartCache
from benchconsole.console.reports import tables
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row, take_finite
from benchconsole.console.tui.queries.pair_causes import describe_pair_causes, find_pair_causes, name_causes
from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.console.view.remark_words import group_remarks, name_point
from benchconsole.console.view.result_rows import ResultRow, list_current_rows, list_finding_rows
from benchconsole.console.view.run_view import RunView
from benchconsole.console.view.wording import (
    NOT_MEASURED,
    SIGNS,
    format_expected,
    format_measured,
    format_quantity,
    format_share,
)
from benchconsole.probes.model.judgement import Finding, Level, Verdict
from benchconsole.probes.model.labels import tell_labels
from benchconsole.probes.model.measuring import Labels
from benchconsole.probes.model.remark import About
from benchconsole.topology.model.fabric import Criterion
from benchconsole.topology.units import Shown, Unit

_SHARES = {"share": scale_for(Unit.ONE, Shown.PERCENT, ())}

# -- results

_RESULT_COLUMNS = {
    "state": Column("state"), "of": words("of"), "metric": words("metric"), "labels": words("labels"),
    "measured": number("measured"), "expected": number("expected"), "share": number("share"),
    "why": words("why", 20), "stage": words("stage"), "round": number("round"),
}  # fmt: skip


def list_results(view: RunView, most: int | None = None) -> Area:
    """Every number that counts, with its verdict where one was made, and every test that gave none.

    Where these are more than ``most``, those that pass are left out, and the note says so.
    """
    rows, note = _list_rows(view, most, lambda _: True)
    return Area("Results", _RESULT_COLUMNS, _make_results(rows), _SHARES, note)


def list_evidence(view: RunView, finding: Finding) -> Area:
    """The tests that a finding rests on, each with its numbers and its verdict, the worst first."""
    return Area("Evidence", _RESULT_COLUMNS, _make_results(list_finding_rows(view, finding)), _SHARES)


def _list_rows(
    view: RunView, most: int | None, is_listed: Callable[[Verdict | None], bool]
) -> tuple[Sequence[ResultRow], str]:
    """The rows that count and are listed, by their verdicts; and what is said of those that are left out.

    Where they are more than ``most``, no row is made of what passes.
    """
    passed = 0

    def leave_out(verdict: Verdict) -> bool:
        nonlocal passed
        if not is_listed(verdict):
            return True
        result = view.results.get(verdict.test)
        is_pass = verdict.level is Level.PASS and (result is None or result.failure is None)
        passed += is_pass
        return is_pass

    if most is not None:
        kept = [row for row in list_current_rows(view, leave_out) if is_listed(row.verdict)]
        if len(kept) + passed > most:
            return kept, f"{passed:,} that pass are not listed"
    return [row for row in list_current_rows(view) if is_listed(row.verdict)], ""


class _LabelWords:
    """The labels of numbers in words: first those that tell numbers of one metric apart, then those of all."""

    def __init__(self, rows: Iterable[ResultRow]) -> None:
        every: dict[str, set[Labels]] = {}
        for row in rows:
            about = row.verdict or row.measurement
            if about is not None:
                every.setdefault(about.metric, set()).add(about.labels)
        self._alike = {metric: set.intersection(*map(set, some)) for metric, some in every.items()}
        self._known: dict[tuple[str, Labels], str] = {}

    def format(self, metric: str, labels: Labels) -> str:
        """``stream=3 cubic out``."""
        found = self._known.get((metric, labels))
        if found is None:
            alike = self._alike.get(metric, set())
            in_order = sorted(labels, key=alike.__contains__)
            found = self._known[metric, labels] = sanitize(" ".join(tell_labels(tuple(in_order))))
        return found


def _make_results(rows: Sequence[ResultRow]) -> tuple[Row, ...]:
    named = _LabelWords(rows)
    return tuple(_make_result(row, named) for row in rows)


def _make_result(row: ResultRow, named: _LabelWords) -> Row:
    share = None if row.verdict is None else row.verdict.share
    return Row(_tell_result(row, named), {"share": share}, _record_result, row.state, row)


def _tell_result(row: ResultRow, named: _LabelWords) -> dict[str, str]:
    verdict, reading = row.verdict, row.measurement
    about = verdict or reading
    metric, labels = ("", ()) if about is None else (about.metric, about.labels)
    value, unit = (None, None) if about is None else (about.value, about.unit)
    return {
        "state": SIGNS[row.state].word, "of": sanitize(row.subject), "round": str(row.round),
        "stage": sanitize(row.stage), "metric": sanitize(metric), "labels": named.format(metric, labels),
        "measured": format_quantity(value, unit, row.shown) if verdict is None else format_measured(verdict),
        "expected": NOT_MEASURED if verdict is None else format_expected(verdict),
        "share": format_share(None if verdict is None else verdict.share), "why": sanitize(row.because),
    }  # fmt: skip


def _record_result(row: ResultRow) -> Record:
    about = row.verdict or row.measurement
    metric, labels = ("", ()) if about is None else (about.metric, about.labels)
    value, unit = (None, None) if about is None else (about.value, about.unit)
    expected = None if row.verdict is None else row.verdict.expected
    return {
        "state": row.state.value, "of": row.subject, "nodes": list(row.nodes), "stage": row.stage, "round": row.round,
        "test": row.test, "outcome": row.outcome.value, "metric": metric, "labels": dict(labels),
        "unit": None if unit is None else unit.value, "value": take_finite(value), "expected": take_finite(expected),
        "because": row.because,
    }  # fmt: skip


# -- pairs


def list_pairs(view: RunView, most: int | None = None) -> Area:
    """Every judged flow from one node to another, the lowest share of what it should reach first.

    Where these are more than ``most``, those that pass are left out, and the note says so. It also tells the causes.
    """
    columns = {
        "state": Column("state"), "from": words("from"), "to": words("to"), "stage": words("stage"),
        "metric": words("metric"), "measured": number("measured"), "expected": number("expected"),
        "share": number("share"), "limit": words("limit"), "cause": words("cause"),
    }  # fmt: skip
    rows, left_out = _list_rows(view, most, partial(is_pair, view))
    in_order = sorted(rows, key=_find_share)
    named, causes = _LabelWords(in_order), name_causes(view, in_order)
    found = tuple(_make_pair(row, named, causes.get(row.test, "")) for row in in_order)
    note = "; ".join(filter(None, (left_out, sanitize(describe_pair_causes(find_pair_causes(view, in_order))))))
    return Area("Pairs", columns, found, _SHARES, note)


def is_pair(view: RunView, verdict: Verdict | None) -> bool:
    """Whether there is a verdict, on a flow from one node to another."""
    if verdict is None or len(verdict.nodes) != 2:
        return False
    result = view.results.get(verdict.test)
    return result is not None and result.test.target.peer is not None


def _find_share(row: ResultRow) -> tuple[bool, float]:
    """The key that orders pairs: those without a share come last."""
    share = None if row.verdict is None else row.verdict.share
    return share is None, share or 0.0


def _make_pair(row: ResultRow, named: _LabelWords, cause: str) -> Row:
    node, peer = row.nodes
    text = {
        **_tell_result(row, named),
        "from": sanitize(node),
        "to": sanitize(peer),
        "limit": sanitize(_find_limit(row)),
        "cause": sanitize(cause),
    }
    share = None if row.verdict is None else row.verdict.share
    return Row(text, {"share": share}, partial(_record_pair, cause) if cause else _record_well, row.state, row)


def _record_pair(cause: str, row: ResultRow) -> Record:
    node, peer = row.nodes
    return {**_record_result(row), "from": node, "to": peer, "limit": _find_limit(row), "cause": cause}


_record_well = partial(_record_pair, "")


def _find_limit(row: ResultRow) -> str:
    return row.affected_by or ("" if row.verdict is None else row.verdict.limiting)


# -- curves


def list_curves(view: RunView) -> Area:
    """Every point of every curve of a sweep, with the spread of its repetitions."""
    columns = {
        "state": Column("state"), "stage": words("stage"), "curve": words("curve"), "axis": words("axis"),
        "at": number("at"), "median": number("median"), "low": number("low"), "high": number("high"), "n": number("n"),
        "gain": number("gain"), "why": words("why", 20), "remarks": words("remarks", 20),
    }  # fmt: skip
    said = group_remarks(view.remarks, (About.POINT,))
    rows = (
        _make_point(chart, curve, point, said.get(name_point(chart.stage, chart.find_point(point.value)), ()))
        for chart in ChartCache().compute(view)
        for curve in chart.curves
        for point in curve.points
        if point.is_asked
    )
    return Area("Curves", columns, tuple(rows), {})


def _make_point(chart: Chart, curve: Curve, point: Point, remarks: Sequence[str]) -> Row:
    gain = curve.gains.get(point.value)
    name = " ".join(filter(None, (format_chart_name(chart), format_cohort_name(chart, curve))))
    low, median, high = (
        format_quantity(each, chart.unit, chart.shown) for each in (point.low, point.median, point.high)
    )
    text = {
        "state": "" if point.state is None else SIGNS[point.state].word, "stage": sanitize(chart.stage), "curve": name,
        "axis": sanitize(chart.axis), "at": sanitize(point.value), "low": low, "median": median, "high": high,
        "n": f"{len(point.values):,}", "gain": "" if gain is None else f"{gain:+.0%}",
        "why": sanitize("; ".join(f"{each.tests:,} {each.why}" if each.tests else each.why for each in point.missing)),
        "remarks": "; ".join(remarks),
    }  # fmt: skip
    record: Record = {
        "stage": chart.stage, "metric": chart.metric, "labels": {**dict(chart.labels), **dict(chart.held)},
        "cohort": dict(curve.cohort), "axis": chart.axis, "at": point.value,
        "unit": None if chart.unit is None else chart.unit.value, "values": list(point.values),
        "median": point.median, "low": point.low, "high": point.high, "gain": gain,
        "state": None if point.state is None else point.state.value, "bounds": list(point.bounds),
        "missing": [{"why": each.why, "tests": each.tests} for each in point.missing], "remarks": list(remarks),
    }  # fmt: skip
    return Row(text, {"gain": gain, "median": point.median}, record)


# -- criteria


def list_criteria(view: RunView) -> Area:
    """Every criterion of the file with what came of it, as reports have it."""
    columns = {
        "state": Column("state"), "clause": words("clause"), "metric": words("metric"), "applies": words("applies to"),
        "required": words("required"), "n": number("n"), "worst": words("worst"), "share": number("of required"),
        "outcome": words("outcome"), "remarks": words("remarks", 20),
    }  # fmt: skip
    said = group_remarks(view.remarks, (About.CLAUSE,))
    rows = (
        _make_criterion(line, [text for name in _name_clauses(each) for text in said.get(name, ())])
        for each, line in zip(view.fabric.criteria, tables.list_criteria(view), strict=True)
    )
    return Area("Criteria", columns, tuple(rows), {})


def _name_clauses(criterion: Criterion) -> tuple[str, ...]:
    """The subjects of remarks on a criterion: its source, and its metric."""
    return tuple(dict.fromkeys(filter(None, (criterion.source, criterion.metric))))


def _make_criterion(line: tables.CriterionLine, remarks: Sequence[str]) -> Row:
    text = {
        "state": SIGNS[line.state].word, "clause": line.source, "metric": line.metric, "applies": line.applies,
        "required": line.bound, "n": f"{line.number:,}", "worst": line.worst, "share": line.of_required,
        "outcome": line.outcome, "remarks": "; ".join(remarks),
    }  # fmt: skip
    return Row(text, {}, {**line._asdict(), "state": line.state.value, "remarks": list(remarks)})
