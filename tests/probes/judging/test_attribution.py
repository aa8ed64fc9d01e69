"""The bounds of attribution: at each bound, one step below it, one above it."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from benchconsole.probes.judging.attribution import PartLoads
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Suspect
from benchconsole.probes.model.measuring import Bundle
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.rounds import BOTH_WAYS, RATE, STAR, Sent, close, flow, into, out_of, star, steer


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


# -- the fastest flow over a cable, and what was carried in other rounds


@pytest.mark.parametrize(("second", "where"), [(0.43, "n1 out or n2 in"), (0.44, "n1 out or n2 in"), (0.441, "n2 in")])
def test_a_flow_has_its_bottleneck_where_it_reaches_three_quarters_of_the_fastest(second: float, where: str) -> None:
    """Two flows leave n1: the first gives 33 %, and the other is no faster than four thirds of that."""
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.33), flow("n1", "n3", second))
    assert [each.where for each in find(described, closed)] == [where]


@pytest.mark.parametrize(("other", "where"), [(0.919, "n1 out or n2 in"), (0.92, "n2 in"), (0.921, "n2 in")])
def test_a_link_that_was_full_in_another_round_is_not_the_cause(other: float, where: str) -> None:
    described = star("at_least: 90 %")
    low, well = close(described, 1, flow("n1", "n2", 0.85)), close(described, 2, flow("n1", "n3", other))
    assert [each.where for each in find(described, low, well)] == [where]


# -- when a larger component has failed as a whole


@pytest.mark.parametrize(
    ("offered", "proven", "sound"),
    [
        (0.599, 0.599, False),  # too little to tell
        (0.6, 0.6, True),
        (0.601, 0.601, True),
        (1.0, 0.849, False),
        (1.0, 0.85, True),
        (1.0, 0.851, True),
        (0.8, 0.679, False),
        (0.8, 0.68, True),
        (2.0, 0.849, False),  # no more than it carries was offered
        (2.0, 0.85, True),
    ],
)
def test_a_part_is_sound_if_it_carried_85_per_cent_of_no_small_offer(
    offered: float, proven: float, sound: bool
) -> None:
    loads = PartLoads(JudgingContext(star(), METRICS).parts)
    loads.offered[0], loads.assumed[0] = offered * RATE, proven * RATE
    assert loads.is_sound(0) is sound


def wide_star(nodes: int) -> Fabric:
    criteria = "criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]\n"
    return load_text(STAR.replace("n[1-8]", f"n[1-{nodes}]") + criteria, "star.yaml")


def run_pairs(described: Fabric, pairs: Iterable[tuple[str, str, float]]) -> list[ClosedRound]:
    """Each pair in a round of its own."""
    return [close(described, number, flow(*pair)) for number, pair in enumerate(pairs, 1)]


@pytest.mark.parametrize(
    ("slow", "well", "blamed"),
    [
        (9, 1, True),  # 2 of 20 parts are sound, and 9 of 10 flows slow: both bounds
        (10, 1, True),
        (8, 1, False),
        (9, 2, False),  # 9 of 11 flows are slow
        (10, 2, False),
    ],
)
def test_a_switch_has_failed_if_at_most_a_tenth_of_it_is_sound(slow: int, well: int, blamed: bool) -> None:
    described = wide_star(2 * slow + 2)
    pairs = [(f"n{2 * number + 1}", f"n{2 * number + 2}", 0.5) for number in range(slow)]
    pairs += [(f"n{2 * slow + 1}", f"n{2 * slow + 2}", 1.0)] * well
    suspects = [each.suspect for each in find(described, *run_pairs(described, pairs))]
    assert suspects == ([Suspect.SWITCH] if blamed else [Suspect.NIC] * slow)


@pytest.mark.parametrize(("slow", "blamed"), [(8, False), (9, True)])
def test_a_switch_of_which_more_parts_are_sound_has_not_failed_however_many_flows_are_slow(
    slow: int, blamed: bool
) -> None:
    """Every slow pair is slow three times: more than nine of ten flows."""
    described = wide_star(2 * slow + 2)
    pairs = [(f"n{2 * number + 1}", f"n{2 * number + 2}", 0.5) for number in range(slow)] * 3
    pairs.append((f"n{2 * slow + 1}", f"n{2 * slow + 2}", 1.0))
    suspects = {each.suspect for each in find(described, *run_pairs(described, pairs))}
    assert suspects == {Suspect.SWITCH if blamed else Suspect.NIC}


def test_a_switch_of_which_2_of_19_parts_are_sound_has_not_failed() -> None:
    described = wide_star(19)
    pairs = [(f"n{number}", f"n{number + 1}", 0.5) for number in range(1, 17, 2)] + [("n1", "n17", 0.5)]
    found = find(described, *run_pairs(described, [*pairs, ("n18", "n19", 1.0)]))
    assert {each.suspect for each in found} == {Suspect.NIC}


@pytest.mark.parametrize(
    ("others", "where"),
    [
        ([("n5", "n6")], {"n1 out", "n5 out or n6 in"}),  # 2 links are left
        ([("n5", "n6"), ("n7", "n6")], {"leaf"}),  # 3
        ([("n5", "n6"), ("n7", "n8")], {"leaf"}),
    ],
)
def test_a_switch_is_blamed_beside_its_worst_link_if_three_more_are_low(
    others: list[tuple[str, str]], where: set[str]
) -> None:
    described = star()
    ends = [*(("n1", f"n{number}") for number in (2, 3, 4)), *others]
    found = find(described, *run_pairs(described, ((*pair, 0.5) for pair in ends)))
    assert {each.where for each in found} == where


@pytest.mark.parametrize(
    ("out", "where"),
    [
        (18, {"n1 NIC"}),  # 1 of 19 is left
        (19, {"n1 out", "n1 in or n25 out"}),  # 1 of 20: the bound
        (20, {"n1 out", "n1 in or n25 out"}),
    ],
)
def test_a_smaller_component_is_named_if_it_leaves_at_most_5_per_cent(out: int, where: set[str]) -> None:
    described = wide_star(25)
    pairs = [*(("n1", f"n{number}", 0.5) for number in range(2, out + 2)), ("n25", "n1", 0.5)]
    assert {each.where for each in find(described, *run_pairs(described, pairs))} == where


# -- LAGs whose members are known


LAG = """\
schema: 1
fabric: lag
network: {hash: steered}
networks: {flat: {goodput: 100 %}}
switches: {"leaf[1-2]": {role: leaf}}
nodes: {"a[1-4]": {}, "b[1-4]": {}}
links:
  - {from: "a[1-4]", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "b[1-4]", to: leaf2, speed: 8 Gb/s, network: flat}
  - {from: leaf1, to: leaf2, speed: 8 Gb/s, count: 4, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""


@pytest.mark.parametrize(
    ("others", "where"),
    [
        ([0.849], "leaf1 to leaf2"),  # two are slow: the LAG or the member
        ([0.85], "leaf1 to leaf2, member 1 of 4"),
        ([0.851], "leaf1 to leaf2, member 1 of 4"),
        ([0.849, 1.0], "leaf1 to leaf2"),
        ([1.0, 1.0], "leaf1 to leaf2, member 1 of 4"),
        ([], "leaf1 to leaf2"),  # no other flow tells
    ],
)
def test_a_lag_that_slows_one_of_several_flows_has_a_bad_member(others: list[float], where: str) -> None:
    described = load_text(LAG, "lag.yaml")
    well = [close(described, 1, flow("a1", "a2", 1.0)), close(described, 2, flow("b2", "b1", 1.0))]
    sent = [steer("a1", "b1", 0.5, 0)]
    sent += [steer(f"a{number + 1}", f"b{number + 1}", rate, number) for number, rate in enumerate(others, 1)]
    (finding,) = find(described, *well, close(described, 3, *sent))
    assert finding.where == where
    assert finding.suspect is (Suspect.MEMBER if "member" in where else Suspect.LAG)


def test_members_that_are_all_low_are_the_lag() -> None:
    described = load_text(LAG, "lag.yaml")
    well = [close(described, 1, flow("a1", "a2", 1.0)), close(described, 2, flow("a3", "a4", 1.0))]
    sent = [steer(f"a{number + 1}", f"b{number + 1}", 0.5, number) for number in range(4)]
    (finding,) = find(described, *well, close(described, 3, *sent))
    assert (finding.suspect, finding.where) == (Suspect.LAG, "leaf1 to leaf2")


# -- flows that a lost member sends elsewhere


PAIRED_UP = """\
schema: 1
fabric: up
network: {hash: steered}
networks: {flat: {goodput: 100 %}}
switches: {spine: {role: spine}, "leaf[1-2]": {role: leaf}, "tor[1-2]": {role: chassis}}
mlag: {pair: {switches: "leaf[1-2]"}}
nodes: {"a[1-5]": {}, "b[1-5]": {}, c1: {}}
links:
  - {from: "a[1-4]", to: tor1, speed: 8 Gb/s, network: flat}
  - {from: c1, to: tor2, speed: 8 Gb/s, network: flat}
  - {from: a5, to: tor1, speed: 8 Gb/s, count: 2, network: flat}
  - {from: "b[1-5]", to: spine, speed: 8 Gb/s, network: flat}
  - {from: "tor[1-2]", to: "leaf[1-2]", speed: 8 Gb/s, network: flat}
  - {from: "leaf[1-2]", to: spine, speed: 16 Gb/s, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""


def find_displaced(*others: Sent) -> set[str]:
    """What is found where the way from tor1 to leaf1 gives 10 %, and ``others`` give what they do, each alone."""
    described = load_text(PAIRED_UP, "up.yaml")
    sent = [steer("a1", "b1", 0.1, 0), steer("a2", "b2", 0.1, 0), steer("a1", "b2", 0.1, 0), steer("a2", "b1", 0.1, 0)]
    sent += [flow("a1", "a2", 1.0), flow("a2", "a1", 1.0), steer("c1", "b1", 1.0, 0), steer("a3", "b5", 1.0, 1)]
    closed = [close(described, number, each) for number, each in enumerate((*sent, *others), 1)]
    return {each.where for each in find(described, *closed)}


def test_a_steered_flow_beyond_a_lost_member_is_counted_under_it() -> None:
    """Its port meant the other device; what was displaced comes there too."""
    assert find_displaced() == {"tor1 to leaf1"}
    assert find_displaced(steer("a3", "b3", 0.5, 1)) == {"tor1 to leaf1"}
    assert find_displaced(steer("a3", "b3", 0.5, 1), steer("a4", "b4", 0.6, 1)) == {"tor1 to leaf1"}


def test_a_flow_whose_path_is_not_known_is_not_displaced() -> None:
    assert find_displaced(flow("b3", "b4", 0.5)) == {"tor1 to leaf1", "b3 out or b4 in"}
    assert len(find_displaced(flow("c1", "b3", 0.5))) == 2  # it passes both devices, in parts
    assert find_displaced(steer("c1", "b3", 0.5, 0)) == {"tor1 to leaf1"}


def test_a_steered_flow_that_passes_none_of_the_devices_is_not_displaced() -> None:
    assert find_displaced(steer("a5", "a4", 0.5, 1)) == {"tor1 to leaf1", "a4 in or a5 out or others"}


def test_a_slow_nic_displaces_nothing() -> None:
    described = load_text(LAG, "lag.yaml")
    sent = [flow("a1", sink, 0.3) for sink in ("a2", "a4")] + [flow("a2", "a4", 1.0), flow("a3", "a2", 1.0)]
    sent += [steer("a3", "b3", 0.5, 1), flow("a3", "a4", 1.0), flow("b4", "b3", 1.0)]
    found = find(described, *(close(described, number, each) for number, each in enumerate(sent, 1)))
    assert "a1 out" in {each.where for each in found}
    assert len(found) == 2
