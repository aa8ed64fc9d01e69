"""Rates of flows under draws of every hash: many draws at once, as they share no link.

Flows are walked together where they can be (``topology.routing.hashed_walks``), else one by one; both choose alike.
"""

from collections.abc import Callable, Sequence

import numpy as np

from benchconsole.topology.arrays import Floats, Indices, join_slices
from benchconsole.topology.capacity.ceiling_loads import place_side
from benchconsole.topology.capacity.flow_model import Model
from benchconsole.topology.capacity.flow_streams import trace_flows
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.capacity.maxmin import fill_whole
from benchconsole.topology.model.fabric import Flow
from benchconsole.topology.routing.hashed_walks import CannotWalkError, HashedWalks
from benchconsole.topology.routing.routes import Routes

ComputeCapacities = Callable[[Sequence[LinkPart]], Floats]
"""byte/s of payload that each part of a link carries."""


class HashDraws:
    """``flows``, all at once, by the model HASH or POLARISED. RoutingError for a flow without a path."""

    def __init__(
        self, routes: Routes, flows: Sequence[Flow], model: Model, compute_capacities: ComputeCapacities
    ) -> None:
        self._routes = routes
        self._flows = flows
        self._model = model
        self._compute_capacities = compute_capacities
        self._demand = np.array([np.inf if flow.demand is None else flow.demand for flow in flows])
        try:
            self._walks: HashedWalks | None = HashedWalks(routes, flows, polarised=model is Model.POLARISED)
        except CannotWalkError:
            self._walks = None
        else:
            self._list_parts(self._walks)

    def _list_parts(self, walks: HashedWalks) -> None:
        """Per cable that any flow can cross the parts that it loads: its link, the member of a LAG, ceilings."""
        graph = self._routes.graph
        numbers: dict[LinkPart, int] = {}
        found: list[int] = []
        starts = []
        passed = graph.columns.passed
        for way, member in walks.cables:
            starts.append(len(found))
            direction = graph.direction(way)
            parts = [LinkPart(direction)]
            if graph.links[way >> 1].count > 1:
                parts.append(LinkPart(direction, member))
            sides = (side for side, inside in passed.get(way, ()) if inside[member])
            parts += [LinkPart(place_side(graph.fabric, side), ceiling=side) for side in sides]
            found += [numbers.setdefault(part, len(numbers)) for part in parts]
        self._parts = np.array(found, np.intp)
        self._part_start = np.array(starts, np.intp)
        self._part_count = np.diff(self._part_start, append=len(found))
        self._limits = self._compute_capacities(list(numbers))

    def compute_rates(self, seeds: Sequence[int]) -> Floats:
        """byte/s of payload of each flow (column) under the hashes of each seed (row)."""
        if self._walks is None:
            stream, part, limits = self._trace_each(seeds)
        else:
            walks = self._walks.walk(seeds)
            count = self._part_count[walks.cable]
            part = self._parts[join_slices(self._part_start[walks.cable], count)]
            stream = np.repeat(walks.walk, count)
            part = part + stream // len(self._flows) * len(self._limits)
            limits = np.tile(self._limits, len(seeds))
        rate = fill_whole(stream, part, limits, np.tile(self._demand, len(seeds)))
        return rate.reshape(len(seeds), len(self._flows))

    def _trace_each(self, seeds: Sequence[int]) -> tuple[Indices, Indices, Floats]:
        """Which stream crosses which part, and the capacity of each part, each draw with parts of its own."""
        streams: list[Indices] = []
        parts: list[Indices] = []
        limits: list[Floats] = []
        before = 0
        for number, seed in enumerate(seeds):
            drawn = trace_flows(self._routes, self._flows, self._model, seed=seed)
            streams.append(drawn.used.flow + number * len(self._flows))
            parts.append(drawn.used.link + before)
            limits.append(self._compute_capacities(drawn.parts))
            before += len(drawn.parts)
        return np.concatenate(streams), np.concatenate(parts), np.concatenate(limits)
