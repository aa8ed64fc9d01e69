"""Moments are read with their zone, and only with it."""

import pytest

from benchconsole.console.text.moment import parse_moment, parse_past

AT = 1_795_269_600.0


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("2026-11-21T14:00:00Z", AT),
        ("2026-11-21T15:00:00+01:00", AT),
        ("2026-11-21 14:00+00:00", AT),
        ("2026-11-21T14:00:00", None),
        ("2026-11-21", None),
        ("yesterday", None),
        ("", None),
    ],
)
def test_a_moment_has_a_zone(text: str, at: float | None) -> None:
    assert parse_moment(text) == at


@pytest.mark.parametrize(("now", "found"), [(AT - 61, None), (AT - 60, AT), (AT, AT)])
def test_a_moment_to_come_is_no_past_one(now: float, found: float | None) -> None:
    assert parse_past("2026-11-21T14:00:00Z", now) == found
