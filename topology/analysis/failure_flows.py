"""Bandwidth that is left to flows without one element, by the engine of ``expect`` on the fabric without it.

Of a link between switches the flows are those between the nodes nearer to its one end and the nodes nearer to its
other end, in links: all of them at once, in both directions. So both sides ask for all that they can send each other
past the place of the loss. The capacity between the two sides, by the least cut, stands beside what the flows get,
because a routing need not use all of it. Of a switch, a peer link and a node that forwards the flows are all that cross
it, of a leg those of its node with every other. Rates are payload, max-min fair and of the model ``fluid``, as
``expect --without`` prints them. Nodes that are cut off are told by ``topology.tables.separation``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchconsole.topology.analysis.bisection import find_cut
from benchconsole.topology.analysis.element_classes import Marks, find_classes
from benchconsole.topology.analysis.group_flows import MOST_GROUPS, GroupFlows, Pair
from benchconsole.topology.arrays import Floats
from benchconsole.topology.capacity.flow_groups import describe_link, group_cabled_nodes
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric, LinkId, NodeId
from benchconsole.topology.model.failed_elements import remove_elements
from benchconsole.topology.model.forwarding import forget_tables
from benchconsole.topology.selection import fold
from benchconsole.topology.tables.fabric_tables import Tables, make_tables
from benchconsole.topology.tables.single_failures import FailureKind

MOST_FLOWS = 8_000
"""Flows that are routed anew for all failures together: about two seconds of one core."""
MOST_MARKED = 1_000_000
"""Elements of a kind times links, up to which equal elements are looked for."""
_SAME = 1e-9

_DEVICES = (FailureKind.SWITCH, FailureKind.GATEWAY)
_KINDS = (
    FailureKind.LINK, FailureKind.PEER, FailureKind.SWITCH, FailureKind.GATEWAY, FailureKind.MEMBER,
    FailureKind.LEG, FailureKind.LEG_MEMBER,
)  # fmt: skip
"""In the order in which they are computed while flows may be routed: all of a kind or none."""


@dataclass(frozen=True, slots=True)
class FlowLoss:
    """The rates of flows together ``before`` and ``after`` a loss, byte/s of payload in the direction that loses more.

    ``share`` is what the worst node that keeps a path has left of its rate, sending or receiving; ``degraded`` nodes
    have less than before. All 0 and 1 where no flow crosses the element. ``lacks_peer_link``: part of them would
    need a peer link that is not described, and counts for nothing. ``cut_before`` and ``cut_after`` are the least cut
    between the two sides of a link, byte/s on the wire in one direction; None where there are no sides.
    """

    before: float = 0.0
    after: float = 0.0
    share: float = 1.0
    degraded: int = 0
    lacks_peer_link: bool = False
    cut_before: float | None = None
    cut_after: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether no flow of the model needs the element."""
        return not self.before

    @property
    def keeps_all(self) -> bool:
        """Whether each flow gets without the element what it got with it, and the sides lose no capacity."""
        whole = self.cut_before is None or self.cut_after is None or self.cut_after >= self.cut_before * (1 - _SAME)
        return whole and self.share >= 1 - _SAME and self.after >= self.before * (1 - _SAME)


@dataclass(frozen=True, slots=True, eq=False)
class _Case:
    """One failure: the pairs that send, the groups that are near, and the flows of the fabric without the failure."""

    pairs: tuple[Pair, ...]
    near: frozenset[int]
    flows: GroupFlows
    is_leg: bool = False


