"""A low rate that the ends of flows explain accuses no link: at each bound, beside rates that still accuse one."""

from typing import Any

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.host_limits import find_asked
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Level, Suspect
from benchconsole.probes.model.measuring import Bundle, Result
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId
from tests.fabrics import METRICS
from tests.probes.judging.test_reasons import FAR, NEAR, RATE, TRIP, close, make_result

FULL = {"cpu@sender": 0.98}


def number(closed: ClosedRound, place: int) -> ClosedRound:
    """The round under another number, as a stage of its own."""
    tests = {test.id: replace(test, id=f"{place}/{test.id}", round=place) for test in closed.round.tests}
    results = (
        replace(
            each,
            test=tests[each.test.id],
            measurements=tuple(replace(one, id=f"{place}/{one.id}") for one in each.measurements),
        )
        for each in closed.results
    )
    made = replace(closed.round, number=place, stage=f"stage {place}", tests=tuple(tests.values()))
    return replace(closed, round=made, results=tuple(results))


def find(fabric: Fabric, *results: Result | ClosedRound) -> list[Finding]:
    """The findings of rounds, or of one test each."""
    context = JudgingContext(fabric, METRICS)
    rounds = [
        number(each if isinstance(each, ClosedRound) else close(each), place)
        for place, each in enumerate(results, start=1)
    ]
    return list(list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds]))


@pytest.mark.parametrize(("used", "is_node"), [(0.949, False), (0.95, True)])
def test_a_full_core_accuses_its_node_and_no_link(used: float, is_node: bool) -> None:
    (found,) = find(NEAR, make_result(NEAR, 0.5, {"cpu@sender": used}))
    assert (found.where == "n1 processor") is is_node
    assert (found.nodes_at == ("n1",)) is is_node
    if is_node:
        assert (found.suspect, found.confidence, found.links) == (Suspect.NODE, Confidence.LIKELY, ())
        assert found.what == "one core of n1 was full: the sender used 95 % of one; n1>f1: 5.00 Gb/s of 10.0 Gb/s, 50 %"
        assert found.rules_out == ("the links on the way: the ends explain the rate",)


def test_one_full_core_is_one_finding_whatever_its_partners() -> None:
    partner = make_result(NEAR, 0.5, FULL, place=2)
    source = make_result(NEAR, 0.5, FULL).test.target.node
    other = replace(partner, test=replace(partner.test, target=replace(partner.test.target, node=source)))
    (found,) = find(NEAR, make_result(NEAR, 0.5, FULL), other)
    assert (found.where, found.confidence, len(found.because)) == ("n1 processor", Confidence.CERTAIN, 2)


def test_full_cores_of_two_nodes_are_two_findings() -> None:
    found = find(NEAR, make_result(NEAR, 0.5, FULL), make_result(NEAR, 0.5, FULL, place=2))
    assert [each.where for each in found] == ["n1 processor", "n2 processor"]


@pytest.mark.parametrize(
    ("fabric", "trip", "is_node"),
    [(FAR, TRIP, True), (FAR, 1.5 * TRIP, True), (FAR, 1.501 * TRIP, False), (NEAR, TRIP, False)],
)
def test_a_window_accuses_no_link_where_the_distance_is_described(fabric: Fabric, trip: float, is_node: bool) -> None:
    """In front of a slow link a queue makes the round trip long, until a window over it is the rate."""
    (found,) = find(fabric, make_result(fabric, 0.5, {"window": 0.5 * RATE * trip, "rtt": trip}))
    assert (found.where == "f1 window") is is_node
    if is_node:
        assert found.suspect is Suspect.NODE
        assert found.what.startswith("the window of ")


def test_a_window_that_the_test_asked_for_accuses_nobody() -> None:
    share = 4 * 2**20 / TRIP / RATE
    (found,) = find(FAR, make_result(FAR, share, {}, options={"window": "4 MiB"}))
    assert (found.suspect, found.where, found.nodes_at) == (Suspect.FABRIC, "n1>f1", ())
    assert "the window of 4.00 MiB as asked for allows 664 Mb/s at 50.5 ms as described" in found.what
    assert found.do.startswith("allow windows of 48.2 MiB together")


@pytest.mark.parametrize(("full", "is_host"), [(2, False), (3, True)])
def test_a_bundle_is_explained_where_three_quarters_of_what_is_missing_are(full: int, is_host: bool) -> None:
    told: list[dict[str, Any]] = [FULL if place <= full else {} for place in (1, 2, 3, 4)]
    results = [make_result(NEAR, 0.5, own, place=place, bundle="b") for place, own in enumerate(told, start=1)]
    way = Direction(LinkId("east--west"), "east")
    (found,) = find(NEAR, close(*results, bundles=(Bundle("b", (way,), 0.4),)))
    assert ("one core of n1 was full" in found.what) is is_host
    assert found.nodes_at == ()


@pytest.mark.parametrize(("level", "asked"), [(Level.FAIL, 0.8), (Level.WATCH, 1.0)])
def test_what_is_watched_met_its_bound_and_lacks_the_rest(level: Level, asked: float) -> None:
    closed = close(make_result(NEAR, 0.5, {}))
    (verdict,) = judge_round(JudgingContext(NEAR, METRICS), closed)
    assert find_asked(verdict._replace(level=level)) == pytest.approx(asked)
