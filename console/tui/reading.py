"""Owns what the screens read out of a RunView: shares, loads, faults in the order in which ``n`` walks them.

Pure functions; they sum and sort what was judged elsewhere and judge nothing.
"""

import math
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass

from console.standing import links_of
from console.view import LinkView, NodeView, RunView, State, state_of
from console.wording import plain
from probes.judging.verdict import Finding, Level, Suspect, Verdict
from topology.model import Fabric, Link, LinkId, NodeId
from topology.units import Unit

_MORE_IS_BETTER = (Unit.BYTE_RATE, Unit.FLOP_RATE, Unit.PER_SECOND, Unit.BYTE)
_UNSEEN_LINK = LinkView()


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong: a finding, or nodes that could not be asked.

    ``nodes`` and ``links`` say where it sits, ``nodes`` only where it is a node's own fault.
    """

    state: State
    where: str
    what: str
    reason: str
    nodes: tuple[NodeId, ...] = ()
    links: tuple[LinkId, ...] = ()
    finding: Finding | None = None


def faults(view: RunView) -> tuple[Fault, ...]:
    """Findings in the order in which they were ranked, then nodes that no finding speaks of."""
    made = [_of_finding(view.fabric, finding) for finding in view.findings]
    named = {node for finding in view.findings for node in finding.nodes}
    silent: dict[str, list[NodeId]] = {}
    for name, node in view.nodes.items():
        if node.state is State.UNREACHABLE and name not in named:
            silent.setdefault(_why_silent(node), []).append(name)
    for why, nodes in silent.items():
        made.append(
            Fault(
                State.UNREACHABLE,
                names(nodes),
                why,
                "its tests are not counted as passed" if len(nodes) == 1 else "their tests are not counted as passed",
                tuple(nodes),
            )
        )
    return tuple(made)


def _of_finding(fabric: Fabric, finding: Finding) -> Fault:
    state = {Level.FAIL: State.FAIL, Level.WATCH: State.WATCH}.get(finding.level, State.UNKNOWN)
    element = finding.element
    links: tuple[LinkId, ...] = (LinkId(element),) if LinkId(element) in fabric.links else ()
    nodes: tuple[NodeId, ...] = (NodeId(element),) if NodeId(element) in fabric.nodes else ()
    if links and finding.suspect is Suspect.NIC:
        nodes = tuple(NodeId(end) for end in _ends(fabric, links[0]) if NodeId(end) in fabric.nodes)
    if not links and not nodes and finding.suspect in (Suspect.NODE, Suspect.NIC, Suspect.STORAGE):
        nodes = tuple(NodeId(node) for node in finding.nodes[:1] if NodeId(node) in fabric.nodes)
    return Fault(state, plain(finding.where), plain(finding.what), plain(finding.means), nodes, links, finding)


def _ends(fabric: Fabric, link: LinkId) -> tuple[str, str]:
    return fabric.links[link].a, fabric.links[link].b


def _why_silent(node: NodeView) -> str:
    failure = next((each for each in node.failures if each.stage.means_unreachable), None)
    if failure is None:
        return "could not be asked"
    return plain(failure.detail or failure.stage.value)


def names(nodes: Iterable[str], most: int = 3) -> str:
    """``n1 n2 n3``, ``n1 n2 and 14 more``."""
    every = [plain(node) for node in nodes]
    if len(every) <= most:
        return " ".join(every)
    return f"{' '.join(every[: most - 1])} and {len(every) - most + 1:,} more"


def link_of(view: RunView, link: LinkId) -> LinkView:
    """The link as it stands."""
    return view.links.get(link, _UNSEEN_LINK)


def members(view: RunView) -> Mapping[LinkId, int]:
    """Links that have fewer members up than were built; only a finding can say so."""
    found: dict[LinkId, int] = {}
    for finding in view.findings:
        for link in links_of(view.fabric, finding):
            up = link_of(view, link.id).members_up
            if up is not None and up < link.count:
                found[link.id] = up
    return found


def payload(view: RunView, links: Iterable[Link]) -> float:
    """byte/s of payload that ``links`` carry as built, all together and in one direction."""
    return sum(link.capacity * view.fabric.goodput_of(link) for link in links)


@dataclass(frozen=True, slots=True)
class Load:
    """What goes over links that leave one rack: all together, and over each; byte/s of payload, None where unknown."""

    total: float | None
    each: Mapping[LinkId, float | None]


def load(view: RunView, links: Iterable[Link]) -> Load:
    """The last known load. A bundle that fills all of ``links`` at once tells their sum, and no more than that."""
    every = tuple(links)
    full = {link.id: payload(view, (link,)) for link in every}
    own: dict[LinkId, float | None] = {}
    summed: list[tuple[float, float]] = []
    for link in every:
        seen = link_of(view, link.id)
        if seen.measured is None or not seen.expected:
            own[link.id] = None
        elif seen.expected <= full[link.id] * 1.05:
            own[link.id] = seen.measured
        else:
            own[link.id] = seen.measured / seen.expected * full[link.id]
            summed.append((seen.measured, seen.expected))
    whole = sum(full.values())
    total = next((value for value, expected in summed if expected >= 0.9 * whole), None)
    if total is not None:
        _split(view, every, full, own, total)
        return Load(total, own)
    known = [value for value in own.values() if value is not None]
    return Load(sum(known) if known else None, own)


def _split(
    view: RunView, links: Iterable[Link], full: Mapping[LinkId, float], own: dict[LinkId, float | None], total: float
) -> None:
    """Give what is known of single links to them, and the rest of ``total`` to the others by capacity."""
    named = {link.id for link in links if link_of(view, link.id).finding is not None and own[link.id] is not None}
    rest = total - sum(own[name] or 0.0 for name in named)
    others = sum(full[name] for name in full if name not in named)
    for name in full:
        if name not in named:
            own[name] = min(max(rest * full[name] / others, 0.0), full[name]) if others else None


def share(verdict: Verdict) -> float | None:
    """measured / expected where more is better, None where the words would mean another thing."""
    if verdict.unit not in _MORE_IS_BETTER:
        return None
    value = verdict.share
    return None if value is None or math.isnan(value) else value


def standing(node: NodeView, busy: Container[NodeId] = ()) -> State:
    """The state to draw: running where it is tested now and nothing worse is known."""
    if node.node.id in busy and node.state.rank > State.RUNNING.rank:
        return State.RUNNING
    return node.state


def shared(verdict: Verdict) -> bool:
    """Whether a verdict speaks of several flows by their sum."""
    return len(verdict.evidence) > 1 and ">" not in verdict.subject and len(verdict.nodes) > 1


def busy_nodes(view: RunView) -> frozenset[NodeId]:
    """Nodes on which a test of the open round runs now."""
    if view.current is None or not view.running:
        return frozenset()
    return frozenset(node.id for test in view.current.tests if test.id in view.running for node in test.target.nodes)


class Blame:
    """Whose fault a low value is: findings by the tests that they explain. Made once for each set of findings."""

    def __init__(self, findings: Iterable[Finding] = ()) -> None:
        self._by_test: dict[str, list[Finding]] = {}
        for finding in findings:
            for test in finding.tests:
                self._by_test.setdefault(test, []).append(finding)

    def elsewhere(self, node: str, verdict: Verdict) -> Finding | None:
        """The finding that explains a low value of ``node`` by another element, None when it is its own."""
        if verdict.level not in (Level.FAIL, Level.WATCH):
            return None
        found = self._by_test.get(verdict.test, [])
        if any(node in finding.nodes and finding.suspect in _OF_A_NODE for finding in found):
            return None
        return next(iter(found), None)

    def state(self, node: str, verdict: Verdict) -> State:
        """What a verdict says of ``node``: affected when another element is to blame."""
        return State.AFFECTED if self.elsewhere(node, verdict) is not None else state_of(verdict)

    def share(self, node: NodeView) -> float | None:
        """The lowest share of expected that the node reached, of what is its own or drags it down."""
        found = [
            value
            for verdict in node.verdicts
            if (value := share(verdict)) is not None
            and self.concerns(node.node.id, verdict)
            and not (verdict.level is Level.PASS and shared(verdict))  # a sum that passes says nothing of one
        ]
        return min(found, default=None)

    def concerns(self, node: str, verdict: Verdict) -> bool:
        """False where a partner is to blame and this node only took part."""
        finding = self.elsewhere(node, verdict)
        return finding is None or node in finding.nodes


_OF_A_NODE = (Suspect.NODE, Suspect.NIC, Suspect.STORAGE)
