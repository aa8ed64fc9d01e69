"""The plan: fabric, suite and selection to ordered rounds, before anything is sent.

Pure, so that ``--dry-run`` prints it. Each stage is laid out by its design and packed so that nothing is loaded beyond
its limit; points of a sweep never share a round, and stages only where the file says that they run at once.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Bundle, LeftOutPoint, Round, Target, Test
from benchconsole.probes.model.omission import Omission
from benchconsole.probes.model.options import Given
from benchconsole.probes.model.round_bounds import MOST_TESTS
from benchconsole.probes.model.sending import ONE_STREAM, Directions, Sending
from benchconsole.probes.planning.caps import hold_to_caps, withhold
from benchconsole.probes.planning.design_options import Options, make_unknown_error
from benchconsole.probes.planning.designs import DEFAULT_DESIGN, DESIGNS
from benchconsole.probes.planning.flow_classes import FlowClasses
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout, FlowLoad
from benchconsole.probes.planning.packing import find_shortest, first_fit
from benchconsole.probes.planning.participants import SET_OPTIONS, choose_flows, make_sets, take_first
from benchconsole.probes.planning.resource_use import ResourceUse, WidthError, list_demands
from benchconsole.probes.planning.stage_legs import OPTION as LEG
from benchconsole.probes.planning.stage_legs import PEER_OPTION as PEER_LEG
from benchconsole.probes.planning.stage_legs import choose_legs
from benchconsole.probes.planning.stage_network import OPTION as NETWORK
from benchconsole.probes.planning.stage_network import StageNetworks
from benchconsole.probes.planning.stages_at_once import list_simultaneous, merge_rounds
from benchconsole.probes.planning.sweeps import (
    Point,
    SweepTurn,
    format_point,
    format_stage_name,
    format_steps,
    label_point,
    label_tests,
    list_turns,
    make_swept,
)
from benchconsole.probes.planning.wide_parts import WideParts, leave_out
from benchconsole.topology.collector import pause_collector
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId, Stage, Suite
from benchconsole.topology.model.sweep import CLIENTS, Sweep
from benchconsole.topology.routing.routes import Routes

SHARED_OPTIONS: Options = MappingProxyType({"licences": 1, NETWORK: "", LEG: "", PEER_LEG: ""})
"""Options that every stage may set: how many tests may hold a licence at once, and which network and ports they use."""

DESIGN_OPTIONS: Options = MappingProxyType(
    {
        **{name: value for design in DESIGNS.values() for name, value in design.options.items()},
        **SET_OPTIONS,
        **SHARED_OPTIONS,
    }
)
"""Every option that planning reads, with its default; a design refuses those of another."""


class PlanParts(NamedTuple):
    """``rounds`` of a suite, and what of it is ``left_out`` because too few tests may run at once."""

    rounds: tuple[Round, ...]
    left_out: tuple[Omission, ...]


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

    ``cohorts`` are labels of the whole session, by dimension. Tests that nothing can hold to the caps of the fabric are
    left out, as ``withhold`` says, and loads that need more tests at once. Raises PlanError for an unknown probe,
    design or option, a demand that cannot be met, or when nothing is left to run.
    """
    return plan_parts(fabric, suite, probes, nodes=nodes, first=first, most=most, cohorts=cohorts).rounds


@pause_collector()
def plan_parts(
    fabric: Fabric,
    suite: Suite,
    probes: Mapping[str, Probe],
    *,
    nodes: Sequence[NodeId] | None,
    first: int,
    most: int,
    cohorts: Mapping[str, str] | None,
) -> PlanParts:
    """The rounds of ``plan``, and what was left out of them to keep to ``most`` tests at once."""
    chosen = set(fabric.nodes if nodes is None else nodes)
    suite, left = withhold(fabric, suite, probes, nodes=chosen)
    networks = StageNetworks(fabric)
    rounds: list[Round] = []
    wide: list[Omission] = []
    named: Counter[str] = Counter()
    for stages in list_simultaneous(suite.stages):
        for stage in stages:
            if stage.probe not in probes:
                raise make_unknown_error(f"probe of suite {suite.name!r}", stage.probe, probes)
        found = _plan_together(stages, probes, networks, chosen, first + len(rounds), most)
        rounds += _name_apart(found.rounds, named)
        wide += found.left_out
    if not rounds:
        why = "".join(f"; {each}" for each in (*left, *wide))
        raise PlanError(f"suite {suite.name!r} has nothing to run on the selected nodes{why}")
    held = tuple(hold_to_caps(fabric, rounds, Routes(fabric), probes))
    return PlanParts(label_tests(held, cohorts or {}), tuple(wide))


