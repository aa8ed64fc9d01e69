"""The design ``neighbours``: every node's NIC in both directions, inside its own switch, twice."""

from collections.abc import Sequence

from benchconsole.probes.planning.layout import DesignRequest, FlowLayout
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric, NodeId

SHIFTS = 2
"""Partners per node: with one, a slow sender and a slow receiver look alike."""


def group_alike(fabric: Fabric, nodes: Sequence[NodeId]) -> list[list[NodeId]]:
    """Nodes cabled to the same switches at the same speed, in file order."""
    legs = ((node, fabric.active_legs(node)) for node in nodes)
    found = group_by_key(
        ((*sorted(link.other(node) for link in links), sum(link.capacity for link in links)), node)
        for node, links in legs
        if links
    )
    return list(found.values())


def lay_out(request: DesignRequest) -> list[FlowLayout]:
    """Cyclic shifts inside each group: every NIC sends once and receives once in each layout."""
    groups = group_alike(request.fabric, request.nodes)
    layouts = []
    for shift in range(1, SHIFTS + 1):
        layout = FlowLayout(f"every NIC in both directions, partner {shift} further on, inside its own switch")
        for group in groups:
            if len(group) > shift:
                layout.pairs += [(node, group[(index + shift) % len(group)]) for index, node in enumerate(group)]
        if layout.pairs:
            layouts.append(layout)
    return layouts
