"""Judges throughput against what the described fabric allows the flows that ran together.

A flow that stands alone is held against its own expectation; the flows of a bundle are held
against the sum of theirs, since which flow of a bundle is slow is a matter of the hash.
``RULES`` are asked in order; each may change the level and the reason that those before it found.
"""

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.criterion_match import DefaultCriterion, matching
from benchconsole.probes.judging.grading import POSSIBLE, grade
from benchconsole.probes.judging.hash_interval import HashInterval, sum_crossing
from benchconsole.probes.judging.rate_interval import RateInterval, find_open_interval, is_ugal
from benchconsole.probes.judging.reasons import explain_rate
from benchconsole.probes.judging.round_flows import MeasuredFlow, RefusedFlow, find_margin
from benchconsole.probes.judging.summed_rates import APART
from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.measuring import FULL, Bundle, FailedAt, Reading, Test, TestOutcome
from benchconsole.probes.model.sending import Directions
from benchconsole.topology.capacity.limit_names import list_limits, name_limit
from benchconsole.topology.copying import replace
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Criterion
from benchconsole.topology.units import counted, network_rate, percent

POSSIBLE_SUM = 1.25
"""As ``POSSIBLE``, of the sum of several flows: each is the mean of a time of its own, so short that they differ."""

ANY_ROUTING = ", any routing"
"""Suffix of the name of a model where the low end is that of any routing."""

SAY_ROUTING = "say `routing` of the network"

DISTURBING = frozenset(
    stage for stage in FailedAt if stage.outcome is TestOutcome.FAILED or stage is FailedAt.CANCELLED
)
"""Failures of tests that had begun: it is not known how much they had loaded the links they share."""


@dataclass(slots=True, eq=False)
class FlowSubject:
    """A lone flow, or the flows of a bundle, while the rules find the ``level`` of their verdict and its reason.

    ``started`` is how many flows gave a number for the whole bundle, whichever of them the criterion speaks of.
    ``disturbed`` are links, by their number, whose load is not known, each with what loaded it, in words.
    ``value`` is the sum over the flows and ``expected`` what it should be, in byte/s; ``hashed`` is the interval of it
    over placements, None where the members are known, and ``routed`` that over routings, None where they are known.
    """

    context: JudgingContext
    criterion: Criterion
    flows: Sequence[MeasuredFlow]
    bundle: Bundle | None
    started: int
    disturbed: Mapping[int, str]
    value: float = field(init=False)
    hashed: HashInterval | None = field(init=False)
    routed: RateInterval | None = field(init=False)
    expected: float = field(init=False)
    together: float = field(init=False)
    level: Level = field(init=False)
    because: str = field(init=False)

    def __post_init__(self) -> None:
        self.value = sum(each.value for each in self.flows)
        self.hashed = self.context.hash_intervals.find(self.flows)
        self.routed = find_open_interval(self.flows, self.hashed)
        fluid = sum(each.expected.value for each in self.flows)
        self.expected = fluid if self.interval is None else self.interval.expected
        self.together = overlap(self.flows)

    @property
    def interval(self) -> RateInterval | None:
        """Where a sound fabric may be: by any routing where it is not said, else by any placement."""
        return self.hashed if self.routed is None else self.routed

    @property
    def share(self) -> float:
        """The measured rate over the expected rate."""
        return self.value / self.expected

    @property
    def fails_below(self) -> float:
        """The sum, in byte/s, below which the verdict is a fail: not by rounding, a hash or an unsaid routing."""
        asked = self.criterion.required * self.expected
        if self.interval is not None and self.interval.excuses(self.criterion.required):
            asked = min(asked, self.criterion.required * self.interval.least)
        step = self.criterion.step(self.expected)
        return (math.ceil(asked / step - 1e-9) - 0.5) * step if step else asked

    @property
    def is_disturbed(self) -> bool:
        """Whether it may not fail: flows of its bundle are missing, or the load beside it is not known."""
        ways = (way for each in self.flows for way in list_ways(self.context, each))
        return len(self.flows) < self.started or any(way in self.disturbed for way in ways)

    def rule(self, level: Level, because: str) -> None:
        self.level, self.because = level, because