def _plan_together(
    stages: Sequence[Stage],
    probes: Mapping[str, Probe],
    networks: StageNetworks,
    chosen: Collection[NodeId],
    first: int,
    most: int,
) -> PlanParts:
    """The rounds of stages that run at once, or of one by itself, and what of them needs more than ``most`` tests."""
    wide = WideParts(most)
    names = tuple(dict.fromkeys(name_stage(probes[stage.probe], stage) for stage in stages))
    try:
        own = [list(_plan_stage(probes[stage.probe], stage, networks, chosen, first, wide)) for stage in stages]
        if wide and (len(stages) > 1 or not any(own)):
            raise WidthError(wide.describe())
        at_once = merge_rounds(stages, own, probes, most) if stages[0].at_once and any(own) else own[0]
    except WidthError as error:
        if most >= MOST_TESTS:
            raise
        return PlanParts((), tuple(leave_out(name, str(error)) for name in names))
    rounds = renumber(at_once, first) if len(own) > 1 else at_once
    return PlanParts(tuple(rounds), (leave_out(f"a part of {names[0]}", wide.describe()),) if wide else ())


def _plan_stage(
    probe: Probe, stage: Stage, networks: StageNetworks, chosen: Collection[NodeId], first: int, wide: WideParts
) -> Iterator[Round]:
    """The rounds of one stage on the ``chosen`` of its nodes, numbered from ``first``, named as stages are.

    ``wide`` has the limit on tests at once, and is told what is left out for it.
    """
    members = [node for node in stage.nodes if node in chosen]
    if not members:
        return
    used = networks.choose(stage, probe, members)
    for ends in choose_legs(stage, probe, used):
        planner = _StagePlanner(
            ends.fabric, probe, stage, ends.flow_classes, wide, network=used.name, legs=(ends.leg, ends.peer_leg)
        )
        name = name_stage(probe, stage) + ends.name
        for each in planner.rounds(ends.members, first):
            first = each.number + 1
            because = "; ".join(filter(None, (each.because, ends.because)))
            is_same = each.stage == name and each.because == because
            yield each if is_same else replace(each, stage=name, because=because)


def name_stage(probe: Probe, stage: Stage) -> str:
    """The name of the rounds of a stage, before the ports that it uses and a number where others are alike."""
    name = _name_point(probe, stage)
    return name if stage.sweep is None else format_stage_name(name, stage.sweep)


def _name_point(probe: Probe, stage: Stage) -> str:
    """The probe, with the design that it is planned with unless that is what varies."""
    varied = stage.sweep is not None and any(axis.name == "design" for axis in stage.sweep.axes)
    if probe.shape is not Shape.PAIR or varied:
        return probe.name
    options = {**probe.options, **stage.options}
    return f"{probe.name} {options.get('design') or DEFAULT_DESIGN}"


def _name_apart(rounds: Iterable[Round], named: Counter[str]) -> Iterator[Round]:
    """``rounds`` of one stage, numbered where earlier ones have its name: they would be taken for its repetition."""
    numbers: dict[str, int] = {}
    for each in rounds:
        if each.stage not in numbers:
            named[each.stage] += 1
            numbers[each.stage] = named[each.stage]
        number = numbers[each.stage]
        yield replace(each, stage=f"{each.stage} ({number})") if number > 1 else each


class _Job(NamedTuple):
    """Tests that run together: their targets, what each of them sends, and the bundle that they fill."""

    targets: tuple[Target, ...]
    sendings: tuple[Sending, ...]
    bundle: Bundle | None = None


