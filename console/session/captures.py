"""Outputs that were captured elsewhere: read by their probe, and planned as the rounds that they stand for.

Outputs of one test are repetitions of each other: none hides another, and each is judged. Outputs between nodes are
rounds of their own: flows that ran one after the other are held against the whole of their links, each by itself.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from types import MappingProxyType

from benchconsole.console.view.run_view import INGESTED
from benchconsole.console.view.wording import format_moment
from benchconsole.probes.api import Output, Probe, Shape, Target
from benchconsole.probes.model.errors import PlanError, ProbeOutputError
from benchconsole.probes.model.labels import ASKED, OWN
from benchconsole.probes.model.measuring import Fact, Failure, Labels, Reading, Result, Round, Swept, Test
from benchconsole.probes.model.repeats import TestKey, make_test_key
from benchconsole.probes.planning.plan_rounds import make_test_id
from benchconsole.probes.planning.sweeps import REPETITION, label_tests
from benchconsole.probes.plugins.captured_output import Ending, read_captured
from benchconsole.probes.plugins.probe_output import find_stage, read_output
from benchconsole.probes.readers.readings import add_labels
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.sweep import CLIENTS
from benchconsole.topology.routing.network_choice import NetworkChoice
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.units import counted

POSSIBLY = "partial"
"""The label of numbers of an output that may lack its end."""


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
    """The target of the output. PlanError for nodes that the fabric lacks, or too few or many for the probe."""
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


@dataclass(frozen=True, slots=True)
class GivenConditions:
    """The facts of outputs besides those that they tell. ``at`` is when they were measured (UTC seconds).

    ``labels`` and ``cohorts`` hold for all their numbers. ``point`` has axes and values of a sweep, empty for none;
    ``stage`` names what they belong to, empty for their probe. ``at_once``: they ran together. ``is_dated``: somebody
    said ``at``, so that what was measured earlier is replaced; else nobody knows which came first.
    """

    at: float
    labels: Mapping[str, str] = field(default_factory=dict)
    cohorts: Mapping[str, str] = field(default_factory=dict)
    point: Labels = ()
    stage: str = ""
    at_once: bool = False
    is_dated: bool = False

    @property
    def shares_load(self) -> bool:
        """Whether the point says how many ran at once."""
        return any(name == CLIENTS for name, _ in self.point)

    def name_stage(self, probe: Probe) -> str:
        """The stage of outputs of ``probe``: ``ior over tasks ingested``."""
        axes = ", ".join(name for name, _ in self.point)
        return " ".join(filter(None, (self.stage or probe.name, axes and f"over {axes}", INGESTED)))


@dataclass(frozen=True, slots=True)
class ReadCapture:
    """One output with what its probe reads in it: what it is of, readings and facts, or why nothing can be trusted.

    ``target`` carries the labels that all its numbers have: what was measured under other conditions is another test.
    """

    captured: CapturedOutput
    target: Target
    readings: tuple[Reading, ...] = ()
    facts: tuple[Fact, ...] = ()
    failure: Failure | None = None


def read_captures(
    fabric: Fabric, probe: Probe, found: Sequence[CapturedOutput], given: GivenConditions
) -> list[ReadCapture]:
    """The outputs as the probe reads them, with the cohorts of their nodes; PlanError as ``make_target``."""
    if not found:
        raise PlanError("there is no output to ingest")
    tests = tuple(Test("", probe.name, make_target(fabric, probe, each), 1) for each in found)
    swept = Swept(1, given.point) if given.point else None
    common = {**given.cohorts, **given.labels}
    (labelled,) = label_tests((Round(1, "", probe.name, tests, 0.0, "", swept=swept),), common)
    asked = {**common, **dict(given.point)}
    return [_read(probe, each, test.target, asked) for each, test in zip(found, labelled.tests, strict=True)]


def _read(probe: Probe, captured: CapturedOutput, target: Target, asked: Mapping[str, str]) -> ReadCapture:
    """An output that says otherwise than what was ``asked`` for gives no number."""
    output = captured.output
    try:
        (readings, facts), ending = read_captured(partial(read_output, probe, target=target), output, probe.closing)
        _refuse_contradiction(readings, asked)
    except ProbeOutputError as error:
        failure = Failure(find_stage(error, (output,)), str(error)[:500], target.node.id)
        return ReadCapture(captured, target, failure=failure)
    told = [set(reading.labels) for reading in readings]
    labels = tuple(sorted(set(target.labels).union(*[set.intersection(*told)] if told else [])))
    marks = {POSSIBLY: "possible"} if ending is not None and ending.may_be_partial else {}
    marked = tuple(replace(reading, labels=add_labels(reading.labels, **marks)) for reading in readings)
    return ReadCapture(captured, replace(target, labels=labels), marked, tuple(facts))


def _refuse_contradiction(readings: Sequence[Reading], asked: Mapping[str, str]) -> None:
    for labels in (dict(reading.labels) for reading in readings):
        for name, value in asked.items():
            said = labels.get(f"{OWN}{name}")
            if said is None and f"{ASKED}{name}" in labels:
                said = labels[name]
            if said is not None:
                raise ProbeOutputError(f"{name}={said}", f"{name}={value}, as the labels say that were given with it")


def find_ending(probe: Probe, output: Output) -> Ending | None:
    """The ending of an output that may have been lost; None where it is whole, and where nothing can be read."""
    with suppress(ProbeOutputError):
        return read_captured(partial(read_output, probe), output, probe.closing)[1]
    return None


# -- rounds


@dataclass(slots=True)
class EarlierCaptures:
    """The rounds that a session has already, with the newest result of each test, those of one test together."""

    rounds: Sequence[Round] = ()
    _results: dict[TestKey, dict[str, Result]] = field(default_factory=dict)

    def add(self, result: Result, stage: str) -> None:
        """Take in a result; one of a repeat replaces what it repeats."""
        turn = dict(result.test.target.labels).get(REPETITION, "1")
        self._results.setdefault(_make_key(result.test, stage), {})[turn] = result

    def find(self, test: Test, stage: str) -> Mapping[str, Result]:
        """The results of the same test, by their repetition."""
        return self._results.get(_make_key(test, stage), {})

    @property
    def next_number(self) -> int:
        return max((each.number for each in self.rounds), default=0) + 1

    def find_sweep(self, stage: str, point: Labels) -> int | None:
        """The sweep of these axes in this stage; None where this is its first point."""
        axes = [name for name, _ in point]
        for each in self.rounds:
            if each.stage == stage and each.swept is not None and [name for name, _ in each.swept.point] == axes:
                return each.swept.sweep
        return None


def _make_key(test: Test, stage: str) -> TestKey:
    """The key of a test whichever repetition of it."""
    labels = tuple(pair for pair in test.target.labels if pair[0] != REPETITION)
    return make_test_key(replace(test, target=replace(test.target, labels=labels)), stage)


@dataclass(frozen=True, slots=True)
class CaptureBatch:
    """The rounds of outputs that are brought in together, each with its results; ``beside``: the results of tests that
    the session has other results of, which count as well, each with these.
    """

    rounds: tuple[tuple[Round, tuple[Result, ...]], ...]
    beside: tuple[tuple[Result, tuple[Result, ...]], ...] = ()


def plan_captures(
    probe: Probe, read: Sequence[ReadCapture], given: GivenConditions, earlier: EarlierCaptures
) -> CaptureBatch:
    """The rounds that outputs stand for, numbered from the first that is free.

    An output of a test that the session knows replaces the one that was measured before, where ``given`` says when;
    else it is a repetition of it, and both count. PlanError for one that was measured before the known one, for one
    that lacks numbers of what it would replace, for an output that comes twice, and for outputs that are not as many
    as the point says ran at once.
    """
    if given.shares_load and str(len(read)) != dict(given.point)[CLIENTS]:
        raise PlanError(
            f"found {counted(len(read), 'output')} with {CLIENTS}={dict(given.point)[CLIENTS]}, expected as many: "
            "they are of tests that ran at once"
        )
    stage = given.name_stage(probe)
    is_one = given.at_once or given.shares_load
    made = [_make_result(probe, each, given.at) for each in read]
    before = [tuple(earlier.find(result.test, stage).values()) for result in made]
    turns, beside = [], []
    for result, others in zip(made, before, strict=True):
        known = earlier.find(result.test, stage)
        turn = _find_turn(result, known, given)
        unlike = others if is_one else tuple(known.values())  # flows at once do not contradict each other
        if turn not in known and unlike:
            beside.append((result, unlike))
        earlier.add(_repeat(result, turn), stage)
        turns.append(turn)
    if is_one:
        turns = [max(turns, key=int)] * len(turns)
    files = _name_files([each.captured for each in read])
    rounds: list[tuple[Round, tuple[Result, ...]]] = []
    first = earlier.next_number
    sweep = earlier.find_sweep(stage, given.point) if given.point else None
    for turn, own in _part(read, turns, is_one):
        number = first + len(rounds)
        repetition = int(turn)
        swept = Swept(sweep or first, given.point, repetition, repetition)
        results = tuple(
            _number(_repeat(_make_result(probe, each, given.at), turn), number, index) for index, each in enumerate(own)
        )
        tests = tuple(each.test for each in results)
        planned = Round(number, stage, probe.name, tests, 0.0, f"read from {files}")
        rounds.append((replace(planned, swept=swept if given.point or repetition > 1 else None), results))
    return CaptureBatch(tuple(rounds), tuple(beside))


def _part(
    read: Sequence[ReadCapture], turns: Sequence[str], is_one: bool
) -> Iterator[tuple[str, Sequence[ReadCapture]]]:
    """The outputs of each round with their repetition: all together where they are of one, else each by itself."""
    if is_one:
        yield turns[0], read
        return
    yield from ((turn, [each]) for turn, each in sorted(zip(turns, read, strict=True), key=lambda pair: int(pair[0])))


def _name_files(found: Sequence[CapturedOutput]) -> str:
    files = ", ".join(each.source for each in found[:5])
    return files + (f" and {len(found) - 5} more" if len(found) > 5 else "")


def _make_result(probe: Probe, read: ReadCapture, at: float) -> Result:
    leg, peer_leg = read.captured.ports
    sending = replace(probe.sending(read.target.options), network=read.captured.network, leg=leg, peer_leg=peer_leg)
    test = Test("", probe.name, read.target, 1, sending=sending)
    readings = tuple(replace(reading, at=at) for reading in read.readings)
    return Result(test, (read.captured.output,), readings, read.facts, read.failure, started=at)


def _repeat(result: Result, turn: str) -> Result:
    """``result`` with the label of its repetition; as it is where it is the first."""
    if turn == "1":
        return result
    target = result.test.target
    marked = replace(target, labels=add_labels(target.labels, **{REPETITION: turn}))
    readings = tuple(replace(r, labels=add_labels(r.labels, **{REPETITION: turn})) for r in result.measurements)
    return replace(result, test=replace(result.test, target=marked), measurements=readings)


def _number(result: Result, number: int, index: int) -> Result:
    """``result`` as the test with this place in the plan."""
    test = replace(result.test, id=make_test_id(number, result.test.probe, index, result.test.target), round=number)
    readings = tuple(replace(reading, id=f"{test.id}#{place}") for place, reading in enumerate(result.measurements))
    return replace(result, test=test, measurements=readings)


def _find_turn(result: Result, known: Mapping[str, Result], given: GivenConditions) -> str:
    """Which repetition of its test ``result`` is; that of the known one where it replaces it."""
    for each in known.values():
        _refuse_same(result, each)
    if len(known) == 1 and given.is_dated:
        ((turn, before),) = known.items()
        if before.started > given.at:
            raise PlanError(
                f"found outputs of {format_moment(given.at)}, and {before.test.target.key} of "
                f"{format_moment(before.started)} in the session, expected later ones, for they would count in its "
                "place: bring them into a session of their own, or give another --at"
            )
        if before.started < given.at:
            _refuse_lack(result, before)
            return turn
    return str(max(map(int, known), default=0) + 1)


def _refuse_same(result: Result, known: Result) -> None:
    """PlanError for an output that is there already: counted twice it would look like two measurements."""
    (own,), others = result.outputs, known.outputs
    if any((own.stdout, own.stderr) == (other.stdout, other.stderr) for other in others):
        raise PlanError(
            f"found the output of {result.test.target.key} of {format_moment(known.started)} a second time, "
            "expected each output once"
        )


def _refuse_lack(result: Result, before: Result) -> None:
    left = [] if result.failure is not None else sorted(_list_told(before) - _list_told(result))
    if left:
        more = f" and {len(left) - 1:,} more" if len(left) > 1 else ""
        raise PlanError(
            f"found an output of {before.test.target.key} without {left[0]}{more}, which that of "
            f"{format_moment(before.started)} in the session has, expected all of it, for it would count in its place: "
            "bring it into a session of its own"
        )


def _list_told(result: Result) -> set[str]:
    """The metrics that an output told, each with its labels; a fact that is gone is held against its declaration."""
    told = ((each.metric, drop_marks(each.labels)) for each in result.measurements)
    return {" ".join((metric, *(f"{name}={value}" for name, value in labels))) for metric, labels in told}


def drop_marks(labels: Iterable[tuple[str, str]]) -> Labels:
    """The labels of a number without those of this output alone."""
    return tuple(pair for pair in labels if pair[0] not in (POSSIBLY, REPETITION))
