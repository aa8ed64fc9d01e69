"""Questions to a RunView: shares, loads, and faults in the order in which ``n`` walks them.

Pure functions; they sum and sort what was judged elsewhere and judge nothing.
"""

import math
from collections.abc import Container, Iterable, Mapping

from msgspec import Struct

from benchconsole.console.text.name_sets import fold_names
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.view.blame import Blame
from benchconsole.console.view.run_view import LinkView, NodeView, RunView, State, state_of_level
from benchconsole.console.view.session_control import FlowHop
from benchconsole.probes.judging.link_state import RackLoad, estimate_rack_load
from benchconsole.probes.model.judgement import Finding, Level, Suspect, Verdict
from benchconsole.probes.model.kept_readings import list_kinds
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Link, LinkId, NodeId
from benchconsole.topology.units import Unit

_MORE_IS_BETTER = (Unit.BYTE_RATE, Unit.FLOP_RATE, Unit.PER_SECOND, Unit.BYTE)
_LONGEST_SET = 40
"""Characters of a folded set of nodes in a headline; a longer one is told by its first names and their number."""

_UNSEEN_LINK = LinkView()


class UnjudgedNodes(Struct, frozen=True):
    """Nodes that could not be asked, or not be judged, and of which no finding speaks; it answers as a finding does."""

    state: State
    nodes_at: tuple[NodeId, ...]
    what: str
    links_at: tuple[str, ...] = ()

    @property
    def where(self) -> str:
        folded = fold_names(self.nodes_at)
        return folded if len(folded) <= _LONGEST_SET else format_names(self.nodes_at)

    @property
    def means(self) -> str:
        return f"{'its' if len(self.nodes_at) == 1 else 'their'} tests are not counted as passed"


Fault = Finding | UnjudgedNodes


def list_faults(view: RunView) -> tuple[Fault, ...]:
    """Findings in the order in which they were ranked, then nodes that no finding speaks of: silent, then unknown."""
    named = {node for finding in view.findings for node in finding.nodes}
    others: list[UnjudgedNodes] = []
    for state, explain in ((State.UNREACHABLE, _why_silent), (State.UNKNOWN, _why_unknown)):
        left = ((explain(node), name) for name, node in view.nodes.items() if node.state is state and name not in named)
        others += [UnjudgedNodes(state, tuple(nodes), why) for why, nodes in group_by_key(left).items()]
    return (*view.findings, *others)


def state_of_fault(fault: Fault) -> State:
    """The state that a fault gives its element."""
    return state_of_level(fault.level) if isinstance(fault, Finding) else fault.state


def find_place(view: RunView, fault: Fault) -> str:
    """The node, link or switch of the map where a fault is best seen; empty where it is nowhere on it.

    Its own links or node come first, then a server of a storage system, then the first of the nodes that are affected.
    """
    places: list[str] = [*fault.links_at, *fault.nodes_at]
    if isinstance(fault, Finding):
        fabric = view.fabric
        system = fabric.storage.get(fault.element) if fault.suspect is Suspect.SYSTEM else None
        places += [fault.element] if fault.element in fabric.switches or fault.element in fabric.links else []
        places += [*(system.servers if system is not None else ()), *fault.nodes]
    return next(iter(places), "")


def sum_load(view: RunView, hop: FlowHop) -> float:
    """byte/s of payload that the tests of a round put on a link together, by what those gave that are in."""
    from benchconsole.probes.judging.round_flows import find_flow  # here: it imports numpy, before the first frame

    load = 0.0
    for test, flow, share in hop.crossing:
        result = view.results.get(test)
        if result is not None:
            rates = (each for each in result.measurements if each.unit is Unit.BYTE_RATE)
            load += next((share * each.value for each in rates if find_flow(result.test, each) == flow), 0.0)
    return load


def describe_own_fault(view: RunView, nodes: Container[str]) -> tuple[State, str] | None:
    """The worst that one of ``nodes`` has of its own, in words."""
    for fault in list_faults(view):
        own = next((node for node in fault.nodes_at if node in nodes), None)
        if own is not None:
            return state_of_fault(fault), f"{sanitize(own)} {sanitize(fault.what)}"
    return None


def _why_silent(node: NodeView) -> str:
    failure = next((each for each in node.failures if each.stage.means_unreachable), None)
    if failure is None:
        return "could not be asked"
    return sanitize(failure.detail or failure.stage.value)


