"""Further rounds that confirm or clear what findings only suspect, planned like any other round.

A tie, and a cause that rests on paths which source ports are only assumed to take, is a suspicion. NICs and switches
are tested by the neighbours of the node with many streams, links between switches by flows that fill one link alone.
What then carries what it should is no candidate any more.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from benchconsole.probes.api import Probe, Shape
from benchconsole.probes.judging.components import Component, ComponentKind
from benchconsole.probes.judging.context import JudgingContext
from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.judgement import ClosedRound
from benchconsole.probes.model.measuring import Against, Round
from benchconsole.probes.planning.designs.neighbours import SHIFTS, group_alike
from benchconsole.probes.planning.plan_rounds import plan, renumber
from benchconsole.probes.planning.stream_counts import count_streams
from benchconsole.topology.model.fabric import LinkId, NodeId, Stage, Suite

CONFIRMS = "confirm "
"""The beginning of the stage of every confirmation round."""

BUDGET = 180.0
"""Seconds of rounds that a session adds by itself, unless it was told otherwise."""


PARTNERS, SEED = 6, 2
"""Partners of each node whose steered streams are repeated, and the seed that chooses others than a suite does."""


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
    steered: Collection[str] = (),
    seconds: float = BUDGET,
    first: int,
) -> tuple[Round, ...]:
    """Rounds numbered from ``first`` that load each of ``suspected`` without the others, on ``nodes`` alone.

    Nodes whose ``steered`` streams crossed a suspect send further ones, with other partners and ports: of streams that
    took another way by chance few do so again.

    The rounds of a session together last at most ``seconds``; those of ``judged`` that confirm count. What was tested
    so already is not tested again. Empty where no probe of ``judged`` can send many streams, or nothing is left.
    """
    done = [each.round for each in judged if is_confirmation(each.round)]
    left = seconds - sum(each.seconds for each in done)
    probe = _find_probe(probes, judged)
    if probe is None or not suspected:
        return ()
    found: list[Round] = []
    for stage in _list_stages(context, probe, suspected, nodes, done, [each for each in nodes if each in steered]):
        try:
            planned = plan(context.fabric, Suite(CONFIRMS.strip(), (stage,)), probes, nodes=tuple(nodes))
        except PlanError:
            continue  # nothing could load it alone: it stays a suspicion
        lasts = sum(each.seconds for each in planned)
        if lasts <= left:
            left -= lasts
            found += planned
    return tuple(
        replace(each, stage=f"{CONFIRMS}{each.stage}", because=f"confirms findings: {each.because}")
        for each in renumber(found, first)
    )


def _find_probe(probes: Mapping[str, Probe], judged: Sequence[ClosedRound]) -> Probe | None:
    """The first probe of the session that fills links with many streams and is held against the fabric."""
    for name in dict.fromkeys(each.round.probe for each in judged):
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
    steered: Sequence[NodeId],
) -> Iterator[Stage]:
    """One stage for all NICs and switches, one of steered streams, then one for each link, most explained first."""
    tests = [test for each in done for test in each.tests]
    tested = {test.target.options.get("share") for test in tests}
    tested |= {node.id for test in tests if test.target.options["design"] == "neighbours" for node in test.target.nodes}
    near: dict[NodeId, None] = {}
    links: dict[LinkId, None] = {}
    for component in suspected:
        for node in _list_nodes(context, component):
            near[node] = None
        if NodeId(component.device) not in context.fabric.nodes and component.kind is not ComponentKind.SWITCH:
            graph = context.routes.graph
            links.update(
                dict.fromkeys(graph.links[context.parts.way(part) >> 1].id for part in sorted(component.parts))
            )
    asked = [node for node in near if node in nodes and node not in tested]
    if asked:
        yield _make_stage(context, probe, _add_partners(context, asked, near, nodes), design="neighbours")
    if len(steered) > 1 and all(test.target.options["design"] != "steered" for test in tests):
        options: dict[str, str | int | float] = {"design": "steered", "partners": PARTNERS, "seed": SEED}
        options[probe.sending_options.streams] = 1
        yield Stage(probe.name, tuple(steered), MappingProxyType(options))
    for link in links:
        if link not in tested:
            yield _make_stage(context, probe, nodes, design="stress", share=str(link))


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
    context: JudgingContext, probe: Probe, nodes: Collection[NodeId], **options: str | int | float
) -> Stage:
    count = count_streams(context.fabric, trunks=options["design"] != "neighbours")
    every = {probe.sending_options.streams: count.streams, **options}
    return Stage(probe.name, tuple(nodes), MappingProxyType(every))
