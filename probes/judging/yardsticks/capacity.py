"""Judges throughput against what the described fabric allows the flows that ran together.

A flow that stands alone is held against its own expectation; the flows of a bundle are held
against the sum of theirs, since which flow of a bundle is slow is a matter of the hash.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from probes.judging.bench import Bench, matching, nodes_of
from probes.judging.grading import grade
from probes.judging.verdict import Kind, Level, Verdict
from probes.model import BIDIR, FULL, Bundle, ClosedRound, FailedAt, Labels, Measurement, Result, Test
from topology.elements import direction_name
from topology.expect import MODEL, Expectation, Model, expect
from topology.model import Basis, Criterion, Direction, Flow
from topology.units import network_rate, percent

APART = 0.95
"""Flows of a bundle that ran together for less than this share of their time are said to have done so."""

POSSIBLE = 1.05
"""Share of what a wire carries above which a rate was not measured right; less may be bursts and rounding."""

POSSIBLE_SUM = 1.25
"""The same of the sum of several flows: each is the mean of a time of its own, and so short that they differ."""

_INWARD = ("direction", "in")

DISTURBING = frozenset((FailedAt.LOST, FailedAt.TIMEOUT, FailedAt.FLOODED, FailedAt.TOOL, FailedAt.OUTPUT))
"""Failures after which it is not known how much a test had loaded the links it shares."""


@dataclass(frozen=True, slots=True)
class Sent:
    """One flow that gave a number, in byte/s of payload, with what it should have reached by ``model``."""

    result: Result
    measurement: Measurement
    flow: Flow
    expected: Expectation
    model: str = MODEL

    @property
    def value(self) -> float:
        """What arrived."""
        return self.measurement.reading.value


def sent(bench: Bench, closed: ClosedRound, criterion: Criterion) -> tuple[Sent, ...]:
    """The flows of a round that gave a number for ``criterion``, with the expectation of their company.

    Their company is every flow of the round that gave a number of the metric, whichever cohort or nodes
    the criterion speaks of. Steered flows are expected on the members that their source ports were chosen for.
    """
    found: list[tuple[Result, Measurement, Flow]] = []
    members: dict[int, Mapping[Direction, int]] = {}
    meant: set[str] = set()
    everyone = _everyone(criterion)
    for result in closed.results:
        own = _each_way(matching(criterion, result))
        meant.update(measurement.id for measurement in own)
        for measurement in own or _each_way(matching(everyone, result)):
            inward = _INWARD in measurement.reading.labels
            flow = bench.flow(result.test, inward=inward)
            if flow is None:
                continue
            known = {} if inward else bench.members(result.test, flow)
            if known:
                members[len(found)] = known
            found.append((result, measurement, flow))
    expected = expect(bench.fabric, [flow for _, _, flow in found], routes=bench.routes, members=members)
    models = (Model.STEERED.value if index in members else MODEL for index in range(len(found)))
    return tuple(
        Sent(*each, limit, model)
        for each, limit, model in zip(found, expected, models, strict=True)
        if each[1].id in meant
    )


def _each_way(measured: Sequence[Measurement]) -> Sequence[Measurement]:
    """The first measurement of each direction: what follows tells of parts of it."""
    first: dict[bool, Measurement] = {}
    for each in measured:
        first.setdefault(_INWARD in each.reading.labels, each)
    return tuple(first.values())


def _everyone(criterion: Criterion) -> Criterion:
    return replace(criterion, where=(), nodes=frozenset())


def _of_part(verdict: Verdict, members: int, together: int) -> Verdict:
    """A part of a bundle that is low is not known to be: how its flows share is a matter of the hash."""
    if members >= together or verdict.level not in (Level.WATCH, Level.FAIL):
        return verdict
    note = f"{verdict.because}; but these are {members} of the {together} flows that fill it together"
    return replace(verdict, level=Level.UNKNOWN, because=note)


def verdicts(bench: Bench, closed: ClosedRound) -> Iterator[Verdict]:
    """One verdict for each lone flow and for each bundle, for each criterion on capacity."""
    together: dict[str, list[Test]] = {}
    for test in closed.round.tests:
        if test.bundle:
            together.setdefault(test.bundle, []).append(test)
    for criterion in bench.criteria:
        if criterion.basis is not Basis.CAPACITY:
            continue
        flows = sent(bench, closed, criterion)
        everyone = _everyone(criterion)
        sizes = Counter(result.test.bundle for result in closed.results if matching(everyone, result))
        disturbed = _disturbed(bench, closed)
        bundles = {bundle.name: bundle for bundle in closed.round.bundles}
        for name, members in _subjects(flows):
            verdict = _judge(bench, criterion, name, members, disturbed)
            verdict = replace(verdict, labels=_common(verdict.labels, together.get(name, ())))
            impossible = _impossible(bench, members)
            if impossible:
                yield replace(verdict, level=Level.UNKNOWN, because=impossible)
                continue
            verdict = _of_part(verdict, len(members), sizes[name])
            yield _with_fill(bench, verdict, bundles[name], members) if name in bundles else _as_held(verdict, members)


def _with_fill(bench: Bench, verdict: Verdict, bundle: Bundle, members: Sequence[Sent]) -> Verdict:
    """Say what a pass does not show: a link that was not filled may have lost what was left free.

    A pass on a bundle that was meant to fill its link, but lost the tests for it, becomes unknown.
    """
    fill = _filled(bench, bundle, members)
    if fill >= FULL or verdict.level not in (Level.PASS, Level.WATCH):
        return verdict
    note = f"{verdict.because}; these flows can load it to {percent(fill)} only, a loss of the rest is not seen"
    return replace(verdict, level=verdict.level if bundle.fill < FULL else Level.UNKNOWN, because=note)


def _as_held(verdict: Verdict, members: Sequence[Sent]) -> Verdict:
    """Say of a lone flow what a pass does not show: links that could carry more than it was made to send."""
    if verdict.level not in (Level.PASS, Level.WATCH) or any(each.expected.limiting for each in members):
        return verdict
    rate = network_rate(sum(each.expected.value for each in members))
    note = f"{verdict.because}; it could send {rate} at most, more that its links could carry is not shown"
    return replace(verdict, because=note)


def _filled(bench: Bench, bundle: Bundle, members: Sequence[Sent]) -> float:
    """How full the emptiest element of a bundle should have been with the flows that gave a number."""
    load = dict.fromkeys(bundle.elements, 0.0)
    for each in members:
        for way, share in bench.routes.shares_of(each.flow).items():
            if way in load:
                load[way] += share * each.expected.value
    return min((value / bench.capacity(way) for way, value in load.items()), default=0.0)


def overlap(flows: Sequence[Sent]) -> float:
    """The least share of their time that flows can have run together, in (0, 1].

    Means of flows that did not run at the very same time add up to more than the link carried.
    The ends tell how far apart they were, the length of the command over how long it was averaged.
    """
    if not flows:
        return 1.0
    ends = [each.measurement.at for each in flows]
    lengths = [each.result.ran for each in flows]
    apart, length = max(ends) - min(ends), min(lengths)
    return length / (length + apart) if length > 0 else 1.0


def _subjects(flows: Sequence[Sent]) -> list[tuple[str, list[Sent]]]:
    found: dict[str, list[Sent]] = {}
    for each in flows:
        test = each.result.test
        # Of a test that sends both ways each is judged by itself, or one would make up for the other.
        name = f"{each.flow.source}>{each.flow.sink}" if test.target.options.get(BIDIR) else test.target.key
        found.setdefault(test.bundle or name, []).append(each)
    return list(found.items())


def _disturbed(bench: Bench, closed: ClosedRound) -> dict[Direction, str]:
    """Links that a test loaded whose own load is not known, with that test's target."""
    found: dict[Direction, str] = {}
    for result in closed.results:
        flow = bench.flow(result.test) if result.failure and result.failure.stage in DISTURBING else None
        for way in bench.routes.shares_of(flow) if flow is not None else ():
            found[way] = result.test.target.key
    return found


