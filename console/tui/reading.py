"""Owns what the screens read out of a RunView: shares, loads, faults in the order in which ``n`` walks them.

Pure functions; they sum and sort what was judged elsewhere and judge nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from console.view import LinkView, NodeView, RunView, State
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
    links = (LinkId(element),) if LinkId(element) in fabric.links else ()
    nodes = (NodeId(element),) if NodeId(element) in fabric.nodes else ()
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
    """Links that have fewer members up than were built."""
    return {
        name: seen.members_up
        for name, seen in view.links.items()
        if seen.members_up is not None and name in view.fabric.links and seen.members_up < view.fabric.links[name].count
    }


def load(view: RunView, links: Iterable[Link]) -> float | None:
    """byte/s of payload over ``links`` in the last round that filled them, None when none did."""
    seen = [link_of(view, link.id).measured for link in links]
    found = [value for value in seen if value is not None]
    return sum(found) if found else None


def share(verdict: Verdict) -> float | None:
    """measured / expected where more is better, None where the words would mean another thing."""
    if verdict.unit not in _MORE_IS_BETTER:
        return None
    value = verdict.share
    return value if value is not None and value == value else None


def node_share(node: NodeView) -> float | None:
    """The lowest share of expected that the node reached in anything."""
    found = [value for value in map(share, node.verdicts) if value is not None]
    return min(found, default=None)


def standing(node: NodeView) -> State:
    """The state to draw: running where it is tested now and nothing worse is known."""
    if node.running and node.state.rank > State.RUNNING.rank:
        return State.RUNNING
    return node.state
