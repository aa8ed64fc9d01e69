"""Availability from samples, held against sums made by hand."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.console.availability.evaluation import (
    Availability,
    AvailabilityTarget,
    Exclusion,
    SampleSchedule,
    UptimeSample,
    cut_exclusions,
    evaluate,
    make_stretches,
    read_sample,
)
from benchconsole.probes.model.judgement import Level
from benchconsole.probes.model.measuring import FailedAt
from benchconsole.store.model import ProbeOutcome

T0 = 1_700_000_000.0
MINUTE = 60.0
HOUR = SampleSchedule(T0, MINUTE, 60 * MINUTE)
"""Sixty minutes, a sample in each and one at the end."""


def samples(pattern: str, node: str = "n1", *, late: float = 0.0) -> list[UptimeSample]:
    """One letter for each planned sample: U up, R up in another boot, D down, anything else not taken."""
    found, boot = [], 0
    for number, letter in enumerate(pattern):
        boot += letter == "R"
        at = T0 + number * MINUTE + late
        if letter in "UR":
            found.append(UptimeSample(node, at, up=True, boot=str(boot)))
        elif letter == "D":
            found.append(UptimeSample(node, at, up=False))
    return found


def said(pattern: str, *, at_least: float = 0.95, now: float = T0 + 3600, **more: object) -> Availability:
    return evaluate(samples(pattern), ("n1",), HOUR, now=now, asked=AvailabilityTarget(at_least), **more)  # type: ignore[arg-type]


def test_a_node_that_always_answered_was_up_all_the_time() -> None:
    found = said("U" * 61)
    assert (found.system.time.up, found.system.time.total) == (3600.0, 3600.0)
    assert (found.system.time.share, found.system.time.worst, found.system.time.best) == (1.0, 1.0, 1.0)
    assert found.level is Level.PASS
    assert (found.system.outages, found.system.between_failures, found.system.to_repair) == ((), None, None)


def test_an_outage_counts_from_its_first_sample_to_the_next_that_answers() -> None:
    found = said("U" * 10 + "D" * 6 + "U" * 45)
    time = found.system.time
    assert (time.up, time.down, time.unsampled) == (54 * MINUTE, 6 * MINUTE, 0.0)
    assert time.share == 0.9
    # The minute before it and its last minute may have been either.
    assert (time.sure_up, time.sure_down) == (53 * MINUTE, 5 * MINUTE)
    (outage,) = found.system.outages
    assert (outage.start, outage.seconds, outage.over) == (T0 + 600, 360.0, True)
    assert (found.system.between_failures, found.system.to_repair) == (54 * MINUTE, 6 * MINUTE)
    assert found.level is Level.FAIL  # at best 55 of 60 minutes


@pytest.mark.parametrize(
    ("down", "level"),
    [(0, Level.PASS), (1, Level.PASS), (2, Level.PASS), (3, Level.UNKNOWN), (4, Level.UNKNOWN), (5, Level.FAIL)],
)
def test_passed_is_what_holds_at_worst_and_failed_what_does_not_hold_at_best(down: int, level: Level) -> None:
    """Of 60 minutes 3 may be lost: an outage of n samples lasted from n - 1 to n + 1 minutes."""
    assert said("U" * 20 + "D" * down + "U" * (41 - down)).level is level


def test_what_was_not_sampled_is_neither_up_nor_down() -> None:
    found = said("U" * 30 + "-" * 10 + "U" * 21)
    time = found.system.time
    # The sample before the gap speaks up to the next planned one: nine minutes are not known, of ten without a sample.
    assert (time.up, time.down, time.unsampled) == (50 * MINUTE, 0.0, 10 * MINUTE)
    assert (time.share, time.worst, time.best) == (1.0, 50 / 60, 1.0)
    assert found.level is Level.UNKNOWN
    assert said("U" * 30 + "-" * 10 + "U" * 21, at_least=0.8).level is Level.PASS


def test_time_that_is_still_to_come_is_not_known() -> None:
    halfway = said("U" * 31, now=T0 + 30 * MINUTE)
    assert (halfway.system.time.up, halfway.system.time.unsampled) == (30 * MINUTE, 30 * MINUTE)
    assert halfway.level is Level.UNKNOWN
    lost = said("D" * 31, now=T0 + 30 * MINUTE)
    assert (len(lost.system.outages), lost.system.between_failures) == (1, None)
    assert lost.level is Level.FAIL  # whatever comes, 95 % cannot be reached any more


def test_a_sample_does_not_speak_for_the_future() -> None:
    found = said("UU", now=T0 + 70.0)
    assert found.system.time.up == 70.0


def test_no_sample_at_all_is_not_known() -> None:
    found = said("")
    assert (found.system.time.share, found.system.time.unsampled, found.level) == (None, 3600.0, Level.UNKNOWN)


def test_a_reboot_between_two_samples_is_an_outage_whose_length_is_not_known() -> None:
    found = said("U" * 10 + "R" + "U" * 50)
    (outage,) = found.system.outages
    assert (outage.reboot, outage.start) == (True, T0 + 540)
    assert (found.system.time.share, found.system.time.worst) == (1.0, 59 / 60)
    assert (found.system.longest, found.system.to_repair) == (None, None)
    assert found.system.between_failures == 3600.0


def test_since_when_a_rebooted_node_is_up_again_is_told_by_its_uptime() -> None:
    marks = samples("U" * 61)
    marks[10:] = [UptimeSample("n1", each.at, up=True, boot="new", uptime=each.at - (T0 + 580)) for each in marks[10:]]
    found = evaluate(marks, ("n1",), HOUR, now=T0 + 3600)
    assert found.system.time.sure_up == 3600.0 - 40.0


def test_a_reboot_in_a_gap_is_an_outage_too() -> None:
    found = said("U" * 10 + "---" + "R" + "U" * 47)
    assert [each.reboot for each in found.system.outages] == [True]


def test_an_outage_that_goes_on_is_not_over() -> None:
    found = said("U" * 58 + "DDD")
    (outage,) = found.system.outages
    assert (outage.over, outage.seconds, found.system.to_repair) == (False, 120.0, None)


def test_several_outages() -> None:
    found = said("U" * 5 + "DD" + "U" * 5 + "DDDD" + "U" * 45)
    assert [each.seconds for each in found.system.outages] == [120.0, 240.0]
    assert found.system.longest is not None
    assert found.system.longest.seconds == 240.0
    assert (found.system.to_repair, found.system.between_failures) == (180.0, 54 * MINUTE / 2)


def test_excluded_time_counts_neither_way() -> None:
    pattern = "U" * 10 + "D" * 20 + "U" * 31
    whole = Exclusion(T0 + 8 * MINUTE, T0 + 32 * MINUTE, "maintenance")
    found = said(pattern, exclusions=(whole,))
    assert (found.system.time.total, found.system.time.share, found.level) == (36 * MINUTE, 1.0, Level.PASS)
    assert found.system.outages == ()
    part = said(pattern, exclusions=(Exclusion(T0 + 15 * MINUTE, T0 + 25 * MINUTE, "maintenance"),))
    assert (part.system.time.down, part.system.time.total) == (10 * MINUTE, 50 * MINUTE)
    assert [each.seconds for each in part.system.outages] == [600.0]
    everything = said(pattern, exclusions=(Exclusion(T0 - 1, T0 + 4000, "all of it"),))
    assert (everything.system.time.total, everything.level) == (0.0, Level.UNKNOWN)


def test_a_reboot_within_excluded_time_is_none() -> None:
    around = Exclusion(T0 + 9.5 * MINUTE, T0 + 11 * MINUTE, "kernel update")
    assert said("U" * 10 + "R" + "U" * 50, exclusions=(around,)).system.outages == ()


def test_a_sample_is_worth_the_time_it_was_taken_at() -> None:
    """A sample of 20 s after its time ends what the one before it spoke for."""
    marks = [*samples("U" * 10), *samples("U" * 10 + "D" * 51, late=20.0)[10:]]
    found = evaluate(marks, ("n1",), HOUR, now=T0 + 3600)
    assert found.system.time.up == 10 * MINUTE + 20.0


def test_samples_from_before_the_beginning_add_no_time() -> None:
    """As a clock gives them that was set back."""
    early = [UptimeSample("n1", T0 - 90.0, up=True), UptimeSample("n1", T0 - 30.0, up=False)]
    found = make_stretches([*early, *samples("U" * 61)], HOUR, T0 + 3600)
    assert (found[0].start, found[-1].end) == (T0, T0 + 3600)
    assert sum(each.seconds for each in found) == 3600.0


def test_a_node_that_several_stages_sample_is_up_where_all_of_them_say_so() -> None:
    service = [
        UptimeSample("n1", each.at + 0.3, up=number != 30, boot=each.boot)
        for number, each in enumerate(samples("U" * 61))
    ]
    found = evaluate([*samples("U" * 61), *service], ("n1",), HOUR, now=T0 + 3600)
    assert found.system.time.down == pytest.approx(60.0)
    assert len(found.system.outages) == 1


def test_the_system_is_the_time_of_all_its_nodes_and_each_can_be_asked_for() -> None:
    marks = [*samples("U" * 61), *samples("U" * 61, "n2"), *samples("U" * 10 + "D" * 6 + "U" * 45, "n3")]
    found = evaluate(marks, ("n1", "n2", "n3"), HOUR, now=T0 + 3600)
    assert found.system.time.share == pytest.approx(1 - 6 / 180)
    assert [each.level for each in found.nodes] == [Level.PASS, Level.PASS, Level.FAIL]
    assert found.level is Level.PASS
    assert (
        evaluate(marks, ("n1", "n2", "n3"), HOUR, now=T0 + 3600, asked=AvailabilityTarget(each=True)).level
        is Level.FAIL
    )


@pytest.mark.parametrize(
    ("gateway", "level"),
    [("U" * 61, Level.PASS), ("U" * 10 + "D" + "U" * 50, Level.UNKNOWN), ("U" * 10 + "D" * 4 + "U" * 47, Level.FAIL)],
)
def test_a_dependent_service_is_held_against_the_system(gateway: str, level: Level) -> None:
    marks = [*samples("U" * 61), *samples(gateway, "gw")]
    found = evaluate(marks, ("n1", "gw"), HOUR, now=T0 + 3600, asked=AvailabilityTarget(0.5, ("gw",)))
    assert found.system.nodes == ("n1",)
    assert found.service is not None
    assert (found.service.level, found.level) == (level, level)


def test_a_service_without_a_system_is_no_question() -> None:
    with pytest.raises(ValueError, match="no node is left"):
        evaluate(samples("U"), ("n1",), HOUR, now=T0, asked=AvailabilityTarget(service=("n1",)))


@pytest.mark.parametrize(
    ("stage", "up"),
    [
        (FailedAt.UNREACHABLE, False),
        (FailedAt.LOGIN, False),
        (FailedAt.LOST, False),
        (FailedAt.TIMEOUT, False),
        (FailedAt.TOOL, False),
        (FailedAt.HOST_KEY_UNKNOWN, None),
        (FailedAt.HOST_KEY_CHANGED, None),
        (FailedAt.OUTPUT, None),
        (FailedAt.CANCELLED, None),
        (FailedAt.MISSING_TOOL, None),
        (FailedAt.PROBE, None),
    ],
)
def test_only_what_the_node_did_counts_as_down(stage: FailedAt, up: bool | None) -> None:
    found = read_sample(ProbeOutcome("n1", T0, stage))
    assert (found.up if found else None) is up


def test_a_node_is_up_with_all_its_services() -> None:
    facts: dict[str, str | float] = {"boot.id": "b", "boot.uptime": 5.0}
    up = ("availability.up", 1.0)
    found = read_sample(ProbeOutcome("n1", T0, None, (up, ("availability.answer", 0.1)), facts))
    assert found == UptimeSample("n1", T0, up=True, boot="b", uptime=5.0)
    hung = read_sample(
        ProbeOutcome("n1", T0, None, (up, ("availability.service", 1.0), ("availability.service", 0.0)), facts)
    )
    assert hung is not None
    assert not hung.up
    assert read_sample(ProbeOutcome("n1", T0, None, (("availability.answer", 0.1),), facts)) is None


@given(st.text("UDR-", max_size=61), st.floats(0, 4000), st.lists(st.tuples(st.floats(0, 4000), st.floats(0, 4000))))
@settings(max_examples=60, deadline=None)
def test_every_second_counts_once_and_the_share_lies_between_worst_and_best(
    pattern: str, passed: float, cuts: list[tuple[float, float]]
) -> None:
    found = make_stretches(samples(pattern, late=0.25), HOUR, T0 + passed)
    assert math.isclose(sum(each.seconds for each in found), 3600.0)
    assert all(before.end == after.start for before, after in pairwise(found))
    out = [Exclusion(T0 + min(pair), T0 + max(pair), "x") for pair in cuts]
    left = cut_exclusions(found, out)
    covered = sum(not any(each.start <= T0 + second + 0.5 < each.end for each in out) for second in range(3600))
    assert abs(sum(each.seconds for each in left) - covered) <= 2 * len(out) + 1e-6
    time = said(pattern, now=T0 + passed, exclusions=out).system.time
    assert -1e-9 <= time.worst <= time.best + 1e-9 <= 1 + 1e-8
    if time.unsampled == 0 and time.share is not None:
        assert time.worst - 1e-9 <= time.share <= time.best + 1e-9
