"""The summary of a plan: rounds, time, bytes, loads, and what is left out and why, for new and stored sessions alike.

Lower bounds are computed from the flows of each stage, not taken from the scheduler.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.model.measuring import Bundle, Demands, Round, Test
from benchconsole.probes.model.round_bounds import MOST_TESTS
from benchconsole.probes.model.sending import ONE_STREAM, Directions
from benchconsole.probes.planning.design_options import Options
from benchconsole.probes.planning.designs import DEFAULT_DESIGN, DESIGNS
from benchconsole.probes.planning.flow_classes import FlowClass, FlowClasses
from benchconsole.probes.planning.lacking_nodes import list_lacking, list_networks
from benchconsole.probes.planning.layout import FlowLoad, Pair
from benchconsole.probes.planning.resource_use import ResourceUse, find_budget, list_demands, name_place, sum_shared
from benchconsole.probes.planning.round_limits import compute_overrun
from benchconsole.probes.planning.sweeps import find_throughput_metric
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Fabric, Link, NodeId
from benchconsole.topology.model.sweep import Ending, sort_values
from benchconsole.topology.routing.network_choice import say_networks
from benchconsole.topology.routing.port_choice import PortChoice
from benchconsole.topology.routing.routes import Routes

_TRIED = 5_000
"""Pairs of groups of nodes that are asked for a path; beyond, pairs without one are counted with those not met."""


@dataclass(frozen=True, slots=True)
class HeaviestLoad:
    """The element that is loaded most: ``share`` of what it can carry, or of its budget, in ``round``.

    ``meant``: by the tests of one bundle, which fill it on purpose; what is beyond 1 waits.
    """

    element: str
    share: float
    round: int
    meant: bool = False


@dataclass(frozen=True, slots=True)
class SweepSummary:
    """The sweep of a stage: ``axes`` with their values as text, so many ``points``, each run ``repeat`` times.

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

    ``seconds`` is the length, ``overrun`` by how many seconds a tool that hangs makes one of the rounds longer at most;
    ``writes`` are bytes written at least, and removed again. ``link`` and ``budget``
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
    overrun: float = 0.0

    @property
    def ratio(self) -> float:
        """Rounds over the lower bound: 1 cannot be beaten."""
        return self.rounds / self.bound if self.bound else 1.0


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Nodes or links, by id, that a plan leaves out for one reason."""

    what: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class PairCoverage:
    """Directed pairs that send to each other, of ``every`` one; ``left``: how many do not, for each reason."""

    met: int
    every: int
    left: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PlanCoverage:
    """The nodes and links that a plan leaves out, and how many pairs meet in it."""

    nodes: tuple[LeftOut, ...]
    links: tuple[LeftOut, ...]
    pairs: PairCoverage


@dataclass(frozen=True, slots=True)
class PlanSummary(PlanCoverage):
    """A plan summed up, with what it leaves out."""

    stages: tuple[StageSummary, ...]
    total: StageSummary


def summarise(
    fabric: Fabric, rounds: Sequence[Round], probes: Mapping[str, Probe], *, most: int = MOST_TESTS
) -> PlanSummary:
    """Sum up ``rounds`` of at most ``most`` tests; a probe that is not installed any more demands nothing."""
    classes = FlowClasses(Routes(fabric))
    by_stage: dict[str, dict[object, list[Round]]] = {}
    for each in rounds:
        turn = (each.swept.point, each.swept.repetition) if each.swept is not None else None
        by_stage.setdefault(each.stage, {}).setdefault(turn, []).append(each)
    stages: list[StageSummary] = []
    for stage, parts in by_stage.items():  # points share no round
        sums = [[_StageSums(fabric, classes.over(*_find_ends(part)), part, probes.get(part[0].probe), most)
                 for part in _part_by_probe(own)] for own in parts.values()]  # fmt: skip
        points = [_sum_up_together(each) for each in sums]
        stages.append(
            replace(
                points[0] if len(points) == 1 else _total(stage, points),
                sweep=_sweep([own for own, *_ in sums]),
                overrun=compute_overrun([each for part in parts.values() for each in part], probes),
            )
        )
    covered = _cover(fabric, classes, rounds)
    total = replace(_total("in all", stages), overrun=compute_overrun(rounds, probes))
    return PlanSummary(covered.nodes, covered.links, covered.pairs, tuple(stages), total)


def _part_by_probe(rounds: Sequence[Round]) -> list[list[Round]]:
    """The rounds of one point, those with several probes as one for each of them."""
    return (
        [
            [
                replace(each, probe=name, tests=tuple(test for test in each.tests if test.probe == name))
                for each in rounds
            ]
            for name in rounds[0].probes
        ]
        if rounds[0].is_mixed
        else [list(rounds)]
    )


def _sum_up_together(parts: "Sequence[_StageSums]") -> StageSummary:
    """The summary of a point; its rounds and their time are counted once, however many probes they have."""
    found = [each.summary() for each in parts]
    if len(found) == 1:
        return found[0]
    longest = max(found, key=lambda each: each.bound)
    total = _total(found[0].stage, found)
    return replace(
        total, rounds=found[0].rounds, seconds=found[0].seconds, bound=longest.bound, bound_by=longest.bound_by
    )


def find_coverage(fabric: Fabric, rounds: Sequence[Round]) -> PlanCoverage:
    """The coverage of ``rounds``. Asks no probe, so that it can be told of tests that were run elsewhere, too."""
    return _cover(fabric, FlowClasses(Routes(fabric)), rounds)


def _find_ends(rounds: Sequence[Round]) -> tuple[str, str | None, str | None]:
    """The network that the tests of a stage use, and the ports at both ends of what they send where these are alike."""
    named = {(flow.network, flow.leg, flow.last_leg) for each in rounds for flow in each.flows}
    if len(named) == 1:
        return named.pop()
    return (next((test.sending.network for each in rounds for test in each.tests), ""), None, None)


def _list_sent(classes: FlowClasses, rounds: Sequence[Round]) -> list[tuple[FlowClasses, set[Pair]]]:
    """Who sends to whom, with the classes of the network that it is sent over."""
    flows = group_by_key(
        ((flow.network, flow.leg, flow.last_leg), (flow.source, flow.sink)) for each in rounds for flow in each.flows
    )
    return [(classes.over(*ends), set(pairs)) for ends, pairs in flows.items()]


def _cover(fabric: Fabric, classes: FlowClasses, rounds: Sequence[Round]) -> PlanCoverage:
    pairs = {(flow.source, flow.sink) for each in rounds for flow in each.flows}
    return PlanCoverage(
        nodes=_list_left_nodes(fabric, classes, rounds, pairs),
        links=_list_idle_links(fabric, classes, rounds),
        pairs=_count_pairs(fabric, classes, rounds, pairs),
    )


def _sweep(parts: "Sequence[_StageSums]") -> SweepSummary | None:
    found = [each.swept for part in parts for each in part.rounds if each.swept is not None]
    if not found:
        return None
    values_of = group_by_key(pair for swept in found for pair in swept.point)
    axes = {name: tuple(dict.fromkeys(values)) for name, values in values_of.items()}
    probe, ending = parts[0].probe, found[0].ending
    if ending is not None and ending.gain is not None and probe is not None:
        ending = replace(ending, metric=ending.metric or find_throughput_metric(probe))
    points = len({swept.point for swept in found})
    shown = tuple((name, sort_values(values) or values) for name, values in axes.items())
    return SweepSummary(shown, points, found[0].repeat, found[0].order, ending)


def _heaviest(found: Iterable[HeaviestLoad | None]) -> HeaviestLoad | None:
    return max((each for each in found if each is not None), key=lambda each: each.share, default=None)


def _total(name: str, stages: Sequence[StageSummary]) -> StageSummary:
    return StageSummary(
        stage=name,
        rounds=sum(each.rounds for each in stages),
        tests=sum(each.tests for each in stages),
        bound=sum(each.bound for each in stages),
        bound_by="",
        seconds=sum(each.seconds for each in stages),
        writes=sum(each.writes for each in stages),
        link=_heaviest(each.link for each in stages),
        budget=_heaviest(each.budget for each in stages),
    )


class _StageSums:
    """Sums up the rounds of one stage."""

    def __init__(
        self, fabric: Fabric, classes: FlowClasses, rounds: Sequence[Round], probe: Probe | None, most: int
    ) -> None:
        self.fabric = fabric
        self.flow_classes = classes
        self.rounds = rounds
        self.probe = probe
        self.most = most
        self.options: Options = rounds[0].tests[0].target.options if rounds[0].tests else {}
        self.tests: list[list[tuple[Test, Demands]]] = []
        for each in rounds:
            demands = list_demands(probe, [test.target for test in each.tests])
            self.tests.append(list(zip(each.tests, demands, strict=True)))

    def summary(self) -> StageSummary:
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
                for tests in self.tests
                for test, wanted in tests
            ),
            link=self._heaviest_link(),
            budget=_heaviest(
                HeaviestLoad(name, amount / find_budget(self.fabric, name, self.options), each.number)
                for each, tests in zip(self.rounds, self.tests, strict=True)
                for name, amount in sum_shared(wanted for _, wanted in tests).items()
            ),
        )

    def _bound(self) -> tuple[int, str]:
        """The fewest rounds that the tests of the stage need, and what asks for them."""
        design = str(self.options.get("design") or DEFAULT_DESIGN)
        fans_out = design in DESIGNS and DESIGNS[design].fans_out
        sending = self.rounds[0].tests[0].sending if self.rounds[0].tests else ONE_STREAM
        both = sending.directions is Directions.BOTH
        wide = 1 if both else max(self.most, *(len(each.tests) for each in self.rounds))
        ledger = ResourceUse(self.flow_classes.sending(sending.streams), fans_out, most=wide)
        jobs: list[list[tuple[Test, Demands]]] = []
        for tests in self.tests:
            jobs += group_by_key((test.bundle or test.id, (test, wanted)) for test, wanted in tests).values()
        if not both and all(len(job) == 1 and not job[0][0].bundle and job[0][0].target.peer for job in jobs):
            ledger.pairs([(flow.source, flow.sink) for each in self.rounds for flow in each.flows])
        else:
            is_set = self.probe is not None and self.probe.shape is Shape.SET
            for job in jobs:
                first = job[0][0]
                if first.target.peer is None:
                    ledger.targets([first.target], network=is_set)
                else:
                    flows = tuple(test.flows[0] for test, _ in job)
                    ledger.load(FlowLoad(flows, Bundle(first.bundle, ()) if first.bundle else None))
        if any(wanted.alone or wanted.shared for job in jobs for _, wanted in job):
            ledger.demand([[(test.target, wanted) for test, wanted in job] for job in jobs], self.fabric, self.options)
        bound, key = ledger.closed().bound()
        return bound, ledger.name(key)

    def _heaviest_link(self) -> HeaviestLoad | None:
        found: list[HeaviestLoad] = []
        for each in self.rounds:
            load, meant = self._loads(each)
            if load:
                place = max(load, key=load.__getitem__)
                name = name_place(self.flow_classes, place)
                found.append(HeaviestLoad(name, load[place], each.number, place in meant))
        return _heaviest(found)

    def _loads(self, each: Round) -> tuple[dict[int | CeilingSide, float], set[int | CeilingSide]]:
        """The load offered to each directed link, by number, and each ceiling, as a share of what it carries; those
        that a bundle loads.
        """
        load: defaultdict[int | CeilingSide, float] = defaultdict(float)
        meant: set[int | CeilingSide] = set()
        sent: dict[object, FlowClasses] = {}
        for test, flow in each.sent:
            ends, streams = (flow.network, flow.leg, flow.last_leg), None if test.bundle else test.sending.streams
            if (ends, streams) not in sent:
                sent[ends, streams] = self.flow_classes.over(*ends).sending(streams)
            classes = sent[ends, streams]
            flow_class = classes.find_class(flow.source, flow.sink)
            if flow_class is None:
                continue
            part = min(flow.demand / flow_class.nominal, 1.0) if flow.demand is not None else 1.0
            shares: dict[int | CeilingSide, float] = {}
            shares.update(classes.ways(flow.source, flow.sink).items())
            shares.update(classes.ceilings(flow.source, flow.sink).items())
            for place, share in shares.items():
                load[place] += part * share
            if test.bundle:
                meant.update(shares)
        return load, meant


# -- what is left out


def list_uncrossed_links(fabric: Fabric, rounds: Sequence[Round]) -> tuple[Link, ...]:
    """Links that no flow of ``rounds`` crosses for certain in one of their directions, in file order.

    A link that no test sends over cannot be found faulty: it is told, never passed. Nor can a port of several of which
    one was used, and nobody knows which. Empty where the plan has no flows at all; legs that stand by are left out.
    """
    routes = Routes(fabric)
    return tuple(link for link, _ in _list_idle(_list_sent(FlowClasses(routes), rounds), PortChoice(routes.graph)))


def _list_idle(sent: Iterable[tuple[FlowClasses, Collection[Pair]]], choice: PortChoice) -> list[tuple[Link, bool]]:
    """The links of ``list_uncrossed_links``, each with whether any flow crosses it in the other direction."""
    links: Sequence[Link] = ()
    crossed: set[int] = set()
    for classes, flows in sent:
        links = classes.routes.graph.links
        crossed |= _find_crossed(classes, flows, choice)
    both = [(link, {2 * number, 2 * number + 1} & crossed) for number, link in enumerate(links) if not link.standby]
    return [(link, bool(ways)) for link, ways in both if len(ways) < 2]


def _find_crossed(classes: FlowClasses, flows: Collection[Pair], choice: PortChoice | None) -> set[int]:
    """The directed links, by number, that any of the flows crosses; with ``choice`` whichever ports they take.

    One that names none of several ports takes one of them, and nobody knows which, nor what lies beyond.
    """
    graph = classes.routes.graph
    crossed: set[int] = set()
    seen: set[FlowClass] = set()
    for source, sink in flows:
        flow_class, (one, other) = classes.find_class(source, sink), classes.find_sides(source, sink)
        if flow_class is None or one is None or other is None:  # no design would take it, but a file may describe it
            crossed.update(classes.routes.route(classes.make_flow(source, sink)).ways.tolist())
            continue
        first = {one.legs.ways[position] for position, _ in flow_class.first}
        last = {other.legs.ways[position] for position, _ in flow_class.last}
        is_sure = True
        for ways, device, named in ((first, one.device, classes.leg), (last, other.device, classes.last_leg)):
            unsure = choice.find(device) if choice is not None and not named else ()
            if unsure and (doubtful := {way for way in ways if graph.links[way >> 1].id in unsure}):
                ways.difference_update(doubtful)
                is_sure = False
        crossed |= first
        crossed.update(way ^ 1 for way in last)
        if is_sure and flow_class not in seen:
            seen.add(flow_class)
            crossed.update(way for way, _ in flow_class.inner)
    return crossed


def _list_idle_links(fabric: Fabric, classes: FlowClasses, rounds: Sequence[Round]) -> tuple[LeftOut, ...]:
    flows = [flow for each in rounds for flow in each.flows]
    busy = {node for flow in flows for node in (flow.source, flow.sink)}
    used = {flow.network for flow in flows}
    found: defaultdict[str, list[str]] = defaultdict(list)
    peers = {link for pair in fabric.mlags for link in pair.peer}
    graph, sent, perhaps = classes.routes.graph, _list_sent(classes, rounds), set[int]()
    choice = PortChoice(graph)
    if any(choice.find(node) for node in busy):
        perhaps = {way for own, pairs in sent for way in _find_crossed(own, pairs, None)}
    for link, is_crossed in _list_idle(sent, choice):
        if _stands_by(fabric, link):
            why = "carries only while the preferred links beside it are down, one way at least"
        elif is_crossed:
            why = "crossed in one direction only"
        elif "" not in used and link.network not in used:
            why = f"of the network {link.network}, which no test uses"
        elif NodeId(link.a) in fabric.nodes and link.a not in busy:
            why = "no test sends to or from its node"
        elif not perhaps.isdisjoint((graph.way(link, link.a), graph.way(link, link.b))):
            why = "crossed only by tests that do not say which of several ports they use"
        elif link.id in peers:
            why = "joins a pair, and carries only what one of the two cannot deliver itself"
        else:
            why = "on no shortest path between nodes that send to each other"
        found[why].append(link.id)
    return tuple(LeftOut(tuple(links), why) for why, links in found.items())


def _stands_by(fabric: Fabric, link: Link) -> bool:
    """Whether another link between the same two devices is preferred in one direction."""
    beside = [each for each in fabric.links_at[link.a] if each.other(link.a) == link.b]
    ways = [each.preference if each.a == link.a else each.preference[::-1] for each in beside]
    return any(own < max(each[way] for each in ways) for way, own in enumerate(link.preference))


def _list_left_nodes(
    fabric: Fabric, classes: FlowClasses, rounds: Sequence[Round], flows: Collection[Pair]
) -> tuple[LeftOut, ...]:
    """The nodes in no test, and those of a plan with flows in no flow, by reason."""
    tested = {node.id for each in rounds for test in each.tests for node in test.target.nodes}
    sending = {node for pair in flows for node in pair}
    found: defaultdict[str, list[str]] = defaultdict(list)
    used = {test.sending.network for each in rounds for test in each.tests}
    for node in fabric.nodes:
        if node not in tested and used and "" not in used and used.isdisjoint(list_networks(fabric, node)):
            found[f"not in {say_networks(used)}, which the tests use"].append(node)
        elif node not in tested:
            found["in no test: not selected, or none that it could be in"].append(node)
        elif sending and node not in sending:
            cabled = classes.find_side(node) is not None
            why = "without a partner in a test between nodes" if cabled else "not cabled, so nothing can be sent to it"
            found[why].append(node)
    for node, why in list_lacking(fabric, rounds, sending):
        found[why].append(node)
    return tuple(LeftOut(tuple(nodes), why) for why, nodes in found.items())


def _count_pairs(
    fabric: Fabric, classes: FlowClasses, rounds: Sequence[Round], flows: Collection[Pair]
) -> PairCoverage:
    """How many of all directed pairs of nodes meet, and why the others do not."""
    every = len(fabric.nodes) * (len(fabric.nodes) - 1)
    busy = {node for pair in flows for node in pair}
    among = len(busy) * (len(busy) - 1)
    without = _without_path(classes, busy)
    stages = ", ".join(dict.fromkeys(each.stage for each in rounds if any(test.target.peer for test in each.tests)))
    left = [
        (every - among, "one of the two is in no test between nodes"),
        (without, "no path between them, or only one that goes down to a switch and up again"),
        (among - without - len(flows), f"not among those that {stages} chooses"),
    ]
    return PairCoverage(len(flows), every, tuple((count, why) for count, why in left if count > 0))


def _without_path(classes: FlowClasses, nodes: Collection[NodeId]) -> int:
    """How many directed pairs of ``nodes`` have no path; 0 where that would be too many to ask."""
    groups = classes.group_nodes(nodes).values()
    if len(groups) ** 2 > _TRIED:
        return 0
    two_groups = ((one, other) for one in groups for other in groups if one is not other)
    found = sum(len(one) * len(other) for one, other in two_groups if classes.find_class(one[0], other[0]) is None)
    machines = Counter(side.device for node in nodes if (side := classes.find_side(node)) is not None)
    return found + sum(count * (count - 1) for count in machines.values())
