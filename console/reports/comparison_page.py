"""The comparison of two sessions, or of two parts of one, as a page of text and as JSON."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.console.conclusions.metric_names import MetricName, name_metrics
from benchconsole.console.conclusions.session_comparison import ComparedMetric, Outcome, sum_up
from benchconsole.console.conclusions.session_differences import FactChanges, RecordDifference
from benchconsole.console.reports.compared_session import ComparedSession
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, format_table, make_table, number, words
from benchconsole.console.view.wording import NOT_MEASURED, format_quantity
from benchconsole.probes.statistics.comparison import Pairing
from benchconsole.probes.statistics.summary import CONFIDENCE
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.units import counted, show_change

FACTS = 40
"""Changes of facts that the page lists; the others are counted."""


@dataclass(frozen=True, slots=True)
class ComparisonReport:
    """Everything that the page tells. ``names`` are those of both sides, ``criteria`` what B asks otherwise than A.

    ``keys`` are the ids of both sessions, one id twice for parts of one; ``briefs`` are their names in short;
    ``sessions`` tell both at a glance, none of them for parts. ``fabric`` is that of B.
    """

    names: tuple[str, str]
    metrics: Sequence[ComparedMetric]
    facts: FactChanges
    record: Sequence[RecordDifference]
    criteria: Sequence[str]
    keys: tuple[str, str] = ("", "")
    briefs: tuple[str, str] = ("", "")
    fabric: Fabric | None = None
    sessions: Sequence[ComparedSession] = ()

    @property
    def title(self) -> str:
        """Both sides in short: their ids, or the parts of one session."""
        return " with ".join(self.keys if self.sessions else self.briefs)

    @property
    def outcome(self) -> Outcome:
        return sum_up(self.metrics)


def format_page(report: ComparisonReport, width: int) -> Iterator[str]:
    """The lines of the page, none wider than ``width``."""
    told = [f": {each.words}" for each in report.sessions] or ["", ""]
    for letter, name, more in zip("AB", report.names, told, strict=True):
        yield from wrap_text(f"{sanitize(name)}{more}", width, f"{letter}  ")
    yield ""
    yield from wrap_text(f"B against A: {format_outcome(report)}", width)
    yield ""
    yield from _format_compared(report, width)
    yield from _format_not_comparable(report, width)
    yield from _format_apart(report, width)
    yield from _format_differences(report, width)


def _format_compared(report: ComparisonReport, width: int) -> Iterator[str]:
    """The compared metrics, those that changed first; stages and intervals where there is room."""
    names = name_metrics(report.metrics)
    same = [names[each].text for each in report.metrics if each.outcome is Outcome.SAME]
    compared = [each for each in report.metrics if each.outcome not in (Outcome.NOT_COMPARABLE, Outcome.SAME)]
    compared.sort(key=lambda each: list(Outcome).index(each.outcome))
    if not compared and not same:
        return
    fields: list[tuple[int, Column, Callable[[ComparedMetric], str]]] = [
        (0, words("metric", 18), lambda each: names[each].text),
        (140, words("stage", 8), lambda each: sanitize(each.like.key.stage)),
        (0, number("A"), lambda each: format_mean(each, each.means[0])),
        (0, number("B"), lambda each: format_mean(each, each.means[1])),
        (0, number("B to A"), lambda each: format_effect(each)[0]),
        (110, words("95 % interval", 10), lambda each: format_effect(each)[1]),
        (0, words("outcome", 9), format_metric_outcome),
        (0, words("n", 6), format_number),
    ]
    shown = [(column, make) for room, column, make in fields if width >= room]
    yield from format_table(make_table("Metrics", compared, *shown), width) if compared else ()
    yield from wrap_text(f"the same: {', '.join(same)}", width) if same else ()
    yield from _format_spreads(report.metrics, names, width)
    yield from wrap_text(ABOUT, width)
    yield ""


ABOUT = (
    "n counts nodes, pairs or sets, each with the mean of its repeats. Paired: each is held against itself. "
    "The interval holds the effect with 95 %; of 20 metrics without any effect one is called different by chance."
)


def _format_spreads(
    compared: Sequence[ComparedMetric], names: Mapping[ComparedMetric, MetricName], width: int
) -> Iterator[str]:
    """The metrics that are more or less consistent than before."""
    for each in compared:
        found = each.spread
        if found is not None and found.is_sure:
            said = "more consistent" if found.after < found.before else "less consistent"
            whose = "repetitions" if found.of_repeats else "nodes, pairs or sets"
            before, after = (f"{share:.1%}".replace("%", " %") for share in (found.before, found.after))
            spread = f"{whose} spread by {before}, then by {after}"
            yield from wrap_text(f"{names[each].text}: {said}: {spread}", width)


def format_outcome(report: ComparisonReport, *, names_differences: bool = True) -> str:
    """``mixed: 1 better, 2 worse, 3 same``, then what differs beside the metrics.

    The lead is of the compared numbers alone, and says so, where something else differs or was not compared. Where
    that is named elsewhere ``names_differences`` leaves it out.
    """
    counts = Counter(each.outcome for each in report.metrics)
    told = ", ".join(f"{counts[each]} {each}" for each in Outcome if counts[each])
    if not told:
        return "nothing was measured"
    beside = tell_beside(report)
    is_whole = not beside and not counts[Outcome.NOT_COMPARABLE]
    lead = report.outcome.value if is_whole else _NARROWED.get(report.outcome, report.outcome.value)
    shown = (words for words in beside if names_differences or not words.startswith(_DIFFERS))
    return "; ".join((f"{lead}: {told}", *shown))


_NARROWED = {Outcome.SAME: "compared numbers are the same", Outcome.NO_EFFECT: "compared numbers show no effect"}
"""The leads that would otherwise deny a difference that stands in another row."""

_DIFFERS = "differs: "


def tell_beside(report: ComparisonReport) -> tuple[str, ...]:
    """The differences beside the means of the metrics, and what was not compared; empty for neither."""
    differs = [
        *(sanitize(each.what) for each in report.record),
        *((f"{len(report.criteria):,} criteria" if report.criteria[1:] else "1 criterion",) if report.criteria else ()),
        *((f"{counted(len(report.facts.shared), 'fact')} of nodes",) if report.facts.shared else ()),
    ]
    apart = sum(each.comparison is not None and bool(each.comparison.apart) for each in report.metrics)
    spread = sum(each.spread is not None and each.spread.is_sure for each in report.metrics)
    alone = sum(any(each.left_out) for each in report.metrics)
    found = (
        (differs, f"{_DIFFERS}{', '.join(differs)}"),
        (apart, f"parts changed otherwise: {counted(apart, 'metric')}"),
        (spread, f"spread differs: {counted(spread, 'metric')}"),
        (alone, f"partly measured in one alone: {counted(alone, 'metric')}"),
        (not report.facts.nodes, "facts of nodes: not compared"),
    )
    return tuple(words for has_it, words in found if has_it)


def format_mean(each: ComparedMetric, value: float | None) -> str:
    """A number of a metric with its unit."""
    return format_quantity(value, each.like.key.unit, each.like.shown)


def format_effect(each: ComparedMetric) -> tuple[str, str]:
    """The effect and its interval: in percent, or in the unit where values may be 0."""
    found = each.comparison
    if found is None or found.effect is None:
        return NOT_MEASURED, NOT_MEASURED
    values = (found.effect, found.low, found.high)
    if not found.is_ratio:
        effect, *ends = (None if end is None else format_mean(each, end) for end in values)
    else:
        effect, *ends = (None if end is None else show_change(end) for end in values)
    return effect or NOT_MEASURED, NOT_MEASURED if None in ends else " to ".join(map(str, ends))


def format_metric_outcome(each: ComparedMetric) -> str:
    """The outcome in words: why nothing is compared, or how small an effect would have shown."""
    found = each.comparison
    if each.outcome is Outcome.NO_EFFECT and found is not None and found.smallest is not None:
        least = show_change(found.smallest).lstrip("+") if found.is_ratio else format_mean(each, found.smallest)
        return f"no effect; {least} would have shown{_format_assumed(each)}"
    return f"{each.outcome}: {sanitize(each.why)}" if each.why else f"{each.outcome}{_format_assumed(each)}"


def _format_assumed(each: ComparedMetric) -> str:
    found = each.comparison
    return (
        ""
        if found is None or found.assumed is None
        else f"; spread of {show_change(found.assumed).lstrip('+')} assumed"
    )


def format_number(each: ComparedMetric) -> str:
    """How many nodes, pairs or sets were compared: ``252 paired``, ``4 and 6``."""
    found = each.comparison
    if found is None:
        return NOT_MEASURED
    one, other = found.number
    if found.pairing is Pairing.PAIRED:
        return f"{one:,} paired"
    return "1, repeats" if found.pairing is Pairing.REPEATS else f"{one:,} and {other:,}"


def _format_not_comparable(report: ComparisonReport, width: int) -> Iterator[str]:
    left = [each for each in report.metrics if each.outcome is Outcome.NOT_COMPARABLE]
    names = name_metrics(report.metrics)
    if left:
        table = make_table(
            "Not comparable",
            left,
            (words("metric", 20), lambda each: names[each].text),
            (words("stage", 8), lambda each: sanitize(each.like.key.stage)),
            (number("A"), lambda each: format_mean(each, each.means[0])),
            (number("B"), lambda each: format_mean(each, each.means[1])),
            (number("B to A"), lambda each: format_effect(each)[0]),
            (words("because", 24), lambda each: sanitize(each.why)),
        )
        yield from format_table(table, width)
        yield ""


def _format_apart(report: ComparisonReport, width: int) -> Iterator[str]:
    """Subjects that changed otherwise than the others, and those that only one side has."""
    names = name_metrics(report.metrics)
    for each in report.metrics:
        if each.comparison is not None and each.comparison.apart:
            who = fold_names(each.comparison.apart) if all(">" not in name for name in each.comparison.apart) else (
                ", ".join(each.comparison.apart[:3])
            )  # fmt: skip
            name = names[each].text
            yield from wrap_text(f"{name}: changed otherwise than the others: {sanitize(who)}", width)
    left = Counter(each.left_out for each in report.metrics if any(each.left_out))
    for (one, other), metrics in left.items():
        yield from wrap_text(
            f"{counted(metrics, 'metric')}: {one:,} measured in A alone and {other:,} in B alone are left out", width
        )
    if left:
        yield ""


def _format_differences(report: ComparisonReport, width: int) -> Iterator[str]:
    if report.record:
        table = make_table(
            "Record",
            report.record,
            (words("what", 10), lambda each: each.what),
            (words("A", 12), lambda each: each.before),
            (words("B", 12), lambda each: each.after),
        )
        yield from format_table(table, width)
        yield ""
    if report.criteria:
        yield "Criteria of B that are not those of A:"
        for text in report.criteria:
            yield from wrap_text(sanitize(text), width, "  ")
        yield ""
    facts = report.facts
    table = make_table(
        "Facts of nodes that differ",
        facts.shared[:FACTS],
        (words("fact", 16), lambda each: each.fact),
        (words("A", 12), lambda each: each.before),
        (words("B", 12), lambda each: each.after),
        (words("nodes", 10), lambda each: each.nodes),
        (number("number"), lambda each: f"{each.number:,}"),
    )
    if facts.shared:
        yield from format_table(table, width)
    if len(facts.shared) > FACTS:
        yield f"and {counted(len(facts.shared) - FACTS, 'more change')} (--json has them)"
    if not facts.nodes:
        yield "Facts: no node has an inventory in both."
    elif not facts.shared:
        yield f"Facts: none that {counted(facts.nodes, 'node')} told differs."
    if facts.by_themselves:
        yield from wrap_text(f"Change by themselves, from node to node: {', '.join(facts.by_themselves)}", width)


def make_record(report: ComparisonReport) -> dict[str, object]:
    """The report for machines: numbers in base units, effects as shares where ``is_ratio``."""
    return {
        "schema": "benchconsole-comparison/1",
        "a": report.names[0],
        "b": report.names[1],
        "sessions": [each.make_record() for each in report.sessions],
        "outcome": report.outcome.value,
        "beside": list(tell_beside(report)),
        "confidence": CONFIDENCE,
        "metrics": [make_metric_record(each) for each in report.metrics],
        "record": [each._asdict() for each in report.record],
        "criteria": list(report.criteria),
        "facts": [each._asdict() for each in report.facts.shared],
        "facts_by_themselves": list(report.facts.by_themselves),
        "nodes_with_facts": report.facts.nodes,
    }


def make_metric_record(each: ComparedMetric) -> dict[str, object]:
    """One metric for machines."""
    found = each.comparison
    made: dict[str, object] = {
        "stage": each.like.key.stage,
        "metric": each.like.key.metric,
        "labels": dict(each.labels),
        "unit": each.like.key.unit.value,
        "outcome": each.outcome.value,
        "why": each.why,
        "mean_a": each.means[0],
        "mean_b": each.means[1],
        "left_out": list(each.left_out),
    }
    if found is not None:
        made |= {
            "pairing": None if found.pairing is None else found.pairing.value,
            "number": list(found.number),
            "is_ratio": found.is_ratio,
            "effect": found.effect,
            "low": found.low,
            "high": found.high,
            "smallest": found.smallest,
            "apart": list(found.apart),
            "assumed_spread": found.assumed,
        }
    if each.spread is not None:
        made["spread"] = each.spread._asdict()
    return made
