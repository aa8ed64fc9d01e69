"""The interval of rates that flows may have where the hashes of the described devices decide.

With ``l2`` and ``l3`` the hash sees addresses: all streams of a pair take one way at each fork. With ``l3l4``, and
where nobody described the hash, each stream takes its own. The low end is what the unluckiest likely placement gives,
the high end that of the luckiest. Of steered streams the members are known, so they have no interval.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.probes.judging.rate_interval import RateInterval
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.placements import (
    UNLUCKY,
    Paths,
    RateRange,
    Spread,
    compute_paths,
    compute_spread,
)
from benchconsole.topology.capacity.route_forks import Cut, RouteForks, read_forks, simplify_forks
from benchconsole.topology.model.fabric import Flow, NodeId, SwitchId
from benchconsole.topology.routing.attachment import Legs
from benchconsole.topology.routing.routes import Route, Routes

PER_WAY = 8
"""Streams of a lone flow for each way that are advised at least."""

MOST_STREAMS = 128
"""No more streams of a pair are advised: iperf3 takes no more."""

_MOST_OF_SUM = 0.5
"""Ways that less than this share of a bundle crosses are left out: what is lost there is little of its sum."""

_SAME = 1e-9
"""Relative difference up to which two rates are one: rounding."""

_WHOLE = 1 - 1e-9
"""A share from which a flow crosses a link whole."""


@dataclass(frozen=True, slots=True)
class HashInterval(RateInterval):
    """The sum that flows reach, in byte/s of payload: ``least`` in the unluckiest likely placement, ``most`` at best.

    ``expected`` is the number to hold them against, from ``least`` to ``most``. So many ``placed`` streams (pairs of
    nodes, where the hash does not see ``by_stream``) are put on ``ways``, ``called`` legs, members or paths.
    """

    most: float
    placed: int = 1
    ways: int = 1
    called: str = "paths"
    by_stream: bool = True


@dataclass(frozen=True, slots=True)
class _Lone:
    """A flow by itself: ``fluid`` and ``most`` byte/s, the rates over placements, and the cut that decides."""

    cuts: tuple[Cut, ...]
    fluid: float
    most: float
    rates: RateRange
    decisive: Cut | None


@dataclass(frozen=True, slots=True)
class _Shared:
    """The flows of a bundle (by their places) that cross the same parallel ways, which are one cut of the first."""

    flows: tuple[int, ...]
    cut: Cut


class HashIntervals:
    """The intervals of flows over one fabric; flows between nodes that are cabled alike share their forks."""

    def __init__(self, routes: Routes) -> None:
        self._routes = routes
        self._is_channelled = any(link.channels for link in routes.graph.links)
        self._ends: dict[tuple[NodeId, str | None], int] = {}
        self._alike: dict[Hashable, int] = {}
        self._forks: dict[Hashable, RouteForks] = {}
        self._lone: dict[Hashable, _Lone] = {}

    def find(self, flows: Sequence[MeasuredFlow], times: int = 1) -> HashInterval | None:
        """The interval of a lone flow, or of the sum of several; None where members are known, or nothing is hashed.

        With ``times`` that of so many times their streams.
        """
        if any(each.model in (Model.STEERED, Model.SPRAYED) for each in flows):
            return None
        return self._find_of_one(flows[0], times) if len(flows) == 1 else self._find_of_sum(flows, times)

    def find_cuts(self, each: MeasuredFlow) -> list[frozenset[int]]:
        """Sets of directed links, by number: all of the flow crosses each, over any link of it or over several."""
        return self._find_ends(each.route) if each.is_free else self._list_cuts(each)

    def _list_cuts(self, each: MeasuredFlow) -> list[frozenset[int]]:
        """The same of the route, which is one of several of a flow that is free."""
        ways: list[int] = each.route.ways.tolist()
        cuts = () if each.model == Model.STEERED.value else self._find_lone(each).cuts
        if cuts:
            return [frozenset(ways[place] for place in cut.places) for cut in cuts]
        return [
            frozenset((way,)) for way, share in zip(ways, each.route.shares.tolist(), strict=True) if share > _WHOLE
        ]

    def _find_ends(self, route: Route) -> list[frozenset[int]]:
        """The legs at both ends of a route, which every other way of the flow crosses, too."""
        starts, ways = self._routes.graph.columns.starts, route.ways
        out, into = starts[ways] == starts[ways[0]], starts[ways ^ 1] == starts[ways[-1] ^ 1]
        return [frozenset(ways[out].tolist()), frozenset(ways[into].tolist())]

    def find_enough(self, flows: Sequence[MeasuredFlow], required: float) -> int | None:
        """How many streams of a pair, doubled as often as it takes, leave no excuse below the share ``required``.

        None where the most that a tool sends do not.
        """
        streams, times = max(each.result.test.sending.streams for each in flows), 2
        while streams * times <= MOST_STREAMS:
            found = self.find(flows, times)
            least = PER_WAY * found.ways if found is not None and len(flows) == 1 else 0
            if found is not None and streams * times >= least and not found.excuses(required):
                return streams * times
            times *= 2
        return None

    # -- a flow by itself

    def _find_of_one(self, each: MeasuredFlow, times: int) -> HashInterval:
        lone, expected = self._find_lone(each, times), each.expected.value
        if lone.most > lone.fluid * (1 + _SAME):
            expected = min(lone.most, expected * lone.most / lone.fluid)
        least, most = min(expected, lone.rates.least), max(expected, lone.most)
        if lone.decisive is None:
            return HashInterval(expected, expected, most)
        cut = lone.decisive
        placed = times * each.result.test.sending.streams if cut.by_stream else 1
        return HashInterval(least, expected, most, placed, len(cut.chance), cut.called, cut.by_stream)

    def _find_lone(self, each: MeasuredFlow, times: int = 1) -> _Lone:
        alike = self._identify_class(each.flow)
        key = (alike, each.flow.demand, times * each.result.test.sending.streams)
        if key not in self._lone:
            if alike not in self._forks:
                self._forks[alike] = read_forks(self._routes, each.flow, each.route)
            self._lone[key] = _weigh_alone(self._forks[alike], each, key[2])
        return self._lone[key]

    def _identify_class(self, flow: Flow) -> Hashable:
        """The key that flows with the same forks share: the cabling of both ends, the VLAN and the network."""
        vlan = self._routes.attachments.vlan(flow) if self._is_channelled else None
        ends = (self._find_end(flow.source, flow.leg), self._find_end(flow.sink, flow.last_leg))
        return (*ends, vlan, flow.network)

    def _find_end(self, node: NodeId, leg: str | None) -> int:
        """The number of what ``node`` (or the leg of it) has in common with the nodes that are cabled alike."""
        if (node, leg) not in self._ends:
            described = self._describe_end(self._routes.attachments.legs(node, leg))
            self._ends[node, leg] = self._alike.setdefault(described, len(self._alike))
        return self._ends[node, leg]

    def _describe_end(self, legs: Legs) -> Hashable:
        switches = self._routes.fabric.switches
        to_nodes = any(SwitchId(each) not in switches for each in legs.attachment.devices)
        if to_nodes or legs.device in self._routes.graph.vertex:
            return legs.device
        return (legs.attachment, tuple((link.speed, link.mixed, link.hash) for link in legs.links))

    # -- the flows of a bundle

    def _find_of_sum(self, flows: Sequence[MeasuredFlow], times: int) -> HashInterval:
        lone = [self._find_lone(each, times) for each in flows]
        streams = [times * each.result.test.sending.streams for each in flows]
        fluid = [each.expected.value for each in flows]
        expected = most = sum(fluid)
        alone = sum(each.most for each in lone)
        worst: tuple[float, int, Cut] | None = None
        shared = [
            each
            for each in self._list_shared(flows, lone)
            if len(each.cut.chance) > 1 and sum(fluid[place] for place in each.flows) >= _MOST_OF_SUM * expected
        ]
        for each in shared:
            count = sum(streams[place] for place in each.flows) if each.cut.by_stream else len(each.flows)
            offered = sum(lone[place].rates.mean for place in each.flows)
            beside = expected - sum(fluid[place] for place in each.flows)
            if each.cut.is_unequal and offered > each.cut.fluid:
                most = max(most, min(alone, each.cut.total + beside))
            spread = Spread(count, offered / count, each.cut.capacity, each.cut.chance, UNLUCKY / len(shared))
            found = compute_spread(spread).least + beside
            if worst is None or found < worst[0]:
                worst = (found, count, each.cut)
        if worst is None:
            return HashInterval(expected, expected, most)
        found, count, cut = worst
        return HashInterval(min(found, most), most, most, count, len(cut.chance), cut.called, cut.by_stream)

    def _list_shared(self, flows: Sequence[MeasuredFlow], lone: Sequence[_Lone]) -> list[_Shared]:
        found: dict[frozenset[int], tuple[list[int], Cut]] = {}
        for place, (each, own) in enumerate(zip(flows, lone, strict=True)):
            for ways, cut in zip(self._list_cuts(each), own.cuts, strict=True):
                found.setdefault(ways, ([], cut))[0].append(place)
        return [_Shared(tuple(places), cut) for places, cut in found.values()]


def _weigh_alone(read: RouteForks, each: MeasuredFlow, streams: int) -> _Lone:
    """The rates that a flow of so many streams reaches alone. Without forks that were read its expectation stands."""
    asked = each.flow.demand
    limits = [] if asked is None else [asked]
    fluid = min([*(cut.fluid for cut in read.cuts), *limits], default=each.expected.value)
    most = min([*(cut.compute_most(streams) for cut in read.cuts), *limits], default=each.expected.value)
    rates = compute_paths(Paths(streams, most, simplify_forks(read.forks, most)))
    open_ = [cut for cut in read.cuts if len(cut.chance) > 1 and min(cut.capacity) < most * (1 - _SAME)]
    return _Lone(read.cuts, fluid, most, rates, min(open_, key=lambda cut: min(cut.capacity), default=None))


def sum_crossing(cuts: Sequence[Sequence[frozenset[int]]], rates: Sequence[float]) -> Mapping[frozenset[int], float]:
    """byte/s that certainly crossed each set of directed links: all of every flow that had no other way."""
    places: dict[frozenset[int], set[int]] = {}
    for place, own in enumerate(cuts):
        for ways in own:
            places.setdefault(ways, set()).add(place)
    touching: dict[int, list[frozenset[int]]] = {}
    for ways in places:
        for way in ways:
            touching.setdefault(way, []).append(ways)
    sums: dict[frozenset[int], float] = {}
    for ways in places:
        inside = {each for way in ways for each in touching[way] if each <= ways}
        sums[ways] = sum(rates[place] for place in set().union(*(places[each] for each in inside)))
    return sums
