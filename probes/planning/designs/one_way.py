"""The design ``one-way``: some nodes send to others, all at once, and share what lies between on purpose."""

from collections import Counter
from collections.abc import Sequence
from types import MappingProxyType

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.model.measuring import Bundle
from benchconsole.probes.planning.design_options import Options
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

PEER_LEGS = "peer_legs"
"""The option that names ports of the receivers, which senders are dealt to in turn."""

OPTIONS: Options = MappingProxyType({"from": "", "to": "", "pairing": ONE_TO_ONE, PEER_LEGS: ""})
"""Options of the design, with the defaults."""

_End = tuple[NodeId, str | None]
"""A receiver, and the port that it is sent to; None: whichever its address is at."""


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """All flows as one load, judged by their sum where they share a link; PlanError where there is none, or too many.

    Senders and receivers have to be among the selected nodes. With ``peer_legs`` a receiver is one for each of these
    ports: the first ports of all of them come before the second ones.
    """
    senders, receivers = _choose(request, "from"), _choose(request, "to")
    pairing, ends = request.options.choice("pairing", PAIRINGS), _list_ends(request, receivers)
    paired = _pair(senders, ends, pairing)
    flows = [Flow(source, sink, last_leg=leg) for source, (sink, leg) in paired if _has_way(request, source, sink)]
    if not flows:
        raise PlanError(f"found no way from {fold(senders)} to {fold(receivers)}, expected one for each pair")
    if len(flows) > MOST_FLOWS:
        raise PlanError(f"found {counted(len(flows), 'flow')}, expected at most {MOST_FLOWS} at once")
    because = f"{counted(len(flows), 'flow')} at once from {fold(senders)} to {fold(receivers)}"
    bundle = _find_bundle(request, flows)
    if bundle is None and ends[0][1] is not None:
        return [FlowLayout(f"{because}, which share no link", loads=[FlowLoad((flow,)) for flow in flows])]
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


def _list_ends(request: DesignRequest, receivers: Sequence[NodeId]) -> list[_End]:
    """The receivers, or each of their ports that the option names; PlanError where one has no such port, or address."""
    legs = [leg.strip() for leg in request.options.text(PEER_LEGS).split(",") if leg.strip()]
    for leg in legs:
        lacking = [node for node in receivers if request.fabric.find_leg(node, leg) is None]
        if lacking:
            raise PlanError(f"option {PEER_LEGS}: found no port {leg} at {fold(lacking)}, expected one that links name")
        silent = [node for node in receivers if request.fabric.nodes[node].find_address(leg) is None]
        if silent:
            raise PlanError(
                f"option {PEER_LEGS}: found no address of {fold(silent)} at {leg}, expected addresses: {{{leg}: ...}}"
            )
    return [(node, leg) for leg in legs for node in receivers] or [(node, None) for node in receivers]


def _pair(senders: Sequence[NodeId], ends: Sequence[_End], pairing: str) -> list[tuple[NodeId, _End]]:
    if pairing == EACH:
        return [(sender, end) for sender in senders for end in ends if sender != end[0]]
    number = max(len(senders), len(ends))
    found = ((senders[place % len(senders)], ends[place % len(ends)]) for place in range(number))
    return [pair for pair in found if pair[0] != pair[1][0]]


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
