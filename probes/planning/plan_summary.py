"""The summary of a plan: rounds, time, bytes, loads, and what is left out and why.

A pure function of fabric and rounds, so that a stored session is summed up like a new one. Lower bounds
are computed from the flows of each stage, not taken from the scheduler.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.measuring import Bundle, Demands, Round, Test
from benchconsole.probes.model.sending import ONE_STREAM, Directions
from benchconsole.probes.planning.coverage import LeftOut, PairCoverage, count_pairs, list_idle_links, list_left_nodes
from benchconsole.probes.planning.design_options import Options
from benchconsole.probes.planning.designs import DEFAULT_DESIGN, DESIGNS
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.probes.planning.layout import FlowLoad
from benchconsole.probes.planning.resource_use import MOST_TESTS, ResourceUse, find_budget, list_demands, sum_shared
from benchconsole.probes.planning.sweep_stop import find_throughput_metric
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.model.sweep import Ending, sort_values
from benchconsole.topology.routing.routes import Routes


@dataclass(frozen=True, slots=True)
class HeaviestLoad:
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
    link: HeaviestLoad | None = None
    budget: HeaviestLoad | None = None
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
    nodes: tuple[LeftOut, ...]
    links: tuple[LeftOut, ...]
    pairs: PairCoverage


def summarise(fabric: Fabric, rounds: Sequence[Round], probes: Mapping[str, Probe]) -> PlanSummary:
    """Sum up ``rounds``; a probe that is not installed any more counts as one that demands nothing."""
    classes = FlowClasses(Routes(fabric))
    by_stage: dict[str, dict[object, list[Round]]] = {}
    for each in rounds:
        turn = (each.swept.point, each.swept.repetition) if each.swept is not None else None
        by_stage.setdefault(each.stage, {}).setdefault(turn, []).append(each)
    planned = {
        stage: [_StageSums(fabric, classes, own, probes.get(own[0].probe)) for own in parts.values()]
        for stage, parts in by_stage.items()
    }
    stages = tuple(_joined(stage, parts) for stage, parts in planned.items())
    pairs = {(flow.source, flow.sink) for each in rounds for flow in each.flows}
    return PlanSummary(
        stages=stages,
        total=_total("in all", stages),
        nodes=list_left_nodes(fabric, classes, rounds, pairs),
        links=list_idle_links(fabric, classes, pairs),
        pairs=count_pairs(fabric, classes, rounds, pairs),
    )


def _joined(stage: str, parts: "Sequence[_StageSums]") -> StageSummary:
    """A stage with all its points, which share no round."""
    summaries = [each.summary() for each in parts]
    if len(summaries) == 1:
        return replace(summaries[0], sweep=_sweep(parts))
    return replace(_total(stage, summaries), sweep=_sweep(parts))


def _sweep(parts: "Sequence[_StageSums]") -> SweepSummary | None:
    found = [each.swept for part in parts for each in part.rounds if each.swept is not None]
    if not found:
        return None
    axes: dict[str, dict[str, None]] = {}
    for swept in found:
        for name, value in swept.point:
            axes.setdefault(name, {})[value] = None
    probe, ending = parts[0].probe, found[0].ending
    if ending is not None and ending.gain is not None and probe is not None:
        ending = replace(ending, metric=ending.metric or find_throughput_metric(probe))
    points = len({swept.point for swept in found})
    shown = tuple((name, sort_values(tuple(values)) or tuple(values)) for name, values in axes.items())
    return SweepSummary(shown, points, found[0].repeat, found[0].order, ending)


def _total(name: str, stages: Sequence[StageSummary]) -> StageSummary:
    def heaviest(found: Iterable[HeaviestLoad | None]) -> HeaviestLoad | None:
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


class _StageSums:
    """Sums up the rounds of one stage."""

    def __init__(self, fabric: Fabric, classes: FlowClasses, rounds: Sequence[Round], probe: Probe | None) -> None:
        self.fabric = fabric
        self.flow_classes = classes
        self.rounds = rounds
        self.probe = probe
        self.options: Options = rounds[0].tests[0].target.options if rounds[0].tests else {}
        self.demands = [list_demands(probe, [test.target for test in each.tests]) for each in rounds]

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
                wanted.writes or (self.probe.space(test.target.options) if self.probe is not None else 0.0)
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
        first = self.rounds[0].tests[0].sending if self.rounds[0].tests else ONE_STREAM
        both = first.directions is Directions.BOTH
        wide = 1 if both else max(MOST_TESTS, *(len(each.tests) for each in self.rounds))
        ledger = ResourceUse(self.flow_classes.sending(first.streams), fans_out, most=wide)
        jobs = list(self._jobs())
        if not both and all(len(job) == 1 and not job[0][0].bundle and job[0][0].target.peer for job in jobs):
            ledger.pairs([(flow.source, flow.sink) for each in self.rounds for flow in each.flows])
        else:
            for job in jobs:
                self._add(ledger, job)
        if any(wanted.alone or wanted.shared for demands in self.demands for wanted in demands):
            ledger.demand([[(test.target, wanted) for test, wanted in job] for job in jobs], self.fabric, self.options)
        bound, key = ledger.closed().bound()
        return bound, ledger.name(key)

    def _jobs(self) -> Iterable[list[tuple[Test, Demands]]]:
        """The tests that run together, with what they demand."""
        for each, demands in zip(self.rounds, self.demands, strict=True):
            jobs: dict[str, list[tuple[Test, Demands]]] = {}
            for test, wanted in zip(each.tests, demands, strict=True):
                jobs.setdefault(test.bundle or test.id, []).append((test, wanted))
            yield from jobs.values()

    def _add(self, ledger: ResourceUse, job: Sequence[tuple[Test, Demands]]) -> None:
        first = job[0][0]
        if first.target.peer is None:
            ledger.targets([first.target], network=self.probe is not None and self.probe.shape is Shape.SET)
            return
        flows = tuple(test.flows[0] for test, _ in job)
        ledger.load(FlowLoad(flows, Bundle(first.bundle, ()) if first.bundle else None))

    # -- loads

    def _heaviest_link(self) -> HeaviestLoad | None:
        best: HeaviestLoad | None = None
        for each in self.rounds:
            load, meant = self._loads(each)
            if load:
                way = max(load, key=load.__getitem__)
                if best is None or load[way] > best.share:
                    name = direction_name(self.fabric, self.flow_classes.routes.graph.direction(way))
                    best = HeaviestLoad(name, load[way], each.number, way in meant)
        return best

    def _loads(self, each: Round) -> tuple[dict[int, float], set[int]]:
        """What each directed link, by number, is offered as a share of its capacity; those that a bundle loads."""
        load: dict[int, float] = {}
        meant: set[int] = set()
        for test, flow in each.sent:
            classes = self.flow_classes.sending(None if test.bundle else test.sending.streams)
            flow_class = classes.find_class(flow.source, flow.sink)
            if flow_class is None:
                continue
            part = min(flow.demand / flow_class.nominal, 1.0) if flow.demand is not None else 1.0
            ways = classes.ways(flow.source, flow.sink)
            for way, share in ways.items():
                load[way] = load.get(way, 0.0) + part * share
            if test.bundle:
                meant.update(ways)
        return load, meant

    def _heaviest_budget(self) -> HeaviestLoad | None:
        best: HeaviestLoad | None = None
        for each, demands in zip(self.rounds, self.demands, strict=True):
            for name, amount in sum_shared(demands).items():
                share = amount / find_budget(self.fabric, name, self.options)
                if best is None or share > best.share:
                    best = HeaviestLoad(name, share, each.number)
        return best
