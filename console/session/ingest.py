"""Results that were not measured from here, put into a session: outputs of a batch job, or taken by hand.

They are planned, read by their probe, judged and stored like every other result. No node is touched.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, repeat
from types import MappingProxyType
from typing import TYPE_CHECKING

from benchconsole.console.session.judged_rounds import make_judging_context
from benchconsole.console.session.metadata import SessionChoice, make_new_session, name_judgement
from benchconsole.console.view.run_view import INGESTED
from benchconsole.console.view.wording import format_moment
from benchconsole.probes.api import Output, Probe, Shape, Target
from benchconsole.probes.judging.judge import judge_round
from benchconsole.probes.model.errors import PlanError, ProbeOutputError
from benchconsole.probes.model.judgement import ClosedRound, CloseReason
from benchconsole.probes.model.labels import OWN
from benchconsole.probes.model.measuring import Failure, Reading, Result, Round, Test
from benchconsole.probes.model.repeats import make_test_key
from benchconsole.probes.planning.plan_rounds import make_test_id
from benchconsole.probes.planning.sweeps import REPETITION, label_tests
from benchconsole.probes.plugins.captured_output import Ending, read_captured
from benchconsole.probes.plugins.probe_output import find_stage, read_output
from benchconsole.probes.readers.readings import add_labels
from benchconsole.store.model import SessionState
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.routing.network_choice import NetworkChoice
from benchconsole.topology.routing.routes import Routes

if TYPE_CHECKING:
    from benchconsole.store.session_store import SessionStore
    from benchconsole.store.store import Store


POSSIBLY = "partial"
"""The label of numbers of an output that may lack its end."""

NOTHING_KNOWN: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CapturedOutput:
    """One output with the nodes that it is of: one, sender and receiver, or all members. ``source`` is its file.

    ``network`` is the one that it was measured over; empty for the one that tests of its nodes use. ``ports`` are those
    of the sender and the receiver that it was measured between; empty where that is not known.
    """

    nodes: tuple[NodeId, ...]
    output: Output
    source: str
    network: str = ""
    ports: tuple[str, str] = ("", "")


def make_target(fabric: Fabric, probe: Probe, captured: CapturedOutput) -> Target:
    """What the output is of. PlanError for nodes that the fabric lacks, or too few or many for the probe."""
    unknown = [name for name in captured.nodes if name not in fabric.nodes]
    if unknown:
        raise PlanError(f"{captured.source}: the topology has no node {unknown[0]!r}")
    if any(captured.ports) and probe.shape is not Shape.PAIR:
        raise PlanError(f"{captured.source}: found a port, expected none: {probe.name} does not test between nodes")
    places = (port or captured.network for port in chain(captured.ports, repeat("")))
    nodes = tuple(fabric.nodes[name].at(place) for name, place in zip(captured.nodes, places, strict=False))
    least, most, what = {
        Shape.NODE: (1, 1, "one node"),
        Shape.PAIR: (2, 2, "a sender and a receiver"),
        Shape.SET: (1, len(fabric.nodes), "its nodes"),
    }[probe.shape]
    if not least <= len(nodes) <= most or len(set(captured.nodes)) < len(nodes):
        raise PlanError(f"{captured.source}: found {', '.join(captured.nodes) or 'no node'}, expected {what}")
    if probe.shape is Shape.PAIR:
        _check_network(fabric, captured)
    peer, members = nodes[1] if probe.shape is Shape.PAIR else None, nodes if probe.shape is Shape.SET else ()
    return Target(nodes[0], peer, MappingProxyType(dict(probe.options)), members)


def _check_network(fabric: Fabric, captured: CapturedOutput) -> None:
    """PlanError for a network that the two nodes are not in, where they have several and none is named, and for ports
    that no cable joins.
    """
    source, sink = captured.nodes
    leg, last_leg = (port or None for port in captured.ports)
    flow = Flow(source, sink, None, leg, last_leg, network=captured.network)
    try:
        NetworkChoice(fabric).choose(flow)
        if leg or last_leg:
            Routes(fabric).route(flow)
    except RoutingError as error:
        raise PlanError(f"{captured.source}: {error}") from None


def make_rounds(
    fabric: Fabric, probe: Probe, found: Sequence[CapturedOutput], first: int, known: Mapping[str, str],
    *, together: bool = False,
) -> tuple[tuple[Round, tuple[CapturedOutput, ...]], ...]:  # fmt: skip
    """The rounds that the outputs stand for, from number ``first`` on, each with its outputs.

    ``together``: all of them are of tests that ran at once, one round. Otherwise nobody knows so, and each is a round:
    tests of one round are held against what they leave each other. Several of the same nodes are repetitions.
    Tests carry the cohorts of their nodes, and the labels ``known`` of them all. PlanError as ``make_target``, or where
    there is no output.
    """
    if not found:
        raise PlanError("there is no output to ingest")
    groups = [tuple(found)] if together else [(each,) for each in found]
    count = Counter((each.nodes, each.ports, each.network) for each in found)
    seen: Counter[object] = Counter()
    rounds = []
    for number, own in enumerate(groups, first):
        made = _make_round(fabric, probe, own, number)
        who = (own[0].nodes, own[0].ports, own[0].network)
        seen[who] += 1
        repeated = {} if together or count[who] == 1 else {REPETITION: str(seen[who])}
        rounds.append((label_tests((made,), {**known, **repeated})[0], own))
    return tuple(rounds)


def _make_round(fabric: Fabric, probe: Probe, found: Sequence[CapturedOutput], number: int) -> Round:
    tests = []
    for index, each in enumerate(found):
        target = make_target(fabric, probe, each)
        key = make_test_id(number, probe.name, index, target)
        leg, peer_leg = each.ports
        sending = replace(probe.sending(target.options), network=each.network, leg=leg, peer_leg=peer_leg)
        tests.append(Test(key, probe.name, target, number, sending=sending))
    files = ", ".join(each.source for each in found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return Round(number, f"{probe.name} {INGESTED}", probe.name, tuple(tests), 0.0, f"read from {files}")


def read_result(probe: Probe, test: Test, output: Output, at: float, known: Mapping[str, str]) -> Result:
    """What the probe reads in an output, or why nothing of it can be trusted. ``at`` is when it was measured.

    An output that says otherwise than a ``known`` label gives no number.
    """
    try:
        (readings, facts), ending = read_captured(
            partial(read_output, probe, target=test.target), output, probe.closing
        )
        _refuse_contradiction(readings, known)
    except ProbeOutputError as error:
        stage = find_stage(error, (output,))
        return Result(test, (output,), failure=Failure(stage, str(error)[:500], test.target.node.id), started=at)
    marks = {POSSIBLY: "possible"} if ending is not None and ending.may_be_partial else {}
    measurements = (
        replace(reading, id=f"{test.id}#{index}", at=at, labels=add_labels(reading.labels, **marks))
        for index, reading in enumerate(readings)
    )
    return Result(test, (output,), tuple(measurements), facts, started=at)


def _refuse_contradiction(readings: Sequence[Reading], known: Mapping[str, str]) -> None:
    for labels in (dict(reading.labels) for reading in readings):
        for name, value in known.items():
            said = labels.get(f"{OWN}{name}")
            if said is not None:
                raise ProbeOutputError(f"{name}={said}", f"{name}={value}, as the labels say that were given with it")


def find_ending(probe: Probe, output: Output) -> Ending | None:
    """The ending of an output that may have been lost; None where it is whole, and where nothing can be read."""
    with suppress(ProbeOutputError):
        return read_captured(partial(read_output, probe), output, probe.closing)[1]
    return None


async def ingest(
    store: "Store", fabric: Fabric, probe: Probe, found: Sequence[CapturedOutput], *, choice: SessionChoice, at: float,
    known: Mapping[str, str] = NOTHING_KNOWN, together: bool = False,
) -> str:  # fmt: skip
    """Store the outputs as a session of its own; its id. ``at`` is when they were measured, UTC seconds.

    ``known`` are labels of the numbers that the outputs do not tell; ``together`` as in ``make_rounds``.
    """
    planned = make_rounds(fabric, probe, found, 1, known, together=together)
    rounds = [_read_round(each, probe, own, at, known) for each, own in planned]
    key = await store.create_session(make_new_session(fabric, choice, at), tuple(each for each, _ in rounds))
    await store_rounds(store.session(key), fabric, {probe.name: probe}, rounds, at)
    await store.session(key).end(at=at, complete=True)
    return key


async def ingest_into(
    store: "Store", key: str, fabric: Fabric, probe: Probe, found: Sequence[CapturedOutput], *, at: float,
    known: Mapping[str, str] = NOTHING_KNOWN, together: bool = False,
) -> None:  # fmt: skip
    """Add the outputs to a stored session, of which ``fabric`` is the topology, as rounds of their own."""
    session = store.session(key)
    before = session.describe()
    number = max((each.number for each in session.read_plan(fabric)), default=0) + 1
    planned = make_rounds(fabric, probe, found, number, known, together=together)
    rounds = [_read_round(each, probe, own, at, known) for each, own in planned]
    _refuse_repeats(session, fabric, [result for _, own in rounds for result in own], planned[0][0].stage, at)
    await session.claim()
    await session.extend_plan(tuple(each for each, _ in rounds))
    await store_rounds(session, fabric, {probe.name: probe}, rounds, at)
    ended = before.ended if before.ended is not None else at
    await session.end(at=ended, complete=before.state is SessionState.COMPLETE, because=before.because)


def _refuse_repeats(session: "SessionStore", fabric: Fabric, results: Sequence[Result], stage: str, at: float) -> None:
    """PlanError where an output is older than one of its test in the session, or lacks a number that this one has.

    What is brought in last counts in place of all that was measured before.
    """
    own = {make_test_key(each.test, stage): each for each in results}
    for closed in session.read_rounds(fabric, judged=False):
        for known in closed.results:
            again = own.get(make_test_key(known.test, closed.round.stage))
            if again is None:
                continue
            node, there = known.test.target.key, format_moment(known.started)
            if known.started > at:
                raise PlanError(
                    f"found outputs of {format_moment(at)}, and {node} of {there} in the session, expected later "
                    "ones, for they would count in its place: bring them into a session of their own, or give --at"
                )
            left = [] if again.failure is not None else sorted(_list_told(known) - _list_told(again))
            if left:
                more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
                raise PlanError(
                    f"found an output of {node} without {left[0]}{more}, which that of {there} in the session has, "
                    "expected all of it, for it would count in its place: bring it into a session of its own"
                )


def _list_told(result: Result) -> set[str]:
    """The metrics that an output told, each with its labels; a fact that is gone is held against its declaration."""
    told = ((each.metric, (pair for pair in each.labels if pair[0] != POSSIBLY)) for each in result.measurements)
    return {" ".join((metric, *(f"{name}={value}" for name, value in labels))) for metric, labels in told}


def _read_round(
    planned: Round, probe: Probe, found: Sequence[CapturedOutput], at: float, known: Mapping[str, str]
) -> tuple[Round, tuple[Result, ...]]:
    """The round with what its outputs tell: its tests carry the labels that all numbers of an output have.

    So an output that was measured under other conditions repeats no earlier one of its node.
    """
    results = []
    for test, each in zip(planned.tests, found, strict=True):
        result = read_result(probe, test, each.output, at, known)
        told = [{pair for pair in reading.labels if pair[0] != POSSIBLY} for reading in result.measurements]
        labels = tuple(sorted(set(test.target.labels).union(*[set.intersection(*told)] if told else [])))
        results.append(replace(result, test=replace(test, target=replace(test.target, labels=labels))))
    return replace(planned, tests=tuple(each.test for each in results)), tuple(results)


async def store_rounds(
    session: "SessionStore", fabric: Fabric, probes: Mapping[str, Probe],
    rounds: Sequence[tuple[Round, tuple[Result, ...]]], at: float,
) -> None:  # fmt: skip
    """Judge planned rounds with their results, and store them with them; ``at`` is when they were measured."""
    context, judged_by = make_judging_context(fabric, probes), name_judgement(fabric)
    for each, results in rounds:
        attempt = await session.begin_round(each.number, at=at)
        closed = ClosedRound(each, results, CloseReason.COMPLETE, at, at)
        verdicts = judge_round(context, closed)
        await session.close_round(replace(closed, verdicts=verdicts, attempt=attempt, judged_by=judged_by))