def limits(bench: Bench, members: Sequence[Sent]) -> str:
    """The elements that bound the expectation, in words; ties are all named, at most three in full."""
    ways = dict.fromkeys(way for each in members for way in each.expected.limiting)
    names = [direction_name(bench.fabric, way) for way in ways]
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown


def _judge(
    bench: Bench, criterion: Criterion, name: str, members: Sequence[Sent], disturbed: dict[Direction, str]
) -> Verdict:
    value = sum(each.value for each in members)
    expected = sum(each.expected.value for each in members)
    required = criterion.required * expected
    target = None if criterion.target is None else criterion.target * expected
    step = criterion.step(expected)
    level = grade(value, required, comparator=criterion.comparator, target=target, step=step)
    share = percent(value / expected)
    because = f"{share} of expected, at least {percent(criterion.required)} asked"
    if level in (Level.WATCH, Level.FAIL):
        asked = criterion.required if level is Level.FAIL or criterion.target is None else criterion.target
        because = f"{share} of expected, below {percent(asked)}"
    level, because = _together(criterion, level, because, share=value / expected, together=overlap(members))
    if level in (Level.WATCH, Level.FAIL):
        troubled = _trouble(bench, members, disturbed)
        if troubled:
            level, because = Level.UNKNOWN, f"{share} of expected, but {troubled} ran into trouble on the same link"
    first = members[0]
    reading = first.measurement.reading
    nodes = dict.fromkeys(node for each in members for node in nodes_of(each.result))
    return Verdict(
        test=first.result.test.id,
        round=first.result.test.round,
        probe=first.result.test.probe,
        subject=name,
        nodes=tuple(nodes),
        metric=reading.metric,
        labels=reading.labels,
        level=level,
        kind=Kind.CAPACITY,
        because=because,
        unit=reading.unit,
        shown=bench.shown(reading.metric),
        value=value,
        expected=expected,
        required=required,
        source=f"capacity ({first.model})",
        limiting=limits(bench, members),
        evidence=tuple(each.measurement.id for each in members),
    )


