"""Names of what limits a flow: links in one direction, their channels of a VLAN, and ceilings inside devices."""

from benchconsole.topology.capacity.ceiling_loads import find_ceiling, find_layer
from benchconsole.topology.capacity.expect import Expectation
from benchconsole.topology.capacity.link_parts import LinkPart
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Direction, Fabric

Limit = Direction | LinkPart | CeilingSide
"""The limit of a flow: a link in one direction, its channel of a VLAN, or a ceiling inside a device."""


def list_limits(rate: Expectation) -> list[Limit]:
    """The limits of a flow that tie: links; instead of them their full channels, or the ceilings they stand for."""
    inside = group_by_key((part.way, part.ceiling or part) for part in rate.parts
                          if part.ceiling is not None or part.vlan is not None)  # fmt: skip
    return [limit for way in rate.limiting for limit in inside.get(way, [way])]


def name_limit(fabric: Fabric, limit: Limit) -> str:
    """``leaf1 to spine1``, ``mlxe-sea to mlxe-ind, VLAN 265``, ``g01:p1 out``, ``g01 slot1 out (PCIe 4.0 x8)``,
    ``storage scratch, write: 24 x disks``.
    """
    if isinstance(limit, LinkPart):
        return f"{direction_name(fabric, limit.way)}, VLAN {limit.vlan}"
    if isinstance(limit, Direction):
        return direction_name(fabric, limit)
    layer = find_layer(fabric, limit)
    if layer is not None:
        return f"{limit.device}, {layer.operation}: {layer.layer} ({layer.made})"
    return f"{limit.device} {limit.name} {'in' if limit.inward else 'out'}{name_kind(fabric, limit)}"


def name_kind(fabric: Fabric, side: CeilingSide) -> str:
    """`` (PCIe 4.0 x8)``; empty where only the rate of a ceiling in a device is known."""
    kind = find_ceiling(fabric, side).kind
    return f" ({kind})" if kind else ""
