"""The view of a session that screens and reports share, and the questions they ask of it.

``console.view.reducer`` makes it from events; nothing else does. ``probes.judging`` judged it;
``console.view.wording`` and the themes word and colour it.
"""

import weakref
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from benchconsole.console.view.interval_rates import NO_INTERVALS, IntervalRates
from benchconsole.probes.model.checklist import CheckedList
from benchconsole.probes.model.judgement import Finding, Level, Verdict
from benchconsole.probes.model.load import NodeLoad
from benchconsole.probes.model.measuring import FailedAt, Failure, Proof, Result, Round
from benchconsole.probes.model.omission import Omission
from benchconsole.topology.analysis.static_finding import StaticFinding
from benchconsole.topology.model.fabric import Fabric, LinkId, Node, NodeId
from benchconsole.topology.units import counted

if TYPE_CHECKING:
    from benchconsole.probes.judging.round_ways import RoundWays
    from benchconsole.probes.model.alike_passes import AlikePasses
    from benchconsole.probes.model.remark import Remark


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
    found = set(states)
    return found.pop() if len(found) == 1 else min(found, key=lambda state: state.rank, default=State.SKIPPED)


_STATE = {Level.FAIL: State.FAIL, Level.WATCH: State.WATCH, Level.UNKNOWN: State.UNKNOWN, Level.PASS: State.PASS}


def state_of_level(level: Level) -> State:
    """The state of a judged level."""
    return _STATE[level]


def state_of(verdict: Verdict) -> State:
    """The state that one verdict gives by itself (``Blame`` knows whether another element explains it)."""
    return _STATE[verdict.level]


class NodeView(Struct, frozen=True):
    """One node: its worst state, and everything that is known of it. ``has_passes``: also verdicts in columns."""

    node: Node
    state: State = State.SKIPPED
    verdicts: tuple[Verdict, ...] = ()
    results: tuple[Result, ...] = ()
    failures: tuple[Failure, ...] = ()
    finding: Finding | None = None
    has_passes: bool = False

    @property
    def was_asked(self) -> bool:
        """Whether anything came of a test of it, be it only why it was skipped."""
        return bool(self.results or self.failures or self.verdicts or self.has_passes)


class LinkView(Struct, frozen=True):
    """One link: its state, the worst verdict that was made on it, and how many members seem up.

    ``measured`` and ``expected`` are byte/s of payload in the worst direction of the last round
    that filled it, None when no round did.
    """

    state: State = State.SKIPPED
    measured: float | None = None
    expected: float | None = None
    members_up: int | None = None
    finding: Finding | None = None

    @property
    def share(self) -> float | None:
        """measured / expected, None where nothing was measured."""
        return None if self.measured is None or not self.expected else self.measured / self.expected


class StageView(Struct, frozen=True):
    """The rounds of one stage of the suite; seconds are wall time, ``left`` is an estimate.

    ``overrun`` is how much longer the round that runs may take at most, where it takes longer than foreseen.
    """

    name: str
    probe: str
    rounds: int
    done: int
    tests: int
    seconds: float
    left: float
    state: State
    overrun: float = 0.0


class Coverage(Struct, frozen=True):
    """Tests by what became of them. ``planned`` is their sum plus those still to come."""

    planned: int = 0
    tested: int = 0
    failed: int = 0
    unreachable: int = 0
    skipped: int = 0

    @property
    def complete(self) -> bool:
        """Whether every planned test gave a number."""
        return self.tested == self.planned


class DetectableFaults(Struct, frozen=True):
    """Of how many ``kinds`` of fault each would have been ``seen`` wherever it is, and the sentences that say it."""

    kinds: int
    seen: int
    sentences: tuple[str, ...]

    @property
    def brief(self) -> str:
        """The same in one short line."""
        if self.seen == self.kinds:
            return f"{counted(self.kinds, 'kind')} of fault would have been seen, none missed"
        return f"{self.kinds - self.seen} of {counted(self.kinds, 'kind')} of fault could have been missed"


class NotJudged(Struct, frozen=True):
    """Nodes whose tests gave no number for one and the same reason."""

    stage: FailedAt
    detail: str
    nodes: tuple[str, ...]
    tests: int


class Undecided(Struct, frozen=True):
    """The measurements of ``subjects`` that could not be judged, for one and the same reason."""

    because: str
    subjects: tuple[str, ...]
    results: int


class Line(Struct, frozen=True):
    """One line of the event log; without a state where it says nothing of what was measured."""

    at: float
    state: State | None
    text: str


class CanaryNotice(Struct, frozen=True):
    """The canary of a run in words, and whether it ``watches``; it keeps still where it does not."""

    words: str
    watches: bool


