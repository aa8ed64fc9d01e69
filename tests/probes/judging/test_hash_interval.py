"""The interval of rates where the hash decides: by policy, for a lone flow and a bundle, and the verdicts at its ends."""

from collections.abc import Sequence

import pytest

from benchconsole.probes.api import Sending
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.hash_interval import HashInterval, sum_crossing
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.probes.model.judgement import Level, Verdict
from benchconsole.probes.model.measuring import Bundle
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId
from tests.fabrics import METRICS
from tests.probes.judging.rounds import Sent, close

GBPS = 1e9 / 8
HEAD = "schema: 1\nfabric: hashed\nnetworks: {flat: {goodput: 100 %}}\n"


def bonded(policy: str = "unknown", *, criterion: str = "at_least: 80 %", leaf2: str = "10G") -> Fabric:
    """Nodes with two legs of 10 Gb/s to a leaf (n1 to n4), or one cable to another (n5 to n8); two members between."""
    return load_text(
        f"{HEAD}nodes: {{'n[1-8]': {{}}}}\nswitches: {{'leaf[1-2]': {{role: leaf}}}}\nlinks:\n"
        f"  - {{from: 'n[1-4]', to: leaf1, speed: 10G, count: 2, hash: {policy}, network: flat}}\n"
        f"  - {{from: 'n[5-8]', to: leaf2, speed: 20G, network: flat}}\n"
        f"  - {{from: leaf1, to: leaf2, speed: {leaf2}, count: 4, hash: {policy}, network: flat}}\n"
        f"criteria: [{{metric: iperf3.throughput, {criterion}, of: capacity}}]\n",
        "hashed.yaml",
    )


def uneven() -> Fabric:
    """Nodes of 100 Gb/s on two leaves, which are joined over one spine by 40 Gb/s and over another by 10."""
    return load_text(
        f"{HEAD}nodes: {{'n[1-4]': {{}}}}\nswitches: {{'leaf[1-2]': {{role: leaf}}, 'spine[1-2]': {{role: spine}}}}\n"
        "links:\n"
        "  - {from: 'n[1-2]', to: leaf1, speed: 100G, network: flat}\n"
        "  - {from: 'n[3-4]', to: leaf2, speed: 100G, network: flat}\n"
        "  - {from: 'leaf[1-2]', to: spine1, speed: 40G, network: flat}\n"
        "  - {from: 'leaf[1-2]', to: spine2, speed: 10G, network: flat}\n",
        "uneven.yaml",
    )


def sent(source: str, sink: str, gigabits: float, streams: int, bundle: str = "") -> Sent:
    return Sent(source, sink, (("out", gigabits * GBPS),), bundle, sending=Sending(streams=streams))


def judged(described: Fabric, *tests: Sent, bundles: Sequence[Bundle] = ()) -> Verdict:
    (verdict,) = judge_round(JudgingContext(described, METRICS), close(described, 1, *tests, bundles=bundles))
    return verdict


def measured(described: Fabric, *tests: Sent) -> tuple[JudgingContext, tuple[MeasuredFlow, ...]]:
    context = JudgingContext(described, METRICS)
    (criterion,) = context.capacity_criteria("iperf3")
    return context, context.flows.read(close(described, 1, *tests), criterion.metric).measured(criterion)


def found(described: Fabric, *tests: Sent) -> HashInterval:
    context, flows = measured(described, *tests)
    interval = context.hash_intervals.find(flows)
    assert interval is not None
    return interval


# -- a lone flow


@pytest.mark.parametrize(
    ("policy", "streams", "least", "expected"),
    [
        ("unknown", 1, 10, 10), ("unknown", 4, 10, 20), ("unknown", 8, 20, 20), ("unknown", 16, 20, 20),
        ("l3l4", 4, 10, 20), ("l3l4", 16, 20, 20), ("steered", 4, 10, 20),
        ("l2", 1, 10, 10), ("l2", 4, 10, 10), ("l2", 64, 10, 10), ("l3", 16, 10, 10),
    ],
)  # fmt: skip
def test_the_policy_says_whether_streams_part(policy: str, streams: int, least: float, expected: float) -> None:
    """From a node with two legs to one with a single cable of 20 Gb/s, over four members that never hold it up."""
    interval = found(bonded(policy, leaf2="40G"), sent("n1", "n5", 10, streams))
    assert (interval.least, interval.expected) == pytest.approx((least * GBPS, expected * GBPS))


