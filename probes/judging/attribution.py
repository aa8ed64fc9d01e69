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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.link_loads import LinkLoads
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import FULL
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.model.fabric import Direction
from benchconsole.topology.tables.graph_algorithms import find_components

PROVEN = 1.15
"""A link that once carried this much more than in a low observation is not its cause."""

TRIED = 16
"""Sets of observations that are tried as the next cause, those with most observations first."""

PART = 0.75
"""Share of what is missing that has to have crossed a candidate."""


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """A low capacity verdict with the flows behind it.

    ``load`` is what the links that its flows cross carried in its round, byte/s, by their number
    (``topology.routing.graph.Graph.way``); ``short`` what was missing from the flows over each.
    """

    verdict: Verdict
    flows: tuple[MeasuredFlow, ...]
    load: Mapping[int, float]
    short: Mapping[int, float]

    @property
    def missing(self) -> float:
        """byte/s that were expected and did not arrive, over the flows that fell short."""
        return sum(each.missing for each in self.flows)


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """Links that explain the same observations; one of them is at fault.

    ``carried`` is what each was seen to carry at most, in byte/s of payload. ``first`` are the
    observations it was named for, ``dragged`` further ones that it explains.
    """

    ways: tuple[Direction, ...]
    carried: Mapping[Direction, float]
    first: tuple[Observation, ...]
    dragged: tuple[Observation, ...] = ()

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Everything that the cause explains."""
        return (*self.first, *self.dragged)


@dataclass(frozen=True, slots=True)
class Attribution:
    """The causes, and the low observations that none explains."""

    causes: tuple[Cause, ...] = ()
    unexplained: tuple[Observation, ...] = ()


@dataclass(slots=True)
class Attributor:
    """Explains the low observations of a session, and remembers what of it has not changed since.

    What was explained together is explained anew only when an observation joined or left it, or
    when a link of it was seen to carry more: a pure function of these, so remembering changes nothing.
    """

    context: JudgingContext
    loads: LinkLoads
    _known: dict[tuple[tuple[int, ...], bytes], tuple[tuple[Observation, ...], Attribution]] = field(
        default_factory=dict
    )

    def explain(self, low: Sequence[Observation]) -> Attribution:
        """Causes for every observation of ``low``, over all that the links have carried so far."""
        known = self._known
        self._known = {}
        parts: list[Attribution] = []
        for together in _list_independent(low):
            crossed = sorted({way for seen in together for way in seen.load})
            key = (tuple(id(seen) for seen in together), self.loads.proven[crossed].tobytes())
            # The observations are kept beside the answer, so that no other can get their ids.
            found = known.get(key) or (together, _Explanation(self.context, together, self.loads).explain())
            self._known[key] = found
            parts.append(found[1])
        return Attribution(
            tuple(cause for part in parts for cause in part.causes),
            tuple(seen for part in parts for seen in part.unexplained),
        )


def _list_independent(low: Sequence[Observation]) -> list[tuple[Observation, ...]]:
    """``low`` in groups that have no directed link in common, each in its order."""
    first: dict[int, int] = {}
    pairs = [(first.setdefault(way, index), index) for index, seen in enumerate(low) for way in seen.load]
    one, other = np.array(pairs, np.intp).reshape(-1, 2).T
    groups: dict[int, list[Observation]] = {}
    for label, seen in zip(find_components(len(low), one, other).tolist(), low, strict=True):
        groups.setdefault(label, []).append(seen)
    return [tuple(group) for group in groups.values()]


_Places = frozenset[int]
"""Observations by their place."""


@dataclass(frozen=True, slots=True)
class _Trial:
    """What follows if the links that explain ``found`` are at fault: what they carry, what else that explains."""

    found: _Places
    ways: tuple[int, ...]
    carried: Mapping[int, float]
    covered: _Places


class _Explanation:
    """Takes one cause after the other until no open observation has a candidate left."""

    def __init__(self, context: JudgingContext, low: Sequence[Observation], loads: LinkLoads) -> None:
        self._context = context
        self._low = low
        self._loads = loads
        self._open = set(range(len(low)))
        self._lost: dict[int, float] = {}
        self._crossing: dict[int, list[int]] = {}
        for index, seen in enumerate(low):
            for way in seen.load:
                self._crossing.setdefault(way, []).append(index)
        self._sets: dict[int, _Places] = {}
        self._ways: dict[_Places, set[int]] = {}
        self._heap: list[tuple[int, float, list[int], _Places]] = []
        self._trials: dict[_Places, _Trial] = {}

    def explain(self) -> Attribution:
        """Every cause in the order in which it was taken, and what stays open."""
        explains: dict[int, set[int]] = {}
        for index, seen in enumerate(self._low):
            for way in self._candidates(seen):
                explains.setdefault(way, set()).add(index)
        for way, found in explains.items():
            self._put(way, frozenset(found))
        causes = []
        while best := self._best():
            causes.append(self._cause(best))
            self._take(best)
        return Attribution(tuple(causes), self._pick(self._open))

    def _candidates(self, seen: Observation) -> list[int]:
        """The links that could be the cause of one low observation."""
        least = PART * seen.missing
        return [
            way
            for way, missing in seen.short.items()
            if missing >= least
            and seen.load[way] < FULL * self._loads.capacity[way]
            and self._loads.proven[way] <= PROVEN * seen.load[way]
        ]

    def _put(self, way: int, found: _Places) -> None:
        """Note that ``way`` explains ``found`` now."""
        self._sets[way] = found
        if found not in self._ways:
            self._ways[found] = set()
            missing = sum(self._low[index].missing for index in sorted(found))
            heapq.heappush(self._heap, (-len(found), -missing, sorted(found), found))
        self._ways[found].add(way)

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
            ways = tuple(sorted(self._ways[found]))
            carried = {
                way: max(float(self._loads.proven[way]), *(self._low[index].load[way] for index in found))
                for way in ways
            }
            touched = {index for way in ways for index in self._crossing[way]} & self._open - found
            would = {**self._lost, **carried}
            dragged = {index for index in touched if self._explained(self._low[index], would)}
            known = self._trials[found] = _Trial(found, ways, carried, found | dragged)
        return known

    def _explained(self, seen: Observation, lost: Mapping[int, float]) -> bool:
        """Whether the observation is as good as can be once the links in ``lost`` carry only that much."""
        routes, fabric = self._context.routes, self._context.fabric
        capacity = {
            routes.graph.direction(way): lost[way] / fabric.goodput_of(routes.graph.links[way >> 1])
            for way in seen.load
            if way in lost
        }
        expected = expect(fabric, [each.flow for each in seen.flows], routes=routes, capacity=capacity)
        value = sum(each.value for each in seen.flows)
        wanted = sum(each.value for each in expected)
        required = (seen.verdict.required or 0.0) / (seen.verdict.expected or 1.0)
        return value >= max(required, PART) * wanted

    def _take(self, best: _Trial) -> None:
        """Put aside what is explained; what shares a link with it may be worth something else now."""
        self._lost.update(best.carried)
        self._open -= best.covered
        for way in best.ways:
            self._remove(way)
        touched = best.covered | {index for way in best.ways for index in self._crossing[way]}
        for way in {way for index in touched for way in self._low[index].load} & self._sets.keys():
            found = self._remove(way) - best.covered
            if found:
                self._put(way, found)

    def _cause(self, trial: _Trial) -> Cause:
        graph = self._context.routes.graph
        carried = {graph.direction(way): value for way, value in trial.carried.items()}
        first, dragged = self._pick(trial.found), self._pick(trial.covered - trial.found)
        return Cause(tuple(sorted(carried)), carried, first, dragged)

    def _pick(self, chosen: Iterable[int]) -> tuple[Observation, ...]:
        return tuple(self._low[index] for index in sorted(chosen))
