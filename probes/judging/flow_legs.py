"""The legs of nodes that tests between two nodes load, found by the routing that their flows are judged by."""

from collections.abc import Collection, Iterator
from functools import cached_property

from benchconsole.probes.model.measuring import Test
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Fabric, Flow, Link, LinkId
from benchconsole.topology.routing.attachment import Legs
from benchconsole.topology.routing.port_choice import PortChoice
from benchconsole.topology.routing.routes import Routes


class FlowLegs:
    """The legs of flows on one fabric; nothing is computed before the first is asked for.

    Nodes that are cabled alike use the same of their legs, which are looked up once for all of them.
    """

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self._known: dict[object, tuple[tuple[int, ...], tuple[int, ...]]] = {}

    @cached_property
    def _routes(self) -> Routes:
        return Routes(self.fabric)

    @cached_property
    def _choice(self) -> PortChoice:
        return PortChoice(self._routes.graph)

    def list_legs(self, test: Test) -> list[LinkId]:
        """The legs of both nodes that the flows of ``test`` cross; none of a node of which nobody knows which it was.

        That is so where it has several ports to rails or planes, and the test names none of them, and where fewer
        streams than legs were sent: each goes over one. A virtual machine has no legs: those of its host are wider than
        it is.
        """
        streams = test.sending.streams
        used = (own for own in self._list_used(test) if len(own[0]) <= streams)
        return [link for own, unknown in used for link in own if link not in unknown]

    def is_unsure(self, test: Test) -> bool:
        """Whether nobody knows which ports ``test`` takes at one of its ends, and so not what lies beyond."""
        return any(not unknown.isdisjoint(own) for own, unknown in self._list_used(test))

    def _list_used(self, test: Test) -> Iterator[tuple[list[LinkId], frozenset[LinkId]]]:
        """Per node of ``test`` the legs that its flows cross, and those from which it may choose."""
        try:
            crossed = {link.id for flow in test.flows for link in self._list_crossed(flow)}
        except RoutingError:  # no path is described: only of a node with one leg it is known
            lone = (self.fabric.active_legs(node.id) for node in test.target.nodes)
            crossed = {legs[0].id for legs in lone if len(legs) == 1}
        for node, leg in ((test.target.node, test.sending.leg), (test.target.peer, test.sending.peer_leg)):
            if node is not None:
                own = [link.id for link in self.fabric.active_legs(node.id) if link.id in crossed]
                yield own, frozenset() if leg else self._choice.find(node.id)

    def _list_crossed(self, flow: Flow) -> Iterator[Link]:
        """The legs at both ends of a flow that it crosses. RoutingError without a path."""
        routes = self._routes.within(flow)
        source, sink = routes.attachments.of(flow)
        # Those that forward are on the way of others, so each of them counts by itself.
        forwarding = [legs.device for legs in (source, sink) if legs.device in routes.graph.vertex]
        key = (routes, source.attachment, sink.attachment, *forwarding)
        if key not in self._known:
            crossed = {way >> 1 for way in routes.route(flow).ways.tolist()}
            self._known[key] = _find_places(source, crossed), _find_places(sink, crossed)
        for legs, places in zip((source, sink), self._known[key], strict=True):
            yield from (legs.links[place] for place in places)


def _find_places(legs: Legs, crossed: Collection[int]) -> tuple[int, ...]:
    """The places of those legs that are among the links of these numbers."""
    return tuple(place for place, way in enumerate(legs.ways) if way >> 1 in crossed)
