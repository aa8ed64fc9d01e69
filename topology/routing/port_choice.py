"""The ports of machines from which a flow that names none takes one, and nobody knows which: those to rails and planes.

Each has an address of its own, and which of them a name or an address of the machine means, no file says.
"""

from math import inf

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import LinkId, NodeId
from benchconsole.topology.routing.graph import Graph


class PortChoice:
    """Finds these ports on one graph, once for each machine."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._found: dict[str, frozenset[LinkId]] = {}

    def find(self, device: str) -> frozenset[LinkId]:
        """The legs of a machine from which flows in their network choose; empty where one leg or a bond carries all."""
        if device not in self._found:
            graph = self._graph
            own = graph.fabric.active_legs(device) if NodeId(device) in graph.fabric.nodes else ()
            apart = [link for link in own if graph.connection_payload[graph.way(link, link.a)] < inf]
            several = group_by_key((link.network, link.id) for link in apart).values()
            self._found[device] = frozenset(name for names in several if len(names) > 1 for name in names)
        return self._found[device]
