"""The smallest loss that the tests of a run could have shown, by kind of element.

A lone flow or a bundle with the expectation E fails below its bound b. Of E the share s crosses an element that is
filled to f; with the part x of its capacity gone it carries f - (1 - x) of f less, so the verdict is a fail where
s * (1 - (1 - x) / f) > 1 - b / E. Of all tests the best counts for each element, of all elements the worst for each
kind. Where several tests share a link only their mean loss is certain (max-min fairness), so there the one that sees
least counts. The effect of hashes beside that is in ``b`` (``FlowSubject.fails_below``). A cable of several that are
equally long is expected to lose its own part only: what crosses the others stays.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.criterion_match import DefaultCriterion
from benchconsole.probes.judging.parts import Parts
from benchconsole.probes.judging.yardsticks.capacity import FlowSubject, apply_rules, read_subjects
from benchconsole.probes.model.detectable_loss import DetectableLoss, Fault
from benchconsole.probes.model.judgement import ClosedRound, CloseReason, Level
from benchconsole.probes.model.measuring import INWARD, Labels, Reading, Result, Round, Test
from benchconsole.topology.arrays import Flags, Floats, Indices, join_slices, sum_at
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Criterion, HashPolicy, Link

HALF = 0.5
"""The loss of what runs at half speed."""

NEVER = 1.0
"""The loss of an element that no test of a run could have shown to be faulty, not even if it carried nothing."""

_SAME = 1e-9
"""Relative difference up to which two shares are one: rounding. Equal to the bound passes."""


class DetectableLosses:
    """The losses that judged rounds could have shown, kept up to date as they close: ``sum_up`` looks at no round.

    Verdicts that are unknown show nothing, nor do tests without a number. A round whose number is known counts instead
    of the one before.
    """

    def __init__(self, context: JudgingContext) -> None:
        self._context = context
        self._rounds: dict[int, ClosedRound] = {}
        self._losses: _Losses | None = None
        self._divided: _Losses | None = None  # what tests show that no source port steers
        links = context.fabric.links.values()
        self._may_steer = any(link.hash is HashPolicy.STEERED for link in links)

    def add_round(self, closed: ClosedRound) -> None:
        """Take in one more round; cheapest right after it was judged, while its flows are at hand."""
        again = closed.round.number in self._rounds
        self._rounds[closed.round.number] = closed
        if again:
            self._losses = self._divided = None
        for each in self._rounds.values() if again else (closed,):
            self._add(each)

    def _add(self, closed: ClosedRound) -> None:
        if closed.round.is_mixed:
            return  # nobody knows what the tests of the other probes took
        subjects = [subject for _, subject in read_subjects(self._context, closed) if not subject.is_disturbed]
        for subject in subjects:
            apply_rules(subject)
        told = [subject for subject in subjects if subject.level is not Level.UNKNOWN]
        if told:
            self._losses = self._losses or _Losses(self._context)
            self._losses.add(closed, told)
        divided = [subject for subject in told if subject.flows[0].model != Model.STEERED.value]
        if divided and self._may_steer:
            self._divided = self._divided or _Losses(self._context)
            self._divided.add(closed, divided)

    def sum_up(self, *, steers: bool = True) -> tuple[DetectableLoss, ...]:
        """One for each kind of element that the fabric has; empty where nothing was held against its capacity.

        Without ``steers`` streams tell nothing of the ways that their source ports mean.
        """
        known = self._losses if steers or not self._may_steer else self._divided
        return () if known is None else known.sum_up()


def list_planned_losses(context: JudgingContext, rounds: Iterable[Round]) -> tuple[DetectableLoss, ...]:
    """The same of rounds that are planned, should every test give its number.

    Labels that only a measurement has are not known yet: criteria that ask for such speak of none of the tests.
    """
    found = _Losses(context)
    for each in rounds:
        if each.is_mixed:
            continue
        closed = _close_unmeasured(context, each)
        found.add(closed, [subject for _, subject in read_subjects(context, closed)])
    return found.sum_up()


def _close_unmeasured(context: JudgingContext, planned: Round) -> ClosedRound:
    """A planned round as if each of its flows had given a number; what is expected does not depend on it."""
    metrics = list(dict.fromkeys(criterion.metric for criterion in context.capacity_criteria(planned.probe)))
    tests = planned.tests if metrics else ()
    results = tuple(Result(test, measurements=tuple(_make_readings(context, metrics, test))) for test in tests)
    return ClosedRound(planned, results, CloseReason.COMPLETE, 0.0, 0.0)


def _make_readings(context: JudgingContext, metrics: Sequence[str], test: Test) -> Iterator[Reading]:
    for metric in metrics:
        for way in range(len(test.flows)):
            labels = (*test.target.labels, INWARD) if way else test.target.labels
            yield Reading(metric, 1.0, context.metrics[metric].unit, labels, id=f"{test.id}/{metric}/{way}")


# -- the elements of a fabric


@dataclass(frozen=True, slots=True)
class _Element:
    """One element with the directed parts that fail with it: ``groups`` of those that a flow crosses at most one of.

    The fault is the loss ``size`` of them all; None where the smallest one is asked for. ``cables`` are the single
    members of it, by their part, which tests may have been steered over, with the loss of each; ``wide`` is how many
    members or legs there are.
    """

    fault: Fault
    groups: tuple[tuple[int, ...], ...]
    size: float | None = None
    cables: tuple[int, ...] = ()
    wide: int = 1


def _list_elements(parts: Parts) -> Iterator[_Element]:
    fabric, graph = parts.graph.fabric, parts.graph
    idle = {link for pair in fabric.mlags for link in pair.peer}
    between = [
        link for link in graph.links
        if link.a in fabric.switches and link.b in fabric.switches and link.id not in idle
    ]  # fmt: skip
    for node in fabric.nodes:
        by_network = group_by_key((leg.network, leg) for leg in fabric.active_legs(node))
        for legs in by_network.values() if fabric.nodes[node].host is None else ():
            yield from _list_of_node(parts, node, legs)
    for link in between:
        ways = _number_both(parts, link)
        yield from (_Element(Fault.LINK, ((way,),)) for way in ways)
    for link in (*between, *(leg for node in fabric.nodes for leg in fabric.active_legs(node))):
        if link.is_lag:
            yield from _list_members(parts, link)
    for switch in fabric.switches:
        out = tuple(graph.way(link, switch) for link in fabric.links_at[switch] if not link.standby)
        if out:
            yield _Element(Fault.SWITCH_HALF, (out, tuple(way ^ 1 for way in out)), HALF)
    yield from _list_pairs(parts, between)


def _list_of_node(parts: Parts, node: str, legs: Sequence[Link]) -> Iterator[_Element]:
    out = tuple(parts.graph.way(leg, node) for leg in legs)
    both = out, tuple(way ^ 1 for way in out)
    if len(legs) > 1 and _find_apart(parts)[list(out)].all():  # each is a NIC of its own, with its own address
        yield from (_Element(Fault.NIC, ((way,),)) for ways in both for way in ways)
        return
    yield from (_Element(Fault.NIC, (ways,)) for ways in both)
    if len(legs) > 1:
        whole = sum(leg.capacity for leg in legs)
        yield from (_Element(Fault.LEG_LOST, both, leg.capacity / whole, wide=len(legs)) for leg in legs)


def _find_apart(parts: Parts) -> Flags:
    """Per part whether it is a leg to a rail or plane, of which a connection takes one."""
    payload = parts.graph.connection_payload
    return np.concatenate((np.isfinite(payload), np.zeros(parts.size - len(payload), bool)))


def _list_members(parts: Parts, link: Link) -> Iterator[_Element]:
    ways = _number_both(parts, link)
    groups = tuple((way,) for way in ways)
    for member, speed in enumerate(link.members):
        share = speed / link.capacity
        cables = tuple(parts.member(way, member) for way in ways)
        yield _Element(Fault.MEMBER_LOST, groups, share, wide=link.count)
        yield _Element(Fault.MEMBER_HALF, groups, HALF * share, cables, link.count)


def _list_pairs(parts: Parts, between: Sequence[Link]) -> Iterator[_Element]:
    """The links from each MLAG pair to each device (or pair) beside it."""
    fabric, graph = parts.graph.fabric, parts.graph
    ends = ((end, link) for link in between for end in (link.a, link.b) if end in fabric.mlag_of)
    found = group_by_key(((graph.vertex[end], graph.vertex[link.other(end)]), (link, end)) for end, link in ends)
    for (one, other), cabled in found.items():
        if one != other:
            out = tuple(graph.way(link, end) for link, end in cabled)
            yield from (_Element(Fault.PAIR, (ways,)) for ways in (out, tuple(way ^ 1 for way in out)))


def _number_both(parts: Parts, link: Link) -> tuple[int, int]:
    return parts.graph.way(link, link.a), parts.graph.way(link, link.b)


# -- what tests show of them


class _Losses:
    """The smallest loss that any round so far could have shown, of each part and of each group of parts.

    Of a group there are two: of all its parts alike, and as a pool, the parts of which take over what another loses.
    """

    def __init__(self, context: JudgingContext) -> None:
        self._context = context
        self._parts = context.parts
        self._apart = _find_apart(context.parts)
        self._elements = list(_list_elements(context.parts))
        groups = list(dict.fromkeys(group for each in self._elements for group in each.groups))
        self._number: Mapping[tuple[int, ...], int] = {group: number for number, group in enumerate(groups)}
        part = np.array([part for group in groups for part in group], np.intp)
        group = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
        order = np.argsort(part, kind="stable")
        self._group = group[order]
        self._start = np.searchsorted(part[order], np.arange(self._parts.size + 1))
        self._of_part: Floats = np.full(self._parts.size, NEVER)
        self._sorted_part = part[order]
        self._capacity = sum_at(self._parts.capacity[self._sorted_part], self._group, len(groups))
        self._of_group: Floats = np.full(len(groups), NEVER)
        self._of_pool: Floats = np.full(len(groups), NEVER)
        self._is_empty = True

    def add(self, closed: ClosedRound, subjects: Sequence[FlowSubject]) -> None:
        """Take in the subjects of one round."""
        self._is_empty = self._is_empty and not subjects
        # Several metrics and criteria of one round speak of the same flows, each by itself.
        for (metric, *_), own in group_by_key((_identify_criterion(each.criterion), each) for each in subjects).items():
            self._add_alike(own, self._context.flows.read(closed, metric).offered)

    def _add_alike(self, subjects: Sequence[FlowSubject], offered: Floats) -> None:
        """Subjects of one criterion, and the byte/s that all flows of their round should bring to each part."""
        size = self._parts.size
        subject, part, load = _sum_crossings(subjects, size, self._apart)
        expected = np.array([each.expected for each in subjects])
        margin = 1.0 - np.array([each.fails_below for each in subjects]) / expected
        share, fill = load / expected[subject], np.minimum(offered[part] / self._parts.capacity[part], 1.0)
        alone = load > offered[part] * (1 - _SAME)
        # Flows that nobody judges may be those that lose.
        is_known = alone | (sum_at(load, part, size)[part] > offered[part] * (1 - _SAME))
        worst = np.zeros(size)
        np.maximum.at(worst, part, np.where(is_known, _find_losses(share, share / fill, margin[subject]), NEVER))
        crossed = np.unique(part)
        self._of_part[crossed] = np.minimum(self._of_part[crossed], worst[crossed])
        self._add_groups(subject[alone], part[alone], share[alone], fill[alone], margin)
        carried = sum_at(offered[self._sorted_part], self._group, len(self._of_pool))
        self._add_pools(subject[alone], part[alone], load[alone], carried, expected, margin)

    def _add_groups(self, subject: Indices, part: Indices, share: Floats, fill: Floats, margin: Floats) -> None:
        """Groups of parts that one subject crosses alone: what each of them loses adds up."""
        count = self._start[part + 1] - self._start[part]
        group = self._group[join_slices(self._start[part], count)]
        groups = len(self._of_group)
        key, place = np.unique(np.repeat(subject, count) * groups + group, return_inverse=True)
        whole = sum_at(np.repeat(share, count), place, len(key))
        filled = sum_at(np.repeat(share / fill, count), place, len(key))
        np.minimum.at(self._of_group, key % groups, _find_losses(whole, filled, margin[key // groups]))

    def _add_pools(
        self, subject: Indices, part: Indices, load: Floats, carried: Floats, expected: Floats, margin: Floats
    ) -> None:
        """Groups of parts that carry nothing but one subject: it loses what the others cannot take over."""
        count = self._start[part + 1] - self._start[part]
        group = self._group[join_slices(self._start[part], count)]
        groups = len(self._of_pool)
        key, place = np.unique(np.repeat(subject, count) * groups + group, return_inverse=True)
        own = sum_at(np.repeat(load, count), place, len(key))
        alone = own > carried[key % groups] * (1 - _SAME)
        subject, group, own = key[alone] // groups, key[alone] % groups, own[alone]
        share, fill = own / expected[subject], np.minimum(own / self._capacity[group], 1.0)
        np.minimum.at(self._of_pool, group, _find_losses(share, share / fill, margin[subject]))

    def sum_up(self) -> tuple[DetectableLoss, ...]:
        """One for each kind of element that there is; nothing where no subject was taken in."""
        if self._is_empty:
            return ()
        by_fault = group_by_key((each.fault, each) for each in self._elements)
        return tuple(self._sum_up(fault, by_fault[fault]) for fault in Fault if fault in by_fault)

    def _sum_up(self, fault: Fault, elements: Sequence[_Element]) -> DetectableLoss:
        losses = [self._find_loss(each) for each in elements]
        seen = [loss for loss in losses if loss < NEVER]
        unseen = [each.wide for each, loss in zip(elements, losses, strict=True) if loss >= NEVER]
        widest = max(unseen or (each.wide for each in elements))
        return DetectableLoss(fault, len(elements), len(seen), max(seen, default=None), widest)

    def _find_loss(self, each: _Element) -> float:
        """The smallest loss of an element that is seen, or the size of its fault where that is seen; else ``NEVER``."""
        numbers = [self._number[ways] for ways in each.groups]
        if each.fault is Fault.LEG_LOST:  # the streams of a lost leg find the others
            least = min(self._of_pool[numbers])
        else:
            least = min(*self._of_group[numbers], *self._of_part[[way for ways in each.groups for way in ways]])
        if each.size is None:
            return float(least)
        cable = min((self._of_part[part] for part in each.cables), default=NEVER)
        return each.size if least < each.size * (1 - _SAME) or cable < HALF * (1 - _SAME) else NEVER


def _identify_criterion(criterion: Criterion) -> tuple[str, Labels, frozenset[str], bool]:
    """The properties that tell criteria apart, the metric first; not the bound, which a bundle may have mixed."""
    return criterion.metric, criterion.where, frozenset(criterion.nodes), isinstance(criterion, DefaultCriterion)


def _find_losses(share: Floats, filled: Floats, margin: Floats) -> Floats:
    """The loss x at which ``share - (1 - x) * filled`` is ``margin``, for each; ``NEVER`` where none is that large.

    ``filled`` is the sum of share over fill. A margin below 0 fails without a loss: then x is 0.
    """
    left = np.maximum(share - margin, 0.0) / filled
    return np.where(left > _SAME, np.clip(1.0 - left, 0.0, None), NEVER)


def _sum_crossings(subjects: Sequence[FlowSubject], size: int, apart: Flags) -> tuple[Indices, Indices, Floats]:
    """The load that each subject is expected to put on each part, in byte/s: subject, part and load of each crossing.

    Which one of several parts that are ``apart`` a flow crosses is not known where it names none: it crosses none then.
    """
    flows = [(number, each) for number, subject in enumerate(subjects) for each in subject.flows]
    counts = [len(each.parts) for _, each in flows]
    owner = np.repeat(np.array([number for number, _ in flows], np.intp), counts)
    part = np.concatenate([each.parts for _, each in flows])
    shares = np.concatenate([each.shares for _, each in flows])
    rate = np.repeat(np.array([min(each.expected.value, each.least) for _, each in flows]), counts)
    known = ~apart[part] | (shares > 1 - _SAME)
    owner, part, shares, rate = owner[known], part[known], shares[known], rate[known]
    key, place = np.unique(owner * size + part, return_inverse=True)
    return key // size, key % size, sum_at(shares * rate, place, len(key))