def give_verdicts(context: JudgingContext, closed: ClosedRound) -> Iterator[Verdict]:
    """One verdict for each lone flow and for each bundle, for each criterion on capacity.

    One more for each flow with a number that no measurement gives: it is unknown by itself, also within a bundle.
    """
    tests = group_by_key((test.bundle, test) for test in closed.round.tests if test.bundle)
    for name, subject in read_subjects(context, closed):
        yield _make_verdict(name, subject, tests.get(name, ()))
    for criterion in context.capacity_criteria(closed.round.probe):
        for refused in context.flows.read(closed, criterion.metric).refused:
            meant = matching(criterion, refused.result)
            if reading := next((each for each in refused.measurements if each in meant), None):
                yield _refuse_flow(context, refused, reading)


def read_subjects(context: JudgingContext, closed: ClosedRound) -> Iterator[tuple[str, FlowSubject]]:
    """Each lone flow and each bundle with its name, for each criterion on capacity, before any rule."""
    bundles = {bundle.name: bundle for bundle in closed.round.bundles}
    troubled = _find_disturbed(context, closed)
    for criterion in context.capacity_criteria(closed.round.probe):
        refused = [each.result.test for each in context.flows.read(closed, criterion.metric).refused]
        disturbed = {**troubled, **_list_troubled(context, refused)}
        everyone = replace(criterion, where=(), nodes=frozenset())
        started = Counter(result.test.bundle for result in closed.results if matching(everyone, result))
        measured = context.flows.read(closed, criterion.metric).measured(criterion)
        own = _find_own(context, closed, criterion)
        for name, flows in group_by_key((name_subject(each), each) for each in measured).items():
            if all(_identify(each) in own for each in flows):
                continue
            asked = _mix_shares(criterion, flows, own)
            yield name, FlowSubject(context, asked, flows, bundles.get(name), started[name], disturbed)


def _identify(each: MeasuredFlow) -> tuple[str, str]:
    return each.result.test.id, each.flow.source


def _find_own(context: JudgingContext, closed: ClosedRound, criterion: Criterion) -> Mapping[tuple[str, str], float]:
    """The flows that the default leaves to the file, with the highest share of their capacity that it asks."""
    own: dict[tuple[str, str], float] = {}
    if isinstance(criterion, DefaultCriterion):
        flows = context.flows.read(closed, criterion.metric)
        for one in context.capacity_criteria_of_file(criterion.metric):
            for each in flows.measured(one):
                own[_identify(each)] = max(own.get(_identify(each), 0.0), one.required)
    return own


def _mix_shares(criterion: Criterion, flows: Sequence[MeasuredFlow], own: Mapping[tuple[str, str], float]) -> Criterion:
    """The default for a bundle of which the file speaks in part: of each flow what is asked of it, by its size."""
    if not any(_identify(each) in own for each in flows):
        return criterion
    asked = sum(own.get(_identify(each), criterion.required) * each.expected.value for each in flows)
    return replace(criterion, required=asked / sum(each.expected.value for each in flows))


def _make_verdict(name: str, subject: FlowSubject, bundled: Sequence[Test]) -> Verdict:
    apply_rules(subject)
    first = subject.flows[0]
    reading, test = first.measurement, first.result.test
    # Those in which the tests of a bundle agree: between two cohorts nothing is said of either.
    asked = [dict(each.target.labels) for each in bundled]
    labels = tuple(pair for pair in reading.labels if len({own.get(pair[0]) for own in asked}) < 2)
    # Elements that tie as the limit are all named, at most three in full.
    tied = dict.fromkeys(limit for each in subject.flows for limit in list_limits(each.expected))
    limits = [name_limit(subject.context.fabric, limit) for limit in tied]
    return Verdict(
        test=test.id,
        round=test.round,
        probe=test.probe,
        subject=name,
        nodes=tuple(dict.fromkeys(node.id for each in subject.flows for node in each.result.test.target.nodes)),
        metric=reading.metric,
        labels=reading.labels if labels == reading.labels else labels,
        level=subject.level,
        kind=Yardstick.CAPACITY,
        because=subject.because + _explain(subject),
        unit=reading.unit,
        shown=subject.context.shown(reading.metric),
        value=subject.value,
        expected=subject.expected,
        required=subject.criterion.required * subject.expected,
        least=subject.interval.least if subject.interval is not None and subject.interval.matters else None,
        source=sys.intern(f"capacity ({first.model}{ANY_ROUTING if subject.routed is not None else ''})"),
        limiting=", ".join(limits[:3]) + (f" and {len(limits) - 3} more" if len(limits) > 3 else ""),
        evidence=tuple(each.measurement.id for each in subject.flows),
    )


