"""The forward model of faults: the rates that the flows of a session would have with given components at fault.

A component that is slow carries a share of its capacity. One that is lost carries nothing, and the hash puts what was
on it on its siblings: the other members of the LAG, the other legs of the bond. A flow of many streams that only in
part crosses a slow component is held back in that part; its other streams take what they can get.

Only the flows near the components are filled anew (max-min); what the others carry stays. How well rates fit is the
logarithm of their likelihood: each flow is within ``NOISE`` of its rate, but for the share ``STRAY`` of flows that
something else disturbs, or that took another way than their source port says.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchconsole.probes.judging.components import Component
from benchconsole.probes.judging.flow_evidence import CrossingTable, FlowEvidence
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.round_flows import SLOW, WHOLE
from benchconsole.topology.arrays import Flags, Floats, Indices, find_distinct, sum_at
from benchconsole.topology.capacity.maxmin import Usage, max_min

NOISE = 0.06
"""Standard deviation of what a test of one stream reports, as a share of its rate; hosts differ and repeats do."""

HASHED = 0.1
"""The same of many streams, which hashes never divide evenly."""

HELD = 0.25
"""The same of many streams that have half of what was expected or less: what is left they share unevenly."""

FLOOR = 0.02
"""The least standard deviation, as a share of what was expected of the flow."""

STRAY, STRAY_ASSUMED = 0.03, 0.1
"""Share of the flows that something else disturbs, and of those on assumed paths: their rates can be anything."""

CLEAR = 3.0
"""Logarithm of the likelihood by which one flow speaks against a fault."""

SPARED, SPARED_ASSUMED = 0.1, 0.3
"""Shares of the flows that a failed component should slow and that may be fast; of those on assumed paths more.

One in ten streams takes another way than its source port says, and one in ten of the rest is disturbed.
"""

MANY, ENOUGH = 8192, 2048
"""Flows near a fault from which on some rounds are weighed first, and about how many flows these have."""

UNLIKELY = -20.0
"""Logarithm of the likelihood in some rounds below which the others are not asked: a fault is there in all of them."""

_LEAST = 1e-3
"""Share of its capacity that a part has left at least, so that every rate is positive."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A component of which each part carries ``left`` of its capacity; 0: it is lost, and its siblings carry on."""

    component: Component
    left: float

    @property
    def is_lost(self) -> bool:
        return self.left == 0


