"""Owns how nodes and links stand once a round is judged: worst states, what drags them down, what was carried.

Part of the fold (``console.fold``) and pure as it: a round touches the nodes that it tested and those
that findings speak of now or no longer; all others are the same objects as before.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from console.grown import Grown, grown
from console.view import (
    LinkView,
    NodeView,
    RunView,
    State,
    state_of,
    state_of_failure,
    state_of_level,
    superseding,
    worst,
)
from probes.judging.verdict import Finding, Level, Suspect, Verdict
from probes.model import FULL, Bundle, ClosedRound, Result
from topology.model import Fabric, Link, LinkId, Node, NodeId

_DATA = "data"
Links = Mapping[LinkId, LinkView]


def nodes_after(
    before: RunView, view: RunView, closed: ClosedRound, fresh: Sequence[Verdict]
) -> Mapping[NodeId, NodeView]:
    """Nodes after a round: those that it tested, and those that findings speak of now or spoke of before."""
    results: dict[str, list[Result]] = {}
    for result in closed.results:
        for node in result.test.target.nodes if result.test.id not in view.replaced else ():
            results.setdefault(node.id, []).append(result)
    verdicts: dict[str, list[Verdict]] = {}
    for verdict in fresh:
        for name in verdict.nodes if verdict.test not in view.replaced else ():
            verdicts.setdefault(name, []).append(verdict)
    said = _said(view.findings)
    outdated = view.replaced - before.replaced
    if closed.round.number in before.closed:
        outdated |= {test.id for test in closed.round.tests}
    changed: dict[NodeId, NodeView] = {}
    for name in _spoken_of(before, view) | results.keys() | verdicts.keys() | _nodes_of(before, outdated):
        known = before.nodes.get(NodeId(name))
        if known is not None:
            standing, judged = known.results, known.verdicts
            if outdated:
                standing = tuple(result for result in standing if result.test.id not in outdated)
                judged = tuple(verdict for verdict in judged if verdict.test not in outdated)
            everything = (*standing, *results.get(name, ())), (*judged, *verdicts.get(name, ()))
            changed[NodeId(name)] = _node(known.node, *everything, said)
    return grown(before.nodes).plus(changed)


def _spoken_of(before: RunView, view: RunView) -> set[str]:
    """Nodes whose findings are others than before: named by them, or part of a test that they explain."""
    was = {id(finding) for finding in before.findings}
    is_now = {id(finding) for finding in view.findings}
    found: set[str] = set()
    for finding in (*before.findings, *view.findings):
        if (id(finding) in was) is not (id(finding) in is_now):
            found.update(finding.nodes)
            found |= _nodes_of(view, finding.tests)
    return found


def _nodes_of(view: RunView, tests: Iterable[str]) -> set[str]:
    results = (view.results.get(test) for test in tests)
    return {node.id for result in results if result is not None for node in result.test.target.nodes}


class _Said(NamedTuple):
    """Findings by the node they are about, by the nodes they drag down, and the tests that they explain."""

    own: Mapping[str, Finding]
    affected: Mapping[str, Finding]
    explained: frozenset[str]


def _said(findings: Iterable[Finding]) -> _Said:
    own: dict[str, Finding] = {}
    affected: dict[str, Finding] = {}
    explained: set[str] = set()
    for finding in findings:
        explained.update(finding.tests)
        about_nodes = finding.suspect in (Suspect.NODE, Suspect.NIC, Suspect.STORAGE)
        for name in finding.nodes:
            (own if about_nodes else affected).setdefault(name, finding)
    return _Said(own, affected, frozenset(explained))


def _node(node: Node, results: tuple[Result, ...], verdicts: tuple[Verdict, ...], said: _Said) -> NodeView:
    """One node: what a finding elsewhere explains does not count against it, being dragged down shows as affected."""
    failures = tuple(result.failure for result in results if result.failure and result.failure.node == node.id)
    finding = said.own.get(node.id) or said.affected.get(node.id)
    states = {state_of_failure(failure.stage) for failure in failures}
    if node.id in said.own:
        states.add(state_of_level(said.own[node.id].level))
    elif node.id in said.affected:
        states.add(State.AFFECTED)
    states.update(
        state_of(verdict)
        for verdict in verdicts
        if verdict.level in (Level.PASS, Level.UNKNOWN) or verdict.test not in said.explained
    )
    if not states and any(result.measurements for result in results):
        states.add(State.MEASURED)
    if not states and results and all(result.failure for result in results):
        states.add(State.UNKNOWN)
    return NodeView(node, worst(states), verdicts, results, failures, finding)


def carried_over(view: RunView) -> Links:
    """Links by what was measured over them: bundles that filled a link, lone flows on a NIC; all of a session."""
    found = dict.fromkeys(view.links, LinkView())
    bundles = {each.number: {bundle.name: bundle for bundle in each.bundles} for each in view.plan}
    for test, result in superseding(view).items():
        _add(found, view.fabric, bundles.get(result.test.round, {}), result, view.verdicts.get(test, ()))
    return Grown(found)


def carried_more(view: RunView, closed: ClosedRound, verdicts: Mapping[str, Sequence[Verdict]]) -> Links:
    """The links of ``view`` after one more round that repeats nothing."""
    found = _Changed(view.carried)
    bundles = {bundle.name: bundle for bundle in closed.round.bundles}
    for result in closed.results:
        _add(found, view.fabric, bundles, result, verdicts.get(result.test.id, ()))
    return grown(view.carried).plus(found)


class _Changed(dict[LinkId, LinkView]):
    """Links that are another now; those that are asked for come from ``before``."""

    def __init__(self, before: Links) -> None:
        super().__init__()
        self._before = before

    def __missing__(self, link: LinkId) -> LinkView:
        return self._before[link]


def _add(
    found: dict[LinkId, LinkView],
    fabric: Fabric,
    bundles: Mapping[str, Bundle],
    result: Result,
    verdicts: Iterable[Verdict],
) -> None:
    for verdict in verdicts:
        for link, filled in _loaded(fabric, bundles, result, verdict):
            found[link] = _worse(found[link], verdict, filled=filled)


def links_after(fabric: Fabric, carried: Links, findings: Iterable[Finding]) -> Links:
    """The links as they stand: what was measured, and what findings say of them."""
    found: dict[LinkId, LinkView] = {}
    for finding in findings:
        for link in links_of(fabric, finding):
            found[link.id] = _named(link, found.get(link.id, carried[link.id]), finding)
    return grown(carried).plus(found)


def _loaded(
    fabric: Fabric, bundles: Mapping[str, Bundle], result: Result, verdict: Verdict
) -> list[tuple[LinkId, bool]]:
    """The links that a capacity verdict speaks of, and whether they were filled.

    Those of its bundle, or the NICs of a lone flow (as slow as the slower one: filled).
    """
    target = result.test.target
    if verdict.expected is None or target.peer is None:
        return []
    if result.test.bundle:
        bundle = bundles.get(result.test.bundle)
        return [(way.link, bundle.fill >= FULL) for way in bundle.elements] if bundle is not None else []
    ends = ((target.node, target.peer), (target.peer, target.node))
    return [(link.id, True) for node, other in ends for link in _legs_between(fabric, node, other)]


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


def links_of(fabric: Fabric, finding: Finding) -> Sequence[Link]:
    """The links that a finding is about: itself a link, or the cables of a node whose NIC is meant."""
    link = fabric.links.get(LinkId(finding.element))
    if link is not None:
        return (link,)
    return (
        fabric.links_at[finding.element] if finding.suspect is Suspect.NIC and finding.element in fabric.nodes else ()
    )


def _named(link: Link, before: LinkView, finding: Finding) -> LinkView:
    members = None
    if link.is_lag and finding.value is not None and finding.expected:
        alike = finding.value / finding.expected * link.count
        members = round(alike) if abs(alike - round(alike)) <= 0.12 else None
    state = state_of_level(finding.level)
    return LinkView(state, finding.value, finding.expected, members, finding)
