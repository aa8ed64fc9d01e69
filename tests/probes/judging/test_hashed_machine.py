"""A published machine whose switches hash each stream: silent while healthy, and a lost member fails.

Truth is one path for every stream, drawn by ``trace_flows``, and 4 % noise; the file says what its hash sees.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from benchconsole.probes.api import Reading, Unit, labels
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import Result, Round
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.probes.tools.iperf3.probe import Iperf3
from benchconsole.topology.capacity.expect import compute_capacities
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.flow_streams import trace_flows
from benchconsole.topology.capacity.maxmin import max_min
from benchconsole.topology.copying import replace
from benchconsole.topology.description.resolve import load_text
from benchconsole.topology.model.fabric import Fabric, LinkId, Suite
from benchconsole.topology.routing.routes import Routes
from tests.fabrics import METRICS

LOST = LinkId("mxl03-1--tor1")
NOISE = 0.04


@cache
def jetstream(policy: str) -> Fabric:
    text = Path(str(files("benchconsole.topology") / "examples/jetstream.yaml")).read_text()
    assert "hash: unknown" in text
    return load_text(text.replace("hash: unknown", f"hash: {policy}"), "jetstream.yaml")


@cache
def contexts(policy: str) -> JudgingContext:
    return JudgingContext(jetstream(policy), METRICS)


def rounds(described: Fabric, streams: int | None) -> tuple[Round, ...]:
    """The network stages of the default suite; ``streams`` in place of those that it chooses."""
    stages = [each for each in find_suite(described, "default").stages if each.probe == "iperf3"]
    if streams is not None:
        stages = [replace(each, options={**each.options, "streams": streams}) for each in stages]
    return plan(described, Suite("one", tuple(stages)), {"iperf3": Iperf3()})


def run(real: Fabric, planned: Round, seed: int) -> ClosedRound:
    """The round on ``real`` switches: what each test reaches when each of its streams has one path."""
    chance = random.Random(f"{seed}/{planned.number}")
    streams = [test.flows[0] for test in planned.tests for _ in range(test.sending.streams)]
    traced = trace_flows(Routes(real), streams, Model.HASH, seed=1000 * seed + planned.number)
    rates = max_min(traced.used, compute_capacities(real, traced.parts, {}), np.full(len(streams), np.inf))
    owner = np.repeat(np.arange(len(planned.tests)), [test.sending.streams for test in planned.tests])
    results = []
    for test, rate in zip(planned.tests, np.bincount(owner, weights=rates).tolist(), strict=True):
        value = rate * min(1 + chance.gauss(0, NOISE), 1.03)
        reading = Reading("iperf3.throughput", value, Unit.BYTE_RATE, labels(direction="out"), id=f"{test.id}#0")
        results.append(Result(test, measurements=(reading,)))
    return ClosedRound(planned, tuple(results), CloseReason.COMPLETE, 0.0, 1.0)


def judge(
    policy: str, streams: int | None, *, real: Fabric | None = None, seeds: Sequence[int] = (1,)
) -> list[Verdict]:
    """The verdicts by capacity on the default suite on ``real``, or on the machine as it is described."""
    return list(_judge(contexts(policy), streams, real or jetstream(policy), seeds))


def _judge(context: JudgingContext, streams: int | None, real: Fabric, seeds: Sequence[int]) -> Iterator[Verdict]:
    for seed in seeds:
        for each in rounds(context.fabric, streams):
            found = judge_round(context, run(real, each, seed))
            yield from (verdict for verdict in found if verdict.kind is Yardstick.CAPACITY)


def count(verdicts: Sequence[Verdict]) -> Counter[Level]:
    return Counter(each.level for each in verdicts)


def test_a_healthy_machine_passes_whole_with_the_streams_of_our_suite() -> None:
    found = count(judge("unknown", None, seeds=(1, 2)))
    assert found == {Level.PASS: 2 * 719}


def test_four_streams_accuse_nobody_and_say_what_would_tell() -> None:
    found = judge("unknown", 4, seeds=(1, 2))
    levels = count(found)
    assert levels[Level.FAIL] == levels[Level.WATCH] == 0
    assert levels[Level.UNKNOWN] > 100
    lone = [each for each in found if each.level is Level.UNKNOWN and ">" in each.subject]
    assert all("4 streams over 2 legs give between 50 % and 100 %" in each.because for each in lone)
    assert all("repeat with 16 streams" in each.because for each in lone)


def test_a_hash_of_addresses_that_gives_each_pair_one_leg_accuses_nobody() -> None:
    found = judge("l2", 16)
    assert count(found)[Level.FAIL] == 0
    assert {each.level for each in found if ">" in each.subject} == {Level.PASS}
    assert {each.level for each in found if ">" not in each.subject} == {Level.UNKNOWN}


@pytest.mark.parametrize("streams", [16, 32])
def test_a_lost_member_fails_where_it_is_crossed_and_nowhere_else(streams: int) -> None:
    whole = jetstream("unknown")
    lost = whole.links[LOST]
    assert lost.count == 2
    real = replace(whole, links={**whole.links, LOST: replace(lost, count=1)})
    low = [each for each in judge("unknown", streams, real=real) if each.level is not Level.PASS]
    assert {each.level for each in low} == {Level.FAIL}
    bundles = [bundle for each in rounds(whole, streams) for bundle in each.bundles]
    crossed = {bundle.name for bundle in bundles if any(way.link == LOST for way in bundle.elements)}
    assert {each.subject for each in low} == crossed
    assert len(crossed) == 2
