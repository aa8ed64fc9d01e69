"""Ceilings that directed links pass: those inside the devices at their ends, and the layers of storage systems below
their servers.
"""

from collections.abc import Mapping
from itertools import count

from benchconsole.topology.model.ceiling import Ceiling, CeilingSide
from benchconsole.topology.model.fabric import Fabric, Link
from benchconsole.topology.model.storage import LayerLimit

PassedBy = Mapping[int, tuple[tuple[CeilingSide, tuple[bool, ...]], ...]]
"""Number of a directed link to the ceilings that it passes, and which of its members do."""


def find_passed(fabric: Fabric) -> PassedBy:
    """The ceilings of every directed link that passes any."""
    if not fabric.ceilings and not fabric.layer_limits:
        return {}
    number = dict(zip(fabric.links, count()))
    found: dict[int, list[tuple[CeilingSide, tuple[bool, ...]]]] = {}
    for device, ceilings in fabric.ceilings.items():
        for link in fabric.links_at[device]:
            out = 2 * number[link.id] + (device != link.a)
            for ceiling in ceilings:
                inside = list_inside(link, device, ceiling)
                if any(inside):
                    for way, inward in ((out, False), (out ^ 1, True)):
                        found.setdefault(way, []).append((CeilingSide(device, ceiling.name, inward), inside))
    for limit in fabric.layer_limits:
        side = make_layer_side(limit)
        for server in limit.servers:
            for link in fabric.links_at[server]:
                way = 2 * number[link.id] + (side.inward is (server == link.a))
                found.setdefault(way, []).append((side, (True,) * link.count))
    return {way: tuple(each) for way, each in found.items()}


def list_inside(link: Link, device: str, ceiling: Ceiling) -> tuple[bool, ...]:
    """Per member cable of ``link`` whether its port at ``device`` is below ``ceiling``."""
    if ceiling.ports is None:
        return (True,) * link.count
    ports = link.ports_a if device == link.a else link.ports_b
    return tuple(port in ceiling.ports for port in ports) or (False,) * link.count


def make_layer_side(limit: LayerLimit) -> CeilingSide:
    """The side that stands for a layer of a storage system."""
    return CeilingSide(f"storage {limit.system}", limit.layer, limit.operation == "write")
