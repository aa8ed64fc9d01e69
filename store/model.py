"""Inputs and answers of the store: sessions, stored rounds, changes. All frozen."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from benchconsole.probes.model.judgement import ClosedRound, Level
from benchconsole.probes.model.measuring import FailedAt, Labels, Proof, Result, Round
from benchconsole.store.session_summary import SessionState
from benchconsole.topology.model.fabric import Criterion
from benchconsole.topology.units import Shown, Unit

if TYPE_CHECKING:
    from benchconsole.probes.model.measurement_table import MeasurementTable, MeasurementVerdicts
    from benchconsole.topology.arrays import Indices

Options = Mapping[str, str | int | float]


class NewSession(Struct, frozen=True):
    """A session before anything of it has run.

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
    options: Options = MappingProxyType({})
    simulated: bool = False
    program: str = ""


class StoredSession(Struct, frozen=True):
    """A session as it was created, and its state; its rounds come from ``read_plan`` and ``read_rounds``."""

    id: str
    new: NewSession
    state: SessionState
    ended: float | None
    because: str
    rounds: int
    tests: int


class OpenRound(Struct, frozen=True):
    """A round that was begun and not closed: its console died, or is at it. ``started`` is UTC seconds."""

    round: Round
    attempt: int
    started: float
    results: tuple[Result, ...] = ()


class StoredMeasurements(NamedTuple):
    """The measurements of a stored round, and the number of each in the file, in the same order."""

    table: "MeasurementTable"
    numbers: "Indices"


class JudgedMeasurements(NamedTuple):
    """Verdicts on the measurements of a stored round; ``numbers`` are those of the measurements in the file."""

    numbers: "Indices"
    verdicts: "MeasurementVerdicts"


class SessionNote(Struct, frozen=True):
    """A decision or an event while a session ran: an override, that it was held, that it went on."""

    kind: str
    text: str
    at: float


class ChosenCriteria(Struct, frozen=True):
    """The criteria that a session is judged with from ``at`` (UTC seconds) on: those of the file ``source``.

    None: those of the file that the session was begun with.
    """

    criteria: tuple[Criterion, ...] | None
    source: str
    at: float


class ProbeOutcome(Struct, frozen=True):
    """The outcome of one test of one node, begun ``at`` (UTC seconds): its numbers by metric, and its facts.

    ``failed_at`` is None where it gave an answer.
    """

    node: str
    at: float
    failed_at: FailedAt | None
    numbers: Sequence[tuple[str, float]] = ()
    facts: Mapping[str, str | float] = MappingProxyType({})


class HistorySession(NamedTuple):
    """A session in the history of its fabric, with its id; ``started`` is UTC seconds."""

    id: str
    label: str
    started: float


class NumberVerdict(NamedTuple):
    """The verdict on a number, or on the sum of ``numbers`` of a bundle: then ``expected`` is that of the sum."""

    level: Level
    expected: float | None
    shown: Shown
    numbers: int


class HistoryValue(NamedTuple):
    """A number that counts in its session: of the last closed attempt of a round, of a test that none repeats later.

    ``members`` are the nodes of a set, ``bundle`` is empty where the test is judged alone, ``value`` is in ``unit``.
    ``verdict`` is of the last judgement, the worst of several, None where there is none.
    """

    test: str
    round: int
    stage: str
    node: str
    peer: str | None
    members: tuple[str, ...]
    bundle: str
    metric: str
    unit: Unit
    labels: Labels
    value: float
    verdict: NumberVerdict | None


class ProofSet(Struct, frozen=True):
    """The proofs of all nodes at the end of a run, stored at one time (UTC seconds)."""

    at: float
    proofs: tuple[Proof, ...]


class ChangeMark(Struct, frozen=True):
    """How far somebody has read in a session; made by ``SessionStore.read_changes`` and given back to it."""

    rounds: int = 0
    attempts: int = 0
    results: int = 0
    judgings: int = 0
    notes: int = 0
    proofs: int = 0


class SessionChanges(Struct, frozen=True):
    """Everything new in a session since a mark, in the order of storing within each field.

    ``results`` are those of rounds that are not closed; those of ``closed`` are within. ``judged``
    says whether stored rounds were judged again. ``late`` says that another process has locked the
    file: then nothing is here, and ``mark`` is the one that was given.
    """

    mark: ChangeMark
    state: SessionState
    because: str = ""
    ended: float | None = None
    planned: tuple[Round, ...] = ()
    begun: tuple[OpenRound, ...] = ()
    results: tuple[Result, ...] = ()
    closed: tuple[ClosedRound, ...] = ()
    judged: bool = False
    notes: tuple[SessionNote, ...] = ()
    proven: tuple[ProofSet, ...] = ()
    late: bool = False


class RefusedLine(Struct, frozen=True):
    """A line of a spool that could not be brought back, and why."""

    line: int
    why: str


class SpoolImport(Struct, frozen=True):
    """The records that came back from a spool: results, rounds that were closed, notes and the rest in ``others``.

    ``known`` counts records that were there already. Where ``refused`` is not empty the file is kept,
    renamed to ``kept``.
    """

    results: int = 0
    rounds: int = 0
    others: int = 0
    known: int = 0
    refused: tuple[RefusedLine, ...] = ()
    kept: str = ""
