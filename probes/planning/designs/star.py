"""The design ``star``: every node with each of some servers, one direction at a time of each."""

from benchconsole.probes.model.errors import PlanError
from benchconsole.probes.planning.layout import DesignRequest, FlowLayout
from benchconsole.topology.errors import SelectionError
from benchconsole.topology.model.fabric import NodeId, NodeRole
from benchconsole.topology.selection import fold, select


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """Each server to each node, and back; a server talks to as many at once as its links carry.

    Servers are what the option names, else the management nodes; PlanError where they are not in the selection.
    """
    text, selected = request.options.text("servers"), set(request.nodes)
    if text:
        try:
            named = list(select(request.fabric, text))
        except SelectionError as error:
            raise PlanError(f"option servers: {error}") from error
    else:
        named = [node for node in request.nodes if request.fabric.nodes[node].role is NodeRole.MANAGEMENT]
    outside = [node for node in named if node not in selected]
    if outside:
        raise PlanError(f"option servers: found {fold(outside)}, expected nodes of the selection; add them to it")
    if not named:
        raise PlanError("option servers: found none and no management node, expected the names of servers")
    classes = request.flow_classes
    pairs: dict[tuple[NodeId, NodeId], None] = {}
    for server in named:
        for node in request.nodes:
            for pair in ((server, node), (node, server)):
                if node != server and classes.find_class(*pair) is not None:
                    pairs[pair] = None
    because = f"every node with {fold(named)}, both ways, as many at once as its links carry"
    return [FlowLayout(because, pairs=list(pairs), any_order=True)] if pairs else []