@dataclass
class _StagePlanner:
    """Plans one stage, or one point of its sweep: then ``clients`` may say how many nodes or flows run at once.

    ``wide`` has the limit on tests at once, and is told what is left out for it.
    """

    fabric: Fabric
    probe: Probe
    stage: Stage
    flow_classes: FlowClasses
    wide: WideParts
    clients: int | None = None
    network: str = ""
    legs: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        self.given = self.stage.options
        self.options: Options = MappingProxyType({**self.probe.options, **self.given})
        if self.network and NETWORK in self.probe.options:
            # The probe reads the option as an interface or a CIDR; the addresses of its nodes say the network already.
            self.options = MappingProxyType({**self.options, NETWORK: ""})
        self.sending = self._send(self.options)
        # A test that sends both ways has the fabric to itself: packing heeds one direction of a flow.
        self.most = 1 if self.sending.directions is Directions.BOTH else self.wide.most

    def _send(self, options: Options) -> Sending:
        """The sending of each test with these options, and its network."""
        sending = self.probe.sending(options) if self.probe.shape is Shape.PAIR else ONE_STREAM
        turned = sending.directions is Directions.REVERSED
        leg, peer = reversed(self.legs) if turned else self.legs
        return replace(sending, network=self.network, leg=leg, peer_leg=peer) if self.network or leg else sending

    @property
    def name(self) -> str:
        """The name of the rounds of one point."""
        return _name_point(self.probe, self.stage)

    def rounds(self, members: Sequence[NodeId], first: int) -> list[Round]:
        """The rounds of the stage on ``members``, numbered from ``first``; those of every point of its sweep."""
        sweep = self.stage.sweep
        return self._once(members, first) if sweep is None else list(self._swept(sweep, members, first))

    def _swept(self, sweep: Sweep, members: Sequence[NodeId], first: int) -> Iterator[Round]:
        """The rounds of every repetition of every point that may run, those of a point laid out once."""
        made: dict[Point, list[Round]] = {}
        left_out: list[LeftOutPoint] = []
        for turn in list_turns(sweep):
            if turn.point in made:
                continue
            wide = WideParts(self.wide.most)
            made[turn.point] = self._lay_out_point(turn, sweep, members, wide)
            if made[turn.point] or not sweep.axes:
                self.wide.loads.update(wide.loads)
            else:
                left_out.append(LeftOutPoint(label_point(turn.point), wide.tests, wide.most))
                self.wide.points[turn.point] = wide.tests
        number = first
        for turn in list_turns(sweep):
            point = make_swept(sweep, turn, first, left_out)
            for each in renumber(made[turn.point], number):
                because = "; ".join(filter(None, (format_point(point), format_steps(point), each.because)))
                yield replace(each, because=f"{self.probe.name} {because}", swept=point)
            number += len(made[turn.point])

    def _lay_out_point(self, turn: SweepTurn, sweep: Sweep, members: Sequence[NodeId], wide: WideParts) -> list[Round]:
        """The rounds of one point, numbered from 1; none where all of it is left out, and ``wide`` is told.

        Nor where there is nothing to repeat: such a stage has nothing to run, as without repetitions.
        """
        options = MappingProxyType({**self.given, **turn.options(self.probe.options, sweep)})
        stage, clients = replace(self.stage, options=options, sweep=None), turn.clients(self.probe.options)
        at = _StagePlanner(self.fabric, self.probe, stage, self.flow_classes, wide, clients, self.network, self.legs)
        rounds = at.rounds(members, 1)
        if not rounds and not wide and sweep.axes:
            point = format_point(make_swept(sweep, turn, 1))
            raise PlanError(f"{self.name} {point}: found nothing to run, expected tests at every point")
        return rounds

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
            flows = choose_flows(self.fabric, members, layouts, self.clients, fans_out=design.fans_out)
            jobs = [self._job((flow,), port) for flow, port in flows]
            return self._together(jobs, title, first)
        rounds: list[Round] = []
        for layout in layouts:
            rounds += self._placed(layout, title, design.fans_out, first + len(rounds))
        return rounds

    def _refuse_unread(self, read: Options, what: str) -> None:
        """Refuse an option that neither the probe nor the planning of this stage reads: it would be ignored."""
        known = {*self.probe.options, *read, *SHARED_OPTIONS}
        for option in self.given:
            if option not in known:
                raise make_unknown_error(what, option, known)

    def _placed(self, layout: FlowLayout, title: str, fans_out: bool, first: int) -> list[Round]:
        classes = self.flow_classes.sending(1 if any(load.port for load in layout.loads) else self.sending.streams)
        ledger = ResourceUse(classes, fans_out, layout.apart, self.most)
        if layout.pairs and layout.loads:
            source, sink = layout.pairs[0]
            raise PlanError(f"a layout of both lone pairs ({source}>{sink}) and loads, expected one of them")
        if layout.loads:
            jobs = []
            for load in layout.loads:
                self._refuse_turned(load)
                if load.bundle is not None and len(load.flows) > self.most < MOST_TESTS:
                    self.wide.loads[load.bundle.name] = len(load.flows)
                    continue
                ledger.load(load)
                jobs.append(self._job(load.flows, load.port, load.bundle))
            if not jobs:
                return []
        else:
            options, sending = self.options, self.sending
            jobs = [_Job((self._target(source, sink, options, sending),), (sending,)) for source, sink in layout.pairs]
            ledger.pairs(layout.pairs)
        because = f"{layout.because}; {self.stage.because}" if self.stage.because else layout.because
        return self._numbered(jobs, self._places(ledger, jobs, any_order=layout.any_order), title, because, first)

    def _job(self, flows: Sequence[Flow], port: int, bundle: Bundle | None = None) -> _Job:
        """The tests of flows that run together; with ``port`` each is one stream that is sent from it."""
        options, sending = self.options, self.sending
        if port:
            names = self.probe.sending_options
            one_stream = {names.streams: 1} if names.streams else {}
            options = MappingProxyType({**options, names.source_port: port, **one_stream})
            sending = self._send(options)
        sendings = tuple(self._send_to(flow.last_leg, sending) for flow in flows)
        ends = zip(flows, sendings, strict=True)
        targets = tuple(self._target(flow.source, flow.sink, options, own) for flow, own in ends)
        return _Job(targets, sendings, bundle)

    def _send_to(self, leg: str | None, sending: Sending) -> Sending:
        """The sending of a flow that its design directs to one port of the receiver."""
        if leg is None:
            return sending
        return replace(sending, leg=leg) if self._is_turned else replace(sending, peer_leg=leg)

    @property
    def _is_turned(self) -> bool:
        return self.sending.directions is Directions.REVERSED

    def _target(self, source: NodeId, sink: NodeId, options: Options, sending: Sending) -> Target:
        """The test of a flow from ``source`` to ``sink``; where the peer is told to send, the sink runs the client."""
        here, there = (sink, source) if self._is_turned else (source, sink)
        nodes = self.fabric.nodes
        return Target(nodes[here].at(sending.leg), nodes[there].at(sending.peer_leg), options)

    def _refuse_turned(self, load: FlowLoad) -> None:
        """Flows that fill an element go one way, and a port steers what is sent from it."""
        names, directions = self.probe.sending_options, self.sending.directions
        if directions is Directions.BOTH or (directions is Directions.REVERSED and load.port):
            option = names.both if directions is Directions.BOTH else names.reverse
            found = f"{option}={self.options[option]}, expected 0" if option else f"a test that sends {directions}"
            raise PlanError(f"{self.probe.name} {self.options.get('design') or DEFAULT_DESIGN}: found {found}")

    def _together(self, jobs: Sequence[_Job], stage: str, first: int) -> list[Round]:
        """One round of tests that are judged by their sum, none repeated alone; no round where they are too many."""
        if len(jobs) > self.most:
            if self.sending.directions is Directions.BOTH or self.most >= MOST_TESTS:
                raise PlanError(f"{CLIENTS}={len(jobs):,}: expected at most {self.most:,} tests at once")
            self.wide.loads[f"{CLIENTS}={len(jobs)}"] = len(jobs)
            return []
        shared = ResourceUse(self.flow_classes, most=self.most)
        shared.at_once(list_demands(self.probe, [job.targets[0] for job in jobs]), self.fabric, self.options)
        because = f"{len(jobs):,} at once, spread over the switches"
        return self._numbered(jobs, [0] * len(jobs), stage, because, first, together=f"{CLIENTS}={len(jobs)}")

    def _places(self, ledger: ResourceUse, jobs: Sequence[_Job], *, any_order: bool = False) -> list[int]:
        """The round (from 0) of each job, with what its tests demand besides links."""
        demands = list_demands(self.probe, [target for job in jobs for target in job.targets])
        if any(wanted.alone or wanted.shared for wanted in demands):
            each = iter(demands)
            ledger.demand([[(target, next(each)) for target in job.targets] for job in jobs], self.fabric, self.options)
        uses = ledger.closed()
        return find_shortest(uses) if any_order else first_fit(uses, range(len(uses.jobs)))

    def _without_design(self, members: Sequence[NodeId], first: int) -> list[Round]:
        """Rounds of tests on single nodes, or on sets of them."""
        nodes, is_set = self.fabric.nodes, self.probe.shape is Shape.SET
        own: Options = SET_OPTIONS if is_set and self.clients is None else {}
        if self.clients is not None:
            members = take_first(self.fabric, members, self.clients)
        self._refuse_unread(own, f"option of {self.probe.name}")
        if not is_set:
            sets = [[node] for node in members]
        else:
            sets = make_sets(self.fabric, members, {**own, **self.options}) if self.clients is None else [list(members)]
        jobs = []
        for each in sets:
            target = Target(nodes[each[0]], None, self.options, tuple(nodes[node] for node in each) if is_set else ())
            jobs.append(_Job((target,), (self.sending,)))
        if self.clients is not None and not is_set:
            return self._together(jobs, self.probe.name, first)
        ledger = ResourceUse(self.flow_classes, most=self.most)
        ledger.targets([job.targets[0] for job in jobs], network=is_set)
        return self._numbered(jobs, self._places(ledger, jobs), self.probe.name, self.probe.summary, first)

    def _numbered(
        self, jobs: Sequence[_Job], places: Sequence[int], stage: str, because: str, first: int, together: str = ""
    ) -> list[Round]:
        """The rounds that the jobs were put in, in order; each keeps the order of its jobs.

        ``together`` is the bundle of tests that are in none.
        """
        seconds, name = self.probe.estimate(self.options), self.probe.name
        because += f"; over the network {self.network}" if self.network else ""
        because += f"; from {self.legs[0]} to {self.legs[1]}" if self.legs[0] else ""
        tests: list[list[Test]] = [[] for _ in range(max(places, default=-1) + 1)]
        bundles: list[list[Bundle]] = [[] for _ in tests]
        for job, place in zip(jobs, places, strict=True):
            number, into = first + place, tests[place]
            if job.bundle is not None:
                bundles[place].append(job.bundle)
            group = job.bundle.name if job.bundle is not None else together
            for target, sending in zip(job.targets, job.sendings, strict=True):
                key = make_test_id(number, name, len(into), target)
                into.append(Test(key, name, target, number, group, sending))
        return [
            Round(first + at, stage, name, tuple(found), seconds, because, tuple(bundles[at]))
            for at, found in enumerate(tests)
        ]


