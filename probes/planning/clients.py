"""Owns who takes part where a sweep says how many run at once: a growing load, spread over the switches.

Each point takes the beginning of one order, so that a larger point is a smaller one and more. Refuses
to leave anybody out: where there are not as many, there is no such point.
"""

from collections.abc import Iterable, Sequence

from probes.errors import PlanError
from probes.planning.layout import NONE, Layout
from probes.planning.options import Options
from probes.planning.sweeps import spread
from topology.model import Fabric, Flow, NodeId
from topology.sweep import CLIENTS


def first_of(fabric: Fabric, nodes: Sequence[NodeId], clients: int) -> list[NodeId]:
    """The first of ``nodes`` in an order that is spread over the switches. PlanError where there are fewer."""
    if clients > len(nodes):
        raise PlanError(f"{CLIENTS}={clients}: found {len(nodes)} selected nodes, expected as many")
    return spread(fabric, nodes)[:clients]


def all_at_once(
    fabric: Fabric, nodes: Sequence[NodeId], layouts: Iterable[Layout], clients: int
) -> list[tuple[Flow, Options]]:
    """So many flows of ``layouts`` with what each is given: no two from one node, nor to one where the design forbids.

    PlanError where the design has no more.
    """
    flows: dict[NodeId, list[tuple[Flow, Options, bool]]] = {}
    for layout in layouts:
        given = [(flow, NONE) for flow in layout.flows] if not layout.loads else []
        given += [(flow, load.options) for load in layout.loads for flow in load.flows]
        for flow, options in given:
            flows.setdefault(flow.source, []).append((flow, options, layout.fans_out))
    found: list[tuple[Flow, Options]] = []
    receiving: set[NodeId] = set()
    for node in spread(fabric, nodes):
        free = (each for each in flows.get(node, ()) if each[2] or each[0].sink not in receiving)
        chosen = next(free, None)
        if chosen is not None and len(found) < clients:
            found.append(chosen[:2])
            receiving.add(chosen[0].sink)
    if len(found) < clients:
        raise PlanError(f"{CLIENTS}={clients}: found {len(found)} flows that can run at once, expected as many")
    return found
