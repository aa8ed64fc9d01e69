"""The vocabulary of judging, all frozen: a closed round, the verdict on one subject, the finding on one cause."""

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from benchconsole.probes.model.measuring import Labels, Result, Round
from benchconsole.topology.copying import replace
from benchconsole.topology.units import Shown, Unit

if TYPE_CHECKING:
    from benchconsole.probes.model.alike_passes import AlikePasses


class Level(StrEnum):
    """How a subject stands. ``severity`` orders them, worst highest."""

    PASS = "pass"
    WATCH = "watch"
    FAIL = "fail"
    UNKNOWN = "unknown"

    @property
    def severity(self) -> int:
        """pass 0, unknown 1, watch 2, fail 3."""
        return (Level.PASS, Level.UNKNOWN, Level.WATCH, Level.FAIL).index(self)


class Yardstick(StrEnum):
    """Where an expected value comes from."""

    CRITERION = "criterion"
    HARDWARE = "hardware"
    CAPACITY = "capacity"


class Verdict(NamedTuple):
    """One subject held against one yardstick. A tuple: a session has hundreds of thousands, which are made fast so.

    ``subject`` is a node, a pair ``a>b`` or the name of a bundle; ``nodes`` are the nodes it
    speaks of. ``value`` and ``expected`` are in ``unit`` (None where there is no number);
    ``text`` and ``expected_text`` carry them when they are words. ``required`` is the bound that
    decided. ``least`` is the low end of the expectation where a hash decides (None elsewhere). ``limiting`` names the
    element that bounds the expectation. ``evidence`` are ids of measurements.
    """

    test: str
    round: int
    probe: str
    subject: str
    nodes: tuple[str, ...]
    metric: str
    labels: Labels
    level: Level
    kind: Yardstick
    because: str
    unit: Unit | None = None
    shown: Shown = Shown.PLAIN
    value: float | None = None
    expected: float | None = None
    required: float | None = None
    least: float | None = None
    text: str = ""
    expected_text: str = ""
    source: str = ""
    limiting: str = ""
    evidence: tuple[str, ...] = ()

    @property
    def share(self) -> float | None:
        """value / expected, where both are numbers."""
        if self.value is None or not self.expected:
            return None
        return self.value / self.expected


class Suspect(StrEnum):
    """The kinds of element that a finding may name."""

    NODE = "node"
    NIC = "nic"
    LEG = "bond leg"
    LINK = "link"
    MEMBER = "LAG member"
    LAG = "lag"
    MLAG = "MLAG pair"
    SWITCH = "switch"
    GATEWAY = "gateway"
    VLAN = "VLAN path"
    STORAGE = "storage"
    SYSTEM = "storage system"
    SET = "set of nodes"
    FABRIC = "fabric"


_OF_A_NODE = (Suspect.NODE, Suspect.NIC, Suspect.STORAGE)


class Confidence(StrEnum):
    """How sure a finding is."""

    CERTAIN = "certain"
    LIKELY = "likely"
    POSSIBLE = "possible"


class Finding(Struct, frozen=True):
    """One cause, named once, with everything it drags down counted under it. Goes to JSON and back unchanged.

    ``element`` is the id of the node, link, switch, VLAN or storage system, of a set of nodes its short form; ``where``
    says it in words (``leaf1 to spine1``, ``n3 out``). ``what`` is the headline with both numbers; ``means`` the
    consequence, ``cannot_tell`` what the measurements leave open, ``do`` the next step.
    ``nodes`` are those that are affected, ``nodes_at`` those whose own fault it is (one, or those that are low by
    themselves: empty for links between switches). ``links`` are ids of the links whose state it tells;
    ``members_up`` is how many members of a LAG still carry, None where no whole number of them explains it.
    ``value`` and ``expected`` are in ``unit``. ``metrics`` are those that are low, sorted, where nodes are at fault by
    what was measured of themselves: two such findings on the same nodes are of two causes.
    """

    suspect: Suspect
    element: str
    where: str
    what: str
    level: Level
    confidence: Confidence
    nodes: tuple[str, ...]
    tests: tuple[str, ...]
    evidence: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    rules_out: tuple[str, ...] = ()
    cannot_tell: str = ""
    means: str = ""
    do: str = ""
    value: float | None = None
    expected: float | None = None
    unit: Unit | None = None
    probe: str = ""
    nodes_at: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    members_up: int | None = None
    metrics: tuple[str, ...] = ()

    @property
    def links_at(self) -> tuple[str, ...]:
        """Links whose own fault it is: none where it is a node's."""
        return () if self.nodes_at else self.links

    def is_of(self, node: str) -> bool:
        """Whether the fault is one of this node itself, not of what it shares with others."""
        return node in self.nodes_at or (self.suspect in _OF_A_NODE and node in self.nodes)

    @property
    def key(self) -> str:
        """The identity of the cause: the same while numbers and evidence change, unique within a session."""
        return f"{self.suspect}/{self.element}/{self.where}/{self.probe}"


class CloseReason(StrEnum):
    """Why a round ended. ``STOPPED``: a rule ended it for the cluster's sake."""

    COMPLETE = "all answered"
    STOPPED = "stopped"


class ClosedRound(Struct, frozen=True):
    """A round with its results; only now are there peers to compare with. ``because`` says why it was stopped.

    ``verdicts`` come when it is judged, under the name ``judged_by``. ``attempt`` is its number in the store.
    ``findings`` are those of the whole session so far, where it is told as an event. ``passed`` are the other verdicts
    of a large session; the measurements that they are of are not among those of ``results``. ``beside``: other probes,
    whose tests ran at the same time.
    """

    round: Round
    results: tuple[Result, ...]
    reason: CloseReason
    started: float
    ended: float
    because: str = ""
    verdicts: tuple[Verdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    attempt: int = 1
    judged_by: str = ""
    passed: "tuple[AlikePasses, ...]" = ()
    beside: tuple[str, ...] = ()

    def part_by_probe(self) -> "tuple[ClosedRound, ...]":
        """The round as one for each of its probes, each with its own tests, results and verdicts."""
        return tuple(map(self._take_part, self.round.probes)) if self.round.is_mixed else (self,)

    def _take_part(self, probe: str) -> "ClosedRound":
        tests = tuple(test for test in self.round.tests if test.probe == probe)
        return replace(
            self,
            round=replace(self.round, probe=probe, tests=tests),
            results=tuple(result for result in self.results if result.test.probe == probe),
            verdicts=tuple(verdict for verdict in self.verdicts if verdict.probe == probe),
            beside=tuple(name for name in self.round.probes if name != probe),
        )
