"""Owns what is said of a plan before anybody agrees to it: rounds, time, bytes, loads, and what is left out and why.

A pure function of fabric and rounds, so it tells of stored sessions as of new ones. Lower bounds
are computed anew from the flows of each stage, not taken from whoever scheduled it. Refuses to print.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from probes.api import Probe, Shape
from probes.model import BIDIR, Bundle, Demands, Round, Target, Test
from probes.planning.coverage import Left, Met, idle_links, left_nodes, met_pairs
from probes.planning.designs import DEFAULT_DESIGN, DESIGNS
from probes.planning.ending import throughput
from probes.planning.kinds import Kinds
from probes.planning.layout import Load
from probes.planning.ledger import MOST_TESTS, Ledger, budget
from probes.planning.options import Options
from topology.elements import direction_name
from topology.model import Fabric, Flow
from topology.routing import Routes
from topology.sweep import Ending, ascending
from topology.units import Unit, UnitError, parse


@dataclass(frozen=True, slots=True)
class Heaviest:
    """What is loaded most: ``share`` of what it can carry, or of its budget, in ``round``.

    ``meant``: by the tests of one bundle, which fill it on purpose; what is beyond 1 waits.
    """

    element: str
    share: float
    round: int
    meant: bool = False


@dataclass(frozen=True, slots=True)
class SweepSummary:
    """What a stage varies: ``axes`` with their values as text, so many ``points``, each run ``repeat`` times.

    ``order`` is in words; ``ending`` is when it may end early, with the metric that is then compared.
    """

    axes: tuple[tuple[str, tuple[str, ...]], ...]
    points: int
    repeat: int
    order: str
    ending: Ending | None = None


@dataclass(frozen=True, slots=True)
class StageSummary:
    """One stage, or all of them. ``bound`` is the fewest rounds possible, because of ``bound_by`` (of all: the sum).

    ``seconds`` is the length, ``writes`` bytes written and removed again. ``link`` and ``budget``
    are the heaviest loads; None where nothing is sent, or nothing shared. ``sweep`` is what it varies.
    """

    stage: str
    rounds: int
    tests: int
    bound: int
    bound_by: str
    seconds: float
    writes: float
    link: Heaviest | None = None
    budget: Heaviest | None = None
    sweep: SweepSummary | None = None

    @property
    def ratio(self) -> float:
        """Rounds over the lower bound: 1 cannot be beaten."""
        return self.rounds / self.bound if self.bound else 1.0


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """A plan summed up. ``nodes`` and ``links`` are those that it leaves out, ``pairs`` says how many meet."""

    stages: tuple[StageSummary, ...]
    total: StageSummary
    nodes: tuple[Left, ...]
    links: tuple[Left, ...]
    pairs: Met


def summarise(fabric: Fabric, rounds: Sequence[Round], probes: Mapping[str, Probe]) -> PlanSummary:
    """Sum up ``rounds``; a probe that is not installed any more counts as one that demands nothing."""
    kinds = Kinds(Routes(fabric))
    by_stage: dict[str, dict[object, list[Round]]] = {}
    for each in rounds:
        turn = (each.swept.point, each.swept.repetition) if each.swept is not None else None
        by_stage.setdefault(each.stage, {}).setdefault(turn, []).append(each)
    planned = {
        stage: [_Stage(fabric, kinds, own, probes.get(own[0].probe)) for own in parts.values()]
        for stage, parts in by_stage.items()
    }
    stages = tuple(_joined(stage, parts) for stage, parts in planned.items())
    flows = (flows for parts in planned.values() for each in parts for flows in each.flows)
    pairs = {(flow.source, flow.sink) for together in flows for flow in together}
    return PlanSummary(
        stages=stages,
        total=_total("in all", stages),
        nodes=left_nodes(fabric, kinds, rounds, pairs),
        links=idle_links(fabric, kinds, pairs),
        pairs=met_pairs(fabric, kinds, rounds, pairs),
    )


def _joined(stage: str, parts: "Sequence[_Stage]") -> StageSummary:
    """A stage with all its points, which share no round."""
    summaries = [each.summary() for each in parts]
    if len(summaries) == 1:
        return replace(summaries[0], sweep=_sweep(parts))
    return replace(_total(stage, summaries), sweep=_sweep(parts))


def _sweep(parts: "Sequence[_Stage]") -> SweepSummary | None:
    found = [each.swept for part in parts for each in part.rounds if each.swept is not None]
    if not found:
        return None
    axes: dict[str, dict[str, None]] = {}
    for swept in found:
        for name, value in swept.point:
            axes.setdefault(name, {})[value] = None
    probe, ending = parts[0].probe, found[0].ending
    if ending is not None and ending.gain is not None and probe is not None:
        ending = replace(ending, metric=ending.metric or throughput(probe))
    points = len({swept.point for swept in found})
    shown = tuple((name, ascending(tuple(values)) or tuple(values)) for name, values in axes.items())
    return SweepSummary(shown, points, found[0].repeat, found[0].order, ending)


def _total(name: str, stages: Sequence[StageSummary]) -> StageSummary:
    def heaviest(found: Iterable[Heaviest | None]) -> Heaviest | None:
        return max((each for each in found if each is not None), key=lambda each: each.share, default=None)

    return StageSummary(
        stage=name,
        rounds=sum(each.rounds for each in stages),
        tests=sum(each.tests for each in stages),
        bound=sum(each.bound for each in stages),
        bound_by="",
        seconds=sum(each.seconds for each in stages),
        writes=sum(each.writes for each in stages),
        link=heaviest(each.link for each in stages),
        budget=heaviest(each.budget for each in stages),
    )


class _Stage:
    """Sums up the rounds of one stage."""

    def __init__(self, fabric: Fabric, kinds: Kinds, rounds: Sequence[Round], probe: Probe | None) -> None:
        self.fabric = fabric
        self.kinds = kinds
        self.rounds = rounds
        self.probe = probe
        self.options: Options = rounds[0].tests[0].target.options if rounds[0].tests else {}
        self.flows = [each.flows for each in rounds]
        self.demands = [self._demands(each) for each in rounds]
        self._sending: dict[int | None, Kinds] = {}

    def _demands(self, each: Round) -> list[Demands]:
        """What each test demands besides links."""
        if self.probe is None:
            return [Demands()] * len(each.tests)
        if type(self.probe).demands is Probe.demands and each.tests:
            return [self.probe.demands(each.tests[0].target)] * len(each.tests)
        return [self.probe.demands(test.target) for test in each.tests]

    def summary(self) -> StageSummary:
        """The line of the stage."""
        bound, bound_by = self._bound()
        return StageSummary(
            stage=self.rounds[0].stage,
            rounds=len(self.rounds),
            tests=sum(len(each.tests) for each in self.rounds),
            bound=bound,
            bound_by=bound_by,
            seconds=sum(each.seconds for each in self.rounds),
            writes=sum(
                wanted.writes or _size(test.target)
                for each, demands in zip(self.rounds, self.demands, strict=True)
                for test, wanted in zip(each.tests, demands, strict=True)
            ),
            link=self._heaviest_link(),
            budget=self._heaviest_budget(),
        )

    def _bound(self) -> tuple[int, str]:
        """The fewest rounds that the tests of the stage need, and what asks for them."""
        design = str(self.options.get("design") or DEFAULT_DESIGN)
        fans_out = design in DESIGNS and DESIGNS[design].fans_out
        wide = 1 if self.options.get(BIDIR) else max(MOST_TESTS, *(len(each.tests) for each in self.rounds))
        ledger = Ledger(self.kinds.sending(self._streams()), fans_out, most=wide)
        jobs = list(self._jobs())
        if all(len(job) == 1 and not job[0][0].bundle and job[0][0].target.peer for job in jobs):
            ends = (job[0][0].target.ends for job in jobs)
            ledger.pairs([(each[0].id, each[1].id) for each in ends if each is not None])
        else:
            for job in jobs:
                self._add(ledger, job)
        if any(wanted.alone or wanted.shared for demands in self.demands for wanted in demands):
            ledger.demand([[(test.target, wanted) for test, wanted in job] for job in jobs], self.fabric, self.options)
        bound, key = ledger.closed().bound()
        return bound, ledger.name(key)

    def _streams(self) -> int | None:
        streams = self.options.get("streams")
        return streams if isinstance(streams, int) and streams > 0 else None

    def _jobs(self) -> Iterable[list[tuple[Test, Demands]]]:
        """The tests that run together, with what they demand."""
        for each, demands in zip(self.rounds, self.demands, strict=True):
            jobs: dict[str, list[tuple[Test, Demands]]] = {}
            for test, wanted in zip(each.tests, demands, strict=True):
                jobs.setdefault(test.bundle or test.id, []).append((test, wanted))
            yield from jobs.values()

    def _add(self, ledger: Ledger, job: Sequence[tuple[Test, Demands]]) -> None:
        first = job[0][0]
        if first.target.peer is None:
            ledger.targets([first.target], network=self.probe is not None and self.probe.shape is Shape.SET)
            return
        ends = (test.target.ends for test, _ in job)
        flows = tuple(Flow(each[0].id, each[1].id) for each in ends if each is not None)
        ledger.load(Load(flows, Bundle(first.bundle, ()) if first.bundle else None))

    # -- loads

    def _heaviest_link(self) -> Heaviest | None:
        best: Heaviest | None = None
        for each, flows in zip(self.rounds, self.flows, strict=True):
            load, meant = self._loads(each, flows)
            if load:
                way = max(load, key=load.__getitem__)
                if best is None or load[way] > best.share:
                    name = direction_name(self.fabric, self.kinds.routes.graph.direction(way))
                    best = Heaviest(name, load[way], each.number, way in meant)
        return best

    def _loads(self, each: Round, flows: Sequence[Flow]) -> tuple[dict[int, float], set[int]]:
        """What each directed link, by number, is offered as a share of its capacity; those that a bundle loads."""
        load: dict[int, float] = {}
        meant: set[int] = set()
        sending = [test for test in each.tests if test.target.peer is not None]
        for test, flow in zip(sending, flows, strict=True):
            kinds = self._kinds_of(test)
            kind = kinds.kind(flow.source, flow.sink)
            if kind is None:
                continue
            part = min(flow.demand / kind.nominal, 1.0) if flow.demand is not None else 1.0
            ways = kinds.ways(flow.source, flow.sink)
            for way, share in ways.items():
                load[way] = load.get(way, 0.0) + part * share
            if test.bundle:
                meant.update(ways)
        return load, meant

    def _kinds_of(self, test: Test) -> Kinds:
        streams = test.target.options.get("streams")
        wanted = streams if isinstance(streams, int) and streams > 0 and not test.bundle else None
        return self._sending.setdefault(wanted, self.kinds.sending(wanted))

    def _heaviest_budget(self) -> Heaviest | None:
        best: Heaviest | None = None
        for each, demands in zip(self.rounds, self.demands, strict=True):
            taken: dict[str, float] = {}
            for wanted in demands:
                for name, amount in wanted.shared.items():
                    taken[name] = taken.get(name, 0.0) + amount
            for name, amount in taken.items():
                share = amount / budget(self.fabric, name, self.options)
                if best is None or share > best.share:
                    best = Heaviest(name, share, each.number)
        return best


def _size(target: Target) -> float:
    """Bytes that a probe with a scratch directory is given to write, where it does not say what it writes."""
    size = target.options.get("size")
    if not isinstance(size, str) or not size or "scratch" not in target.options:
        return 0.0
    try:
        return parse(size, Unit.BYTE)
    except UnitError:
        return 0.0
