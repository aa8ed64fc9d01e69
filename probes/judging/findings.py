"""The findings of a session: every cause once, with both numbers, what it rests on and what stays open.

Closed rounds and their verdicts in, findings out, worst first; the same rounds give the same
findings, one by one or all at once. Network causes come from ``attribution``; nodes, storage and
hardware from their own verdicts. A finding that a further round has not touched is not made anew.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from benchconsole.probes.judging.attribution import Attributor, Cause
from benchconsole.probes.judging.components import Component
from benchconsole.probes.judging.confirmation import is_confirmation
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.fallback_text import make_fallback_finding, part_by_networks
from benchconsole.probes.judging.finding_text import (
    make_hardware_finding,
    make_network_finding,
    make_node_finding,
    make_unexplained_finding,
    make_unsteered_finding,
)
from benchconsole.probes.judging.flow_evidence import FlowEvidence
from benchconsole.probes.judging.host_limits import HostLimit, make_host_finding, part_by_hosts
from benchconsole.probes.judging.loss_text import make_loss_finding
from benchconsole.probes.judging.low_verdicts import LowVerdicts, is_low
from benchconsole.probes.judging.node_group_text import make_group_finding
from benchconsole.probes.judging.node_groups import MeasuredNodes, group_low_nodes
from benchconsole.probes.judging.node_sets import JudgedSet, read_sets
from benchconsole.probes.judging.open_routing_text import make_open_finding, part_by_routing
from benchconsole.probes.judging.packet_loss import LossCause, PacketLosses
from benchconsole.probes.judging.pair_cells import PairCells
from benchconsole.probes.judging.part_loads import PartLoads
from benchconsole.probes.judging.pattern_causes import PatternCause, explain_low, find_agreeing
from benchconsole.probes.judging.pattern_text import describe_pattern, make_pattern_finding, tell_patterns
from benchconsole.probes.judging.patterns import Pattern, find_patterns
from benchconsole.probes.judging.peer_text import list_peer_findings
from benchconsole.probes.judging.peers import PeerGroups
from benchconsole.probes.judging.physical_limits import describe_excess
from benchconsole.probes.judging.protocol_pairs import ProtocolPairs
from benchconsole.probes.judging.session_criteria import SessionJudgement, judge_session
from benchconsole.probes.judging.session_text import list_session_findings
from benchconsole.probes.judging.set_causes import is_explained_by, list_causes, takes_part
from benchconsole.probes.judging.set_cover import PART, LowVerdict, is_assumed
from benchconsole.probes.judging.set_finding_text import join_sets, make_set_finding
from benchconsole.probes.model.judgement import ClosedRound, Finding, Level, Verdict, Yardstick
from benchconsole.probes.model.measurement_table import MeasurementTable
from benchconsole.probes.model.repeats import make_test_key
from benchconsole.topology.grouping import group_by_key

MANY, NAMELESS = 0.4, 0.15
"""Shares of the steered streams that are slow, and slow by no told cause: above both, ports do not mean what is said.

