"""The vocabulary of measuring: targets, outputs, readings, measurements, failures, tests, rounds.

All frozen; all values in base units.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from types import MappingProxyType
from typing import ClassVar

from msgspec import Struct

from benchconsole.probes.model.sending import ONE_STREAM, Directions, Sending
from benchconsole.topology.model.fabric import Comparator, Direction, Flow, Node, NodeId
from benchconsole.topology.model.sweep import Ending
from benchconsole.topology.units import RATES, Shown, Unit

Labels = tuple[tuple[str, str], ...]
"""Names and values that tell numbers of one metric apart (direction, pattern, block size); sorted."""


def labels(**values: object) -> Labels:
    """Labels from keywords, sorted by name, values as text."""
    return tuple(sorted((name, str(value)) for name, value in values.items()))


class Against(StrEnum):
    """The reference that a metric is held against where the description of the fabric has no criterion for it."""

    FABRIC = "fabric"


class Metric(Struct, frozen=True):
    """A declared measurement: its name begins with its probe's (``iperf3.throughput``); base unit, how it is shown.

    ``against`` FABRIC: byte/s of payload that arrived, held against what the links allow the flows that ran together.
    Of several readings of one test the first of each direction counts. In a test that sends both ways the label
    ``direction=in`` marks what the peer sent (``INWARD``).

    ``sense``: the bound that means something, AT_LEAST where more is better. None: as its unit tells, and either
    where that tells nothing.
    """

    name: str
    unit: Unit
    summary: str
    shown: Shown = Shown.PLAIN
    against: Against | None = None
    sense: Comparator | None = None

    @property
    def meant(self) -> Comparator | None:
        """The only bound that a criterion on it may set; None where either may be meant."""
        return self.sense or _SENSE.get(self.unit)


_SENSE = MappingProxyType(
    {
        Unit.SECOND: Comparator.AT_MOST,
        **dict.fromkeys(RATES, Comparator.AT_LEAST),
    }
)


INWARD = ("direction", "in")
"""The label of a reading of what came from the peer to the node."""


class Reading(Struct, frozen=True):
    """One number that a parser read, with the text it was read from.

    The end of its test makes it a measurement: only then it has an ``id`` and a time ``at`` (UTC, seconds since 1970).
    """

    metric: str
    value: float
    unit: Unit
    labels: Labels = ()
    raw: str = ""
    id: str = ""
    at: float = 0.0


class Fact(Struct, frozen=True):
    """One property that a node reports; ``unit`` is None for text."""

    fact: str
    value: str | float
    unit: Unit | None = None
    labels: Labels = ()


class Output(Struct, frozen=True):
    """The output of a command, as bytes; ``stdout`` and ``stderr`` are cut where ``truncated``.

    ``argv`` is the command as the probe gave it, without what surrounds it on the node.
    """

    argv: tuple[str, ...]
    stdout: bytes = b""
    stderr: bytes = b""
    exit_status: int | None = 0
    signal: str | None = None
    seconds: float = 0.0
    truncated: bool = False
    node: str = ""

    @property
    def text(self) -> str:
        """Standard output decoded, without a byte-order mark; bytes that are not UTF-8 become U+FFFD."""
        return self.stdout.decode("utf-8-sig", errors="replace")

    @property
    def error_text(self) -> str:
        return self.stderr.decode("utf-8-sig", errors="replace")


class KeptOutputs(Sequence[Output], ABC):
    """Outputs that are kept elsewhere and fetched when they are read; their number is known without."""

    __slots__ = ()

    @property
    @abstractmethod
    def ran(self) -> float:
        """Seconds that the longest of the commands took; known without fetching."""


class Target(Struct, frozen=True):
    """The nodes and options of one test: ``node`` alone, ``node`` sending to ``peer``, or all ``members`` at once.

    ``options`` are the stage's options after the probe's own defaults; a design may set some of them
    for one test (its source port). Of a set ``node`` is the first member, where its launcher runs.
    ``labels`` go into every measurement: the cohorts of its nodes, and its point of a sweep.
    """

    node: Node
    peer: Node | None = None
    options: Mapping[str, str | int | float] = MappingProxyType({})
    members: tuple[Node, ...] = ()
    labels: Labels = ()

    @property
    def key(self) -> str:
        """``n1``, ``n1>n2`` or ``n[1-8]``: stable over sessions."""
        if len(self.members) > 1:
            from benchconsole.topology.selection import fold  # ClusterShell is slow to load, and sets are few

            return fold(member.id for member in self.members)
        return self.node.id if self.peer is None else f"{self.node.id}>{self.peer.id}"

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.members or ((self.node,) if self.peer is None else (self.node, self.peer))


class Part(StrEnum):
    """A part of a node that a test may need for itself while it runs."""

    CPU = "cpu"
    MEMORY = "memory"
    DISK = "disk"
    NIC = "nic"


class Demands(Struct, frozen=True):
    """The resources that one test takes besides the links on its way.

    ``alone`` are parts that no other test of the same round may use on any of its nodes.
    ``shared`` are amounts that it takes of named budgets of the whole run: bytes of
    ``filesystem:NAME``, 1 of ``licence:NAME``. ``writes`` is bytes that it writes at least, and removes again: one of
    a fixed time writes over its files until that is over.
    """

    alone: frozenset[Part] = frozenset()
    shared: Mapping[str, float] = MappingProxyType({})
    writes: float = 0.0


class TestOutcome(StrEnum):
    """The outcome of a test that ended: it gave numbers or facts, or at which kind of stage it failed."""

    __test__ = False  # pytest collects by name

    TESTED = "tested"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    SKIPPED = "skipped"


class FailedAt(StrEnum):
    """The stage at which a test failed. The first four mean that the node could not be asked."""

    UNREACHABLE = "unreachable"
    HOST_KEY_UNKNOWN = "host key unknown"
    HOST_KEY_CHANGED = "host key changed"
    LOGIN = "login refused"
    LOST = "connection lost"
    MISSING_TOOL = "tool missing"
    TIMEOUT = "timed out"
    FLOODED = "too much output"
    TOOL = "tool failed"
    OUTPUT = "output not understood"
    PROBE = "probe raised"
    KILLED = "killed"
    REBOOTED = "node rebooted"
    CANCELLED = "cancelled"
    HELD = "held back"
    NO_PASSWORD = "held back for a password"
    IN_USE = "in use by others"
    REFUSED = "refused as unsafe"
    SKIPPED = "not needed any more"

    @property
    def outcome(self) -> TestOutcome:
        """UNREACHABLE where the node could not be asked at all, SKIPPED where a known reason kept it from starting."""
        return _OUTCOMES.get(self, TestOutcome.FAILED)

    @property
    def means_unreachable(self) -> bool:
        """Whether the node could not be asked at all, as against asked without an answer."""
        return self.outcome is TestOutcome.UNREACHABLE


_OUTCOMES = MappingProxyType(
    {
        FailedAt.UNREACHABLE: TestOutcome.UNREACHABLE,
        FailedAt.HOST_KEY_UNKNOWN: TestOutcome.UNREACHABLE,
        FailedAt.HOST_KEY_CHANGED: TestOutcome.UNREACHABLE,
        FailedAt.LOGIN: TestOutcome.UNREACHABLE,
        FailedAt.MISSING_TOOL: TestOutcome.SKIPPED,
        FailedAt.CANCELLED: TestOutcome.SKIPPED,
        FailedAt.HELD: TestOutcome.SKIPPED,
        FailedAt.NO_PASSWORD: TestOutcome.SKIPPED,
        FailedAt.IN_USE: TestOutcome.SKIPPED,
        FailedAt.REFUSED: TestOutcome.SKIPPED,
        FailedAt.SKIPPED: TestOutcome.SKIPPED,
    }
)
"""Every other stage is of a test that was started and gave no number."""


class Failure(Struct, frozen=True):
    """The failure of a test: its stage, its node, and what was seen."""

    stage: FailedAt
    detail: str
    node: NodeId


class Test(Struct, frozen=True):
    """One probe on one target within one round. ``id`` is unique within a plan.

    ``bundle`` names the element that this test loads together with the other tests of its
    round that carry the same name (empty: the test stands alone); such tests are judged by
    their sum. ``sending`` is what a test between two nodes sends; it means nothing without a peer.
    """

    __test__: ClassVar[bool] = False  # pytest collects by name, and this is the field's word

    id: str
    probe: str
    target: Target
    round: int
    bundle: str = ""
    sending: Sending = ONE_STREAM

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows that it sends between its nodes: one, two where it sends both ways, none without a peer."""
        node, peer = self.target.node, self.target.peer
        if peer is None:
            return ()
        directions, rate, sending = self.sending.directions, self.sending.rate, self.sending
        ports = (sending.leg or None, sending.peer_leg or None)
        out = Flow(node.id, peer.id, rate, *ports, network=sending.network)
        forward = () if directions is Directions.REVERSED else (out,)
        return forward if directions is Directions.FORWARD else (*forward, out.turned())


