"""The parts of a fabric that can be at fault by themselves, as numbers: directed links, and directed members of LAGs.

A directed link has its number of the graph (``Graph.way``). The members of LAGs follow after these, each in both
directions; the one cable of a link that is no LAG is the link.
"""

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from benchconsole.topology.arrays import Floats, Indices, sum_at
from benchconsole.topology.model.fabric import NodeId
from benchconsole.topology.routing.graph import Graph
from benchconsole.topology.routing.hashed_paths import CableStep


class MemberParts(NamedTuple):
    """Every member of a LAG in either direction: its part, and the directed link that it belongs to."""

    part: Indices
    way: Indices


class SharedLoads(NamedTuple):
    """The directed links that share one load: the group ``of`` each, and byte/s of payload of each group together."""

    of: Indices
    capacity: Floats


class Parts:
    """Numbers from 0 to ``size`` - 1; ``capacity`` is byte/s of payload that each of them carries as described."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.ways = 2 * len(graph.links)
        counts = np.array([link.count if link.is_lag else 0 for link in graph.links], np.intp)
        self._first: Indices = self.ways + 2 * (np.cumsum(counts) - counts)
        self._link: Indices = np.repeat(np.arange(len(counts)), counts)
        self.size = self.ways + 2 * len(self._link)
        lags = (link for link in graph.links if link.is_lag)
        members = [graph.fabric.payload(link, speed) for link in lags for speed in link.members]
        self.capacity: Floats = np.concatenate((graph.payload, np.repeat(np.array(members, float), 2)))

    @cached_property
    def members(self) -> MemberParts:
        part = np.arange(self.ways, self.size)
        return MemberParts(part, 2 * self._link[(part - self.ways) >> 1] + (part & 1))

    @cached_property
    def shared(self) -> SharedLoads:
        """The legs of a node, and the links that lead up from a switch or an MLAG pair, each in one direction.

        Equal-cost paths divide a load over several switches above as they divide it over the links to one of them.
        """
        numbers: dict[tuple[str, str, bool], int] = {}
        vertex, nodes = self.graph.vertex, self.graph.fabric.nodes
        of = np.empty(self.ways, np.intp)
        for number, link in enumerate(self.graph.links):
            is_leg = NodeId(link.a) in nodes
            below = (link.a, link.network) if is_leg else (vertex.get(link.a, link.a), "")
            for back in (False, True):
                of[2 * number + back] = numbers.setdefault((*below, back), len(numbers))
        return SharedLoads(of, sum_at(self.capacity[: self.ways], of, len(numbers)))

    def member(self, way: int, member: int) -> int:
        """The number of a member (from 0) of a directed link; of a link that is no LAG, of the link itself."""
        return int(self._first[way >> 1]) + 2 * member + (way & 1) if self.graph.links[way >> 1].is_lag else way

    def on_path(self, path: Iterable[CableStep]) -> Indices:
        """The directed links of a path, then the members of LAGs on it."""
        steps = list(path)
        members = (self.member(step.way, step.member) for step in steps)
        return np.array([*(step.way for step in steps), *(each for each in members if each >= self.ways)], np.intp)

    @cached_property
    def ways_of(self) -> Indices:
        """The directed link that each part is, or is a member of."""
        return np.concatenate((np.arange(self.ways), self.members.way))

    def list_members(self, way: int) -> Indices:
        """The members of a directed link, in its direction; none where it is no LAG."""
        link = self.graph.links[way >> 1]
        first = int(self._first[way >> 1]) + (way & 1)
        return np.arange(first, first + 2 * link.count, 2) if link.is_lag else np.empty(0, np.intp)

    def list_siblings(self, part: int) -> Indices:
        """The parts that a hash puts the load of a lost one on.

        Those that lead from the same device to the same switch or MLAG pair: members for a member, links for a link;
        where that is the only one, the links beside it that share its load.
        """
        way = self.way(part)
        every = self._find_ways(self._leaving, way)
        if way != part:
            every = np.concatenate([members if len(members := self.list_members(each)) else [each] for each in every])
        elif len(every) == 1:
            every = self._find_ways(self.shared.of, way)
        found: Indices = every[every != part]
        return found

    def _find_ways(self, group: Indices, way: int) -> Indices:
        return np.flatnonzero(group == group[way])

    @cached_property
    def _leaving(self) -> Indices:
        """Per directed link the group of those with the same source and the same switch or MLAG pair at the end."""
        numbers: dict[tuple[str, str, str], int] = {}
        vertex = self.graph.vertex
        of = np.empty(self.ways, np.intp)
        for number, link in enumerate(self.graph.links):
            for back, (source, end) in enumerate(((link.a, link.b), (link.b, link.a))):
                of[2 * number + back] = numbers.setdefault((source, vertex.get(end, end), link.network), len(numbers))
        return of

    def way(self, part: int) -> int:
        """The directed link that a part is, or is a member of."""
        if part < self.ways:
            return part
        return 2 * int(self._link[(part - self.ways) >> 1]) + (part & 1)

    def member_of(self, part: int) -> int | None:
        """Which member (from 0) of its directed link a part is; None for a directed link."""
        if part < self.ways:
            return None
        return (part - int(self._first[self.way(part) >> 1])) >> 1
