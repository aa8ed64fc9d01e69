"""The legs of nodes that tests between two nodes load, found by the routing that their flows are judged by."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from benchconsole.probes.model.measuring import Test
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Link, LinkId, Node
from benchconsole.topology.routing.routes import Routes


class FlowLegs:
    """The legs of flows on one fabric; nothing is computed before the first is asked for."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self.fabric)

    @cached_property
    def _apart(self) -> frozenset[LinkId]:
        """The legs to rails and planes: of those of one node, a test takes the one that its addresses mean."""
        graph = self._routes.graph
        return frozenset(graph.links[way >> 1].id for way in np.flatnonzero(np.isfinite(graph.connection_payload)))

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
            own = [link for link in self._list_active(node) if link.id in crossed]
            if leg or not self._is_choice(node, {link.network for link in own}):
                found += [link.id for link in own]
        return found

    def _list_active(self, node: Node | None) -> Sequence[Link]:
        return () if node is None else self.fabric.active_legs(node.id)

    def _is_choice(self, node: Node | None, networks: set[str]) -> bool:
        """Whether a node has several ports of their own there."""
        apart = [each for each in self._list_active(node) if each.network in networks and each.id in self._apart]
        return len(apart) > 1
