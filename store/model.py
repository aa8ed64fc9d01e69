"""Owns what is asked of the store and what it answers: sessions, stored rounds, measurements.

All frozen. Refuses to know rows (``store.rows``) and SQL.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from probes.judging.verdict import Verdict
from probes.model import ClosedRound, Labels
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

    ``current`` is False when a later attempt at the same round replaced it.
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
