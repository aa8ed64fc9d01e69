"""Findings kept up to date are those made anew: whatever the order, the repeats and the number of rounds."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchconsole.probes.api import Output, Probe, Sending, Shape
from benchconsole.probes.judging.attribution import Attributor, Cause
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.findings import Findings, list_findings
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.judging.part_loads import PartLoads
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.probes.judging.yardsticks.capacity import overlap
from benchconsole.probes.model.judgement import ClosedRound, Level, Suspect, Yardstick
from benchconsole.probes.model.measuring import FULL, Round
from benchconsole.probes.planning.plan_rounds import plan
from benchconsole.probes.planning.suites import find_suite
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Basis, Direction, Fabric, LinkId
from tests.fabrics import METRICS, fabric, play
from tests.probes.judging.rounds import RATE, close, flow, star


class _Pair(Probe):
    """Stands for any two-ended probe in a plan."""

    name = "iperf3"
    summary = "throughput"
    shape = Shape.PAIR

    def sending(self, options: Mapping[str, str | int | float]) -> Sending:
        return Sending(streams=32)

    def parse(self, output: Output) -> tuple[()]:
        return ()


LAG = Direction(LinkId("leaf1--spine2"), "leaf1")
NIC = Direction(LinkId("n6--leaf2"), "leaf2")
OTHER = Direction(LinkId("n2--leaf1"), "n2")
FAULTS: tuple[dict[Direction, float], ...] = (
    {}, {LAG: 1.25e9}, {NIC: 0.4 * 1.25e9}, {LAG: 1.25e9, NIC: 0.5e9}, {NIC: 0.5e9, OTHER: 0.5e9},
)  # fmt: skip


@cache
def described() -> Fabric:
    with TemporaryDirectory() as folder:
        return fabric(Path(folder))


@cache
def planned() -> tuple[Round, ...]:
    return plan(described(), find_suite(described(), None), {"iperf3": _Pair()})


@cache
def judged(place: int, number: int, faults: int) -> ClosedRound:
    """A round of the plan under a number of its own, on a fabric with some of the faults."""
    each = planned()[place]
    tests = tuple(replace(test, id=f"{number}/{test.id}", round=number) for test in each.tests)
    closed = play(described(), replace(each, number=number, tests=tests), FAULTS[faults])
    return replace(closed, verdicts=judge_round(JudgingContext(described(), METRICS), closed))


STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 6), st.integers(0, len(FAULTS) - 1)), min_size=1, max_size=8
)


@given(steps=STEPS)
@settings(max_examples=12, deadline=None)
def test_one_by_one_is_all_at_once(steps: Sequence[tuple[int, int, int]]) -> None:
    kept, rounds = Findings(JudgingContext(described(), METRICS)), {}
    for place, number, faults in steps:
        each = judged(place % len(planned()), number, faults)
        rounds[number] = each
        kept.add_round(each)
        found = kept.rank()
        assert found == list_findings(JudgingContext(described(), METRICS), rounds.values())
        assert found == list_findings(JudgingContext(described(), METRICS), [rounds[key] for key in sorted(rounds)])


def test_what_did_not_change_is_the_same_object() -> None:
    kept = Findings(JudgingContext(described(), METRICS))
    for place in range(len(planned())):
        kept.add_round(judged(place, place + 1, 3))
    first = kept.rank()
    assert first
    kept.add_round(replace(judged(0, 50, 0), results=(), verdicts=()))
    assert all(before is after for before, after in zip(first, kept.rank(), strict=True))


def test_taking_rounds_in_is_asking_once() -> None:
    kept = Findings(JudgingContext(described(), METRICS))
    rounds = [judged(place, place + 1, 1) for place in range(len(planned()))]
    for each in rounds:
        kept.add_round(each)
    assert kept.rank() == list_findings(JudgingContext(described(), METRICS), rounds)


def test_a_repeat_that_passes_takes_the_finding_back() -> None:
    kept = Findings(JudgingContext(described(), METRICS))
    for place in range(len(planned())):
        kept.add_round(judged(place, place + 1, 1))
        kept.rank()
    assert kept.rank()
    for place in range(len(planned())):
        kept.add_round(judged(place, place + 20, 0))
        kept.rank()
    assert kept.rank() == ()


def certain(context: JudgingContext, closed: ClosedRound) -> dict[Direction, float]:
    """The slow second way: what each link is known to have carried, link by link."""
    criterion = next(each for each in context.criteria if each.basis is Basis.CAPACITY)
    load: dict[Direction, float] = {}
    crossing: dict[Direction, list[MeasuredFlow]] = {}
    whole: dict[Direction, list[MeasuredFlow]] = {}
    flows = context.flows.read(closed, criterion.metric).measured(criterion)
    for each in flows:
        for way, share in context.routes.shares(each.flow.source, each.flow.sink).items():
            load[way] = load.get(way, 0.0) + share * each.value
            crossing.setdefault(way, []).append(each)
            if share > 1 - 1e-9:
                whole.setdefault(way, []).append(each)
    fabric = context.fabric
    together = {way: value * overlap(crossing[way]) for way, value in load.items()}
    full = {way: value for way, value in together.items() if value >= FULL * fabric.payload(fabric.links[way.link])}
    alone = {way: overlap(each) * sum(one.value for one in each) for way, each in whole.items()}
    return {way: max(full.get(way, 0.0), alone.get(way, 0.0)) for way in load}


@pytest.mark.parametrize("apart", [0.0, 2.0])
@pytest.mark.parametrize("place", range(3))
def test_what_is_proven_is_what_flows_show_one_by_one(place: int, apart: float) -> None:
    context = JudgingContext(described(), METRICS)
    criterion = next(each for each in context.criteria if each.basis is Basis.CAPACITY)
    closed = judged(place % len(planned()), 1, 3)
    results = tuple(
        replace(
            result,
            outputs=(Output(("iperf3",), seconds=6.0),),
            measurements=tuple(replace(each, at=index % 3 * apart) for each in result.measurements),
        )
        for index, result in enumerate(closed.results)
    )
    closed = replace(closed, results=results)
    loads = PartLoads(context.parts)
    loads.add(context.flows.read(closed, criterion.metric))
    wanted = certain(context, closed)
    graph = context.routes.graph
    found = {
        graph.direction(way): float(loads.proven[way])
        for way in np.flatnonzero(loads.proven[: context.parts.ways]).tolist()
    }
    assert found == pytest.approx({way: value for way, value in wanted.items() if value})


def test_what_no_lost_link_crosses_is_not_dragged_along() -> None:
    """Two low throughputs with no link in common have two causes, though one of them is only watched."""
    context = JudgingContext(described(), METRICS)
    kept = Findings(context)
    for place in range(len(planned())):
        closed = judged(place, place + 1, 2)
        watched = tuple(
            verdict._replace(level=Level.WATCH)
            if verdict.kind is Yardstick.CAPACITY and verdict.subject == "n1>n2"
            else verdict
            for verdict in closed.verdicts
        )
        kept.add_round(replace(closed, verdicts=watched))
    suspects = {finding.suspect for finding in kept.rank() if "n1>n2" in " ".join(finding.because)}
    nic = next(finding for finding in kept.rank() if finding.where == "n6 in")
    assert all("n1>n2" not in line for line in nic.because)
    assert suspects <= {Suspect.NIC, Suspect.FABRIC, Suspect.LINK}


def test_groups_that_share_no_link_are_explained_apart() -> None:
    context = JudgingContext(described(), METRICS)
    kept = Findings(context)
    for place in range(len(planned())):
        if not planned()[place].bundles:
            kept.add_round(judged(place, place + 1, 4))
    low = list(kept._list_observed(kept._low.list_by_kind()[Yardstick.CAPACITY]))
    attributor = Attributor(context, kept._loads, kept._evidence)
    causes, rest = attributor.explain(low)
    assert len(attributor._known) > 1
    assert {id(seen) for cause in causes for seen in cause.seen} <= {id(seen) for seen in low}
    assert attributor.explain(low) == (causes, rest)


def test_a_cause_is_weighed_anew_once_other_flows_cross_what_was_tried_and_not_before() -> None:
    """Flows that are held to a rate prove nothing more of a link, and all the same tell of it."""
    star_of_eight, held = star(), Sending(rate=0.3 * RATE)
    context = JudgingContext(star_of_eight, METRICS)
    kept = Findings(context)
    told: list[Cause] = []
    rounds = (
        [flow("n1", "n2", 0.5), flow("n3", "n4", 1.0), flow("n5", "n6", 1.0)],
        [replace(flow("n5", "n7", 0.3), sending=held)],
        [replace(flow("n1", "n7", 0.3), sending=held)],
        [replace(flow("n7", "n8", 0.3), sending=held)],
    )
    for number, sent in enumerate(rounds, 1):
        closed = close(star_of_eight, number, *sent)
        kept.add_round(replace(closed, verdicts=judge_round(context, closed)))
        kept.rank()
        told += kept._causes
    first, second, third, fourth = told
    assert first is second
    assert second is not third
    assert third is fourth
