"""Names the directed links that explain low throughput, from what links were seen to carry.

A link is a candidate for a low observation when it carried all or most of what was missing,
was not simply full, and never carried clearly more in any round: whatever a link once
carried, it can carry. The link that explains most is taken first, its capacity is set to what
it was seen to carry, and what that explains is put aside (max-min model in the loop). Links
that explain exactly the same observations cannot be told apart and are named together.
Observations that share no link are explained apart from each other. A low observation without a
candidate stays unexplained.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.round_flows import MeasuredFlow, RoundFlows
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import FULL
from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Direction
from benchconsole.topology.routing.graph import Graph
from benchconsole.topology.tables.graph_algorithms import find_components

PROVEN = 1.15
"""A link that once carried this much more than in a low observation is not its cause."""

TRIED = 16
"""Sets of observations that are tried as the next cause, those with most observations first."""

PART = 0.75
"""Share of what is missing that has to have crossed a candidate."""

LowVerdict = tuple[Verdict, tuple[MeasuredFlow, ...]]
"""An observation: a low verdict on throughput, with the flows that it speaks of."""

Cause = tuple[Mapping[Direction, float], tuple[LowVerdict, ...]]
"""Links that explain the same observations, with what each was seen to carry at most (byte/s of payload), and these.

One of the links is at fault. The observations that it was named for come first, then those that it drags down too.
"""


class LinkLoads:
    """The most that each directed link was seen to carry so far: ``proven``, byte/s of payload, by its number.

    How a split load divided is an assumption as long as there was room to divide it otherwise: it proves nothing
    unless it filled the link.
    """

    def __init__(self, graph: Graph) -> None:
        self.capacity = graph.payload
        self.proven: Floats = np.zeros(len(self.capacity))

    def add(self, flows: RoundFlows) -> None:
        """Take in what the flows of one more round carried: those that cross a link whole, or a load that filled it."""
        if not flows.flows:
            return
        crossed, size = flows.crossings, len(self.proven)
        whole = crossed.share > 1 - 1e-9
        way, owner = crossed.way[whole], crossed.owner[whole]
        sums = np.bincount(way, flows.values[owner], minlength=size) * _share_of_time(way, owner, flows, size)
        filled = np.where(flows.loads >= FULL * self.capacity, flows.loads, 0.0)
        np.maximum(self.proven, np.maximum(sums, filled), out=self.proven)


def _share_of_time(way: Indices, owner: Indices, flows: RoundFlows, size: int) -> Floats:
    """The least share of their time that the flows over each link ran together (``capacity.overlap``)."""
    ends = np.array([group[0].at for group in flows.measurements])[owner]
    lengths = np.array([result.ran for result in flows.results])[owner]
    last, first, shortest = np.full(size, -np.inf), np.full(size, np.inf), np.full(size, np.inf)
    np.maximum.at(last, way, ends)
    np.minimum.at(first, way, ends)
    np.minimum.at(shortest, way, lengths)
    used = np.isfinite(shortest) & (shortest > 0)
    shares = np.ones(size)
    shares[used] = shortest[used] / (shortest[used] + last[used] - first[used])
    return shares


class Attributor:
    """Explains the low observations of a session, and remembers what of it has not changed since.

    What was explained together is explained anew only when an observation joined or left it, or
    when a link of it was seen to carry more: a pure function of these, so remembering changes nothing.
    """

    def __init__(self, context: JudgingContext, loads: LinkLoads) -> None:
        self._context = context
        self._loads = loads
        self._known: dict[tuple[tuple[int, ...], bytes], tuple[list[LowVerdict], _Explanation]] = {}

    def explain(self, low: Sequence[LowVerdict]) -> tuple[list[Cause], list[LowVerdict]]:
        """Causes over all that the links have carried so far, and the observations that none explains."""
        known, self._known = self._known, {}
        none = np.empty(0, np.intp)
        crossed = [np.concatenate([none, *(each.route.ways for each in flows)]) for _, flows in low]
        for group in _group_dependent(crossed):
            together = [low[index] for index in group]
            ways = np.unique(np.concatenate([crossed[index] for index in group]))
            key = (tuple(id(verdict) for verdict, _ in together), self._loads.proven[ways].tobytes())
            # The verdicts are kept beside the answer, so that no other can get their ids.
            self._known[key] = known.get(key) or (together, _Explanation(self._context, together, self._loads))
        explained = [explanation for _, explanation in self._known.values()]
        return [each for part in explained for each in part.causes], [each for part in explained for each in part.rest]


def _group_dependent(crossed: Sequence[Indices]) -> list[list[int]]:
    """The places of observations that have directed links in common, over more than one step too."""
    if not crossed:
        return []
    owner = np.repeat(np.arange(len(crossed)), [len(ways) for ways in crossed])
    _, first, place = np.unique(np.concatenate(crossed), return_index=True, return_inverse=True)
    labels = find_components(len(crossed), owner[first][place], owner).tolist()
    return list(group_by_key((label, index) for index, label in enumerate(labels)).values())


_Places = frozenset[int]
"""Observations by their place."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """What follows if the links that explain ``found`` are at fault: what they carry, what else that explains."""

    found: _Places
    carried: Mapping[int, float]
    covered: _Places


class _Explanation:
    """Takes one cause after the other, until no open observation has a candidate: ``causes`` in order, and the rest."""

    def __init__(self, context: JudgingContext, low: Sequence[LowVerdict], loads: LinkLoads) -> None:
        self._context = context
        self._low = low
        self._loads = loads
        self._load: list[dict[int, float]] = [{} for _ in low]
        self._short: list[dict[int, float]] = [{} for _ in low]
        self._missing = [sum(each.missing for each in flows) for _, flows in low]
        for (_, flows), load, short in zip(low, self._load, self._short, strict=True):
            for each in flows:
                for way, carried in zip(each.route.ways.tolist(), each.loads.tolist(), strict=True):
                    load[way] = carried
                    short[way] = short.get(way, 0.0) + each.missing
        self._crossing = group_by_key((way, index) for index, load in enumerate(self._load) for way in load)
        self._open = set(range(len(low)))
        self._lost: dict[int, float] = {}
        self._sets: dict[int, _Places] = {}
        self._ways: dict[_Places, set[int]] = {}
        self._heap: list[tuple[int, float, list[int], _Places]] = []
        self._trials: dict[_Places, _Trial] = {}
        explains = group_by_key((way, index) for index in range(len(low)) for way in self._candidates(index))
        for way, found in explains.items():
            self._put(way, frozenset(found))
        self.causes: list[Cause] = []
        while best := self._best():
            self._take(best)
        self.rest = [low[index] for index in sorted(self._open)]

    def _candidates(self, index: int) -> list[int]:
        load = self._load[index]
        return [
            way
            for way, missing in self._short[index].items()
            if missing >= PART * self._missing[index]
            and load[way] < FULL * self._loads.capacity[way]
            and self._loads.proven[way] <= PROVEN * load[way]
        ]

    def _put(self, way: int, found: _Places) -> None:
        """Note that ``way`` explains ``found`` now."""
        self._sets[way] = found
        if found not in self._ways:
            self._ways[found] = set()
            missing = sum(self._missing[index] for index in sorted(found))
            heapq.heappush(self._heap, (-len(found), -missing, sorted(found), found))
        self._ways[found].add(way)
        self._trials.pop(found, None)  # tried without this link, it would be named without it

    def _remove(self, way: int) -> _Places:
        found = self._sets.pop(way)
        self._ways[found].discard(way)
        if not self._ways[found]:
            del self._ways[found]
        self._trials.pop(found, None)
        return found

    def _best(self) -> _Trial | None:
        """The set of links that explains most, of those that explain most by themselves."""
        top: list[tuple[int, float, list[int], _Places]] = []
        while self._heap and len(top) < TRIED:
            entry = heapq.heappop(self._heap)
            if entry[3] in self._ways and not (top and top[-1][3] == entry[3]):
                top.append(entry)
        for entry in top:
            heapq.heappush(self._heap, entry)
        trials = [self._try(entry[3]) for entry in top]
        return max(trials, key=lambda trial: (len(trial.covered), len(trial.found)), default=None)

    def _try(self, found: _Places) -> _Trial:
        known = self._trials.get(found)
        if known is None:
            carried = {
                way: max(float(self._loads.proven[way]), *(self._load[index][way] for index in found))
                for way in sorted(self._ways[found])
            }
            touched = {index for way in carried for index in self._crossing[way]} & self._open - found
            would = {**self._lost, **carried}
            dragged = {index for index in touched if self._explained(index, would)}
            known = self._trials[found] = _Trial(found, carried, found | dragged)
        return known

    def _explained(self, index: int, lost: Mapping[int, float]) -> bool:
        """Whether the observation is as good as can be once the links in ``lost`` carry only that much."""
        routes, fabric = self._context.routes, self._context.fabric
        capacity = {
            routes.graph.direction(way): lost[way] / fabric.goodput_of(routes.graph.links[way >> 1])
            for way in self._load[index]
            if way in lost
        }
        verdict, flows = self._low[index]
        expected = expect(fabric, [each.flow for each in flows], routes=routes, capacity=capacity)
        value = sum(each.value for each in flows)
        wanted = sum(each.value for each in expected)
        required = (verdict.required or 0.0) / (verdict.expected or 1.0)
        return value >= max(required, PART) * wanted

    def _take(self, best: _Trial) -> None:
        """Name a cause and put aside what it explains; what shares a link with it may be worth something else now."""
        carried = {self._context.routes.graph.direction(way): value for way, value in best.carried.items()}
        seen = (*sorted(best.found), *sorted(best.covered - best.found))
        self.causes.append((carried, tuple(self._low[index] for index in seen)))
        self._lost.update(best.carried)
        self._open -= best.covered
        for way in best.carried:
            self._remove(way)
        touched = best.covered | {index for way in best.carried for index in self._crossing[way]}
        for way in {way for index in touched for way in self._load[index]} & self._sets.keys():
            found = self._remove(way) - best.covered
            if found:
                self._put(way, found)
