"""Time that does not count: written into the record, read from it, taken back in it."""

import pytest

from benchconsole.console.availability.evaluation import Exclusion
from benchconsole.console.availability.exclusions import (
    KIND,
    WITHDRAWN,
    ExclusionError,
    format_exclusion,
    format_span,
    parse_exclusion,
    parse_span,
    read_exclusions,
)
from benchconsole.store.model import SessionNote

EIGHT = 1_793_692_800.0  # 2026-11-03T08:00:00Z


def test_a_span_says_its_zone() -> None:
    assert parse_span("2026-11-03T08:00Z/2026-11-03T12:00Z") == (EIGHT, EIGHT + 4 * 3600)
    assert parse_span("2026-11-03T09:00:00+01:00/2026-11-03T08:00:01Z") == (EIGHT, EIGHT + 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-11-03T08:00Z",
        "2026-11-03T08:00/2026-11-03T12:00Z",
        "2026-11-03T12:00Z/2026-11-03T08:00Z",
        "2026-11-03T08:00Z/2026-11-03T08:00Z",
        "2026-11-03T08:00:00.5Z/2026-11-03T12:00Z",
        "yesterday/today",
    ],
)
def test_a_span_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ExclusionError, match="expected START/END with their zone"):
        parse_span(text)


def test_an_exclusion_comes_back_from_the_record_as_it_was_written() -> None:
    each = parse_exclusion("2026-11-03T08:00Z/2026-11-03T12:00Z firmware: switches 1 to 4", "root (sudo of ann)")
    assert each == Exclusion(EIGHT, EIGHT + 4 * 3600, "firmware: switches 1 to 4", "root (sudo of ann)")
    assert read_exclusions([SessionNote(KIND, format_exclusion(each), 1.0)]) == (each,)


def test_what_is_taken_back_counts_again_and_may_be_excluded_once_more() -> None:
    first, second = Exclusion(EIGHT, EIGHT + 60, "one", "ann"), Exclusion(EIGHT + 60, EIGHT + 90, "two", "ann")
    notes = [
        SessionNote(KIND, format_exclusion(first), 1.0),
        SessionNote(KIND, format_exclusion(second), 2.0),
        SessionNote("held", format_exclusion(first), 2.5),
    ]
    back = SessionNote(WITHDRAWN, f"{format_span(EIGHT, EIGHT + 60)} by ann", 3.0)
    assert read_exclusions([*notes, back]) == (second,)
    assert read_exclusions([*notes, back, SessionNote(KIND, format_exclusion(first), 4.0)]) == (second, first)


@pytest.mark.parametrize(
    ("text", "by"),
    [
        ("2026-11-03T08:00Z/2026-11-03T12:00Z", "ann"),
        ("2026-11-03T08:00Z/2026-11-03T12:00Z  ", "ann"),
        ("2026-11-03T08:00Z/2026-11-03T12:00Z one\ntwo", "ann"),
        ("2026-11-03T08:00Z/2026-11-03T12:00Z why", ""),
        ("2026-11-03T08:00Z/2026-11-03T12:00Z why", " "),
        ("2026-11-03T08:00Z/2026-11-03T12:00Z why", "ann: really"),
    ],
)
def test_nothing_is_excluded_without_a_reason_and_somebody_who_answers_for_it(text: str, by: str) -> None:
    with pytest.raises(ExclusionError):
        parse_exclusion(text, by)
