"""The bounds of attribution: at each bound, one step below it, one above it."""

from dataclasses import replace

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Suspect
from benchconsole.probes.model.measuring import Bundle
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.rounds import BOTH_WAYS, RATE, Sent, close, flow, into, out_of, star


def find(described: Fabric, *rounds: ClosedRound) -> tuple[Finding, ...]:
    context = JudgingContext(described, METRICS)
    return list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds])


@pytest.mark.parametrize(
    ("again", "where"),
    [
        (0.75 * 1.14, "n1 out or n2 in"),
        (0.75 * 1.15, "n1 out or n2 in"),
        (0.75 * 1.15 + 1e-6, "n2 in"),
        (0.75 * 1.4, "n2 in"),
    ],
)
def test_a_link_that_carried_15_per_cent_more_is_not_the_cause(again: float, where: str) -> None:
    described = star()
    (finding,) = find(
        described, close(described, 1, flow("n1", "n2", 0.75)), close(described, 2, flow("n1", "n3", min(again, 1.0)))
    )
    assert finding.where == where
    assert finding.confidence is (Confidence.POSSIBLE if " or " in where else Confidence.LIKELY)


def test_it_counts_what_was_carried_before_as_what_is_carried_after() -> None:
    described = star()
    (finding,) = find(
        described, close(described, 1, flow("n1", "n3", 0.95)), close(described, 2, flow("n1", "n2", 0.75))
    )
    assert finding.where == "n2 in"


@pytest.mark.parametrize(
    ("first", "second", "suspect", "where"),
    [
        (0.40, 0.80, Suspect.NIC, "n1 out or n2 in"),  # 0.60 of 0.80 is missing there: the bound
        (0.39, 0.81, Suspect.NIC, "n1 out or n2 in"),
        (0.41, 0.79, Suspect.FABRIC, "pairs"),
    ],
)
def test_a_candidate_carried_three_quarters_of_what_is_missing(
    first: float, second: float, suspect: Suspect, where: str
) -> None:
    described = star()
    bundle = Bundle("pairs", (out_of(described, "n1"), out_of(described, "n3")))
    sent = flow("n1", "n2", first, "pairs"), flow("n3", "n4", second, "pairs")
    (finding,) = find(described, close(described, 1, *sent, bundles=(bundle,)))
    assert (finding.suspect, finding.where) == (suspect, where)


@pytest.mark.parametrize("much", [0.33, 0.6])
def test_what_one_flow_has_too_much_is_nothing_that_another_lacks(much: float) -> None:
    """Of 50 % that are missing into n4, n2 lacks 30 and n3 20: neither is the cause, whatever n1 sends."""
    described = star()
    bundle = Bundle("into n4", (into(described, "n4"),))
    rates = ("n1", much), ("n2", 1 / 3 - 0.3), ("n3", 1 / 3 - 0.2)
    sent = [flow(source, "n4", rate, "into n4") for source, rate in rates]
    (finding,) = find(described, close(described, 1, *sent, bundles=(bundle,)))
    assert finding.where == "n4 in"


@pytest.mark.parametrize(("load", "blamed"), [(0.919, True), (0.92, False), (0.921, False)])
def test_a_link_that_was_full_is_not_the_cause(load: float, blamed: bool) -> None:
    """What n2 receives of two fills its cable from 92 % on: then only the senders can be at fault."""
    described = star("at_least: 95 %")
    bundle = Bundle("into n2", (into(described, "n2"),))
    sent = flow("n1", "n2", 0.5, "into n2"), flow("n3", "n2", load - 0.5, "into n2")
    (finding,) = find(described, close(described, 1, *sent, bundles=(bundle,)))
    assert ("n2 in" in finding.where) is blamed


@pytest.mark.parametrize("headers", [False, True])
@pytest.mark.parametrize(
    ("second", "causes"),
    [
        (0.60, 1),  # as the lost link would give it: it is dragged down with the first
        (0.479, 2),  # below 80 % of what the lost link gives: it has a cause of its own
        (0.481, 1),
    ],
)
def test_what_a_lost_link_explains_is_put_under_it(second: float, causes: int, headers: bool) -> None:
    described = star(headers=headers)
    low = [close(described, number, flow("n1", f"n{number + 1}", 0.60)) for number in (1, 2, 3)]
    found = find(described, *low, close(described, 4, flow("n1", "n5", second)))
    assert len([finding for finding in found if finding.suspect is Suspect.NIC]) == causes


@pytest.mark.parametrize(("second", "causes"), [(0.299, 2), (0.301, 1)])
def test_what_is_put_under_a_lost_link_reaches_three_quarters_of_what_it_gives(second: float, causes: int) -> None:
    """Even where half of the expectation is enough to pass."""
    described = star("at_least: 50 %")
    low = [close(described, number, flow("n1", f"n{number + 1}", 0.40)) for number in (1, 2, 3)]
    found = find(described, *low, close(described, 4, flow("n1", "n5", second)))
    assert len([finding for finding in found if finding.suspect is Suspect.NIC]) == causes


