"""The forks of one route, where a hash chooses among cables, and its cuts, which all of a flow crosses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from math import inf

from benchconsole.topology.capacity.placements import Fork
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Flow, Link, NodeId
from benchconsole.topology.routing.routes import Route, Routes

_SAME = 1e-9
"""Relative difference up to which two rates are one: rounding."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Parallel ways of which each stream of a flow crosses one: their ``places`` in the route.

    ``capacity`` (byte/s of payload) and ``chance`` are those of each cable or channel. ``by_stream``: each stream takes
    one by itself, otherwise all take the same. They are ``called`` legs, members or paths.
    """

    places: tuple[int, ...]
    capacity: tuple[float, ...]
    chance: tuple[float, ...]
    by_stream: bool
    called: str

    @property
    def total(self) -> float:
        return sum(self.capacity)

    def compute_most(self, streams: int) -> float:
        """byte/s of so many streams, placed as luckily as can be: each on a cable of its own, the fastest first."""
        return sum(sorted(self.capacity, reverse=True)[: streams if self.by_stream else 1])

    @property
    def fluid(self) -> float:
        """byte/s of a flow that divides as the chances say, and is held up by the cable that is full first."""
        return min(capacity / chance for capacity, chance in zip(self.capacity, self.chance, strict=True))

    @property
    def is_unequal(self) -> bool:
        """Whether some cables are full sooner than others."""
        return self.total > self.fluid * (1 + _SAME)


@dataclass(frozen=True, slots=True)
class RouteForks:
    """The forks of a route in the order of traffic, the first where it starts, and its cuts."""

    forks: tuple[Fork, ...]
    cuts: tuple[Cut, ...]


def read_forks(routes: Routes, flow: Flow, route: Route) -> RouteForks:
    """The forks and cuts of ``flow`` on ``route``; none of both where its ways lead round in a ring.

    The chances are the shares of the route, and those of members of one link are equal.
    """
    graph, links = routes.graph, routes.graph.links
    ways: list[int] = route.ways.tolist()
    starts = [graph.direction(way).source for way in ways]
    ends = [graph.direction(way ^ 1).source for way in ways]
    before: dict[str, set[str]] = {}
    for start, end in zip(starts, ends, strict=True):
        before.setdefault(end, set()).add(start)
    try:
        order = list(TopologicalSorter(before).static_order())
    except CycleError:
        return RouteForks((), ())
    cables = [_list_cables(routes, flow, links[way >> 1]) for way in ways]
    shares = route.shares.tolist()
    leaving = group_by_key((start, place) for place, start in enumerate(starts))
    devices = [device for device in order if device in leaving]
    number = {device: index for index, device in enumerate(devices)}
    forks = []
    for device in devices:
        places = leaving[device]
        through = sum(shares[place] for place in places)
        forks.append(
            Fork(
                capacity=tuple(each for place in places for each in cables[place]),
                chance=tuple(shares[place] / through / len(cables[place]) for place in places for _ in cables[place]),
                after=tuple(number.get(ends[place], len(devices)) for place in places for _ in cables[place]),
                by_stream=links[ways[places[0]] >> 1].hash.sees_ports,
            )
        )
    level = _count_levels(order, before)
    cuts = []
    for depth in range(max(level.values(), default=0)):
        places = [place for place in range(len(ways)) if level[starts[place]] <= depth < level[ends[place]]]
        crossed = [links[ways[place] >> 1] for place in places]
        cuts.append(
            Cut(
                places=tuple(places),
                capacity=tuple(each for place in places for each in cables[place]),
                chance=tuple(shares[place] / len(cables[place]) for place in places for _ in cables[place]),
                by_stream=any(link.hash.sees_ports for link in crossed),
                called=_name_ways(routes, crossed),
            )
        )
    return RouteForks(tuple(forks), tuple(cuts))


def _list_cables(routes: Routes, flow: Flow, link: Link) -> list[float]:
    """byte/s of payload of each member of a link, or of each of its channels that the flow may use."""
    channels = routes.attachments.channels(flow, link) if link.channels else ()
    rates = [each.capacity for each in channels] or [min(each, link.capacity) for each in link.members]
    return [routes.fabric.payload(link, rate) for rate in rates]


def _count_levels(order: Sequence[str], before: Mapping[str, set[str]]) -> Mapping[str, int]:
    """How many links the longest way to each device has; every way crosses each level once."""
    level: dict[str, int] = {}
    for device in order:
        level[device] = max((level[each] + 1 for each in before.get(device, ())), default=0)
    return level


def _name_ways(routes: Routes, links: Sequence[Link]) -> str:
    if any(NodeId(end) in routes.fabric.nodes for link in links for end in (link.a, link.b)):
        return "legs"
    return "members" if len(links) == 1 else "paths"


def simplify_forks(forks: Sequence[Fork], most: float) -> tuple[Fork, ...]:
    """The same forks without what cannot hold up ``most`` byte/s: such ways get room without end, or go."""
    kept: dict[int, Fork] = {}
    target = {len(forks): len(forks)}
    for place in reversed(range(len(forks))):
        fork = forks[place]
        capacity = tuple(inf if each >= most * (1 - _SAME) else each for each in fork.capacity)
        after = tuple(target[each] for each in fork.after)
        if len(set(after)) == 1 and set(capacity) == {inf}:
            target[place] = after[0]
        else:
            target[place] = place
            kept[place] = Fork(capacity, fork.chance, after, fork.by_stream)
    order = sorted(kept)
    number = {place: index for index, place in enumerate(order)} | {len(forks): len(order)}
    return tuple(
        Fork(each.capacity, each.chance, tuple(number[place] for place in each.after), each.by_stream)
        for each in (kept[place] for place in order)
    )
