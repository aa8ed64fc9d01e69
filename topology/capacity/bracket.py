"""Bounds on both sides of what flows should reach: from what an unlucky hash leaves to what no routing exceeds.

They are ordered: hash <= this routing <= optimum <= cut. A fabric whose routing nobody described is somewhere between,
and only what lies below the lowest of them speaks against it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from benchconsole.topology.capacity.arcs import make_arcs
from benchconsole.topology.capacity.cuts import Cut, Cuts
from benchconsole.topology.capacity.expect import Expectation, OverHashes
from benchconsole.topology.capacity.optimum import Optimum, ProgramTooLarge, compute_optimum
from benchconsole.topology.model.fabric import Flow
from benchconsole.topology.routing.routes import Routes


@dataclass(frozen=True, slots=True)
class Bound:
    """byte/s of payload of the slowest flow, and of all together."""

    slowest: float
    total: float


@dataclass(frozen=True, slots=True)
class Bracket:
    """What flows that run at once should reach, from above and from below.

    ``unlucky`` and ``lucky`` are the 5th and the 95th percentile over draws of the hashes, None where nothing is
    hashed; ``optimum`` is None where it has too many variables. ``narrowest`` is the cut that bounds the slowest flow,
    ``all_cut`` that of the sum. ``served`` is the share of the demands that the best routing carries; None unless all
    flows have one.
    """

    routing: Bound
    cut: Bound
    narrowest: Cut
    all_cut: Cut
    optimum: Bound | None = None
    served: float | None = None
    unlucky: Bound | None = None
    lucky: Bound | None = None

    @property
    def judged(self) -> Bound:
        """The lowest bound: what a sound fabric reaches however its hashes fall."""
        if self.unlucky is None:
            return self.routing
        return Bound(
            min(self.unlucky.slowest, self.routing.slowest),
            min(self.unlucky.total, self.routing.total),
        )


def compute_bracket(
    routes: Routes, flows: Sequence[Flow], rates: Sequence[Expectation], drawn: OverHashes | None = None
) -> Bracket:
    """The bracket of ``flows``, of which ``rates`` is what the described routing gives and ``drawn`` what hashes do.

    ValueError without flows; RoutingError for a flow without a path.
    """
    if not flows:
        raise ValueError("no flow, so nothing is bounded")
    arcs = make_arcs(routes, flows)
    demands = [flow.demand for flow in flows if flow.demand is not None]
    try:
        best: Optimum | None = compute_optimum(arcs, flows, routes.attachments)
    except ProgramTooLarge:
        best = None
    cuts = Cuts(arcs, flows)
    narrowest, all_cut = cuts.find_share(None if best is None else best.lengths), cuts.find_total()
    asked = sum(demands) if len(demands) == len(flows) else all_cut.capacity
    return Bracket(
        routing=Bound(min(rate.value for rate in rates), sum(rate.value for rate in rates)),
        cut=Bound(min([narrowest.share, *demands]), min(all_cut.capacity, asked)),
        narrowest=narrowest,
        all_cut=all_cut,
        optimum=None if best is None else Bound(best.slowest, best.total),
        served=None if best is None else best.served,
        unlucky=None if drawn is None else Bound(drawn.slowest.p5, drawn.aggregate.p5),
        lucky=None if drawn is None else Bound(drawn.slowest.p95, drawn.aggregate.p95),
    )
