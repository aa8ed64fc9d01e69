"""The design ``one-way``: some nodes send to others, all at once, and share what lies between on purpose."""

from collections import Counter
from collections.abc import Sequence

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Bundle
from benchconsole.probes.planning.designs.filling import compute_fill, make_bundle
from benchconsole.probes.planning.designs.stress import MOST_FLOWS
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout, FlowLoad
from benchconsole.topology.element_names import direction_name, is_nic
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import Flow, NodeId
from benchconsole.topology.selection import fold, select
from benchconsole.topology.units import counted

ONE_TO_ONE, EACH = PAIRINGS = ("one-to-one", "each")
"""How senders and receivers are paired: in turn until the longer list ends, or each with each."""


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """All flows as one load, judged by their sum where they share a link; PlanError where there is none, or too many.

    Senders and receivers have to be among the selected nodes.
    """
    senders, receivers = _choose(request, "from"), _choose(request, "to")
    pairing = request.options.choice("pairing", PAIRINGS)
    flows = [Flow(*pair) for pair in _pair(senders, receivers, pairing) if _has_way(request, *pair)]
    if not flows:
        raise PlanError(f"found no way from {fold(senders)} to {fold(receivers)}, expected one for each pair")
    if len(flows) > MOST_FLOWS:
        raise PlanError(f"found {counted(len(flows), 'flow')}, expected at most {MOST_FLOWS} at once")
    because = f"{counted(len(flows), 'flow')} at once from {fold(senders)} to {fold(receivers)}"
    bundle = _find_bundle(request, flows)
    if bundle is None:
        return [FlowLayout(f"{because}, which share no link", pairs=[(each.source, each.sink) for each in flows])]
    return [FlowLayout(f"{because}, which share {bundle.name}", loads=[FlowLoad(tuple(flows), bundle)])]


def _choose(request: DesignRequest, name: str) -> list[NodeId]:
    text, selected = request.options.text(name), set(request.nodes)
    if not text:
        raise PlanError(f"option {name}: found nothing, expected nodes such as n[01-16]")
    try:
        found = list(select(request.fabric, text))
    except SelectionError as error:
        raise PlanError(f"option {name}: {error}") from error
    outside = [node for node in found if node not in selected]
    if outside:
        raise PlanError(f"option {name}: found {fold(outside)}, expected nodes of the selection; add them to it")
    return found


def _pair(senders: Sequence[NodeId], receivers: Sequence[NodeId], pairing: str) -> list[tuple[NodeId, NodeId]]:
    if pairing == EACH:
        return [(sender, receiver) for sender in senders for receiver in receivers if sender != receiver]
    number = max(len(senders), len(receivers))
    found = ((senders[place % len(senders)], receivers[place % len(receivers)]) for place in range(number))
    return [pair for pair in found if pair[0] != pair[1]]


def _has_way(request: DesignRequest, source: NodeId, sink: NodeId) -> bool:
    return request.flow_classes.find_class(source, sink) is not None


def _find_bundle(request: DesignRequest, flows: Sequence[Flow]) -> Bundle | None:
    """The fullest link that flows share, one between switches before a port of a node; None where they share none."""
    routes, fabric = request.flow_classes.routes, request.fabric
    crossed = Counter(way for flow in flows for way in routes.route(flow).ways.tolist())
    shared = {routes.graph.direction(way) for way, number in crossed.items() if number > 1}
    if not shared:
        return None
    full = compute_fill(fabric, flows, routes)
    way = max(sorted(shared), key=lambda way: (not is_nic(fabric, way), full[way]))
    if is_nic(fabric, way):
        return Bundle(direction_name(fabric, way), (way,), full[way])
    return make_bundle(fabric, way, {way: full[way] for way in shared}, ())
