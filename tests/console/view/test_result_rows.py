"""Columns: each once, sorted sensibly, and rows that neither lose nor double anything."""

from benchconsole.console.view.result_rows import (
    COLUMNS,
    COLUMNS_BY_NAME,
    ResultRow,
    RowOutcome,
    list_current_rows,
    list_current_verdicts,
    list_finding_rows,
    list_rows,
    select_columns,
)
from benchconsole.console.view.run_view import RunView, State
from benchconsole.console.view.totals import compute_totals
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Shown, Unit
from tests.console.reports import fixture
from tests.console.tui.fabrics import mini
from tests.console.tui.story import MINI, tell


def by(view: RunView, **wanted: object) -> list[ResultRow]:
    """Rows whose columns have these values."""
    return [
        row
        for row in list_rows(view)
        if all(COLUMNS_BY_NAME[name].value(row) == value for name, value in wanted.items())
    ]


def test_every_column_has_a_name_of_its_own() -> None:
    assert len({column.name for column in COLUMNS}) == len(COLUMNS)
    assert all(column.name.isidentifier() and column.heading for column in COLUMNS)


def test_chosen_keeps_the_order_asked_for() -> None:
    assert [column.name for column in select_columns("value", "state")] == ["value", "state"]


def test_no_test_of_the_plan_is_left_out() -> None:
    view = fixture.hard()
    planned = {test.id for each in view.plan for test in each.tests}
    assert {row.test for row in list_rows(view)} == planned


def test_every_verdict_has_one_row() -> None:
    view = fixture.hard()
    told = [verdict for found in view.verdicts.values() for verdict in found]
    assert sorted(map(repr, told)) == sorted(repr(row.verdict) for row in list_rows(view) if row.verdict)


def test_a_verdict_filed_under_two_tests_has_one_row() -> None:
    view = fixture.all_passed()
    first, second = list(view.verdicts)[:2]
    shared = {**view.verdicts, second: view.verdicts[first]}
    found = [row for row in list_rows(replace(view, verdicts=shared)) if row.verdict in view.verdicts[first]]
    assert len(found) == 1


def test_the_verdicts_that_count_are_those_of_the_rows_that_count() -> None:
    for view in (fixture.hard(), fixture.all_passed(), fixture.all_unreachable()):
        alone = replace(view, plan=view.plan[:1])
        first = next(iter(view.results))
        repeated = replace(view, replaced=frozenset({first}))
        for each in (view, alone, repeated):
            assert list(list_current_verdicts(each)) == [row.verdict for row in list_current_rows(each) if row.verdict]


def test_a_verdict_that_is_told_twice_has_one_row() -> None:
    view = fixture.all_passed()
    test, told = next(iter(view.verdicts.items()))
    twice = replace(view, verdicts={**view.verdicts, test: (*told, *told)})
    assert [row.verdict for row in list_rows(twice)] == [row.verdict for row in list_rows(view)]


def test_a_verdict_without_a_planned_test_is_kept() -> None:
    view = fixture.all_passed()
    alone = replace(view, plan=(), results={})
    assert len(list(list_rows(alone))) == len(view.verdicts)


def test_a_failed_test_has_a_row_with_its_reason_and_no_number() -> None:
    (row,) = by(fixture.hard(), test="t2-n12")
    assert (row.state, row.outcome) == (State.UNREACHABLE, RowOutcome.UNREACHABLE)
    assert row.because == "unreachable: no answer on port 22"
    assert COLUMNS_BY_NAME["value"].value(row) is None
    assert COLUMNS_BY_NAME["value"].shown(row) == "–"


def test_a_tool_that_failed_is_told_from_one_that_was_not_asked() -> None:
    row = next(list_rows(fixture.all_failed()))
    assert COLUMNS_BY_NAME["value"].shown(row) == "✗ err"
    assert COLUMNS_BY_NAME["state"].shown(row) == "failed"


def test_a_failure_with_an_unknown_verdict_says_that_nothing_was_measured() -> None:
    view = fixture.all_unreachable()
    test = view.plan[0].tests[0]
    judged = {test.id: (fixture.verdict(test, None, Level.UNKNOWN, metric="stream.triad"),)}
    row = next(list_rows(replace(view, verdicts=judged)))
    assert (row.outcome, row.state, row.because) == (
        RowOutcome.UNREACHABLE,
        State.UNREACHABLE,
        "unreachable: no route to host",
    )


def test_outcomes_are_counted_as_coverage_counts_them() -> None:
    view = fixture.hard()
    outcomes = {row.test: row.outcome for row in list_current_rows(view)}
    counted = compute_totals(view).covered
    assert list(outcomes.values()).count(RowOutcome.TESTED) == counted.tested
    assert list(outcomes.values()).count(RowOutcome.UNREACHABLE) == counted.unreachable
    assert list(outcomes.values()).count(RowOutcome.SKIPPED) == counted.skipped
    assert list(outcomes.values()).count(RowOutcome.FAILED) == counted.failed


