"""Owns what hashes make of a set of flows when nobody knows them: the rates over many draws of every choice.

One draw says what may happen, the mean and the ends of the distribution what to expect; a job
that waits for its slowest flow is as fast as that one times their number. Refuses to say which
flows collide on a given machine: that takes port counters (``expect`` with ``members``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from topology.expect import capacities
from topology.expect.crossing import Crossings, Model, cross
from topology.maxmin import Floats, Indices, Usage, max_min
from topology.model import Direction, Fabric, Flow
from topology.routing import Routes
from topology.routing.walks import mixed

DRAWS = 200
"""Enough for a mean within some 1 % and for the 5th percentile to be one of ten values, not one of one."""

_AT_ONCE = 50_000
"""Flows that are filled in one go: draws share no link, so many are as quick as one."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The mean over draws and the 5th and 95th percentile of them, in byte/s of payload."""

    mean: float
    p5: float
    p95: float


@dataclass(frozen=True, slots=True)
class OverHashes:
    """What ``flows`` flows get over ``draws`` draws of the hashes of ``model``.

    ``aggregate`` is their sum, ``slowest`` the slowest of them, ``barrier`` the sum that a job
    sees which waits for the slowest: their number times it.
    """

    model: Model
    draws: int
    seed: int
    flows: int
    aggregate: Spread
    slowest: Spread
    barrier: Spread


def over_hashes(
    fabric: Fabric,
    flows: Sequence[Flow],
    *,
    draws: int = DRAWS,
    seed: int = 0,
    model: Model = Model.HASH,
    routes: Routes | None = None,
    capacity: Mapping[Direction, float] | None = None,
) -> OverHashes:
    """What ``flows`` get when all run at once, over ``draws`` hashes that ``seed`` leads to.

    ``model`` is HASH or POLARISED. ValueError for another, without flows or without draws;
    RoutingError for a flow without a path.
    """
    if model not in (Model.HASH, Model.POLARISED) or not flows or draws < 1:
        raise ValueError(f"{draws} draws of {len(flows)} flows by {model.value}: there is nothing to draw")
    routes = routes or Routes(fabric)
    demand = np.array([np.inf if flow.demand is None else flow.demand for flow in flows])
    batch = max(1, _AT_ONCE // len(flows))
    rates = []
    for first in range(0, draws, batch):
        seeds = range(mixed(seed) + first, mixed(seed) + min(first + batch, draws))
        drawn = [cross(routes, flows, model, seed=each) for each in seeds]
        limits = [capacities(fabric, each.parts, capacity or {}) for each in drawn]
        rate = max_min(_side_by_side(drawn), np.concatenate(limits), np.tile(demand, len(drawn)))
        rates.append(rate.reshape(len(drawn), len(flows)))
    table = np.concatenate(rates)
    slowest = table.min(axis=1)
    return OverHashes(
        model=model,
        draws=draws,
        seed=seed,
        flows=len(flows),
        aggregate=_spread(table.sum(axis=1)),
        slowest=_spread(slowest),
        barrier=_spread(slowest * len(flows)),
    )


def _side_by_side(drawn: Sequence[Crossings]) -> Usage:
    """All draws as one, each with flows and links of its own."""
    flows: list[Indices] = []
    links: list[Indices] = []
    streams = parts = 0
    for each in drawn:
        flows.append(each.used.flow + streams)
        links.append(each.used.link + parts)
        streams += len(each.owner)
        parts += len(each.parts)
    return Usage(np.concatenate(flows), np.concatenate(links), np.concatenate([each.used.share for each in drawn]))


def _spread(values: Floats) -> Spread:
    low, high = np.percentile(values, (5, 95))
    return Spread(float(values.mean()), float(low), float(high))
