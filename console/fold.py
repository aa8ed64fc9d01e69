"""Owns the fold of a session's events into the view that screens and reports share. Pure.

``advance(view, event)`` gives the next RunView: the same events give the same view, whether
they come from a run or from the store.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from console.events import (
    Event,
    Held,
    NodesProven,
    Resumed,
    RoundJudged,
    RoundStarted,
    SessionEnded,
    SessionOpened,
    TestEnded,
    TestStarted,
)
from console.view import (
    Line,
    LinkView,
    NodeView,
    RunView,
    State,
    state_of,
    state_of_failure,
    state_of_level,
    superseding,
    test_key,
    worst,
)
from probes.judging.verdict import Finding, Level, Suspect, Verdict
from probes.model import FULL, ClosedRound, Result, Round
from topology.analysis.finding import Finding as StaticFinding
from topology.analysis.finding import Severity
from topology.model import Fabric, Link, LinkId, Node, NodeId

LOG_LINES = 500
_DATA = "data"


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
        if event.session == view.session:
            return replace(view, plan=event.plan, live=event.live, ended=None)
        return replace(opened(event), static=view.static if event.fabric is view.fabric else None)
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
    if isinstance(event, (Held, Resumed)):
        return _held(view, event)
    if isinstance(event, NodesProven):
        return replace(view, proofs=event.proofs)
    return _ended(view, event)


def described(view: RunView, found: Iterable[StaticFinding]) -> RunView:
    """The view with what its description shows: errors first, in their order where they are alike."""
    severities = list(Severity)
    return replace(view, static=tuple(sorted(found, key=lambda each: severities.index(each.severity))))


def _what(each: Round) -> str:
    return f"{each.stage}, {len(each.tests):,} tests"


def _held(view: RunView, event: Held | Resumed) -> RunView:
    if isinstance(event, Held):
        line = Line(event.at, State.HELD, f"held: {event.because}")
        return replace(view, held=event.because, log=(*view.log, line)[-LOG_LINES:])
    line = Line(event.at, State.RUNNING, "going on")
    return replace(view, held="", log=(*view.log, line)[-LOG_LINES:])


def _ended(view: RunView, event: SessionEnded) -> RunView:
    words = "session complete" if event.complete else f"session stopped{': ' + event.because if event.because else ''}"
    return replace(
        view,
        current=None,
        running=frozenset(),
        fresh=MappingProxyType({}),
        held="",
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
    moved = replace(moved, replaced=view.replaced | _replaced(moved, closed))
    return replace(moved, nodes=_nodes(view, moved, closed, event.verdicts), links=_links(moved))


def _replaced(view: RunView, closed: ClosedRound) -> frozenset[str]:
    """Ids of earlier tests that this round repeats: same stage, probe, target and bundle."""
    stages = {each.number: each.stage for each in view.plan}
    earlier = [each for each in view.plan if each.number < closed.round.number and each.stage == closed.round.stage]
    if not earlier:
        return frozenset()
    now = {test_key(result.test, stages) for result in closed.results}
    return frozenset(test.id for each in earlier for test in each.tests if test_key(test, stages) in now)


def _closing_line(event: RoundJudged) -> Line:
    closed = event.closed
    failed = sum(result.failure is not None for result in closed.results)
    state = worst([*(state_of(verdict) for verdict in event.verdicts), State.UNKNOWN if failed else State.PASS])
    measured = len(closed.results) - failed
    words = f"round {closed.round.number} closed: {measured:,} of {len(closed.results):,} tests measured"
    low = sum(verdict.level in (Level.FAIL, Level.WATCH) for verdict in event.verdicts)
    return Line(closed.ended, state, words + (f", {low:,} below what is asked" if low else ""))


def _nodes(before: RunView, view: RunView, closed: ClosedRound, fresh: Sequence[Verdict]) -> Mapping[NodeId, NodeView]:
    """Nodes after a round: those that it tested, and those that findings speak of now or spoke of before."""
    results: dict[str, list[Result]] = {}
    for result in closed.results:
        for node in result.test.target.nodes:
            results.setdefault(node.id, []).append(result)
    verdicts: dict[str, list[Verdict]] = {}
    for verdict in fresh:
        for name in verdict.nodes:
            verdicts.setdefault(name, []).append(verdict)
    own, affected, explained = _found(view.findings)
    named = {name for finding in (*before.findings, *view.findings) for name in finding.nodes}
    nodes = dict(before.nodes)
    for name in named | results.keys() | verdicts.keys():
        known = nodes.get(NodeId(name))
        if known is not None:
            standing = [result for result in known.results if result.test.id not in view.replaced]
            judged = [verdict for verdict in known.verdicts if verdict.test not in view.replaced]
            nodes[NodeId(name)] = _node(
                known.node, standing + results.get(name, []), judged + verdicts.get(name, []), own, affected, explained
            )
    return MappingProxyType(nodes)


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
    target = result.test.target
    if verdict.expected is None or target.peer is None:
        return []
    bundle = result.test.bundle
    if bundle:
        each = next((each for each in view.plan if each.number == result.test.round), None)
        bundles = [found for found in each.bundles if found.name == bundle] if each else []
        return [(way.link, found.fill >= FULL) for found in bundles for way in found.elements]
    ends = ((target.node, target.peer), (target.peer, target.node))
    return [(link.id, True) for node, other in ends for link in _legs_between(view.fabric, node, other)]


def _legs_between(fabric: Fabric, node: Node, other: Node) -> Sequence[Link]:
    """The cables of ``node`` that a flow to ``other`` can use: those of a network that both are in, data first.

    None where there is a choice of networks and no common one; standby legs carry nothing. A virtual
    machine says nothing of its host's cables, which are wider than it is.
    """
    own = [link for link in fabric.links_at[node.id] if not link.standby]
    networks = dict.fromkeys(link.network for link in own)
    if len(networks) <= 1:
        return own
    theirs = {link.network for link in fabric.legs(other.id)}
    common = [name for name in networks if name in theirs]
    taken = _DATA if _DATA in common else next(iter(common), None)
    return [link for link in own if link.network == taken]


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
