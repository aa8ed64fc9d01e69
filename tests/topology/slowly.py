"""What the static analyses should find, worked out device by device on the fabric itself, with no table and no trick.

One failure is a fabric described without the element (``topology.failure.without``).
"""

import math
from collections.abc import Collection, Iterator, Mapping

from topology.failure import without
from topology.model import Fabric, Link

EXACT = 1e-9


def numbered(fabric: Fabric) -> Mapping[str, int]:
    """Devices in the order of the tables."""
    return {name: number for number, name in enumerate((*fabric.nodes, *fabric.switches))}


def lower(fabric: Fabric, link: Link) -> str:
    """The end nearer to the nodes; of one tier the earlier device."""
    order = numbered(fabric)
    return min((link.a, link.b), key=lambda device: (fabric.tier(device), order[device]))


def usable(fabric: Fabric) -> dict[str, float]:
    """byte/s of each link that can be used now; of legs that only wait, the one to the first switch is in use."""
    found: dict[str, float] = {}
    legs = [link for link in fabric.links.values() if leg(fabric, link)]
    active = {(lower(fabric, link), link.network) for link in legs if not link.standby}
    order = numbered(fabric)
    waiting = [link for link in legs if link.standby and (lower(fabric, link), link.network) not in active]
    waiting.sort(key=lambda link: order[link.other(lower(fabric, link))])
    chosen = {(lower(fabric, link), link.network): link.id for link in reversed(waiting)}
    for link in fabric.links.values():
        waits = link.standby and leg(fabric, link)
        used = not waits or chosen.get((lower(fabric, link), link.network)) == link.id
        found[link.id] = link.capacity if used else 0.0
    return found


def leg(fabric: Fabric, link: Link) -> bool:
    """Whether ``link`` joins a node and a switch."""
    return (link.a in fabric.nodes) != (link.b in fabric.nodes)


def sums(fabric: Fabric, switch: str) -> tuple[float, float, float]:
    """Down, up and side of a switch."""
    capacity = usable(fabric)
    found = {-1: 0.0, 0: 0.0, 1: 0.0}
    own = fabric.tier(switch)
    for link in fabric.links_at[switch]:
        other = fabric.tier(link.other(switch))
        found[(other > own) - (other < own)] += capacity[link.id]
    return found[-1], found[1], found[0]


def quotient(down: float, up: float) -> float:
    """down / up, infinite where only ``up`` is nothing."""
    return down / up if up else math.inf if down else 0.0


def group_sums(fabric: Fabric, members: Collection[str]) -> tuple[float, float]:
    """What a group offers and what leads up from it."""
    capacity, inside = usable(fabric), set(members)
    down = up = 0.0
    for link in fabric.links.values():
        low = lower(fabric, link)
        high = link.other(low)
        if fabric.tier(low) == fabric.tier(high):
            continue
        if low in inside and low in fabric.nodes:
            down += capacity[link.id]
        if high in inside and low not in inside:
            down += capacity[link.id]
        if low in inside and high not in inside:
            up += capacity[link.id]
    return down, up


def after_each_cable(fabric: Fabric, switch: str) -> Iterator[float]:
    """The ratio of a switch without one upward cable, for each."""
    for link in fabric.links_at[switch]:
        if fabric.tier(link.other(switch)) > fabric.tier(switch):
            down, up, _ = sums(without(fabric, members={link.id: 1}), switch)
            yield quotient(down, up)


def after_each_switch(fabric: Fabric, switch: str) -> Iterator[float]:
    """The ratio of a switch without another, for each."""
    for other in fabric.switches:
        if other != switch:
            down, up, _ = sums(without(fabric, switches=[other]), switch)
            yield quotient(down, up)


# Reachability


def forwards(fabric: Fabric, device: str) -> bool:
    """Whether ``device`` passes on what is not for it."""
    node = fabric.nodes.get(device)  # type: ignore[call-overload]
    return node is None or node.forwards


def network_of(fabric: Fabric, start: str, dead: Collection[str] = ()) -> set[str]:
    """The forwarding devices that ``start`` (one of them) is joined to."""
    found, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        for link in fabric.links_at[here]:
            other = link.other(here)
            both_nodes = here in fabric.nodes and other in fabric.nodes
            if other not in found and forwards(fabric, other) and other not in dead and not both_nodes:
                found.add(other)
                waiting.append(other)
    return found


def machines(fabric: Fabric) -> dict[str, int]:
    """Each node with cables of its own, and how many machines it counts for."""
    found: dict[str, int] = {name: 1 for name, node in fabric.nodes.items() if node.host is None}
    for node in fabric.nodes.values():
        if node.host is not None:
            found[node.host] += 1
    return found
