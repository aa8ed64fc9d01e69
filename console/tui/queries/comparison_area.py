"""The area of a comparison: two sessions metric by metric, what else differs, and one metric by node, pair or set."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from benchconsole.console.conclusions.metric_names import MetricName, name_metrics
from benchconsole.console.conclusions.session_comparison import ComparedMetric, Outcome, judge_each
from benchconsole.console.reports.comparison_page import (
    ComparisonReport,
    format_effect,
    format_mean,
    format_metric_outcome,
    format_number,
    make_metric_record,
)
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, number, words
from benchconsole.console.tui.queries.area import Area, Record, Row, take_finite
from benchconsole.console.tui.queries.compared_sessions import list_session_cells
from benchconsole.console.tui.rows.scales import scale_for
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.wording import NOT_MEASURED
from benchconsole.topology.natural_order import make_natural_key
from benchconsole.topology.units import Shown, Unit, show_change

SIGNS_OF: Mapping[Outcome, State] = {
    Outcome.WORSE: State.FAIL,
    Outcome.MIXED: State.WATCH,
    Outcome.BETTER: State.PASS,
    Outcome.HIGHER: State.MEASURED,
    Outcome.LOWER: State.MEASURED,
    Outcome.NO_EFFECT: State.PASS,
    Outcome.SAME: State.PASS,
    Outcome.NOT_COMPARABLE: State.SKIPPED,
}
"""How each outcome is drawn."""

QUIET = (Outcome.NO_EFFECT, Outcome.SAME, Outcome.NOT_COMPARABLE)
"""Outcomes that come after all that differs."""

_ORDER = (Outcome.WORSE, Outcome.MIXED, Outcome.BETTER, Outcome.HIGHER, Outcome.LOWER, *QUIET)
_CHANGE = {"change": scale_for(Unit.ONE, Shown.PERCENT, ())}

TELLING = "telling"
"""The words of a row that tell it from the others of its name; no column of their own."""

A_ALONE, B_ALONE = "in A alone", "in B alone"
"""In place of an outcome: which session alone measured a node, pair or set."""

CLIPPED = 0.20
"""The share of a change at which its bar ends."""

_HALF = 10
_BAR = "-20 %     0    +20 %"
"""The heading of the bars, with the signs that numbers have."""


def list_compared(report: ComparisonReport, *, has_bars: bool = False) -> Area:
    """Metrics that differ, worse first, then what else differs, then metrics that do not; ``has_bars``: drawn, too."""
    columns = {
        "outcome": Column("outcome"), "what": words("what", 18, kept=TELLING), "of": words("of", 10), "a": number("A"),
        "b": number("B"), "change": number("B to A", outlasts=True), "bar": Column(_BAR),
        "interval": words("95 % interval", 10), "kind": words("kind", 8), "stage": words("stage", 8),
        "why": words("why", 12),
    }  # fmt: skip
    # Labels that all compared metrics of a name have alike tell nothing, whatever those that are not comparable have.
    named = dict(name_metrics(report.metrics))
    named |= name_metrics(each for each in report.metrics if each.outcome is not Outcome.NOT_COMPARABLE)
    metrics = [_make_metric(each, named[each]) for each in _sort_metrics(report.metrics)]
    quiet = [row for row in metrics if row.record["outcome"] in QUIET]
    rows = (*(row for row in metrics if row.record["outcome"] not in QUIET), *_list_other_differences(report), *quiet)
    own = ", ".join(report.facts.by_themselves[:3])
    more = len(report.facts.by_themselves) - 3
    note = f"facts that change by themselves: {own}{f' and {more:,} more' if more > 0 else ''}" if own else ""
    if not has_bars:  # nor is there a strip above the table
        del columns["bar"]
        names = (f"{each.letter} {each.name}, {each.began}, {each.verdict}" for each in list_session_cells(report))
        note = "   ".join(filter(None, (*names, note)))
    return Area("Comparison", columns, rows, _CHANGE, note)


def _sort_metrics(metrics: Sequence[ComparedMetric]) -> list[ComparedMetric]:
    """Worst outcome first; of one that differs the largest change first, else in the order of the plan."""

    def find_key(each: ComparedMetric) -> tuple[int, float]:
        found = each.comparison
        is_sized = found is not None and found.is_ratio and found.effect is not None and each.outcome not in QUIET
        # To a tenth of a percent: the streams of one test change alike, and stay in their order.
        return _ORDER.index(each.outcome), -round(abs(found.effect or 0.0), 3) if is_sized and found is not None else 0

    return sorted(metrics, key=find_key)


def _make_metric(each: ComparedMetric, name: MetricName) -> Row:
    found = each.comparison
    effect, interval = format_effect(each)
    change = found.effect if found is not None and found.is_ratio else None
    why = format_metric_outcome(each).removeprefix(each.outcome.value).lstrip(":; ")
    text = {
        "outcome": each.outcome.value, "what": name.text, TELLING: name.telling, "a": format_mean(each, each.means[0]),
        "b": format_mean(each, each.means[1]), "change": effect, "bar": draw_bar(change), "interval": interval,
        "of": format_number(each), "kind": "metric", "stage": sanitize(each.like.key.stage), "why": why,
    }  # fmt: skip
    return Row(text, {"change": change}, {"kind": "metric", **make_metric_record(each)}, SIGNS_OF[each.outcome])


def draw_bar(change: float | None) -> str:
    """A change as a bar from the middle, two percent a cell, with an arrow where it is longer than there is room."""
    if change is None:
        return ""
    cells = min(round(abs(change) / CLIPPED * _HALF), _HALF)
    wire, heavy = "─" * (_HALF - cells), "━" * cells
    if abs(change) > CLIPPED:
        heavy = heavy[1:] + "▸" if change > 0 else "◂" + heavy[1:]
    return f"{'─' * _HALF}│{heavy}{wire}" if change > 0 else f"{wire}{heavy}│{'─' * _HALF}"


def _list_other_differences(report: ComparisonReport) -> Iterator[Row]:
    """Criteria, the record of the sessions and facts of nodes that are others in B."""
    for each in report.criteria:
        text = {"outcome": "differs", "what": sanitize(each), "kind": "criterion"}
        yield Row(text, {}, {"kind": "criterion", "outcome": "differs", "what": each}, State.MEASURED)
    for record in report.record:
        text = {"outcome": "differs", "what": record.what, "a": record.before, "b": record.after, "kind": "record"}
        yield Row(text, {}, {"kind": "record", "outcome": "differs", **record._asdict()}, State.MEASURED)
    for fact in report.facts.shared:
        text = {
            "outcome": "differs", "what": fact.fact, "a": fact.before, "b": fact.after, "kind": "fact",
            "of": fact.nodes if fact.number == 1 else f"{fact.number:,} nodes: {fact.nodes}",
        }  # fmt: skip
        yield Row(text, {}, {"kind": "fact", "outcome": "differs", **fact._asdict()}, State.MEASURED)


def find_metric(report: ComparisonReport, row: Row) -> ComparedMetric | None:
    """The metric whose numbers a row compares; None for a row of something else, and where nothing was compared."""
    wanted = tuple(row.record.get(name) for name in ("stage", "metric", "labels"))
    return next(
        (
            each
            for each in report.metrics
            if each.samples and (each.like.key.stage, each.like.key.metric, dict(each.labels)) == wanted
        ),
        None,
    )


# -- one metric


def list_subjects(each: ComparedMetric) -> Area:
    """One metric node by node, pair by pair or set by set: those apart first, then the largest change.

    The outcome of each is the one that the comparison bears out (``judge_each``), or which side alone measured it.
    """
    columns = {
        "outcome": Column("outcome"), "of": words("of"), "a": number("A"), "b": number("B"),
        "change": number("B to A"), "bar": Column(_BAR), "n": number("n"),
    }  # fmt: skip
    before, after = (sample.group() for sample in each.samples)
    tests = [_list_tests(each, side) for side in (0, 1)]
    apart = frozenset(each.comparison.apart if each.comparison is not None else ())
    outcomes = judge_each(each)
    rows = [
        _make_subject(
            each, name, before.get(name, ()), after.get(name, ()), tests, outcomes.get(name), is_apart=name in apart
        )
        for name in sorted({**before, **after}, key=make_natural_key)
    ]
    rows.sort(key=lambda row: (not row.record["apart"], -abs(row.number("change") or 0.0)))
    return Area(sanitize(each.like.key.metric), columns, tuple(rows), _CHANGE)


def _list_tests(each: ComparedMetric, side: int) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    sample = each.samples[side]
    for name, test in zip(sample.subjects, sample.tests, strict=True):
        found.setdefault(name, []).append(test.id)
    return found


def find_shown_tests(row: Row, keys: tuple[str, str], view: RunView | None) -> list[str]:
    """The tests behind a row of ``list_subjects`` in the session ``view``, which may be neither of the compared."""
    if view is None or view.session not in keys:
        return []
    sides = [side for side, key in zip(("tests_a", "tests_b"), keys, strict=True) if key == view.session]
    told = (row.record[side] for side in sides)  # both of parts of one session
    return [str(test) for tests in told if isinstance(tests, list) for test in tests if test in view.results]


def _make_subject(
    each: ComparedMetric, name: str, before: Sequence[float], after: Sequence[float],
    tests: Sequence[Mapping[str, list[str]]], judged: Outcome | None, *, is_apart: bool,
) -> Row:  # fmt: skip
    one, other = (fmean(values) if values else None for values in (before, after))
    change = other / one - 1 if one is not None and other is not None and one > 0 and other > 0 else None
    outcome = judged.value if judged is not None else A_ALONE if other is None else B_ALONE
    text = {
        "outcome": f"{outcome}, apart" if is_apart else outcome, "of": sanitize(name), "a": format_mean(each, one),
        "b": format_mean(each, other), "change": NOT_MEASURED if change is None else show_change(change),
        "bar": draw_bar(change), "n": f"{len(before):,}, {len(after):,}",
    }  # fmt: skip
    record: Record = {
        "of": name, "a": take_finite(one), "b": take_finite(other), "change": change, "unit": each.like.key.unit.value,
        "outcome": outcome, "apart": is_apart, "tests_a": tests[0].get(name, []), "tests_b": tests[1].get(name, []),
    }  # fmt: skip
    sign = State.SKIPPED if judged is None else SIGNS_OF[judged]
    return Row(text, {"change": change}, record, sign)
