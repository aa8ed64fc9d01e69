"""From rounds to causes: what is named, with which numbers, and who is not accused."""

from collections.abc import Iterable

import pytest

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings, list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Suspect
from benchconsole.probes.model.measuring import Bundle
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.lags import load_lag
from tests.probes.judging.rounds import RATE, Sent, close, flow, into, out_of, star, steer


def find(described: Fabric, *rounds: ClosedRound) -> tuple[Finding, ...]:
    context = JudgingContext(described, METRICS)
    return list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds])


def run_pairs(described: Fabric, pairs: Iterable[tuple[str, str, float]]) -> list[ClosedRound]:
    """Each pair in a round of its own."""
    return [close(described, number, flow(*pair)) for number, pair in enumerate(pairs, 1)]


def run_ring(described: Fabric, rates: dict[tuple[str, str], float], steps: Iterable[int]) -> list[ClosedRound]:
    """Rounds in which every node of a star sends to the one so many ``steps`` further; 100 % but for ``rates``."""
    nodes = [f"n{number}" for number in range(1, 9)]
    rounds = []
    for number, step in enumerate(steps, 1):
        pairs = [(source, nodes[(place + step) % 8]) for place, source in enumerate(nodes)]
        rounds.append(close(described, number, *(flow(*pair, rates.get(pair, 1.0)) for pair in pairs)))
    return rounds


# -- which of the ends of a slow flow


@pytest.mark.parametrize(
    ("others", "where", "confidence"),
    [
        ([], "n1 out or n2 in", Confidence.POSSIBLE),
        ([("n1", "n3", 1.0)], "n2 in", Confidence.LIKELY),
        ([("n3", "n2", 1.0)], "n1 out", Confidence.LIKELY),
    ],
)
def test_an_end_that_carried_more_is_not_the_cause(
    others: list[tuple[str, str, float]], where: str, confidence: Confidence
) -> None:
    described = star()
    (finding,) = find(described, *run_pairs(described, [("n1", "n2", 0.75), *others]))
    assert (finding.where, finding.confidence) == (where, confidence)


def test_it_counts_what_was_carried_before_as_what_is_carried_after() -> None:
    described = star()
    pairs = [("n1", "n3", 0.95), ("n1", "n2", 0.75)]
    assert [each.where for each in find(described, *run_pairs(described, pairs))] == ["n2 in"]


def test_what_no_link_carried_most_of_is_not_explained() -> None:
    described = star()
    bundle = Bundle("pairs", (out_of(described, "n1"), out_of(described, "n3")))
    sent = flow("n1", "n2", 0.41, "pairs"), flow("n3", "n4", 0.79, "pairs")
    (finding,) = find(described, close(described, 1, *sent, bundles=(bundle,)))
    assert (finding.suspect, finding.where) == (Suspect.FABRIC, "pairs")


def test_what_one_flow_has_too_much_is_nothing_that_another_lacks() -> None:
    """Of 50 % that are missing into n4, n2 lacks 30 and n3 20: neither is the cause, whatever n1 sends."""
    described = star()
    bundle = Bundle("into n4", (into(described, "n4"),))
    rates = ("n1", 0.33), ("n2", 1 / 3 - 0.3), ("n3", 1 / 3 - 0.2)
    sent = [flow(source, "n4", rate, "into n4") for source, rate in rates]
    (finding,) = find(described, close(described, 1, *sent, bundles=(bundle,)))
    assert finding.where == "n4 in"


@pytest.mark.parametrize("headers", [False, True])
@pytest.mark.parametrize("rates", [(0.60, 0.60, 0.60), (0.58, 0.60, 0.62), (0.62, 0.60, 0.58)])
def test_a_cause_is_told_with_the_rate_that_fits_all_that_it_slows(
    rates: tuple[float, float, float], headers: bool
) -> None:
    """The middle of the three within 3 %: each flow of one stream is within some 6 % of what its cable gives."""
    described = star(headers=headers)
    pairs = [("n1", f"n{number + 2}", rate) for number, rate in enumerate(rates)]
    (finding,) = find(described, *run_pairs(described, pairs))
    assert (finding.where, finding.confidence) == ("n1 out", Confidence.CERTAIN)
    assert finding.value == pytest.approx(0.60 * RATE, rel=0.03)


def test_members_that_are_all_low_are_the_lag() -> None:
    described = load_lag()
    well = [close(described, 1, flow("a1", "a2", 1.0)), close(described, 2, flow("a3", "a4", 1.0))]
    rounds = [close(described, number, *steer_all(number, dict.fromkeys(range(4), 0.5))) for number in (3, 4, 5)]
    (finding,) = find(described, *well, *rounds)
    assert (finding.suspect, finding.where) == (Suspect.LAG, "leaf1 to leaf2")