def test_a_flow_judged_in_a_sum_keeps_its_own_number() -> None:
    (row,) = by(fixture.hard(), test="t4-n02>n10")
    assert row.state is State.MEASURED
    assert COLUMNS_BY_NAME["value"].value(row) == 7.4 * fixture.GBIT
    assert COLUMNS_BY_NAME["value"].shown(row) == "7.40 Gb/s"
    assert row.because == "counted in the sum of leaf1 to sp1"


def test_a_repeat_stands_for_what_it_repeats() -> None:
    story = fixture.Story(fixture.fabric())
    (first,) = story.round("node", "stream", ["n01"])
    (again,) = story.round("node", "stream", ["n01"])
    story.fail(first, FailedAt.TOOL, "exit status 1")
    story.judge(again, fixture.verdict(again, story.answer(again, "stream.triad", 1e9, Unit.BYTE_RATE), Level.PASS))
    view = story.view()
    assert [row.outcome for row in list_rows(view)] == [RowOutcome.REPEATED, RowOutcome.TESTED]
    assert [row.test for row in list_current_rows(view)] == [again.id]


def test_what_was_never_started_says_why() -> None:
    (row,) = by(fixture.hard(), stage="clean up")
    assert (row.outcome, row.because) == (RowOutcome.WAITING, "stopped by the operator")


def test_a_running_test_is_shown_as_running() -> None:
    view = fixture.all_passed()
    test = view.plan[0].tests[0].id
    going = replace(view, verdicts={}, results={}, running=frozenset({test}), ended=None)
    assert next(list_rows(going)).state is State.RUNNING


def test_sorting_puts_the_worst_state_first_and_what_is_missing_last() -> None:
    found = list(list_rows(fixture.hard()))
    states = [row.state for row in sorted(found, key=COLUMNS_BY_NAME["state"].sort)]
    assert states[0] is State.FAIL
    assert states == sorted(states, key=lambda state: state.rank)
    values = [COLUMNS_BY_NAME["value"].value(row) for row in sorted(found, key=COLUMNS_BY_NAME["value"].sort)]
    numbers = [value for value in values if isinstance(value, float)]
    assert values == sorted(numbers) + [None] * (len(values) - len(numbers))


def test_names_sort_as_they_are_counted() -> None:
    view = fixture.all_passed(leaves=30)
    names = [row.subject for row in sorted(list_rows(view), key=COLUMNS_BY_NAME["subject"].sort)]
    assert names == [name for name in view.nodes if name.startswith("n")]


def test_zero_is_a_number_and_sorts_before_one() -> None:
    row = next(list_rows(fixture.single()))
    assert COLUMNS_BY_NAME["value"].value(row) == 0.0
    assert COLUMNS_BY_NAME["value"].sort(row) == (0, 0.0, "")
    assert COLUMNS_BY_NAME["share"].value(row) is None


def test_text_of_a_node_is_shown_plain_and_kept_raw() -> None:
    view = fixture.all_passed()
    test = view.plan[0].tests[0]
    told = fixture.verdict(test, None, Level.FAIL, metric="os.kernel", text=fixture.HOSTILE, subject=fixture.HOSTILE)
    row = next(list_rows(replace(view, verdicts={test.id: (told,)})))
    assert COLUMNS_BY_NAME["subject"].value(row) == fixture.HOSTILE
    for column in COLUMNS:
        shown = column.shown(row)
        assert shown.isprintable(), column.name
        shown.encode()


def test_network_rates_are_shown_in_bits() -> None:
    (row,) = by(fixture.hard(), test="t3-n09>n10")
    assert COLUMNS_BY_NAME["value"].shown(row) == "2.97 Gb/s"
    assert COLUMNS_BY_NAME["share"].shown(row) == "30 %"
    assert row.verdict
    assert row.verdict.shown is Shown.NETWORK


def test_the_rows_of_a_finding_are_those_of_its_evidence_and_none_of_its_tests_is_left_out() -> None:
    view = tell(mini(), MINI).view()
    assert view.findings
    for finding in view.findings:
        rows = list_finding_rows(view, finding)
        assert {row.test for row in rows} >= {test for test in finding.tests if test in view.results}
        own = set(finding.evidence)
        judged = [row.verdict for row in rows if row.verdict is not None]
        assert judged
        assert all(own.intersection(each.evidence) for each in judged if own)
        severities = [each.level.severity for each in judged]
        assert severities == sorted(severities, reverse=True)
        first = next((place for place, row in enumerate(rows) if row.verdict is None), len(rows))
        assert all(row.verdict is None for row in rows[first:])


def test_a_finding_without_evidence_rests_on_what_is_low_of_its_tests() -> None:
    view = fixture.hard()
    failed = next(found for found in view.verdicts.values() if any(each.level is Level.FAIL for each in found))
    finding = replace(view.findings[0], tests=(failed[0].test,), evidence=())
    rows = list_finding_rows(view, finding)
    assert {row.verdict.level for row in rows if row.verdict is not None} <= {Level.FAIL, Level.WATCH}
    assert list_finding_rows(view, replace(finding, tests=("gone",))) == []
