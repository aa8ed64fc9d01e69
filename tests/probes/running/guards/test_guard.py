"""The stop rule: never below the share, never too early, always when everything fails."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.model.measuring import FailedAt, Failure, Result, Target, Test, TestOutcome
from benchconsole.probes.running.guards.guard import WINDOW, ErrorShare, StopRule
from benchconsole.probes.testing.fake import a_node

NOT_COUNTED = [stage for stage in FailedAt if stage.outcome is not TestOutcome.FAILED]
ERRORS = [FailedAt.LOST, FailedAt.TIMEOUT, FailedAt.TOOL, FailedAt.FLOODED, FailedAt.KILLED, FailedAt.REBOOTED]

RULES = st.builds(StopRule, st.floats(0.01, 1), st.integers(1, 30))
ENDINGS = st.sampled_from([None, None, None, *ERRORS, *NOT_COUNTED, FailedAt.PROBE, FailedAt.OUTPUT])


def a_test(number: int) -> Test:
    return Test(f"t{number}", "iperf3", Target(a_node()), 1)


def ended(test: Test, stage: FailedAt | None) -> Result:
    return Result(test, failure=Failure(stage, "x", test.target.node.id) if stage else None)


def play(rule: StopRule, endings: Sequence[FailedAt | None], together: int) -> tuple[ErrorShare, int]:
    """Start tests ``together`` at a time, end them in order; the share, and how many had ended when it stopped."""
    share = ErrorShare(rule)
    for first in range(0, len(endings), together):
        batch = [a_test(number) for number in range(first, min(first + together, len(endings)))]
        for test in batch:
            share.note_start(test)
        for number, test in enumerate(batch, first):
            share.note_result(ended(test, endings[number]))
            if share.because:
                return share, number + 1
    return share, len(endings)


def counts(stage: FailedAt | None) -> bool:
    return stage is None or stage in ERRORS


@pytest.mark.fault("F47", "I21")
@settings(max_examples=300, deadline=None)
@given(rule=RULES, endings=st.lists(ENDINGS, max_size=WINDOW), together=st.integers(1, WINDOW))
def test_it_stops_at_the_first_result_that_reaches_the_share(
    rule: StopRule, endings: list[FailedAt | None], together: int
) -> None:
    """Held against counting anew after each result, while nothing has slid out of the window."""
    share, number = play(rule, endings, together)
    for seen in range(1, number + 1):
        started = min(len(endings), -(-seen // together) * together)
        tried = [stage for stage in endings[:seen] if counts(stage)]
        errors = sum(stage is not None for stage in tried)
        enough = len(tried) >= rule.least and errors > 0
        reached = enough and errors >= rule.share * (len(tried) + started - seen)
        assert reached == (seen == number and share.because != "")


@settings(max_examples=200, deadline=None)
@given(rule=RULES, total=st.integers(1, 400), part=st.floats(0, 1, exclude_max=True))
def test_of_a_round_that_ends_below_the_share_nothing_is_stopped(rule: StopRule, total: int, part: float) -> None:
    """Failures are fast: all the errors of a round come before its first good result."""
    errors = int(part * rule.share * total)
    endings = [FailedAt.TOOL] * errors + [None] * (total - errors)
    if errors < rule.share * total:
        assert play(rule, endings, total)[0].because == ""


@pytest.mark.fault("F47", "I21")
@settings(max_examples=200, deadline=None)
@given(rule=RULES, before=st.integers(0, 500), together=st.integers(1, 300))
def test_when_everything_fails_it_always_stops(rule: StopRule, before: int, together: int) -> None:
    """Also after any number of good tests, once the bad ones are as many as the window."""
    share, number = play(rule, [None] * before + [FailedAt.TIMEOUT] * (2 * (WINDOW + together)), together)
    assert share.because
    assert number > before


@settings(max_examples=100, deadline=None)
@given(rule=RULES, stages=st.lists(st.sampled_from([*NOT_COUNTED, FailedAt.PROBE, FailedAt.OUTPUT]), min_size=1, max_size=300))  # fmt: skip
def test_what_was_not_tried_or_is_our_own_fault_never_stops(rule: StopRule, stages: list[FailedAt | None]) -> None:
    assert play(rule, stages, 7)[0].because == ""


@settings(max_examples=100, deadline=None)
@given(rule=RULES)
def test_never_before_the_least(rule: StopRule) -> None:
    _, number = play(rule, [FailedAt.TOOL] * 200, 1)
    assert number == rule.least


def test_a_large_round_is_not_stopped_by_the_few_that_fail_first() -> None:
    """Of 10,000 tests started together 1,999 fail at once, the rest is good: 20 % is not reached."""
    share, _ = play(StopRule(), [FailedAt.TOOL] * 1999 + [None] * 8001, 10_000)
    assert share.because == ""
    share, number = play(StopRule(), [FailedAt.TOOL] * 10_000, 10_000)
    assert number == 2000
    assert share.because == "2,000 of the newest 10,000 tests failed on the nodes (20 %; the limit is 20 %)"


def test_a_result_of_a_test_that_was_never_started_is_left_out() -> None:
    share = ErrorShare(StopRule(least=1))
    share.note_result(ended(a_test(1), FailedAt.TOOL))
    assert share.because == ""


def test_a_straggler_does_not_hold_the_window_open() -> None:
    share = ErrorShare(StopRule())
    share.note_start(a_test(-1))
    for number in range(1000):
        share.note_start(a_test(number))
        share.note_result(ended(a_test(number), None))
    for number in range(1000, 1025):
        share.note_start(a_test(number))
        share.note_result(ended(a_test(number), FailedAt.LOST))
    assert "20 of the newest 100 tests" in share.because


@pytest.mark.parametrize(("share", "least"), [(0.0, 10), (-0.1, 10), (1.01, 10), (float("nan"), 10), (0.2, 0)])
def test_a_rule_that_makes_no_sense_is_refused(share: float, least: int) -> None:
    with pytest.raises(ValueError, match="stop rule: found"):
        StopRule(share, least)
