"""Owns the plan: fabric, suite and selection to ordered rounds, before anything is sent.

Pure, so that ``--dry-run`` is printing it. Each stage is laid out by its design and packed so
that nothing is loaded beyond what it carries; stages never share a round.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from probes.api import Probe, Shape
from probes.errors import PlanError
from probes.model import Bundle, Round, Target, Test
from probes.planning.caps import BITRATE, held
from probes.planning.designs import DEFAULT_DESIGN, DESIGNS
from probes.planning.kinds import Kinds
from probes.planning.layout import Layout, Request
from probes.planning.ledger import MOST_TESTS, Ledger
from probes.planning.options import Options, unknown
from probes.planning.packing import fewest, first_fit
from probes.planning.sets import SET_OPTIONS, sets
from topology.model import Fabric, NodeId, Stage, Suite
from topology.routing import Routes
from topology.units import Unit, UnitError, digits3, parse

SHARED_OPTIONS: Options = MappingProxyType({"licences": 1})
"""What every stage may set: how many tests may hold a licence at once."""

DESIGN_OPTIONS: Options = MappingProxyType(
    {
        **{name: value for design in DESIGNS.values() for name, value in design.options.items()},
        **SET_OPTIONS,
        **SHARED_OPTIONS,
    }
)
"""Every option that planning reads, with its default; a design refuses those of another."""


def plan(
    fabric: Fabric,
    suite: Suite,
    probes: Mapping[str, Probe],
    *,
    nodes: Sequence[NodeId] | None = None,
    first: int = 1,
    most: int = MOST_TESTS,
) -> tuple[Round, ...]:
    """Rounds of at most ``most`` tests for every stage of ``suite`` on ``nodes`` (None: all), numbered from ``first``.

    Raises PlanError for an unknown probe, design or option, a demand that cannot be met, or when
    nothing is left to run.
    """
    chosen = set(fabric.nodes if nodes is None else nodes)
    routes = Routes(fabric)
    kinds = Kinds(routes, caps=fabric.caps)
    rounds: list[Round] = []
    for stage in suite.stages:
        if stage.probe not in probes:
            raise unknown(f"probe of suite {suite.name!r}", stage.probe, probes)
        members = [node for node in stage.nodes if node in chosen]
        planner = _Stage(fabric, probes[stage.probe], stage, kinds, most)
        rounds += planner.rounds(members, first + len(rounds)) if members else []
    if not rounds:
        raise PlanError(f"suite {suite.name!r} has nothing to run on the selected nodes")
    return tuple(held(fabric, rounds, routes))


@dataclass(frozen=True, slots=True)
class _Jobs:
    """The targets of each job, its bundle, and the round (from 0) that it was put in."""

    targets: Sequence[tuple[Target, ...]]
    bundles: Sequence[Bundle | None]
    places: Sequence[int]


class _Stage:
    """Plans one stage."""

    def __init__(self, fabric: Fabric, probe: Probe, stage: Stage, kinds: Kinds, most: int) -> None:
        self.fabric = fabric
        self.probe = probe
        self.kinds = kinds
        self.most = most
        self.given = stage.options
        self.options: Options = MappingProxyType({**probe.options, **stage.options})
        streams = self.options.get("streams")
        self.streams = streams if isinstance(streams, int) and streams > 0 else None
        if self.options.get(BITRATE):
            try:
                parse(str(self.options[BITRATE]), Unit.BYTE_RATE)
            except UnitError as error:
                raise PlanError(f"option {BITRATE} of {probe.name}: {error}") from error

    def rounds(self, members: Sequence[NodeId], first: int) -> list[Round]:
        """The rounds of the stage on ``members``, numbered from ``first``."""
        if self.probe.shape is not Shape.PAIR:
            return self._without_design(members, first)
        name = str(self.options.get("design") or DEFAULT_DESIGN)
        if name not in DESIGNS:
            raise unknown("design", name, DESIGNS)
        design = DESIGNS[name]
        self._refuse_unread({**design.options, "design": name}, f"option of {self.probe.name} {name}")
        options = MappingProxyType({**design.options, **self.options})
        request = Request(self.fabric, members, self.kinds, options, self.given)
        rounds: list[Round] = []
        for layout in design.lay_out(request):
            jobs = self._placed(layout)
            rounds += self._numbered(jobs, f"{self.probe.name} {name}", layout.because, first + len(rounds))
        return rounds

    def _refuse_unread(self, read: Options, what: str) -> None:
        """Refuse an option that neither the probe nor the planning of this stage reads: it would be ignored."""
        known = {*self.probe.options, *read, *SHARED_OPTIONS}
        for option in self.given:
            if option not in known:
                raise unknown(what, option, known)

    def _placed(self, layout: Layout) -> _Jobs:
        kinds = self.kinds.sending(1 if layout.single else self.streams)
        ledger = Ledger(kinds, layout.fans_out, layout.apart, self.most)
        nodes, options = self.fabric.nodes, self.options
        targets: list[tuple[Target, ...]] = [
            (Target(nodes[source], nodes[sink], options),) for source, sink in layout.pairs
        ]
        if layout.loads:
            for source, sink in layout.pairs:
                raise PlanError(f"a layout of both lone pairs ({source}>{sink}) and loads, expected one of them")
            for load in layout.loads:
                ledger.load(load)
                own: Options = MappingProxyType({**options, **load.options}) if load.options else options
                targets.append(tuple(Target(nodes[flow.source], nodes[flow.sink], own) for flow in load.flows))
        else:
            ledger.pairs(layout.pairs)
        bundles = [None] * len(layout.pairs) + [load.bundle for load in layout.loads]
        return _Jobs(targets, bundles, self._places(ledger, targets, any_order=layout.any_order))

    def _places(self, ledger: Ledger, targets: Sequence[tuple[Target, ...]], *, any_order: bool) -> list[int]:
        """The round of each job, with what its tests demand besides links."""
        plain = (
            type(self.probe).demands is Probe.demands and not self.probe.demands(targets[0][0]).alone
            if targets
            else True
        )
        if not plain:
            demands = [[(target, self.probe.demands(target)) for target in job] for job in targets]
            ledger.demand(demands, self.fabric, self.options)
        uses = ledger.closed()
        return fewest(uses) if any_order else first_fit(uses, range(len(uses.jobs)))

    def _without_design(self, members: Sequence[NodeId], first: int) -> list[Round]:
        """Rounds of tests on single nodes, or on sets of them."""
        nodes, options = self.fabric.nodes, self.options
        own: Options = SET_OPTIONS if self.probe.shape is Shape.SET else {}
        self._refuse_unread(own, f"option of {self.probe.name}")
        if self.probe.shape is Shape.SET:
            made = sets(self.fabric, members, {**own, **options})
            targets = [(Target(nodes[each[0]], None, options, tuple(nodes[node] for node in each)),) for each in made]
        else:
            targets = [(Target(nodes[node], None, options),) for node in members]
        ledger = Ledger(self.kinds, most=self.most)
        ledger.targets([job[0] for job in targets], network=self.probe.shape is Shape.SET)
        places = self._places(ledger, targets, any_order=False)
        jobs = _Jobs(targets, [None] * len(targets), places)
        return self._numbered(jobs, self.probe.name, self.probe.summary, first)

    def _numbered(self, jobs: _Jobs, stage: str, because: str, first: int) -> list[Round]:
        """The rounds that the jobs were put in, in order; each keeps the order of its jobs."""
        seconds = self.probe.estimate(self.options)
        tests: list[list[Test]] = [[] for _ in range(max(jobs.places, default=-1) + 1)]
        bundles: list[list[Bundle]] = [[] for _ in tests]
        name = self.probe.name
        for targets, bundle, place in zip(jobs.targets, jobs.bundles, jobs.places, strict=True):
            number, into = first + place, tests[place]
            if bundle is not None:
                bundles[place].append(bundle)
            for target in targets:
                key = test_id(number, name, len(into), target)
                into.append(Test(key, name, target, number, bundle.name if bundle is not None else ""))
        return [
            Round(first + at, stage, name, tuple(found), seconds, because, tuple(bundles[at]))
            for at, found in enumerate(tests)
        ]


def test_id(number: int, probe: str, index: int, target: Target) -> str:
    """What a test is called: unique in a plan, and told apart by eye."""
    return f"{number:04d}/{probe}/{index:04d}/{target.key}"


def renumbered(rounds: Iterable[Round], first: int) -> Iterator[Round]:
    """The same rounds under the numbers from ``first`` on, with the ids of their tests."""
    for number, each in enumerate(rounds, first):
        tests = tuple(
            replace(test, id=test_id(number, test.probe, index, test.target), round=number)
            for index, test in enumerate(each.tests)
        )
        yield replace(each, number=number, tests=tests)


def rerun(tests: Sequence[Test], rounds: Sequence[Round], *, first: int) -> tuple[Round, ...]:
    """The rounds that hold any of ``tests``, to be run again under new numbers.

    A bundle is repeated whole, for its sum is what is judged; tests that stand alone are
    repeated alone.
    """
    wanted = {test.id for test in tests}
    again: list[Round] = []
    for each in rounds:
        names = {test.bundle for test in each.tests if test.id in wanted and test.bundle}
        kept = tuple(test for test in each.tests if test.id in wanted or test.bundle in names)
        if kept:
            bundles = tuple(bundle for bundle in each.bundles if bundle.name in names)
            again.append(replace(each, tests=kept, bundles=bundles))
    return tuple(renumbered(again, first))


def describe(rounds: Sequence[Round]) -> str:
    """One line: how many rounds, tests and minutes."""
    tests = sum(len(each.tests) for each in rounds)
    minutes = sum(each.seconds for each in rounds) / 60
    return f"{len(rounds)} rounds, {tests:,} tests, about {digits3(max(minutes, 0.1))} min"