def _refuse_flow(context: JudgingContext, refused: RefusedFlow, reading: Reading) -> Verdict:
    """The verdict on a flow of which nothing is known; it has no value, for a number is what ``reading`` is not."""
    test = refused.result.test
    return Verdict(
        test=test.id,
        round=test.round,
        probe=test.probe,
        subject=test.target.key,
        nodes=tuple(node.id for node in test.target.nodes),
        metric=reading.metric,
        labels=reading.labels,
        level=Level.UNKNOWN,
        kind=Yardstick.CAPACITY,
        because=refused.because,
        unit=reading.unit,
        shown=context.shown(reading.metric),
        source="capacity",
        evidence=(reading.id,),
    )


def _explain(subject: FlowSubject) -> str:
    """The reason that the tests measured, to be added to that of a low verdict."""
    if subject.level not in (Level.WATCH, Level.FAIL):
        return ""
    required, target = subject.criterion.required, subject.criterion.target
    asked = required if subject.level is Level.FAIL or target is None else target
    reason = explain_rate(subject.context, subject.flows, asked)
    return "" if reason is None else f"; {reason.text}"


# -- the rules, in their order


def grade_share(subject: FlowSubject) -> None:
    """The level of the sum as it was measured."""
    criterion, expected = subject.criterion, subject.expected
    level = grade(
        subject.value,
        criterion.required * expected,
        comparator=criterion.comparator,
        target=None if criterion.target is None else criterion.target * expected,
        step=criterion.step(expected),
    )
    share = percent(subject.share)
    asked = criterion.required if level is Level.FAIL or criterion.target is None else criterion.target
    below = f"at least {percent(criterion.required)} asked" if level is Level.PASS else f"below {percent(asked)}"
    subject.rule(level, f"{share} of expected, {below}")


def weigh_overlap(subject: FlowSubject) -> None:
    """Flows that did not run at quite the same time: their sum may be too high.

    A sum that meets the bound only if they ran together is no pass: it is not known. One that
    meets the target only then is to be watched.
    """
    criterion, share = subject.criterion, subject.share
    if subject.together >= APART or subject.level is Level.FAIL:
        return
    least = share * subject.together
    note = f"the flows ended up to {percent(1 / subject.together - 1)} apart, their sum may be that much too high"
    between = f"between {percent(least)} and {percent(share)} of expected"
    level = grade(least, criterion.required, target=criterion.target)
    if level is Level.FAIL:
        bound = f"{percent(criterion.required)} asked"
        subject.rule(Level.UNKNOWN, f"{between}, {bound}: {note}; run them for more seconds")
    elif level is Level.WATCH and subject.level is Level.PASS and criterion.target is not None:
        bound = f"{percent(criterion.target)} aimed at"
        subject.rule(Level.WATCH, f"{between}, {bound}: {note}; run them for more seconds")
    else:
        subject.because += f"; {note}"


def weigh_hash(subject: FlowSubject) -> None:
    """Low, but not lower than an unlucky hash makes it: then nothing is known, and more streams would tell."""
    criterion, hashed = subject.criterion, subject.hashed
    if subject.level is not Level.FAIL or subject.routed is not None:
        return
    if hashed is None or not hashed.excuses(criterion.required):
        return
    least, most = (percent(each / subject.expected) for each in (hashed.least, hashed.most))
    placed = counted(hashed.placed, "stream" if hashed.by_stream else "pair")
    step = criterion.step(subject.expected)
    if grade(subject.value, criterion.required * hashed.least, step=step) is Level.FAIL:
        subject.because += f"; {placed} over {hashed.ways} {hashed.called} give no less than {least} by the hash alone"
        return
    enough = subject.context.hash_intervals.find_enough(subject.flows, criterion.required)
    if not hashed.by_stream:
        advice = "repeat with other pairs, for all streams of one take one way"
    elif enough is None:
        advice = "repeat it, for every run is placed anew"
    else:
        advice = f"repeat with {enough} streams"
    given = f"where the hash decides, {placed} over {hashed.ways} {hashed.called} give between {least} and {most}"
    subject.rule(Level.UNKNOWN, f"{percent(subject.share)} of expected; {given} (99 of 100 placements): {advice}")


