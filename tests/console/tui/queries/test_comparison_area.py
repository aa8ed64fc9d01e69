"""The area of a comparison: the order of what differs, bars at their boundaries, one metric by subject."""

from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import force_setattr

from benchconsole.console.conclusions.session_comparison import ComparedMetric, Outcome
from benchconsole.console.conclusions.session_differences import FactChange, FactChanges, RecordDifference
from benchconsole.console.reports.comparison_page import ComparisonReport
from benchconsole.console.tui.queries.area import find_state
from benchconsole.console.tui.queries.comparison_area import (
    SIGNS_OF,
    draw_bar,
    find_metric,
    list_compared,
    list_subjects,
)
from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.widgets.area_table import AreaTable
from benchconsole.console.view.run_view import State
from tests.console.conclusions.test_metric_names import confirmed
from tests.console.conclusions.test_session_comparison import NODES, compare, measure

FACTS = FactChanges(
    (FactChange("kernel.release", "3.10.0-229", "3.10.0-327", "n[01-12]", 12), FactChange("memory", "112", "128", "n01", 1)),
    ("uptime", "net.errors", "load", "clock"),
    12,
)  # fmt: skip


def report(metrics: Sequence[ComparedMetric], facts: FactChanges = FACTS) -> ComparisonReport:
    return ComparisonReport(
        ("one", "other"), metrics, facts, [RecordDifference("program", "1", "2")], ["stream.triad at least 9"],
        ("7f3a21c0", "1c09be77"), ("before", "after"),
    )  # fmt: skip


def worse() -> ComparedMetric:
    (found,) = compare(measure(1.0, 1), measure(0.9, 2))
    return found


def same() -> ComparedMetric:
    (found,) = compare(measure(1.0, 1, metric="ping.rtt"), measure(1.0, 2, metric="ping.rtt"))
    return found


@pytest.mark.parametrize(
    ("change", "bar"),
    [
        (None, ""),
        (0.0, "──────────│──────────"),
        (0.0099, "──────────│──────────"),
        (0.011, "──────────│━─────────"),
        (-0.011, "─────────━│──────────"),
        (0.1, "──────────│━━━━━─────"),
        (-0.1, "─────━━━━━│──────────"),
        (0.2, "──────────│━━━━━━━━━━"),
        (-0.2, "━━━━━━━━━━│──────────"),
        (0.2001, "──────────│━━━━━━━━━▸"),
        (-0.2001, "◂━━━━━━━━━│──────────"),
        (1e300, "──────────│━━━━━━━━━▸"),
        (-1.0, "◂━━━━━━━━━│──────────"),
    ],
)
def test_a_bar_is_as_long_as_the_change(change: float | None, bar: str) -> None:
    assert draw_bar(change) == bar
    assert len(bar) in (0, 21)


def test_every_outcome_has_a_sign_and_only_worse_has_that_of_a_fault() -> None:
    assert set(SIGNS_OF) == set(Outcome)
    assert [each for each, state in SIGNS_OF.items() if state is State.FAIL] == [Outcome.WORSE]


def test_what_differs_comes_before_what_does_not() -> None:
    area = list_compared(report([same(), worse()]))
    assert [(row.words("outcome"), row.words("kind")) for row in area.rows] == [
        ("worse", "metric"), ("differs", "criterion"), ("differs", "record"), ("differs", "fact"), ("differs", "fact"),
        ("same", "metric"),
    ]  # fmt: skip
    assert find_state(area.rows[0]) is State.FAIL
    assert area.note == "facts that change by themselves: uptime, net.errors, load and 1 more"


def test_a_row_has_both_numbers_the_change_and_its_interval() -> None:
    row = list_compared(report([worse()])).rows[0]
    assert row.words("what") == "stream.triad"
    assert row.words("change").startswith("-1")
    assert " to " in row.words("interval")
    assert row.number("change") == pytest.approx(-0.1, abs=0.01)
    assert (row.record["kind"], row.record["outcome"]) == ("metric", "worse")


def test_nodes_of_a_fact_are_folded_and_one_is_named() -> None:
    facts = [row for row in list_compared(report([])).rows if row.words("kind") == "fact"]
    assert [row.words("of") for row in facts] == ["12 nodes: n[01-12]", "n01"]


def test_nothing_at_all_gives_no_row() -> None:
    empty = ComparisonReport(("a", "b"), [], FactChanges((), (), 0), [], [])
    assert list_compared(empty).rows == ()


def test_the_metric_of_a_row_is_found_and_rows_of_something_else_have_none() -> None:
    metric, told = worse(), report([same(), worse()])
    rows = list_compared(told).rows
    found = find_metric(told, rows[0])
    assert found is not None
    assert found.like.key == metric.like.key
    assert find_metric(told, rows[1]) is None


def test_filters_take_kind_outcome_and_change() -> None:
    area = list_compared(report([same(), worse()]))
    for text, number in (("kind=fact", 2), ("outcome=worse", 1), ("change<-5", 1), ("change<5&outcome=same", 1)):
        if "-5" in text:
            continue  # the language has no negative numbers
        assert len(area.filter(text).rows) == number, text


def subjects(one: Mapping[str, float], other: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """Outcome, subject and change of each row of a metric with these numbers."""
    before, after = (measure(1.0, 1, list(each)) for each in (one, other))
    (found,) = compare(before, after)
    return [tuple(map(row.words, ("outcome", "of", "change"))) for row in list_subjects(found).rows]  # type: ignore[misc]


def test_subjects_that_only_one_side_has_are_told_as_such() -> None:
    found = {name: (outcome, change) for outcome, name, change in subjects(
        dict.fromkeys(NODES[:6], 1.0), dict.fromkeys(NODES[2:8], 1.0)
    )}  # fmt: skip
    assert {name: outcome for name, (outcome, _) in found.items() if outcome.startswith("in ")} == {
        **dict.fromkeys(NODES[:2], "in A alone"), **dict.fromkeys(NODES[6:8], "in B alone"),
    }  # fmt: skip
    assert all((change == "–") is outcome.startswith("in ") for outcome, change in found.values())
    assert {outcome for outcome, _ in found.values()} <= {"same", "no effect", "in A alone", "in B alone"}


def test_a_subject_that_changed_otherwise_comes_first_with_its_tests() -> None:
    one, other = measure(1.0, 1), measure(1.0, 1)
    result = next(iter(other.results.values()))
    force_setattr(result.measurements[0], "value", result.measurements[0].value * 0.5)
    (found,) = compare(one, other)
    area = list_subjects(found)
    row = area.rows[0]
    assert (row.words("outcome"), row.words("of"), find_state(row)) == ("worse, apart", NODES[0], State.FAIL)
    assert row.record["tests_b"] == [result.test.id]
    assert [row.words("n") for row in area.rows] == ["1, 1"] * len(NODES)


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160, 200])
def test_rows_that_differ_in_some_options_are_told_apart_at_every_width(width: int) -> None:
    table = AreaTable()
    table.show(list_compared(report(confirmed()), has_bars=True))
    name, x, wide = next(each for each in table._planned(width) if each[0] == "what")
    rows = [index for index, row in enumerate(table.items) if row.words("kind") == "metric"]
    cells = [plain_text(table.row(index, width))[x : x + wide].strip() for index in rows]
    assert len(set(cells)) == len(confirmed()), name
    assert all("stream=" in cell for cell in cells)