Where one stream in ten took another way, 5 to 25 % were slow on healthy fabrics, and as many by no cause beside one to
three faults, of which one slowed 35 % in all; where ports mean nothing, 46 % and more, and 23 % and more by no cause
(``benchmarks/attribution``).
"""


def list_findings(context: JudgingContext, rounds: Iterable[ClosedRound]) -> tuple[Finding, ...]:
    """Everything that is wrong in a session so far: worst level first, then by nodes affected."""
    made = Findings(context)
    for judged in rounds:
        made.add_round(judged)
    return made.rank()


class Findings:
    """Everything that is wrong in a session, kept up to date as its rounds close.

    ``rank`` costs what is new since it was asked last: the findings are those of
    ``list_findings(context, rounds)`` over all rounds so far. A round whose number is known counts
    instead of the one before. Findings that did not change are the same objects again. ``steers``: source ports seem to
    mean the ways that the file describes, so a steered stream tells of them.
    """

    def __init__(self, context: JudgingContext) -> None:
        self._context = context
        self._rounds: dict[int, ClosedRound] = {}
        self._low = LowVerdicts()
        self._loads = PartLoads(context.parts)
        self._losses = PacketLosses(context)
        self._pairs = ProtocolPairs()
        self._measured = MeasuredNodes()
        self._peers = PeerGroups(context)
        self._evidence = FlowEvidence(context.parts)
        self._attributor = Attributor(context, self._loads, self._evidence)
        self._causes: list[Cause] = []
        self._cells = PairCells()
        self._rest: list[LowVerdict] = []
        self.steers = True
        self._observed: dict[int, dict[int, LowVerdict]] = {}
        # Findings with the objects that they rest on (whose ids stay theirs), of the last turn and of this one.
        self._before: dict[tuple[int, ...], tuple[Sequence[object], Finding]] = {}
        self._kept: dict[tuple[int, ...], tuple[Sequence[object], Finding]] = {}

    def add_round(self, judged: ClosedRound, measured: MeasurementTable | None = None) -> None:
        """Take in one more judged round without asking what it means, as for a session that is read back.

        ``measured`` are its measurements where its results lack some.
        """
        number = judged.round.number
        again = number in self._rounds
        self._rounds[number] = judged
        if again:
            self._loads.clear()
            self._pairs.clear()
            self._cells.clear()
            self._measured.clear()
            self._peers.clear()
            self._evidence.clear()
            self._attributor.clear()
            self._observed.clear()
            for each in self._rounds.values():
                self._carry(each)
                self._observe(each)
                self._peers.add_round(each)
            self._read_again()
            return
        self._carry(judged)
        self._observe(judged)
        self._peers.add_round(judged, measured)
        if self._low.is_next(judged):
            self._low.add_round(judged)
        else:
            self._read_again()

    def rank(self) -> tuple[Finding, ...]:
        """Everything that is wrong so far, worst level first, then by nodes affected."""
        self._before, self._kept = self._kept, {}
        low = self._low.list_by_kind()
        losses = self._losses.find_causes(self._attributor.components)
        slow, lost = _part_by_losses(list(self._list_observed(low.get(Yardstick.CAPACITY, ()))), losses)
        slow, fallen = part_by_networks(self._context, slow, self._loads.find_proven)
        slow, limits = part_by_hosts(self._context, slow)
        slow, unrouted = part_by_routing(slow)
        further, patterns = self._explain(slow)
        found = [
            *self._lossy(lost),
            *(self._keep(each.grounds, partial(make_fallback_finding, each)) for each in fallen),
            *self._limited(limits),
            *self._network(patterns),
            *map(self._keep_pattern, further),
            *self._unexplained(),
            *(
                [self._keep_told(unrouted, unrouted, partial(make_open_finding, self._context, unrouted))]
                if unrouted
                else ()
            ),
            *self._unsteered(slow),
        ]
        found += self._hardware(low.get(Yardstick.HARDWARE, ()))
        found = self._add_criteria(found, low.get(Yardstick.CRITERION, ()))
        found += list_session_findings(_judge_session(self._context, self._rounds))
        found += list_peer_findings(self._context, list(self._peers.list_groups()), found)
        return tuple(sorted(found, key=lambda each: (-each.level.severity, -len(each.nodes), each.where)))

    @property
    def suspected(self) -> tuple[Component, ...]:
        """The components that ``rank`` named without being sure.

        These are ties, what little or assumed paths alone tell, and the NICs of lone flows that nothing explains.
        """
        doubtful = (each for each in self._causes if len(each.components) > 1 or each.is_weak)
        most_first = sorted(doubtful, key=lambda each: -len(each.seen))
        named = [component for each in most_first for component in each.components]
        lone = [flows[0] for _, flows in self._rest if len(flows) == 1 and not is_assumed((_, flows))]
        nics = [
            self._attributor.components.find_nic(node) for flow in lone for node in (flow.flow.source, flow.flow.sink)
        ]
        return tuple(dict.fromkeys([*named, *nics, *self._list_slow_links()]))

    def _list_slow_links(self) -> list[Component]:
        """The links over which most streams on assumed paths were slow, and no told cause says why; worst first."""
        ids = (each.measurement.id for low in self._list_open() if is_assumed(low) for each in low[1])
        slow = [self._evidence.numbers[each] for each in ids] if self.steers else []
        parts = self._evidence.find_slow_parts(slow) if slow else []
        ways = dict.fromkeys(self._context.parts.way(part) for part in parts)
        return [self._attributor.components.holding(way)[0] for way in ways]

    # -- what is low now, and what was carried

    def _carry(self, judged: ClosedRound) -> None:
        """Take in what the flows of a round carried; its verdicts name metrics of probes that are gone, too.

        Flows beside tests of other probes tell nothing of links: nobody knows what those loaded.
        """
        if judged.round.is_mixed:
            return
        held = (criterion.metric for criterion in self._context.capacity_criteria(judged.round.probe))
        named = (verdict.metric for verdict in judged.verdicts if verdict.kind is Yardstick.CAPACITY)
        for metric in dict.fromkeys((*held, *named)):
            flows = self._context.flows.read(judged, metric)
            self._loads.add(flows)
            self._losses.add_round(judged, metric)
            self._pairs.add(flows, judged.round.number)
            shares, datagrams = (flows.find_shares(datagrams=each) for each in (False, True))
            self._cells.add((judged.round.number, metric), shares, datagrams)
            self._evidence.add(flows, judged.round)
            if is_confirmation(judged.round):
                passed = (
                    each for each in judged.verdicts if each.kind is Yardstick.CAPACITY and each.level is Level.PASS
                )
                evidence = [name for each in passed if each.metric == metric for name in each.evidence]
                self._loads.acquit(flows, flows.find_measured(evidence))

    def _read_again(self) -> None:
        """Rounds in the order of their numbers, which is that of being newer."""
        self._low.clear()
        for number in sorted(self._rounds):
            self._low.add_round(self._rounds[number])

    def _observe(self, judged: ClosedRound) -> None:
        """Take in the nodes that were measured, and the low throughputs with their flows, while at hand."""
        self._measured.add_round(judged)
        low = (each for each in judged.verdicts if each.kind is Yardstick.CAPACITY and is_low(each))
        self._observed[judged.round.number] = {
            id(each): (each, self._context.flows.read(judged, each.metric).find_measured(each.evidence)) for each in low
        }

    def _list_observed(self, low: Iterable[Verdict]) -> Iterator[LowVerdict]:
        """Low throughputs with their flows."""
        for verdict in low:
            yield self._observed[verdict.round][id(verdict)]

    # -- what it means

    def _keep(self, grounds: Sequence[object], make: Callable[[], Finding]) -> Finding:
        """The finding that rests on ``grounds``: made once, and forgotten when a turn passes without a question."""
        key = tuple(map(id, grounds))
        self._kept[key] = self._before.get(key) or (grounds, make())
        return self._kept[key][1]

    def _keep_told(self, grounds: Sequence[object], seen: Sequence[LowVerdict], make: Callable[[], Finding]) -> Finding:
        """As ``_keep``, with what the tests of ``seen`` measured beside their rates."""
        tell = partial(self._add_conditions, make, seen)
        return self._keep((*grounds, *self._pairs.list_beside(seen)), tell)

    def _add_conditions(self, make: Callable[[], Finding], seen: Sequence[LowVerdict]) -> Finding:
        return self._pairs.add_conditions(self._context, make(), seen)

    def _find_patterns(self) -> list[Pattern]:
        return find_patterns(self._cells.make_matrix(), self._context.groupings)

    def _network(self, patterns: Sequence[Pattern]) -> Iterator[Finding]:
        """The causes that are told, each with the patterns that agree with it."""
        for each in filter(self._is_told, self._causes):
            make = partial(make_network_finding, self._context, each)
            found = self._keep_told((each,), each.seen, make)
            agreeing = find_agreeing(patterns, self._causes, each)
            told = map(sys.intern, map(describe_pattern, agreeing))
            yield self._keep((found, *told), partial(tell_patterns, found, agreeing)) if agreeing else found

    def _keep_pattern(self, cause: PatternCause) -> Finding:
        grounds = (*cause.seen, sys.intern(describe_pattern(cause.pattern)))
        return self._keep_told(grounds, cause.seen, partial(make_pattern_finding, self._context, cause))

    def _limited(self, limits: Iterable[HostLimit]) -> list[Finding]:
        return [self._keep(each.seen, partial(make_host_finding, self._context, each)) for each in limits]

    def _lossy(self, losses: Mapping[LossCause, Sequence[LowVerdict]]) -> list[Finding]:
        components = self._attributor.components
        return [
            self._keep((cause, *low), partial(make_loss_finding, self._context, components, cause, low))
            for cause, low in losses.items()
        ]

    def _is_told(self, cause: Cause) -> bool:
        """Whether a cause is a finding: what streams that met by chance explain is none."""
        return cause.is_told(confirmed=any(is_confirmation(each.round) for each in self._rounds.values()))

    def _list_open(self) -> list[LowVerdict]:
        """The low throughputs that no told cause explains."""
        return [*self._rest, *(low for each in self._causes if not self._is_told(each) for low in each.seen)]

    def _explain(self, slow: Sequence[LowVerdict]) -> tuple[Sequence[PatternCause], Sequence[Pattern]]:
        """Find the causes of low throughputs, and the patterns; without steered streams where ports mean nothing."""
        explain = self._attributor.explain
        self._causes, further, self._rest, patterns = explain_low(slow, explain, self._find_patterns)
        low, nameless = (sum(map(is_assumed, each)) for each in (slow, self._list_open()))
        steered = int(self._evidence.flows.assumed.sum()) if low else 0
        self.steers = not low or low <= MANY * steered or nameless <= NAMELESS * steered
        if not self.steers:
            divided = [each for each in slow if not is_assumed(each)]
            explain = partial(explain, steers=False)
            self._causes, further, self._rest, patterns = explain_low(divided, explain, self._find_patterns)
        return further, patterns

    def _unexplained(self) -> Iterator[Finding]:
        """Findings on observations that no component explains; on no flow of which every element was confirmed.

        Nor streams on paths that are only assumed: so few of them are slow that they met by chance, or others did.
        """
        for seen in self._rest:
            if not is_assumed(seen) and not all(self._loads.acquitted[each.parts].all() for each in seen[1]):
                yield self._keep_told((seen,), (seen,), partial(make_unexplained_finding, (seen,)))

    def _unsteered(self, slow: Sequence[LowVerdict]) -> Iterator[Finding]:
        """The one finding on all slow steered streams, where ports do not mean the ways that the file describes."""
        if not self.steers:
            low = [each for each in slow if is_assumed(each)]
            steered = int(self._evidence.flows.assumed.sum())
            yield self._keep([*low, steered], partial(make_unsteered_finding, low, steered))

    def _hardware(self, low: Iterable[Verdict]) -> list[Finding]:
        """Differences from the declared hardware, folded over the nodes that differ alike."""
        alike = group_by_key(
            ((" ".join((each.metric, *map("=".join, each.labels))), each.text, each.expected_text), each)
            for each in low
        )
        by_nodes = group_by_key(
            (tuple(sorted(each.subject for each in group)), (difference, group)) for difference, group in alike.items()
        )
        return [
            self._keep([each for _, group in parts for each in group], partial(make_hardware_finding, nodes, parts))
            for nodes, parts in by_nodes.items()
        ]

    def _add_criteria(self, found: Sequence[Finding], low: Sequence[Verdict]) -> list[Finding]:
        """``found`` with what is below a fixed criterion, each cause once.

        Nodes by themselves are one finding for each node and probe, or for a group of them; what several did not reach
        together is one for each cause, or belongs to a finding that explains it.
        """
        sets = read_sets([self._rounds[number] for number in sorted(self._rounds)], low)
        in_sets = {id(each) for own in sets for each in own.low}
        alone = group_by_key(((each.nodes[0], each.probe), each) for each in low if id(each) not in in_sets)
        nodes = {
            place: self._keep(group, partial(make_node_finding, self._context, place[0], group))
            for place, group in alone.items()
        }
        sets, explained = self._leave_explained(sets, found)
        made = [*explained, *nodes.values()]
        for cause in list_causes(self._context, sets):
            explaining = [index for index, each in enumerate(made) if is_explained_by(cause, each)]
            if len(explaining) == 1:
                (index,) = explaining
                made[index] = self._keep((made[index], *cause.grounds), partial(join_sets, made[index], cause.low))
            else:
                own = [each for each in made if takes_part(each, cause)]
                make = partial(make_set_finding, self._context, cause, own)
                made.append(self._keep((*cause.grounds, *own), make))
        standing = {id(each) for each in made}
        left = {place: group for place, group in alone.items() if id(nodes[place]) in standing}
        find_judged = partial(self._measured.find, criteria=self._context.criteria)
        joined: set[int] = set()
        for probe, places in group_by_key((probe, (node, probe)) for node, probe in left).items():
            low_of = {place[0]: left[place] for place in places}
            for alike in group_low_nodes(low_of, find_judged, self._context.groupings):
                joined.update(id(nodes[node, probe]) for node in alike.low)
                made.append(self._keep(alike.grounds, partial(make_group_finding, self._context, alike)))
        return [each for each in made if id(each) not in joined]

    def _leave_explained(
        self, sets: Sequence[JudgedSet], known: Sequence[Finding]
    ) -> tuple[list[JudgedSet], list[Finding]]:
        """``sets`` without the low ones whose test a ``known`` finding explains, and these findings with them."""
        by_test = {test: index for index, each in enumerate(known) for test in each.tests}
        places = {id(each): by_test.get(each.low[0].test) for each in sets if each.low}
        explained = group_by_key((place, each) for each in sets if (place := places.get(id(each))) is not None)
        found = [
            self._keep((each, *(low for one in own for low in one.low)), partial(join_sets, each, own))
            if (own := explained.get(index))
            else each
            for index, each in enumerate(known)
        ]
        return [each for each in sets if places.get(id(each)) is None], found


def _judge_session(context: JudgingContext, rounds: Mapping[int, ClosedRound]) -> Iterator[SessionJudgement]:
    """The criteria of the session on the newest result of each test; ``rounds`` are by number."""
    if context.session_probes:
        in_order = [rounds[number] for number in sorted(rounds)]
        newest = {make_test_key(result.test, each.round.stage): result for each in in_order for result in each.results}
        excess = partial(describe_excess, context)
        yield from judge_session(context.criteria, newest.values(), context.shown, excess, context.fabric.baseline)


def _part_by_losses(
    low: Sequence[LowVerdict], losses: Sequence[LossCause]
) -> tuple[list[LowVerdict], dict[LossCause, list[LowVerdict]]]:
    """Low throughputs that no loss explains, and those that one does: what is missing crossed what loses packets."""
    explained: dict[LossCause, list[LowVerdict]] = {cause: [] for cause in losses}
    rest = list[LowVerdict]()
    for seen in low:
        cause = next((each for each in losses if _explains(each, seen)), None)
        (rest if cause is None else explained[cause]).append(seen)
    return rest, explained


def _explains(cause: LossCause, low: LowVerdict) -> bool:
    parts = {part for component in cause.components for part in component.parts}
    missing = sum(each.missing for each in low[1])
    return sum(each.missing for each in low[1] if not parts.isdisjoint(each.parts.tolist())) >= PART * missing