def weigh_routing(subject: FlowSubject) -> None:
    """Low, but not lower than another routing makes it, and which one there is nobody said: then nothing is known."""
    criterion, routed = subject.criterion, subject.routed
    if subject.level is not Level.FAIL or routed is None or not routed.excuses(criterion.required):
        return
    least = f"{percent(routed.least / subject.expected)} ({network_rate(routed.least)})"
    step = criterion.step(subject.expected)
    if grade(subject.value, criterion.required * routed.least, step=step) is Level.FAIL:
        subject.because += f"; any routing gives at least {least}"
        return
    if is_ugal(subject.context.routes.graph, subject.flows):
        why = (
            f"what minimal paths give; UGAL chooses by queues, and any choice gives at least {least}: run fewer at once"
        )
    else:
        why = f"what least hops give; nobody said the routing, and any gives at least {least}: {SAY_ROUTING}"
    subject.rule(Level.UNKNOWN, f"{percent(subject.share)} of {why}")


def excuse_disturbed(subject: FlowSubject) -> None:
    """Low beside a load that is not known: a test in trouble on the same link, or tests of other probes."""
    if subject.level not in (Level.WATCH, Level.FAIL):
        return
    ways = (way for each in subject.flows for way in list_ways(subject.context, each))
    troubled = next((subject.disturbed[way] for way in ways if way in subject.disturbed), None)
    if troubled is not None:
        words = f"{percent(subject.share)} of expected, but {troubled}"
        subject.rule(Level.UNKNOWN, words)


def refuse_impossible(subject: FlowSubject) -> None:
    """No link carries more than its wire does: then the measurement or the description is wrong, and nothing passes."""
    overload = describe_overload(subject.context, subject.flows)
    if overload:
        subject.rule(Level.UNKNOWN, overload)


def leave_uncounted_open(subject: FlowSubject) -> None:
    """Over a link whose cables nobody counted it is not known what should arrive: neither a pass nor a fail."""
    links = subject.context.routes.graph.links
    crossed = (links[way >> 1] for each in subject.flows for way in each.route.ways.tolist())
    link = next((link for link in crossed if not link.counted), None)
    if link is not None:
        subject.rule(Level.UNKNOWN, f"nobody counted the cables of {link.a} to {link.b}, so nothing is expected there")


def excuse_part(subject: FlowSubject) -> None:
    """A part of a bundle that is low is not known to be: how its flows share is a matter of the hash."""
    flows = len(subject.flows)
    if flows < subject.started and subject.level in (Level.WATCH, Level.FAIL):
        note = f"but these are {flows} of the {subject.started} flows that fill it together"
        subject.rule(Level.UNKNOWN, f"{subject.because}; {note}")


def note_free_capacity(subject: FlowSubject) -> None:
    """A link that was not filled may have lost what was left free.

    A pass on a bundle that was meant to fill its link, but lost the tests for it, becomes unknown.
    """
    bundle = subject.bundle
    if bundle is None or subject.level not in (Level.PASS, Level.WATCH):
        return
    graph, links = subject.context.routes.graph, subject.context.fabric.links
    loads = _sum_loads(subject.flows, [each.expected.value for each in subject.flows])
    ways = [graph.way(links[element.link], element.source) for element in bundle.elements]
    fill = min((loads.get(way, 0.0) / float(graph.payload[way]) for way in ways), default=0.0)  # of the emptiest one
    if fill < FULL:
        note = f"these flows can load it to {percent(fill)} only, a loss of the rest is not seen"
        subject.rule(subject.level if bundle.fill < FULL else Level.UNKNOWN, f"{subject.because}; {note}")


def note_rate_limit(subject: FlowSubject) -> None:
    """Links that could carry more than a lone flow was made to send are not shown to do so."""
    limited = any(each.expected.limiting for each in subject.flows)
    if subject.bundle is None and not limited and subject.level in (Level.PASS, Level.WATCH):
        most = network_rate(subject.expected)
        subject.because += f"; it could send {most} at most, more that its links could carry is not shown"


