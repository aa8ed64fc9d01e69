"""Rounds that confirm: what they load, that they stay within their time, and what a suspicion is worth after them."""

from collections import Counter

import pytest

from benchconsole.probes.judging.attribution import MILD, NEEDED_ALONE, SURE, WEAK, Cause
from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.confirmation import CONFIRMS, LONGER, USUAL, is_confirmation, plan_confirmation
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.fault_fit import NEEDED_ASSUMED
from benchconsole.probes.judging.fault_model import Fault
from benchconsole.probes.judging.findings import Findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.measuring import Bundle, FailedAt, Failure, Round
from benchconsole.probes.model.repeats import find_repeats
from benchconsole.probes.model.round_bounds import CONFIRMATION_SECONDS, ConfirmationBounds
from benchconsole.probes.planning.stream_placement import StreamPaths
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.probes.tools.ping.probe import Ping
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import METRICS
from tests.probes.judging.lags import load_lag
from tests.probes.judging.rounds import close, flow, into, star, steer

PROBES = {"iperf3": Iperf3()}
SPINES_TEXT = """\
schema: 1
fabric: spines
switches: {"leaf[1-2]": {role: leaf}, "spine[1-2]": {role: spine}}
nodes: {"a[1-4]": {}, "b[1-4]": {}}
links:
  - {from: "a[1-4]", to: leaf1, speed: 10G}
  - {from: "b[1-4]", to: leaf2, speed: 10G}
  - {from: "leaf[1-2]", to: "spine[1-2]", speed: 10G, count: 2}
criteria: [{metric: iperf3.throughput, at_least: 80 %, of: capacity}]
"""
SPINES = load_text(SPINES_TEXT, "spines.yaml")


def find_link(fabric: Fabric, link: str) -> Component:
    """One way over a link."""
    parts = JudgingContext(fabric, METRICS).parts
    number = next(index for index, each in enumerate(parts.graph.links) if each.id == link)
    return Components(parts).holding(2 * number)[0]


def ask(
    fabric: Fabric, *suspected: Component, judged: tuple[ClosedRound, ...] = (), bounds: ConfirmationBounds = USUAL
) -> tuple[Round, ...]:
    first = judged or (close(fabric, 1, flow("a1", "a2", 0.5)),)
    context = JudgingContext(fabric, METRICS)
    return plan_confirmation(
        context, PROBES, suspected, first, tuple(fabric.nodes), bounds=bounds, first=len(first) + 1
    )


def test_a_nic_is_tested_by_its_neighbours_with_the_streams_it_needs() -> None:
    rounds = ask(SPINES, find_link(SPINES, "a2--leaf1"))
    assert [each.number for each in rounds] == list(range(2, 2 + len(rounds)))
    assert all(map(is_confirmation, rounds))
    pairs = {(flow.source, flow.sink) for each in rounds for flow in each.flows}
    assert {source for source, sink in pairs if sink == "a2"}
    assert {sink for source, sink in pairs if source == "a2"}
    assert {node for pair in pairs for node in pair} <= {"a1", "a2", "a3", "a4"}
    assert {test.sending.streams for each in rounds for test in each.tests} == {4}  # of one leg


def test_a_link_between_switches_is_filled_alone_both_ways() -> None:
    (filled,) = ask(SPINES, find_link(SPINES, "leaf1--spine1"))
    assert {element.link for bundle in filled.bundles for element in bundle.elements} >= {"leaf1--spine1"}
    assert len(filled.bundles) == 2


def test_no_round_that_confirms_has_more_tests_than_the_session_allows() -> None:
    nic, between = find_link(SPINES, "a2--leaf1"), find_link(SPINES, "leaf1--spine1")
    assert max(len(each.tests) for each in ask(SPINES, nic)) > 1
    assert {len(each.tests) for each in ask(SPINES, nic, bounds=ConfirmationBounds(most=1))} == {1}
    assert ask(SPINES, between, bounds=ConfirmationBounds(most=1)) == (), "it takes several flows: it stays a suspicion"


STEERED = load_text(
    SPINES_TEXT.replace("fabric: spines\n", "fabric: spines\nnetwork: {hash: steered}\n"), "spines.yaml"
)