@pytest.mark.parametrize(
    ("gigabits", "level"),
    [(7.99, Level.FAIL), (8.0, Level.UNKNOWN), (10.0, Level.UNKNOWN), (15.99, Level.UNKNOWN), (16.0, Level.PASS)],
)
def test_a_lone_flow_at_the_ends_of_what_its_hash_explains(gigabits: float, level: Level) -> None:
    """4 streams over two legs give 10 to 20 Gb/s: 80 % of 10 and of 20 are the bounds."""
    assert judged(bonded(leaf2="40G"), sent("n1", "n5", gigabits, 4)).level is level


@pytest.mark.parametrize(("gigabits", "level"), [(15.99, Level.FAIL), (16.0, Level.PASS)])
def test_with_enough_streams_the_hash_excuses_nothing(gigabits: float, level: Level) -> None:
    verdict = judged(bonded(leaf2="40G"), sent("n1", "n5", gigabits, 16))
    assert verdict.level is level
    assert verdict.because.startswith("80 % of expected")
    assert "hash" not in verdict.because


def test_an_unknown_verdict_says_how_many_streams_would_tell() -> None:
    assert judged(bonded(leaf2="40G"), sent("n1", "n5", 14.2, 4)).because == (
        "71 % of expected; where the hash decides, 4 streams over 2 legs give between 50 % and 100 % "
        "(99 of 100 placements): repeat with 16 streams"
    )


@pytest.mark.parametrize(("streams", "least"), [(4, 10 * GBPS), (16, None)])
def test_a_verdict_carries_the_low_end_where_it_matters(streams: int, least: float | None) -> None:
    assert judged(bonded(leaf2="40G"), sent("n1", "n5", 20, streams)).least == pytest.approx(least)


def test_a_fail_says_that_the_hash_does_not_explain_it() -> None:
    verdict = judged(bonded(leaf2="40G"), sent("n1", "n5", 5.0, 4))
    assert verdict.because == (
        "25 % of expected, below 80 %; 4 streams over 2 legs give no less than 50 % by the hash alone"
    )


def test_a_target_is_graded_as_it_was() -> None:
    described = bonded(criterion="at_least: 50 %, target: 95 %", leaf2="40G")
    levels = [judged(described, sent("n1", "n5", rate, 4)).level for rate in (4.9, 5.0, 9.9, 10.0, 18.9, 19.0)]
    assert levels == [Level.FAIL, Level.UNKNOWN, Level.UNKNOWN, Level.WATCH, Level.WATCH, Level.PASS]


def test_rounding_counts_at_the_low_end_too() -> None:
    described = bonded(criterion="at_least: 80 %, round: 1 %", leaf2="40G")
    assert [judged(described, sent("n1", "n5", rate, 4)).level for rate in (7.8, 7.9)] == [Level.FAIL, Level.UNKNOWN]


def test_a_pair_whose_hash_sees_addresses_only_is_held_against_one_leg() -> None:
    verdict = judged(bonded("l2", leaf2="40G"), sent("n1", "n5", 9.9, 16))
    assert verdict.level is Level.PASS
    assert verdict.expected == pytest.approx(10 * GBPS)
    assert judged(bonded("l2", leaf2="40G"), sent("n1", "n5", 7.9, 16)).level is Level.FAIL


def test_without_a_fork_nothing_is_left_to_a_hash() -> None:
    interval = found(bonded(), sent("n5", "n6", 20, 1))
    assert (interval.least, interval.most) == (interval.expected, interval.expected)
    assert not interval.excuses(1.0)


# -- unequal ways


def test_of_unequal_ways_what_a_hash_delivers_is_expected() -> None:
    """Fluid says 20 Gb/s, a hash by stream fills both ways: 50."""
    interval = found(uneven(), sent("n1", "n3", 50, 16))
    assert (interval.least, interval.expected) == pytest.approx((50 * GBPS, 50 * GBPS))


@pytest.mark.parametrize(
    ("gigabits", "level"),
    [(20, Level.FAIL), (39.9, Level.FAIL), (40.0, Level.PASS), (50, Level.PASS), (52.4, Level.PASS), (52.6, Level.UNKNOWN)],
)  # fmt: skip
def test_unequal_ways_are_judged_by_what_they_carry_together(gigabits: float, level: Level) -> None:
    verdict = judged(uneven(), sent("n1", "n3", gigabits, 16))
    assert verdict.level is level
    assert ("leaf1 to spine1 and 1 more" in verdict.because) is (level is Level.UNKNOWN)


