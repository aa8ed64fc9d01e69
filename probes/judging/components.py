"""The components of a fabric that a finding may name, each with the parts that fail with it.

A component is one way over a cable, a LAG or a member of one; both ways over it; the NIC of a node with all legs of its
bond, one way or both; the links between two switches or MLAG pairs; or a switch with every link at it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from benchconsole.probes.judging.parts import Parts
from benchconsole.topology.model.fabric import Fabric, Link, NodeId
from benchconsole.topology.routing.graph import Graph


class ComponentKind(StrEnum):
    """The kinds, from the smallest to the largest."""

    MEMBER = "member"
    LINK = "link"
    NIC = "nic"
    UPLINKS = "uplinks"
    SWITCH = "switch"


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """``device`` is a node or switch for a NIC or a switch, the lower end for links.

    ``parts`` are numbers of ``Parts``; of a member and of what holds one there is no other than the member itself.
    """

    kind: ComponentKind
    device: str
    parts: frozenset[int]

    @property
    def is_one_way(self) -> bool:
        """Whether it is one direction only, which a switch never is."""
        return self.kind is not ComponentKind.SWITCH and len({part & 1 for part in self.parts}) == 1


class Components:
    """The components of one fabric, made when a part of them is asked for. The same one is the same object."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._graph: Graph = parts.graph
        self._fabric: Fabric = parts.graph.fabric
        self._made: dict[tuple[ComponentKind, frozenset[int]], Component] = {}
        self.holding = cache(self._list_holding)

    def _list_holding(self, part: int) -> tuple[Component, ...]:
        """Every component that has ``part``, the smallest first."""
        return tuple(dict.fromkeys(self._find_holding(part)))

    def _find_holding(self, part: int) -> Iterator[Component]:
        way = self._parts.way(part)
        link = self._graph.links[way >> 1]
        if part != way:
            yield from self._make_both(ComponentKind.MEMBER, link.a, (part,))
            return
        yield from self._make_both(ComponentKind.LINK, link.a, (way,))
        if self._is_node(link.a):
            legs = [each for each in self._fabric.active_legs(link.a) if each.network == link.network]
            if len(legs) > 1:
                yield from self._make_both(ComponentKind.NIC, link.a, (self._number(leg, way) for leg in legs))
        elif not self._is_node(link.b):
            beside = self._list_beside(link)
            if len(beside) > 1:
                ways = (self._number(each, way) for each in beside)
                yield from self._make_both(ComponentKind.UPLINKS, beside[0].a, ways)
        for end in (link.a, link.b):
            if not self._is_node(end):
                ways = (self._graph.way(each, end) for each in self._fabric.links_at[end])
                *_, both = self._make_both(ComponentKind.SWITCH, end, ways)
                yield both

    def _make_both(self, kind: ComponentKind, device: str, parts: Iterable[int]) -> Iterator[Component]:
        """The component of ``parts``, which are one way, and that of both ways."""
        one_way = list(parts)
        yield self._make(kind, device, one_way)
        yield self._make(kind, device, (*one_way, *(part ^ 1 for part in one_way)))

    def _number(self, link: Link, way: int) -> int:
        """The number of ``link`` in the direction of ``way``: up from its lower end, or down."""
        return self._graph.way(link, link.a) | way & 1

    def find_nic(self, node: str) -> Component:
        """The NIC of a node, both ways: all legs of its bond; of a virtual machine that of its host."""
        node = self._fabric.nodes[NodeId(node)].host or node
        (first, *_) = self._fabric.active_legs(node)
        every = self.holding(self._graph.way(first, first.a))
        nodes = [each for each in every if each.device == node and not each.is_one_way]
        return max(nodes, key=lambda each: len(each.parts))

    def join(self, components: Sequence[Component]) -> Component | None:
        """The one component, or the smallest one whose parts are just those of all of them; None without such a one."""
        if len(components) == 1:
            return components[0]
        wanted = frozenset(part for each in components for part in each.parts)
        ways = frozenset(self._parts.way(part) for part in wanted)
        if len({way >> 1 for way in ways}) == 1 and len({self._parts.member_of(part) for part in wanted}) > 1:
            wanted = ways  # the members of one LAG
        return next((each for each in self.holding(min(wanted)) if each.parts == wanted), None)

    def _is_node(self, device: str) -> bool:
        return NodeId(device) in self._fabric.nodes

    def _list_beside(self, link: Link) -> list[Link]:
        """The links that share the traffic of ``link``: between the same two switches or MLAG pairs."""
        vertex = self._graph.vertex
        pair = self._fabric.mlag_of.get(link.a)
        return [
            each
            for device in (pair.switches if pair is not None else (link.a,))
            for each in self._fabric.links_at[device]
            if each.a == device and vertex.get(each.b) == vertex.get(link.b)
        ]

    def _make(self, kind: ComponentKind, device: str, parts: Iterable[int]) -> Component:
        chosen = frozenset(parts)
        # Two links between the same devices are one component, whichever of them it was found by.
        return self._made.setdefault((kind, chosen), Component(kind, device, chosen))