def _why_unknown(node: NodeView) -> str:
    failure = next(iter(node.failures), None)
    if failure is not None:
        return sanitize(f"{failure.stage.value}: {failure.detail}".removesuffix(": "))
    unknown = next((each for each in node.verdicts if each.level is Level.UNKNOWN), None)
    return sanitize(unknown.because) if unknown is not None else "cannot be judged"


def format_names(nodes: Iterable[str], most: int = 3) -> str:
    """``n1 n2 n3``, ``n1 n2 and 14 more``."""
    every = [sanitize(node) for node in nodes]
    if len(every) <= most:
        return " ".join(every)
    return f"{' '.join(every[: most - 1])} and {len(every) - most + 1:,} more"


def find_link(view: RunView, link: LinkId) -> LinkView:
    """The link as it stands."""
    return view.links.get(link, _UNSEEN_LINK)


def find_lost_members(view: RunView) -> Mapping[LinkId, int]:
    """Links that have fewer members up than were built; only a finding can say so."""
    return {
        LinkId(link): finding.members_up
        for finding in view.findings
        for link in finding.links
        if finding.members_up is not None and finding.members_up < view.fabric.links[LinkId(link)].count
    }


def sum_payload(view: RunView, links: Iterable[Link]) -> float:
    """byte/s of payload that ``links`` carry as built, all together and in one direction."""
    return sum(view.fabric.payload(link) for link in links)


def find_rack_load(view: RunView, links: Iterable[Link]) -> RackLoad:
    """The last known load of links that leave one rack."""
    every = tuple(links)
    seen = {link.id: find_link(view, link.id) for link in every}
    readings = {
        name: (each.measured, each.expected)
        for name, each in seen.items()
        if each.measured is not None and each.expected
    }
    blamed = {name for name, each in seen.items() if each.finding is not None}
    return estimate_rack_load({link.id: sum_payload(view, (link,)) for link in every}, readings, blamed)


def find_share(verdict: Verdict) -> float | None:
    """measured / expected where more is better, None where the words would mean another thing."""
    if verdict.unit not in _MORE_IS_BETTER:
        return None
    value = verdict.share
    return None if value is None or math.isnan(value) else value


def find_shown_state(node: NodeView, busy: Container[NodeId] = ()) -> State:
    """The state to draw: running where it is tested now and nothing worse is known."""
    if node.node.id in busy and node.state.rank > State.RUNNING.rank:
        return State.RUNNING
    return node.state


def is_shared(verdict: Verdict) -> bool:
    """Whether a verdict speaks of several flows by their sum."""
    return len(verdict.evidence) > 1 and ">" not in verdict.subject and len(verdict.nodes) > 1


def find_busy_nodes(view: RunView) -> frozenset[NodeId]:
    """Nodes on which a test of the open round runs now."""
    if view.current is None or not view.running:
        return frozenset()
    return frozenset(node.id for test in view.current.tests if test.id in view.running for node in test.target.nodes)


class LowestShares:
    """The lowest share of expected that each node reached, of what is its own or drags it down; each found once."""

    def __init__(self, blame: Blame) -> None:
        self._blame = blame
        self._known: dict[NodeId, tuple[NodeView, float | None]] = {}

    def find(self, node: NodeView) -> float | None:
        """That of a node as it stands; None where it has no share of its own."""
        known = self._known.get(node.node.id)
        if known is None or known[0] is not node:
            known = self._known[node.node.id] = (node, self._compute(node))
        return known[1]

    def _compute(self, node: NodeView) -> float | None:
        shares = [
            value
            for verdict in node.verdicts
            if (value := find_share(verdict)) is not None
            and self._blame.concerns(node.node.id, verdict)
            and not (verdict.level is Level.PASS and is_shared(verdict))  # a sum that passes says nothing of one
        ]
        return min(shares, default=None)


def list_metrics(view: RunView) -> tuple[str, ...]:
    """The metrics that were measured, in the order of the plan: those of the first test of each round that gave any."""
    found: dict[str, None] = {}
    for each in view.plan:
        results = (view.results[test.id] for test in each.tests if test.id in view.results)
        first = next((result for result in results if len(result.measurements)), None)
        if first is not None:
            found.update(dict.fromkeys(metric for metric, *_ in list_kinds(first)))
    return tuple(map(sanitize, found))
