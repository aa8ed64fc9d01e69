"""Which ceilings a directed link passes, and with which part of what it carries: those inside devices, and the layers
of storage systems below their servers.
"""

from collections.abc import Mapping, Sequence

from benchconsole.topology.model.ceiling import Ceiling, CeilingSide
from benchconsole.topology.model.fabric import Direction, Fabric, Link
from benchconsole.topology.model.storage import LayerLimit
from benchconsole.topology.routing.graph import Graph

PassedBy = Mapping[int, tuple[tuple[CeilingSide, tuple[bool, ...]], ...]]
"""Number of a directed link to the ceilings that it passes, and which of its members do."""


def find_passed(graph: Graph) -> PassedBy:
    """The ceilings of every directed link that passes any."""
    fabric = graph.fabric
    found: dict[int, list[tuple[CeilingSide, tuple[bool, ...]]]] = {}
    for device, ceilings in fabric.ceilings.items():
        for link in fabric.links_at[device]:
            out = graph.way(link, device)
            for ceiling in ceilings:
                inside = list_inside(link, device, ceiling)
                if any(inside):
                    for way, inward in ((out, False), (out ^ 1, True)):
                        found.setdefault(way, []).append((CeilingSide(device, ceiling.name, inward), inside))
    for limit in fabric.layer_limits:
        side = make_layer_side(limit)
        for server in limit.servers:
            for link in fabric.links_at[server]:
                way = graph.way(link, link.other(server) if side.inward else server)
                found.setdefault(way, []).append((side, (True,) * link.count))
    return {way: tuple(each) for way, each in found.items()}


def list_inside(link: Link, device: str, ceiling: Ceiling) -> tuple[bool, ...]:
    """Per member cable of ``link`` whether its port at ``device`` is below ``ceiling``."""
    if ceiling.ports is None:
        return (True,) * link.count
    ports = link.ports_a if device == link.a else link.ports_b
    return tuple(port in ceiling.ports for port in ports) or (False,) * link.count


def sum_inside(fabric: Fabric, device: str, ceiling: Ceiling) -> tuple[int, float]:
    """How many cables of a device pass ``ceiling``, and the byte/s that they carry together on the wire, one way."""
    inside = [
        speed
        for link in fabric.links_at[device]
        for speed, is_inside in zip(link.members, list_inside(link, device, ceiling), strict=True)
        if is_inside
    ]
    return len(inside), sum(inside)


def make_layer_side(limit: LayerLimit) -> CeilingSide:
    """The side that stands for a layer of a storage system."""
    return CeilingSide(f"storage {limit.system}", limit.layer, limit.operation == "write")


def find_layer(fabric: Fabric, side: CeilingSide) -> LayerLimit | None:
    """The layer of a storage system that ``side`` stands for; None for a side of a device."""
    return next((limit for limit in fabric.layer_limits if make_layer_side(limit) == side), None)


def find_ceiling(fabric: Fabric, side: CeilingSide) -> Ceiling:
    """The ceiling of one side of a device."""
    return next(each for each in fabric.ceilings[side.device] if each.name == side.name)


def compute_payload(fabric: Fabric, side: CeilingSide) -> float:
    """byte/s of payload that passes a side; of ports in several networks by the one with the most headers."""
    layer = find_layer(fabric, side)
    if layer is not None:
        return layer.rate
    ceiling = find_ceiling(fabric, side)
    links = (link for link in fabric.links_at[side.device] if any(list_inside(link, side.device, ceiling)))
    return ceiling.rate * min(map(fabric.goodput_of, links))


def place_side(fabric: Fabric, side: CeilingSide) -> Direction:
    """The first directed link that passes a side: it stands for the ceiling where links are named."""
    layer = find_layer(fabric, side)
    if layer is not None:
        server, link = next((server, link) for server in layer.servers for link in fabric.links_at[server])
        return Direction(link.id, link.other(server) if side.inward else server)
    ceiling = find_ceiling(fabric, side)
    link = next(each for each in fabric.links_at[side.device] if any(list_inside(each, side.device, ceiling)))
    return Direction(link.id, link.other(side.device) if side.inward else side.device)


def describe_ceilings(fabric: Fabric, device: str, legs: Sequence[Link]) -> tuple[object, ...]:
    """All that rates depend on of the ceilings of a device, with the places of ``legs`` that pass each."""
    return tuple(
        (each.name, each.rate, each.kind, tuple(list_inside(link, device, each) for link in legs))
        for each in fabric.ceilings.get(device, ())
    )


def sum_legs(fabric: Fabric, device: str, legs: Sequence[Link]) -> float:
    """byte/s of payload that ``legs`` of a device carry together in one direction, as far as its ceilings let them.

    Exact where of two ceilings with ports in common one has all ports of the other, as a slot and a half of a machine.
    """
    groups = [(frozenset((link.id,)), fabric.payload(link)) for link in legs]
    limits = [
        (frozenset(link.id for link in legs if all(list_inside(link, device, each))), each)
        for each in fabric.ceilings.get(device, ())
    ]
    for inside, ceiling in sorted(limits, key=lambda limit: (len(limit[0]), limit[1].rate)):
        within = [group for group in groups if group[0] <= inside]
        if within:
            share = min(fabric.goodput_of(fabric.links[link]) for link in inside)
            rate = min(ceiling.rate * share, sum(rate for _, rate in within))
            groups = [group for group in groups if group not in within]
            groups.append((frozenset().union(*(links for links, _ in within)), rate))
    return sum(rate for _, rate in groups)
