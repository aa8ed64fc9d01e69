"""Which component loses packets: every bound between silence, watch and fail, and what acquits or tells nothing."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Reading, Sending, Unit
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings, list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, Confidence, Finding, Level, Suspect
from benchconsole.probes.model.measuring import labels
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric
from tests.fabrics import METRICS
from tests.probes.judging.rounds import BOTH_WAYS, PAIRED, RATE, STAR, Sent, close, flow, star

NODES = tuple(f"n{number}" for number in range(1, 9))
SENDING = Sending(streams=4)
STAR_OF_EIGHT = star()


def send(
    described: Fabric, number: int, lost: Mapping[str, float], *, step: int = 1, usual: float = 0.0, rate: float = 1.0,
    ran: float = 10.0, nodes: Sequence[str] = NODES,
) -> ClosedRound:  # fmt: skip
    """A round in which each node sends to the ``step``-th next one; ``lost`` is the share that a node or pair loses."""
    pairs = [(node, nodes[(place + step) % len(nodes)]) for place, node in enumerate(nodes)]
    sent = [replace(flow(*pair, rate, ran=ran), sending=SENDING) for pair in pairs]
    return tell(
        close(described, number, *sent),
        {f"{a}>{b}": lost.get(f"{a}>{b}", max(lost.get(a, usual), lost.get(b, usual))) for a, b in pairs},
    )


def tell(
    closed: ClosedRound, shares: Mapping[str, float], metric: str = "resent", protocol: str = "tcp"
) -> ClosedRound:
    """The round with what each pair lost beside its rate."""
    results = []
    for result in closed.results:
        share = shares[result.test.target.key]
        (rate,) = result.measurements
        marks = labels(**dict(rate.labels), protocol=protocol)
        told = Reading(f"iperf3.{metric}", share, Unit.ONE, marks, id=f"{rate.id}s", at=rate.at)
        results.append(replace(result, measurements=(replace(rate, labels=marks), told)))
    return replace(closed, results=tuple(results))


def find(described: Fabric, *rounds: ClosedRound) -> list[Finding]:
    context = JudgingContext(described, METRICS)
    return list(list_findings(context, [replace(each, verdicts=judge_round(context, each)) for each in rounds]))


def name(found: Sequence[Finding]) -> list[tuple[Level, str]]:
    return [(each.level, each.where) for each in found]


@pytest.mark.parametrize(
    ("share", "wanted"),
    [
        (0.0, []),
        (0.000999, []),
        (0.001, [(Level.WATCH, "n2 NIC")]),
        (0.00999, [(Level.WATCH, "n2 NIC")]),
        (0.01, [(Level.FAIL, "n2 NIC")]),
        (0.3, [(Level.FAIL, "n2 NIC")]),
    ],
)
def test_a_thousandth_is_to_be_watched_and_a_hundredth_fails(share: float, wanted: list[tuple[Level, str]]) -> None:
    described = star()
    rounds = [send(described, number, {"n2": share}, step=step) for number, step in ((1, 1), (2, 3))]
    assert name(find(described, *rounds)) == wanted


@pytest.mark.parametrize(
    ("usual", "share", "named"), [(0.002, 0.02, False), (0.002, 0.0201, True), (0.03, 0.25, False)]
)
def test_a_loss_is_far_above_that_of_its_like(usual: float, share: float, named: bool) -> None:
    """All flows of a round lose some where their senders are too fast for their receivers: that is no fault of one."""
    described = star()
    rounds = [send(described, number, {"n2": share}, step=step, usual=usual) for number, step in ((1, 1), (2, 3))]
    assert name(find(described, *rounds)) == ([(Level.FAIL, "n2 NIC")] if named else [])


@pytest.mark.parametrize(("count", "named"), [(5, False), (6, True)])
def test_a_loss_needs_enough_flows_beside_it(count: int, named: bool) -> None:
    described = star()
    closed = send(described, 1, {"n2": 0.02}, nodes=NODES[:count])
    assert bool(find(described, closed)) is named


@pytest.mark.parametrize(("seconds", "named"), [(0.008, False), (0.009, True)])
def test_few_bytes_are_lost_by_chance(seconds: float, named: bool) -> None:
    """2 % of 2 x 1 GB/s: five pieces of 64 KiB are 8.2 ms, less what does not arrive."""
    described = star()
    assert bool(find(described, send(described, 1, {"n2": 0.02}, ran=seconds))) is named


@pytest.mark.parametrize(("seconds", "named"), [(0.0098, True), (0.0099, False)])
def test_a_clean_flow_acquits_once_it_sent_enough_to_lose_some(seconds: float, named: bool) -> None:
    """At 2 % three pieces are to be expected in 9.83 MB."""
    described = star()
    lossy = send(described, 1, {"n2": 0.02})
    sent = [replace(flow(a, b, 1.0, ran=seconds), sending=SENDING) for a, b in (("n2", "n5"), ("n6", "n2"))]
    clean = tell(close(described, 2, *sent), {"n2>n5": 0.0, "n6>n2": 0.0})
    assert name(find(described, lossy, clean)) == ([(Level.FAIL, "n2 NIC")] if named else [])


def test_one_way_is_told_from_both() -> None:
    described = star()
    out = [send(described, 1, {"n2>n3": 0.02}), send(described, 2, {"n2>n5": 0.02}, step=3)]
    (found,) = find(described, *out)
    assert (found.suspect, found.where, found.confidence) == (Suspect.NIC, "n2 out", Confidence.CERTAIN)
    assert found.what == "loses packets, this way only: 2.00 % of the segments sent again in 2 flows, 0 % in 14 beside"
    assert (found.nodes_at, found.links) == (("n2",), ("n2--leaf",))


def test_of_a_lone_flow_both_ends_are_possible() -> None:
    described = star()
    (found,) = find(described, send(described, 1, {"n2>n3": 0.02}))
    assert (found.where, found.confidence, found.nodes_at) == ("n2 out or n3 in", Confidence.POSSIBLE, ())
    assert found.cannot_tell == "which of n2 out; n3 in: no test crossed one of them without the others"


def test_a_loss_that_came_and_went_accuses_no_partner() -> None:
    """n2 is clean in the second round: the ends of its partners, which one flow each crosses, are no better suspects."""
    described = star()
    assert find(described, send(described, 1, {"n2": 0.02}), send(described, 2, {}, step=3)) == []


def test_two_nodes_are_two_findings() -> None:
    described = star()
    rounds = [send(described, number, {"n2": 0.02, "n6": 0.04}, step=step) for number, step in ((1, 1), (2, 3))]
    assert name(find(described, *rounds)) == [(Level.FAIL, "n2 NIC"), (Level.FAIL, "n6 NIC")]


def test_a_repeat_takes_the_loss_back() -> None:
    described = star()
    context = JudgingContext(described, METRICS)
    kept = Findings(context)
    for number, share in ((1, 0.02), (2, 0.02)):
        kept.add_round(send(described, number, {"n2": share}))
    first = kept.rank()
    assert name(first) == [(Level.FAIL, "n2 NIC")]
    assert all(before is after for before, after in zip(first, kept.rank(), strict=True))
    kept.add_round(send(described, 3, {}))
    assert kept.rank() == ()


def test_a_low_throughput_that_crosses_the_loss_is_told_with_it() -> None:
    described = star()
    lossy = send(described, 1, {"n2": 0.02})
    slow = [
        replace(each, measurements=(replace(each.measurements[0], value=0.35 * RATE), each.measurements[1]))
        if each.test.target.key == "n2>n3" else each
        for each in lossy.results
    ]  # fmt: skip
    (found,) = find(described, replace(lossy, results=tuple(slow)))
    assert found.where == "n2 NIC"
    assert found.because[-1].endswith("n2>n3: 2.80 Gb/s of 8.00 Gb/s, 35 %")
    assert "round 1, n1>n2: 140,940 of 7,047,018 packets sent again, 2.00 %, 8.00 Gb/s arrived" in found.because


@pytest.mark.parametrize(("share", "level"), [(0.35, Level.FAIL), (1.0, Level.WATCH)])
def test_a_small_loss_fails_where_a_throughput_that_it_explains_does(share: float, level: Level) -> None:
    described = star()
    lossy = send(described, 1, {"n2": 0.004})
    slow = [
        replace(each, measurements=(replace(each.measurements[0], value=share * RATE), each.measurements[1]))
        if each.test.target.key == "n2>n3" else each
        for each in lossy.results
    ]  # fmt: skip
    (found,) = find(described, replace(lossy, results=tuple(slow)))
    assert (found.where, found.level) == ("n2 NIC", level)


def give(closed: ClosedRound, target: str, rate: float) -> ClosedRound:
    """The round where this pair brought so much of what a link carries."""
    results = [
        replace(each, measurements=(replace(each.measurements[0], value=rate * RATE), *each.measurements[1:]))
        if each.test.target.key == target
        else each
        for each in closed.results
    ]
    return replace(closed, results=tuple(results))


def queue(closed: ClosedRound, into: str, wait: float | None, usual: float | None = 0.04) -> ClosedRound:
    """The round with the round trip of each pair: ``wait`` into this node, ``usual`` elsewhere; None is not told."""
    results = []
    for each in closed.results:
        trip = wait if each.test.target.nodes[1].id == into else usual
        rate = each.measurements[0]
        told = Reading("iperf3.rtt", trip or 0.0, Unit.SECOND, rate.labels, id=f"{rate.id}t", at=rate.at)
        results.append(each if trip is None else replace(each, measurements=(*each.measurements, told)))
    return replace(closed, results=tuple(results))


@pytest.mark.parametrize(
    ("rates", "wait", "usual", "is_slow"),
    [
        ((0.3, 0.3), 0.05, 0.04, True),
        ((0.3, 0.3), 0.0301, 0.04, True),
        ((0.3, 0.3), 0.03, 0.04, False),  # what waits less is held back by what it loses
        ((0.3, 0.344), 0.05, 0.04, True),
        ((0.3, 0.346), 0.05, 0.04, False),  # what once carried more can carry it
        ((0.849, 0.849), 0.05, 0.04, True),
        ((0.85, 0.849), 0.05, 0.04, False),
        ((0.3, 0.3), None, 0.04, False),
        ((0.3, 0.3), 0.05, None, False),
    ],
)
def test_what_overflows_a_queue_of_something_slow_is_slow_and_no_loss(
    rates: tuple[float, float], wait: float | None, usual: float | None, is_slow: bool
) -> None:
    described = star("at_least: 90 %")
    rounds = []
    for number, source, rate in ((1, "n1", rates[0]), (2, "n7", rates[1])):
        pair = f"{source}>n2"
        closed = give(send(described, number, {pair: 0.02}, step=1 if number == 1 else 3), pair, rate)
        rounds.append(queue(closed, "n2", wait, usual))
    (found,) = find(described, *rounds)
    assert found.where == "n2 in"
    assert ("loses" not in found.what) is is_slow


def test_a_low_throughput_elsewhere_keeps_its_own_finding() -> None:
    described = star()
    lossy = send(described, 1, {"n2": 0.02})
    slow = [
        replace(each, measurements=(replace(each.measurements[0], value=0.5 * RATE), each.measurements[1]))
        if each.test.target.key == "n5>n6" else each
        for each in lossy.results
    ]  # fmt: skip
    found = find(described, replace(lossy, results=tuple(slow)))
    assert {each.where for each in found} == {"n2 NIC", "n5 out or n6 in"}


def test_one_flow_without_losses_does_not_make_all_others_suspects() -> None:
    described = star()
    lost = {"n2": 0.021, "n5>n6": 0.0, "n5>n8": 0.0}
    rounds = [send(described, number, lost, step=step, usual=0.002) for number, step in ((1, 1), (2, 3))]
    assert name(find(described, *rounds)) == [(Level.FAIL, "n2 NIC")]


def test_a_round_that_is_told_again_counts_as_it_was_told_last() -> None:
    described = star()
    kept = Findings(JudgingContext(described, METRICS))
    kept.add_round(send(described, 1, {"n2": 0.02}))
    assert kept.rank()
    kept.add_round(send(described, 1, {}))
    assert kept.rank() == ()


def test_a_round_that_is_told_again_waits_as_it_was_told_last() -> None:
    described = star("at_least: 90 %")
    context = JudgingContext(described, METRICS)
    kept = Findings(context)

    def add(number: int, source: str, wait: float) -> None:
        pair = f"{source}>n2"
        closed = give(send(described, number, {pair: 0.02}, step=1 if number == 1 else 3), pair, 0.3)
        told = queue(closed, "n2", wait)
        kept.add_round(replace(told, verdicts=judge_round(context, told)))

    add(1, "n1", 0.05)
    add(2, "n7", 0.05)
    assert not any("loses" in each.what for each in kept.rank())
    add(2, "n7", 0.01)
    assert any("loses" in each.what for each in kept.rank())


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(
            st.integers(1, 5),
            st.integers(1, 3),
            st.dictionaries(st.sampled_from(NODES[:4]), st.sampled_from((0.0, 0.02, 0.3)), max_size=2),
        ),
        max_size=5,
    )
)
def test_round_by_round_is_found_what_all_rounds_at_once_tell(drawn: list[tuple[int, int, dict[str, float]]]) -> None:
    """In any order of rounds, with tests that are repeated and rounds that are told again."""
    context = JudgingContext(STAR_OF_EIGHT, METRICS)
    kept, rounds = Findings(context), dict[int, ClosedRound]()
    for number, step, lost in drawn:
        told = send(STAR_OF_EIGHT, number, lost, step=step, ran=60.0)
        rounds[number] = replace(told, verdicts=judge_round(context, told))
        kept.add_round(rounds[number])
        fresh = list_findings(JudgingContext(STAR_OF_EIGHT, METRICS), list(rounds.values()))
        assert [(each.level, each.where, each.tests) for each in kept.rank()] == [
            (each.level, each.where, each.tests) for each in fresh
        ]


def test_both_directions_of_a_test_are_two_flows() -> None:
    """n2 and n3 lose what they send to each other and to nobody else; what arrives at the same time is sound."""
    described = star()
    pairs = [("n2", "n1"), ("n2", "n3"), ("n4", "n5"), ("n6", "n7"), ("n8", "n4"), ("n5", "n6")]
    sent = [Sent(a, b, (("out", RATE), ("in", RATE)), sending=BOTH_WAYS) for a, b in pairs[:1] + pairs[2:4]]
    again = [Sent(a, b, (("out", RATE), ("in", RATE)), sending=BOTH_WAYS) for a, b in pairs[1:2] + pairs[4:]]

    def tell_both(number: int, *each: Sent) -> ClosedRound:
        closed = close(described, number, *each)
        results = []
        for result in closed.results:
            told = tuple(
                Reading("iperf3.resent", share, Unit.ONE, rate.labels, id=f"{rate.id}s")
                for rate in result.measurements
                for share in (
                    0.02 if result.test.target.node.id == "n2" and ("direction", "out") in rate.labels else 0.0,
                )
            )
            marked = [
                replace(one, labels=labels(**dict(one.labels), protocol="tcp")) for one in (*result.measurements, *told)
            ]
            results.append(replace(result, measurements=tuple(marked)))
        return replace(closed, results=tuple(results))

    assert name(find(described, tell_both(1, *sent), tell_both(2, *again))) == [(Level.FAIL, "n2 out")]


# -- what tells nothing


def test_flows_of_another_rate_are_not_of_its_like() -> None:
    """Two fast nodes send to each other, and five slow pairs beside them: nobody knows what fast ones lose."""
    text = STAR.replace('from: "n[1-8]"', 'from: "n[3-8]"').replace(
        "network: flat}]", 'network: flat}, {from: "n[1-2]", to: leaf, speed: 16 Gb/s, network: flat}]'
    )
    described = load_text(f"{text}criteria: [{{metric: iperf3.throughput, at_least: 80 %, of: capacity}}]\n", "a.yaml")
    pairs = [("n1", "n2"), ("n2", "n1"), *zip(NODES[2:], (*NODES[3:], "n3"), strict=True)]
    sent = [replace(flow(a, b, 2.0 if a < "n3" else 1.0), sending=SENDING) for a, b in pairs]
    shares = {f"{a}>{b}": 0.02 if a < "n3" else 0.0 for a, b in pairs}
    assert find(described, tell(close(described, 1, *sent), shares)) == []


@pytest.mark.parametrize(("member", "named"), [("12 Gb/s", True), ("8 Gb/s", False)])
def test_streams_of_a_flow_larger_than_a_member_of_a_lag_tell_nothing(member: str, named: bool) -> None:
    text = LARGE.replace("speed: 8 Gb/s", "speed: 12 Gb/s").replace("speed: 80 Gb/s", f"speed: {member}, count: 2")
    described = load_text(text, "lag.yaml")
    pairs = [("n1", "n5"), ("n6", "n2"), *((f"n{number}", f"n{number + 1}") for number in (7, 8, 9, 10, 11))]
    sent = [replace(flow(a, b, 1.5), sending=SENDING) for a, b in pairs]
    shares = {f"{a}>{b}": 0.02 if is_low(a) is not is_low(b) else 0.0 for a, b in pairs}
    found = find(described, tell(close(described, 1, *sent), shares))
    assert name(found) == ([(Level.FAIL, "leaf1 to leaf2")] if named else [])


def test_flows_that_fill_a_link_together_tell_nothing() -> None:
    """n1 receives from four: each of them loses segments in the queue before it, some more than others."""
    described = star()
    sources = ("n2", "n3", "n4", "n5", "n6", "n7")
    shared = [replace(flow(node, "n1", 1 / 6), sending=SENDING) for node in sources]
    closed = tell(close(described, 1, *shared), {f"{node}>n1": 0.05 if node == "n2" else 0.0 for node in sources})
    assert find(described, closed) == []


@pytest.mark.parametrize(("rate", "named"), [(0.25, True), (0.26, False)])
def test_flows_that_leave_half_of_a_link_free_tell_of_it(rate: float, named: bool) -> None:
    """Two flows held to a rate into n1, both with losses."""
    described = star()
    sending = Sending(streams=4, rate=rate * RATE)
    pairs = [("n2", "n1"), ("n3", "n1"), ("n4", "n5"), ("n5", "n6"), ("n6", "n7"), ("n7", "n8")]
    sent = [Sent(a, b, (("out", rate * RATE),), sending=sending) for a, b in pairs]
    shares = {f"{a}>{b}": 0.02 if b == "n1" else 0.0 for a, b in pairs}
    found = find(described, tell(close(described, 1, *sent), shares))
    assert name(found) == ([(Level.FAIL, "n1 in")] if named else [])


def test_a_fast_sender_overflows_the_port_of_a_slow_receiver() -> None:
    text = STAR.replace('from: "n[1-8]"', 'from: "n[1-4]"').replace(
        "network: flat}]", 'network: flat}, {from: "n[5-8]", to: leaf, speed: 16 Gb/s, network: flat}]'
    )
    described = load_text(f"{text}criteria: [{{metric: iperf3.throughput, at_least: 80 %, of: capacity}}]\n", "a.yaml")
    assert (
        find(described, send(described, 1, {"n5>n1": 0.02}, nodes=("n5", "n1", "n6", "n2", "n7", "n3", "n8", "n4")))
        == []
    )


def test_streams_that_a_hash_crowds_on_one_leg_tell_nothing() -> None:
    described = load_text(PAIRED, "paired.yaml")
    pairs = [("b1", "b2"), ("b2", "s1"), ("s1", "s2"), ("s2", "s3"), ("s3", "b1")]
    sent = [replace(flow(*pair, 1.0), sending=SENDING) for pair in pairs]
    shares = {"b1>b2": 0.02, **{f"{a}>{b}": 0.0 for a, b in pairs[1:]}}
    assert find(described, tell(close(described, 1, *sent), shares)) == []


@pytest.mark.parametrize(("rate", "named"), [(0.9, True), (None, False)])
def test_datagrams_tell_where_nothing_limits_them(rate: float | None, named: bool) -> None:
    described = star()
    sending = Sending(streams=1, rate=None if rate is None else rate * RATE)
    pairs = [(node, NODES[(place + 1) % 8]) for place, node in enumerate(NODES)]
    sent = [Sent(a, b, (("out", (rate or 1.0) * RATE),), sending=sending) for a, b in pairs]
    shares = {f"{a}>{b}": 0.02 if "n2" in (a, b) else 0.0 for a, b in pairs}
    found = find(described, tell(close(described, 1, *sent), shares, "loss", "udp"))
    assert name(found) == ([(Level.FAIL, "n2 NIC")] if named else [])
    if named:
        assert found[0].means == "1 of 50 datagrams over it is lost"
        assert "late to read" in found[0].cannot_tell


def test_counts_of_segments_do_where_no_share_is_told() -> None:
    described = star()
    closed = tell(
        close(described, 1, *(replace(flow(a, b, 1.0), sending=SENDING) for a, b in zip(NODES, (*NODES[1:], "n1"), strict=True))),
        {f"n{n}>n{n % 8 + 1}": 141_000.0 if n in (1, 2) else 0.0 for n in range(1, 9)},
        "retransmits",
    )  # fmt: skip
    (found,) = find(described, closed)
    assert found.where == "n2 NIC"
    assert found.because[0].startswith("round 1, n1>n2: 141,000 of ")


# -- larger components


LARGE = (
    STAR.replace("n[1-8]", "n[1-12]")
    .replace("leaf: {role: leaf}", '"leaf[1-2]": {role: leaf}')
    .replace(
        'links: [{from: "n[1-12]", to: leaf, speed: 8 Gb/s, network: flat}]',
        """links:
  - {from: "n[1-4]", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "n[5-12]", to: leaf2, speed: 8 Gb/s, network: flat}
  - {from: leaf1, to: leaf2, speed: 80 Gb/s, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]""",
    )
)
TWELVE = (*NODES, "n9", "n10", "n11", "n12")


def is_low(node: str) -> bool:
    return node in ("n1", "n2", "n3", "n4")


def test_a_cable_between_switches_is_named_when_all_that_crosses_it_loses() -> None:
    described = load_text(LARGE, "large.yaml")
    across = {f"{a}>{b}": 0.02 for a in TWELVE for b in TWELVE if is_low(a) is not is_low(b)}
    rounds = [send(described, number, across, step=step, nodes=TWELVE) for number, step in ((1, 1), (2, 2))]
    (found,) = find(described, *rounds)
    assert (found.suspect, found.where, found.nodes_at) == (Suspect.LINK, "leaf1 to leaf2", ())
    assert "both ways" in found.what


def test_a_switch_is_named_when_all_of_its_flows_lose() -> None:
    described = load_text(LARGE, "large.yaml")
    lossy = {f"{a}>{b}": 0.02 for a in TWELVE for b in TWELVE if is_low(a) or is_low(b)}
    rounds = [send(described, number, lossy, step=step, nodes=TWELVE) for number, step in ((1, 1), (2, 2))]
    (found,) = find(described, *rounds)
    assert (found.suspect, found.where, found.links) == (Suspect.SWITCH, "leaf1", ())
    assert set(found.nodes) == {"n1", "n2", "n3", "n4"}


def test_a_part_of_equal_ways_is_named_with_its_equals() -> None:
    """Each flow divides over two spines, so that any of the four cables may lose a part of it."""
    text = LARGE.replace('"leaf[1-2]": {role: leaf}', '"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}')
    text = text.replace("{from: leaf1, to: leaf2, speed: 80", '{from: "leaf[1-2]", to: "spine[1-2]", speed: 80')
    described = load_text(text, "spines.yaml")
    across = {f"{a}>{b}": 0.02 for a in TWELVE for b in TWELVE if is_low(a) is not is_low(b)}
    rounds = [send(described, number, across, step=step, nodes=TWELVE) for number, step in ((1, 1), (2, 2))]
    (found,) = find(described, *rounds)
    assert (found.confidence, found.nodes_at, found.links) == (Confidence.POSSIBLE, (), ())
    assert found.cannot_tell.startswith("which of leaf1 to spine1; leaf1 to spine2; leaf2 to spine1; leaf2 to spine2:")