# -- nobody else is accused


def test_a_slow_receiver_accuses_none_of_its_senders() -> None:
    """n5 receives 40 % from whoever sends to it, and every sender is as fast as it should be to others."""
    described = star()
    rates = {(f"n{number}", "n5"): 0.4 for number in range(1, 9)}
    (finding,) = find(described, *run_ring(described, rates, (1, 2, 3, 4)))
    assert (finding.where, len(finding.tests)) == ("n5 in", 4)
    assert finding.value == pytest.approx(0.4 * RATE)


def test_a_slow_sender_accuses_none_of_its_receivers() -> None:
    described = star()
    rates = {("n5", f"n{number}"): 0.4 for number in range(1, 9)}
    (finding,) = find(described, *run_ring(described, rates, (1, 2, 3, 4)))
    assert (finding.where, len(finding.tests)) == ("n5 out", 4)


def test_two_faults_are_both_named_and_what_they_share_goes_to_one_of_them() -> None:
    described = star()
    rates = {("n1", f"n{number}"): 0.6 for number in range(2, 9)}
    rates |= {(f"n{number}", "n5"): 0.4 for number in range(1, 9) if number != 5}
    found = find(described, *run_ring(described, rates, (1, 2, 3, 4)))  # n1 sends to n5 in the last round
    assert {each.where: len(each.tests) for each in found} == {"n1 out": 3, "n5 in": 4}
    assert {each.where: each.value for each in found} == pytest.approx({"n1 out": 0.6 * RATE, "n5 in": 0.4 * RATE})


@pytest.mark.parametrize("rate", [0.6, 0.5])
def test_what_a_slow_nic_explains_is_put_under_it(rate: float) -> None:
    """A flow that it slows has no cause of its own, also where it is a little slower than the rest."""
    described = star()
    rates = {("n1", f"n{number}"): 0.6 for number in range(2, 9)} | {("n1", "n4"): rate}
    (finding,) = find(described, *run_ring(described, rates, (1, 2, 3, 4)))
    assert (finding.where, len(finding.tests)) == ("n1 out", 4)


def test_a_flow_that_is_much_slower_than_its_slow_nic_has_a_cause_of_its_own() -> None:
    described = star()
    rates = {("n1", f"n{number}"): 0.6 for number in range(2, 9)}
    rates |= {(f"n{number}", "n4"): 0.2 for number in range(1, 9) if number != 4}
    found = find(described, *run_ring(described, rates, (1, 2, 3, 4)))
    assert {each.where: len(each.tests) for each in found} == {"n1 out": 3, "n4 in": 4}


def test_a_flow_beside_one_that_a_fault_frees_is_measured_against_what_it_can_have() -> None:
    """n2 receives from n1, which gives 20 %, and from n3, which takes the 80 % that are left: nothing of it is low."""
    described = star()
    shared = close(described, 1, flow("n1", "n2", 0.2), flow("n3", "n2", 0.8))
    alone = [close(described, number, flow("n1", f"n{number + 2}", 0.2)) for number in (2, 3)]
    (finding,) = find(described, shared, *alone)
    assert finding.where == "n1 out"
    assert finding.value == pytest.approx(0.2 * RATE, rel=0.01)
    assert finding.tests == ("1/0", "2/0", "3/0")


# -- members and switches


def steer_all(number: int, rates: dict[int, float]) -> list[Sent]:
    """Every a sends to another b in each round, over a member of its own; nobody keeps a partner or a member."""
    members = [(place + 2 * number) % 4 for place in range(4)]
    return [
        steer(f"a{place + 1}", f"b{(place + number) % 4 + 1}", rates.get(member, 1.0), member)
        for place, member in enumerate(members)
    ]


def test_a_slow_member_is_told_from_its_lag_and_from_the_nodes() -> None:
    """Whoever is steered over the second member gets 30 % there; over the others all get what they should."""
    described = load_lag()
    rounds = [close(described, number, *steer_all(number, {1: 0.3})) for number in range(1, 5)]
    (finding,) = find(described, *rounds)
    assert (finding.suspect, finding.where) == (Suspect.MEMBER, "leaf1 to leaf2, member 2 of 4")
    assert finding.value == pytest.approx(0.3 * RATE, rel=0.01)


def test_a_slow_nic_beside_steered_flows_accuses_no_member() -> None:
    """a1 sends 30 % wherever it sends, and what is steered over the same members by others is fast."""
    described = load_lag()
    rounds = []
    for number in range(1, 5):
        sent = steer_all(number, {})
        rounds.append(close(described, number, replace(sent[0], rates=(("out", 0.3 * RATE),)), *sent[1:]))
    (finding,) = find(described, *rounds, close(described, 5, flow("a1", "a2", 0.3)))
    assert (finding.suspect, finding.where) == (Suspect.NIC, "a1 out")