def test_where_ports_steer_each_member_of_a_link_is_sent_over_by_other_nodes_three_times() -> None:
    """Two suspects share no cable: they are filled together, and nobody sends twice in a round."""
    rounds = ask(STEERED, *(find_link(STEERED, f"leaf1--{spine}") for spine in ("spine1", "spine2")))
    walks = StreamPaths(Routes(STEERED))
    crossed: Counter[tuple[str, str, int]] = Counter()
    for each in rounds:
        assert each.stage == f"{CONFIRMS}iperf3 steered"
        assert max(Counter(sent.source for sent in each.flows).values()) == 1
        for test, sent in zip(each.tests, each.flows, strict=True):
            assert (test.sending.streams, test.target.options["share"]) == (1, "leaf1--spine1, leaf1--spine2")
            port = test.sending.source_port
            assert port is not None
            crossed.update((way.link, way.source, member) for way, member in walks.members(sent, port).items())
    for spine in ("spine1", "spine2"):
        for source in ("leaf1", spine):
            assert [crossed[f"leaf1--{spine}", source, member] for member in (0, 1)] == [3, 3]


def test_where_ports_turned_out_to_mean_nothing_links_are_filled_by_many_streams() -> None:
    base = close(STEERED, 1, flow("a1", "a2", 0.5))
    context, suspect = JudgingContext(STEERED, METRICS), find_link(STEERED, "leaf1--spine1")
    (filled,) = plan_confirmation(context, PROBES, (suspect,), (base,), tuple(STEERED.nodes), steers=False, first=2)
    assert filled.stage == f"{CONFIRMS}iperf3 stress"


def test_of_a_switch_some_links_are_filled_and_those_once() -> None:
    text = SPINES_TEXT.replace("fabric: spines\n", "fabric: spines\nnetwork: {hash: steered}\n")
    wide = load_text(text.replace("leaf[1-2]", "leaf[1-9]"), "wide.yaml")
    context = JudgingContext(wide, METRICS)
    components = Components(context.parts)
    number = context.parts.graph.way(wide.links[LinkId("leaf1--spine1")], "leaf1")
    switch = next(
        each for each in components.holding(number) if each.device == "spine1" and each.kind is ComponentKind.SWITCH
    )
    rounds = ask(wide, switch)
    assert {test.target.options["share"] for each in rounds for test in each.tests} == {
        "leaf1--spine1, leaf4--spine1, leaf7--spine1"
    }
    base = close(wide, 1, flow("a1", "a2", 0.5))
    ran = tuple(ClosedRound(each, (), CloseReason.COMPLETE, 0.0, 1.0) for each in rounds)
    assert ask(wide, switch, judged=(base, *ran)) == ()


def test_nothing_is_tested_twice() -> None:
    suspects = find_link(SPINES, "a2--leaf1"), find_link(SPINES, "leaf1--spine1")
    planned = ask(SPINES, *suspects)
    base = close(SPINES, 1, flow("a1", "a2", 0.5))
    ran = tuple(ClosedRound(each, (), CloseReason.COMPLETE, 0.0, 1.0) for each in planned)
    assert ask(SPINES, *suspects, judged=(base, *ran)) == ()


@pytest.mark.parametrize(("spare", "links"), [(-0.001, 1), (0.0, 2), (0.001, 2)])
def test_they_last_no_longer_than_they_may(spare: float, links: int) -> None:
    suspects = [find_link(SPINES, f"leaf1--{spine}") for spine in ("spine1", "spine2")]
    both = ask(SPINES, *suspects)
    found = ask(SPINES, *suspects, bounds=ConfirmationBounds(sum(each.seconds for each in both) + spare))
    assert len(found) == links


def test_without_a_probe_that_fills_links_nothing_is_planned() -> None:
    base = close(SPINES, 1, flow("a1", "a2", 0.5))
    context = JudgingContext(SPINES, METRICS)
    suspect = find_link(SPINES, "a2--leaf1")
    asked = plan_confirmation(context, {"iperf3": Ping()}, (suspect,), (base,), tuple(SPINES.nodes), first=2)
    assert asked == ()
    assert ask(SPINES) == ()


