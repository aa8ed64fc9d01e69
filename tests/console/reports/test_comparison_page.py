"""The sentence over a comparison: it says no more than all of its rows do."""

from collections.abc import Sequence

import pytest
from msgspec.structs import force_setattr

from benchconsole.console.conclusions.session_comparison import ComparedMetric, Outcome
from benchconsole.console.conclusions.session_differences import FactChange, FactChanges, RecordDifference
from benchconsole.console.reports.comparison_page import ComparisonReport, format_outcome, make_record
from benchconsole.topology.copying import replace
from tests.console.conclusions.test_session_comparison import NODES, compare, measure

FACTS = FactChanges((), ("uptime",), 12)
"""Nodes were asked in both, and nothing differs that stays."""


def metric(factor: float = 1.0, name: str = "stream.triad", nodes: Sequence[str] = NODES) -> ComparedMetric:
    (found,) = compare(measure(1.0, 1, metric=name), measure(factor, 1, list(nodes), metric=name))
    return found


def report(*metrics: ComparedMetric, facts: FactChanges = FACTS) -> ComparisonReport:
    return ComparisonReport(("one", "other"), metrics, facts, [], [])


def test_same_stands_alone_only_where_nothing_at_all_differs() -> None:
    assert format_outcome(report(metric())) == "same: 1 same"
    assert make_record(report(metric()))["beside"] == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (replace(report(metric()), record=[RecordDifference("topology file", "ab", "cd")]), "differs: topology file"),
        (replace(report(metric()), criteria=["stream.triad at least 9"]), "differs: 1 criterion"),
        (replace(report(metric()), criteria=["one", "two"]), "differs: 2 criteria"),
        (report(metric(), facts=FactChanges((FactChange("bios", "1", "2", "n01", 1),), (), 12)), "1 fact of nodes"),
        (report(metric(), facts=FactChanges((), (), 0)), "facts of nodes: not compared"),
        (report(metric(nodes=NODES[:9])), "partly measured in one alone: 1 metric"),
    ],
)
def test_same_is_of_the_compared_numbers_where_anything_else_differs(other: ComparisonReport, said: str) -> None:
    sentence = format_outcome(other)
    assert sentence.startswith("compared numbers are the same: 1 same; ")
    assert sentence.endswith(said)
    assert [text for text in make_record(other)["beside"] if said in text]  # type: ignore[attr-defined]


def test_a_metric_that_is_not_comparable_is_none_of_the_same() -> None:
    unlike = replace(
        metric(name="ping.rtt"), outcome=Outcome.NOT_COMPARABLE, comparison=None, why="only one measured it"
    )
    assert format_outcome(report(metric(), unlike)) == "compared numbers are the same: 1 same, 1 not comparable"


def test_one_subject_that_changed_otherwise_is_told() -> None:
    one, other = measure(1.0, 1), measure(1.0, 1)
    result = next(iter(other.results.values()))
    force_setattr(result.measurements[0], "value", result.measurements[0].value * 0.5)
    (found,) = compare(one, other)
    assert "; parts changed otherwise: 1 metric" in format_outcome(report(found))


def test_better_and_worse_keep_their_word_and_tell_the_rest() -> None:
    told = replace(report(metric(0.9)), record=[RecordDifference("program", "1", "2")])
    assert format_outcome(told) == "worse: 1 worse; differs: program"
    assert format_outcome(report()) == "nothing was measured"
