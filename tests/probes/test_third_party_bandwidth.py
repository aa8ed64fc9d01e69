"""A stranger's bandwidth probe, from its plan to the cause that is named: judged against the fabric like iperf3."""

import importlib.util
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchconsole.probes.api import Output, Probe
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound, Level, Suspect, Yardstick
from benchconsole.probes.model.measuring import Round
from benchconsole.probes.planning.design_options import find_refusal
from benchconsole.probes.planning.plan_summary import summarise
from benchconsole.probes.running.runner import RoundObserver, Runner
from benchconsole.probes.testing import FakeReach, FakeRemote
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.access import Caps
from benchconsole.topology.model.fabric import Direction, Fabric, LinkId
from tests.fabrics import SMALL
from tests.probes.planning.plan_referee import violations
from tests.probes.planning.suites import planned

EXAMPLE = Path(__file__).parents[2] / "docs/examples/benchconsole-iperf2/benchconsole_iperf2.py"
TRUNK = Direction(LinkId("leaf1--spine1"), "leaf1")
STREAM = "20261121040107,192.0.2.1,40112,192.0.2.2,20418,{number},0.0-5.0,1471152128,{bits}\n"


def load_example() -> Probe:
    spec = importlib.util.spec_from_file_location("benchconsole_iperf2", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (probe,) = module.bench_probes()
    assert isinstance(probe, Probe)
    return probe


PROBE = load_example()
PROBES = {"iperf2": PROBE}


def small() -> Fabric:
    return load_text(
        SMALL.replace("criteria:\n  - {metric: iperf3.throughput, at_least: 80 %, of: capacity}\n", ""), "s"
    )


async def play_on_nodes(fabric: Fabric, planned_round: Round, faults: Mapping[Direction, float]) -> ClosedRound:
    """Run a round with the probe's own code; its nodes print what links with ``faults`` would carry."""
    nodes: dict[str, FakeRemote] = {node: FakeRemote(node) for node in fabric.nodes}
    rates = expect(fabric, planned_round.flows, capacity=faults)
    for (test, flow), rate in zip(planned_round.sent, rates, strict=True):
        streams = test.sending.streams
        text = "".join(STREAM.format(number=n + 3, bits=int(8 * rate.value / streams)) for n in range(streams))
        client = ("iperf", "-c", fabric.nodes[flow.sink].data_address)
        nodes[flow.source].when(*client, answers=Output(client, text.encode(), seconds=5.0))
        nodes[flow.sink].when("iperf", "-s", answers=Output((), b"benchconsole: listening\n", exit_status=None))
    return await Runner(FakeReach(dict(nodes)), PROBES, clock=lambda: 5.0).run(planned_round, RoundObserver())


def make_context(fabric: Fabric) -> JudgingContext:
    return JudgingContext(fabric, {metric.name: metric for metric in PROBE.metrics})


async def test_a_trunk_that_lost_a_member_is_named_and_nothing_else_fails() -> None:
    fabric = small()
    context = make_context(fabric)
    judged = []
    rounds = [*planned(fabric, "neighbours", probe=PROBE), *planned(fabric, "trunks", probe=PROBE, parallel=8)]
    for number, each in enumerate(rounds, 1):
        tests = tuple(replace(test, round=number, id=f"{number}/{test.id}") for test in each.tests)
        closed = await play_on_nodes(fabric, replace(each, number=number, tests=tests), {TRUNK: 10e9 / 8})
        judged.append(replace(closed, verdicts=judge_round(context, closed)))
    verdicts = [verdict for closed in judged for verdict in closed.verdicts]
    assert {verdict.kind for verdict in verdicts} == {Yardstick.CAPACITY}
    assert {verdict.metric for verdict in verdicts} == {"iperf2.throughput"}
    low = [verdict for verdict in verdicts if verdict.level is Level.FAIL]
    assert low
    assert all("leaf1 to spine1" in verdict.limiting for verdict in low)
    assert sum(verdict.level is Level.PASS for verdict in verdicts) > len(low)
    (finding,) = list_findings(context, judged)
    assert (finding.suspect, finding.element, finding.where) == (Suspect.LAG, TRUNK.link, "leaf1 to spine1")
    assert list_findings(JudgingContext(fabric, {}), judged) == (finding,)  # read back where the probe is not installed


async def test_without_a_fault_everything_passes_and_no_cause_is_named() -> None:
    fabric = small()
    (first, *_) = planned(fabric, "neighbours", probe=PROBE)
    closed = await play_on_nodes(fabric, first, {})
    verdicts = judge_round(make_context(fabric), closed)
    assert [verdict.level for verdict in verdicts] == [Level.PASS] * len(first.tests)
    assert list_findings(make_context(fabric), [replace(closed, verdicts=verdicts)]) == ()


def test_the_plan_counts_its_streams_and_keeps_links_apart() -> None:
    fabric = small()
    for parallel in (1, 4):
        rounds = planned(fabric, "permutation", probe=PROBE, parallel=parallel)
        assert {test.sending.streams for each in rounds for test in each.tests} == {parallel}
        assert list(violations(fabric, rounds, PROBES)) == []
        assert summarise(fabric, rounds, PROBES).total.tests == len(fabric.nodes)


def test_caps_are_put_into_its_own_option() -> None:
    fabric = replace(small(), caps=Caps(0.5))
    for each in planned(fabric, "neighbours", probe=PROBE):
        for test in each.tests:
            assert test.target.options["bandwidth"] == "4.68 Gb/s"
            assert test.sending == PROBE.sending(test.target.options)


def test_what_it_cannot_be_told_is_refused_in_a_sentence() -> None:
    with pytest.raises(PlanError, match="design steered needs a probe with an option for its source port"):
        planned(small(), "steered", probe=PROBE)
    assert find_refusal(PROBE, {"parallel": 0}) == "iperf2 option parallel: found 0, expected a whole number 1 to 65535"
    assert "iperf2 option seconds" in find_refusal(PROBE, {"seconds": "long"})