@pytest.mark.parametrize(("third", "where"), [(0.527, {"n1 out", "n5 in"}), (0.528, {"n1 out"}), (0.529, {"n1 out"})])
@pytest.mark.parametrize("rates", [(0.60, 0.66), (0.66, 0.60)])
def test_a_lost_link_carries_the_most_that_was_seen_over_it(
    rates: tuple[float, float], third: float, where: set[str]
) -> None:
    """66 % at most, so that a third flow should give 80 % of that: 52.8 %."""
    described = star()
    low = [close(described, number, flow("n1", f"n{number + 1}", rate)) for number, rate in enumerate(rates, 1)]
    found = {each.where: each for each in find(described, *low, close(described, 3, flow("n1", "n5", third)))}
    assert found.keys() == where
    assert found["n1 out"].value == 0.66 * RATE


def test_two_links_that_share_an_observation_are_both_named() -> None:
    """n8 in explains three, one of which is n1's; n1 out at 60 % explains two and drags two down."""
    described = star()
    pairs = [("n1", "n2", 0.6), ("n1", "n3", 0.6), *(("n1", sink, 0.5) for sink in ("n6", "n7", "n8"))]
    pairs += [("n4", "n8", 0.5), ("n5", "n8", 0.5), ("n4", "n5", 1.0), ("n5", "n4", 1.0)]
    found = find(described, *(close(described, number, flow(*pair)) for number, pair in enumerate(pairs, 1)))
    assert {each.where: len(each.tests) for each in found} == {"n1 out": 4, "n8 in": 3}


@pytest.mark.parametrize(
    ("out", "into", "where"),
    [
        (0.50, 0.51, {"n1 out", "n4 out or n8 in"}),
        (0.50, 0.50, {"n1 out", "n4 out or n8 in"}),  # the one that was seen first
        (0.51, 0.50, {"n8 in", "n1 out or n2 in"}),
    ],
)
def test_of_two_links_that_explain_as_many_the_one_with_more_missing_is_named(
    out: float, into: float, where: set[str]
) -> None:
    described = star()
    pairs = ("n1", "n2", out), ("n1", "n8", 0.5), ("n4", "n8", into)
    found = find(described, *(close(described, number, flow(*pair)) for number, pair in enumerate(pairs, 1)))
    assert {each.where for each in found} == where


# -- what links are known to have carried: both ways of a test, each by its first measurement


def both_ways(*rates: tuple[str, float]) -> Sent:
    return Sent("n1", "n3", [(name, rate * RATE) for name, rate in rates], sending=BOTH_WAYS)


def test_both_ways_of_a_test_show_what_links_carry() -> None:
    """n1 sends well to n3 and receives well from it: a low flow between n1 and n2 is the fault of n2."""
    described = star()
    well = close(described, 1, both_ways(("out", 0.95), ("in", 0.95)))
    assert [each.where for each in find(described, well, close(described, 2, flow("n1", "n2", 0.5)))] == ["n2 in"]
    assert [each.where for each in find(described, well, close(described, 2, flow("n2", "n1", 0.5)))] == ["n2 out"]


@pytest.mark.parametrize("direction", ["out", "in"])
def test_only_the_first_number_of_each_way_shows_what_links_carry(direction: str) -> None:
    """What follows speaks of parts of it, as of single streams or seconds."""
    described = star()
    other = {"out": "in", "in": "out"}[direction]
    peak = close(described, 1, both_ways((direction, 0.8), (other, 0.95), (direction, 0.95)))
    ends = ("n1", "n2") if direction == "out" else ("n2", "n1")
    (finding,) = find(described, peak, close(described, 2, flow(*ends, 0.75)))
    assert " or " in finding.where


@pytest.mark.parametrize("lengths", [(10.0, 10.0), (10.0, 20.0), (20.0, 10.0)])  # the shortest one counts
@pytest.mark.parametrize(
    ("apart", "where"),
    [(0.0, "n2 in"), (10.0, "n2 in"), (10.1, "n1 out or n2 in")],  # half of their time together: 45 %
)
def test_flows_prove_their_sum_for_the_time_that_they_ran_together(
    apart: float, where: str, lengths: tuple[float, float]
) -> None:
    """Two flows out of n1 gave 90 % of its cable: that clears n1 of a later 39 % unless they hardly overlapped."""
    described = star("at_least: 40 %")
    first, second = lengths
    sent = flow("n1", "n3", 0.45, "out", ran=first), flow("n1", "n4", 0.45, "out", at=apart, ran=second)
    low = close(described, 2, flow("n1", "n2", 0.39))
    assert [each.where for each in find(described, close(described, 1, *sent), low)] == [where]
