"""Owns what the links of a fabric were seen to carry over the rounds of a session: loads, and what is proven.

Flat arrays over the directed links, by the numbers of the routing graph, so that a round of ten
thousand flows costs a few passes. Refuses to say what a link should have carried.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from probes.judging.bench import Bench, matching
from probes.judging.yardsticks.capacity import Sent
from probes.model import FULL, ClosedRound
from topology.model import Criterion, Flow

_WHOLE = 1 - 1e-9
_Numbers = NDArray[np.intp]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Crossed:
    """The flows of a round on the links that they cross: for each crossing its flow, link and share; byte/s by flow.

    ``ends`` is when each flow was over, ``lengths`` how long its command took, in seconds.
    """

    owner: _Numbers
    way: _Numbers
    share: _Floats
    values: _Floats
    ends: _Floats
    lengths: _Floats


class Carrying:
    """The most that each directed link is known to have carried so far, byte/s of payload."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.proven: _Floats = np.zeros(2 * len(bench.fabric.links))

    @cached_property
    def capacity(self) -> _Floats:
        """byte/s of payload of every directed link as described."""
        fabric = self._bench.fabric
        links = self._bench.routes.graph.links
        return np.repeat([link.capacity * fabric.goodput_of(link) for link in links], 2)

    def add(self, closed: ClosedRound, criterion: Criterion) -> None:
        """Take in what the flows of one more round carried."""
        crossed = _crossed(self._bench, closed, criterion)
        if crossed is not None:
            np.maximum(self.proven, self._certain(crossed), out=self.proven)

    def loads(self, flows: Sequence[Sent]) -> _Floats:
        """byte/s over every directed link while ``flows`` ran, each divided as it should."""
        routes = [self._bench.routes.route(each.flow) for each in flows]
        counts = [len(route.ways) for route in routes]
        ways = np.concatenate([route.ways for route in routes])
        carried = np.concatenate([route.shares for route in routes]) * np.repeat([each.value for each in flows], counts)
        return np.bincount(ways, carried, minlength=len(self.proven)).astype(float)

    def _certain(self, crossed: Crossed) -> _Floats:
        """What each link is known to have carried: flows that cross it whole, or a split load that filled it.

        How a split load divided is an assumption as long as there was room to divide it otherwise.
        """
        size = len(self.proven)
        load = np.bincount(crossed.way, crossed.share * crossed.values[crossed.owner], minlength=size)
        whole = crossed.share > _WHOLE
        way, owner = crossed.way[whole], crossed.owner[whole]
        sums = np.bincount(way, crossed.values[owner], minlength=size) * _at_once(way, owner, crossed, size)
        return np.maximum(sums, np.where(load >= FULL * self.capacity, load, 0.0))


def _at_once(way: _Numbers, owner: _Numbers, crossed: Crossed, size: int) -> _Floats:
    """The least share of their time that the flows over each link ran together (``capacity.overlap``)."""
    last, first, shortest = np.full(size, -np.inf), np.full(size, np.inf), np.full(size, np.inf)
    np.maximum.at(last, way, crossed.ends[owner])
    np.minimum.at(first, way, crossed.ends[owner])
    np.minimum.at(shortest, way, crossed.lengths[owner])
    used = np.isfinite(shortest) & (shortest > 0)
    found = np.ones(size)
    found[used] = shortest[used] / (shortest[used] + last[used] - first[used])
    return found


def _crossed(bench: Bench, closed: ClosedRound, criterion: Criterion) -> Crossed | None:
    """The flows of a round that gave a number for ``criterion``; None where there is none."""
    flows: list[Flow] = []
    values: list[float] = []
    ends: list[float] = []
    lengths: list[float] = []
    for result in closed.results:
        target = result.test.target
        if target.peer is None:
            continue
        for measurement in matching(criterion, result)[:1]:
            inward = ("direction", "in") in measurement.reading.labels
            ids = (target.peer.id, target.node.id) if inward else (target.node.id, target.peer.id)
            flows.append(Flow(*ids))
            values.append(measurement.reading.value)
            ends.append(measurement.at)
            lengths.append(result.ran)
    if not flows:
        return None
    routes = [bench.routes.route(flow) for flow in flows]
    owner = np.repeat(np.arange(len(routes)), [len(route.ways) for route in routes])
    way = np.concatenate([route.ways for route in routes])
    share = np.concatenate([route.shares for route in routes])
    return Crossed(owner, way, share, np.array(values), np.array(ends), np.array(lengths))


def crossing(bench: Bench, flows: Sequence[Sent], loads: _Floats) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """The links that some of the flows of a round cross: what each carried, and what these flows miss over it."""
    load: dict[int, float] = {}
    short: dict[int, float] = {}
    for each in flows:
        missing = max(each.expected.value - each.value, 0.0)
        for way in bench.routes.route(each.flow).ways.tolist():
            load[way] = float(loads[way])
            short[way] = short.get(way, 0.0) + missing
    return load, short