def test_only_chosen_nodes_take_part() -> None:
    context = JudgingContext(SPINES, METRICS)
    nodes = [NodeId(f"a{number}") for number in (1, 2, 3)]
    base = close(SPINES, 1, flow("a1", "a2", 0.5))
    suspect = find_link(SPINES, "a2--leaf1")
    rounds = plan_confirmation(context, PROBES, (suspect,), (base,), nodes, first=2)
    assert {node.id for each in rounds for test in each.tests for node in test.target.nodes} == set(nodes)


# -- bundles whose flows ran apart


def fill_apart(apart: float, *, number: int = 1, rate: float = 0.9, nodes: str = "12") -> ClosedRound:
    """Flows of 4 s that load a link together and end so many seconds ``apart``, judged."""
    described = star()
    bundle = Bundle("n3 in", (into(described, "n3"),))
    sent = [
        flow(f"n{node}", "n3", rate / len(nodes), bundle.name, at=index * apart, ran=4.0)
        for index, node in enumerate(nodes)
    ]
    closed = close(described, number, *sent, bundles=(bundle,))
    return replace(closed, verdicts=judge_round(JudgingContext(described, METRICS), closed))


def repeat(*judged: ClosedRound, seconds: float = CONFIRMATION_SECONDS, nodes: str = "12345678") -> tuple[Round, ...]:
    context, chosen = JudgingContext(star(), METRICS), [NodeId(f"n{node}") for node in nodes]
    return plan_confirmation(context, PROBES, (), judged, chosen, bounds=ConfirmationBounds(seconds), first=7)


def test_a_bundle_whose_flows_ran_apart_is_repeated_with_more_left_out_and_replaces_itself() -> None:
    base = fill_apart(3.0)
    (again,) = repeat(base)
    assert (again.number, again.stage) == (7, base.round.stage)
    assert find_repeats((base.round, again)).keys() == {test.id for test in again.tests}
    for test in again.tests:
        assert LONGER.items() <= test.target.options.items()
        assert test.target.options["design"] == "pairs"
    assert again.seconds == PROBES["iperf3"].estimate(LONGER)
    assert again.bundles == base.round.bundles


@pytest.mark.parametrize(
    ("apart", "rate"), [(0.1, 0.9), (3.0, 0.5), (0.1, 0.5)], ids=["together", "low although apart", "low"]
)
def test_a_bundle_that_is_decided_is_not_repeated(apart: float, rate: float) -> None:
    assert repeat(fill_apart(apart, rate=rate)) == ()


def test_a_repeat_of_flows_that_ran_apart_is_the_last_one_and_within_the_time() -> None:
    base = fill_apart(3.0)
    (again,) = repeat(base)
    ran = ClosedRound(again, (), CloseReason.COMPLETE, 0.0, 1.0)
    assert repeat(base, ran) == ()
    assert repeat(base, seconds=again.seconds) == (again,)
    assert repeat(base, seconds=again.seconds - 0.1) == ()
    (other,) = repeat(base, ran, fill_apart(3.0, number=2, nodes="45"))
    assert {test.target.node.id for test in other.tests} == {"n4", "n5"}
    assert repeat(base, ran, fill_apart(3.0, number=2, nodes="45"), seconds=2 * again.seconds - 0.1) == ()


def test_flows_that_ran_apart_are_left_alone_where_a_node_is_spared_or_a_probe_leaves_nothing_out() -> None:
    assert repeat(fill_apart(3.0), nodes="145678") == ()
    asked = plan_confirmation(
        JudgingContext(star(), METRICS), {"iperf3": Ping()}, (), (fill_apart(3.0),), tuple(star().nodes), first=2
    )
    assert asked == ()


# -- tests that failed in passing


def fail_one(stage: FailedAt, *, pairs: str = "12") -> ClosedRound:
    """A bundle of two flows into n3 of which that of n1 fails, beside the pairs that gave a number."""
    base = fill_apart(0.1)
    made = tuple(
        replace(each, measurements=(), failure=Failure(stage, "reset", each.test.target.node.id))
        if each.test.target.node.id == "n1"
        else each
        for each in base.results
    )
    others = close(star(), 2, *(flow(f"n{node}", "n4", 0.4) for node in pairs)).results
    return replace(base, results=(*made, *others), verdicts=())