FULL = 0.92
"""Share of its payload capacity from which a link counts as filled: less would hide a lost member."""


class Bundle(Struct, frozen=True):
    """The element that tests of a round load together: one directed link, or several that share the load.

    ``name`` is what the tests carry; ``elements`` are the directed links that are meant to fill;
    ``fill`` is the share of their payload capacity that the flows can load by the description.
    Below FULL a loss within what is left free cannot be seen.
    """

    name: str
    elements: tuple[Direction, ...]
    fill: float = 1.0


class SetValue(Struct, frozen=True):
    """The commands that set the ``value`` of an axis on ``nodes`` (a node set) before a round, and back afterwards.

    ``run`` and ``undo`` are argument lists; ``timeout`` is seconds for each node.
    """

    axis: str
    value: str
    run: tuple[str, ...]
    undo: tuple[str, ...]
    nodes: str
    sudo: bool = False
    timeout: float = 60.0


class LeftOutPoint(Struct, frozen=True):
    """A point of a sweep that is not planned: it takes ``tests`` at once, and at most ``most`` may run."""

    point: Labels
    tests: int
    most: int


class Swept(Struct, frozen=True):
    """Which point of a sweep a round measures: ``point`` has axes and values in the order of the file.

    ``sweep`` is what rounds of one sweep have in common, and those of no other of the session: the number
    of its first round. ``order`` says in words how its points follow each other; ``ending`` when it ends
    early, None where nothing but the last point ends it. ``steps`` are values that are set on nodes before it,
    ``left_out`` points of the sweep that are not planned.
    """

    sweep: int
    point: Labels = ()
    repetition: int = 1
    repeat: int = 1
    order: str = ""
    ending: Ending | None = None
    steps: tuple[SetValue, ...] = ()
    left_out: tuple[LeftOutPoint, ...] = ()


