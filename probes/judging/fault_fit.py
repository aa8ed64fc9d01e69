"""Chooses, for the causes of low observations, the faults that fit all flows of a session best.

Each cause that the cover of low observations found is held against the other components near it: each with the share
of its capacity that the low flows suggest, and lost, where siblings would carry on (``FaultModel``). One cause is
fitted after the other with the rest as it is, until nothing changes. A cause that makes the measured rates no likelier
is none. Faults that fit alike are a tie.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import combinations, starmap
from typing import NamedTuple

import numpy as np

from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.fault_model import Fault, FaultModel
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.set_cover import FEWEST
from benchconsole.topology.arrays import Flags, Floats, Indices, sum_at
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key

ALIKE = 2.0
"""Logarithm of the likelihood by which two faults fit alike."""

SIMPLER = 0.5
"""Logarithm of the likelihood that a loss is ahead by: it has no share that could be chosen to fit."""

NEEDED = 0.0
"""Logarithm of the likelihood that a cause has to add."""

NEEDED_BESIDE = 3.0
"""The same beside another cause on the way of its low flows, once all are fitted: chance makes flows unlike.

Beside a tie it has to add that from the start: else it would settle the tie, in favour of the one looked at.
"""

NEEDED_ASSUMED = 12.0
"""The same where all of its low flows are on assumed paths: some of these took another way."""

MOST_LEFT = 0.95
"""Share of its capacity that a component at fault carries at most."""

COSTS = {ComponentKind.SWITCH: 6.0, ComponentKind.UPLINKS: 2.0}
"""Logarithm of the likelihood that a component has to add beyond a smaller one: it is rarer that all of it fails."""

CROSSED = 0.3
"""Share of the low flows of a cause that another component has to be crossed by, to be compared with it."""

MOST = 60
"""Components that are compared for one cause."""

TURNS = 3
"""How often every cause is fitted again at most."""

_LOW, _LEAST = 0.85, 0.01
_QUANTILES = (0.1, 0.5, 0.9)


@dataclass(frozen=True, slots=True, eq=False)
class FittedCause:
    """The faults that fit a cause alike, the best first, and the logarithm of the likelihood that the best adds.

    ``low`` are the numbers of the low flows that it was proposed for.
    """

    faults: tuple[Fault, ...]
    gain: float
    low: Indices


class _Pool(NamedTuple):
    """Components of which one may be at fault, the low flows, and what it has to add to the logarithm of likelihood."""

    components: Sequence[Component]
    low: Indices
    needed: float


class FaultFit:
    """Fits faults to the flows of ``model``; ``looked_at`` are the parts of all faults that were tried."""

    def __init__(self, model: FaultModel, components: Components) -> None:
        self.model = model
        self.looked_at: set[int] = set()
        self._parts: Parts = model.evidence.parts
        self._components = components
        self._pools: list[_Pool] = []

    def add(self, components: Sequence[Component], low: Indices, needed: float) -> None:
        """Propose one more cause: candidates for the flows ``low``, and how much likelier a fault has to make all."""
        self._pools.append(_Pool(self._list_alternatives(components, low), low, needed))

    def fit(self) -> list[FittedCause]:
        """The causes that are left of all that were proposed. The model accepts the best fault of each."""
        self.model.accept(())
        found: dict[int, FittedCause] = {}
        self._fit_in_turn(found, range(len(self._pools)))
        while self._drop_needless(found):
            self._fit_in_turn(found, list(found))
        return self._merge(list(found.values()))

    def _fit_in_turn(self, found: dict[int, FittedCause], numbers: Sequence[int]) -> None:
        """Fit the causes of these numbers, one after the other, until none of them changes the others any more."""
        for turn in range(TURNS):
            changed = False
            for index in list(found) if turn else numbers:
                before = found.pop(index, None)
                if before is not None:
                    self.model.remove(before.faults[0])
                tied = {each.faults[0] for each in found.values() if len(each.faults) > 1}
                fitted = self._fit_one(self._pools[index], tied, before.faults if before is not None else ())
                if fitted is not None:
                    found[index] = fitted
                    self.model.add(fitted.faults[0])
                changed |= (fitted and fitted.faults[0]) != (before and before.faults[0])
            if not changed:
                break

    def _drop_needless(self, found: dict[int, FittedCause]) -> bool:
        """Take back each cause that adds too little to what the others explain; whether there was one."""
        number = len(found)
        for index in sorted(found, key=lambda index: found[index].gain):
            fault = found[index].faults[0]
            self.model.remove(fault)
            if self.model.list_relevant(self._pools[index].low) and self._weigh(fault) < NEEDED_BESIDE:
                del found[index]
            else:
                self.model.add(fault)
        return len(found) < number

    def _weigh(self, fault: Fault) -> float:
        """The gain of a fault, beyond a smaller one."""
        return self.model.weigh(fault) - COSTS.get(fault.component.kind, 0.0)

    def _fit_one(self, pool: _Pool, tied: AbstractSet[Fault], before: Sequence[Fault]) -> FittedCause | None:
        """The best of the faults of a pool beside those accepted; None where none is needed.

        ``tied`` are those that others fit as well as: beside one of them, which may not be the one that is, the faults
        that fitted alike ``before`` still do.
        """
        taken = {each.component for each in self.model.faults}
        beside = tied & set(self.model.list_relevant(pool.low))
        needed = max(pool.needed, NEEDED_BESIDE) if beside else pool.needed
        fitted = self._choose([each for each in pool.components if each not in taken], pool.low, needed)
        if fitted is None or not beside or len(before) < 2:
            return fitted
        known = {(each.component, each.is_lost) for each in fitted.faults}
        others = (each for each in before if (each.component, each.is_lost) not in known)
        return replace(fitted, faults=(*fitted.faults, *others))

    def _choose(self, components: Sequence[Component], low: Indices, needed: float = NEEDED) -> FittedCause | None:
        """The faults of these components that fit best; those that cannot come near that are not weighed."""
        faults = [fault for each in components for fault in self._list_faults(each, low)]
        one_of_each = {(each.component, each.is_lost): each for each in faults}  # the bound knows not how much is left
        bounds = {key: self.model.bound_gain(each) for key, each in one_of_each.items()}
        costs = (COSTS.get(each.component.kind, 0.0) for each in faults)
        bounded = [
            (bounds[each.component, each.is_lost] - cost, each) for each, cost in zip(faults, costs, strict=True)
        ]
        self.looked_at |= {part for _, fault in bounded for part in self.model.list_parts(fault)}
        best: dict[tuple[Component, bool], tuple[float, Fault]] = {}
        most = needed
        for bound, fault in sorted(bounded, key=lambda each: -each[0]):
            if bound < max(needed, most - ALIKE):
                break
            gain = self._weigh(fault)
            if (
                gain >= max(needed, most - ALIKE)
                and fault.component.kind in COSTS
                and self.model.is_contradicted(fault)
            ):
                continue
            most = max(most, gain)
            key = fault.component, fault.is_lost
            if key not in best or best[key][0] < gain:
                best[key] = gain, fault
        ranked = sorted(best.values(), key=lambda each: -each[0] - SIMPLER * each[1].is_lost)
        if not ranked or ranked[0][0] <= needed:
            return None
        alike = [fault for gain, fault in ranked if gain >= ranked[0][0] - ALIKE]
        kept = [each for each in alike if not any(other.component.parts < each.component.parts for other in alike)]
        return FittedCause(tuple(kept), ranked[0][0], low)

    def _merge(self, fitted: Sequence[FittedCause]) -> list[FittedCause]:
        """Causes as one, where one component fits as well that holds them: of two also a cable of it; a switch."""
        merged: list[FittedCause] = []
        for own in group_by_key((each.faults[0].component.device, each) for each in fitted).values():
            left = list(own)
            while (pair := next(filter(None, starmap(self._join, combinations(left, 2))), None)) is not None:
                one, other, both = pair
                left = [*(each for each in left if each is not one and each is not other), both]
            merged += left
        return self._join_at_switches(merged)

    def _join_at_switches(self, fitted: list[FittedCause]) -> list[FittedCause]:
        """Links of one switch that are slow alike as the switch."""
        at = dict.fromkeys(part for each in fitted for part in sorted(each.faults[0].component.parts))
        holding = dict.fromkeys(each for part in at for each in self._components.holding(part))
        for switch in (each for each in holding if each.kind is ComponentKind.SWITCH):
            own = [each for each in fitted if each.faults[0].component.parts < switch.parts]
            if len(own) >= FEWEST[ComponentKind.SWITCH] and not any(each.faults[0].is_lost for each in own):
                joined = self._replace(own, [switch])
                if joined is not None:
                    fitted = [*(each for each in fitted if each not in own), joined]
        return fitted

    def _join(self, one: FittedCause, other: FittedCause) -> tuple[FittedCause, FittedCause, FittedCause] | None:
        """Two causes with the one that the model accepts in their place; None where they stay two."""
        faults = one.faults[0], other.faults[0]
        joined = self._components.join([each.component for each in faults])
        if joined is None or any(each.is_lost for each in faults):
            return None
        both = self._replace((one, other), [joined, *self._list_cables(joined)])
        return None if both is None else (one, other, both)

    def _replace(self, causes: Sequence[FittedCause], components: Sequence[Component]) -> FittedCause | None:
        """The one of ``components`` that fits as well as these causes, which it takes the place of; None if none."""
        faults = [each.faults[0] for each in causes]
        for each in faults:
            self.model.remove(each)
        low = np.unique(np.concatenate([each.low for each in causes]))
        made = self._choose(components, low)
        alone = 0.0
        for each in faults:
            alone += self.model.weigh(each)
            self.model.add(each)
        rounds = len(np.unique(self.model.evidence.rounds[low]))
        if made is None:
            return None
        # That three fail at once is rarer than that a switch does.
        spared = COSTS.get(made.faults[0].component.kind, 0.0) if len(causes) > 2 else 0.0
        if made.gain + spared < alone - allow_misfit(made.faults[0], len(low), rounds):
            return None
        for each in faults:
            self.model.remove(each)
        self.model.add(made.faults[0])
        return made

    def _list_cables(self, component: Component) -> dict[Component, None]:
        """The members and legs of a component, both ways: one that is lost slows the two ways of it unlike."""
        inner = (other for part in component.parts for other in self._list_inner(part))
        holding = (each for part in sorted({*component.parts, *inner}) for each in self._components.holding(part))
        return dict.fromkeys(filter(_is_cable, holding))

    def _list_inner(self, part: int) -> Sequence[int]:
        """The members of a link; a member has none."""
        return self._parts.list_members(part).tolist() if self._parts.way(part) == part else ()

    def _list_alternatives(self, components: Sequence[Component], low: Indices) -> list[Component]:
        """The components that share a link with those of a cause, and that enough of its low flows cross.

        Of a switch also the other switches: flows that divide over both are slow by either.
        """
        ways = {self._parts.way(part) for each in components for part in each.parts}
        ways |= {way ^ 1 for way in ways}
        near = [part for way in sorted(ways) for part in (way, *self._parts.list_members(way).tolist())]
        pool = dict.fromkeys([*components, *(each for part in near for each in self._components.holding(part))])
        crossed = self._find_crossed(low)
        if any(each.kind is ComponentKind.SWITCH for each in components):
            others = (each for part in np.flatnonzero(crossed).tolist() for each in self._components.holding(part))
            pool |= dict.fromkeys(each for each in others if each.kind is ComponentKind.SWITCH)
        counts = {
            each: int(np.isin(low, self.model.evidence.find_over(self._list_ways(each))).sum())
            for each in pool
            if sum(crossed[way] for way in self._list_ways(each)) >= self._count_needed(each)
        }
        enough = [each for each, count in counts.items() if count >= CROSSED * len(low)]
        return sorted(enough, key=lambda each: -counts[each])[:MOST]

    def _find_crossed(self, flows: Indices) -> Flags:
        """Per part whether any of these flows crosses it."""
        evidence = self.model.evidence
        crossed = np.zeros(self._parts.size, bool)
        crossed[evidence.crossings.part[evidence.find_crossings(flows)]] = True
        return crossed

    def _list_ways(self, component: Component) -> set[int]:
        return {self._parts.way(part) for part in component.parts}

    def _count_needed(self, component: Component) -> int:
        """Directed links of a component that low flows have to cross, as for a cover."""
        return FEWEST.get(component.kind, 2) if len({part >> 1 for part in component.parts}) > 1 else 1

    def _list_faults(self, component: Component, low: Indices) -> Iterator[Fault]:
        """The component lost, where others would carry on, and with each share left that its low flows suggest.

        One that has nothing left is lost; only that of which no others carry on may be that slow.
        It is slow only in ways that low flows cross. Of no component more is left than of nine tenths of these flows.
        """
        may_be_lost = all(len(self._parts.list_siblings(part)) for part in component.parts)
        if may_be_lost and _is_cable(component):
            yield Fault(component, 0.0)
        crossed, ways = self._find_crossed(low), self._list_ways(component)
        if {way & 1 for way in ways if crossed[way]} < {way & 1 for way in ways}:
            return
        table = self.model.evidence.flows
        most = min(float(np.quantile(table.value[low] / table.expected[low], _QUANTILES[-1])), MOST_LEFT)
        shares = self._estimate_left(component, low)
        if len(shares):
            for left in sorted({round(float(each), 3) for each in np.quantile(shares, _QUANTILES)}):
                if left > 0 or not may_be_lost:
                    yield Fault(component, max(min(left, most), _LEAST))

    def _estimate_left(self, component: Component, low: Indices) -> Floats:
        """The share of capacity that each low flow over a component saw left on its part that carried most.

        Of flows that divide over this component and others, all that is missing is taken to be missing here.
        """
        model, evidence = self.model, self.model.evidence
        is_inner = np.zeros(self._parts.size, bool)
        for part in component.parts:
            is_inner[part] = True
            if self._parts.way(part) == part:
                is_inner[self._parts.list_members(part)] = True  # a steered flow alone loads one member of a LAG
        at = evidence.find_crossings(evidence.find_over(component.parts))
        at = at[is_inner[evidence.crossings.part[at]]]
        flow = evidence.crossings.flow[at]
        is_low = (evidence.flows.value[flow] < _LOW * model.rates[flow]) | np.isin(flow, low)
        at, flow = at[is_low], flow[is_low]
        if not len(at):
            return np.empty(0)
        place, expected = evidence.position[at], evidence.expected_loads
        missing = (expected[place] - evidence.measured[place]) / self._sum_shares(at)
        shares = (expected[place] - missing) / self._parts.capacity[evidence.crossings.part[at]]
        flows, position = np.unique(flow, return_inverse=True)
        most = np.zeros(len(flows))
        np.maximum.at(most, position, shares)
        return most

    def _sum_shares(self, at: Indices) -> Floats:
        """The share of a flow that leaves a device with it over these crossings, which are all of one component."""
        crossed = self.model.evidence.crossings
        group = crossed.flow[at] * self._parts.size + self._parts.shared.of[self._parts.ways_of[crossed.part[at]]]
        _, inverse = np.unique(group, return_inverse=True)
        return np.minimum(sum_at(crossed.share[at], inverse, int(inverse.max()) + 1)[inverse], 1.0)


def _is_cable(component: Component) -> bool:
    """Whether it is both ways of one link or member."""
    return len(component.parts) == 2 and len({part >> 1 for part in component.parts}) == 1


def allow_misfit(fault: Fault, flows: int, rounds: int) -> float:
    """Logarithm of the likelihood by which ``fault`` may fit ``flows`` of ``rounds`` worse than two apart do.

    A lost cable has no share that is chosen to fit, and two have one each: what chance made unlike in a round, which is
    the same for all of its flows, speaks for two as often as there are flows.
    """
    return ALIKE * flows / rounds if fault.is_lost else ALIKE


def name_components(parts: Parts, components: Components, faults: Sequence[Fault]) -> tuple[Component, ...]:
    """The components that ``faults``, which fit alike, are told by; one where one holds them all.

    Of a LAG or a bond that lost a member nobody outside can tell which one it is: its hash renumbers those that are
    left. It is told by all of it.
    """
    found = dict.fromkeys(_find_whole(parts, components, each) if each.is_lost else each.component for each in faults)
    joined = components.join(list(found))
    return (joined,) if joined is not None else tuple(found)


def _find_whole(parts: Parts, components: Components, fault: Fault) -> Component:
    """The LAG of a member, the NIC of a leg; of another link that is lost, the link."""
    part = min(fault.component.parts)
    kinds = (ComponentKind.LINK,) if parts.way(part) != part else (ComponentKind.NIC, ComponentKind.LINK)
    holding = components.holding(parts.way(part))
    return next(each for kind in kinds for each in holding if each.kind is kind and not each.is_one_way)