class FailureFlows:
    """The flows over the elements of one fabric, with and without each."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric = forget_tables(fabric)  # what is lost makes a subnet manager write others
        self._groups = group_cabled_nodes(fabric)
        self._whole = GroupFlows(fabric, self._groups)
        self._group_of = {node: number for number, group in enumerate(self._groups) for node in group}
        self._distances: dict[str, list[float]] = {}
        self._alone: dict[str, GroupFlows] = {}

    def list_losses(self, elements: Sequence[tuple[FailureKind, str]]) -> Mapping[tuple[FailureKind, str], FlowLoss]:
        """The loss of flows without each of ``elements`` (its kind, and its name).

        Elements of a kind that would take too long are not in it.
        """
        found: dict[tuple[FailureKind, str], FlowLoss] = {}
        if not 0 < len(self._groups) <= MOST_GROUPS:
            return found
        left = MOST_FLOWS
        for kind in _KINDS:
            names = [name for each, name in elements if each is kind]
            classes = self._find_classes(kind, names)
            if classes is None:
                continue
            firsts = dict(reversed(list(zip(classes, names, strict=True))))
            cases = {number: self._make_case(kind, name) for number, name in firsts.items()}
            left -= sum(len(case.pairs) for case in cases.values())
            if left < 0:
                break
            losses = {number: self._compare(kind, firsts[number], case) for number, case in cases.items()}
            found.update({(kind, name): losses[number] for number, name in zip(classes, names, strict=True)})
        return found

    def list_sides(self, link: str) -> tuple[str, str]:
        """The nodes nearer to each end of ``link``, as node sets; empty where the flows are those that cross it."""
        near, far = self._part(link)
        if not near or not far:
            return "", ""
        sides = ([node for each in sorted(side) for node in self._groups[each]] for side in (near, far))
        one, other = (fold(side) for side in sides)
        return one, other

    def _find_classes(self, kind: FailureKind, names: Sequence[str]) -> list[int] | None:
        """Per element the number of its class, legs of nodes cabled alike first taken as one; None for too many."""
        alike: dict[object, int] = {}
        firsts: list[str] = []
        which = []
        for name in names:
            which.append(alike.setdefault(self._describe(kind, name), len(alike)))
            if which[-1] == len(firsts):
                firsts.append(name)
        if len(firsts) * len(self._fabric.links) > MOST_MARKED:
            return None
        marks = [self._mark(kind, name) for name in firsts]
        classes = find_classes(self._fabric, self._groups, marks)
        return [classes[number] for number in which]

    def _describe(self, kind: FailureKind, name: str) -> object:
        link = self._fabric.links.get(LinkId(name))
        if kind in _DEVICES or link is None:
            return name
        node = next((end for end in (link.a, link.b) if NodeId(end) in self._group_of), None)
        if node is None or self._fabric.nodes[NodeId(node)].forwards:
            return name
        return self._group_of[NodeId(node)], link.other(node), describe_link(link)

    def _mark(self, kind: FailureKind, name: str) -> Marks:
        if kind in _DEVICES:
            known = name in self._fabric.switches or name in self._group_of
            # A node that forwards between nodes alone is cabled to nothing that is coloured: it is its own class.
            return (kind, (name,)) if known else (f"{kind} {name}", ())
        link = self._fabric.links[LinkId(name)]
        if not all(end in self._fabric.switches or end in self._group_of for end in (link.a, link.b)):
            return f"{kind} {name}", ()
        return f"{kind} {describe_link(link)}", (link.a, link.b)

    def _make_case(self, kind: FailureKind, name: str) -> _Case:
        if kind in _DEVICES:
            return _Case(self._list_crossing_device(name), frozenset(), self._whole)
        link = self._fabric.links[LinkId(name)]
        if kind in (FailureKind.LEG, FailureKind.LEG_MEMBER):
            node = NodeId(link.a if link.a in self._fabric.nodes else link.b)
            if not self._fabric.nodes[node].forwards:
                return self._make_leg_case(node)
        near, far = self._part(name) if kind in (FailureKind.LINK, FailureKind.MEMBER) else (frozenset(),) * 2
        if not near or not far:
            return _Case(tuple(self._crossing.get(link.id, ())), frozenset(), self._whole)
        pairs = tuple((one, other) for one in sorted(near) for other in sorted(far))
        back = tuple((other, one) for one, other in pairs)
        return _Case((*pairs, *back), frozenset(near), self._whole)

    def _make_leg_case(self, node: NodeId) -> _Case:
        """The node of a leg alone, with every other node."""
        if node not in self._alone:
            at = self._group_of[node]
            rest = tuple(each for each in self._groups[at] if each != node)
            others = [*self._groups[:at], *([rest] if rest else []), *self._groups[at + 1 :]]
            self._alone[node] = GroupFlows(self._fabric, ((node,), *others))
        flows = self._alone[node]
        out = tuple((0, other) for other in range(1, len(flows.groups)))
        return _Case((*out, *((other, 0) for _, other in out)), frozenset((0,)), flows, is_leg=True)

    def _part(self, link: str) -> tuple[frozenset[int], frozenset[int]]:
        """The groups nearer to one end of a link than to the other, and those nearer to the other."""
        found = self._fabric.links[LinkId(link)]
        one, other = (self._find_distances(end) for end in (found.a, found.b))
        numbers = range(len(self._groups))
        near = frozenset(number for number in numbers if one[number] < other[number])
        return near, frozenset(number for number in numbers if other[number] < one[number])

    def _find_distances(self, switch: str) -> list[float]:
        if switch not in self._distances:
            self._distances[switch] = self._whole.find_distances(switch)
        return self._distances[switch]

    @cached_property
    def _crossing(self) -> Mapping[LinkId, list[Pair]]:
        """Per link the pairs of groups whose flows cross it."""
        found: dict[LinkId, list[Pair]] = {}
        numbers = range(len(self._groups))
        for pair in ((one, other) for one in numbers for other in numbers):
            if self._whole.count(pair):
                for link in self._whole.list_links(pair):
                    found.setdefault(link, []).append(pair)
        return found

    def _list_crossing_device(self, device: str) -> tuple[Pair, ...]:
        """The pairs whose flows cross a device, without those of nodes that are cabled to it alone."""
        crossing = {pair for link in self._fabric.links_at[device] for pair in self._crossing.get(link.id, ())}
        ends = set()
        for number, group in enumerate(self._groups):
            node = group[0]
            if device == node or all(link.other(node) == device for link in self._fabric.links_at[node]):
                ends.add(number)
        return tuple(sorted(pair for pair in crossing if not ends.intersection(pair)))

    def _compare(self, kind: FailureKind, name: str, case: _Case) -> FlowLoss:
        if not case.pairs or (kind not in _DEVICES and not case.flows.crosses(case.pairs, LinkId(name))):
            return FlowLoss()
        if kind is FailureKind.SWITCH:
            worn = remove_elements(self._fabric, switches=[name])
        elif kind is FailureKind.GATEWAY:
            worn = remove_elements(self._fabric, nodes=[name])
        elif kind in (FailureKind.MEMBER, FailureKind.LEG_MEMBER):
            worn = remove_elements(self._fabric, members={name: 1})
        else:
            worn = remove_elements(self._fabric, links=[name])
        flows = GroupFlows(worn, case.flows.groups)
        after = flows.compute_rates(case.pairs)
        found = _make_loss(case, case.flows.compute_rates(case.pairs), after)
        lacking = bool((after == 0).any()) and flows.lacks_peer_link(case.pairs)
        if not case.near or case.is_leg:
            return replace(found, lacks_peer_link=lacking)
        sides = self._list_nodes(case)
        cuts = (self._find_cut(self._tables, *sides), self._find_cut(make_tables(worn), *sides))
        return replace(found, lacks_peer_link=lacking, cut_before=cuts[0], cut_after=cuts[1])

    @cached_property
    def _tables(self) -> Tables:
        return make_tables(self._fabric)

    def _list_nodes(self, case: _Case) -> tuple[list[NodeId], list[NodeId]]:
        """The nodes of both sides of a link."""
        numbers = {number for pair in case.pairs for number in pair}
        near, far = (sorted(side) for side in (case.near, numbers - case.near))
        return (
            [node for number in near for node in self._groups[number]],
            [node for number in far for node in self._groups[number]],
        )

    def _find_cut(self, cabled: Tables, near: Sequence[str], far: Sequence[str]) -> float | None:
        try:
            return _round(find_cut(cabled, near, far).bound)
        except ArithmeticError:
            return None


def _make_loss(case: _Case, before: Floats, after: Floats) -> FlowLoss:
    sizes = np.array([len(group) for group in case.flows.groups], float)
    one, other = (np.array(ends, np.intp) for ends in zip(*case.pairs, strict=True))
    count = np.array([case.flows.count(pair) for pair in case.pairs], float)
    out = np.isin(one, list(case.near)) if case.near else np.ones(len(one), bool)
    ways = [
        (_round(float((before * count)[way].sum())), _round(float((after * count)[way].sum()))) for way in (out, ~out)
    ]
    held, left = min((way for way in ways if way[0]), key=lambda way: (way[1] / way[0], way), default=(0.0, 0.0))
    share, degraded = 1.0, np.zeros(len(sizes), bool)
    # Of a leg it is its own node that counts: the others reach each other as before.
    asked = np.arange(len(sizes)) == 0 if case.is_leg else np.ones(len(sizes), bool)
    for ends in (one, other):
        had, has = (np.bincount(ends, weights=rate * count, minlength=len(sizes)) for rate in (before, after))
        part = np.divide(has, had, out=np.ones(len(sizes)), where=(had > 0) & asked)
        share = min(share, float(part[part > 0].min(initial=1.0)))
        degraded |= (part > 0) & (part < 1 - _SAME)
    return FlowLoss(held, left, _round(share), int(sizes[degraded].sum()))


def _round(value: float) -> float:
    """Rounded so that elements that differ in the last bit of a sum are alike."""
    return float(f"{value:.10g}")
