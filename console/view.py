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
from probes.model import FULL, FailedAt, Failure, Result, Round
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


LOG_LINES = 500


def opened(event: SessionOpened) -> RunView:
    """The view of a session before anything of it is known."""
    fabric = event.fabric
    return RunView(
        fabric=fabric,
        session=event.session,
        label=event.label,
        suite=event.suite,
        live=event.live,
        plan=event.plan,
        nodes=MappingProxyType({node.id: NodeView(node) for node in fabric.nodes.values()}),
        links=MappingProxyType({link: LinkView() for link in fabric.links}),
        started=event.at,
    )


def advance(view: RunView, event: Event) -> RunView:
    """The view after ``event``. Pure: the same events give the same view."""
    if isinstance(event, SessionOpened):
        fresh = opened(event)
        return fresh if event.session != view.session else replace(view, plan=event.plan, live=event.live, ended=None)
    if isinstance(event, RoundStarted):
        line = Line(event.at, State.RUNNING, f"round {event.round.number} started: {_what(event.round)}")
        return replace(
            view,
            current=event.round,
            current_started=event.at,
            fresh=MappingProxyType({}),
            running=frozenset(),
            live=True,
            ended=None,
            log=(*view.log, line)[-LOG_LINES:],
        )
    if isinstance(event, TestStarted):
        return replace(view, running=view.running | {event.test.id})
    if isinstance(event, TestEnded):
        test = event.result.test.id
        return replace(view, running=view.running - {test}, fresh=MappingProxyType({**view.fresh, test: event.result}))
    if isinstance(event, RoundJudged):
        return _judged(view, event)
    return _ended(view, event)


def _what(each: Round) -> str:
    return f"{each.stage}, {len(each.tests):,} tests"


def _ended(view: RunView, event: SessionEnded) -> RunView:
    words = "session complete" if event.complete else f"session stopped{': ' + event.because if event.because else ''}"
    return replace(
        view,
        current=None,
        running=frozenset(),
        fresh=MappingProxyType({}),
        ended=event.at,
        complete=event.complete,
        because=event.because,
        live=False,
        log=(*view.log, Line(event.at, State.PASS if event.complete else State.HELD, words))[-LOG_LINES:],
    )


def _judged(view: RunView, event: RoundJudged) -> RunView:
    closed = event.closed
    results = {**view.results, **{result.test.id: result for result in closed.results}}
    by_test: dict[str, list[Verdict]] = {result.test.id: [] for result in closed.results}
    for verdict in event.verdicts:
        by_test.setdefault(verdict.test, []).append(verdict)
    verdicts = {**view.verdicts, **{test: tuple(found) for test, found in by_test.items()}}
    current = view.current if view.current and view.current.number != closed.round.number else None
    moved = replace(
        view,
        results=MappingProxyType(results),
        verdicts=MappingProxyType(verdicts),
        findings=event.findings,
        closed=MappingProxyType({**view.closed, closed.round.number: (closed.started, closed.ended)}),
        current=current,
        fresh=MappingProxyType({}) if current is None else view.fresh,
        log=(*view.log, _closing_line(event))[-LOG_LINES:],
    )
    return replace(moved, nodes=_nodes(moved), links=_links(moved))


def _closing_line(event: RoundJudged) -> Line:
    closed = event.closed
    failed = sum(result.failure is not None for result in closed.results)
    state = worst([*(state_of(verdict) for verdict in event.verdicts), State.UNKNOWN if failed else State.PASS])
    measured = len(closed.results) - failed
    words = f"round {closed.round.number} closed: {measured:,} of {len(closed.results):,} tests measured"
    low = sum(verdict.level in (Level.FAIL, Level.WATCH) for verdict in event.verdicts)
    return Line(closed.ended, state, words + (f", {low:,} below what is asked" if low else ""))


def superseding(view: RunView) -> dict[str, Result]:
    """The newest result of each test: a repeat (same stage, probe, target, bundle) replaces what it repeats."""
    stage = {each.number: each.stage for each in view.plan}
    newest: dict[tuple[str, str, str, str], Result] = {}
    for result in view.results.values():
        test = result.test
        key = (stage.get(test.round, ""), test.probe, test.target.key, test.bundle)
        known = newest.get(key)
        if known is None or known.test.round <= test.round:
            newest[key] = result
    return {result.test.id: result for result in newest.values()}


def _nodes(view: RunView) -> Mapping[NodeId, NodeView]:
    results = superseding(view)
    of_node: dict[str, list[Result]] = {}
    for result in results.values():
        for node in result.test.target.nodes:
            of_node.setdefault(node.id, []).append(result)
    verdicts: dict[str, list[Verdict]] = {}
    for test in results:
        for verdict in view.verdicts.get(test, ()):
            for name in verdict.nodes:
                verdicts.setdefault(name, []).append(verdict)
    own, affected, explained = _found(view.findings)
    return MappingProxyType(
        {
            name: _node(before.node, of_node.get(name, []), verdicts.get(name, []), own, affected, explained)
            for name, before in view.nodes.items()
        }
    )


