"""A torus and a dragonfly whose file says no routing: silent while healthy, and no wrong suspect where a link is slow.

The machine itself is routed by a rule that its file does not say, or each flow by one hashed way of least hops.
"""

from collections.abc import Mapping
from functools import cache

import pytest

from benchconsole.probes.api import Reading, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Finding, Level, Suspect, Verdict, Yardstick
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId, Suite
from tests.fabrics import METRICS
from tests.probes.judging.rounds import close, flow
from tests.topology.routing.test_path_rules import DRAGONFLY, TORUS

OPEN = {"torus": TORUS.replace(", routing: RULE", ""), "dragonfly": DRAGONFLY.replace(", routing: RULE", "")}


@cache
def describe(name: str, rule: str = "") -> Fabric:
    text = {"torus": TORUS, "dragonfly": DRAGONFLY}[name].replace("RULE", rule) if rule else OPEN[name]
    return load_text(text, f"{name}.yaml")


@cache
def rounds(name: str) -> tuple[Round, ...]:
    described = describe(name)
    stages = tuple(each for each in find_suite(described, "default").stages if each.probe == "iperf3")
    return plan(described, Suite("network", stages), {"iperf3": Iperf3()})


def run(real: Fabric, planned: Round, model: Model, slow: Mapping[Direction, float]) -> ClosedRound:
    """The round on the machine: what each test reaches by its routing."""
    flows = [test.flows[0] for test in planned.tests]
    rates = expect(real, flows, model=model, seed=planned.number, capacity=slow)
    results = []
    for test, rate in zip(planned.tests, rates, strict=True):
        reading = Reading("iperf3.throughput", rate.value, Unit.BYTE_RATE, labels(direction="out"), id=f"{test.id}#0")
        results.append(Result(test, measurements=(reading,)))
    return ClosedRound(planned, tuple(results), CloseReason.COMPLETE, 0.0, 1.0)


def judge(
    name: str, rule: str, model: Model = Model.FLUID, slow: Mapping[Direction, float] | None = None
) -> tuple[list[Verdict], tuple[Finding, ...]]:
    """The verdicts on capacity, and the findings."""
    context, real = JudgingContext(describe(name), METRICS), describe(name, rule)
    judged = [
        replace(each, verdicts=judge_round(context, each))
        for each in (run(real, planned, model, slow or {}) for planned in rounds(name))
    ]
    verdicts = [each for closed in judged for each in closed.verdicts if each.kind is Yardstick.CAPACITY]
    return verdicts, list_findings(context, judged)


@pytest.mark.parametrize(
    ("name", "rule", "model"),
    [
        ("torus", "dimension-order", Model.HASH),
        ("torus", "shortest", Model.HASH),
        ("torus", "spray", Model.FLUID),
        ("dragonfly", "minimal", Model.HASH),
        ("dragonfly", "valiant", Model.FLUID),
        ("dragonfly", "valiant", Model.HASH),
    ],
)
def test_a_healthy_machine_is_not_accused(name: str, rule: str, model: Model) -> None:
    verdicts, findings = judge(name, rule, model)
    assert {each.level for each in verdicts} <= {Level.PASS, Level.UNKNOWN}
    assert Level.PASS in {each.level for each in verdicts}
    assert findings == ()


@pytest.mark.parametrize("rule", ["dimension-order", "shortest"])
@pytest.mark.parametrize("link", ["r1-1--r2-1", "r3-0--r3-1", "n0-1--r0-1"])
def test_a_slow_link_of_a_torus_is_found_and_nothing_else_accused(rule: str, link: str) -> None:
    found = describe("torus").links[LinkId(link)]
    slow = {Direction(found.id, end): 0.3 * found.capacity for end in (found.a, found.b)}
    _, findings = judge("torus", rule, slow=slow)
    named = [each for each in findings if each.suspect is not Suspect.FABRIC]
    assert [each.where for each in named] == [f"{found.a} NIC" if link[0] == "n" else f"{found.a} to {found.b}"]
    for each in findings:
        if each not in named:
            assert each.cannot_tell == "which links these flows took: the file does not say how the fabric is routed"


@pytest.mark.parametrize("rule", ["minimal", "valiant"])
@pytest.mark.parametrize("link", ["r0-2--r0-3", "r6-1--r6-2", "n0-1--r0-1"])
def test_on_a_dragonfly_a_slow_link_is_not_told_apart(rule: str, link: str) -> None:
    found = describe("dragonfly").links[LinkId(link)]
    slow = {Direction(found.id, end): 0.3 * found.capacity for end in (found.a, found.b)}
    verdicts, findings = judge("dragonfly", rule, slow=slow)
    assert {each.suspect for each in findings} <= {Suspect.FABRIC}
    assert {each.level for each in verdicts} > {Level.PASS}


