"""Which flows are sprayed: packet by packet over all ways of the network that they enter."""

from benchconsole.topology.model.fabric import Fabric, Flow
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.routing.routes import Routes


def is_any_sprayed(fabric: Fabric) -> bool:
    """Whether any network of ``fabric`` sprays packets."""
    return any(network.routing is RoutingRule.SPRAY for network in fabric.networks.values())


def is_sprayed(routes: Routes, flow: Flow) -> bool:
    """Whether the network that ``flow`` enters sprays its packets."""
    links = routes.graph.links
    first = links[int(routes.route(flow).ways[0]) >> 1]
    return routes.fabric.routing_of(first) is RoutingRule.SPRAY
