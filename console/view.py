"""Owns the picture of a session that screens and reports share, and the pure fold that makes it.

``advance(view, event)`` gives the next RunView; nothing else changes one. Refuses to judge
(``probes.judging`` did) and to word or colour anything (``console.wording``, the themes).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from console.events import (
    Event,
    RoundJudged,
    RoundStarted,
    SessionEnded,
    SessionOpened,
    TestEnded,
    TestStarted,
)
from probes.judging.verdict import Finding, Level, Suspect, Verdict
from probes.model import CloseReason, Failure, FailedAt, Result, Round
from topology.model import Fabric, LinkId, Node, NodeId


class State(StrEnum):
    """How a node, link or test stands, worst first: the order sorts, folds and tallies."""

    FAIL = "fail"
    UNREACHABLE = "unreachable"
    WATCH = "watch"
    UNKNOWN = "unknown"
    AFFECTED = "affected"
    HELD = "held back"
    RUNNING = "running"
    MEASURED = "not judged"
    SKIPPED = "skipped"
    PASS = "pass"

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return _RANK[self]


_RANK = {state: index for index, state in enumerate(State)}


def worst(states: Iterable[State]) -> State:
    """The worst of ``states``; skipped when there is none, for nothing is known."""
    return min(states, key=lambda state: state.rank, default=State.SKIPPED)


def state_of(verdict: Verdict) -> State:
    """The state that one verdict gives: affected when another element explains its low value."""
    if verdict.level in (Level.FAIL, Level.WATCH) and verdict.affected_by:
        return State.AFFECTED
    return {
        Level.FAIL: State.FAIL,
        Level.WATCH: State.WATCH,
        Level.UNKNOWN: State.UNKNOWN,
        Level.PASS: State.PASS,
    }[verdict.level]


@dataclass(frozen=True, slots=True)
class NodeView:
    """One node: its worst state, and everything that is known of it."""

    node: Node
    state: State = State.SKIPPED
    verdicts: tuple[Verdict, ...] = ()
    results: tuple[Result, ...] = ()
    failures: tuple[Failure, ...] = ()
    finding: Finding | None = None
    running: bool = False


@dataclass(frozen=True, slots=True)
class LinkView:
    """One link: its state, the worst verdict that was made on it, and how many members seem up.

    ``measured`` and ``expected`` are byte/s of payload in the worst direction of the last round
    that filled it, None when no round did.
    """

    state: State = State.SKIPPED
    measured: float | None = None
    expected: float | None = None
    members_up: int | None = None
    finding: Finding | None = None


@dataclass(frozen=True, slots=True)
class StageView:
    """The rounds of one stage of the suite; seconds are wall time, ``left`` is an estimate."""

    name: str
    probe: str
    rounds: int
    done: int
    tests: int
    seconds: float
    left: float
    state: State


@dataclass(frozen=True, slots=True)
class Coverage:
    """Tests by what became of them. ``planned`` is their sum plus those still to come."""

    planned: int = 0
    tested: int = 0
    failed: int = 0
    unreachable: int = 0
    skipped: int = 0
    not_applicable: int = 0

    @property
    def complete(self) -> bool:
        """Whether every planned test gave a number (what does not apply is not planned)."""
        return self.tested + self.not_applicable == self.planned


@dataclass(frozen=True, slots=True)
class NotJudged:
    """Nodes whose tests gave no number for one and the same reason."""

    stage: FailedAt
    detail: str
    nodes: tuple[str, ...]
    tests: int


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the event log."""

    at: float
    state: State
    text: str


@dataclass(frozen=True, slots=True)
class RunView:
    """A whole session as it stands. ``results`` maps a test id to its latest result."""

    fabric: Fabric
    session: str = ""
    label: str = ""
    suite: str = ""
    live: bool = False
    plan: tuple[Round, ...] = ()
    nodes: Mapping[NodeId, NodeView] = field(default_factory=lambda: MappingProxyType({}))
    links: Mapping[LinkId, LinkView] = field(default_factory=lambda: MappingProxyType({}))
    findings: tuple[Finding, ...] = ()
    results: Mapping[str, Result] = field(default_factory=lambda: MappingProxyType({}))
    verdicts: Mapping[str, tuple[Verdict, ...]] = field(default_factory=lambda: MappingProxyType({}))
    closed: Mapping[int, tuple[float, float]] = field(default_factory=lambda: MappingProxyType({}))
    current: Round | None = None
    current_started: float = 0.0
    running: frozenset[str] = frozenset()
    fresh: Mapping[str, Result] = field(default_factory=lambda: MappingProxyType({}))
    started: float = 0.0
    ended: float | None = None
    complete: bool = False
    because: str = ""
    log: tuple[Line, ...] = ()