def _impossible(bench: Bench, members: Sequence[Sent]) -> str:
    """Why the flows cannot have been as fast as is told, in words; empty where they can.

    No link carries more than its wire does: then the measurement or the description is wrong, and nothing passes.
    """
    load: dict[Direction, float] = {}
    for each in members:
        for way, share in bench.routes.shares_of(each.flow).items():
            load[way] = load.get(way, 0.0) + share * each.value
    together = overlap(members)
    possible = POSSIBLE if len(members) == 1 else POSSIBLE_SUM
    for way, value in load.items():
        wire = bench.fabric.links[way.link].capacity
        if value * together > possible * wire:
            told, carried = network_rate(value), network_rate(wire)
            where = direction_name(bench.fabric, way)
            return f"{told} over {where}, which carries {carried} as described: the number or the description is wrong"
    return ""


def _common(labels: Labels, tests: Sequence[Test]) -> Labels:
    """Those of ``labels`` in which the tests of a bundle agree: between two cohorts nothing is said of either."""
    asked = [dict(test.target.labels) for test in tests]
    return tuple((name, value) for name, value in labels if len({own.get(name) for own in asked}) < 2)


def _together(criterion: Criterion, level: Level, because: str, *, share: float, together: float) -> tuple[Level, str]:
    """What the sum of flows shows when they did not run at quite the same time: it may be too high.

    A sum that meets the bound only if they ran together is no pass: it is not known. One that
    meets the target only then is to be watched.
    """
    if together >= APART or level is Level.FAIL:
        return level, because
    least = share * together
    note = f"the flows ended up to {percent(1 / together - 1)} apart, their sum may be that much too high"
    between = f"between {percent(least)} and {percent(share)} of expected"
    if least < criterion.required:
        return Level.UNKNOWN, f"{between}, {percent(criterion.required)} asked: {note}; run them for more seconds"
    if level is Level.PASS and criterion.target is not None and least < criterion.target:
        return Level.WATCH, f"{between}, {percent(criterion.target)} aimed at: {note}; run them for more seconds"
    return level, f"{because}; {note}"


def _trouble(bench: Bench, members: Sequence[Sent], disturbed: dict[Direction, str]) -> str:
    """The target of a test in trouble that shared a link with ``members``, or nothing."""
    if not disturbed:
        return ""
    for each in members:
        for way in bench.routes.shares_of(each.flow):
            if way in disturbed:
                return disturbed[way]
    return ""