def test_one_stream_is_on_one_of_them() -> None:
    interval = found(uneven(), sent("n1", "n3", 10, 1))
    assert (interval.least, interval.expected) == pytest.approx((10 * GBPS, 40 * GBPS))
    assert [judged(uneven(), sent("n1", "n3", rate, 1)).level for rate in (7.9, 8.0, 31.9, 32.0)] == [
        Level.FAIL, Level.UNKNOWN, Level.UNKNOWN, Level.PASS,
    ]  # fmt: skip


# -- bundles

TRUNK = Direction(LinkId("leaf1--leaf2"), "leaf1")
FILLED = (Bundle("trunk", (TRUNK,), 1.0),)


def pairs(streams: int, gigabits: float) -> tuple[Sent, ...]:
    """Four pairs of 20 Gb/s into four members of 20: as much as they carry."""
    return tuple(sent(f"n{place}", f"n{place + 4}", gigabits / 4, streams, "trunk") for place in range(1, 5))


def test_more_streams_of_a_bundle_leave_less_to_the_hash() -> None:
    shares = [
        interval.least / interval.expected
        for streams in (4, 8, 16, 32)
        for interval in (found(bonded(leaf2="20G"), *pairs(streams, 80)),)
    ]
    assert shares == sorted(shares)
    assert 0.5 < shares[0] < 0.75 < shares[2] < 0.842 < shares[3]


def test_a_bundle_at_the_ends_of_what_its_hash_explains() -> None:
    described = bonded(leaf2="20G")
    low = found(described, *pairs(8, 80)).least / GBPS
    rates = (0.8 * low - 0.01, 0.8 * low + 0.01, low, 63.99, 64.01)
    levels = [judged(described, *pairs(8, rate), bundles=FILLED).level for rate in rates]
    assert levels == [Level.FAIL, Level.UNKNOWN, Level.UNKNOWN, Level.UNKNOWN, Level.PASS]


def test_a_bundle_with_enough_streams_is_judged_as_a_pipe() -> None:
    """Even the unluckiest likely placement of 32 streams a pair is above 80 %: three of four members fail."""
    described = bonded(leaf2="20G")
    assert judged(described, *pairs(32, 60), bundles=FILLED).level is Level.FAIL
    assert judged(described, *pairs(32, 64.1), bundles=FILLED).level is Level.PASS


def test_the_advice_for_a_bundle_is_a_number_that_is_enough() -> None:
    described = bonded(leaf2="20G")
    assert "repeat with 32 streams" in judged(described, *pairs(8, 60), bundles=FILLED).because
    assert "32 streams over 4 members" in judged(described, *pairs(8, 60), bundles=FILLED).because
    assert not found(described, *pairs(32, 60)).excuses(0.8)
    assert found(described, *pairs(16, 60)).excuses(0.8)


def test_pairs_are_what_a_hash_of_addresses_places() -> None:
    described = bonded("l2", leaf2="10G")
    interval = found(described, *pairs(16, 40))
    assert (interval.placed, interval.ways, interval.by_stream) == (4, 4, False)
    verdict = judged(described, *pairs(16, 20), bundles=FILLED)
    assert verdict.level is Level.UNKNOWN
    assert "4 pairs over 4 members give between 25 % and 100 %" in verdict.because
    assert "repeat with other pairs, for all streams of one take one way" in verdict.because


def test_where_no_number_of_streams_is_enough_a_repeat_is() -> None:
    described = bonded(criterion="at_least: 99 %", leaf2="20G")
    assert judged(described, *pairs(64, 78), bundles=FILLED).because.endswith("repeat it, for every run is placed anew")


def test_twice_as_many_streams_are_asked_without_being_sent() -> None:
    context, flows = measured(bonded(leaf2="20G"), *pairs(8, 80))
    twice = context.hash_intervals.find(flows, 2)
    assert twice == found(bonded(leaf2="20G"), *pairs(16, 80))


# -- what certainly crossed


def test_what_crossed_parallel_ways_is_that_of_flows_that_had_no_others() -> None:
    one, two, both, other = frozenset((1,)), frozenset((2,)), frozenset((1, 2)), frozenset((2, 3))
    sums = sum_crossing([[one, both], [both], [other, two]], [1.0, 10.0, 100.0])
    assert sums == {one: 1.0, both: 111.0, other: 100.0, two: 100.0}
