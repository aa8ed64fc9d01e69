"""The plan: fabric, suite and selection to ordered rounds, before anything is sent.

Pure, so that ``--dry-run`` prints it. Each stage is laid out by its design and packed so
that nothing is loaded beyond what it carries; stages, and points of a sweep, never share a round.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Bundle, Round, Target, Test
from benchconsole.probes.model.options import Given
from benchconsole.probes.model.sending import ONE_STREAM, Directions, Sending
from benchconsole.probes.planning.cap_exclusion import withhold
from benchconsole.probes.planning.caps import hold_to_caps
from benchconsole.probes.planning.clients import choose_flows, take_first
from benchconsole.probes.planning.design_options import Options, make_unknown_error
from benchconsole.probes.planning.designs import DEFAULT_DESIGN, DESIGNS
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout, FlowLoad
from benchconsole.probes.planning.node_groups import SET_OPTIONS, make_sets
from benchconsole.probes.planning.packing import first_fit
from benchconsole.probes.planning.resource_use import MOST_TESTS, ResourceUse, list_demands
from benchconsole.probes.planning.shortest_schedule import find_shortest
from benchconsole.probes.planning.sweep_points import (
    Point,
    SweepTurn,
    format_point,
    format_stage_name,
    label_tests,
    list_turns,
    make_swept,
)
from benchconsole.topology.model.fabric import Fabric, NodeId, Stage, Suite
from benchconsole.topology.model.sweep import CLIENTS, Sweep
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.units import digits3

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
    cohorts: Mapping[str, str] | None = None,
) -> tuple[Round, ...]:
    """Rounds of at most ``most`` tests for every stage of ``suite`` on ``nodes`` (None: all), numbered from ``first``.

    ``cohorts`` are labels of the whole session, by dimension. What nothing can hold to the caps of the file is
    left out, as ``withhold`` says. Raises PlanError for an unknown probe, design or option, a demand that
    cannot be met, or when nothing is left to run.
    """
    chosen = set(fabric.nodes if nodes is None else nodes)
    suite, left = withhold(fabric, suite, probes, nodes=chosen)
    routes = Routes(fabric)
    classes = FlowClasses(routes, caps=fabric.caps)
    rounds: list[Round] = []
    named: Counter[str] = Counter()
    for stage in suite.stages:
        if stage.probe not in probes:
            raise make_unknown_error(f"probe of suite {suite.name!r}", stage.probe, probes)
        members = [node for node in stage.nodes if node in chosen]
        planner = _StagePlanner(fabric, probes[stage.probe], stage, classes, most)
        if not members:
            continue
        own = planner.rounds(members, first + len(rounds))
        name = planner.name if stage.sweep is None else format_stage_name(planner.name, stage.sweep)
        named[name] += 1  # two stages of one name would be taken for a test and its repetition
        name = f"{name} ({named[name]})" if named[name] > 1 else name
        rounds += own if name == planner.name else (replace(each, stage=name) for each in own)
    if not rounds:
        why = "".join(f"; {each}" for each in left)
        raise PlanError(f"suite {suite.name!r} has nothing to run on the selected nodes{why}")
    return label_tests(tuple(hold_to_caps(fabric, rounds, routes, probes)), cohorts or {})


@dataclass(frozen=True, slots=True)
class _Jobs:
    """The targets of each job, what they send, its bundle, and the round (from 0) that it was put in."""

    targets: Sequence[tuple[Target, ...]]
    sendings: Sequence[Sending]
    bundles: Sequence[Bundle | None]
    places: Sequence[int]


class _StagePlanner:
    """Plans one stage, or one point of its sweep: then ``clients`` may say how many nodes or flows run at once."""

    def __init__(
        self, fabric: Fabric, probe: Probe, stage: Stage, classes: FlowClasses, most: int, *, clients: int | None = None
    ) -> None:
        self.fabric = fabric
        self.probe = probe
        self.stage = stage
        self.flow_classes = classes
        self.clients = clients
        self.given = stage.options
        self.options: Options = MappingProxyType({**probe.options, **stage.options})
        self.sending = probe.sending(self.options) if probe.shape is Shape.PAIR else ONE_STREAM
        # A test that sends both ways has the fabric to itself: packing heeds one direction of a flow.
        self.most = 1 if self.sending.directions is Directions.BOTH else most

    @property
    def name(self) -> str:
        """What the rounds of the stage are called: its probe, with the design that it is planned with."""
        varied = self.stage.sweep is not None and any(axis.name == "design" for axis in self.stage.sweep.axes)
        if self.probe.shape is not Shape.PAIR or varied:
            return self.probe.name
        return f"{self.probe.name} {self.options.get('design') or DEFAULT_DESIGN}"

    def rounds(self, members: Sequence[NodeId], first: int) -> list[Round]:
        """The rounds of the stage on ``members``, numbered from ``first``; those of every point of its sweep."""
        sweep = self.stage.sweep
        return self._once(members, first) if sweep is None else list(self._swept(sweep, members, first))

    def _swept(self, sweep: Sweep, members: Sequence[NodeId], first: int) -> Iterator[Round]:
        """The rounds of every repetition of every point, those of a point laid out once."""
        number, made = first, dict[Point, list[Round]]()
        for turn in list_turns(sweep):
            if turn.point not in made:
                made[turn.point] = self._at(turn).rounds(members, 1)
            point = make_swept(sweep, turn, first)
            if not made[turn.point]:
                raise PlanError(
                    f"{self.name} {format_point(point)}: found nothing to run, expected tests at every point"
                )
            for each in renumber(made[turn.point], number):
                yield replace(each, because=f"{self.probe.name} {format_point(point)}; {each.because}", swept=point)
            number += len(made[turn.point])

    def _at(self, turn: SweepTurn) -> "_StagePlanner":
        """The stage at one point."""
        options = MappingProxyType({**self.given, **turn.options(self.probe.options)})
        stage = Stage(self.stage.probe, self.stage.nodes, options)
        clients = turn.clients(self.probe.options)
        return _StagePlanner(self.fabric, self.probe, stage, self.flow_classes, self.most, clients=clients)

    def _once(self, members: Sequence[NodeId], first: int) -> list[Round]:
        """The rounds of one point, or of a stage without a sweep."""
        if self.probe.shape is not Shape.PAIR:
            return self._without_design(members, first)
        name = str(self.options.get("design") or DEFAULT_DESIGN)
        if name not in DESIGNS:
            raise make_unknown_error("design", name, DESIGNS)
        design = DESIGNS[name]
        self._refuse_unread({**design.options, "design": name}, f"option of {self.probe.name} {name}")
        title = f"{self.probe.name} {name}"
        options = Given(title, {**design.options, **self.options})
        layouts = design.lay_out(
            DesignRequest(self.fabric, members, self.flow_classes, options, self.given, self.probe.sending_options)
        )
        if self.clients is not None:
            flows = choose_flows(self.fabric, members, layouts, self.clients)
            targets = [self._target(flow.source, flow.sink, self._own(port)) for flow, port in flows]
            return self._together(targets, title, first)
        rounds: list[Round] = []
        for layout in layouts:
            rounds += self._numbered(self._placed(layout), title, layout.because, first + len(rounds))
        return rounds

    def _refuse_unread(self, read: Options, what: str) -> None:
        """Refuse an option that neither the probe nor the planning of this stage reads: it would be ignored."""
        known = {*self.probe.options, *read, *SHARED_OPTIONS}
        for option in self.given:
            if option not in known:
                raise make_unknown_error(what, option, known)

    def _placed(self, layout: FlowLayout) -> _Jobs:
        classes = self.flow_classes.sending(1 if layout.single else self.sending.streams)
        ledger = ResourceUse(classes, layout.fans_out, layout.apart, self.most)
        targets: list[tuple[Target, ...]] = [(self._target(*pair, self.options),) for pair in layout.pairs]
        sendings = [self.sending] * len(targets)
        if layout.loads:
            for source, sink in layout.pairs:
                raise PlanError(f"a layout of both lone pairs ({source}>{sink}) and loads, expected one of them")
            for load in layout.loads:
                self._refuse_turned(load)
                ledger.load(load)
                own = self._own(load.port)
                sendings.append(self._sending_of(own))
                targets.append(tuple(self._target(flow.source, flow.sink, own) for flow in load.flows))
        else:
            ledger.pairs(layout.pairs)
        bundles = [None] * len(layout.pairs) + [load.bundle for load in layout.loads]
        places = self._places(ledger, targets, any_order=layout.any_order)
        return _Jobs(targets, sendings, bundles, places)

    def _target(self, source: NodeId, sink: NodeId, options: Options) -> Target:
        """The test of a flow from ``source`` to ``sink``; where the peer is told to send, the sink runs the client."""
        turned = self.sending.directions is Directions.REVERSED
        here, there = (sink, source) if turned else (source, sink)
        return Target(self.fabric.nodes[here], self.fabric.nodes[there], options)

    def _refuse_turned(self, load: FlowLoad) -> None:
        """Flows that fill an element go one way, and a port steers what is sent from it."""
        names, directions = self.probe.sending_options, self.sending.directions
        if directions is Directions.BOTH or (directions is Directions.REVERSED and load.port):
            option = names.both if directions is Directions.BOTH else names.reverse
            found = f"{option}={self.options[option]}, expected 0" if option else f"a test that sends {directions}"
            raise PlanError(f"{self.probe.name} {self.options.get('design') or DEFAULT_DESIGN}: found {found}")

    def _own(self, port: int) -> Options:
        """The options of the stage; with ``port``, those of one stream that is sent from it."""
        names = self.probe.sending_options
        changed = {names.source_port: port, **({names.streams: 1} if names.streams else {})}
        return MappingProxyType({**self.options, **changed}) if port else self.options

    def _sending_of(self, options: Options) -> Sending:
        return self.sending if options is self.options else self.probe.sending(options)

    def _together(self, targets: Sequence[Target], stage: str, first: int) -> list[Round]:
        """One round of tests that load together what they share: their sum is judged, none is repeated alone."""
        if len(targets) > self.most:
            raise PlanError(f"{CLIENTS}={len(targets):,}: expected at most {self.most:,} tests at once")
        shared = ResourceUse(self.flow_classes, most=self.most)
        shared.at_once(list_demands(self.probe, targets), self.fabric, self.options)
        name = f"{CLIENTS}={len(targets)}"
        tests = tuple(
            Test(
                make_test_id(first, self.probe.name, index, target), self.probe.name, target, first, name,
                self._sending_of(target.options),
            )
            for index, target in enumerate(targets)
        )  # fmt: skip
        because = f"{len(targets):,} at once, spread over the switches"
        return [Round(first, stage, self.probe.name, tests, self.probe.estimate(self.options), because)]

    def _places(self, ledger: ResourceUse, targets: Sequence[tuple[Target, ...]], *, any_order: bool) -> list[int]:
        """The round of each job, with what its tests demand besides links."""
        demands = list_demands(self.probe, [target for job in targets for target in job])
        if any(wanted.alone or wanted.shared for wanted in demands):
            each = iter(demands)
            ledger.demand([[(target, next(each)) for target in job] for job in targets], self.fabric, self.options)
        uses = ledger.closed()
        return find_shortest(uses) if any_order else first_fit(uses, range(len(uses.jobs)))

    def _without_design(self, members: Sequence[NodeId], first: int) -> list[Round]:
        """Rounds of tests on single nodes, or on sets of them."""
        nodes, options = self.fabric.nodes, self.options
        own: Options = SET_OPTIONS if self.probe.shape is Shape.SET else {}
        if self.clients is not None:
            own = {}
            members = take_first(self.fabric, members, self.clients)
        self._refuse_unread(own, f"option of {self.probe.name}")
        if self.clients is not None and self.probe.shape is Shape.NODE:
            return self._together([Target(nodes[node], None, options) for node in members], self.probe.name, first)
        if self.probe.shape is Shape.SET and self.clients is not None:
            targets = [(Target(nodes[members[0]], None, options, tuple(nodes[node] for node in members)),)]
        elif self.probe.shape is Shape.SET:
            made = make_sets(self.fabric, members, {**own, **options})
            targets = [(Target(nodes[each[0]], None, options, tuple(nodes[node] for node in each)),) for each in made]
        else:
            targets = [(Target(nodes[node], None, options),) for node in members]
        ledger = ResourceUse(self.flow_classes, most=self.most)
        ledger.targets([job[0] for job in targets], network=self.probe.shape is Shape.SET)
        places = self._places(ledger, targets, any_order=False)
        jobs = _Jobs(targets, [self.sending] * len(targets), [None] * len(targets), places)
        return self._numbered(jobs, self.probe.name, self.probe.summary, first)

    def _numbered(self, jobs: _Jobs, stage: str, because: str, first: int) -> list[Round]:
        """The rounds that the jobs were put in, in order; each keeps the order of its jobs."""
        seconds = self.probe.estimate(self.options)
        tests: list[list[Test]] = [[] for _ in range(max(jobs.places, default=-1) + 1)]
        bundles: list[list[Bundle]] = [[] for _ in tests]
        name = self.probe.name
        every = zip(jobs.targets, jobs.sendings, jobs.bundles, jobs.places, strict=True)
        for targets, sending, bundle, place in every:
            number, into = first + place, tests[place]
            if bundle is not None:
                bundles[place].append(bundle)
            for target in targets:
                key = make_test_id(number, name, len(into), target)
                into.append(Test(key, name, target, number, bundle.name if bundle is not None else "", sending))
        return [
            Round(first + at, stage, name, tuple(found), seconds, because, tuple(bundles[at]))
            for at, found in enumerate(tests)
        ]


def make_test_id(number: int, probe: str, index: int, target: Target) -> str:
    """What a test is called: unique in a plan, and told apart by eye."""
    return f"{number:04d}/{probe}/{index:04d}/{target.key}"


def renumber(rounds: Iterable[Round], first: int) -> Iterator[Round]:
    """The same rounds under the numbers from ``first`` on, with the ids of their tests."""
    for number, each in enumerate(rounds, first):
        tests = tuple(
            replace(test, id=make_test_id(number, test.probe, index, test.target), round=number)
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
    return tuple(renumber(again, first))


def format_plan(rounds: Sequence[Round]) -> str:
    """One line: how many rounds, tests and minutes."""
    tests = sum(len(each.tests) for each in rounds)
    minutes = sum(each.seconds for each in rounds) / 60
    return f"{len(rounds)} rounds, {tests:,} tests, about {digits3(max(minutes, 0.1))} min"
