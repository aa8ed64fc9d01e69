"""The state of links: the lowest share counts, only filled links pass, members come from findings; of nodes: tested."""

from collections.abc import Sequence

import pytest

from benchconsole.console.view.events import SessionEnded, SessionOpened
from benchconsole.console.view.reducer import advance, advance_all, opened
from benchconsole.console.view.run_view import LinkView, NodeView, RunView, State
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.link_state import read_links
from benchconsole.probes.model.judgement import (
    ClosedRound,
    CloseReason,
    Confidence,
    Finding,
    Level,
    Suspect,
    Verdict,
    Yardstick,
)
from benchconsole.probes.model.measuring import Bundle, FailedAt, Failure, Result, Round, Target, Test
from benchconsole.probes.model.sending import Sending
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId
from tests.fabrics import METRICS
from tests.probes.judging.rounds import BOTH_WAYS, RATE, Sent, close, flow, into, out_of, star, way


def watch(described: Fabric, *rounds: ClosedRound) -> RunView:
    """The view of a session after these rounds."""
    context = JudgingContext(described, METRICS)
    findings = Findings(context)
    plan = tuple(each.round for each in rounds)
    view = opened(SessionOpened("s", "", described, "default", plan, 0.0, True))
    for each in rounds:
        verdicts = judge_round(context, each)
        findings.add_round(replace(each, verdicts=verdicts))
        view = advance(view, replace(each, verdicts=verdicts, findings=findings.rank()))
    return view


def link_of(view: RunView, node: str) -> LinkView:
    return view.links[view.fabric.links_at[node][0].id]


@pytest.mark.parametrize(
    ("rates", "kept"),
    [
        ((0.9, 0.95), 0.9),
        ((0.95, 0.9), 0.9),
        ((0.9, 0.9), 0.9),
        ((0.95, 0.9, 0.97), 0.9),
    ],
)
def test_a_link_keeps_the_lowest_share(rates: Sequence[float], kept: float) -> None:
    described = star()
    rounds = [close(described, number, flow("n1", f"n{number + 1}", rate)) for number, rate in enumerate(rates, 1)]
    seen = link_of(watch(described, *rounds), "n1")
    assert (seen.state, seen.measured, seen.expected) == (State.PASS, kept * RATE, RATE)


@pytest.mark.parametrize(("second", "kept"), [(0.449, 0.449), (0.45, 0.9), (0.451, 0.9)])
def test_of_two_alike_shares_a_link_keeps_the_first(second: float, kept: float) -> None:
    """The second flow is held to half of the link: 45 % of it is 90 % of what is expected, as at first."""
    described = star()
    held = Sent("n1", "n3", (("out", second * RATE),), sending=Sending(rate=0.5 * RATE))
    seen = link_of(watch(described, close(described, 1, flow("n1", "n2", 0.9)), close(described, 2, held)), "n1")
    assert seen.measured == kept * RATE


@pytest.mark.parametrize(("fill", "state"), [(0.919, State.UNKNOWN), (0.92, State.PASS), (0.921, State.PASS)])
def test_a_link_passes_if_its_bundle_filled_it(fill: float, state: State) -> None:
    described = star()
    bundle = Bundle("n1 out", (out_of(described, "n1"),), fill=fill)
    view = watch(described, close(described, 1, flow("n1", "n2", 0.9, "n1 out"), bundles=(bundle,)))
    assert link_of(view, "n1").state is state
    assert link_of(view, "n2").state is State.SKIPPED


def test_a_link_is_not_passed_by_a_number_that_is_not_known() -> None:
    """Two flows into n3 that hardly overlapped: their sum may be too high."""
    described = star()
    bundle = Bundle("n3 in", (into(described, "n3"),))
    sent = [flow(node, "n3", 0.5, "n3 in", at=at, ran=4.0) for node, at in (("n1", 0.0), ("n2", 4.0))]
    assert link_of(watch(described, close(described, 1, *sent, bundles=(bundle,))), "n3").state is State.UNKNOWN


def test_only_a_finding_fails_a_link() -> None:
    """n1 gives half in two rounds: its own link fails, those of its partners only carried little."""
    described = star()
    rounds = [close(described, number, flow("n1", f"n{number + 1}", 0.5)) for number in (1, 2)]
    view = watch(described, *rounds)
    assert [link_of(view, node).state for node in ("n1", "n2", "n3")] == [State.FAIL, State.PASS, State.PASS]
    assert (link_of(view, "n1").measured, link_of(view, "n1").expected) == (0.5 * RATE, RATE)
    assert view.nodes[described.links_at["n1"][0].a].state is State.FAIL  # type: ignore[index]


