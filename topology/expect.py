"""Owns what a set of simultaneous flows should reach on a fabric, and which element limits each.

Model ``fluid``: shortest paths, ideal split over equal next hops, max-min fair sharing
(Bertsekas and Gallager, Data Networks, chapter 6), capacities times the goodput of the MTU.
The set matters: what one pair should reach depends on who else is sending. Refuses to know
about faults: what was measured never enters, except as ``capacity`` handed in on purpose.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from topology.model import Direction, Fabric, Flow
from topology.routing import Routes

MODEL = "fluid"
_TOLERANCE = 1e-9

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Expectation:
    """What one flow should reach, in byte/s of payload, and every element that ties as its limit.

    ``limiting`` is empty when the flow's own demand is the limit. ``model`` names the rule.
    """

    value: float
    limiting: tuple[Direction, ...]
    model: str = MODEL


@dataclass(frozen=True, slots=True)
class Usage:
    """Which flow loads which link with which share of itself: three arrays of equal length."""

    flow: Indices
    link: Indices
    share: Floats


def usage(routes: Routes, flows: Sequence[Flow]) -> tuple[Usage, list[Direction]]:
    """The links that ``flows`` load, and the order in which they are numbered."""
    number: dict[Direction, int] = {}
    rows: list[int] = []
    columns: list[int] = []
    parts: list[float] = []
    for index, flow in enumerate(flows):
        for direction, share in routes.shares(flow.source, flow.sink).items():
            rows.append(index)
            columns.append(number.setdefault(direction, len(number)))
            parts.append(share)
    return Usage(np.array(rows, np.intp), np.array(columns, np.intp), np.array(parts)), list(number)


def max_min(used: Usage, capacity: Floats, demand: Floats) -> Floats:
    """The max-min fair rates of ``len(demand)`` flows.

    Each round freezes, together, every link that is the lowest share for all its flows and
    every flow whose demand is reached. That is right because shares never fall while others
    freeze, so a local minimum is final.
    """
    rate = np.zeros(len(demand))
    residual = capacity.astype(float).copy()
    active = np.ones(len(demand), bool)
    flow, link, share = used.flow, used.link, used.share
    while active.any():
        weight = np.bincount(link, weights=share, minlength=len(capacity))
        with np.errstate(divide="ignore", invalid="ignore"):
            level = np.where(weight > 0, np.maximum(residual, 0.0) / weight, np.inf)
        lowest = np.full(len(demand), np.inf)
        np.minimum.at(lowest, flow, level[link])
        reached = np.minimum(lowest, demand)
        floor = np.full(len(capacity), np.inf)
        np.minimum.at(floor, link, reached[flow])
        full = floor >= level * (1 - _TOLERANCE)
        frozen = active & (demand <= lowest * (1 + _TOLERANCE))
        frozen[flow[full[link] & (level[link] <= reached[flow] * (1 + _TOLERANCE))]] = True
        rate[frozen] = reached[frozen]
        gone = frozen[flow]
        residual -= np.bincount(link[gone], weights=share[gone] * rate[flow[gone]], minlength=len(capacity))
        active &= ~frozen
        flow, link, share = flow[~gone], link[~gone], share[~gone]
    return rate


def certify(used: Usage, capacity: Floats, demand: Floats, rate: Floats, tolerance: float = 1e-6) -> bool:
    """Whether ``rate`` is max-min fair: no link over capacity, and every flow at its demand or
    on a full link on which no flow is faster.
    """
    load = _load(used, rate, len(capacity))
    if (load > capacity * (1 + tolerance)).any():
        return False
    good = rate >= demand * (1 - tolerance)
    good[used.flow[_binding(used, capacity, rate, load, tolerance)]] = True
    return bool(good.all())


def _load(used: Usage, rate: Floats, links: int) -> Floats:
    """The byte/s that each link carries."""
    found: Floats = np.bincount(used.link, weights=used.share * rate[used.flow], minlength=links).astype(np.float64)
    return found


def _binding(used: Usage, capacity: Floats, rate: Floats, load: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Per use: the link is full and the flow is among the fastest on it."""
    full = load >= capacity * (1 - tolerance)
    fastest = np.zeros(len(capacity))
    np.maximum.at(fastest, used.link, rate[used.flow])
    return np.asarray(full[used.link] & (rate[used.flow] >= fastest[used.link] * (1 - tolerance)), bool)


def expect(
    fabric: Fabric,
    flows: Sequence[Flow],
    *,
    routes: Routes | None = None,
    capacity: Mapping[Direction, float] | None = None,
) -> tuple[Expectation, ...]:
    """What each of ``flows`` should reach when all of them run at once.

    ``capacity`` replaces the described capacity (byte/s on the wire) of single directed links,
    to ask what a known fault explains. Raises RoutingError for a flow without a path.
    """
    if not flows:
        return ()
    used, directions = usage(routes or Routes(fabric), flows)
    known = capacity or {}
    limits = np.array([known.get(way, fabric.links[way.link].capacity) * fabric.goodput for way in directions])
    demand = np.array([np.inf if flow.demand is None else flow.demand for flow in flows])
    rate = max_min(used, limits, demand)
    load = _load(used, rate, len(limits))
    limiting: list[list[Direction]] = [[] for _ in flows]
    for index in np.flatnonzero(_binding(used, limits, rate, load, 1e-6)):
        limiting[used.flow[index]].append(directions[used.link[index]])
    return tuple(Expectation(float(value), tuple(found)) for value, found in zip(rate, limiting, strict=True))