def make_test_id(number: int, probe: str, index: int, target: Target) -> str:
    """The id of a test: unique in a plan, and told apart by eye."""
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

    A bundle is repeated whole, for its sum is what is judged, and so is a round of several probes; other tests that
    stand alone are repeated alone.
    """
    wanted = {test.id for test in tests}
    again: list[Round] = []
    for each in rounds:
        names = {test.bundle for test in each.tests if test.id in wanted and test.bundle}
        kept = [test for test in each.tests if test.id in wanted or test.bundle in names]
        if each.is_mixed and kept:
            kept = list(each.tests)
        if kept:
            again.append(_keep_tests(each, kept))
    return tuple(renumber(again, first))


def split_into_waves(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """The same tests in the same order, each stage growing from one load to its full width; renumbered.

    A load is a lone test, the tests of a bundle, or those of a round of several probes, which stay together. The first
    of each stage run one by one, then two, then four: where others use the cluster, a fault should show with one test
    running. Loads of different rounds are never put together: they may share a link.
    """
    width: defaultdict[str, int] = defaultdict(lambda: 1)
    found: list[Round] = []
    for each in rounds:
        named = ((f"b{test.bundle}" if test.bundle else f"t{at}", test) for at, test in enumerate(each.tests))
        loads = [list(each.tests)] if each.is_mixed else list(group_by_key(named).values())
        while loads:
            wide = width[each.stage]
            chosen, loads = loads[:wide], loads[wide:]
            found.append(_keep_tests(each, [test for load in chosen for test in load]))
            if len(chosen) == wide:
                width[each.stage] = 2 * wide
    return tuple(renumber(found, rounds[0].number if rounds else 1))


def _keep_tests(each: Round, tests: Sequence[Test]) -> Round:
    names = {test.bundle for test in tests}
    bundles = tuple(bundle for bundle in each.bundles if bundle.name in names)
    return replace(each, tests=tuple(tests), bundles=bundles)
