"""Names the components of a fabric that explain low throughput, from what its parts were seen to carry.

A part is a candidate for a low observation when it carried all or most of what was missing, was not simply full, and
never carried clearly more in any round: whatever a part once carried, it can carry. Of a single cable one more thing
is known: a flow that another cable holds back is slower there than most others, and who shares the bottleneck is not
(max-min fairness: D. Bertsekas and R. Gallager, Data Networks, 1992, section 6.5.2). A LAG that slows one of
several streams has a bad member, and is no candidate as a whole.

A component covers what its parts are candidates for. One of several parts must have failed as a whole: nearly all of
its parts that were loaded gave less than they should. The component that covers most is taken first, or a smaller
one in it that covers nearly as much; what it explains is put aside (max-min model in the loop). Components that
cover exactly the same observations cannot be told apart and are named together. A low observation without a candidate
stays unexplained.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.round_flows import WHOLE, MeasuredFlow, RoundFlows
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import FULL
from benchconsole.topology.arrays import Flags, Floats, Indices, sum_at
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.capacity.flow_streams import Model
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.tables.graph_algorithms import find_components

PROVEN = 1.15
"""A part that once carried this much more than in a low observation is not its cause."""

PART = 0.75
"""Share of what is missing that has to have crossed a candidate."""

OFFERED = 0.6
"""Share of its payload capacity from which a part was loaded far enough to tell whether it is sound."""

SOUND = 0.85
"""Share of what it was offered that a sound part carried at least."""

SPARED = 0.1
"""Share of the loaded parts of a failed component that may be sound, and of the flows over a failed switch."""

NEARLY = 0.05
"""Share of what a component covers that a smaller one in it may leave, to be named instead."""

OFTEN, CONSTANT = 3, 0.7
"""Low observations, and the share of slow flows, from which assumed paths alone name a cause that was not confirmed."""

TOLD = 4
"""Members of a LAG of which a lost one is more than what 80 % leave."""

FEWEST = {ComponentKind.SWITCH: 3}
"""Parts that must be low before a whole component is blamed, also beside its worst part; 2 of every other kind."""

_LAGS = frozenset({ComponentKind.MEMBER, ComponentKind.LINK, ComponentKind.UPLINKS})

LowVerdict = tuple[Verdict, tuple[MeasuredFlow, ...]]
"""An observation: a low verdict on throughput, with the flows that it speaks of."""


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """Components that explain the same observations: one of them is at fault.

    ``carried`` is what each of their parts was seen to carry at most, byte/s of payload; parts that nothing loaded are
    not in it. ``found`` are the observations that it was named for, ``dragged`` those that it explains too.
    ``slow_share`` is the share of all flows over the first of the components that were slow.
    """

    components: tuple[Component, ...]
    carried: Mapping[int, float]
    found: tuple[LowVerdict, ...]
    dragged: tuple[LowVerdict, ...]
    slow_share: float

    @property
    def seen(self) -> tuple[LowVerdict, ...]:
        """All observations that it explains."""
        return self.found + self.dragged

    @property
    def is_assumed(self) -> bool:
        """Whether it rests on nothing but paths that source ports are assumed to take."""
        return all(map(is_assumed, self.found))

    @property
    def is_constant(self) -> bool:
        """Whether nearly all flows over it were slow, so often that streams that met by chance do not explain it."""
        return len(self.found) >= OFTEN and self.slow_share >= CONSTANT


def is_assumed(low: LowVerdict) -> bool:
    """Whether the path of every flow of an observation is only assumed, by its source port."""
    return all(each.model == Model.STEERED for each in low[1])


class PartLoads:
    """The most that each part was seen to carry so far (``proven``), and was to carry (``offered``); byte/s of payload.

    ``assumed`` counts also what streams carried whose paths are only assumed: it clears a part of no other observation.
    ``crossed`` counts the flows over each by their shares, ``slow`` those of them that were slow.
    How a split load divided is an assumption as long as there was room to divide it otherwise: it proves that it
    filled a part, or that this carried what its equals had no room for.
    """

    def __init__(self, parts: Parts) -> None:
        self.capacity = parts.capacity
        self._parts = parts
        self.proven: Floats = np.zeros(parts.size)
        self.assumed: Floats = np.zeros(parts.size)
        self.offered: Floats = np.zeros(parts.size)
        self.crossed: Floats = np.zeros(parts.size)
        self.slow: Floats = np.zeros(parts.size)
        self.acquitted: Flags = np.zeros(parts.size, bool)

    def add(self, flows: RoundFlows) -> None:
        """Take in what the flows of one more round carried: those that cross a part whole, or a load that filled it."""
        if not flows.flows:
            return
        crossed, size = flows.crossings, len(self.proven)
        whole = crossed.share > WHOLE
        part, owner = crossed.part[whole], crossed.owner[whole]
        sums = np.bincount(part, flows.values[owner], minlength=size) * _share_of_time(part, owner, flows, size)
        # Of streams whose paths are only assumed a fast one beside slow ones may be on another member.
        mixed = np.bincount(part, (flows.slow & flows.assumed)[owner], minlength=size) > 0
        sums[mixed] = 0.0
        loads = flows.loads * _share_of_time(crossed.part, crossed.owner, flows, size)
        filled = np.where(loads >= FULL * self.capacity, loads, 0.0)
        carried = np.maximum(sums, filled)
        np.maximum(self.assumed, carried, out=self.assumed)
        if not flows.assumed.any():
            np.maximum(self.proven, carried, out=self.proven)
            self._add_shared(flows)
            np.maximum(self.assumed, self.proven, out=self.assumed)
        np.maximum(self.offered, flows.offered, out=self.offered)
        self.crossed += np.bincount(crossed.part, crossed.share, minlength=size)
        self.slow += np.bincount(crossed.part, crossed.share * flows.slow[crossed.owner], minlength=size)

    def _add_shared(self, flows: RoundFlows) -> None:
        """What parts that share a load carried at least: all of it less what the others can carry at most."""
        crossed, shared = flows.crossings, self._parts.shared
        link = crossed.part < self._parts.ways
        group, owner = shared.of[crossed.part[link]], crossed.owner[link]
        size = len(shared.capacity)
        load = sum_at(crossed.share[link] * flows.values[owner], group, size)
        load *= _share_of_time(group, owner, flows, size)
        ways = self.proven[: self._parts.ways]
        np.maximum(ways, load[shared.of] - shared.capacity[shared.of] + self.capacity[: self._parts.ways], out=ways)
        members = self._parts.members
        rest = self.capacity[members.way] - self.capacity[members.part]
        self.proven[members.part] = np.maximum(self.proven[members.part], self.proven[members.way] - rest)

    def clear(self) -> None:
        """Forget every round."""
        for each in (self.proven, self.assumed, self.offered, self.crossed, self.slow, self.acquitted):
            each[:] = 0

    def read_state(self, parts: Indices) -> bytes:
        """All that is known of these parts, to see whether it changed."""
        known = (self.proven, self.assumed, self.offered, self.crossed, self.slow, self.acquitted)
        return b"".join(each[parts].tobytes() for each in known)

    def acquit(self, flows: RoundFlows, passed: Sequence[MeasuredFlow]) -> None:
        """Take in flows that ``passed`` when they loaded a suspect alone: what they filled is not the cause of others.

        Of a LAG with more members than ``TOLD`` a lost one does not show in the sum.
        """
        members = self._parts.members
        counts = np.bincount(members.way, minlength=self._parts.size)
        for each in passed:
            filled = flows.offered[each.parts] >= SOUND * self.capacity[each.parts]
            self.acquitted[each.parts[filled & (counts[each.parts] <= TOLD)]] = True
        self.acquitted[members.part] |= self.acquitted[members.way]

    def compute_slow_share(self, parts: Collection[int]) -> float:
        """The share of the flows over these parts that were slow; 0 where none crossed them."""
        chosen = np.fromiter(parts, np.intp)
        crossed = float(self.crossed[chosen].sum())
        return float(self.slow[chosen].sum()) / crossed if crossed else 0.0

    def is_sound(self, part: int) -> bool:
        """Whether it was loaded far enough to tell, and carried what it should."""
        offered = min(float(self.offered[part]), float(self.capacity[part]))
        return offered >= OFFERED * float(self.capacity[part]) and float(self.assumed[part]) >= SOUND * offered


def _share_of_time(part: Indices, owner: Indices, flows: RoundFlows, size: int) -> Floats:
    """The least share of their time that the flows over each part ran together (``capacity.overlap``)."""
    ends = np.array([group[0].at for group in flows.measurements])[owner]
    lengths = np.array([result.ran for result in flows.results])[owner]
    last, first, shortest = np.full(size, -np.inf), np.full(size, np.inf), np.full(size, np.inf)
    np.maximum.at(last, part, ends)
    np.minimum.at(first, part, ends)
    np.minimum.at(shortest, part, lengths)
    used = np.isfinite(shortest) & (shortest > 0)
    shares = np.ones(size)
    shares[used] = shortest[used] / (shortest[used] + last[used] - first[used])
    return shares


class Attributor:
    """Explains the low observations of a session, and remembers what of it has not changed since.

    What was explained together is explained anew only when an observation joined or left it, or
    when a part of it was seen to carry more: a pure function of these, so remembering changes nothing.
    """

    def __init__(self, context: JudgingContext, loads: PartLoads) -> None:
        self._context = context
        self._loads = loads
        self.components = Components(context.parts)
        self._known: dict[tuple[tuple[int, ...], bytes], tuple[list[LowVerdict], _Explanation]] = {}

    def explain(self, low: Sequence[LowVerdict]) -> tuple[list[Cause], list[LowVerdict]]:
        """Causes over all that the parts have carried so far, and the observations that none explains."""
        known, self._known = self._known, {}
        none = np.empty(0, np.intp)
        crossed = [np.concatenate([none, *(each.parts for each in flows)]) for _, flows in low]
        for group in _group_dependent(self._context.parts, crossed):
            together = [low[index] for index in group]
            parts = np.unique(np.concatenate([crossed[index] for index in group]))
            key = (tuple(id(verdict) for verdict, _ in together), self._loads.read_state(parts))
            # The verdicts are kept beside the answer, so that no other can get their ids.
            made = known.get(key)
            if made is None:
                made = (together, _Explanation(self._context, self.components, together, self._loads))
            self._known[key] = made
        explained = [explanation for _, explanation in self._known.values()]
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


class _Explanation:
    """Takes one cause after the other, until no open observation has a candidate: ``causes`` in order, and the rest."""

    def __init__(
        self, context: JudgingContext, components: Components, low: Sequence[LowVerdict], loads: PartLoads
    ) -> None:
        self._context = context
        self._low = low
        self._loads = loads
        self._load: list[dict[int, float]] = [{} for _ in low]
        self._beside: list[dict[int, float]] = [{} for _ in low]
        self._missing = [sum(each.missing for each in flows) for _, flows in low]
        self._candidates = [self._find_candidates(index) for index in range(len(low))]
        self._crossing = group_by_key((part, index) for index, load in enumerate(self._load) for part in load)
        self._blamed = group_by_key((part, index) for index, parts in enumerate(self._candidates) for part in parts)
        held = dict.fromkeys(component for part in self._blamed for component in components.holding(part))
        self._covered = {
            component: {index for part in component.parts for index in self._blamed.get(part, ())}
            for component in held
            if self._has_failed(component)
        }
        self._explain()
        while (wider := self._find_wider()) is not None:
            del self._covered[wider]
            self._explain()
        self.rest = [low[index] for index in sorted(self._open)]

    def _explain(self) -> None:
        self._open = set(range(len(self._low)))
        self._lost: dict[int, float] = {}
        self._taken: list[tuple[Component, set[int]]] = []
        self.causes: list[Cause] = []
        while chosen := self._choose():
            self._take(chosen)

    def _find_wider(self) -> Component | None:
        """A cause both ways of which one way does for all that no other cause explains; None where there is none."""
        for component, found in self._taken:
            others = {index for each, _ in self._taken if each is not component for index in self._covered[each]}
            own = found - others
            narrower = (each for each in self._covered if each.is_one_way and each.parts < component.parts)
            if (
                component.kind is not ComponentKind.SWITCH
                and own
                and any(own <= self._covered[each] for each in narrower)
            ):
                return component
        return None

    def _find_candidates(self, index: int) -> list[int]:
        """The parts that can be the cause of one observation."""
        _, flows = self._low[index]
        load, beside, missing = self._load[index], self._beside[index], self._missing[index]
        lost: dict[int, float] = {}
        proven = self._loads.assumed if is_assumed(self._low[index]) else self._loads.proven
        abreast: set[int] = set()
        spared: set[int] = set()
        for each in flows:
            if each.result.test.sending.streams == 1:  # more of them divide over the members, however bad one is
                spared.update(each.parts[each.spared].tolist())
            abreast.update(each.parts[~each.outpaced].tolist())
            shares = dict(zip(each.route.ways.tolist(), each.route.shares.tolist(), strict=True))
            for part, carried in zip(each.parts.tolist(), each.loads.tolist(), strict=True):
                load[part] = carried
                lost[part] = lost.get(part, 0.0) + each.missing
                if (share := shares.get(part, 1.0)) <= WHOLE:
                    beside[part] = beside.get(part, 0.0) + (1 - share) * each.missing
        return [
            part
            for part, missed in lost.items()
            if missed >= PART * missing
            and max(load[part], proven[part]) < FULL * self._loads.capacity[part]
            and proven[part] <= PROVEN * load[part]
            and (part not in spared if self._is_lag(part) else part in abreast)
            and not (self._loads.acquitted[part] and is_assumed(self._low[index]))
        ]

    def _is_lag(self, part: int) -> bool:
        parts = self._context.parts
        return part < parts.ways and parts.graph.links[part >> 1].is_lag

    def _has_failed(self, component: Component) -> bool:
        """Whether it is one part, or nearly all of its parts that were loaded are low."""
        if len(component.parts) == 1:
            return True
        low = sum(part in self._blamed for part in component.parts)
        sound = sum(part not in self._blamed and self._loads.is_sound(part) for part in component.parts)
        if low < FEWEST.get(component.kind, 2) or sound > SPARED * (low + sound):
            return False
        return (
            component.kind is not ComponentKind.SWITCH or self._loads.compute_slow_share(component.parts) >= 1 - SPARED
        )

    def _choose(self) -> list[Component]:
        """The components that explain most of what is open, all of the same; none when nothing explains any of it."""
        covered = {component: own for component, every in self._covered.items() if (own := every & self._open)}
        if not covered:
            return []

        def weigh(component: Component) -> tuple[int, int, float, int]:
            own = covered[component]
            missing = sum(self._missing[index] for index in own)
            return len(own), -len(component.parts), missing, -min(own)

        most = max(covered, key=weigh)
        inner = [each for each in covered if each.parts < most.parts]
        enough = [each for each in inner if self._explains_nearly_all(covered[each], covered[most], most)]
        if enough:
            fewest = min(len(each.parts) for each in enough)
            most = max((each for each in enough if len(each.parts) == fewest), key=weigh)
        alike = sorted(
            (each for each in covered if covered[each] == covered[most]), key=lambda each: sorted(each.parts)
        )
        return [each for each in alike if not any(other.parts < each.parts for other in alike)]

    def _explains_nearly_all(self, inner: set[int], outer: set[int], component: Component) -> bool:
        """Whether a smaller component explains what the larger ``component`` does, but for what chance may leave."""
        left = outer - inner
        if len(left) <= NEARLY * len(outer):
            return True
        if component.kind is not ComponentKind.SWITCH:
            return False
        links = {part >> 1 for index in left for part in self._candidates[index] if part in component.parts}
        return len(links) < FEWEST[component.kind]

    def _take(self, chosen: Sequence[Component]) -> None:
        """Name a cause and put aside what it explains."""
        found = self._covered[chosen[0]] & self._open
        if len(chosen) == 1:
            self._taken.append((chosen[0], found))
        own_parts = {part for component in chosen for part in component.parts}
        parts = sorted(own_parts | {self._context.parts.way(part) for part in own_parts})
        is_certain = any(not is_assumed(self._low[index]) for index in found)
        proven = self._loads.proven if is_certain else self._loads.assumed
        carried = {
            part: max(float(proven[part]), *self._list_carried(part, own))
            for part in parts
            if (own := self._crossing.get(part))
        }
        touched = {index for part in carried for index in self._crossing[part]} & self._open - found
        would = {**self._lost, **carried}
        dragged = {index for index in touched if self._is_explained(index, would)}
        dragged |= self._list_displaced(chosen) & self._open - found
        share = self._loads.compute_slow_share(chosen[0].parts)
        low, further = (tuple(self._low[index] for index in sorted(each)) for each in (found, dragged))
        self.causes.append(Cause(tuple(chosen), carried, low, further, share))
        self._lost = would
        self._open -= found | dragged

    def _list_carried(self, part: int, own: Sequence[int]) -> list[float]:
        """What a blamed part carried in its ``own`` observations, byte/s of payload.

        How a load divides over equal ways is an assumption. Loads that crossed the part whole tell; without one all
        that is missing was missing there, where the equal ways are sound; else loads count as divided evenly.
        """
        whole = [self._load[index][part] for index in own if part not in self._beside[index]]
        if whole:
            return whole
        equals = self._context.parts.list_equals(part)
        if not all(map(self._loads.is_sound, equals)):
            return [self._load[index][part] for index in own]
        return [self._load[index][part] - self._beside[index][part] for index in own]

    def _list_displaced(self, chosen: Sequence[Component]) -> set[int]:
        """The steered observations that the flows of a lost member may have disturbed on the further way.

        A hash that lost a member spreads all of its flows anew. Where its members lead to several devices, they
        arrive elsewhere than they were steered to, beside flows that were to have that way for themselves.
        """
        parts, graph = self._context.parts, self._context.routes.graph
        ways = {parts.way(part) for component in chosen for part in component.parts}
        if not all(component.kind in _LAGS for component in chosen):
            return set()
        reached: set[str] = set()
        for link in {graph.links[way >> 1] for way in ways}:
            for low, high in ((link.a, link.b), (link.b, link.a)):
                ends = {
                    each.other(low)
                    for each in self._context.fabric.links_at[low]
                    if graph.vertex.get(each.other(low)) == graph.vertex.get(high)
                }
                reached |= ends if graph.vertex.keys() >= {low, high} and len(ends) > 1 else set()
        return {
            index
            for index, (_, flows) in enumerate(self._low)
            if all(each.model == Model.STEERED for each in flows) and any(self._passes(each, reached) for each in flows)
        }

    def _passes(self, flow: MeasuredFlow, devices: set[str]) -> bool:
        graph = self._context.routes.graph
        return any({link.a, link.b} & devices for link in (graph.links[way >> 1] for way in flow.route.ways.tolist()))

    def _is_explained(self, index: int, lost: Mapping[int, float]) -> bool:
        """Whether the observation is as good as can be once the links in ``lost`` carry only that much."""
        routes, fabric = self._context.routes, self._context.fabric
        capacity = {
            routes.graph.direction(part): lost[part] / fabric.goodput_of(routes.graph.links[part >> 1])
            for part in self._load[index]
            if part in lost and part < self._context.parts.ways
        }
        verdict, flows = self._low[index]
        expected = expect(fabric, [each.flow for each in flows], routes=routes, capacity=capacity)
        value = sum(each.value for each in flows)
        wanted = sum(each.value for each in expected)
        required = (verdict.required or 0.0) / (verdict.expected or 1.0)
        return value >= max(required, PART) * wanted
