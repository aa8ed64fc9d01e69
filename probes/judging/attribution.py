"""Names the directed links that explain low throughput. Pure: fabric and closed rounds in, causes out.

A link is a candidate for a low observation when it carried all or most of what was missing,
was not simply full, and never carried clearly more in any round: whatever a link once
carried, it can carry. The link that explains most is taken first, its capacity is set to what
it was seen to carry, and what that explains is put aside (max-min model in the loop). Links
that explain exactly the same observations cannot be told apart and are named together.
Refuses to guess: a low observation without candidate stays unexplained and is said to be so.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from probes.judging.bench import Bench
from probes.judging.verdict import Kind, Level, Verdict
from probes.judging.yardsticks.capacity import Sent, overlap, sent
from probes.model import FULL, ClosedRound
from topology.expect import expect
from topology.model import Basis, Criterion, Direction

PROVEN = 1.15
"""A link that once carried this much more than in a low observation is not its cause."""

TRIED = 16
"""Sets of observations that are tried as the next cause, those with most observations first."""

PART = 0.75
"""Share of what is missing that has to have crossed a candidate."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A low capacity verdict with the flows behind it."""

    verdict: Verdict
    flows: tuple[Sent, ...]
    load: Mapping[Direction, float]

    @property
    def missing(self) -> float:
        """byte/s that were expected and did not arrive, over the flows that fell short."""
        return sum(max(each.expected.value - each.value, 0.0) for each in self.flows)


@dataclass(frozen=True, slots=True)
class Cause:
    """Links that explain the same observations; one of them is at fault.

    ``carried`` is what each was seen to carry at most, in byte/s of payload. ``first`` are the
    observations it was named for, ``dragged`` further ones that it explains.
    """

    ways: tuple[Direction, ...]
    carried: Mapping[Direction, float]
    first: tuple[Observation, ...]
    dragged: tuple[Observation, ...] = ()

    @property
    def observations(self) -> tuple[Observation, ...]:
        """Everything that the cause explains."""
        return (*self.first, *self.dragged)


@dataclass(frozen=True, slots=True)
class Attribution:
    """The causes, the low observations that none explains, and the most that each link carried."""

    causes: tuple[Cause, ...] = ()
    unexplained: tuple[Observation, ...] = ()
    proven: Mapping[Direction, float] = field(default_factory=dict)


