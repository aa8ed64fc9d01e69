"""Expected rates of simultaneous flows on a fabric, and the elements that limit each flow.

The set matters: what one pair should reach depends on who else is sending. ``FLUID`` takes a LAG for one pipe, which is
exact where its members are equal; where they differ in speed, it follows the streams on each and says so in ``model``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, find_distinct, sum_at
from benchconsole.topology.capacity.ceiling_loads import compute_payload
from benchconsole.topology.capacity.flow_groups import (
    FlowGroup,
    FlowSet,
    MergedFlows,
    Nodes,
    merge_flows,
    name_legs,
    name_parts,
    trace_groups,
)
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.flow_streams import Crossings, Members, trace_flows
from benchconsole.topology.capacity.hash_draws import HashDraws
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.capacity.maxmin import Usage, certify, find_binding, max_min, weigh_usage
from benchconsole.topology.capacity.sprayed import spray
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Direction, Fabric, Flow, Link, NodeId
from benchconsole.topology.routing.flow_hashes import mix_bits
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.routing.spraying import is_any_sprayed, is_sprayed

MODEL = Model.FLUID.value
DRAWS = 200
"""Enough for a mean within some 1 % and for the 5th percentile to be one of ten values, not one of one."""

_AT_ONCE = 50_000
"""Flows that are filled in one go: draws share no link, so many are as quick as one."""

APART = ", unequal members apart"
"""The end of the name of a model where it took the members of a LAG one by one."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """The rate that one flow should reach, in byte/s of payload, and every element that ties as its limit.

    ``limiting`` is empty when the flow's own demand is the limit. ``model`` names the rule. ``goodput`` is the payload
    share of the wire of the limiting links (of all that the flow crosses where its demand is the limit), the lowest
    where they differ. ``parts`` are the member cables, channels and ceilings among the limits, where the model knows
    them; for a ceiling the first link that passes it is among ``limiting``.
    """

    value: float
    limiting: tuple[Direction, ...]
    model: str = MODEL
    goodput: float = 1.0
    parts: tuple[LinkPart, ...] = ()


def compute_capacities(fabric: Fabric, parts: Sequence[LinkPart], known: Mapping[Direction, float]) -> Floats:
    """byte/s of payload that each part carries; ``known`` replaces what is described of whole links, on the wire."""
    links = (fabric.links[part.way.link] for part in parts)
    return np.array(
        [
            fabric.payload(link, _find_wire_rate(link, part, known))
            if part.ceiling is None
            else compute_payload(fabric, part.ceiling)
            for link, part in zip(links, parts, strict=True)
        ]
    )


def _find_wire_rate(link: Link, part: LinkPart, known: Mapping[Direction, float]) -> float | None:
    """byte/s of a part on the wire; None for a whole link as described."""
    if part.member is not None:
        return link.members[part.member]
    if part.vlan is not None:
        return next(channel.capacity for channel in link.channels if channel.vlan == part.vlan)
    return known.get(part.way)


def expect(
    fabric: Fabric,
    flows: Sequence[Flow],
    *,
    routes: Routes | None = None,
    capacity: Mapping[Direction, float] | None = None,
    model: Model = Model.FLUID,
    seed: int = 0,
    members: Members | None = None,
) -> tuple[Expectation, ...]:
    """The rate that each of ``flows`` should reach when all of them run at once.

    ``capacity`` replaces the described capacity (byte/s on the wire) of single directed links, to ask what a known
    fault explains. ``seed`` is that of the hashes. ``members`` are known choices, which make a fluid model one of
    ``Model.MEMBERS``; ValueError with another model. The certificate of the rates is checked: ArithmeticError instead
    of a number that fails it. Raises RoutingError for a flow without a path.
    """
    if members and model not in (Model.FLUID, Model.MEMBERS):
        raise ValueError(f"members are given, and the model {model} chooses its own")
    if not flows:
        return ()
    model = Model.MEMBERS if members else model
    routes = routes or Routes(fabric)
    if model is Model.FLUID and is_any_sprayed(fabric):
        return _expect_sprayed(routes, flows, capacity or {})
    crossed = trace_flows(routes, flows, model, seed=seed, members=members)
    limits = compute_capacities(fabric, crossed.parts, capacity or {})
    demand = np.array([np.inf if flow.demand is None else flow.demand for flow in flows])
    return _make_expectations(fabric, crossed, limits, demand, model)


def _expect_sprayed(
    routes: Routes, flows: Sequence[Flow], capacity: Mapping[Direction, float]
) -> tuple[Expectation, ...]:
    """The rates of flows of which some networks spray the packets. RoutingError where others share links with them."""
    fabric, graph = routes.fabric, routes.graph
    sprayed = [is_sprayed(routes, flow) for flow in flows]
    groups = {kind: [flow for flow, each in zip(flows, sprayed, strict=True) if each is kind] for kind in (True, False)}
    crossed, others = (
        {way for each in groups[kind] for way in routes.route(each).ways.tolist()} for kind in (True, False)
    )
    if crossed & others:
        way = graph.direction(min(crossed & others))
        raise RoutingError(f"{way.link} carries flows of a network that sprays packets, and of one that does not")
    if groups[True] and not groups[False]:
        even = _fill_evenly(routes, flows, capacity)
        if even is not None:
            return even
    parts = {way: LinkPart(graph.direction(way)) for way in sorted(crossed)}
    limits = dict(zip(parts, compute_capacities(fabric, [*parts.values()], capacity).tolist(), strict=True))
    rates = iter(spray(routes, groups[True], limits) if groups[True] else ())
    found: list[Expectation] = []
    plain: Iterator[Expectation] = iter([])
    if groups[False]:
        traced = trace_flows(routes, groups[False], Model.FLUID)
        demand = np.array([np.inf if flow.demand is None else flow.demand for flow in groups[False]])
        limits_of = compute_capacities(fabric, traced.parts, capacity)
        plain = iter(_make_expectations(fabric, traced, limits_of, demand, Model.FLUID))
    for flow, each in zip(flows, sprayed, strict=True):
        if not each:
            found.append(next(plain))
            continue
        rate = next(rates)
        ways = rate.limiting or [graph.direction(way) for way in routes.route(flow).ways.tolist()]
        share = min(fabric.goodput_of(fabric.links[way.link]) for way in ways)
        inside = tuple(part for part in rate.parts if not part.is_whole)
        found.append(Expectation(rate.value, rate.limiting, Model.SPRAYED.value, share, inside))
    return tuple(found)


def _fill_evenly(
    routes: Routes, flows: Sequence[Flow], capacity: Mapping[Direction, float]
) -> tuple[Expectation, ...] | None:
    """The rates of an even split of sprayed flows, where no other split changes them; None where one might.

    None does where each flow is held back by a link that all of its flows cross whole, whichever split there is.
    """
    traced = trace_flows(routes, flows, Model.FLUID)
    if len(traced.owner) > len(flows):  # streams on unequal members, which a spray takes as one pipe
        return None
    parted = {
        way for flow in flows for route in [routes.route(flow)] for way in route.ways[route.shares < 1 - 1e-9].tolist()
    }
    demand = np.array([np.inf if flow.demand is None else flow.demand for flow in flows])
    limits = compute_capacities(routes.fabric, traced.parts, capacity)
    even = _make_expectations(routes.fabric, traced, limits, demand, Model.SPRAYED)
    graph, links = routes.graph, routes.fabric.links
    found = []
    for each in even:
        fixed = tuple(way for way in each.limiting if graph.way(links[way.link], way.source) not in parted)
        inside = any(part.ceiling and part.ceiling.device in routes.fabric.switches for part in each.parts)
        if (each.limiting and not fixed) or inside:  # what passes a switch is a matter of the split
            return None
        found.append(replace(each, limiting=fixed))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class MergedExpectation:
    """The rates of the flows of each group; legs among the limits are those of the first nodes of the classes."""

    fabric: Fabric
    merged: MergedFlows
    rates: tuple[Expectation, ...]

    def __iter__(self) -> Iterator[tuple[Flow, Expectation]]:
        """Every flow, in the order in which they were asked for, with what it should reach and its own limits."""
        for flow, place in self.merged:
            rate = self.rates[place]
            limiting = name_legs(self.fabric, rate.limiting, flow, self.merged)
            yield flow, replace(rate, limiting=limiting, parts=name_parts(self.fabric, rate.parts, flow, self.merged))


def expect_merged(fabric: Fabric, asked: Sequence[FlowSet]) -> MergedExpectation:
    """The rates that the flows of ``asked`` should reach when all run at once, by the fluid model, group by group.

    No network may spray packets (``is_any_sprayed``). The rates are those of ``expect`` on every flow. SelectionError
    for more than MOST_GROUPS groups, RoutingError and ArithmeticError as there.
    """
    merged = merge_flows(fabric, asked)
    if not merged.groups:
        return MergedExpectation(fabric, merged, ())
    crossed = trace_groups(Routes(fabric), merged.groups, merged.members)
    limits = compute_capacities(fabric, crossed.parts, {})
    demand = _list_demands(merged.groups)
    return MergedExpectation(fabric, merged, _make_expectations(fabric, crossed, limits, demand, Model.FLUID))


def compute_group_rates(routes: Routes, groups: Sequence[FlowGroup], members: Mapping[NodeId, Nodes]) -> Floats:
    """The payload rate in byte/s of one flow of each of ``groups`` when all flows of all of them run at once.

    ``members`` are the classes of their nodes (``find_members``). RoutingError and ArithmeticError as ``expect``.
    """
    if not groups:
        return np.zeros(0)
    crossed = trace_groups(routes, groups, members)
    _, level = _share_fairly(crossed, compute_capacities(routes.fabric, crossed.parts, {}), _list_demands(groups))
    return sum_at(level * crossed.weight, crossed.owner, len(groups))


def _list_demands(groups: Sequence[FlowGroup]) -> Floats:
    """Of a group a flow stands for all, and loads a link as all of them do: its demand is that of one."""
    return np.array([np.inf if group.flow.demand is None else group.flow.demand for group in groups])


def _share_fairly(crossed: Crossings, limits: Floats, demand: Floats) -> tuple[Usage, Floats]:
    """The load of each stream as so many as it stands for, and the level that it gets; both certified."""
    used = weigh_usage(crossed.used, crossed.weight)
    level = max_min(used, limits, demand[crossed.owner])
    if not certify(used, limits, demand[crossed.owner], level):
        raise ArithmeticError("the rates are not max-min fair: a flow could gain without taking from a poorer one")
    return used, level


def _make_expectations(
    fabric: Fabric, crossed: Crossings, limits: Floats, demand: Floats, model: Model
) -> tuple[Expectation, ...]:
    used, level = _share_fairly(crossed, limits, demand)
    bound = find_binding(used, limits, level)
    value = np.bincount(crossed.owner, weights=level * crossed.weight)
    streams = np.bincount(crossed.owner)
    payload = _find_payload_shares(fabric, crossed, bound)
    return tuple(
        Expectation(
            value=float(value[index]),
            limiting=limiting,
            model=model.value if streams[index] == 1 else model.value + APART,
            goodput=float(payload[index]),
            parts=parts,
        )
        for index, (limiting, parts) in enumerate(_name_limits(crossed, bound, len(demand)))
    )


def _name_limits(
    crossed: Crossings, bound: Flags, flows: int
) -> Iterator[tuple[tuple[Direction, ...], tuple[LinkPart, ...]]]:
    """For each flow the directed links that limit it, and those of the parts that are no whole links.

    Few parts limit many flows, so parts are told apart by their numbers, and links by those of their first parts.
    """
    owner, number = crossed.owner[crossed.used.flow[bound]], crossed.used.link[bound]
    order = np.argsort(owner, kind="stable")
    cuts = np.searchsorted(owner[order], np.arange(flows + 1)).tolist()
    number = number[order]
    parts = {each: crossed.parts[each] for each in find_distinct(number, len(crossed.parts))[0].tolist()}
    inside = {each: part for each, part in parts.items() if not part.is_whole}
    first: dict[Direction, int] = {}
    way = np.arange(len(crossed.parts))
    way[list(parts)] = [first.setdefault(part.way, each) for each, part in parts.items()]
    ways, numbers = way[number].tolist(), number.tolist()
    for start, stop in pairwise(cuts):
        limiting = tuple([parts[each].way for each in dict.fromkeys(ways[start:stop])])
        within = dict.fromkeys(numbers[start:stop]) if inside else ()
        yield limiting, tuple([inside[each] for each in within if each in inside])


def _find_payload_shares(fabric: Fabric, crossed: Crossings, bound: Flags) -> Floats:
    """For each flow the lowest payload share of the parts that limit it, of all that it crosses where none does."""
    share = np.array([fabric.goodput_of(fabric.links[part.way.link]) for part in crossed.parts])
    lowest = np.full((2, crossed.owner[-1] + 1), np.inf)
    for row, chosen in enumerate((np.ones(len(bound), bool), bound)):
        owner = crossed.owner[crossed.used.flow[chosen]]
        np.minimum.at(lowest[row], owner, share[crossed.used.link[chosen]])
    return np.asarray(np.where(np.isinf(lowest[1]), lowest[0], lowest[1]), float)


# -- rates over many random draws of every hash, for fabrics whose hashes nobody knows


@dataclass(frozen=True, slots=True)
class RateSpread:
    """The mean over draws and the 5th and 95th percentile of them, in byte/s of payload."""

    mean: float
    p5: float
    p95: float


@dataclass(frozen=True, slots=True)
class OverHashes:
    """Rates of ``flows`` flows over ``draws`` draws of the hashes of ``model``, of ``asked`` that were asked for.

    ``aggregate`` is their sum, ``slowest`` the slowest of them, ``barrier`` the sum that a job
    sees which waits for the slowest: their number times it.
    """

    model: Model
    draws: int
    asked: int
    seed: int
    flows: int
    aggregate: RateSpread
    slowest: RateSpread
    barrier: RateSpread


def sample_hashes(
    fabric: Fabric, flows: Sequence[Flow], *, draws: int = DRAWS, seed: int = 0, model: Model = Model.HASH,
    capacity: Mapping[Direction, float] | None = None, go_on: Callable[[int], bool] = lambda _: True,
) -> OverHashes:  # fmt: skip
    """The rates of ``flows`` when all run at once, over ``draws`` hashes that ``seed`` leads to.

    ``go_on`` is asked now and then whether to draw on, with the number of draws so far; where it says no, these count.
    ``model`` is HASH or POLARISED. ValueError for another, without flows or without draws;
    RoutingError for a flow without a path.
    """
    if model not in (Model.HASH, Model.POLARISED) or not flows or draws < 1:
        raise ValueError(f"{draws} draws of {len(flows)} flows by {model.value}: there is nothing to draw")
    drawn = HashDraws(Routes(fabric), flows, model, lambda parts: compute_capacities(fabric, parts, capacity or {}))
    batch = max(1, _AT_ONCE // len(flows))
    rates = []
    for first in range(0, draws, batch):
        rates.append(drawn.compute_rates(range(mix_bits(seed) + first, mix_bits(seed) + min(first + batch, draws))))
        if not go_on(min(first + batch, draws)):
            break
    table = np.concatenate(rates)
    slowest = table.min(axis=1)
    return OverHashes(
        model=model,
        draws=len(table),
        asked=draws,
        seed=seed,
        flows=len(flows),
        aggregate=_make_spread(table.sum(axis=1)),
        slowest=_make_spread(slowest),
        barrier=_make_spread(slowest * len(flows)),
    )


def _make_spread(values: Floats) -> RateSpread:
    low, high = np.percentile(values, (5, 95))
    return RateSpread(float(values.mean()), float(low), float(high))
