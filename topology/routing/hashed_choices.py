"""The choices of a hash: next hops and cables in the order of their names, one that weighs more several times."""

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import Generic, NamedTuple, TypeVar, cast

from benchconsole.topology.model.fabric import HashPolicy
from benchconsole.topology.routing.attachment import LagPair
from benchconsole.topology.routing.graph import Graph, NextHop

_T = TypeVar("_T", bound=Hashable)

MEMBER = "member"
"""The stage of the forks whose choices are cables: number of a directed link (``Graph.way``), and its member."""

NEXT_HOP = "next hop"

_ENTRIES = 256
"""Entries of the table of a device that shares out by weights (Zhou et al., EuroSys 2014): so fine are they."""


class Choices(NamedTuple, Generic[_T]):
    """The choices of which a device takes one, and the policy that it does so by."""

    among: Sequence[_T]
    policy: HashPolicy


class HashedChoices:
    """The choices on one graph. ``sort``: they are in the order of their names, else in that of the file."""

    def __init__(self, graph: Graph, *, sort: bool) -> None:
        self._graph = graph
        self._sorts = sort
        self._sorted: dict[Sequence[Hashable], tuple[Hashable, ...]] = {}
        self._next_hops: dict[tuple[str, str], Choices[NextHop]] = {}
        self._parallel: dict[tuple[int, ...], Choices[tuple[int, int]]] = {}

    def list_next_hops(self, here: str, egress: str) -> Choices[NextHop]:
        """The next hops of a device, one that weighs more several times; they are the same for all sinks there."""
        key = (here, egress)
        found = self._next_hops.get(key)
        if found is None:
            hops = self._graph.onward(here, egress)
            among = self.sort(repeat_by_weight(hops, self._graph.weigh(hops)))
            found = self._next_hops[key] = Choices(among, hops[0].links[0].hash)
        return found

    def list_cables(self, ways: tuple[int, ...]) -> Choices[tuple[int, int]]:
        """The cables of parallel directed links, one that weighs more several times."""
        found = self._parallel.get(ways)
        if found is None:
            links = self._graph.links
            cables = self._graph.cables(ways)
            if len(cables) > 1 and self._graph.is_weighted(links[ways[0] >> 1]):
                cables = repeat_by_weight(
                    cables, [links[way >> 1].capacity / links[way >> 1].count for way, _ in cables]
                )
            found = self._parallel[ways] = Choices(self.sort(cables), links[ways[0] >> 1].hash)
        return found

    def sort(self, among: Sequence[_T]) -> Sequence[_T]:
        if not self._sorts or len(among) == 1:
            return among
        found = self._sorted.get(among)
        if found is None:
            found = self._sorted[among] = tuple(sorted(among, key=self._name))
        return cast(Sequence[_T], found)

    def _name(self, choice: Hashable) -> tuple[object, ...]:
        """The sort key of a LAG, a path (its devices), a next hop, or a cable."""
        if isinstance(choice, LagPair):
            return choice.egress, choice.first, choice.last
        if isinstance(choice, NextHop):
            return tuple(sorted((link.a, link.b, link.lag or "") for link in choice.links))
        if isinstance(choice, tuple) and isinstance(choice[0], str):
            return choice
        way, member = cast(tuple[int, int], choice)
        link = self._graph.links[way >> 1]
        return link.a, link.b, link.lag or "", link.speed if link.channels else link.members[member], member


def repeat_by_weight(among: Sequence[_T], weights: Sequence[float]) -> tuple[_T, ...]:
    """Each choice as often as its weight says, so that an even draw is a weighted one."""
    if len(set(weights)) == 1:
        return tuple(among)
    exact = [Fraction(weight / max(weights)).limit_denominator(_ENTRIES) for weight in weights]
    common = math.lcm(*(each.denominator for each in exact))
    counts = [int(each * common) for each in exact]
    most = max(1.0, sum(counts) / _ENTRIES)
    return tuple(
        choice for choice, count in zip(among, counts, strict=True) for _ in range(max(1, round(count / most)))
    )
