"""The parts of a fabric that can be at fault by themselves, as numbers: directed links, and directed members of LAGs.

A directed link has its number of the graph (``Graph.way``). The members of LAGs follow after these, each in both
directions; the one cable of a link that is no LAG is the link.
"""

from collections.abc import Iterable

import numpy as np

from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.routing.graph import Graph
from benchconsole.topology.routing.hashed_paths import CableStep


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

    def member(self, way: int, member: int) -> int:
        """The number of a member (from 0) of a directed link; of a link that is no LAG, of the link itself."""
        return int(self._first[way >> 1]) + 2 * member + (way & 1) if self.graph.links[way >> 1].is_lag else way

    def on_path(self, path: Iterable[CableStep]) -> Indices:
        """The directed links of a path, then the members of LAGs on it."""
        steps = list(path)
        members = (self.member(step.way, step.member) for step in steps)
        return np.array([*(step.way for step in steps), *(each for each in members if each >= self.ways)], np.intp)

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
