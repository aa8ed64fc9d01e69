"""The directed links that the flows of a running round cross, with what is expected of them and what limits them.

Read off the flows by which the round is judged when it has ended: nothing is routed a second time.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from benchconsole.probes.judging.round_flows import RoundFlows
from benchconsole.probes.model.measuring import INWARD
from benchconsole.topology.arrays import Flags, Floats, Indices, join_slices
from benchconsole.topology.capacity.limit_names import Limit, list_limits
from benchconsole.topology.model.fabric import Link
from benchconsole.topology.routing.graph import Graph

FlowName = tuple[str, str, bool]
"""A flow by the id of its test, the metric of its numbers, and whether the peer sends it."""


@dataclass(frozen=True, slots=True, eq=False)
class RoundWays:
    """Flows by their place, with every directed link (``Graph.way``) that each crosses for certain.

    ``places`` leads from a flow to its place; two metrics of one flow lead to the same. ``tests`` are the ids of their
    tests, ``expected`` byte/s of payload that each should reach, ``limits`` what holds each there. ``is_free``: no
    routing is said, and it may cross other links, too. ``owner``, ``way`` and ``share`` are the crossings, by way:
    those of the way ``w`` stand from ``first[w]`` to ``first[w + 1]``.
    """

    graph: Graph
    places: Mapping[FlowName, int]
    tests: tuple[str, ...]
    expected: Floats
    limits: tuple[tuple[Limit, ...], ...]
    is_free: Flags
    owner: Indices
    way: Indices
    share: Floats
    first: Indices

    def find_way(self, link: Link, source: str) -> int:
        """The number of ``link`` taken from ``source``."""
        return self.graph.way(link, source)

    def find_crossings(self, ways: Iterable[int]) -> Indices:
        """The positions of all crossings of these ways."""
        every = np.array([*ways], np.intp)
        return join_slices(self.first[every], self.first[every + 1] - self.first[every])


def join_ways(graph: Graph, read: Mapping[str, RoundFlows]) -> RoundWays | None:
    """The ways of the flows of a round by metric; None where no test of it sends from one node to another."""
    places: dict[FlowName, int] = {}
    seen: dict[tuple[str, bool], int] = {}
    kept: list[tuple[RoundFlows, int]] = []
    for metric, flows in read.items():
        for index, (result, told) in enumerate(zip(flows.results, flows.measurements, strict=True)):
            flow = result.test.id, INWARD in told[0].labels
            if flow not in seen:
                seen[flow] = len(kept)
                kept.append((flows, index))
            places[flow[0], metric, flow[1]] = seen[flow]
    if not kept:
        return None
    owner, way, share = _collect_crossings(kept, 2 * len(graph.links))
    order = np.argsort(way, kind="stable")
    return RoundWays(
        graph, places, tuple(test for test, _ in seen),
        np.array([min(flows.expectations[index].value, flows.least.rates[index]) for flows, index in kept]),
        tuple(tuple(list_limits(flows.expectations[index])) for flows, index in kept),
        np.array([flows.least.is_free[index] for flows, index in kept], bool),
        owner[order], way[order], share[order], np.searchsorted(way[order], np.arange(2 * len(graph.links) + 1)),
    )  # fmt: skip


def _collect_crossings(kept: Iterable[tuple[RoundFlows, int]], ways: int) -> tuple[Indices, Indices, Floats]:
    """Place of the flow, directed link and share of every crossing; members of LAGs (from ``ways`` on) are no links."""
    owners, crossed, shares = [], [], []
    for place, (flows, index) in enumerate(kept):
        own = flows.find_own_crossings(index)
        is_link = flows.crossings.part[own] < ways
        crossed.append(flows.crossings.part[own][is_link])
        shares.append(flows.crossings.share[own][is_link])
        owners.append(np.full(len(crossed[-1]), place, np.intp))
    return np.concatenate(owners), np.concatenate(crossed), np.concatenate(shares)