def _found(findings: Iterable[Finding]) -> tuple[dict[str, Finding], dict[str, Finding], frozenset[str]]:
    """Findings by the node they are about, by the nodes they drag down, and the tests that they explain."""
    own: dict[str, Finding] = {}
    affected: dict[str, Finding] = {}
    explained: set[str] = set()
    for finding in findings:
        explained.update(finding.tests)
        about_nodes = finding.suspect in (Suspect.NODE, Suspect.NIC, Suspect.STORAGE)
        for name in finding.nodes:
            (own if about_nodes else affected).setdefault(name, finding)
    return own, affected, frozenset(explained)


def _node(
    node: Node,
    results: list[Result],
    verdicts: list[Verdict],
    own: Mapping[str, Finding],
    affected: Mapping[str, Finding],
    explained: frozenset[str],
) -> NodeView:
    """One node: what a finding elsewhere explains does not count against it, being dragged down shows as affected."""
    failures = tuple(result.failure for result in results if result.failure and result.failure.node == node.id)
    finding = own.get(node.id) or affected.get(node.id)
    states = [state_of_failure(failure.stage) for failure in failures]
    if node.id in own:
        states.append(state_of_level(own[node.id].level))
    elif node.id in affected:
        states.append(State.AFFECTED)
    states += [
        state_of(verdict)
        for verdict in verdicts
        if verdict.level in (Level.PASS, Level.UNKNOWN) or verdict.test not in explained
    ]
    if not states and any(result.measurements for result in results):
        states.append(State.MEASURED)
    if states == [] and results and all(result.failure for result in results):
        states.append(State.UNKNOWN)
    return NodeView(node, worst(states), tuple(verdicts), tuple(results), failures, finding)


def state_of_failure(stage: FailedAt) -> State:
    """The state that a test without a number leaves behind."""
    if stage.means_unreachable:
        return State.UNREACHABLE
    return {FailedAt.HELD: State.HELD, FailedAt.CANCELLED: State.SKIPPED}.get(stage, State.UNKNOWN)


def state_of_level(level: Level) -> State:
    """The state of a judged level."""
    return {
        Level.FAIL: State.FAIL,
        Level.WATCH: State.WATCH,
        Level.UNKNOWN: State.UNKNOWN,
        Level.PASS: State.PASS,
    }[level]


def _links(view: RunView) -> Mapping[LinkId, LinkView]:
    """Links by what was measured over them: bundles that filled a link, lone flows on a NIC, findings."""
    found = dict.fromkeys(view.links, LinkView())
    for test, result in superseding(view).items():
        for verdict in view.verdicts.get(test, ()):
            for link, filled in _loaded(view, result, verdict):
                found[link] = _worse(found[link], verdict, filled=filled)
    for finding in view.findings:
        for link in _about(view.fabric, finding):
            found[link] = _named(view.fabric, link, found[link], finding)
    return MappingProxyType(found)


def _loaded(view: RunView, result: Result, verdict: Verdict) -> list[tuple[LinkId, bool]]:
    """The links that a capacity verdict speaks of, and whether they were filled.

    Those of its bundle, or the NICs of a lone flow (as slow as the slower one: filled).
    """
    if verdict.expected is None or result.test.target.peer is None:
        return []
    bundle = result.test.bundle
    if bundle:
        each = next((each for each in view.plan if each.number == result.test.round), None)
        bundles = [found for found in each.bundles if found.name == bundle] if each else []
        return [(way.link, found.fill >= FULL) for found in bundles for way in found.elements]
    return [(link.id, True) for node in result.test.target.nodes for link in view.fabric.links_at[node.id]]


def _worse(before: LinkView, verdict: Verdict, *, filled: bool) -> LinkView:
    """The lower of two measured shares. A filled link passes, another stays unknown; only a finding fails it."""
    share = verdict.share
    if share is None or verdict.value is None or verdict.expected is None:
        return before
    known = None if before.measured is None or not before.expected else before.measured / before.expected
    if known is not None and known <= share:
        return before
    state = State.PASS if filled and verdict.level is not Level.UNKNOWN else State.UNKNOWN
    return LinkView(state, verdict.value, verdict.expected, before.members_up, before.finding)


def _about(fabric: Fabric, finding: Finding) -> list[LinkId]:
    if finding.element in fabric.links:
        return [LinkId(finding.element)]
    if finding.suspect is Suspect.NIC and finding.element in fabric.nodes:
        return [link.id for link in fabric.links_at[finding.element]]
    return []


def _named(fabric: Fabric, name: LinkId, before: LinkView, finding: Finding) -> LinkView:
    link = fabric.links[name]
    members = None
    if link.is_lag and finding.value is not None and finding.expected:
        alike = finding.value / finding.expected * link.count
        members = round(alike) if abs(alike - round(alike)) <= 0.12 else None
    state = state_of_level(finding.level)
    return LinkView(state, finding.value, finding.expected, members, finding)