@pytest.mark.parametrize(
    ("stage", "again"),
    [(FailedAt.TOOL, True), (FailedAt.OUTPUT, True), (FailedAt.TIMEOUT, False), (FailedAt.MISSING_TOOL, False)],
)
def test_a_test_whose_tool_failed_is_repeated_once_with_its_bundle(stage: FailedAt, *, again: bool) -> None:
    failed = fail_one(stage)
    planned = repeat(failed)
    if not again:
        assert planned == ()
        return
    (repeated,) = planned
    assert [test.target.node.id for test in repeated.tests] == ["n1", "n2"]
    assert "a test failed; " in repeated.because
    assert find_repeats((failed.round, repeated)).keys() == {test.id for test in repeated.tests}
    assert repeat(failed, ClosedRound(repeated, (), CloseReason.COMPLETE, 0.0, 1.0)) == ()


def test_a_node_that_gave_no_number_is_not_asked_again() -> None:
    assert repeat(fail_one(FailedAt.TOOL, pairs="2")) == ()


# -- the worth of a suspicion


def test_a_tie_is_suspected_and_a_cause_of_two_observations_is_not() -> None:
    described = star()
    context = JudgingContext(described, METRICS)
    findings = Findings(context)
    for closed in (close(described, 1, flow("n1", "n2", 0.5)), close(described, 2, flow("n1", "n3", 0.5))):
        findings.add_round(replace(closed, verdicts=judge_round(context, closed)))
        findings.rank()
        if closed.round.number == 1:
            assert {each.device for each in findings.suspected} == {"n1", "n2"}
    assert findings.suspected == ()


def make_cause(gain: float, rounds: int, *, steered: bool, rate: float = 0.5, alone: float | None = None) -> Cause:
    """A cause of two observations in each of so many rounds."""
    described = load_lag()
    context = JudgingContext(described, METRICS)
    ends = [(f"a{each}", f"b{each}") for each in (1, 2)]
    sent = [steer(*each, rate, 0) if steered else flow(*each, rate) for each in ends]
    seen = []
    for number in range(1, rounds + 1):
        closed = close(described, number, *sent)
        flows = context.flows.read(closed, "iperf3.throughput")
        seen += [(verdict, flows.find_measured(verdict.evidence)) for verdict in judge_round(context, closed)]
    chosen = find_link(described, "a1--leaf1")
    return Cause((chosen,), (Fault(chosen, 0.5),), gain, alone, tuple(seen))


@pytest.mark.parametrize(
    ("gain", "rate", "confirmed", "told"),
    [
        (2 * SURE, 0.25, True, True),
        (2 * SURE - 0.001, 0.25, True, False),
        (2 * NEEDED_ASSUMED, 0.25, False, True),
        (2 * NEEDED_ASSUMED - 0.001, 0.25, False, False),
        (99, MILD / 2 - 0.001, False, True),
        (99, MILD / 2 + 0.001, False, False),
    ],
)
def test_what_met_by_chance_in_one_round_counts_once(gain: float, rate: float, confirmed: bool, told: bool) -> None:
    assert make_cause(gain, 3, steered=True, rate=rate).is_told(confirmed=confirmed) is told
    assert make_cause(gain, 3, steered=False, rate=rate).is_told(confirmed=confirmed)


@pytest.mark.parametrize(("alone", "told"), [(NEEDED_ALONE, True), (NEEDED_ALONE - 0.001, False), (-9.0, False)])
def test_streams_that_ran_by_themselves_have_the_last_word(alone: float, told: bool) -> None:
    assert make_cause(1.0, 1, steered=True, rate=0.79, alone=alone).is_told(confirmed=True) is told
    assert make_cause(99.0, 3, steered=True, rate=0.1, alone=alone).is_told(confirmed=True) is told
    assert make_cause(1.0, 1, steered=False, rate=0.79, alone=alone).is_told(confirmed=True)


@pytest.mark.parametrize(
    ("gain", "steered", "weak"), [(WEAK, False, False), (WEAK - 0.001, False, True), (99, True, True)]
)
def test_what_adds_little_or_rests_on_assumed_paths_is_suspected_only(gain: float, steered: bool, weak: bool) -> None:
    assert make_cause(gain, 1, steered=steered).is_weak is weak


def test_the_stage_of_a_confirmation_says_so() -> None:
    (filled,) = ask(SPINES, find_link(SPINES, "leaf1--spine1"))
    assert filled.stage.startswith(CONFIRMS)
    assert not is_confirmation(close(SPINES, 1).round)
