"""Names the components that lose packets: those that every flow loses on which tells of its way, and no flow beside.

A flow loses packets where its share is far above that of its like in the same round: same protocol and streams, nearly
the same expectation (``loss_samples`` says which flows tell). A component is named when every flow that tells and
crosses it loses, and those beside it do not: one clean flow acquits it. Of those that cover most the one with the
fewest parts is taken, as ``attribution`` does.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from statistics import median

from benchconsole.probes.judging.components import Component, ComponentKind, Components
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.flow_conditions import FlowConditions, list_links
from benchconsole.probes.judging.loss_samples import NOTABLE, FlowKey, LossSample, SampleReader
from benchconsole.probes.judging.round_flows import SLOW
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import NodeId

FAR = 10.0
"""Times the middle share of the sound flows beside it above which a flow is told from them. Shares are not negative, so
that their MAD (median of the distances from it) is no more than it is: this is 6 standard deviations (1.48 MAD) off."""

FEWEST_LIKE = 4
"""Flows of the same kind in the same round that a share is held against, at the least."""

ALIKE = 1.25
"""Expectations that differ by no more than this factor are of the same kind of flow."""

PIECE = 64 * 1024
"""Bytes that a sender hands over at once, and that virtual links lose as a whole."""

FEWEST_LOST = 5 * PIECE
"""Bytes that the flows over a component must have lost together: where one piece is expected, five are lost by chance
in 1 of 270 cases (Poisson)."""

ENOUGH = 3 * PIECE
"""Bytes that a clean flow should have lost, had it been treated as the others, to acquit a component: none of three
expected pieces is lost by chance in 1 of 20 cases (Poisson)."""

CROSSED = 0.25
"""Share of a flow from which it tells of a component that carries a part of it."""

STEADY = 1.15
"""Times the slowest of flows that the fastest brings at most, where what holds them back is a rate."""

QUEUED = 0.75
"""Share of the time in queues of the flows beside that flows through a full queue wait at least. At a loss of 2 % they
waited half of it, at a NIC of 30 % all of it (``benchmarks/laboratory``)."""

FEWEST_PARTS = 3
"""Parts of a switch that flows with losses must have crossed before the whole is blamed."""


@dataclass(frozen=True, slots=True, eq=False)
class LossCause:
    """Components of which one loses packets: ``lossy`` flows cross it, ``beside`` are their like that do not."""

    components: tuple[Component, ...]
    lossy: tuple[LossSample, ...]
    beside: tuple[LossSample, ...]

    @property
    def share(self) -> float:
        """The middle share of what the flows over it lost."""
        return median(each.share for each in self.lossy)

    @property
    def usual(self) -> float:
        """The middle share of the flows beside it."""
        return median(each.share for each in self.beside)


class PacketLosses:
    """Takes in the rounds of a session; of a test that was repeated the newest round counts.

    The loss of flows is read only once one that tells of its way lost some, and of each round only once.
    """

    def __init__(self, context: JudgingContext) -> None:
        self._context = context
        self._reader = SampleReader(context)
        self._rounds: dict[tuple[int, str], ClosedRound] = {}
        self._read: dict[tuple[int, str], Mapping[FlowKey, LossSample]] = {}
        self._samples = _Samples()
        self._waits: dict[LossSample, float | None] = {}
        self._queues: dict[LossCause, bool] = {}
        self._causes: tuple[LossCause, ...] | None = None
        self._is_suspicious = False

    def add_round(self, judged: ClosedRound, metric: str) -> None:
        """Take in what the flows lost whose throughput is ``metric``."""
        self._rounds[judged.round.number, metric] = judged
        for sample in self._read.pop((judged.round.number, metric), {}).values():
            self._waits.pop(sample, None)
        self._causes = None
        self._is_suspicious = self._is_suspicious or self._reader.has_losses(judged, metric)

    def find_causes(self, components: Components) -> tuple[LossCause, ...]:
        """The components that lose packets, by all rounds so far. The same objects while nothing is new."""
        if self._causes is None:
            self._causes = tuple(self._list_causes(components)) if self._is_suspicious else ()
        return self._causes

    def _list_causes(self, components: Components) -> Iterator[LossCause]:
        """Without what only one flow tells of, where an end of it is acquitted: the loss may come and go."""
        self._read_new_rounds()
        causes = tuple(_find_causes(components, self._samples))
        known = self._queues
        self._queues = {each: known[each] if each in known else _fills_queue(each, self._find_wait) for each in causes}
        for cause in causes:
            named = {part for component in cause.components for part in component.parts}
            if not self._queues[cause] and (len(cause.lossy) > 1 or named >= self._list_ends(cause.lossy[0])):
                yield cause

    def _find_wait(self, sample: LossSample) -> float | None:
        """``_find_wait`` of this module, once for each sample: every round asks for those of all rounds before it."""
        if sample not in self._waits:
            self._waits[sample] = _find_wait(self._context, sample)
        return self._waits[sample]

    def _list_ends(self, sample: LossSample) -> set[int]:
        """The ways of a flow out of its source and into its sink."""
        links, nodes = self._context.parts.graph.links, self._context.fabric.nodes
        return {way for way in sample.flow.route.ways.tolist() if NodeId(links[way >> 1].a) in nodes}

    def _read_new_rounds(self) -> None:
        """Read what was not read yet. Where a round says anew what another one said, all are put together anew."""
        unread = sorted(self._rounds.keys() - self._read.keys())
        is_later = not self._read or unread[:1] > sorted(self._read)[-1:]
        fresh: dict[FlowKey, LossSample] = {}
        for key in unread:
            self._read[key] = self._reader.read(self._rounds[key], key[1])
            fresh |= self._read[key]
        if not (is_later and self._samples.add(fresh)):
            self._samples = _Samples()
            newest: dict[FlowKey, LossSample] = {}
            for key in sorted(self._read):
                newest |= self._read[key]
            self._samples.add(newest)


# -- which flows lose, and by whose fault


def _find_causes(components: Components, samples: "_Samples") -> Iterator[LossCause]:
    """The fewest components that explain the flows with losses; ties together. One that is known is the same object."""
    blamed = {own: found for own in samples.list_held(components) if (found := samples.find_blamed(own))}
    left = set(samples.lossy)
    while open_now := {own: found & left for own, found in blamed.items() if found & left}:
        most = max(open_now, key=lambda own: (len(open_now[own]), -len(own.parts), -min(own.parts)))
        alike = [own for own, found in open_now.items() if found == open_now[most]]
        named = [own for own in alike if not any(other.parts < own.parts for other in alike)]
        yield samples.find_cause(most, tuple(sorted(named, key=lambda own: sorted(own.parts))))
        left -= blamed[most]


def _list_over(component: Component, crossing: Mapping[int, Sequence[LossSample]]) -> frozenset[LossSample]:
    """The flows that tell of a component."""
    return frozenset(each for part in component.parts for each in crossing.get(part, ()) if _crosses(component, each))


def _crosses(component: Component, sample: LossSample) -> bool:
    return sum(share for part, share in sample.crossed.items() if part in component.parts) >= CROSSED


def _acquits(clean: LossSample, lossy: Iterable[LossSample]) -> bool:
    """Whether a flow lost nothing, although it sent enough to lose as the others do."""
    return clean.share < NOTABLE and median(each.share for each in lossy) * clean.sent >= ENOUGH


def _blame(component: Component, over: Set[LossSample], samples: "_Samples") -> Set[LossSample]:
    """The flows that lose by the fault of a component; none where one ``over`` it is clean, or chance explains them."""
    found = over & samples.lossy.keys()
    if sum(each.lost for each in found) < FEWEST_LOST or any(_acquits(each, found) for each in over):
        return set()
    if component.kind is ComponentKind.SWITCH:
        parts = {part >> 1 for each in found for part in each.crossed if part in component.parts}
        if len(parts) < FEWEST_PARTS:
            return set()
    return found if all(_is_far(each, samples.list_sound(each, over)) for each in found) else set()


def _fills_queue(cause: LossCause, find_wait: Callable[[LossSample], float | None]) -> bool:
    """Whether flows lose because they fill something slow: none brings what it should, all the same, a queue stands."""
    values = [each.flow.value for each in cause.lossy]
    is_slow = all(each.flow.value < SLOW * each.flow.expected.value for each in cause.lossy)
    if not is_slow or max(values) > STEADY * min(values):
        return False
    own, usual = ([find_wait(each) for each in flows] for flows in (cause.lossy, cause.beside))
    known = [each for each in usual if each is not None]
    return bool(known) and all(each is not None and each > QUEUED * median(known) for each in own)


def _find_wait(context: JudgingContext, sample: LossSample) -> float | None:
    """Seconds of its round trip that a flow waited in queues: all beyond that of the described lines."""
    found = FlowConditions(sample.flow)
    trip = found.find("rtt")
    return None if trip is None else max(trip - found.find_described_trip(list_links(context, sample.flow)), 0.0)


def _is_far(sample: LossSample, beside: Sequence[LossSample]) -> bool:
    """Whether it loses far more than these of its like."""
    return len(beside) >= FEWEST_LIKE and sample.share > FAR * median(each.share for each in beside)


@dataclass(slots=True, eq=False)
class _Told:
    """A component after so many samples over its parts were ``met``: the flows that tell of it, those that lose by it.

    ``cause`` is the last one that was made of it.
    """

    met: int
    over: frozenset[LossSample]
    blamed: Set[LossSample]
    cause: LossCause | None = None


class _Samples:
    """The losses of all flows that tell of their ways, each test once.

    ``lossy`` are those far above their like, the flows of the same kind in the same round: so what is added by a round
    changes nothing of others. ``crossing`` are the flows over each part.
    """

    def __init__(self) -> None:
        self.lossy: dict[LossSample, None] = {}
        self.crossing: defaultdict[int, list[LossSample]] = defaultdict(list)
        self._tests: set[FlowKey] = set()
        self._groups: dict[_Group, list[LossSample]] = {}
        self._alike: dict[_Kind, tuple[LossSample, ...]] = {}
        self._shares: dict[_Kind, list[float]] = {}
        self._sound: dict[_Kind, tuple[LossSample, ...]] = {}
        self._held: dict[Component, None] = {}
        self._read = 0
        self._told: dict[Component, _Told] = {}

    def list_held(self, components: Components) -> Collection[Component]:
        """Every component that a flow with losses crosses."""
        for each in islice(self.lossy, self._read, None):
            self._held |= dict.fromkeys(own for part in each.crossed for own in components.holding(part))
        self._read = len(self.lossy)
        return self._held.keys()

    def find_blamed(self, component: Component) -> Set[LossSample]:
        """``_blame``, anew only where more flows tell of a part of the component."""
        met = sum(len(self.crossing.get(part, ())) for part in component.parts)
        if component not in self._told or self._told[component].met != met:
            over = _list_over(component, self.crossing)
            self._told[component] = _Told(met, over, _blame(component, over, self))
        return self._told[component].blamed

    def find_cause(self, most: Component, named: tuple[Component, ...]) -> LossCause:
        """That the flows which lose over ``most`` do so by the fault of one of ``named``."""
        told = self._told[most]
        if told.cause is None or told.cause.components != named:
            lossy = tuple(each for each in self.lossy if each in told.blamed)
            beside = dict.fromkeys(other for each in lossy for other in self.list_sound(each, told.over))
            told.cause = LossCause(named, lossy, tuple(beside))
        return told.cause

    def add(self, samples: Mapping[FlowKey, LossSample]) -> bool:
        """Take in further rounds as a whole; False, and nothing taken, where tests or kinds of a round are known."""
        groups = group_by_key((_name_group(each), each) for each in samples.values())
        if not (self._tests.isdisjoint(samples) and self._groups.keys().isdisjoint(groups)):
            return False
        self._tests |= samples.keys()
        self._groups |= groups
        for each in samples.values():
            for part in each.crossed:
                self.crossing[part].append(each)
        self.lossy |= dict.fromkeys(each for each in samples.values() if self._is_above(each))
        return True

    def list_sound(self, sample: LossSample, over: Set[LossSample]) -> Sequence[LossSample]:
        """The flows of its kind that are not ``over`` the same component and not lossy."""
        kind = _name_kind(sample)
        if kind not in self._sound:
            self._sound[kind] = tuple(each for each in self._find(kind) if each not in self.lossy)
        return [each for each in self._sound[kind] if each not in over]

    def _find(self, kind: "_Kind") -> tuple[LossSample, ...]:
        group, own = kind
        if kind not in self._alike:
            alike = (each for each in self._groups[group] if own / ALIKE <= each.flow.expected.value <= own * ALIKE)
            self._alike[kind] = tuple(alike)
        return self._alike[kind]

    def _is_above(self, sample: LossSample) -> bool:
        """Whether it loses far more than the lower quarter of its like: half of them may cross what is at fault."""
        if sample.share < NOTABLE:
            return False
        kind = _name_kind(sample)
        if kind not in self._shares:
            self._shares[kind] = sorted(each.share for each in self._find(kind))
        shares = self._shares[kind]
        others = len(shares) - 1
        quarter = others // 4
        # It is in the list itself, and stands in for the one after it where it comes first.
        lower = shares[quarter + (bisect_left(shares, sample.share) <= quarter)] if others else 0.0
        return others >= FEWEST_LIKE and sample.share > FAR * lower


_Group = tuple[int, str, int]
"""Round, protocol and streams of a flow."""

_Kind = tuple[_Group, float]
"""The group of a flow, and what was expected of it."""


def _name_kind(sample: LossSample) -> _Kind:
    return _name_group(sample), sample.flow.expected.value


def _name_group(sample: LossSample) -> _Group:
    return sample.round, sample.protocol, sample.flow.result.test.sending.streams
