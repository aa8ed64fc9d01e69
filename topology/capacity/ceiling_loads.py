"""The rates of ceilings inside devices and of layers of storage systems, their places, and what nodes have in common
that depends on them.
"""

from collections.abc import Iterator, Sequence

from benchconsole.topology.model.ceiling import Ceiling, CeilingSide
from benchconsole.topology.model.fabric import Direction, Fabric, Link
from benchconsole.topology.model.storage import LayerLimit
from benchconsole.topology.routing.passed_ceilings import list_inside, make_layer_side


def sum_inside(fabric: Fabric, device: str, ceiling: Ceiling) -> tuple[int, float]:
    """How many cables of a device pass ``ceiling``, and the byte/s that they carry together on the wire, one way."""
    inside = [
        speed
        for link in fabric.links_at[device]
        for speed, is_inside in zip(link.members, list_inside(link, device, ceiling), strict=True)
        if is_inside
    ]
    return len(inside), sum(inside)


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
    """All that rates depend on of the ceilings that ``legs`` of a device pass, in it and in the devices beyond."""
    own = tuple(
        (each.name, each.rate, each.kind, tuple(list_inside(link, device, each) for link in legs))
        for each in fabric.ceilings.get(device, ())
    )
    return own, tuple(tuple(_list_passed(fabric, link, link.other(device))) for link in legs)


def _list_passed(fabric: Fabric, link: Link, device: str) -> Iterator[tuple[str, tuple[bool, ...]]]:
    """The ceilings of some ports of a device that a link passes: those of all ports tell no link from another."""
    for each in fabric.ceilings.get(device, ()):
        inside = list_inside(link, device, each)
        if each.ports is not None and any(inside):
            yield each.name, inside


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