@dataclass(frozen=True, slots=True, weakref_slot=True)
class RunView:
    """A whole session as it stands. ``results`` and ``verdicts`` are by test id, those of repeated tests included.

    ``replaced`` are ids of tests that a later round repeated: their results no longer count.
    ``hung`` are the numbers of the closed rounds in which the time of a test ran out.
    ``static`` is what the description alone shows, worst first, None until that is worked out: no
    verdict, so nothing here counts it. ``held`` says why the run waits; ``proofs`` are what the nodes
    showed when it was over, empty where they were not searched. ``stopped`` says why a rule ended rounds.
    ``carried`` are the links without what findings say of them; ``repeats`` leads from a test of the
    plan to the earlier ones that it repeats. ``planned`` are the ids of the tests of each node, in the order of
    the plan. ``current_limit`` are the seconds in which the round that runs ends even where tools hang, 0 where that is
    not known. ``begun`` is when the run that goes on, or went last, was begun; ``is_one_run`` says that it is: of a
    session that is stored, followed or played again it is when the first of its runs began.
    ``left_out`` says what of the suite is
    not run, ``checklists`` are kept with the session, ``sampled`` is a watch of days. ``reading`` is how many rounds of
    a stored session were read so far, of how many: until it is read nothing but its fabric is here. ``detectable`` is
    what the tests could have shown, None until that is known of all its results. ``passed`` are verdicts in columns,
    which are not in ``verdicts``: of large sessions whose totals and ranges are told. ``intervals`` are what tests that
    run tell of their last seconds, ``loads`` those of nodes that are sampled in the round that runs, ``ways`` the links
    that its flows cross, None before the first of them has told a number; nothing else here rests on these.
    ``remarks`` are what people said of it, withdrawn ones as well; no state and no verdict rests on them.
    ``waves`` are the numbers of rounds that were planned in waves, a range for each plan. ``canary`` is what is known
    of the canary of the run, None where nothing was told; ``spared`` names nodes that the newest plan does not load
    because somebody else needs them, ``spared_at`` is when that was told.
    No mapping here ever changes;
    those that grow share what they have in common with earlier views.
    """

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
    hung: frozenset[int] = frozenset()
    stopped: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    current: Round | None = None
    current_started: float = 0.0
    current_limit: float = 0.0
    running: Set[str] = frozenset()
    fresh: Mapping[str, Result] = field(default_factory=lambda: MappingProxyType({}))
    started: float = 0.0
    begun: float = 0.0
    is_one_run: bool = field(default=False, compare=False)
    ended: float | None = None
    complete: bool = False
    because: str = ""
    log: tuple[Line, ...] = ()
    replaced: frozenset[str] = frozenset()
    static: tuple[StaticFinding, ...] | None = None
    held: str = ""
    spool: str = ""
    proofs: tuple[Proof, ...] = ()
    carried: Mapping[LinkId, LinkView] = field(default_factory=lambda: MappingProxyType({}))
    repeats: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    planned: Mapping[NodeId, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    left_out: tuple[Omission, ...] = ()
    checklists: tuple[CheckedList, ...] = ()
    sampled: bool = False
    detectable: DetectableFaults | None = None
    passed: "tuple[AlikePasses, ...]" = ()
    reading: tuple[int, int] | None = None
    intervals: IntervalRates = field(default_factory=lambda: NO_INTERVALS)
    loads: Mapping[str, NodeLoad] = field(default_factory=lambda: MappingProxyType({}))
    ways: "RoundWays | None" = None
    remarks: "tuple[Remark, ...]" = ()
    waves: tuple[range, ...] = ()
    canary: "CanaryNotice | None" = None
    spared: tuple[Omission, ...] = ()
    spared_at: float = 0.0

    @property
    def is_going(self) -> bool:
        """Whether a run goes on, also between its rounds: before the first, held, while nodes are searched."""
        return self.current is not None or (self.live and self.ended is None and bool(self.plan))


T = TypeVar("T")


def share_result(compute: Callable[[RunView], T]) -> Callable[[RunView], T]:
    """``compute``, done once for the same view where several reports on it are made in a row; holds no view."""
    last: list[tuple[weakref.ref[RunView], T]] = []

    @wraps(compute)
    def give(view: RunView) -> T:
        if not last or last[0][0]() is not view:
            last[:] = [(weakref.ref(view), compute(view))]
        return last[0][1]

    return give


INGESTED = "ingested"
"""The end of the stage name of results that were measured elsewhere: nobody has planned them."""


def superseding(view: RunView) -> dict[str, Result]:
    """The newest result of each test: a repeat replaces what it repeats, better or worse."""
    return {test: result for test, result in view.results.items() if test not in view.replaced}


def owes_tests(view: RunView, node: NodeId) -> bool:
    """Whether a planned test of ``node`` has not run yet, and no later one stands for it."""
    # From the end: while a session runs, the last one answers.
    return any(test not in view.results and test not in view.replaced for test in reversed(view.planned.get(node, ())))


def state_of_failure(stage: FailedAt) -> State:
    """The state that a test without a number leaves behind."""
    if stage.means_unreachable:
        return State.UNREACHABLE
    return _WITHOUT_NUMBER.get(stage, State.UNKNOWN)


_WITHOUT_NUMBER = {
    FailedAt.HELD: State.HELD,
    FailedAt.NO_PASSWORD: State.HELD,
    FailedAt.IN_USE: State.HELD,
    FailedAt.REFUSED: State.HELD,
    FailedAt.CANCELLED: State.SKIPPED,
    FailedAt.SKIPPED: State.SKIPPED,
}


def unjudged_metrics(view: RunView) -> tuple[str, ...]:
    """Metrics that were measured and that no criterion speaks of."""
    measured = {m.metric for result in view.results.values() for m in result.measurements}
    judged = {verdict.metric for found in view.verdicts.values() for verdict in found}
    judged |= {each.like.metric for each in view.passed}
    return tuple(sorted(measured - judged))


@share_result
def tally(view: RunView) -> Mapping[State, int]:
    """Nodes by state, worst first; only states that occur. A running node counts as it last stood."""
    found = dict.fromkeys(State, 0)
    for node in view.nodes.values():
        found[node.state] += 1
    return {state: number for state, number in found.items() if number}
