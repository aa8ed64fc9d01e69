"""The rules of the cover of low observations: at each bound, one step below it, one above it."""

from collections.abc import Iterable

import pytest

from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Bundle
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.probes.judging.lags import load_lag
from tests.probes.judging.rounds import RATE, STAR, close, flow, into, out_of, star, steer
from tests.probes.judging.sessions import Session


@pytest.mark.parametrize(
    ("again", "where"),
    [
        (0.75 * 1.14, "n1 out or n2 in"),
        (0.75 * 1.15, "n1 out or n2 in"),
        (0.75 * 1.15 + 1e-6, "n2 in"),
        (0.75 * 1.4, "n2 in"),
    ],
)
def test_a_link_that_carried_15_per_cent_more_is_no_candidate(again: float, where: str) -> None:
    described = star()
    well = close(described, 2, flow("n1", "n3", min(again, 1.0)))
    assert Session(described, close(described, 1, flow("n1", "n2", 0.75)), well).cover() == [where]


def test_it_counts_what_was_carried_before_as_what_is_carried_after() -> None:
    described = star()
    well = close(described, 1, flow("n1", "n3", 0.95))
    assert Session(described, well, close(described, 2, flow("n1", "n2", 0.75))).cover() == ["n2 in"]


@pytest.mark.parametrize(
    ("first", "second", "covers"),
    [
        (0.40, 0.80, ["n1 out or n2 in"]),  # 0.60 of 0.80 is missing there: the bound
        (0.39, 0.81, ["n1 out or n2 in"]),
        (0.41, 0.79, []),
    ],
)
def test_a_candidate_carried_three_quarters_of_what_is_missing(first: float, second: float, covers: list[str]) -> None:
    described = star()
    bundle = Bundle("pairs", (out_of(described, "n1"), out_of(described, "n3")))
    sent = flow("n1", "n2", first, "pairs"), flow("n3", "n4", second, "pairs")
    assert Session(described, close(described, 1, *sent, bundles=(bundle,))).cover() == covers


@pytest.mark.parametrize("much", [0.33, 0.6])
def test_what_one_flow_has_too_much_is_nothing_that_another_lacks(much: float) -> None:
    """Of 50 % that are missing into n4, n2 lacks 30 and n3 20: neither is a candidate, whatever n1 sends."""
    described = star()
    bundle = Bundle("into n4", (into(described, "n4"),))
    rates = ("n1", much), ("n2", 1 / 3 - 0.3), ("n3", 1 / 3 - 0.2)
    sent = [flow(source, "n4", rate, "into n4") for source, rate in rates]
    assert Session(described, close(described, 1, *sent, bundles=(bundle,))).cover() == ["n4 in"]


@pytest.mark.parametrize(("load", "covers"), [(0.919, ["n2 in"]), (0.92, []), (0.921, [])])
def test_a_link_that_was_full_is_no_candidate(load: float, covers: list[str]) -> None:
    """Two flows fill the cable of n2 from 92 % on: then only the senders are candidates, and none lacks most of it."""
    described = star("at_least: 95 %")
    bundle = Bundle("into n2", (into(described, "n2"),))
    sent = flow("n1", "n2", load / 2, "into n2"), flow("n3", "n2", load / 2, "into n2")
    assert Session(described, close(described, 1, *sent, bundles=(bundle,))).cover() == covers


@pytest.mark.parametrize(("other", "where"), [(0.919, "n1 out or n2 in"), (0.92, "n2 in"), (0.921, "n2 in")])
def test_a_link_that_was_full_in_another_round_is_no_candidate(other: float, where: str) -> None:
    described = star("at_least: 90 %")
    low, well = close(described, 1, flow("n1", "n2", 0.85)), close(described, 2, flow("n1", "n3", other))
    assert Session(described, low, well).cover() == [where]


@pytest.mark.parametrize(("second", "where"), [(0.43, "n1 out or n2 in"), (0.44, "n1 out or n2 in"), (0.441, "n2 in")])
def test_a_flow_has_its_bottleneck_where_it_reaches_three_quarters_of_the_fastest(second: float, where: str) -> None:
    """Two flows leave n1: the first gives 33 %, and the other is no faster than four thirds of that."""
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.33), flow("n1", "n3", second))
    assert Session(described, closed).cover() == [where]


# -- the order in which covers are taken


def run_pairs(described: Fabric, pairs: Iterable[tuple[str, str, float]]) -> list[ClosedRound]:
    """Each pair in a round of its own."""
    return [close(described, number, flow(*pair)) for number, pair in enumerate(pairs, 1)]


@pytest.mark.parametrize(
    ("out", "into", "covers"),
    [
        (0.50, 0.51, ["n1 out", "n4 out or n8 in"]),
        (0.50, 0.50, ["n1 out", "n4 out or n8 in"]),  # the one that was seen first
        (0.51, 0.50, ["n8 in", "n1 out or n2 in"]),
    ],
)
def test_of_two_links_that_explain_as_many_the_one_with_more_missing_is_first(
    out: float, into: float, covers: list[str]
) -> None:
    described = star()
    pairs = ("n1", "n2", out), ("n1", "n8", 0.5), ("n4", "n8", into)
    assert Session(described, *run_pairs(described, pairs)).cover() == covers


