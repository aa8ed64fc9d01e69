"""The one path of each flow where devices choose by hash, or tests by source port: one next hop and one member cable of
it at every device.

Vendors do not publish their hashes, so a choice is a uniform draw and a pure function of the seed, made anew for each
device, or the same everywhere (polarised: later stages see the choices of earlier ones).
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple, TypeVar, cast

from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Flow, HashPolicy
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.attachment import LagPair
from benchconsole.topology.routing.graph import NextHop
from benchconsole.topology.routing.routes import Routes

_T = TypeVar("_T", bound=Hashable)
_WORD = (1 << 64) - 1


class CableStep(NamedTuple):
    """A directed link by number (``Graph.way``), the member of it (from 0), and the VLAN whose channel carries it."""

    way: int
    member: int
    vlan: int | None = None


class FlowHashes(NamedTuple):
    """What the hashes of a flow are made of, mixed already: its two ends, and these with its stream."""

    ends: int
    stream: int


def hash_flows(flows: Sequence[Flow]) -> list[FlowHashes]:
    """One key for each flow. Flows of the same two ends are parallel streams, numbered in order.

    Ports that flows name have addresses of their own.
    """
    streams: dict[tuple[str, ...], int] = {}
    found = []
    for flow in flows:
        ports = () if flow.leg is flow.last_leg is None else (flow.leg or "", flow.last_leg or "")
        ends = (flow.source, flow.sink, *ports)
        streams[ends] = streams.get(ends, 0) + 1
        found.append(FlowHashes(_hash_text(*ends), _hash_text(*ends, str(streams[ends]))))
    return found


@lru_cache(maxsize=1 << 16)
def _hash_text(*names: str) -> int:
    """64 bits that always come out the same for the same names."""
    return int.from_bytes(blake2b("\0".join(names).encode(), digest_size=8).digest(), "little")


def mix_bits(value: int) -> int:
    """64 bits, each of which depends on each of ``value``.

    SplitMix64: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
    """
    value = (value + 0x9E3779B97F4A7C15) & _WORD
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & _WORD
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & _WORD
    return value ^ value >> 31


class HashChoice(NamedTuple):
    """One decision: where, at which stage there, among what, by which policy, and for which flow."""

    device: str
    stage: str
    among: Sequence[Hashable]
    policy: HashPolicy
    key: FlowHashes


Pick = Callable[[HashChoice], int]
"""How choices fall: the position in ``among`` of a choice, which holds at least two."""


class InTurn:
    """What was taken least so far, the first of equals: flows in order use all in turn."""

    def __init__(self) -> None:
        self._taken: Counter[Hashable] = Counter()

    def __call__(self, choice: HashChoice) -> int:
        taken = [self._taken[each] for each in choice.among]
        position = taken.index(min(taken))
        self._taken[choice.among[position]] += 1
        return position


class Hashed:
    """Uniform draws that depend on ``seed``, the flow and the device; ``polarised``: on seed and flow only.

    L2 and L3 hashes see the two ends, so parallel streams stay together; the others, and those
    that nobody described, see ports too. Where tests steer, what they chose is used in turn.
    """

    def __init__(self, seed: int, *, polarised: bool = False) -> None:
        self._seed = mix_bits(seed & _WORD)
        self._polarised = polarised
        self._in_turn = InTurn()

    def __call__(self, choice: HashChoice) -> int:
        if choice.policy is HashPolicy.STEERED:
            return self._in_turn(choice)
        key = choice.key.stream if choice.policy.sees_ports else choice.key.ends
        salt = 0 if self._polarised else _hash_text(choice.device, choice.stage)
        return mix_bits(key ^ mix_bits(salt ^ self._seed)) % len(choice.among)


_ENTRIES = 256
"""Entries of the table of a device that shares out by weights (Zhou et al., EuroSys 2014): so fine are they."""


def _repeat(among: Sequence[_T], weights: Sequence[float]) -> tuple[_T, ...]:
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


class Walker:
    """Walks flows through one fabric, asking ``pick`` at every fork."""

    def __init__(self, routes: Routes, pick: Pick) -> None:
        self._routes = routes
        self._limited: dict[Routes, Walker] = {}
        self._graph = routes.graph
        self._attachments = routes.attachments
        self._pick = pick
        self._split = any(link.channels for link in routes.graph.links)
        self._sorted: dict[Sequence[Hashable], tuple[Hashable, ...]] = {}
        self._tables: dict[tuple[NextHop, ...], tuple[NextHop, ...]] = {}

    def path(self, flow: Flow, key: FlowHashes) -> list[CableStep]:
        """The directed member cables that ``flow`` crosses, in order. RoutingError when no path is described."""
        own = self._routes.within(flow)
        if own is not self._routes:
            if own not in self._limited:
                self._limited[own] = Walker(own, self._pick)
            return self._limited[own].path(flow, key)
        source, sink = self._attachments.of(flow)
        direct = self._attachments.direct(source, sink)
        if direct is not None:
            return self._on_channels(flow, key, [self._cable(source.device, direct.ways, key)])
        at_source, at_sink = source.attachment, sink.attachment
        ends = self._one(source.device, "ends", self._attachments.ends(flow, source, sink), HashPolicy.UNKNOWN, key)
        legs = self._attachments.leaving(ends, at_source, at_sink)
        path = [self._cable(source.device, source.out(legs), key)]
        here = self._end(path[-1])
        rule = self._routes.find_rule(ends, at_source)
        if rule.is_by_paths:
            chosen = self._choose_path(rule, here, ends.egress, key)
            path += [self._cable(one, self._graph.hops_from(one)[other].ways, key) for one, other in pairwise(chosen)]
            here = chosen[-1]
        while self._graph.vertex[here] != ends.egress:
            if here in (source.device, sink.device):
                raise RoutingError(f"no path from {flow.source} to {flow.sink} but through {here} itself")
            hops = self._graph.onward(here, ends.egress)
            among = self._tables.get(hops)
            if among is None:
                among = self._tables[hops] = _repeat(hops, self._graph.weigh(hops))
            hop = self._one(here, "next hop", among, hops[0].links[0].hash, key)
            if at_sink.landing is not None:
                hop = self._graph.landing(here, hop, at_sink.landing)
            path.append(self._cable(here, hop.ways, key))
            here = self._end(path[-1])
        peer, last = self._attachments.arriving(ends, at_sink, here)
        if peer is not None:
            path.append(self._cable(here, peer.ways, key))
            here = self._end(path[-1])
        path.append(self._cable(here, sink.into(last), key))
        return self._on_channels(flow, key, path)

    def _choose_path(self, rule: RoutingRule, source: str, sink: str, key: FlowHashes) -> tuple[str, ...]:
        """The devices of one path of a rule, drawn as the parts of its paths say."""
        paths = self._routes.rules.find(rule, source, sink)
        among = _repeat([each.devices for each in paths], [float(each.part) for each in paths])
        return self._one(source, "path", among, HashPolicy.UNKNOWN, key)

    def _one(self, device: str, stage: str, among: Sequence[_T], policy: HashPolicy, key: FlowHashes) -> _T:
        if len(among) == 1:
            return among[0]
        among = self._sort(among)
        return among[self._pick(HashChoice(device, stage, among, policy, key))]

    def _sort(self, among: Sequence[_T]) -> Sequence[_T]:
        """By names where a hash draws, so that the order of the file changes no draw; steering takes that order."""
        if isinstance(self._pick, InTurn):
            return among
        found = self._sorted.get(among)
        if found is None:
            found = self._sorted[among] = tuple(sorted(among, key=self._name))
        return cast(Sequence[_T], found)

    def _name(self, choice: Hashable) -> tuple[object, ...]:
        """What sorts a LAG, a next hop, a cable (number of its directed link, member) or a channel."""
        if isinstance(choice, LagPair):
            return choice.egress, choice.first, choice.last
        if isinstance(choice, tuple) and choice and isinstance(choice[0], str):
            return choice  # a path, by its devices
        if isinstance(choice, NextHop):
            return tuple(sorted((link.a, link.b, link.lag or "") for link in choice.links))
        way, number = cast(tuple[int, int], choice)
        link = self._graph.links[way >> 1]
        speed = link.speed if link.channels else link.members[number]
        return link.a, link.b, link.lag or "", speed, number

    def _cable(self, device: str, ways: tuple[int, ...], key: FlowHashes) -> CableStep:
        cables = self._graph.cables(ways)
        links = self._graph.links
        if len(cables) > 1 and self._graph.is_weighted(links[ways[0] >> 1]):
            cables = _repeat(cables, [links[way >> 1].capacity / links[way >> 1].count for way, _ in cables])
        way, member = self._one(device, "member", cables, self._graph.links[ways[0] >> 1].hash, key)
        return CableStep(way, member)

    def _end(self, step: CableStep) -> str:
        link = self._graph.links[step.way >> 1]
        return link.a if step.way & 1 else link.b

    def _on_channels(self, flow: Flow, key: FlowHashes, path: list[CableStep]) -> list[CableStep]:
        for index, step in enumerate(path if self._split else ()):
            link = self._graph.links[step.way >> 1]
            if link.channels:
                found = tuple((step.way, each.vlan) for each in self._attachments.channels(flow, link))
                _, vlan = self._one(self._graph.direction(step.way).source, "channel", found, link.hash, key)
                path[index] = CableStep(step.way, step.member, vlan)
        return path