@pytest.mark.parametrize(
    ("share", "level", "said"),
    [
        (0.99, Level.PASS, "99 % of expected, at least 80 % asked"),
        (0.5, Level.UNKNOWN, "50 % of what least hops give; nobody said the routing, and any gives at least 50 %"),
        (0.41, Level.UNKNOWN, "41 % of what least hops give"),
        (0.39, Level.FAIL, "39 % of expected, below 80 %; any routing gives at least 50 % (49.5 Gb/s)"),
    ],
)  # fmt: skip
def test_between_any_routing_and_least_hops_nothing_is_known(share: float, level: Level, said: str) -> None:
    """Two flows that may meet on a link, and do not by least hops in equal parts."""
    context = JudgingContext(describe("torus"), METRICS)
    carried = 12.5 * describe("torus").goodput
    closed = close(
        describe("torus"), 1, flow("n0-0", "n1-1", share * carried), flow("n0-1", "n1-0", carried),
        flow("n0-3", "n0-2", carried),
    )  # fmt: skip
    first, _, alone = (each for each in judge_round(context, closed) if each.kind is Yardstick.CAPACITY)
    assert first.level is level
    assert first.because.startswith(said)
    assert first.source == "capacity (fluid, any routing)"
    assert first.least == pytest.approx(0.5 * carried * 1e9, rel=1e-9)
    assert (alone.source, alone.least) == ("capacity (fluid)", None)


def test_a_low_flow_accuses_no_end_of_it() -> None:
    context = JudgingContext(describe("torus"), METRICS)
    carried = 12.5 * describe("torus").goodput
    closed = close(describe("torus"), 1, flow("n0-0", "n1-1", 0.2 * carried))
    judged = replace(closed, verdicts=judge_round(context, closed))
    (finding,) = list_findings(context, [judged])
    assert finding.what == "n0-0>n1-1: 19.8 Gb/s of 99.0 Gb/s, 20 %; below what any routing gives"
    assert (finding.suspect, finding.level) == (Suspect.FABRIC, Level.FAIL)


def test_more_than_any_way_out_of_a_node_is_impossible_and_more_than_least_hops_is_not() -> None:
    """Ways of more hops may carry what those of least hops do not: a thin local link, and wide ones round it."""
    text = OPEN["dragonfly"].replace('to: "r{g}-[1-3]", speed: 100G', 'to: "r{g}-[1-3]", speed: 10G')
    described = load_text(text, "thin.yaml")
    context = JudgingContext(described, METRICS)
    carried = 12.5 * described.goodput
    for share, level in ((0.9, Level.PASS), (1.2, Level.UNKNOWN)):
        closed = close(described, 1, flow("n0-0", "n0-1", share * carried))
        (verdict,) = (each for each in judge_round(context, closed) if each.kind is Yardstick.CAPACITY)
        assert verdict.level is level
        assert ("the number or the description is wrong" in verdict.because) is (level is Level.UNKNOWN)


def test_streams_of_a_sprayed_network_are_on_no_member() -> None:
    """One stream over a LAG of two takes both, and no hash explains half of it."""
    text = (
        "schema: 1\nfabric: lags\nnetwork: {mtu: 9000, routing: RULE}\nswitches: {a: {}, b: {}}\n"
        "nodes: {n1: {}, n2: {}}\nlinks:\n  - {from: n1, to: a, speed: 100G}\n  - {from: n2, to: b, speed: 100G}\n"
        "  - {from: a, to: b, speed: 50G, count: 2}\n"
    )
    for rule, expected, level in (("shortest", 50, Level.PASS), ("spray", 100, Level.FAIL)):
        described = load_text(text.replace("RULE", rule), "lags.yaml")
        context = JudgingContext(described, METRICS)
        closed = close(described, 1, flow("n1", "n2", 6.25 * described.goodput))
        (verdict,) = (each for each in judge_round(context, closed) if each.kind is Yardstick.CAPACITY)
        assert verdict.expected == pytest.approx(expected * 1e9 / 8 * described.goodput, rel=1e-9)
        assert (verdict.level, verdict.least) == (level, None)
        assert verdict.source == ("capacity (sprayed)" if rule == "spray" else "capacity (fluid)")


def test_what_ugal_may_choose_is_no_failure() -> None:
    described = load_text(DRAGONFLY.replace("RULE", "ugal"), "dragonfly.yaml")
    context = JudgingContext(described, METRICS)
    carried = 12.5 * described.goodput
    beside = [flow(f"n0-{i}", f"n2-{i}", carried / 4) for i in range(1, 4)]
    for share, level, said in (
        (0.24, Level.UNKNOWN, "UGAL chooses by queues, and any choice gives at least"),
        (0.1, Level.FAIL, "any routing gives at least"),
    ):
        closed = close(described, 1, flow("n0-0", "n1-0", share * carried), *beside)
        verdicts = judge_round(context, closed)
        assert verdicts[0].level is level
        assert said in verdicts[0].because
        assert verdicts[0].source == "capacity (fluid, any routing)"
        findings = list_findings(context, [replace(closed, verdicts=verdicts)])
        told = [each.cannot_tell for each in findings]
        assert told == (["which links these flows took: UGAL chooses by queues"] if level is Level.FAIL else [])
