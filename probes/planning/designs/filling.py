"""Shared by designs that fill elements: how full flows load each link, and the bundle that they make."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from benchconsole.probes.model.measuring import FULL, Bundle
from benchconsole.topology.capacity.expect import expect
from benchconsole.topology.element_names import direction_name, is_nic
from benchconsole.topology.model.fabric import Direction, Fabric, Flow
from benchconsole.topology.routing.routes import Routes
from benchconsole.topology.units import counted

HEADROOM = 2.0
"""How much more the senders of an element can offer than it carries, where there are enough of them."""

SAME = 1e-6
"""Links that are filled to within this are filled alike."""


def compute_fill(fabric: Fabric, flows: Sequence[Flow], routes: Routes) -> dict[Direction, float]:
    """How full each directed link is expected to be, as a share of its payload capacity."""
    rates = np.array([found.value for found in expect(fabric, flows, routes=routes)])
    found = [routes.route(flow) for flow in flows]
    ways, at = np.unique(np.concatenate([route.ways for route in found]), return_inverse=True)
    carried = np.concatenate([route.shares * rate for route, rate in zip(found, rates, strict=True)])
    load = np.bincount(at, weights=carried).tolist()
    named_ways = [routes.graph.direction(way) for way in ways.tolist()]
    return {way: value / fabric.payload(fabric.links[way.link]) for way, value in zip(named_ways, load, strict=True)}


def make_bundle(
    fabric: Fabric, way: Direction, full: Mapping[Direction, float], covered: Collection[Direction]
) -> Bundle:
    """The bundle of flows that are to fill ``way``, with the links between switches that are as full as it.

    Links that fill together are named together. Where ``way`` cannot be filled, its equals are those
    that nothing else has ``covered`` and that are loaded just as far.
    """
    fill = full.get(way, 0.0)
    trunks = [other for other in full if not is_nic(fabric, other)]
    if fill >= FULL:
        elements = tuple(sorted(other for other in trunks if full[other] >= FULL))
    else:
        same = (other for other in trunks if abs(full[other] - fill) <= SAME and other not in covered)
        elements = tuple(sorted({way, *same}))
    further = f" and {counted(len(elements) - 1, 'equal link')}" if len(elements) > 1 else ""
    return Bundle(direction_name(fabric, elements[0]) + further, elements, fill)
