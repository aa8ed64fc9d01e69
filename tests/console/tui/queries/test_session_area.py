"""The area of sessions: what each column says at its boundaries, and that text of people stays text."""

from typing import Any

import pytest

from benchconsole.console.session.listed_sessions import ListedSession
from benchconsole.console.tui.queries.area import find_state
from benchconsole.console.tui.queries.session_area import is_running, list_session_rows
from benchconsole.console.view.run_view import State
from benchconsole.console.view.stored_verdict import RULES
from benchconsole.store.session_summary import SessionState, SessionSummary, StoredVerdict
from benchconsole.topology.copying import replace

SUMMARY = SessionSummary(
    "7f3a21c0", "before", "toy", "default", False, 1000.0, 1052.0, SessionState.COMPLETE, "", 1, 1, 4, 4, 0, 0, 0, 2, 1,
    StoredVerdict(RULES, "fail", "x"),
)  # fmt: skip


def row_of(listed: ListedSession | None = None, *, shown: str = "", now: float = 2000.0, **changed: Any) -> Any:
    listed = listed or ListedSession(replace(SUMMARY, **changed))
    return list_session_rows([listed], shown, now).rows[0]


@pytest.mark.parametrize(
    ("state", "ended", "now", "lasted"),
    [
        (SessionState.COMPLETE, 1052.0, 2000.0, "0:52"),
        (SessionState.COMPLETE, 1000.0, 2000.0, "0:00"),
        (SessionState.COMPLETE, 999.0, 2000.0, "0:00"),
        (SessionState.COMPLETE, 4599.4, 9000.0, "59:59"),
        (SessionState.COMPLETE, 4600.0, 9000.0, "1:00:00"),
        (SessionState.RUNNING, None, 1000.0, "0:00"),
        (SessionState.RUNNING, None, 900.0, "0:00"),
        (SessionState.RUNNING, None, 1061.0, "1:01"),
        (SessionState.INTERRUPTED, None, 2000.0, "–"),
        (SessionState.INTERRUPTED, 1010.0, 2000.0, "0:10"),
    ],
)
def test_how_long_a_session_lasted(state: SessionState, ended: float | None, now: float, lasted: str) -> None:
    assert row_of(state=state, ended=ended, now=now).words("lasted") == lasted


@pytest.mark.parametrize(
    ("changed", "state", "words"),
    [
        ({}, State.FAIL, "fail"),
        ({"verdict": StoredVerdict(RULES, "pass", "x")}, State.PASS, "pass"),
        ({"verdict": StoredVerdict(RULES, "watch", "x")}, State.WATCH, "watch"),
        ({"verdict": StoredVerdict(RULES, "incomplete", "x")}, State.UNKNOWN, "unknown"),
        ({"verdict": StoredVerdict(RULES, "not judged", "x")}, State.MEASURED, "measured"),
        ({"verdict": StoredVerdict(RULES + 1, "pass", "x")}, None, ""),
        ({"verdict": None}, None, ""),
        ({"state": SessionState.RUNNING, "ended": None}, State.RUNNING, "running"),
    ],
)
def test_the_sign_is_that_of_the_verdict_that_still_holds(
    changed: dict[str, Any], state: State | None, words: str
) -> None:
    row = row_of(**changed)
    assert (find_state(row), row.words("state")) == (state, words)
    assert is_running(row) is (state is State.RUNNING)


def test_what_was_not_counted_is_blank_and_no_zero() -> None:
    assert [row_of().words(name) for name in ("nodes", "holds", "remark")] == ["", "", ""]
    row = row_of(ListedSession(SUMMARY, "two\nlines", 0, 0))
    assert [row.words(name) for name in ("nodes", "holds", "remark")] == ["0", "0 B", "two lines"]
    row = row_of(ListedSession(SUMMARY, "", 10_240, 5_060_000))
    assert [row.words(name) for name in ("nodes", "holds")] == ["10,240", "5.06 MB"]
    assert (row.record["nodes"], row.record["bytes"]) == (10_240, 5_060_000)


def test_the_shown_one_and_the_baseline_are_marked() -> None:
    assert row_of(shown="7f3a21c0", is_baseline=True).words("is") == "shown, baseline"
    assert row_of(shown="other").words("is") == ""
    assert row_of(simulated=True).words("cluster") == "SIMULATED"


def test_filters_take_the_words_and_numbers_of_the_columns() -> None:
    other = replace(SUMMARY, id="1c09be77", label="after", ended=5000.0, verdict=StoredVerdict(RULES, "pass", "x"))
    area = list_session_rows([ListedSession(SUMMARY, "", 4, 5), ListedSession(other, "", 8, 6)], "", 6000.0)
    for text, kept in (
        ("state=fail", ["before"]), ("after", ["after"]), ("lasted>1min", ["after"]), ("nodes<8", ["before"]),
        ("run=complete", ["before", "after"]), ("", ["before", "after"]),
    ):  # fmt: skip
        assert [row.words("label") for row in area.filter(text).rows] == kept, text


def test_labels_and_remarks_are_only_text() -> None:
    nasty = "[@click=app.quit]x[/]\x1b]52;c;aGVsbG8=\x07\u202e"
    row = row_of(ListedSession(replace(SUMMARY, label=nasty, fabric=nasty), nasty))
    for column in ("label", "fabric", "remark"):
        assert not set(row.words(column)) & set("\x1b\x07\u202e")
        assert "[@click=app.quit]x[/]" in row.words(column)