def test_the_link_that_explains_most_is_first_and_takes_what_it_shares() -> None:
    described = star()
    pairs = [("n1", "n8", 0.5), ("n1", "n2", 0.5), ("n3", "n8", 0.5), ("n4", "n8", 0.5), ("n1", "n5", 0.5)]
    pairs += [("n1", "n6", 0.5), ("n2", "n3", 1.0), ("n5", "n6", 1.0)]
    session = Session(described, *run_pairs(described, pairs))
    assert session.cover() == ["n1 out", "n8 in"]


# -- when a larger component has failed as a whole


def wide_star(nodes: int) -> Fabric:
    criteria = "criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]\n"
    return load_text(STAR.replace("n[1-8]", f"n[1-{nodes}]") + criteria, "star.yaml")


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
    nodes = [f"{source} out or {sink} in" for source, sink, rate in pairs if rate < 1]
    assert Session(described, *run_pairs(described, pairs)).cover() == (["leaf"] if blamed else nodes)


@pytest.mark.parametrize(("slow", "blamed"), [(8, False), (9, True)])
def test_a_switch_of_which_more_parts_are_sound_has_not_failed_however_many_flows_are_slow(
    slow: int, blamed: bool
) -> None:
    """Every slow pair is slow three times: more than nine of ten flows."""
    described = wide_star(2 * slow + 2)
    pairs = [(f"n{2 * number + 1}", f"n{2 * number + 2}", 0.5) for number in range(slow)] * 3
    pairs.append((f"n{2 * slow + 1}", f"n{2 * slow + 2}", 1.0))
    assert ("leaf" in Session(described, *run_pairs(described, pairs)).cover()) is blamed


def test_a_switch_of_which_2_of_19_parts_are_sound_has_not_failed() -> None:
    described = wide_star(19)
    pairs = [(f"n{number}", f"n{number + 1}", 0.5) for number in range(1, 17, 2)] + [("n1", "n17", 0.5)]
    covers = Session(described, *run_pairs(described, [*pairs, ("n18", "n19", 1.0)])).cover()
    assert covers == ["n1 out", *(f"n{number} out or n{number + 1} in" for number in range(3, 17, 2))]


@pytest.mark.parametrize(
    ("others", "covers"),
    [
        ([("n5", "n6")], ["n1 out", "n5 out or n6 in"]),  # 2 links are left
        ([("n5", "n6"), ("n7", "n6")], ["leaf"]),  # 3
        ([("n5", "n6"), ("n7", "n8")], ["leaf"]),
    ],
)
def test_a_switch_is_blamed_beside_its_worst_link_if_three_more_are_low(
    others: list[tuple[str, str]], covers: list[str]
) -> None:
    described = star()
    ends = [*(("n1", f"n{number}") for number in (2, 3, 4)), *others]
    assert Session(described, *run_pairs(described, ((*pair, 0.5) for pair in ends))).cover() == covers


@pytest.mark.parametrize(
    ("out", "covers"),
    [
        (18, ["n1 NIC"]),  # 1 of 19 is left
        (19, ["n1 out", "n1 in or n25 out"]),  # 1 of 20: the bound
        (20, ["n1 out", "n1 in or n25 out"]),
    ],
)
def test_a_smaller_component_is_named_if_it_leaves_at_most_5_per_cent(out: int, covers: list[str]) -> None:
    described = wide_star(25)
    pairs = [*(("n1", f"n{number}", 0.5) for number in range(2, out + 2)), ("n25", "n1", 0.5)]
    assert Session(described, *run_pairs(described, pairs)).cover() == covers


# -- LAGs whose members are known


def run_well(described: Fabric) -> list[ClosedRound]:
    """Rounds that clear the cables of a1 out and b1 in."""
    return [close(described, 1, flow("a1", "a2", 1.0)), close(described, 2, flow("b2", "b1", 1.0))]


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
    described = load_lag()
    sent = [steer("a1", "b1", 0.5, 0)]
    sent += [steer(f"a{number + 1}", f"b{number + 1}", rate, number) for number, rate in enumerate(others, 1)]
    (found,) = Session(described, *run_well(described), close(described, 3, *sent)).cover()
    assert where in found.split(" or ")
    assert ("leaf1 to leaf2" in found.split(" or ")) is ("member" not in where)


def test_members_that_are_all_low_are_the_lag() -> None:
    described = load_lag()
    well = [close(described, 1, flow("a1", "a2", 1.0)), close(described, 2, flow("a3", "a4", 1.0))]
    sent = [steer(f"a{number + 1}", f"b{number + 1}", 0.5, number) for number in range(4)]
    assert Session(described, *well, close(described, 3, *sent)).cover() == ["leaf1 to leaf2"]


@pytest.mark.parametrize(("assumed", "covers"), [(0.5 * 1.15, 1), (0.5 * 1.15 + 1e-6, 0)])
def test_what_streams_on_assumed_paths_carried_clears_of_such_streams_only(assumed: float, covers: int) -> None:
    described = load_lag()
    sent = steer("a1", "b1", 0.5, 0), steer("a2", "b2", 1.0, 1)
    session = Session(described, *run_well(described), close(described, 3, *sent))
    session.loads.assumed[session.named.number("leaf1>leaf2/1")] = assumed * RATE
    assert len(session.cover()) == covers
