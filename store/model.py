"""Owns what is asked of the store and what it answers: sessions, stored rounds, measurements.

All frozen. Refuses to know rows (``store.rows``) and SQL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from probes.judging.verdict import Level, Verdict
from probes.model import ClosedRound, FailedAt, Labels, Proof, Result, Round
from topology.units import Unit

Options = Mapping[str, str | int | float]


class SessionState(StrEnum):
    """How a session stands. Interrupted: not run to its end, and nobody is at it."""

    RUNNING = "running"
    COMPLETE = "complete"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class NewSession:
    """What a session is, before anything of it has run.

    ``topology`` is the text of the file and ``topology_path`` where it was read; ``selection``
    the nodes as they were asked for (empty: all); ``options`` whatever else was chosen for this
    session; ``program`` the version of this program; ``started`` UTC seconds since 1970.
    """

    topology: str
    topology_path: str
    fabric: str
    suite: str
    started: float
    label: str = ""
    selection: str = ""
    options: Options = field(default_factory=lambda: MappingProxyType({}))
    simulated: bool = False
    program: str = ""


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """One line of the list of sessions.

    ``planned`` counts tests; ``tested``, ``failed``, ``unreachable`` and ``skipped`` (cancelled,
    or of a closed round without a result) count them by the last attempt at their round, and
    what is missing to ``planned`` is still to come. ``fails``, ``watches`` and ``unknowns`` count
    verdicts of the last judgement of those attempts. ``ended`` is None while running and when
    the console died; ``because`` says why it ended.
    """

    id: str
    label: str
    fabric: str
    suite: str
    simulated: bool
    started: float
    ended: float | None
    state: SessionState
    because: str
    rounds: int
    rounds_closed: int
    planned: int
    tested: int
    failed: int
    unreachable: int
    skipped: int
    fails: int
    watches: int
    unknowns: int
    passes: int


@dataclass(frozen=True, slots=True)
class StoredSession:
    """A session as it was created, and how it stands; its rounds come from ``plan`` and ``rounds``."""

    id: str
    new: NewSession
    state: SessionState
    ended: float | None
    because: str
    rounds: int
    tests: int


@dataclass(frozen=True, slots=True)
class StoredRound:
    """A closed round with the verdicts of its last judgement; ``judged_by`` names that judgement."""

    closed: ClosedRound
    verdicts: tuple[Verdict, ...]
    attempt: int
    judged_by: str


@dataclass(frozen=True, slots=True)
class StoredMeasurement:
    """One number with everything that tells where it comes from, for reports and comparisons.

    ``current`` is False when a later attempt at the same round replaced it, and where its round was
    never closed.
    """

    id: str
    round: int
    attempt: int
    stage: str
    probe: str
    test: str
    node: str
    peer: str | None
    metric: str
    unit: Unit
    value: float
    labels: Labels
    raw: str
    at: float
    current: bool


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round that was begun and not closed: its console died, or is at it. ``started`` is UTC seconds."""

    round: Round
    attempt: int
    started: float
    results: tuple[Result, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """What was decided or happened while a session ran: an override, that it was held, that it went on."""

    kind: str
    text: str
    at: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one test of one node, begun ``at`` (UTC seconds): its numbers by metric, and its facts.

    ``failed_at`` is None where it gave an answer.
    """

    node: str
    at: float
    failed_at: FailedAt | None
    numbers: Sequence[tuple[str, float]] = ()
    facts: Mapping[str, str | float] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Proven:
    """What the nodes showed of ours when a run was over, all that was stored at one time (UTC seconds)."""

    at: float
    proofs: tuple[Proof, ...]


@dataclass(frozen=True, slots=True)
class Series:
    """A metric with its labels; ``unit`` is None where verdicts on it are about words."""

    metric: str
    unit: Unit | None
    labels: Labels


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest verdict on every subject and series of a session or a fabric.

    ``cells`` are (subject, series, severity, value), sorted by the first two; the first two are keys
    of ``subjects`` (name, and the nodes it speaks of) and ``series``; severity is ``Level.severity``.
    Plain tuples: a cluster of 10,000 nodes has 300,000 of them.
    """

    subjects: Mapping[int, tuple[str, tuple[str, ...]]]
    series: Mapping[int, Series]
    cells: Sequence[tuple[int, int, int, float | None]]

    def by_node(self) -> dict[str, Level]:
        """The worst newest verdict that speaks of each node."""
        worst: dict[int, int] = {}
        for subject, _, severity, _ in self.cells:
            if severity > worst.get(subject, -1):
                worst[subject] = severity
        found: dict[str, int] = {}
        for subject, severity in worst.items():
            for node in self.subjects[subject][1]:
                found[node] = max(severity, found.get(node, -1))
        levels = sorted(Level, key=lambda level: level.severity)
        return {node: levels[severity] for node, severity in found.items()}


@dataclass(frozen=True, slots=True)
class BegunRound:
    """A round that somebody has begun to run."""

    round: Round
    attempt: int
    at: float


@dataclass(frozen=True, slots=True)
class FreshResult:
    """A result of a round that is not closed yet."""

    round: int
    attempt: int
    result: Result


@dataclass(frozen=True, slots=True)
class Mark:
    """How far somebody has read in a session; made by ``Store.news`` and given back to it."""

    session: str
    rounds: int = 0
    attempts: int = 0
    results: int = 0
    judgings: int = 0
    notes: int = 0
    proofs: int = 0


@dataclass(frozen=True, slots=True)
class News:
    """What is new in a session since a mark, in the order of storing within each field.

    ``results`` are those of rounds that are not closed; those of ``closed`` are within. ``judged``
    says whether stored rounds were judged again. ``late`` says that somebody has locked the file:
    then there is nothing here, and ``mark`` is the one that was given.
    """

    mark: Mark
    state: SessionState
    because: str = ""
    ended: float | None = None
    planned: tuple[Round, ...] = ()
    begun: tuple[BegunRound, ...] = ()
    results: tuple[FreshResult, ...] = ()
    closed: tuple[StoredRound, ...] = ()
    judged: bool = False
    notes: tuple[Note, ...] = ()
    proven: tuple[Proven, ...] = ()
    late: bool = False


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line of a spool that could not be brought back, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Absorbed:
    """What came back from a spool: results, rounds that were closed, notes and the rest in ``others``.

    ``known`` counts records that were there already. Where ``refused`` is not empty the file is kept,
    renamed to ``kept``.
    """

    results: int = 0
    rounds: int = 0
    others: int = 0
    known: int = 0
    refused: tuple[Refusal, ...] = ()
    kept: str = ""
