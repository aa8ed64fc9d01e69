"""The load of flows on every link and on every node, when each flow has the rate that it should reach."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchconsole.topology.capacity.expect import Expectation
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.errors import RoutingError
from benchconsole.topology.model.fabric import Direction, Flow, NodeId
from benchconsole.topology.routing.routes import Routes


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """byte/s of payload that one directed link carries, and that it can carry."""

    way: Direction
    load: float
    capacity: float

    @property
    def share(self) -> float:
        """The part of its capacity that is used."""
        return self.load / self.capacity


@dataclass(frozen=True, slots=True)
class NodeSum:
    """byte/s of payload of all flows of a node: what it sends, and what it receives."""

    node: NodeId
    sent: float
    received: float


def compute_loads(routes: Routes, rated: Iterable[tuple[Flow, Expectation]]) -> tuple[LinkLoad, ...]:
    """The load of every link that some flow crosses, the fullest first; of equal ones by name.

    RoutingError for flows that do not divide as their routes say: hashed, steered and sprayed ones.
    """
    load = np.zeros(2 * len(routes.graph.links))
    for flow, rate in rated:
        if not rate.model.startswith(Model.FLUID.value):
            raise RoutingError(f"the load of links is that of the model fluid, and a flow is of the model {rate.model}")
        route = routes.route(flow)
        np.add.at(load, route.ways, route.shares * rate.value)
    used = np.flatnonzero(load > 0).tolist()
    found = [LinkLoad(routes.graph.direction(way), float(load[way]), float(routes.graph.payload[way])) for way in used]
    return tuple(sorted(found, key=lambda each: (-float(f"{each.share:.9g}"), each.way)))


def sum_nodes(rated: Iterable[tuple[Flow, Expectation]]) -> tuple[NodeSum, ...]:
    """The sums of every node that sends or receives, by name."""
    sums: dict[NodeId, list[float]] = {}
    for flow, rate in rated:
        sums.setdefault(flow.source, [0.0, 0.0])[0] += rate.value
        sums.setdefault(flow.sink, [0.0, 0.0])[1] += rate.value
    return tuple(NodeSum(node, sent, received) for node, (sent, received) in sorted(sums.items()))
