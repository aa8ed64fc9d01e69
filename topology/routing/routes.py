"""Shortest paths of flows that split ideally: over equal next hops evenly (ECMP), over the links of a LAG by cables.

Traffic that arrives at the one switch of an MLAG pair that has no way on crosses the peer link.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, NodeId
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.attachment import Attachments, LagPair, Legs, NodeCabling
from benchconsole.topology.routing.divided_flows import DividedFlows
from benchconsole.topology.routing.flow_ends import FlowEnds
from benchconsole.topology.routing.graph import Graph, NextHop
from benchconsole.topology.routing.hashed_hops import HashedHops
from benchconsole.topology.routing.hop_table import HopTable
from benchconsole.topology.routing.network_choice import NetworkChoice, Networks, say_networks
from benchconsole.topology.routing.path_rules import PathRules
from benchconsole.topology.routing.table_paths import TablePaths

Shares = Mapping[Direction, float]
"""Directed link to the part of a flow that crosses it, each in (0, 1]."""

_Key = TypeVar("_Key", int, str)
_Parts = dict[int, float]
"""Number of a directed link, or position of a leg, to the part of a flow that crosses it."""

_Carried = tuple[tuple[str, float], ...]
"""Devices, each once, with the part of a flow that has come to them."""


@dataclass(frozen=True, slots=True)
class Route:
    """Directed links by number (``Graph.way``), each once, and the part of the flow that crosses each."""

    ways: Indices
    shares: Floats


@dataclass(frozen=True, slots=True)
class _Middle:
    """The way that all flows between two attachments have in common; legs are given by position.

    ``ways`` has room at both ends for the numbers of the legs.
    """

    first: tuple[int, ...]
    ways: Indices
    last: tuple[int, ...]
    shares: Floats

    @property
    def inner(self) -> Indices:
        """The directed links between the legs."""
        return self.ways[len(self.first) : len(self.ways) - len(self.last)]

    def join(self, out: tuple[int, ...], into: tuple[int, ...]) -> Indices:
        """The directed links of a flow whose legs have these numbers."""
        ways = self.ways.copy()
        ways[: len(out)] = out
        ways[len(ways) - len(into) :] = into
        return ways


@dataclass(frozen=True, slots=True)
class _Spread:
    """How what leaves some devices divides: over directed links, each once, and over the devices that these lead to."""

    ways: Indices
    parts: Floats
    ends: _Carried


class _Towards(NamedTuple):
    """Where traffic goes, and what binds it: a device of the last vertex, or directed links to prefer."""

    egress: str
    landing: str | None = None
    via: frozenset[int] = frozenset()


class Routes:
    """Routes of one fabric, computed once for each pair of attachments.

    With ``networks`` they go over these alone, whatever a flow names; without, over those that ``NetworkChoice`` says.
    """

    def __init__(self, fabric: Fabric, networks: Networks | None = None) -> None:
        self.fabric = fabric
        self.graph = Graph(fabric, networks)
        self.attachments = Attachments(self.graph, "" if networks is None else say_networks(networks))
        self.rules = PathRules(self.graph)
        self.tables = TablePaths(self.graph)
        self.choice = NetworkChoice(fabric)
        self._is_limited = networks is not None
        self._limited: dict[Networks, Routes] = {}
        self._channelled = self.graph.columns.channelled
        self._hops: dict[str, Mapping[str, int]] = {}
        self._fans: dict[tuple[NextHop, ...], _Spread] = {}
        self._tails: dict[tuple[_Carried, str, str | None], tuple[_Spread, ...]] = {}
        self._middles: dict[tuple[NodeCabling, NodeCabling], _Middle] = {}
        self._between: dict[tuple[str, str], Shares] = {}
        self._shares: dict[Flow, Shares] = {}

    @property
    def are_several(self) -> bool:
        """Whether the networks that a flow takes have to be found for each."""
        return not self._is_limited and len(self.choice.used) > 1

    @cached_property
    def table(self) -> HopTable:
        """The next hops of all devices, for very many flows at once."""
        return HopTable(self.graph)

    @cached_property
    def ends(self) -> FlowEnds:
        """The ends of flows by number, for very many flows at once."""
        return FlowEnds(self.attachments)

    @cached_property
    def divided(self) -> DividedFlows:
        """The links that flows between simple ends cross, for very many of them at once."""
        return DividedFlows(self.attachments, self.table, self.ends)

    @cached_property
    def hashed(self) -> HashedHops:
        """The choices that hashed flows meet between simple ends, for very many flows at once."""
        return HashedHops(self.attachments, self.table, self.ends)

    def within(self, flow: Flow) -> "Routes":
        """The routes over the networks that ``flow`` may take. RoutingError where it has to say which."""
        if self._is_limited:
            return self
        networks = self.choice.choose(flow)
        if networks == self.choice.used:
            return self
        if networks not in self._limited:
            self._limited[networks] = Routes(self.fabric, networks)
        return self._limited[networks]

    def hops_to(self, switch: str) -> Mapping[str, int]:
        """Distances to ``switch``: the two of a pair are one, a forwarding node counts ``graph.GATEWAY`` links."""
        if switch not in self._hops:
            vertex = self.graph.vertex
            found = self.graph.distances(vertex[switch])
            self._hops[switch] = {each: found[vertex[each]] for each in self.fabric.switches if vertex[each] in found}
        return self._hops[switch]

    def between(self, source: str, sink: str) -> Shares:
        """Shares of a flow from one switch to another, or to its pair: from there on it is a matter of the legs."""
        key = (source, sink)
        if key not in self._between:
            towards = _Towards(self.graph.vertex[sink])
            if self.graph.vertex[source] not in self.graph.distances(towards.egress):
                raise RoutingError(f"no path from {source} to {sink}")
            tail = self._tail(((source, 1.0),), towards)
            found = _join(tail) if tail else _make_spread({}, ())
            self._between[key] = self._named(found.ways, found.parts)
        return self._between[key]

    def shares(self, source: str, sink: str) -> Shares:
        return self.shares_of(Flow(NodeId(source), NodeId(sink)))

    def shares_of(self, flow: Flow) -> Shares:
        """Shares of a flow over the legs that it names. RoutingError when no path is described."""
        if flow not in self._shares:
            route = self.route(flow)
            self._shares[flow] = self._named(route.ways, route.shares)
        return self._shares[flow]

    def _named(self, ways: Indices, parts: Floats) -> Shares:
        directions = [self.graph.direction(way) for way in ways.tolist()]
        return MappingProxyType(dict(zip(directions, parts.tolist(), strict=True)))

    def route(self, flow: Flow, via: frozenset[int] = frozenset()) -> Route:
        """The links that ``flow`` crosses; where a device has a directed link of ``via`` on, by that one only."""
        own = self.within(flow)
        if own is not self:
            return own.route(flow, via)
        source, sink = self.attachments.of(flow)
        direct = self.attachments.direct(source, sink)
        if direct is not None:
            return Route(np.array(direct.ways, np.intp), np.array(direct.parts))
        middle = self._middle(flow, source, sink, via)
        ways = middle.join(source.out(middle.first), sink.into(middle.last))
        for way in self._channelled.intersection(ways.tolist()) if self._channelled else ():
            self.attachments.channels(flow, self.graph.links[way >> 1])
        return Route(ways, middle.shares)

    def _middle(self, flow: Flow, source: Legs, sink: Legs, via: frozenset[int]) -> _Middle:
        key = (source.attachment, sink.attachment)
        middle = None if via else self._middles.get(key)
        if middle is None:
            middle = self._compute(self.attachments.ends(flow, source, sink), *key, via)
            if not via:
                self._middles[key] = middle
        for device in (source.device, sink.device):
            if device in self.graph.vertex and any(
                self.graph.direction(way).source == device for way in middle.inner.tolist()
            ):
                raise RoutingError(f"no path from {flow.source} to {flow.sink} but through {device} itself")
        return middle

    def _compute(
        self, ends: tuple[LagPair, ...], source: NodeCabling, sink: NodeCabling, via: frozenset[int]
    ) -> _Middle:
        first: _Parts = {}
        inner: _Parts = {}
        last: _Parts = {}
        for each in ends:
            entered: dict[str, float] = {}
            for position, part in source.by_cables(self.attachments.leaving(each, source, sink)):
                _add(first, position, part / len(ends))
                _add(entered, source.devices[position], part / len(ends))
            rule = self.find_rule(each, source)
            carried = tuple(entered.items())
            if rule is RoutingRule.TABLES:
                self._look_up(carried, each, sink, inner, last)
                continue
            tail: tuple[_Spread, ...]
            if rule.is_by_paths:
                tail = (self._follow(carried, each.egress, rule),)
            else:
                tail = self._tail(carried, _Towards(each.egress, sink.landing, via))
            peers = self._arrive(tail[-1].ends if tail else carried, each, sink, last)
            if len(ends) == 1 and not peers:
                return _make_middle(first, tail, last)
            for piece in tail:
                for way, part in zip(piece.ways.tolist(), piece.parts.tolist(), strict=True):
                    _add(inner, way, part)
            for way, part in peers:
                _add(inner, way, part)
        return _make_middle(first, (_make_spread(inner, ()),), last)

    def _arrive(self, arrived: _Carried, ends: LagPair, sink: NodeCabling, last: _Parts) -> Sequence[tuple[int, float]]:
        """Adds what the last legs carry to ``last``; the peer links on the way to them, each with its part."""
        peers: list[tuple[int, float]] = []
        for device, part in arrived:
            peer, legs = self.attachments.arriving(ends, sink, device)
            for way, through in zip(peer.ways, peer.parts, strict=True) if peer else ():
                peers.append((way, part * through))
            for leg, through in sink.by_cables(legs):
                _add(last, leg, part * through)
        return peers

    def _look_up(self, carried: _Carried, ends: LagPair, sink: NodeCabling, inner: _Parts, last: _Parts) -> None:
        """The way to each leg by forwarding tables, from each device where a part of a flow has come to."""
        for leg, through in sink.by_cables(ends.last):
            for device, part in carried:
                for way in self.tables.find(device, sink.destinations[leg], sink.devices[leg]):
                    _add(inner, way, part * through)
            _add(last, leg, through * sum(part for _, part in carried))

    def find_rule(self, ends: LagPair, source: NodeCabling) -> RoutingRule:
        """The rule of the network that a flow enters by its first leg."""
        network = self.fabric.networks.get(source.networks[ends.first[0]])
        return (network and network.routing) or RoutingRule.SHORTEST

    def _follow(self, carried: _Carried, egress: str, rule: RoutingRule) -> _Spread:
        """The way on by whole paths, as a rule that is not of next hops chooses them."""
        ways: _Parts = {}
        for device, part in carried:
            for path in self.rules.find(rule, device, egress):
                for here, there in itertools.pairwise(path.devices):
                    hop = self.graph.hops_from(here)[there]
                    for way, share in zip(hop.ways, hop.parts, strict=True):
                        _add(ways, way, part * float(path.part) * share)
        return _make_spread(ways, ((egress, sum(part for _, part in carried)),))

    def _tail(self, carried: _Carried, towards: _Towards) -> tuple[_Spread, ...]:
        """The way on from where parts of a flow have come to: pieces that follow each other, so no way is in two.

        The way on from several next hops is kept: all that divide over the same ones share it.
        """
        if self.graph.vertex[carried[0][0]] == towards.egress:  # paths are equally long, so all have arrived
            return ()
        is_kept = len(carried) > 1 and not towards.via
        key = (carried, towards.egress, towards.landing)
        known = self._tails.get(key) if is_kept else None
        if known is not None:
            return known
        fan = self._leave(carried, towards)
        found = (fan, *self._tail(fan.ends, towards))
        if is_kept:
            found = self._tails[key] = (_join(found),)
        return found

    def _leave(self, carried: _Carried, towards: _Towards) -> _Spread:
        fans = [(part, self._fan(here, towards)) for here, part in carried]
        if carried[0][1] == 1.0:
            return fans[0][1]
        ways: _Parts = {}
        ends: dict[str, float] = {}
        for part, fan in fans:
            for way, share in zip(fan.ways.tolist(), fan.parts.tolist(), strict=True):
                ways[way] = ways.get(way, 0.0) + part * share
            for end, share in fan.ends:
                ends[end] = ends.get(end, 0.0) + part * share
        return _make_spread(ways, tuple(ends.items()))

    def _fan(self, here: str, towards: _Towards) -> _Spread:
        hops = self.graph.onward(here, towards.egress)
        if towards.landing is not None:
            hops = tuple(self.graph.landing(here, hop, towards.landing) for hop in hops)
        if towards.via:
            hops = self.graph.narrowed(here, hops, towards.via)
        fan = self._fans.get(hops)
        if fan is None:
            ways: _Parts = {}
            ends: dict[str, float] = {}
            for hop, part in zip(hops, self.graph.weigh(hops), strict=True):
                for way, end, share in zip(hop.ways, hop.ends, hop.parts, strict=True):
                    _add(ways, way, share * part)
                    _add(ends, end, share * part)
            fan = _make_spread(ways, tuple(ends.items()))
            if towards.landing is None and not towards.via:
                self._fans[hops] = fan
        twin = fan.ends[0][0]
        if self.graph.vertex[twin] != self.graph.vertex[here]:
            return fan
        return _join((fan, self._fan(twin, towards)))  # the peer links carry all of it to the twin, which leads on


def _add(parts: dict[_Key, float], key: _Key, part: float) -> None:
    parts[key] = parts.get(key, 0.0) + part


def _make_spread(ways: _Parts, ends: _Carried) -> _Spread:
    return _Spread(np.array(list(ways), np.intp), np.array(list(ways.values()), float), ends)


def _join(pieces: Sequence[_Spread]) -> _Spread:
    """Pieces that follow each other as one. ValueError without any."""
    ways = np.concatenate([piece.ways for piece in pieces])
    return _Spread(ways, np.concatenate([piece.parts for piece in pieces]), pieces[-1].ends)


def _make_middle(first: _Parts, inner: Sequence[_Spread], last: _Parts) -> _Middle:
    room = np.zeros(len(first), np.intp), np.zeros(len(last), np.intp)
    ways = np.concatenate((room[0], *[piece.ways for piece in inner], room[1]))
    shares = np.concatenate((list(first.values()), *[piece.parts for piece in inner], list(last.values())))
    return _Middle(tuple(first), ways, tuple(last), shares)