def coverage(view: RunView) -> Coverage:
    """Tests by what became of them, each test counted once however often it was repeated."""
    done = superseding(view)
    planned = sum(len(each.tests) for each in view.plan) - _repeats(view)
    counts = {"tested": 0, "failed": 0, "unreachable": 0, "skipped": 0}
    for result in done.values():
        counts[_became(result)] += 1
    return Coverage(planned, **counts)


def _repeats(view: RunView) -> int:
    """How many planned tests repeat an earlier one of the same stage."""
    seen: set[tuple[str, str, str, str]] = set()
    repeats = 0
    for each in view.plan:
        here = {(each.stage, test.probe, test.target.key, test.bundle) for test in each.tests}
        repeats += len(here & seen)
        seen |= here
    return repeats


def _became(result: Result) -> str:
    if result.failure is None:
        return "tested"
    if result.failure.stage.means_unreachable:
        return "unreachable"
    return "skipped" if result.failure.stage.means_skipped else "failed"


def not_judged(view: RunView) -> tuple[NotJudged, ...]:
    """Tests that gave no number, folded over nodes by stage and reason, most tests first."""
    found: dict[tuple[FailedAt, str], dict[str, int]] = {}
    for result in superseding(view).values():
        failure = result.failure
        if failure is not None:
            nodes = found.setdefault((failure.stage, failure.detail), {})
            nodes[failure.node] = nodes.get(failure.node, 0) + 1
    folded = [NotJudged(stage, detail, tuple(nodes), sum(nodes.values())) for (stage, detail), nodes in found.items()]
    return tuple(sorted(folded, key=lambda each: (not each.stage.means_unreachable, -each.tests)))


def unjudged_metrics(view: RunView) -> tuple[str, ...]:
    """Metrics that were measured and that no criterion speaks of."""
    measured = {m.reading.metric for result in view.results.values() for m in result.measurements}
    judged = {verdict.metric for found in view.verdicts.values() for verdict in found}
    return tuple(sorted(measured - judged))


def tally(view: RunView) -> dict[State, int]:
    """Nodes by state, worst first; only states that occur. A running node counts as it last stood."""
    found = dict.fromkeys(State, 0)
    for node in view.nodes.values():
        found[node.state] += 1
    return {state: number for state, number in found.items() if number}


def stages(view: RunView, now: float | None = None) -> tuple[StageView, ...]:
    """The stages of the plan with what is done, in order; repeats are a stage of their own."""
    names: dict[str, list[Round]] = {}
    for each in view.plan:
        names.setdefault(each.stage, []).append(each)
    pace = _pace(view)
    return tuple(_stage(view, name, rounds, pace, now) for name, rounds in names.items())


def _stage(view: RunView, name: str, rounds: list[Round], pace: float, now: float | None) -> StageView:
    done = [each for each in rounds if each.number in view.closed]
    seconds = sum(view.closed[each.number][1] - view.closed[each.number][0] for each in done)
    left = sum(each.seconds * pace for each in rounds if each.number not in view.closed)
    running = view.current is not None and any(each.number == view.current.number for each in rounds)
    if running and now is not None:
        seconds += max(now - view.current_started, 0.0)
        left = max(left - max(now - view.current_started, 0.0), 0.0)
    state = State.RUNNING if running else State.SKIPPED
    if done and not running:
        tests = {test.id for each in done for test in each.tests}
        found = [state_of(verdict) for test in tests for verdict in view.verdicts.get(test, ())]
        found += [State.UNKNOWN for test in tests if view.results[test].failure]
        state = worst(found) if found else State.MEASURED
    return StageView(
        name, rounds[0].probe, len(rounds), len(done), sum(len(each.tests) for each in rounds), seconds, left, state
    )


def _pace(view: RunView) -> float:
    """How much longer rounds take than was estimated: the median over those that are closed."""
    ratios = _ratios(view)
    return ratios[len(ratios) // 2] if ratios else 1.0


def _ratios(view: RunView) -> list[float]:
    """Seconds taken over seconds estimated, of every closed round, sorted."""
    return sorted(
        (view.closed[each.number][1] - view.closed[each.number][0]) / each.seconds
        for each in view.plan
        if each.number in view.closed and each.seconds
    )


def eta(view: RunView, now: float) -> tuple[float, float] | None:
    """Seconds left as (low, high), None when nothing is left; the spread is that of the measured rounds."""
    ratios = _ratios(view)
    left = sum(each.seconds for each in view.plan if each.number not in view.closed)
    if not left or not view.live:
        return None
    elapsed = max(now - view.current_started, 0.0) if view.current else 0.0
    low, high = (ratios[len(ratios) // 4], ratios[(3 * len(ratios)) // 4]) if ratios else (1.0, 1.5)
    return max(left * low - elapsed, 0.0), max(left * high - elapsed, 0.0)


def exit_code(view: RunView, *, allow_untested: bool = False) -> int:
    """0 everything judged passed, 1 something is below its threshold, 3 not everything was tested."""
    levels = [verdict.level for test in superseding(view) for verdict in view.verdicts.get(test, ())]
    if Level.FAIL in levels:
        return 1
    untested = not coverage(view).complete or Level.UNKNOWN in levels
    return 3 if untested and not allow_untested else 0
