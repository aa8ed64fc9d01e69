"""Owns results that were not measured from here: outputs of a batch job, or taken by hand, into a session.

They are planned, read by their probe, judged and stored like every other result. No node is touched, and
nothing passes for measured by us: the stage says that it was ingested, and the round from which files.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from console.record import Choice, judged_by, new_session
from console.session import metrics
from probes.api import Output, Probe, Shape, Target
from probes.errors import PlanError, ProbeOutputError
from probes.judging.bench import Bench
from probes.judging.judge import judge_round
from probes.model import ClosedRound, CloseReason, FailedAt, Failure, Measurement, Result, Round, Test
from probes.planning.rounds import test_id
from probes.runner import read
from store.model import SessionState
from topology.model import Fabric, NodeId

if TYPE_CHECKING:
    from store.store import Store

STAGE = "ingested"
"""What the stage of such results ends with."""


@dataclass(frozen=True, slots=True)
class Captured:
    """One output with the nodes that it is of: one, sender and receiver, or all members. ``source`` is its file."""

    nodes: tuple[NodeId, ...]
    output: Output
    source: str


def target_of(fabric: Fabric, probe: Probe, captured: Captured) -> Target:
    """What the output is of. PlanError for nodes that the fabric lacks, or too few or many for the probe."""
    unknown = [name for name in captured.nodes if name not in fabric.nodes]
    if unknown:
        raise PlanError(f"{captured.source}: the topology has no node {unknown[0]!r}")
    nodes = tuple(fabric.nodes[name] for name in captured.nodes)
    wanted = {Shape.NODE: (1, 1), Shape.PAIR: (2, 2), Shape.SET: (1, len(fabric.nodes))}[probe.shape]
    if not wanted[0] <= len(nodes) <= wanted[1] or len(set(captured.nodes)) < len(nodes):
        what = {Shape.NODE: "one node", Shape.PAIR: "a sender and a receiver", Shape.SET: "its nodes"}[probe.shape]
        raise PlanError(f"{captured.source}: found {', '.join(captured.nodes) or 'no node'}, expected {what}")
    options = MappingProxyType(dict(probe.options))
    if probe.shape is Shape.SET:
        return Target(nodes[0], None, options, nodes)
    return Target(nodes[0], nodes[1] if len(nodes) > 1 else None, options)


def round_of(fabric: Fabric, probe: Probe, found: Sequence[Captured], number: int) -> Round:
    """The round that the outputs stand for; PlanError as ``target_of``, or where there is none."""
    if not found:
        raise PlanError("there is no output to ingest")
    tests = []
    for index, each in enumerate(found):
        target = target_of(fabric, probe, each)
        tests.append(Test(test_id(number, probe.name, index, target), probe.name, target, number))
    files = ", ".join(each.source for each in found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return Round(number, f"{probe.name} {STAGE}", probe.name, tuple(tests), 0.0, f"read from {files}")


def result_of(probe: Probe, test: Test, output: Output, at: float) -> Result:
    """What the probe reads in an output, or why nothing of it can be trusted. ``at`` is when it was measured."""
    try:
        readings, facts = read(probe, output)
    except ProbeOutputError as error:
        stage = FailedAt.OUTPUT if output.exit_status == 0 else FailedAt.TOOL
        return Result(test, (output,), failure=Failure(stage, str(error)[:500], test.target.node.id), started=at)
    measurements = (Measurement(f"{test.id}#{index}", test, reading, at) for index, reading in enumerate(readings))
    return Result(test, (output,), tuple(measurements), facts, started=at)


async def ingest(
    store: "Store", fabric: Fabric, probe: Probe, found: Sequence[Captured], *, choice: Choice, at: float
) -> str:
    """Store the outputs as a session of its own; its id. ``at`` is when they were measured, UTC seconds."""
    each = round_of(fabric, probe, found, 1)
    key = await store.create_session(new_session(fabric, choice, at), (each,))
    await _store(store, key, fabric, probe, each, found, at)
    await store.end_session(key, at=at, complete=True)
    return key


async def ingest_into(
    store: "Store", key: str, fabric: Fabric, probe: Probe, found: Sequence[Captured], *, at: float
) -> None:
    """Add the outputs to a stored session, of which ``fabric`` is the topology, as a round of their own."""
    before = store.session(key)
    number = max((each.number for each in store.plan(key, fabric)), default=0) + 1
    each = round_of(fabric, probe, found, number)
    await store.claim(key)
    await store.extend_plan(key, (each,))
    await _store(store, key, fabric, probe, each, found, at)
    ended = before.ended if before.ended is not None else at
    await store.end_session(key, at=ended, complete=before.state is SessionState.COMPLETE, because=before.because)


async def _store(
    store: "Store", key: str, fabric: Fabric, probe: Probe, each: Round, found: Sequence[Captured], at: float
) -> None:
    """Read, judge and store one round."""
    attempt = await store.begin_round(key, each.number, at=at)
    results = tuple(result_of(probe, test, one.output, at) for test, one in zip(each.tests, found, strict=True))
    closed = ClosedRound(each, results, CloseReason.COMPLETE, at, at)
    verdicts = judge_round(Bench(fabric, metrics({probe.name: probe})), closed)
    await store.close_round(key, closed, verdicts, attempt=attempt, judged_by=judged_by(fabric))
