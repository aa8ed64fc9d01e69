"""Checklists in reports: every step with who said what, and a headline that does not pass over them."""

import io
import json
from pathlib import Path

import jsonschema
import pytest

from benchconsole.console.reports import ReportOptions, render
from benchconsole.console.reports.checklist_section import find_state, make_sections
from benchconsole.console.view.run_view import State
from benchconsole.probes.model.checklist import Checked, CheckedList, Mark, Step, StepState
from benchconsole.topology.copying import replace
from tests.console.reports import fixture
from tests.console.reports.hard import CHECKLIST, TOLD

SCHEMA = Path(__file__).parents[3] / "docs" / "reference" / "report.schema.json"


def checklist(*states: StepState | None) -> CheckedList:
    """One step for each state; None: nobody said anything."""
    steps = (
        Checked(Step(str(number), "x"), Mark(state, "ann", 1.0) if state else None)
        for number, state in enumerate(states)
    )
    return CheckedList("cloud", "", tuple(steps))


PASS, FAIL, NOT_DONE, NOT_APPLICABLE = StepState.PASS, StepState.FAIL, StepState.NOT_DONE, StepState.NOT_APPLICABLE


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((PASS, PASS), State.PASS),
        ((PASS, NOT_APPLICABLE), State.PASS),
        ((PASS, None), State.UNKNOWN),
        ((PASS, NOT_DONE), State.UNKNOWN),
        ((NOT_APPLICABLE, NOT_APPLICABLE), State.UNKNOWN),
        ((), State.UNKNOWN),
        ((PASS, NOT_DONE, FAIL), State.FAIL),
    ],
)
def test_a_step_that_was_not_done_never_counts_as_passed(states: tuple[StepState | None, ...], expected: State) -> None:
    assert find_state(checklist(*states)) is expected


def test_every_step_is_in_every_report_for_people() -> None:
    for kind in ("text", "md", "html"):
        out = io.StringIO()
        render(kind, fixture.hard(), out, ReportOptions(width=200, details=TOLD))
        found = " ".join(out.getvalue().split())
        for words in ("log-in", "4.2.1", "two users, one of them from outside", "alice", "2023-11-14 22:28:20 UTC"):
            assert words in found, (kind, words)
        for attached in CHECKLIST.steps[0].attachments:
            assert f"log in.png, 48.2 kB, SHA-256 {attached.sha256}" in found
        assert "not done" in found
        assert "the newest of 3 entries" in found


def test_the_json_report_says_all_of_it_by_the_schema() -> None:
    out = io.StringIO()
    render("json", fixture.hard(), out, ReportOptions(details=TOLD))
    document = json.loads(out.getvalue())
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator(schema).validate(document)
    ((name, kind),) = [(each["name"], each) for each in document["checklists"]]
    assert (name, kind["state"]) == ("cloud", "fail")
    assert [step["state"] for step in kind["steps"]] == ["pass", "fail", "not done", "not applicable"]
    first, second, third, _ = kind["steps"]
    assert set(first) == set(schema["$defs"]["step"]["properties"])
    assert (first["by"], first["attachments"][0]["size"], second["argv"][0], second["earlier"]) == (
        "alice", 48_213, "openstack", 2,
    )  # fmt: skip
    assert (third["by"], third["at"], third["attachments"]) == (None, None, [])


def test_a_clause_that_is_missing_is_left_out_of_the_line() -> None:
    (section,) = make_sections((checklist(PASS),))
    assert (section.title, section.lines[0].head) == ("cloud", "0")
    (section,) = make_sections((replace(CHECKLIST, steps=CHECKLIST.steps[:1]),))
    assert (section.title, section.lines[0].head) == ("cloud: PEP 4.2", "log-in, 4.2.1")
