"""Further rounds that confirm or clear what findings only suspect, planned like any other round.

A tie, and a cause that rests on paths which source ports are only assumed to take, is a suspicion. NICs and switches
are tested by the neighbours of the node with many streams, links between switches by flows that fill little else:
member by member where hashes are described as steered. An element that then carries its load is no candidate any more.

A bundle whose flows ran apart is not known to be sound or not: a member with little left holds up the connections of
those that come late. It is repeated with so much left out at both ends that only the time counts in which all ran.
So is a test whose tool failed between nodes that gave numbers otherwise: it is a fault of neither as long as it passes.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.judging.components import Component, ComponentKind
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.judging.summed_rates import APART
from benchconsole.probes.judging.yardsticks.capacity import overlap
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound, Level, Yardstick
from benchconsole.probes.model.measuring import Against, FailedAt, Round, Test
from benchconsole.probes.model.repeats import make_test_key
from benchconsole.probes.model.round_bounds import ConfirmationBounds
from benchconsole.probes.planning.designs.neighbours import SHIFTS, group_alike
from benchconsole.probes.planning.plan_rounds import plan, renumber, rerun
from benchconsole.probes.planning.stage_legs import OPTION as LEG
from benchconsole.probes.planning.stage_legs import PEER_OPTION as PEER_LEG
from benchconsole.probes.planning.stage_network import OPTION as NETWORK
from benchconsole.probes.planning.stream_counts import count_streams
from benchconsole.probes.planning.suites import is_steered
from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import LinkId, NodeId, Stage, Suite

CONFIRMS = "confirm "
"""The beginning of the stage of every confirmation round."""

_BECAUSE = "confirms findings: "
"""The beginning of the reason of every round that a session adds by itself."""

USUAL = ConfirmationBounds()

OF_SWITCH = 4
"""Links of a switch that are filled; it is at fault if they are."""

LONGER: Mapping[str, int] = MappingProxyType({"omit": 5, "seconds": 10, "tail": 5})
"""Seconds of a repeat of flows that ran apart: a lost connection is asked for again after 1 s and 3 s (RFC 6298)."""

PASSING = frozenset((FailedAt.TOOL, FailedAt.OUTPUT))
"""Failures of a test that may be over: its tool ran and gave no number."""

TOGETHER = 32
"""Links that are planned together: those that share no cable are filled in one round."""


def is_confirmation(planned: Round) -> bool:
    """Whether a round was added to confirm findings."""
    return planned.stage.startswith(CONFIRMS)


def plan_confirmation(
    context: JudgingContext,
    probes: Mapping[str, Probe],
    suspected: Sequence[Component],
    judged: Sequence[ClosedRound],
    nodes: Collection[NodeId],
    *,
    steers: bool = True,
    bounds: ConfirmationBounds = USUAL,
    first: int,
) -> tuple[Round, ...]:
    """Rounds numbered from ``first`` that load each of ``suspected`` without the others, on ``nodes`` alone.

    Without ``steers`` source ports choose no members, whatever the file says. Behind them tests are repeated that
    failed in passing, and bundles whose flows ran apart. The rounds of a session together keep to ``bounds``; those of
    ``judged`` that were added so count. Nothing that was tested so already is tested again.
    """
    left = bounds.seconds - sum(each.round.seconds for each in judged if each.round.because.startswith(_BECAUSE))
    found: list[Round] = []
    for each in (
        *_plan_alone(context, probes, suspected, judged, nodes, steers=steers, most=bounds.most),
        *_repeat(context, probes, judged, nodes),
    ):
        if each.seconds <= left:
            left -= each.seconds
            found.append(replace(each, because=f"{_BECAUSE}{each.because}"))
    return tuple(renumber(found, first))


def _plan_alone(
    context: JudgingContext,
    probes: Mapping[str, Probe],
    suspected: Sequence[Component],
    judged: Sequence[ClosedRound],
    nodes: Collection[NodeId],
    *,
    steers: bool,
    most: int,
) -> Iterator[Round]:
    """Rounds that load the suspected without the others; none where no probe can send many streams."""
    probe = _find_probe(probes, judged)
    if probe is None or not suspected:
        return
    done = [each.round for each in judged if is_confirmation(each.round)]
    stages = (
        replace(stage, options=MappingProxyType({**stage.options, **_name_ends(ends)}))
        for ends, own in _group_by_ends(context, suspected, judged).items()
        for stage in _list_stages(context, probe, own, nodes, done, steers=steers)
    )
    for stage in stages:
        try:
            planned = plan(context.fabric, Suite(CONFIRMS.strip(), (stage,)), probes, nodes=tuple(nodes), most=most)
        except PlanError:
            continue  # nothing could load it alone: it stays a suspicion
        yield from (replace(each, stage=f"{CONFIRMS}{each.stage}") for each in planned)


_Ends = tuple[str, str, str]
"""The network of tests, and the ports of both of their nodes; each empty where it is not named."""


def _name_ends(ends: _Ends) -> dict[str, str]:
    """The options of a stage that say the same."""
    return {option: name for option, name in zip((NETWORK, LEG, PEER_LEG), ends, strict=True) if name}


def _group_by_ends(
    context: JudgingContext, suspected: Sequence[Component], judged: Sequence[ClosedRound]
) -> Mapping[_Ends, Sequence[Component]]:
    """The suspected by network, and by the ports of a test that crossed them."""
    legs: dict[int, tuple[str, str]] = {}
    for test in (test for each in judged for test in each.round.tests if test.sending.leg):
        for flow in test.flows:
            for way in context.routes.route(flow).ways.tolist():
                legs.setdefault(way >> 1, (test.sending.leg, test.sending.peer_leg))
    return group_by_key(
        ((network, *legs.get(context.parts.way(min(each.parts)) >> 1, ("", ""))), each)
        for network, own in _group_by_network(context, suspected, judged).items()
        for each in own
    )


def _group_by_network(
    context: JudgingContext, suspected: Sequence[Component], judged: Sequence[ClosedRound]
) -> Mapping[str, Sequence[Component]]:
    """The suspected by the network whose tests accused them; one group without a name where tests name none."""
    used = {test.sending.network for each in judged for test in each.round.tests if test.flows} - {""}
    if not used:
        return {"": suspected}
    links = context.routes.graph.links
    named = ((links[context.parts.way(min(each.parts)) >> 1].network, each) for each in suspected)
    return group_by_key((network, each) for network, each in named if network in used)


def _repeat(
    context: JudgingContext, probes: Mapping[str, Probe], judged: Sequence[ClosedRound], nodes: Collection[NodeId]
) -> Iterator[Round]:
    """Repeats of tests that failed in passing, and of bundles of which it is only known that their flows ran apart.

    More is left out of what is measured.
    """
    done = {make_test_key(test, each.round.stage) for each in judged for test in each.round.tests if _is_longer(test)}
    sound = _find_sound(judged)
    for each in judged:
        probe = probes.get(each.round.probe)
        if probe is None or not LONGER.keys() <= probe.options.keys():
            continue
        failed = _list_failed(each, sound)
        wanted = [
            test
            for test in (*failed, *_list_apart(context, each))
            if make_test_key(test, each.round.stage) not in done and {node.id for node in test.target.nodes} <= {*nodes}
        ]
        why = "a test failed" if failed else "flows ran apart"
        for again in rerun(wanted, [each.round], first=1):
            yield _make_longer(again, probe, why)


def _is_longer(test: Test) -> bool:
    return LONGER.items() <= test.target.options.items()


def _find_sound(judged: Sequence[ClosedRound]) -> Mapping[str, Collection[NodeId]]:
    """By probe, the nodes that gave a number."""
    return group_by_key(
        (each.round.probe, node.id)
        for each in judged
        for result in each.results
        if result.failure is None
        for node in result.test.target.nodes
    )


def _list_failed(judged: ClosedRound, sound: Mapping[str, Collection[NodeId]]) -> list[Test]:
    """The tests of a round that failed in passing, between nodes that gave numbers to the same probe."""
    own = {*sound.get(judged.round.probe, ())}
    return [
        result.test
        for result in judged.results
        if result.failure is not None
        and result.failure.stage in PASSING
        and {node.id for node in result.test.target.nodes} <= own
    ]


def _list_apart(context: JudgingContext, judged: ClosedRound) -> Iterator[Test]:
    """The tests of the bundles of a round that are unknown, and whose flows ran apart."""
    for verdict in judged.verdicts:
        if verdict.kind is Yardstick.CAPACITY and verdict.level is Level.UNKNOWN and len(verdict.evidence) > 1:
            flows = context.flows.read(judged, verdict.metric).find_measured(verdict.evidence)
            if overlap(flows) < APART:
                yield from (each.result.test for each in flows)


def _make_longer(planned: Round, probe: Probe, why: str) -> Round:
    tests = tuple(
        replace(test, target=replace(test.target, options=MappingProxyType({**test.target.options, **LONGER})))
        for test in planned.tests
    )
    seconds = probe.estimate(tests[0].target.options)
    return replace(planned, tests=tests, seconds=seconds, because=f"{why}; {planned.because}")


def _find_probe(probes: Mapping[str, Probe], judged: Sequence[ClosedRound]) -> Probe | None:
    """The first probe of the session that fills links with many streams and is held against the fabric."""
    for name in dict.fromkeys(name for each in judged for name in each.round.probes):
        probe = probes.get(name)
        if probe is None or probe.shape is not Shape.PAIR or not probe.sending_options.streams:
            continue
        if any(metric.against is Against.FABRIC for metric in probe.metrics):
            return probe
    return None


def _list_stages(
    context: JudgingContext,
    probe: Probe,
    suspected: Sequence[Component],
    nodes: Collection[NodeId],
    done: Sequence[Round],
    *,
    steers: bool,
) -> Iterator[Stage]:
    """One stage for all NICs and switches, then some for links, most explained first."""
    tests = [test for each in done for test in each.tests]
    tested = {name.strip() for test in tests for name in str(test.target.options.get("share", "")).split(",")}
    tested |= {node.id for test in tests if test.target.options["design"] == "neighbours" for node in test.target.nodes}
    near = dict.fromkeys(node for each in suspected for node in _list_nodes(context, each))
    asked = [node for node in near if node in nodes and node not in tested]
    if asked:
        yield _make_stage(context, probe, _add_partners(context, asked, near, nodes), design="neighbours")
    links = [each for each in dict.fromkeys(_list_links(context, suspected)) if each not in tested]
    steered = steers and is_steered(context.fabric) and bool(probe.sending_options.source_port)
    if not steered:
        yield from (_make_stage(context, probe, nodes, design="stress", share=each) for each in links)
        return
    for first in range(0, len(links), TOGETHER):
        share = ", ".join(links[first : first + TOGETHER])
        yield _make_stage(context, probe, nodes, streams=1, design="steered", share=share)


def _list_links(context: JudgingContext, suspected: Sequence[Component]) -> Iterator[LinkId]:
    """The links between switches of each component; of a switch some, spread over all that it has."""
    graph, fabric = context.routes.graph, context.fabric
    for component in suspected:
        links = sorted({context.parts.way(part) >> 1 for part in component.parts})
        inner = [each for each in (graph.links[number] for number in links) if NodeId(each.a) not in fabric.nodes]
        step = -(-len(inner) // OF_SWITCH) if component.kind is ComponentKind.SWITCH else 1
        yield from (each.id for each in inner[::step])


def _list_nodes(context: JudgingContext, component: Component) -> Sequence[NodeId]:
    """The nodes whose NICs tell of a component: its own, or those at a switch."""
    if component.kind is ComponentKind.SWITCH:
        return [node.id for node in context.fabric.attached(component.device)]
    node = NodeId(component.device)
    return [node] if node in context.fabric.nodes else []


def _add_partners(
    context: JudgingContext, asked: Sequence[NodeId], suspected: Collection[NodeId], nodes: Collection[NodeId]
) -> list[NodeId]:
    """``asked``, and beside each as many nodes cabled alike as it needs partners, those that nothing suspects first."""
    chosen = set(asked)
    for group in group_alike(context.fabric, [node for node in context.fabric.nodes if node in nodes]):
        own = [node for node in group if node in chosen]
        if own:
            others = sorted((node for node in group if node not in chosen), key=lambda node: node in suspected)
            chosen.update(others[: max(SHIFTS + 1 - len(own), 0) + (SHIFTS if len(own) > 1 else 0)])
    return [node for node in context.fabric.nodes if node in chosen]


def _make_stage(
    context: JudgingContext, probe: Probe, nodes: Collection[NodeId], streams: int = 0, **options: str | int | float
) -> Stage:
    """A stage with so many ``streams`` a flow; as many as the hashes need unless they are given."""
    count = streams or count_streams(context.fabric, trunks=options["design"] != "neighbours").streams
    every = {probe.sending_options.streams: count, **options}
    return Stage(probe.name, tuple(nodes), MappingProxyType(every))
