"""Who takes part where a sweep says how many run at once: a growing load, spread over the switches.

Each point takes the beginning of one order, so that a larger point is a smaller one and more.
"""

from collections.abc import Iterable, Sequence

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.layout import FlowLayout
from benchconsole.probes.planning.sweep_points import spread_over_switches
from benchconsole.topology.model.fabric import Fabric, Flow, NodeId
from benchconsole.topology.model.sweep import CLIENTS


def take_first(fabric: Fabric, nodes: Sequence[NodeId], clients: int) -> list[NodeId]:
    """The first of ``nodes`` in an order that is spread over the switches. PlanError where there are fewer."""
    if clients > len(nodes):
        raise PlanError(f"{CLIENTS}={clients}: found {len(nodes)} selected nodes, expected as many")
    return spread_over_switches(fabric, nodes)[:clients]


def choose_flows(
    fabric: Fabric, nodes: Sequence[NodeId], layouts: Iterable[FlowLayout], clients: int
) -> list[tuple[Flow, int]]:
    """So many flows of ``layouts``, each with its source port (0: any): no two from one node, nor to one where the
    design forbids.

    PlanError where the design has no more.
    """
    flows: dict[NodeId, list[tuple[Flow, int, bool]]] = {}
    for layout in layouts:
        given = [(flow, 0) for flow in layout.flows] if not layout.loads else []
        given += [(flow, load.port) for load in layout.loads for flow in load.flows]
        for flow, port in given:
            flows.setdefault(flow.source, []).append((flow, port, layout.fans_out))
    found: list[tuple[Flow, int]] = []
    receiving: set[NodeId] = set()
    for node in spread_over_switches(fabric, nodes):
        free = (each for each in flows.get(node, ()) if each[2] or each[0].sink not in receiving)
        chosen = next(free, None)
        if chosen is not None and len(found) < clients:
            found.append(chosen[:2])
            receiving.add(chosen[0].sink)
    if len(found) < clients:
        raise PlanError(f"{CLIENTS}={clients}: found {len(found)} flows that can run at once, expected as many")
    return found