_AND = "+"
"""Joins the probes of a round; no name of a probe has it."""


def join_probes(names: Iterable[str]) -> str:
    """The name of the probe of a round whose tests are of several probes."""
    return _AND.join(dict.fromkeys(names))


class Round(Struct, frozen=True):
    """Tests that run together. ``because`` says in words what the round is for, ``swept`` its point of a sweep.

    ``probe`` is that of all its tests; a round that ``is_mixed`` has tests of several, whose names are joined
    (``join_probes``). It is run, repeated and resumed as a whole: each of its tests is measured beside all others.
    """

    number: int
    stage: str
    probe: str
    tests: tuple[Test, ...]
    seconds: float
    because: str
    bundles: tuple[Bundle, ...] = ()
    swept: Swept | None = None

    @property
    def is_mixed(self) -> bool:
        """Whether its tests are of several probes."""
        return _AND in self.probe

    @property
    def is_resumable(self) -> bool:
        """Whether it may be finished later by running only the tests that are missing, where it was interrupted.

        False where tests load the fabric together: the rest alone would find it emptier than the round meant it to be.
        """
        alone = (not test.bundle and test.target.peer is None and not test.target.members for test in self.tests)
        return not (self.bundles or self.is_mixed) and all(alone)

    @property
    def probes(self) -> tuple[str, ...]:
        """The probes of its tests."""
        return tuple(self.probe.split(_AND))

    @property
    def firsts(self) -> tuple[Test, ...]:
        """The first test of each of its probes, whose tests have one shape and one storage system."""
        return tuple({test.probe: test for test in reversed(self.tests)}.values()) if self.is_mixed else self.tests[:1]

    @property
    def sent(self) -> tuple[tuple[Test, Flow], ...]:
        """The flows that this round sends at once, in order, each with its test; held to the rate of its test."""
        return tuple((test, flow) for test in self.tests for flow in test.flows)

    @property
    def flows(self) -> tuple[Flow, ...]:
        """The flows of ``sent``."""
        return tuple(flow for test in self.tests for flow in test.flows)


class Result(Struct, frozen=True):
    """Everything one test gave: outputs always, then measurements and facts, or a failure.

    ``started`` is wall time, ``seconds`` is not: it is counted by a clock that nobody sets. ``drift`` is by how
    many seconds the wall clock was set meanwhile; 0 below 2 s, so that anything else marks the result.
    """

    test: Test
    outputs: Sequence[Output] = ()
    measurements: Sequence[Reading] = ()
    facts: Sequence[Fact] = ()
    failure: Failure | None = None
    started: float = 0.0
    seconds: float = 0.0
    drift: float = 0.0

    @property
    def outcome(self) -> TestOutcome:
        """Whether it gave a result, and if not, why."""
        return TestOutcome.TESTED if self.failure is None else self.failure.stage.outcome

    @property
    def ended(self) -> float:
        """The moment of its end (UTC seconds), by the clock that nobody sets."""
        return self.started + self.seconds

    @property
    def ran(self) -> float:
        """Seconds that the longest of its commands took, 0 without one."""
        if isinstance(self.outputs, KeptOutputs):
            return self.outputs.ran
        return max((output.seconds for output in self.outputs), default=0.0)


class Proof(Struct, frozen=True):
    """The result of searching a node when a run is over: whether anything of the run is left on it.

    ``left`` names processes and paths that live on, in words; ``ended`` counts what had to be
    ended or removed first. A node that could not be ``asked`` proves nothing; ``detail`` says why.
    """

    node: NodeId
    asked: bool
    left: tuple[str, ...] = ()
    ended: int = 0
    detail: str = ""

    @property
    def clean(self) -> bool:
        return self.asked and not self.left
