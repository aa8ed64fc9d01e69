"""Owns the paths that flows take: shortest paths, split evenly over equal next hops (ideal ECMP).

A LAG is one next hop. Nodes do not forward. Refuses to know which member a flow takes: that
is a matter of the hash, and of other models than this one.
"""

from collections import deque
from collections.abc import Mapping
from types import MappingProxyType

from topology.errors import RoutingError
from topology.model import Direction, Fabric, Link

Shares = Mapping[Direction, float]
"""Directed link to the part of a flow that crosses it, each in (0, 1]."""


class Routes:
    """Path shares of one fabric, computed once for each pair of switches."""

    def __init__(self, fabric: Fabric) -> None:
        self._fabric = fabric
        self._up: dict[str, list[Link]] = {
            switch: [link for link in fabric.links_at[switch] if link.other(switch) in fabric.switches]
            for switch in fabric.switches
        }
        self._hops: dict[str, dict[str, int]] = {}
        self._between: dict[tuple[str, str], Shares] = {}
        self._flows: dict[tuple[str, str], Shares] = {}

    def hops_to(self, switch: str) -> Mapping[str, int]:
        """Every switch that reaches ``switch``, with its distance in links."""
        found = self._hops.get(switch)
        if found is None:
            found = {switch: 0}
            queue = deque([switch])
            while queue:
                here = queue.popleft()
                for link in self._up[here]:
                    there = link.other(here)
                    if there not in found:
                        found[there] = found[here] + 1
                        queue.append(there)
            self._hops[switch] = found
        return found

    def between(self, source: str, sink: str) -> Shares:
        """Shares of a flow from one switch to another."""
        key = (source, sink)
        if key not in self._between:
            self._between[key] = MappingProxyType(self._spread(source, sink))
        return self._between[key]

    def _spread(self, source: str, sink: str) -> dict[Direction, float]:
        hops = self.hops_to(sink)
        if source not in hops:
            raise RoutingError(f"no path from {source} to {sink}")
        shares: dict[Direction, float] = {}
        carried = {source: 1.0}
        for distance in range(hops[source], 0, -1):
            following: dict[str, float] = {}
            for here, part in carried.items():
                onward = [link for link in self._up[here] if hops.get(link.other(here)) == distance - 1]
                for link in onward:
                    share = part / len(onward)
                    direction = Direction(link.id, here)
                    shares[direction] = shares.get(direction, 0.0) + share
                    there = link.other(here)
                    following[there] = following.get(there, 0.0) + share
            carried = following
        return shares

    def shares(self, source: str, sink: str) -> Shares:
        """Shares of a flow from one node to another. RoutingError when no path is described."""
        key = (source, sink)
        if key not in self._flows:
            self._flows[key] = MappingProxyType(self._node_shares(source, sink))
        return self._flows[key]

    def _node_shares(self, source: str, sink: str) -> dict[Direction, float]:
        ends = self._nearest_ends(source, sink)
        shares: dict[Direction, float] = {}
        for first, last in ends:
            part = 1.0 / len(ends)
            inner = self.between(first.other(source), last.other(sink))
            for direction, share in inner.items():
                shares[direction] = shares.get(direction, 0.0) + share * part
            for direction in (Direction(first.id, source), Direction(last.id, last.other(sink))):
                shares[direction] = shares.get(direction, 0.0) + part
        return shares

    def _nearest_ends(self, source: str, sink: str) -> list[tuple[Link, Link]]:
        """The pairs of (link at the source, link at the sink) over which the path is shortest."""
        if source == sink:
            raise RoutingError(f"a flow from {source} to itself")
        found: dict[int, list[tuple[Link, Link]]] = {}
        for first in self._fabric.links_at[source]:
            if first.other(source) == sink:
                raise RoutingError(f"{source} and {sink} are cabled to each other without a switch")
            for last in self._fabric.links_at[sink]:
                hops = self.hops_to(last.other(sink)).get(first.other(source))
                if hops is not None:
                    found.setdefault(hops, []).append((first, last))
        if not found:
            raise RoutingError(f"no path from {source} to {sink}")
        return found[min(found)]

    def connected(self, source: str, sink: str) -> bool:
        """Whether the description gives a path from one node to the other."""
        try:
            self.shares(source, sink)
        except RoutingError:
            return False
        return True

    def climbs_once(self, source: str, sink: str) -> bool:
        """Whether no path between the two goes down to a switch and up from it again.

        Such a path is what the cables allow but what no fabric routes on purpose.
        """
        tier = self._fabric.tier
        entered = set()
        left = set()
        for way in self.shares(source, sink):
            there = self._fabric.links[way.link].other(way.source)
            if tier(there) < tier(way.source):
                entered.add(there)
            elif tier(there) > tier(way.source):
                left.add(way.source)
        return entered.isdisjoint(left - {source})
