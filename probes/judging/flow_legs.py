"""The legs of nodes that tests between two nodes load, found by the routing that their flows are judged by."""

from functools import cached_property

from benchconsole.probes.model.measuring import Test
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, LinkId
from benchconsole.topology.routing.routes import Routes


class FlowLegs:
    """The legs of flows on one fabric; nothing is computed before the first is asked for."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self.fabric)

    def list_legs(self, test: Test) -> list[LinkId]:
        """The legs of both nodes that the flows of ``test`` cross; none of a node of which nobody knows which it was.

        That is so where it has several ports to rails or planes, and the test names none of them. A virtual machine
        has no legs: those of its host are wider than it is.
        """
        graph = self._routes.graph
        try:
            ways = [way for flow in test.flows for way in self._routes.route(flow).ways.tolist()]
        except RoutingError:
            return []
        crossed = {graph.links[way >> 1].id for way in ways}
        ends = ((test.target.node, test.sending.leg), (test.target.peer, test.sending.peer_leg))
        found: list[LinkId] = []
        for node, leg in ends:
            own = self.fabric.active_legs(node.id) if node is not None else ()
            unknown = graph.find_choice(node.id) if node is not None and not leg else frozenset()
            found += [link.id for link in own if link.id in crossed and link.id not in unknown]
        return found
