"""Bounds on both sides of what flows should reach: from what an unlucky hash leaves to what no routing exceeds.

They are ordered: any routing <= hash <= this routing <= optimum <= cut. A fabric whose routing nobody described is
somewhere between, and only what lies below the lowest of them speaks against it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.topology.capacity.arcs import make_arcs
from benchconsole.topology.capacity.cuts import Cut, Cuts
from benchconsole.topology.capacity.expect import Expectation, OverHashes, expect
from benchconsole.topology.capacity.open_routing import LeastRates, OpenRouting
from benchconsole.topology.capacity.optimum import Optimum, ProgramTooLarge, compute_optimum
from benchconsole.topology.copying import replace
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.routes import Routes


@dataclass(frozen=True, slots=True)
class Bound:
    """byte/s of payload of the slowest flow, and of all together."""

    slowest: float
    total: float


@dataclass(frozen=True, slots=True)
class Bracket:
    """Bounds of the rates that flows should reach when they run at once, from above and from below.

    ``unlucky`` (no higher than ``routing``) and ``lucky`` are percentiles 5 and 95 of draws, None where nothing is
    hashed; ``optimum`` is None where it has too many variables. ``narrowest`` is the cut that bounds the slowest flow,
    ``all_cut`` that of the sum. ``served`` is the share of the demands that the best routing carries; None unless all
    flows have one. ``others`` are rules that the fabric may be routed by, where its file does not say which
    though it matters: then it ``is_open``.
    """

    routing: Bound
    cut: Bound
    narrowest: Cut
    all_cut: Cut
    optimum: Bound | None = None
    served: float | None = None
    unlucky: Bound | None = None
    lucky: Bound | None = None
    rule: RoutingRule = RoutingRule.SHORTEST
    others: tuple[tuple[RoutingRule, Bound], ...] = ()
    least: Bound | None = None

    @property
    def is_open(self) -> bool:
        """Whether the routing matters and is not said."""
        return self.least is not None

    @property
    def judged(self) -> Bound:
        """The lowest bounds: what a sound fabric reaches however its hashes fall, by whichever of the rules."""
        bounds = [self.routing, *(bound for _, bound in self.others)]
        bounds += [each for each in (self.unlucky, self.least) if each is not None]
        return Bound(min(bound.slowest for bound in bounds), min(bound.total for bound in bounds))


def compute_bracket(
    routes: Routes, flows: Sequence[Flow], rates: Sequence[Expectation], drawn: OverHashes | None = None
) -> Bracket:
    """The bracket of ``flows``, of which ``rates`` is what the described routing gives and ``drawn`` what hashes do.

    ValueError without flows; RoutingError for a flow without a path.
    """
    if not flows:
        raise ValueError("no flow, so nothing is bounded")
    rule = find_rule(routes, flows)
    open_rates = OpenRouting(routes).bound(flows, [routes.route(flow) for flow in flows])
    arcs = make_arcs(routes, flows)
    demands = [flow.demand for flow in flows if flow.demand is not None]
    try:
        best: Optimum | None = compute_optimum(arcs, flows, routes.attachments)
    except ProgramTooLarge:
        best = None
    routing = Bound(min(rate.value for rate in rates), sum(rate.value for rate in rates))
    cuts = Cuts(arcs, flows)
    narrowest, all_cut = cuts.find_share(None if best is None else best.lengths), cuts.find_total()
    asked = sum(demands) if len(demands) == len(flows) else all_cut.capacity
    return Bracket(
        routing=routing,
        cut=Bound(min([narrowest.share, *demands]), min(all_cut.capacity, asked)),
        narrowest=narrowest,
        all_cut=all_cut,
        optimum=None if best is None else Bound(best.slowest, best.total),
        served=None if best is None else best.served,
        unlucky=None if drawn is None else _find_lower(Bound(drawn.slowest.p5, drawn.aggregate.p5), routing),
        lucky=None if drawn is None else Bound(drawn.slowest.p95, drawn.aggregate.p95),
        rule=rule or RoutingRule.SHORTEST,
        others=() if open_rates is None else tuple(_try_rules(routes.fabric, flows, _list_rules(rule))),
        least=None if open_rates is None else _bound_least(open_rates, rates),
    )


def _bound_least(least: LeastRates, rates: Sequence[Expectation]) -> Bound:
    each = [min(rate.value, bound) for rate, bound in zip(rates, least.rates.tolist(), strict=True)]
    return Bound(min(each), sum(each))


def _find_lower(one: Bound, other: Bound) -> Bound:
    """A hash does better than even shares where these are held up by the slowest of unequal ways."""
    return Bound(min(one.slowest, other.slowest), min(one.total, other.total))


def find_rule(routes: Routes, flows: Sequence[Flow]) -> RoutingRule | None:
    """The rule that the file says of the networks that ``flows`` enter; None where it says none of one of them."""
    links = routes.graph.links
    networks = {links[int(routes.route(flow).ways[0]) >> 1].network for flow in dict.fromkeys(flows)}
    said = {routes.fabric.networks[name].routing if name in routes.fabric.networks else None for name in networks}
    return next((rule for rule in RoutingRule if rule in said and None not in said), None)


def _list_rules(said: RoutingRule | None) -> list[RoutingRule]:
    """The rules that a fabric may be routed by, where its file says none, or one that chooses by queues."""
    if said is RoutingRule.UGAL:
        return [RoutingRule.VALIANT]
    return [rule for rule in RoutingRule if rule.is_by_paths and rule is not RoutingRule.UGAL]


def _try_rules(
    fabric: Fabric, flows: Sequence[Flow], rules: Sequence[RoutingRule]
) -> Iterator[tuple[RoutingRule, Bound]]:
    """The bounds that these rules give where the fabric has the shape that they are made for."""
    for rule in rules:
        said = {
            name: replace(network, routing=rule) if network.routing in (None, RoutingRule.UGAL) else network
            for name, network in fabric.networks.items()
        }
        try:
            rates = expect(replace(fabric, networks=MappingProxyType(said)), flows)
        except RoutingError:  # not of that shape
            continue
        yield rule, Bound(min(rate.value for rate in rates), sum(rate.value for rate in rates))