def attribute(bench: Bench, rounds: Sequence[tuple[ClosedRound, Sequence[Verdict]]]) -> Attribution:
    """Causes for every capacity verdict that is not a pass, over all ``rounds`` of a session."""
    criterion = next((each for each in bench.criteria if each.basis is Basis.CAPACITY), None)
    if criterion is None:
        return Attribution()
    low: list[Observation] = []
    proven: dict[Direction, float] = {}
    for closed, verdicts in rounds:
        seen = _seen(bench, closed, criterion)
        for way, value in seen.certain.items():
            proven[way] = max(proven.get(way, 0.0), value)
        low += _low(verdicts, seen.flows, seen.load)
    return _explain(bench, low, proven)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one round showed: its flows, what each link carried by the model, and at least for certain."""

    closed: ClosedRound
    flows: tuple[Sent, ...]
    load: Mapping[Direction, float]
    certain: Mapping[Direction, float]


def _seen(bench: Bench, closed: ClosedRound, criterion: Criterion) -> _Seen:
    """The summary of a round, remembered: findings are made anew after each round, of all rounds so far."""
    known = bench.remembered.get(closed.round.number)
    if isinstance(known, _Seen) and known.closed is closed:
        return known
    flows = sent(bench, closed, criterion)
    load = _load(bench, flows)
    made = _Seen(closed, flows, load, _certain(bench, flows, load))
    bench.remembered[closed.round.number] = made
    return made


def _load(bench: Bench, flows: Iterable[Sent]) -> dict[Direction, float]:
    found: dict[Direction, float] = {}
    for each in flows:
        for way, share in bench.routes.shares(each.flow.source, each.flow.sink).items():
            found[way] = found.get(way, 0.0) + share * each.value
    return found


def _certain(bench: Bench, flows: Iterable[Sent], load: Mapping[Direction, float]) -> dict[Direction, float]:
    """What each link is known to have carried: flows that cross it whole, or a split load that filled it.

    How a split load divided is an assumption as long as there was room to divide it otherwise.
    """
    found = {way: value for way, value in load.items() if value >= FULL * bench.capacity(way)}
    whole: dict[Direction, list[Sent]] = {}
    for each in flows:
        for way, share in bench.routes.shares(each.flow.source, each.flow.sink).items():
            if share > 1 - 1e-9:
                whole.setdefault(way, []).append(each)
    return {way: max(found.get(way, 0.0), _at_once(whole.get(way, ()))) for way in load}


def _at_once(flows: Sequence[Sent]) -> float:
    """What flows carried together at least, in byte/s: their sum, less what they may have sent one after another."""
    return overlap(flows) * sum(each.value for each in flows)


def _low(verdicts: Sequence[Verdict], flows: Sequence[Sent], load: Mapping[Direction, float]) -> list[Observation]:
    by_measurement = {each.measurement.id: each for each in flows}
    return [
        Observation(verdict, tuple(by_measurement[name] for name in verdict.evidence if name in by_measurement), load)
        for verdict in verdicts
        if verdict.kind is Kind.CAPACITY and verdict.level in (Level.FAIL, Level.WATCH)
    ]


def _candidates(bench: Bench, seen: Observation, proven: Mapping[Direction, float]) -> set[Direction]:
    """The links that could be the cause of one low observation."""
    through: dict[Direction, float] = {}
    for each in seen.flows:
        short = max(each.expected.value - each.value, 0.0)
        for way in bench.routes.shares(each.flow.source, each.flow.sink):
            through[way] = through.get(way, 0.0) + short
    return {
        way
        for way, missing in through.items()
        if missing >= PART * seen.missing
        and seen.load[way] < FULL * bench.capacity(way)
        and proven.get(way, 0.0) <= PROVEN * seen.load[way]
    }


def _explain(bench: Bench, low: Sequence[Observation], proven: Mapping[Direction, float]) -> Attribution:
    candidates = {index: _candidates(bench, seen, proven) for index, seen in enumerate(low)}
    open_ = set(candidates)
    lost: dict[Direction, float] = {}
    causes: list[Cause] = []
    while True:
        explains: dict[Direction, frozenset[int]] = {}
        for index in open_:
            for way in candidates[index] - lost.keys():
                explains[way] = explains.get(way, frozenset()) | {index}
        if not explains:
            break
        sets = sorted(set(explains.values()), key=lambda found: (-len(found), -sum(low[i].missing for i in found)))
        tried = []
        for found in sets[:TRIED]:
            ways = tuple(sorted(way for way, same in explains.items() if same == found))
            carried = {way: max(proven.get(way, 0.0), *(low[i].load[way] for i in found)) for way in ways}
            would = {**lost, **{way: bench.wire(way, value) for way, value in carried.items()}}
            dragged = frozenset(i for i in open_ - found if _explained(bench, low[i], would))
            tried.append((found | dragged, found, ways, carried))
        covered, best, ways, carried = max(tried, key=lambda each: (len(each[0]), len(each[1])))
        lost.update({way: bench.wire(way, value) for way, value in carried.items()})
        open_ -= covered
        causes.append(Cause(ways, carried, _pick(low, best), _pick(low, covered - best)))
    return Attribution(tuple(causes), _pick(low, open_), proven)


def _pick(low: Sequence[Observation], chosen: Iterable[int]) -> tuple[Observation, ...]:
    return tuple(low[index] for index in sorted(chosen))


def _explained(bench: Bench, seen: Observation, lost: Mapping[Direction, float]) -> bool:
    """Whether the observation is as good as can be once the links in ``lost`` carry only that much."""
    flows = [each.flow for each in seen.flows]
    expected = expect(bench.fabric, flows, routes=bench.routes, capacity=lost)
    value = sum(each.value for each in seen.flows)
    wanted = sum(each.value for each in expected)
    required = (seen.verdict.required or 0.0) / (seen.verdict.expected or 1.0)
    return value >= max(required, PART) * wanted