RULES: tuple[Callable[[FlowSubject], None], ...] = (
    grade_share,
    weigh_overlap,
    weigh_hash,
    weigh_routing,
    excuse_disturbed,
    refuse_impossible,
    leave_uncounted_open,
    excuse_part,
    note_free_capacity,
    note_rate_limit,
)
"""The rules in their order. A level that one of them made unknown, no later one changes."""


def apply_rules(subject: FlowSubject) -> None:
    """Give a subject its level and its reason."""
    for rule in RULES:
        rule(subject)


# -- what the rules ask of flows


def overlap(flows: Sequence[MeasuredFlow]) -> float:
    """The least share of their time that flows can have run together, in (0, 1].

    Means of flows that did not run at the very same time add up to more than the link carried.
    The ends tell how far apart they were, the length of the command over how long it was averaged. The seconds
    that all of them left out at their start and at their end may have been apart.
    """
    if not flows:
        return 1.0
    ends = [each.measurement.at for each in flows]
    length = min(each.result.ran for each in flows)
    apart = max(max(ends) - min(ends) - min(find_margin(each.measurement) for each in flows), 0.0)
    return length / (length + apart) if length > 0 else 1.0


def describe_overload(context: JudgingContext, flows: Sequence[MeasuredFlow]) -> str:
    """The first link, or parallel links, seen to carry more than their wire can, in words; empty without one."""
    if all(each.value <= each.expected.value for each in flows):
        return ""
    graph, together = context.routes.graph, overlap(flows)
    possible = POSSIBLE if len(flows) == 1 else POSSIBLE_SUM
    cuts = [context.hash_intervals.find_cuts(each) for each in flows]
    for ways, value in sum_crossing(cuts, [each.value for each in flows]).items():
        wire = sum(graph.links[way >> 1].capacity for way in ways)
        if value * together > possible * wire:
            where = direction_name(context.fabric, graph.direction(min(ways)))
            where += f" and {len(ways) - 1} more" if len(ways) > 1 else ""
            carried = f"{network_rate(value)} over {where}, which carries {network_rate(wire)} as described"
            return f"{carried}: the number or the description is wrong"
    return ""


def name_subject(each: MeasuredFlow) -> str:
    """The bundle of a flow, or the flow alone."""
    test = each.result.test
    # Of a test that sends both ways each is judged by itself, or one would make up for the other.
    name = f"{each.flow.source}>{each.flow.sink}" if test.sending.directions is Directions.BOTH else test.target.key
    return test.bundle or name


def _find_disturbed(context: JudgingContext, closed: ClosedRound) -> Mapping[int, str]:
    """Links, by their number, that were loaded by what is not known, with that in words."""
    if closed.beside:
        return _list_loaded(context, closed.round.tests, f"{' and '.join(closed.beside)} ran at the same time")
    failed = ((each.test, each.failure) for each in closed.results)
    return _list_troubled(context, [test for test, failure in failed if failure and failure.stage in DISTURBING])


def _list_troubled(context: JudgingContext, tests: Iterable[Test]) -> dict[int, str]:
    """The links that ``tests``, which ran into trouble, load, by their number, each with the target of such a test."""
    loaded: dict[int, str] = {}
    for test in tests:
        loaded.update(_list_loaded(context, [test], f"{test.target.key} ran into trouble on the same link"))
    return loaded


def _list_loaded(context: JudgingContext, tests: Iterable[Test], words: str) -> dict[int, str]:
    """The links that ``tests`` load, by their number, each with ``words``."""
    loaded: dict[int, str] = {}
    for test in tests:
        for flow in test.flows:
            ways = context.flows.open_routing.list_ways(flow, context.routes.route(flow))
            loaded.update(dict.fromkeys(ways, words))
    return loaded


def list_ways(context: JudgingContext, each: MeasuredFlow) -> list[int]:
    """The directed links, by their number, that a flow crosses, or may cross where its routing is not said."""
    return context.flows.open_routing.list_ways(each.flow, each.route) if each.is_free else each.route.ways.tolist()


def _sum_loads(flows: Sequence[MeasuredFlow], rates: Sequence[float]) -> Mapping[int, float]:
    """byte/s over each directed link, by its number, if each flow had its rate."""
    loads: dict[int, float] = {}
    for each, rate in zip(flows, rates, strict=True):
        for way, share in zip(each.route.ways.tolist(), each.route.shares.tolist(), strict=True):
            loads[way] = loads.get(way, 0.0) + share * rate
    return loads