LEGS = """\
schema: 1
fabric: legs
network: {mtu: 9000}
networks: {gige: {mtu: 1500, role: storage}, elan: {goodput: 90 %}}
switches: {"leaf[1-2]": {role: leaf}, maintenance: {role: leaf}, fast: {role: leaf}}
nodes: {"n[1-5]": {}}
links:
  - {from: "n[1-4]", to: maintenance, speed: 1 Gb/s, network: gige}
  - {from: "n[1-2,5]", to: "leaf[1-2]", speed: 10 Gb/s, bond: active-backup}
  - {from: "leaf1", to: "leaf2", speed: 10 Gb/s}
  - {from: "n[3-4]", to: fast, speed: 10 Gb/s, network: elan}
"""


@pytest.mark.parametrize(
    ("ends", "legs"),
    [
        (("n1", "n2"), {"n1--leaf1", "n2--leaf1"}),  # both networks are common: that of the data carries it
        (("n1", "n5"), {"n1--leaf1", "n5--leaf1"}),  # n5 is in one network only
        (("n3", "n1"), {"n3--maintenance", "n1--maintenance"}),
        (("n3", "n4"), {"n3--fast", "n4--fast"}),  # of the networks in common the one for data, whatever its place
    ],
)
def test_a_lone_flow_speaks_of_the_legs_that_it_can_use(ends: tuple[str, str], legs: set[str]) -> None:
    """Never of a standby leg, which carries nothing."""
    described = load_text(LEGS, "legs.yaml")
    closed = close(described, 1, flow(*ends, 0.1))
    (verdict,) = judge_round(JudgingContext(described, METRICS), closed)
    links, _ = read_links(described, {}, closed.results[0], verdict)
    assert set(links) == legs


DUAL = """\
schema: 1
fabric: dual
networks: {mgmt: {role: management}, ib: {type: InfiniBand NDR, mtu: 4096}}
nodes: {"n[1-4]": {address: "10.0.0.[1-4]", addresses: {ib: "10.2.0.[1-4]"}}}
switches: {msw: {}, ibl: {}}
links:
  - {from: "n[1-4]", to: msw, speed: 1G, network: mgmt}
  - {from: "n[1-4]", to: ibl, speed: 400G, network: ib}
"""


def test_a_test_over_one_network_passes_no_cable_of_another() -> None:
    described = load_text(DUAL, "dual.yaml")
    sent = Sent("n1", "n2", (("out", 45e9),), sending=Sending(network="ib"))
    view = watch(described, close(described, 1, sent))
    states = {link: view.links[LinkId(link)].state for link in ("n1--ibl", "n2--ibl", "n1--msw", "n2--msw")}
    assert states == {
        "n1--ibl": State.PASS, "n2--ibl": State.PASS, "n1--msw": State.SKIPPED, "n2--msw": State.SKIPPED
    }  # fmt: skip


