"""The strip of a comparison in words: both sessions in cells, what differs between them, how it is cut."""

import pytest

from benchconsole.console.conclusions.session_differences import FactChange, FactChanges, RecordDifference
from benchconsole.console.reports.compared_session import ComparedSession, read_compared_session
from benchconsole.console.reports.comparison_page import ComparisonReport, format_page, make_record
from benchconsole.console.tui.queries.compared_sessions import (
    describe_alike,
    join_fitting,
    list_differences,
    list_session_cells,
)
from benchconsole.console.tui.queries.comparison_area import list_compared
from benchconsole.console.tui.rows.text_rows import plain_text
from benchconsole.console.tui.widgets.compared_sessions import ComparedSessions
from benchconsole.console.view.run_view import State
from benchconsole.console.view.stored_verdict import Outcome
from benchconsole.probes.model.checklist import Checked, CheckedList, Mark, Step, StepState
from benchconsole.topology.copying import replace
from tests.console.tui.looking import faulty, healthy

BEFORE = ComparedSession("7f3a21c0", "before repair", 1_700_000_000.0, 752.0, Outcome.FAIL, 655, 664, 4, 134)
AFTER = ComparedSession("1c09be77", "", 1_700_090_000.0, None, Outcome.RUNNING, 12, 664, 0, 134)
NOTHING = FactChanges((), (), 12)


def report(**changes: object) -> ComparisonReport:
    whole = ComparisonReport(("one", "other"), [], NOTHING, [], [], sessions=(BEFORE, AFTER))
    return replace(whole, **changes)  # type: ignore[arg-type]  # fields by name


def test_each_session_has_its_own_verdict_and_what_it_rests_on() -> None:
    one, other = list_session_cells(report())
    assert (one.letter, one.state, one.verdict, one.name) == ("A", State.FAIL, "fail", "before repair 7f3a21c0")
    assert (one.lasted, one.tested, one.reasons, one.nodes) == ("12:32", "655 of 664 tests", "4 findings", "134 nodes")
    assert (other.letter, other.state, other.name, other.lasted) == ("B", State.RUNNING, "1c09be77", "–")


@pytest.mark.parametrize(
    ("findings", "failed_steps", "words"),
    [(4, 0, "4 findings"), (0, 0, "0 findings"), (0, 1, "1 failed step"), (4, 2, "4 findings, 2 failed steps")],
)
def test_a_session_that_fails_by_a_checklist_says_so(findings: int, failed_steps: int, words: str) -> None:
    each = replace(BEFORE, findings=findings, failed_steps=failed_steps)
    assert each.words == f"fail, {words}, 655 of 664 tests gave a result"
    assert list_session_cells(report(sessions=(each, AFTER)))[0].reasons == words


def test_failed_steps_are_counted_over_the_checklists_of_a_session() -> None:
    marks = (("a", StepState.FAIL), ("b", StepState.PASS))
    steps = [Checked(Step(name, "look"), Mark(state, "kim", 1.7e9)) for name, state in marks]
    lists = [CheckedList(name, "hand.yaml", tuple(steps)) for name in ("one", "two")]
    assert read_compared_session(replace(healthy().view(), checklists=tuple(lists))).failed_steps == 2


def test_parts_of_one_session_have_no_strip() -> None:
    assert list_session_cells(report(sessions=())) == []
    assert list(format_page(report(sessions=()), 100))[:2] == ["A  one", "B  other"]


def test_what_is_read_of_a_session_is_what_its_pages_say() -> None:
    view = faulty().view()
    found = read_compared_session(view)
    assert (found.key, found.label, found.outcome) == (view.session, view.label, Outcome.FAIL)
    assert (found.findings, found.nodes) == (len(view.findings), len(view.fabric.nodes))
    assert found.tested == sum(result.failure is None for result in view.results.values())
    assert found.planned == sum(len(each.tests) for each in view.plan)
    assert read_compared_session(healthy().view()).outcome is Outcome.PASS


def test_options_are_told_with_both_values_where_these_are_short() -> None:
    record = [RecordDifference("suite", "quick", "full"), RecordDifference("nodes", "n" * 25, "all")]
    facts = FactChanges((FactChange("kernel", "1", "2", "n1", 1),), (), 12)
    assert list_differences(report(record=record, criteria=["a", "b"], facts=facts)) == [
        "suite quick → full", "nodes", "2 criteria", "1 fact of nodes",
    ]  # fmt: skip
    assert list_differences(report(criteria=["a"])) == ["1 criterion"]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (NOTHING, "nothing: options, topology file, criteria, facts of nodes are alike"),
        (
            FactChanges((), (), 0),
            "nothing: options, topology file, criteria are alike; facts of nodes are not compared",
        ),
    ],
)
def test_that_nothing_differs_names_what_was_looked_at(facts: FactChanges, words: str) -> None:
    assert list_differences(report(facts=facts)) == []
    assert describe_alike(report(facts=facts)) == words


@pytest.mark.parametrize(
    ("room", "words"),
    [
        (11, "one, two, 3"),
        (10, "3 differences"),
        (0, "3 differences"),
    ],
)
def test_what_does_not_fit_is_counted(room: int, words: str) -> None:
    assert join_fitting(["one", "two", "3"], room) == words


def test_some_of_many_are_named() -> None:
    parts = [f"option{number} yes → no" for number in range(9)]
    text = join_fitting(parts, 60)
    assert text == "option0 yes → no, option1 yes → no, and 7 more"
    assert len(text) <= 60


@pytest.mark.parametrize("width", [30, 60, 80, 120, 200])
def test_no_row_is_wider_than_the_screen(width: int) -> None:
    strip = ComparedSessions()
    long = replace(BEFORE, label="a label " * 12)
    made = report(sessions=(long, AFTER), record=[RecordDifference("suite", "quick", "full")])
    strip.show(list_session_cells(made), list_differences(made), describe_alike(made))
    rows = [plain_text(row) for row in strip.draw(width, 3)]
    assert len(rows) == 3
    assert all(len(row) <= width for row in rows)
    assert rows[0].startswith(" A  ✗ fail")


def test_without_a_screen_the_area_and_the_page_tell_the_same() -> None:
    assert "A before repair 7f3a21c0, " in list_compared(report()).note
    assert ", fail   B 1c09be77, " in list_compared(report()).note
    assert list_compared(report(), has_bars=True).note == ""
    page = " ".join(" ".join(format_page(report(), 200)).split())
    assert "A one: fail, 4 findings, 655 of 664 tests gave a result" in page
    sessions = make_record(report())["sessions"]
    assert isinstance(sessions, list)
    assert sessions[0] == {
        "key": "7f3a21c0", "label": "before repair", "started": 1_700_000_000.0, "seconds": 752.0, "outcome": "fail",
        "tested": 655, "planned": 664, "findings": 4, "nodes": 134, "failed_steps": 0,
    }  # fmt: skip
