"""The cover of low observations: the fewest components that were low wherever it matters.

A part is a candidate for a low observation when it carried all or most of what was missing, was not simply full, and
never carried clearly more in any round: whatever a part once carried, it can carry. Of a single cable one more thing
is known: a flow that another cable holds back is slower there than most others, and who shares the bottleneck is not
(max-min fairness: D. Bertsekas and R. Gallager, Data Networks, 1992, section 6.5.2). A LAG that slows one of
several streams has a bad member, and is no candidate as a whole.

A component covers what its parts are candidates for. One of several parts must have failed as a whole: nearly all of
its parts that were loaded gave less than they should. The component that covers most is taken first, or a smaller
one in it that covers nearly as much; components that cover exactly the same are taken together.
"""

from collections.abc import Sequence
from typing import NamedTuple

from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.part_loads import PartLoads
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.round_flows import MeasuredFlow
from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import FULL
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.grouping import group_by_key

PROVEN = 1.15
"""A part that once carried this much more than in a low observation is not its cause."""

PART = 0.75
"""Share of what is missing that has to have crossed a candidate."""

SPARED = 0.1
"""Share of the loaded parts of a failed component that may be sound, and of the flows over a failed switch."""

NEARLY = 0.05
"""Share of what a component covers that a smaller one in it may leave, to be named instead."""

FEWEST = {ComponentKind.SWITCH: 3}
"""Parts that must be low before a whole component is blamed, also beside its worst part; 2 of every other kind."""

LowVerdict = tuple[Verdict, tuple[MeasuredFlow, ...]]
"""An observation: a low verdict on throughput, with the flows that it speaks of."""


class Cover(NamedTuple):
    """Components that are candidates for the same low observations; ``found`` are the places of these."""

    components: tuple[Component, ...]
    found: frozenset[int]


def is_assumed(low: LowVerdict) -> bool:
    """Whether the path of every flow of an observation is only assumed, by its source port."""
    return all(each.model == Model.STEERED for each in low[1])


class SetCover:
    """Takes one component after the other, until no open observation has a candidate: ``covers`` in order."""

    def __init__(self, parts: Parts, components: Components, low: Sequence[LowVerdict], loads: PartLoads) -> None:
        self._parts = parts
        self._low = low
        self._loads = loads
        self._missing = [sum(each.missing for each in flows) for _, flows in low]
        self._candidates = [self._find_candidates(index) for index in range(len(low))]
        self._blamed = group_by_key((part, index) for index, parts in enumerate(self._candidates) for part in parts)
        held = dict.fromkeys(component for part in self._blamed for component in components.holding(part))
        self._covered = {
            component: {index for part in component.parts for index in self._blamed.get(part, ())}
            for component in held
            if self._has_failed(component)
        }
        self._open = set(range(len(low)))
        self.covers: list[Cover] = []
        while chosen := self._choose():
            self._take(chosen)

    def _find_candidates(self, index: int) -> list[int]:
        """The parts that can be the cause of one observation."""
        _, flows = self._low[index]
        load: dict[int, float] = {}
        lost: dict[int, float] = {}
        proven = self._loads.assumed if is_assumed(self._low[index]) else self._loads.proven
        abreast: set[int] = set()
        spared: set[int] = set()
        for each in flows:
            if each.result.test.sending.streams == 1:  # more of them divide over the members, however bad one is
                spared.update(each.parts[each.spared].tolist())
            abreast.update(each.parts[~each.outpaced].tolist())
            for part, carried in zip(each.parts.tolist(), each.loads.tolist(), strict=True):
                load[part] = carried
                lost[part] = lost.get(part, 0.0) + each.missing
        return [
            part
            for part, missed in lost.items()
            if missed >= PART * self._missing[index]
            and max(load[part], proven[part]) < FULL * self._loads.capacity[part]
            and proven[part] <= PROVEN * load[part]
            and (part not in spared if self._is_lag(part) else part in abreast)
        ]

    def _is_lag(self, part: int) -> bool:
        parts = self._parts
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
        """Put aside what components cover."""
        found = self._covered[chosen[0]] & self._open
        self.covers.append(Cover(tuple(chosen), frozenset(found)))
        self._open -= found
