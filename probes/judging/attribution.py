"""Names the components of a fabric that explain low throughput, from what its flows were seen to carry.

The low observations are grouped by the devices that they cross. In each group a cover (``set_cover``) proposes
components, and of these and those near them the faults are taken that fit all flows of the session best, the good ones
too (``fault_fit``). Faults that fit alike cannot be told apart and are named together. A low observation that no fault
explains stays unexplained.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.probes.judging.components import Component, Components
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.fault_fit import NEEDED, NEEDED_ASSUMED, FaultFit, FittedCause, name_components
from benchconsole.probes.judging.fault_model import Fault, FaultModel
from benchconsole.probes.judging.flow_evidence import FlowEvidence
from benchconsole.probes.judging.part_loads import PartLoads
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.set_cover import PART, Cover, LowVerdict, SetCover, is_assumed
from benchconsole.topology.arrays import Floats, Indices
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.tables.graph_algorithms import find_components

SURE = 20.0
"""Logarithm of the likelihood that assumed paths alone have to add for a cause, once others were tested further."""

NEEDED_ALONE = 6.0
"""The same of streams that ran by themselves: of two that should be slow both are."""

MILD = 0.7
"""Share of what is expected that a stream has at least beside one or two more than were to be on its way."""

WEAK = 5.0
"""The same below which a cause is only suspected, whatever it rests on."""

LOWERED = 0.95
"""Share of its rate from which down a flow is slower by a fault."""

MOST = 0.5
"""Share of what is missing that faults have to explain."""


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """Components that explain the same observations: one of them is at fault.

    ``faults`` are what may be wrong with them, the likeliest first; ``gain`` is by how much it makes the measured
    rates likelier (natural logarithm), and ``alone`` those of streams that ran by themselves (None: of none it should
    slow). ``seen`` are the low observations that it explains.
    """

    components: tuple[Component, ...]
    faults: tuple[Fault, ...]
    gain: float
    alone: float | None
    seen: tuple[LowVerdict, ...]

    @property
    def is_assumed(self) -> bool:
        """Whether it rests on nothing but paths that source ports are assumed to take."""
        return all(map(is_assumed, self.seen))

    @property
    def independent_gain(self) -> float:
        """The gain as if all that was slow in one round had been slow for one reason: a stream more on their way."""
        return self.gain * len({verdict.round for verdict, _ in self.seen}) / len(self.seen)

    @property
    def is_weak(self) -> bool:
        """Whether further tests should confirm it: it adds little, or rests on assumed paths alone."""
        return self.is_assumed or self.gain < WEAK

    def is_told(self, *, confirmed: bool) -> bool:
        """Whether streams that met by chance do not explain it: where any ran by themselves, these tell.

        ``confirmed``: suspicions were tested further, this one or others.
        """
        if not self.is_assumed:
            return True
        if self.alone is not None:
            return self.alone >= NEEDED_ALONE
        share = float(np.median([verdict.share or 0.0 for verdict, _ in self.seen]))
        return share < MILD and self.independent_gain >= (SURE if confirmed else NEEDED_ASSUMED)


class Attributor:
    """Explains the low observations of a session, and remembers what of it has not changed since.

    A group that was explained together is explained anew only when an observation joined or left it, or when flows were
    added that tell of its faults: a pure function of these, so remembering changes nothing.
    """

    def __init__(self, context: JudgingContext, loads: PartLoads, evidence: FlowEvidence) -> None:
        self._context = context
        self._loads = loads
        self._evidence = evidence
        self.components = Components(context.parts)
        self._known: dict[tuple[bool, tuple[int, ...], bytes], _Explanation] = {}

    def clear(self) -> None:
        """Forget what was explained."""
        self._known.clear()

    def explain(self, low: Sequence[LowVerdict], *, steers: bool = True) -> tuple[list[Cause], list[LowVerdict]]:
        """Causes over all that the parts have carried so far, and the observations that none explains.

        Without ``steers`` streams tell nothing of the ways that their source ports mean.
        """
        known, self._known = self._known, {}
        none = np.empty(0, np.intp)
        crossed = [np.concatenate([none, *(each.parts for each in flows)]) for _, flows in low]
        for group in _group_dependent(self._context.parts, crossed):
            together = [low[index] for index in group]
            parts = np.unique(np.concatenate([crossed[index] for index in group]))
            key = (steers, tuple(id(verdict) for verdict, _ in together), self._loads.read_state(parts))
            made = known.get(key)
            if made is None or made.becomes_outdated():
                model = FaultModel(self._evidence, steers=steers)
                made = _Explanation(self._context.parts, self.components, together, self._loads, model)
            self._known[key] = made
        explained = self._known.values()
        return [each for part in explained for each in part.causes], [each for part in explained for each in part.rest]


def _group_dependent(parts: Parts, crossed: Sequence[Indices]) -> list[list[int]]:
    """The places of observations that have a device in common, over more than one step too."""
    if not crossed:
        return []
    numbers: dict[str, int] = {}
    devices: list[int] = []
    owner: list[int] = []
    ends = [(link.a, link.b) for link in parts.graph.links]
    for index, own in enumerate(crossed):
        links = {parts.way(part) >> 1 for part in own.tolist()}
        met = {device for link in links for device in ends[link]}
        devices += (numbers.setdefault(device, len(numbers)) for device in sorted(met))
        owner += [index] * len(met)
    _, first, place = np.unique(np.array(devices, np.intp), return_index=True, return_inverse=True)
    owners = np.array(owner, np.intp)
    labels = find_components(len(crossed), owners[first][place], owners).tolist()
    return list(group_by_key((label, index) for index, label in enumerate(labels)).values())


_Drops = dict[int, list[tuple[int, float]]]
"""By number of a flow, the places of causes with byte/s that the flow is slower for each."""


class _Explanation:
    """The ``causes`` of low observations that have devices in common, and the ``rest``."""

    def __init__(
        self, parts: Parts, components: Components, low: Sequence[LowVerdict], loads: PartLoads, model: FaultModel
    ) -> None:
        self._low = low  # kept, so that no other verdict can get the id of one of them
        self._loads = loads
        self._evidence = model.evidence
        self._flows = {id(each[0]): self._list_flows(each) for each in low}
        self.causes: list[Cause] = []
        self.rest: list[LowVerdict] = list(low)
        fit = FaultFit(model, components)
        while covers := SetCover(parts, components, self.rest, loads).covers:
            left = len(self.rest)
            self._propose(fit, covers)
            self._tell(fit, parts, components)
            if len(self.rest) >= left:
                break
        self._looked_at = np.array(sorted(fit.looked_at), np.intp)
        self._asked = self._evidence.size

    def _propose(self, fit: FaultFit, covers: Sequence[Cover]) -> None:
        """Let every cover of what is open be held against what is near it."""
        for cover in covers:
            seen = [self.rest[index] for index in cover.found]
            needed = NEEDED_ASSUMED if all(map(is_assumed, seen)) else NEEDED
            fit.add(cover.components, np.unique(np.concatenate([self._flows[id(each[0])] for each in seen])), needed)

    def becomes_outdated(self) -> bool:
        """Whether there are flows that tell of its faults and were not there when it was asked last.

        These cross what was tried, or run beside such flows in one round: so there are none where nothing crossed it.
        """
        asked, self._asked = self._asked, self._evidence.size
        return self._evidence.is_crossed_since(asked, self._looked_at)

    def _list_flows(self, low: LowVerdict) -> Indices:
        numbers = self._evidence.numbers
        return np.array([numbers[each.measurement.id] for each in low[1]], np.intp)

    def _tell(self, fit: FaultFit, parts: Parts, components: Components) -> None:
        """Give each observation to the fault that lowers its rate most; none to a fault that hardly lowers it.

        An observation that several hold back alike, so that none lowers it beside the others, is given to one of them.
        """
        model, fitted = fit.model, fit.fit()
        beside, alone = (
            self._find_drops(compute, fitted) for compute in (model.compute_drop, model.compute_shared_drop)
        )
        owned: list[list[LowVerdict]] = [[] for _ in fitted]
        self.causes, self.rest = [], []
        for low in self._low:
            owner = self._find_owner(model, low, beside)
            owner = self._find_owner(model, low, alone) if owner is None else owner
            (self.rest if owner is None else owned[owner]).append(low)
        for each, seen in zip(fitted, owned, strict=True):
            if seen:
                named = name_components(parts, components, each.faults)
                self.causes.append(Cause(named, each.faults, each.gain, model.weigh_alone(each.faults[0]), tuple(seen)))

    def _find_owner(self, model: FaultModel, low: LowVerdict, drops: _Drops) -> int | None:
        """The place of the cause that lowers an observation most; None where none does, or where it explains little."""
        flows, table = self._flows[id(low[0])], self._evidence.flows
        own: dict[int, float] = {}
        for flow in flows.tolist():
            for place, drop in drops.get(flow, ()):
                own[place] = own.get(place, 0.0) + drop
        most = max(own, key=lambda place: own[place], default=None)
        rate, wanted, value = model.rates[flows].sum(), table.expected[flows].sum(), table.value[flows].sum()
        if most is None or own[most] <= (1 - LOWERED) * (rate + own[most]):
            return None
        return most if value >= PART * rate or wanted - rate >= MOST * (wanted - value) else None

    def _find_drops(self, compute: Callable[[Fault], tuple[Indices, Floats]], fitted: Sequence[FittedCause]) -> _Drops:
        """By flow of a low observation, the places of the causes that slow it, with byte/s."""
        is_low = np.zeros(len(self._evidence.flows.value), bool)
        for flows in self._flows.values():
            is_low[flows] = True
        found: _Drops = {}
        for place, cause in enumerate(fitted):
            near, drop = compute(cause.faults[0])
            slowed = np.flatnonzero(is_low[near] & (drop > 0))
            for flow, lost in zip(near[slowed].tolist(), drop[slowed].tolist(), strict=True):
                found.setdefault(flow, []).append((place, lost))
        return found
