"""Paths by the forwarding tables of switches: each looks up where traffic goes to, and sends it over one cable."""

from collections.abc import Sequence

from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.forwarding import follow_tables
from benchconsole.topology.routing.graph import Graph


class TablePaths:
    """The paths of one graph by the tables of its fabric."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._found: dict[tuple[str, Sequence[str], str], tuple[int, ...]] = {}

    def find(self, source: str, names: Sequence[str], sink: str) -> tuple[int, ...]:
        """The directed links from one switch to another, for what goes to the first of ``names`` that a table has.

        RoutingError where the tables have a hole or a loop.
        """
        key = (source, names, sink)
        if key not in self._found:
            graph, fabric = self._graph, self._graph.fabric
            devices, problem = follow_tables(fabric.tables, fabric.links, source, names, sink)
            if problem:
                raise RoutingError(f"the forwarding tables have {problem}")
            self._found[key] = tuple(graph.way(link, here) for here, link in devices)
        return self._found[key]
