"""Names of what limits a flow: links in one direction, and ceilings inside devices."""

from benchconsole.topology.capacity.ceiling_loads import find_ceiling, find_layer
from benchconsole.topology.capacity.expect import Expectation
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.ceiling import CeilingSide
from benchconsole.topology.model.fabric import Direction, Fabric


def list_limits(rate: Expectation) -> list[Direction | CeilingSide]:
    """The links that tie as the limit of a flow; the ceilings instead of the links that stand for them."""
    inside = group_by_key((part.way, part.ceiling) for part in rate.parts if part.ceiling is not None)
    return [limit for way in rate.limiting for limit in inside.get(way, [way])]


def name_limit(fabric: Fabric, limit: Direction | CeilingSide) -> str:
    """``leaf1 to spine1``, ``g01:p1 out``, ``g01 slot1 out (PCIe 4.0 x8)``, ``storage scratch, write: 24 x disks``."""
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