def test_a_switch_whose_flows_are_all_slow_has_failed() -> None:
    described = star()
    pairs = {(f"n{number}", f"n{other}"): 0.5 for number in range(1, 9) for other in range(1, 9)}
    (finding,) = find(described, *run_ring(described, pairs, (1, 2, 3)))
    assert (finding.suspect, finding.where) == (Suspect.SWITCH, "leaf")


@pytest.mark.parametrize(
    ("slow", "steps"),
    [
        (("n2", "n5", "n7"), (1, 2)),
        (("n1", "n3", "n5", "n7"), (1, 2)),
        (("n2", "n5", "n7"), (1, 2, 3, 4, 5, 6, 7)),
        (("n1", "n2", "n3", "n4"), (1, 2, 3, 4, 5, 6, 7)),
        (("n1", "n2", "n3", "n4", "n5"), (1, 2, 3, 4, 5, 6, 7)),
    ],
)
def test_nodes_that_are_slow_alike_are_each_named_and_their_switch_is_not(
    slow: tuple[str, ...], steps: tuple[int, ...]
) -> None:
    """Each of the slow flows between two of them is put under one of the two."""
    described = star()
    nodes = [f"n{number}" for number in range(1, 9)]
    rates = {(one, other): 0.3 for one in nodes for other in nodes if one in slow or other in slow}
    found = find(described, *run_ring(described, rates, steps))
    assert {(each.suspect, each.where, each.confidence) for each in found} == {
        (Suspect.NIC, f"{node} NIC", Confidence.CERTAIN) for node in slow
    }


def test_a_healthy_session_has_no_finding() -> None:
    described = star()
    assert find(described, *run_ring(described, {("n1", "n2"): 0.81, ("n3", "n4"): 0.9}, (1, 2, 3))) == ()


@pytest.mark.parametrize(("slow", "steers"), [(3, True), (4, False)])
def test_streams_that_nothing_explains_are_a_finding_where_ports_cannot_mean_what_is_described(
    slow: int, steers: bool
) -> None:
    """Of eight steered streams some met others; every member carried all that a stream sends in another round.

    More than two in five are slow then, and more than 15 % by no cause: it is said of all of them at once.
    """
    described = load_lag()
    some = dict.fromkeys(range(slow), 0.5)
    context = JudgingContext(described, METRICS)
    findings = Findings(context)
    for each in (
        close(described, 1, *steer_all(1, {})[:2]),
        close(described, 2, *steer_all(2, some)),
        close(described, 3, *steer_all(4, {})[:2]),
    ):
        findings.add_round(replace(each, verdicts=judge_round(context, each)))
    found = findings.rank()
    assert findings.steers is steers
    if not steers:
        assert [(each.suspect, each.confidence, each.where) for each in found] == [
            (Suspect.FABRIC, Confidence.POSSIBLE, "source ports")
        ]
        assert found[0].what.startswith("4 of 8 steered streams are slow")
        assert "which member of a LAG" in found[0].cannot_tell
        assert findings.suspected == ()
    else:
        assert found == ()


def test_a_fault_is_named_beside_ports_that_mean_nothing() -> None:
    """Tests of many streams tell: a1 sends 30 % wherever it sends. No member is blamed for what steered ones met."""
    described = load_lag()
    rounds = [close(described, number, *steer_all(number, {0: 0.3, 1: 0.5, 3: 0.4})) for number in (1, 3)]
    rounds += [close(described, number, *steer_all(number, {1: 0.3, 2: 0.5, 0: 0.4})) for number in (2, 4)]
    rounds += [close(described, 5, flow("a1", "a2", 0.3)), close(described, 6, flow("a1", "a3", 0.3))]
    found = find(described, *rounds)
    assert {(each.suspect, each.where) for each in found} == {(Suspect.NIC, "a1 out"), (Suspect.FABRIC, "source ports")}


def test_streams_of_a_cause_that_is_not_told_count_with_those_that_nothing_explains() -> None:
    """Every stream over two of four members has 75 %, which one more stream would leave: half of all is slow."""
    described = load_lag()
    rounds = [close(described, number, *steer_all(number, {1: 0.75, 2: 0.75})) for number in range(1, 5)]
    (finding,) = find(described, *rounds)
    assert (finding.suspect, finding.confidence) == (Suspect.FABRIC, Confidence.POSSIBLE)
    assert len(finding.tests) == 8
