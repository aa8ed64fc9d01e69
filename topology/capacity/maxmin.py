"""Max-min fair sharing: the rates at which flows settle on links of given capacity, and the check of these rates.

A vector of rates is max-min fair when no flow can gain without taking from one that has no more (Bertsekas and
Gallager, Data Networks, chapter 6). Works on numbers only.
"""

from dataclasses import dataclass

import numpy as np

from benchconsole.topology.arrays import Flags, Floats, Indices, find_distinct, join_slices, mix_words

_EXACT = 1e-9
"""Relative difference below which two levels are one: rounding, far below any rate that is measured."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Which flow loads which link with which share of itself: three arrays of equal length."""

    flow: Indices
    link: Indices
    share: Floats


def weigh_usage(used: Usage, weight: Floats) -> Usage:
    """The same use by flows that count ``weight`` each, as so many parallel streams would."""
    return Usage(used.flow, used.link, used.share * weight[used.flow])


def max_min(used: Usage, capacity: Floats, demand: Floats, weight: Floats | None = None) -> Floats:
    """The max-min fair rates of ``len(demand)`` flows, in the unit of ``capacity`` and ``demand``.

    ``demand`` is infinite for a flow that takes what it gets. With ``weight`` it is the rates
    divided by their weights that are fair, as for flows of so many parallel streams.
    """
    if weight is None:
        return fill(used, capacity, demand)[0]
    return weight * fill(weigh_usage(used, weight), capacity, demand / weight)[0]


def fill(used: Usage, capacity: Floats, demand: Floats) -> tuple[Floats, int]:
    """The max-min fair rates, and the number of rounds that they took.

    A flow's level is the lowest of its demand and of its links' even shares. Each round freezes,
    together, every flow at its demand and all flows of every link that is the lowest for each of
    them. That is right because shares never fall while others freeze, so a local minimum is
    final; the rounds are as many as bottlenecks depend on each other, not as there are rates.
    """
    rate = demand.astype(float)
    residual = capacity.astype(float)
    flow, link, share = used.flow, used.link, used.share
    if (flow[1:] < flow[:-1]).any():  # the segments below are of one flow each
        order = np.argsort(flow, kind="stable")
        flow, link, share = flow[order], link[order], share[order]
    rounds = 0
    while flow.size:
        rounds += 1
        starts = np.flatnonzero(np.concatenate(([True], flow[1:] != flow[:-1])))
        uses = np.diff(starts, append=flow.size)
        weight = np.bincount(link, weights=share, minlength=len(residual))
        even = np.full(len(residual), np.inf)  # what each link has left for a flow that crosses it whole
        np.divide(residual, weight, out=even, where=weight > 0)
        offered = even[link]
        lowest = np.minimum.reduceat(offered, starts)
        wanted = demand[flow[starts]]
        level = np.minimum(lowest, wanted)
        level_of_use = np.repeat(level, uses)
        held = np.zeros(len(residual), bool)
        held[link[level_of_use < offered * (1 - _EXACT)]] = True
        frozen = np.logical_or.reduceat(~held[link], starts) | (wanted <= lowest * (1 + _EXACT))
        rate[flow[starts[frozen]]] = level[frozen]
        gone = np.repeat(frozen, uses)
        spent = np.bincount(link[gone], weights=share[gone] * level_of_use[gone], minlength=len(residual))
        residual = np.maximum(residual - spent, 0.0)
        kept = ~gone
        flow, link, share = flow[kept], link[kept], share[kept]
    return rate, rounds


def fill_whole(flow: Indices, link: Indices, capacity: Floats, demand: Floats) -> Floats:
    """The max-min fair rates of flows that load each link that they cross with all of themselves.

    ``flow`` is sorted. Of very many flows few links are full. Only those that are the lowest for some flow are filled
    at first, flows that cross the same of them as one; a link that then carries too much is filled as well. Rates that
    leave every other link room are those of all links, as they hold the certificate (``certify``).
    """
    starts = np.flatnonzero(np.concatenate(([True], flow[1:] != flow[:-1])))
    even = np.full(len(capacity), np.inf)
    crossed = np.bincount(link, minlength=len(capacity))
    np.divide(capacity, crossed, out=even, where=crossed > 0)
    offered = even[link]
    is_lowest = offered <= np.repeat(np.minimum.reduceat(offered, starts), np.diff(starts, append=flow.size))
    filled = np.zeros(len(capacity), bool)
    filled[link[is_lowest]] = True
    while True:
        rate = _fill_alike(flow, link, starts, filled[link], capacity, demand)
        load = np.bincount(link, weights=rate[flow], minlength=len(capacity))
        over = ~filled & (load > capacity * (1 + _EXACT))
        if not over.any():
            return rate
        filled |= over


def _fill_alike(
    flow: Indices, link: Indices, starts: Indices, counts: Flags, capacity: Floats, demand: Floats
) -> Floats:
    """The rates on the links that count, where flows of one demand that cross the same of these are one.

    That they cross the same is told by a sum of 64-bit hashes.
    """
    words = np.where(counts, mix_words(link.astype(np.uint64)), np.uint64(0))
    alike = np.add.reduceat(words, starts) + mix_words(demand.view(np.uint64))
    _, first, group, size = np.unique(alike, return_index=True, return_inverse=True, return_counts=True)
    uses = np.diff(starts, append=flow.size)
    place = join_slices(starts[first], uses[first])
    of_group = np.repeat(np.arange(len(first)), uses[first])
    place, of_group = place[counts[place]], of_group[counts[place]]
    numbers, at = find_distinct(link[place], len(capacity))
    rate, _ = fill(Usage(of_group, at, size[of_group].astype(float)), capacity[numbers], demand[first])
    return rate[group]


def certify(used: Usage, capacity: Floats, demand: Floats, rate: Floats, tolerance: float = 1e-6) -> bool:
    """Whether ``rate`` is max-min fair: no link over capacity, no flow over its demand, and
    every flow at its demand or on a full link on which no flow is faster.
    """
    over = (compute_load(used, rate, len(capacity)) > capacity * (1 + tolerance)).any()
    if over or (rate > demand * (1 + tolerance)).any():
        return False
    good = rate >= demand * (1 - tolerance)
    good[used.flow[find_binding(used, capacity, rate, tolerance)]] = True
    return bool(good.all())


def compute_load(used: Usage, rate: Floats, links: int) -> Floats:
    """The rate that each of ``links`` links carries."""
    found: Floats = np.bincount(used.link, weights=used.share * rate[used.flow], minlength=links).astype(np.float64)
    return found


def find_binding(used: Usage, capacity: Floats, rate: Floats, tolerance: float = 1e-6) -> Flags:
    """Per use: the link is full and the flow is among the fastest on it, so it is what limits the flow."""
    full = compute_load(used, rate, len(capacity)) >= capacity * (1 - tolerance)
    fastest = np.zeros(len(capacity))
    np.maximum.at(fastest, used.link, rate[used.flow])
    return np.asarray(full[used.link] & (rate[used.flow] >= fastest[used.link] * (1 - tolerance)), bool)


def compute_fairness(rates: Floats, count: Floats | None = None) -> float:
    """Jain's index (DEC-TR-301, 1984): 1 when all rates are equal, 1/n when one flow has all; NaN without any.

    ``count`` is how many flows have each rate; without it one.
    """
    count = np.ones(len(rates)) if count is None else count
    squares = float(np.sum(count * np.square(rates)))
    return float(np.sum(count * rates)) ** 2 / (float(np.sum(count)) * squares) if squares else float("nan")