LAG = """\
schema: 1
fabric: lag
networks: {flat: {goodput: 100 %}}
switches: {"leaf[1-3]": {role: leaf}, spine: {role: spine}}
nodes: {"n[1-12]": {}}
links:
  - {from: "n[1-4]", to: leaf1, speed: 8 Gb/s, network: flat}
  - {from: "n[5-8]", to: leaf2, speed: 8 Gb/s, network: flat}
  - {from: "n[9-12]", to: leaf3, speed: 8 Gb/s, network: flat}
  - {from: "leaf[1-3]", to: spine, speed: 8 Gb/s, count: 4, network: flat}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""


@pytest.mark.parametrize(
    ("carried", "members", "words"),
    [
        (2.00, 2, "2 of 4 members"),
        (2.119, 2, "2 of 4 members"),
        (2.121, None, "2.1 of 4 members"),
        (2.50, None, "2.5 of 4 members would; that 3 of 4 members carry fits as well"),
        (2.881, 3, "3 of 4 members"),  # one is lost
        (2.7, None, "2.7 of 4 members"),
    ],
)
def test_members_of_a_lag_are_counted_if_a_whole_number_of_them_carries_that(
    carried: float, members: int | None, words: str
) -> None:
    """The flows from leaf3 clear the nodes of leaf2 and its LAG, those within leaf1 its nodes: its own LAG is left."""
    described = load_text(LAG, "lag.yaml")
    well = [flow(f"n{place + 8}", f"n{place + 4}", 1.0) for place in (1, 2, 3, 4)]
    within = [Sent(*each, (("out", RATE), ("in", RATE)), sending=BOTH_WAYS) for each in (("n1", "n2"), ("n3", "n4"))]
    ends = [(f"n{place}", f"n{place + 4}") for place in (1, 2, 3, 4)]
    low = [Sent(*each, (("out", carried / 4 * RATE),), "leaf1 out", sending=Sending(64)) for each in ends]
    bundle = Bundle("leaf1 out", (way("leaf1--spine", "leaf1"),))
    cleared = close(described, 1, *well, *within)
    view = watch(described, cleared, close(described, 2, *low, bundles=(bundle,)))
    (finding,) = view.findings
    assert words in finding.what
    assert view.links[LinkId("leaf1--spine")].members_up == members


# -- nodes


def node_of(view: RunView, name: str) -> NodeView:
    return view.nodes[NodeId(name)]


def told(described: Fabric, closed: ClosedRound, *findings: Finding, level: Level | None = None) -> RunView:
    """The view after one round with these findings; ``level`` is that of a verdict on each test, None for none."""
    verdicts = tuple(
        Verdict(
            test=test.id, round=1, probe="iperf3", subject=test.target.key,
            nodes=tuple(node.id for node in test.target.nodes), metric="iperf3.throughput", labels=(), level=level,
            kind=Yardstick.CAPACITY, because="",
        )
        for test in closed.round.tests
        if level is not None
    )  # fmt: skip
    view = opened(SessionOpened("s", "", described, "default", (closed.round,), 0.0, True))
    return advance(view, replace(closed, verdicts=verdicts, findings=findings))


NIC = Finding(Suspect.NIC, "n1", "n1 out", "half", Level.FAIL, Confidence.CERTAIN, ("n1",), ("1/0",))
LINK = replace(NIC, suspect=Suspect.LINK, element="leaf1--spine", where="leaf1 to spine", nodes=("n1", "n2"))


@pytest.mark.parametrize(
    ("findings", "level", "states"),
    [
        ((), Level.PASS, (State.PASS, State.PASS)),
        ((), Level.WATCH, (State.AFFECTED, State.AFFECTED)),  # their flow was low, and neither is named
        ((), Level.FAIL, (State.AFFECTED, State.AFFECTED)),
        ((), Level.UNKNOWN, (State.UNKNOWN, State.UNKNOWN)),
        ((), None, (State.MEASURED, State.MEASURED)),
        ((NIC,), Level.FAIL, (State.FAIL, State.MEASURED)),  # what n1 explains says nothing of its partner
        ((replace(NIC, level=Level.WATCH),), Level.WATCH, (State.WATCH, State.MEASURED)),
        ((replace(NIC, tests=()),), Level.FAIL, (State.FAIL, State.AFFECTED)),
        ((NIC,), Level.UNKNOWN, (State.FAIL, State.UNKNOWN)),
        ((NIC,), Level.PASS, (State.FAIL, State.PASS)),
        ((LINK,), Level.FAIL, (State.AFFECTED, State.AFFECTED)),
        ((LINK,), Level.UNKNOWN, (State.UNKNOWN, State.UNKNOWN)),
        ((LINK, NIC), Level.FAIL, (State.FAIL, State.AFFECTED)),
        ((NIC, LINK), Level.FAIL, (State.FAIL, State.AFFECTED)),
    ],
)
def test_a_node_has_the_worst_state_of_what_is_its_own(
    findings: tuple[Finding, ...], level: Level | None, states: tuple[State, State]
) -> None:
    described = star()
    view = told(described, close(described, 1, flow("n1", "n2", 0.5)), *findings, level=level)
    assert (node_of(view, "n1").state, node_of(view, "n2").state) == states
    blamed = next((each for each in findings if each.suspect is Suspect.NIC), next(iter(findings), None))
    assert node_of(view, "n1").finding is blamed


@pytest.mark.parametrize(
    ("stage", "states"),
    [
        (FailedAt.UNREACHABLE, (State.UNKNOWN, State.UNREACHABLE)),
        (FailedAt.IN_USE, (State.UNKNOWN, State.HELD)),
        (FailedAt.TIMEOUT, (State.UNKNOWN, State.UNKNOWN)),
    ],
)
def test_a_failure_is_that_of_the_node_where_it_was(stage: FailedAt, states: tuple[State, State]) -> None:
    """Its partner has no number, for a reason that is elsewhere."""
    described = star()
    closed = close(described, 1, flow("n1", "n2", 0.5))
    failed = replace(closed.results[0], measurements=(), failure=Failure(stage, "gone", NodeId("n2")))
    view = told(described, replace(closed, results=(failed,)))
    assert (node_of(view, "n1").state, node_of(view, "n2").state) == states
    assert [len(node_of(view, name).failures) for name in ("n1", "n2")] == [0, 1]


@pytest.mark.parametrize(("value", "expected", "share"), [(0.5, 1.0, 0.5), (1.0, 2.0, 0.5)])
def test_the_number_of_a_finding_goes_before_what_was_carried(value: float, expected: float, share: float) -> None:
    described = star()
    link = described.links_at["n1"][0].id
    finding = replace(NIC, links=(link,), value=value * RATE, expected=expected * RATE, members_up=3)
    seen = link_of(told(described, close(described, 1, flow("n1", "n2", 0.9)), finding), "n1")
    assert (seen.state, seen.measured, seen.expected) == (State.FAIL, value * RATE, expected * RATE)
    assert (seen.share, seen.members_up) == (share, 3)


def reported(test: Test) -> Verdict:
    """A verdict that a fact of the node is as declared."""
    name = test.target.node.id
    return Verdict(
        test=test.id, round=test.round, probe=test.probe, subject=name, nodes=(name,), metric="cpu.model", labels=(),
        level=Level.PASS, kind=Yardstick.HARDWARE, because="as declared",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rounds_run", "is_over", "states"),
    [
        (1, False, {"n1": State.SKIPPED, "n2": State.SKIPPED, "n3": State.PASS}),
        (1, True, {"n1": State.SKIPPED, "n2": State.SKIPPED, "n3": State.PASS}),
        (2, False, {"n1": State.PASS, "n2": State.PASS, "n3": State.PASS}),
        (2, True, {"n1": State.SKIPPED, "n2": State.PASS, "n3": State.PASS}),
        (3, True, {"n1": State.PASS, "n2": State.PASS, "n3": State.PASS}),
    ],
)
def test_a_node_is_not_passed_by_its_inventory_while_its_tests_are_owed(
    rounds_run: int, is_over: bool, states: dict[str, State]
) -> None:
    described = star()
    nodes = [described.nodes[NodeId(name)] for name in ("n1", "n2", "n3")]
    tests = tuple(Test(f"inventory/{node.id}", "inventory", Target(node), 1) for node in nodes)
    first = Round(1, "inventory", "inventory", tests, 1.0, "")
    told = ClosedRound(
        first, tuple(map(Result, tests)), CloseReason.COMPLETE, 0.0, 1.0, verdicts=(*map(reported, tests),)
    )
    context = JudgingContext(described, METRICS)
    sent = [close(described, 2, flow("n1", "n2", 0.95)), close(described, 3, flow("n1", "n4", 0.95))]
    judged = [told, *(replace(each, verdicts=judge_round(context, each)) for each in sent)]
    view = opened(SessionOpened("s", "", described, "default", tuple(each.round for each in judged), 0.0, True))
    view = advance_all(view, judged[:rounds_run])
    if is_over:
        view = advance(view, SessionEnded(9.0, rounds_run == len(judged)))
    assert {name: view.nodes[NodeId(name)].state for name in states} == states


@pytest.mark.parametrize(
    ("failures", "state"),
    [
        ((None,), State.MEASURED),
        ((FailedAt.TIMEOUT, None), State.UNKNOWN),
        ((FailedAt.CANCELLED, None), State.SKIPPED),
    ],
)
def test_a_node_that_gave_facts_alone_was_tested_and_neither_passed_nor_was_skipped(
    failures: tuple[FailedAt | None, ...], state: State
) -> None:
    described = star()
    node = described.nodes[NodeId("n1")]
    results = tuple(
        Result(
            Test(f"inventory/{place}", "inventory", Target(node), 1),
            failure=None if stage is None else Failure(stage, "", node.id),
        )
        for place, stage in enumerate(failures)
    )
    planned = Round(1, "inventory", "inventory", tuple(each.test for each in results), 1.0, "")
    view = opened(SessionOpened("s", "", described, "default", (planned,), 0.0, True))
    view = advance_all(view, [ClosedRound(planned, results, CloseReason.COMPLETE, 0.0, 1.0), SessionEnded(2.0, True)])
    assert node_of(view, "n1").state is state
