"""Rates of flows over many random draws of every hash, for fabrics whose hashes nobody knows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.capacity.expect import compute_capacities
from benchconsole.topology.capacity.flow_streams import Crossings, Model, trace_flows
from benchconsole.topology.capacity.maxmin import Usage, max_min
from benchconsole.topology.model.fabric import Direction, Fabric, Flow
from benchconsole.topology.routing.hashed_paths import mix_bits
from benchconsole.topology.routing.routes import Routes

DRAWS = 200
"""Enough for a mean within some 1 % and for the 5th percentile to be one of ten values, not one of one."""

_AT_ONCE = 50_000
"""Flows that are filled in one go: draws share no link, so many are as quick as one."""


@dataclass(frozen=True, slots=True)
class RateSpread:
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
    aggregate: RateSpread
    slowest: RateSpread
    barrier: RateSpread


def sample_hashes(
    fabric: Fabric, flows: Sequence[Flow], *, draws: int = DRAWS, seed: int = 0, model: Model = Model.HASH,
    capacity: Mapping[Direction, float] | None = None,
) -> OverHashes:  # fmt: skip
    """What ``flows`` get when all run at once, over ``draws`` hashes that ``seed`` leads to.

    ``model`` is HASH or POLARISED. ValueError for another, without flows or without draws;
    RoutingError for a flow without a path.
    """
    if model not in (Model.HASH, Model.POLARISED) or not flows or draws < 1:
        raise ValueError(f"{draws} draws of {len(flows)} flows by {model.value}: there is nothing to draw")
    routes = Routes(fabric)
    demand = np.array([np.inf if flow.demand is None else flow.demand for flow in flows])
    batch = max(1, _AT_ONCE // len(flows))
    rates = []
    for first in range(0, draws, batch):
        seeds = range(mix_bits(seed) + first, mix_bits(seed) + min(first + batch, draws))
        drawn = [trace_flows(routes, flows, model, seed=each) for each in seeds]
        limits = [compute_capacities(fabric, each.parts, capacity or {}) for each in drawn]
        rate = max_min(_join_draws(drawn), np.concatenate(limits), np.tile(demand, len(drawn)))
        rates.append(rate.reshape(len(drawn), len(flows)))
    table = np.concatenate(rates)
    slowest = table.min(axis=1)
    return OverHashes(
        model=model,
        draws=draws,
        seed=seed,
        flows=len(flows),
        aggregate=_make_spread(table.sum(axis=1)),
        slowest=_make_spread(slowest),
        barrier=_make_spread(slowest * len(flows)),
    )


def _join_draws(drawn: Sequence[Crossings]) -> Usage:
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


def _make_spread(values: Floats) -> RateSpread:
    low, high = np.percentile(values, (5, 95))
    return RateSpread(float(values.mean()), float(low), float(high))