class FaultModel:
    """Rates of all flows of ``evidence`` with the faults that were accepted so far; none at first.

    Without ``steers`` streams whose paths are only assumed say nothing.
    """

    def __init__(self, evidence: FlowEvidence, *, steers: bool = True) -> None:
        self.evidence = evidence
        table = evidence.flows
        self._is_silent = table.is_repeated if steers else table.is_repeated | table.assumed
        self._parts = evidence.parts
        self.rates: Floats = evidence.flows.expected.copy()
        self._loads: Floats = evidence.expected_loads.copy()
        self._faults: dict[Fault, int] = {}
        self._numbers = 0
        self._at_part: dict[int, list[Fault]] = {}
        self._is_faulty = np.zeros(evidence.parts.size, bool)
        self._near: dict[tuple[Component, bool], Indices] = {}
        self._weighed: dict[tuple[Fault, tuple[int, ...]], float] = {}

    @property
    def faults(self) -> tuple[Fault, ...]:
        """All that were accepted, in that order."""
        return tuple(self._faults)

    def find_near(self, fault: Fault) -> Indices:
        """The flows whose rates a fault can change: those over it, and those that share a part with one of these."""
        key = fault.component, fault.is_lost
        if key not in self._near:
            self._near[key] = self.evidence.find_beside(self.evidence.find_over(self.list_parts(fault)))
        return self._near[key]

    def list_parts(self, fault: Fault) -> set[int]:
        """The parts of a fault, with the links that they are members of, and the siblings that a loss falls on."""
        parts = set(fault.component.parts)
        beside = {other for part in parts for other in self._parts.list_siblings(part)} if fault.is_lost else set()
        return parts | beside | {self._parts.way(part) for part in parts}

    def accept(self, faults: Iterable[Fault]) -> None:
        """Take ``faults`` for all that is wrong."""
        wanted = dict.fromkeys(faults)
        for fault in [each for each in self._faults if each not in wanted]:
            self.remove(fault)
        for fault in wanted:
            if fault not in self._faults:
                self.add(fault)

    def add(self, fault: Fault) -> None:
        """Accept one more."""
        self._numbers += 1
        self._faults[fault] = self._numbers
        for part in self.list_parts(fault):
            self._at_part.setdefault(part, []).append(fault)
            self._is_faulty[part] = True
        self._update(fault)

    def remove(self, fault: Fault) -> None:
        """Accept one less."""
        del self._faults[fault]
        for part in self.list_parts(fault):
            self._at_part[part].remove(fault)
            self._is_faulty[part] = bool(self._at_part[part])
        self._update(fault)

    def _update(self, fault: Fault) -> None:
        """Fill the flows near a fault anew."""
        near = self.find_near(fault)
        rates = self.predict(self.list_relevant(near), near)
        at = self.evidence.find_crossings(near)
        crossed = self.evidence.crossings
        change = np.zeros(len(self.rates))
        change[near] = rates - self.rates[near]
        np.add.at(self._loads, self.evidence.position[at], crossed.share[at] * change[crossed.flow[at]])
        self.rates[near] = rates

    def list_relevant(self, flows: Indices) -> list[Fault]:
        """The accepted faults of parts that these flows cross, in the order in which they were accepted."""
        if not self._faults:
            return []
        parts = self.evidence.crossings.part[self.evidence.find_crossings(flows)]
        faulty = np.unique(parts[self._is_faulty[parts]]).tolist()
        found = dict.fromkeys(fault for part in faulty for fault in self._at_part[part])
        return sorted(found, key=lambda each: self._faults[each])

    def compute_drop(self, fault: Fault) -> tuple[Indices, Floats]:
        """The flows near ``fault``, which is accepted, and by how many byte/s each of them is slower for it."""
        near = self.find_near(fault)
        without = self.predict([each for each in self.list_relevant(near) if each is not fault], near)
        return near, np.maximum(without - self.rates[near], 0.0)

    def compute_shared_drop(self, fault: Fault) -> tuple[Indices, Floats]:
        """As ``compute_drop``, as if ``fault`` alone were accepted: two that hold a flow back alike both slow it."""
        near = self.find_near(fault)
        return near, np.maximum(self.evidence.flows.expected[near] - self.predict([fault], near), 0.0)

    def weigh_alone(self, fault: Fault) -> float | None:
        """As ``weigh`` of a fault that is accepted, by streams only that ran by themselves and that it slows clearly.

        Those of one round count as one: what one of them met by chance the others met, too. None where there is none.
        """
        near, drop = self.compute_drop(fault)
        chosen = self.evidence.flows.alone[near] & (self.rates[near] < SLOW * (self.rates[near] + drop))
        if not chosen.any():
            return None
        own, rates = near[chosen], self.rates[near]
        gains = self.compute_fit(own, rates[chosen]) - self.compute_fit(own, (rates + drop)[chosen])
        _, at = np.unique(self.evidence.rounds[own], return_inverse=True)
        return float((np.bincount(at, gains) / np.bincount(at)).sum())

    def weigh(self, fault: Fault) -> float:
        """By how much the measured rates are likelier with ``fault`` beside those accepted; natural logarithm.

        Of one that some rounds speak against, these alone.
        """
        near = self.find_near(fault)
        beside = self.list_relevant(near)
        key = fault, tuple(self._faults[each] for each in beside)
        if key not in self._weighed:
            some = self._choose_some(near)
            part = self._compute_gain(fault, beside, some)
            is_known = len(some) == len(near) or part < UNLIKELY
            self._weighed[key] = part if is_known else self._compute_gain(fault, beside, near)
        return self._weighed[key]

    def _compute_gain(self, fault: Fault, beside: Sequence[Fault], flows: Indices) -> float:
        rates = self.predict([*beside, fault], flows)
        return float((self.compute_fit(flows, rates) - self.compute_fit(flows, self.rates[flows])).sum())

    def _choose_some(self, flows: Indices) -> Indices:
        """All of these flows, or of very many those of some whole rounds: flows of different rounds do not meet."""
        if len(flows) <= MANY:
            return flows
        rounds = self.evidence.rounds[flows]
        found = np.unique(rounds)
        return flows[np.isin(rounds, found[:: -(-len(flows) // ENOUGH)])]

    def is_contradicted(self, fault: Fault) -> bool:
        """Whether more of the flows that ``fault`` should slow clearly were fast than chance leaves.

        A fast one is likelier without the fault by ``CLEAR``: how unevenly its streams divide does not explain it.
        """
        near = self.find_near(fault)
        rates, before = self.predict([*self.list_relevant(near), fault], near), self.rates[near]
        slowed = (rates < SLOW * before) & ~self._is_silent[near]
        fast = slowed & (self.compute_fit(near, before) - self.compute_fit(near, rates) > CLEAR)
        assumed = self.evidence.flows.assumed[near]
        kinds = (~assumed, SPARED), (assumed, SPARED_ASSUMED)
        return any(float((fast & kind).sum()) > spared * (slowed & kind).sum() for kind, spared in kinds)

    def bound_gain(self, fault: Fault) -> float:
        """The most that ``weigh`` could say of a fault: as if every flow near it had just the rate that it could have.

        These are the slow ones, and the fast ones that may have what a fault takes from others.
        """
        near = self.find_near(fault)
        values, rates = self.evidence.flows.value[near], self.rates[near]
        may_rise = rates < self._most[near] * WHOLE
        if fault.is_lost:
            may_rise |= self.evidence.flows.assumed[near]  # a stream that is put elsewhere meets other limits
        moved = near[(values < rates) | may_rise]
        gains = self.compute_fit(moved, self.evidence.flows.value[moved]) - self.compute_fit(moved, self.rates[moved])
        return float(np.maximum(gains, 0.0).sum())

    @cached_property
    def _most(self) -> Floats:
        """byte/s that each flow could have if it were alone; of one that divides no more than what was expected."""
        table, crossed = self.evidence.flows, self.evidence.crossings
        alone = np.full(len(table.value), np.inf)
        np.minimum.at(alone, crossed.flow, self._parts.capacity[crossed.part] / crossed.share)
        return np.minimum(table.demand, np.where(table.assumed, alone, table.expected))

    def compute_fit(self, flows: Indices, rates: Floats) -> Floats:
        """The logarithm of the likelihood of what each of ``flows`` gave, if its true rate is that of ``rates``."""
        table = self.evidence.flows
        expected = table.expected[flows]
        seen, mean = table.value[flows] / expected, rates / expected
        divided = HASHED + (HELD - HASHED) * np.clip(2 * (1 - mean), 0.0, 1.0)
        spread = np.hypot(np.where(table.assumed[flows], NOISE, divided) * mean, FLOOR)
        normal = np.exp(-0.5 * np.square((seen - mean) / spread)) / (spread * np.sqrt(2 * np.pi))
        stray = np.where(table.assumed[flows], STRAY_ASSUMED, STRAY)
        return np.where(self._is_silent[flows], 0.0, np.log((1 - stray) * normal + stray))

    def predict(self, faults: Sequence[Fault], flows: Indices) -> Floats:
        """byte/s of payload of ``flows`` with ``faults``, while all others keep the rates that they have."""
        crossed, at = self.evidence.crossings, self.evidence.find_crossings(flows)
        flow = np.repeat(np.arange(len(flows)), self.evidence.count_crossings(flows))
        use = CrossingTable(flow, crossed.place[at], crossed.part[at], crossed.share[at].copy())
        own_at, inverse = find_distinct(self.evidence.position[at], len(self.evidence.places))
        own = sum_at(use.share * self.rates[flows][use.flow], inverse, len(own_at))
        table = self.evidence.flows
        scene = _Scene(self._parts, use, ~table.assumed[flows])
        for fault in sorted(faults, key=self._is_within_link):
            scene.lose(fault) if fault.is_lost else scene.slow(fault)
        use, owner, weight = scene.split()
        places, column = find_distinct(use.place, int(use.place.max(initial=-1)) + 1)
        part = places % self._parts.size
        at = self._find_places(places)
        taken = np.where(at < 0, 0.0, np.maximum(self._loads[at] - _look_up(own_at, own, at), 0.0))
        capacity = np.maximum(scene.limits[part] - taken, _LEAST * self._parts.capacity[part])
        demand = table.demand[flows]
        rate = max_min(Usage(use.flow, column, use.share), capacity, demand[owner], weight)
        most = np.where(table.assumed[flows], demand, np.minimum(demand, table.expected[flows]))
        return np.minimum(np.bincount(owner, rate, minlength=len(flows)), most)

    def _is_within_link(self, fault: Fault) -> bool:
        """Whether it takes something from a link, whatever that carries: links that are slow as a whole come first."""
        return fault.is_lost or any(self._parts.way(part) != part for part in fault.component.parts)

    def _find_places(self, places: Indices) -> Indices:
        """Where these places are in all that are crossed; -1 for one that no flow crossed."""
        known = self.evidence.places
        at = np.minimum(np.searchsorted(known, places), len(known) - 1)
        return np.where(known[at] == places, at, -1)


def _look_up(keys: Indices, values: Floats, wanted: Indices) -> Floats:
    """The value of each of ``wanted`` among sorted ``keys``; 0 for one that is not there."""
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[at] == wanted, values[at], 0.0)


class _Scene:
    """The crossings of a set of flows once there are faults, and ``limits``, byte/s of payload that each part carries.

    ``divided`` are the flows that divide over equal parts.
    """

    def __init__(self, parts: Parts, use: CrossingTable, divided: Flags) -> None:
        self._parts = parts
        self._use = use
        self._divided = divided
        self._is_slow = np.zeros(parts.size, bool)
        self.limits: Floats = parts.capacity.copy()

    def lose(self, fault: Fault) -> None:
        """Take the parts of a fault away: their siblings share what was on them."""
        for part in fault.component.parts:
            beside, way = self._parts.list_siblings(part), self._parts.way(part)
            if not len(beside):
                self.limits[part] = 0.0
                continue
            if way != part:
                self.limits[way] -= self.limits[part]
                self._is_slow[way] = True
            use = self._use
            moved = np.flatnonzero(use.part == part)
            if not len(moved):
                continue
            is_moved = np.zeros(len(self._divided), bool)
            is_moved[use.flow[moved]] = True
            gone = is_moved[use.flow] & (self._parts.ways_of[use.part] == way)
            added = CrossingTable(
                np.repeat(use.flow[moved], len(beside)),
                (use.place[moved, None] - part + beside).ravel(),
                np.tile(beside, len(moved)),
                np.repeat(use.share[moved] / len(beside), len(beside)),
            )
            self._replace(gone, added)

    def slow(self, fault: Fault) -> None:
        """Leave the parts of a fault a share of their capacity; a slow member is apart from the rest of its LAG."""
        for part in fault.component.parts:
            way = self._parts.way(part)
            slow = np.append(self._parts.list_members(part), part) if way == part else part
            if way != part:
                self._set_apart(part, way)
            self._is_slow[slow] = True
            self.limits[slow] = np.minimum(self.limits[slow], fault.left * self._parts.capacity[slow])

    def _set_apart(self, part: int, way: int) -> None:
        """Let what is on a member cross that alone; of a flow that divides, the member's share of it."""
        use = self._use
        share = self._parts.capacity[part] / self._parts.capacity[way]
        self.limits[way] -= self.limits[part]
        on_link = use.part == way
        is_steered = np.zeros(len(self._divided), bool)
        is_steered[use.flow[use.part == part]] = True
        divided = np.flatnonzero(on_link & self._divided[use.flow])
        added = CrossingTable(
            use.flow[divided],
            use.place[divided] - way + part,
            np.full(len(divided), part),
            use.share[divided] * share,
        )
        use.share[divided] *= 1 - share
        self._replace(on_link & is_steered[use.flow], added)

    def _replace(self, gone: Flags, added: CrossingTable) -> None:
        kept = (column[~gone] for column in self._use)
        self._use = CrossingTable(*(np.concatenate(pair) for pair in zip(kept, added, strict=True)))

    def split(self) -> tuple[CrossingTable, Indices, Floats]:
        """The crossings of streams, the flow of each, and the share of the flow that each is.

        A flow that divides and crosses something slow with a part of itself is two: that part, and the rest. Of equal
        parts that are all slow both carry as much as the flow does.
        """
        use, flows = self._use, len(self._divided)
        slow = self._is_slow[use.part]
        group = self._parts.shared.of[self._parts.ways_of[use.part]]
        keys, at = np.unique((use.flow * (1 + group.max(initial=0)) + group)[slow], return_inverse=True)
        sums = np.zeros(len(use.flow))
        sums[slow] = sum_at(use.share[slow], at, len(keys))[at]
        held, alike = slow & (sums < WHOLE), slow & (sums >= WHOLE)
        slow_share = np.zeros(flows)
        np.maximum.at(slow_share, use.flow[held], sums[held])
        is_split = self._divided & (slow_share > 1 - WHOLE)
        number = np.cumsum(is_split) - 1 + flows  # of the rest of each flow that is split
        both = is_split[use.flow]
        whole = alike | (use.share > WHOLE)
        slowed = np.where(both & ~whole, use.share / np.maximum(slow_share, _LEAST)[use.flow], use.share)
        rest = np.where(whole, use.share, use.share / np.maximum(1 - slow_share, _LEAST)[use.flow])
        first, second = ~both | held | whole, both & (~held | whole)
        owner = np.concatenate((np.arange(flows), np.flatnonzero(is_split)))
        weight = np.concatenate((np.where(is_split, slow_share, 1.0), 1 - slow_share[is_split]))
        table = CrossingTable(
            np.concatenate((use.flow[first], number[use.flow][second])),
            np.concatenate((use.place[first], use.place[second])),
            np.concatenate((use.part[first], use.part[second])),
            np.minimum(np.concatenate((slowed[first], rest[second])), 1.0),
        )
        return table, owner, weight
