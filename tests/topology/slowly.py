"""The right results of the static analyses, worked out device by device on the fabric itself: no table and no trick.

One failure is a fabric described without the element (``topology.model.failed_elements.remove_elements``).
"""

import math
from collections.abc import Collection, Iterator, Mapping

from benchconsole.topology.model.fabric import Fabric, Link
from benchconsole.topology.model.failed_elements import remove_elements

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
    """The capacity from below into a group, and the capacity that leads up from it."""
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
            down, up, _ = sums(remove_elements(fabric, members={link.id: 1}), switch)
            yield quotient(down, up)


def after_each_switch(fabric: Fabric, switch: str) -> Iterator[float]:
    """The ratio of a switch without another, for each."""
    for other in fabric.switches:
        if other != switch:
            down, up, _ = sums(remove_elements(fabric, switches=[other]), switch)
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


# Ways up


def label(fabric: Fabric, start: str, tier: int) -> frozenset[str]:
    """The devices that forward and are joined to ``start`` by cables up to ``tier`` only."""
    found, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        for link in fabric.links_at[here]:
            other = link.other(here)
            high = max(fabric.tier(here), fabric.tier(other))
            if other not in found and 0 < high <= tier and forwards(fabric, other):
                found.add(other)
                waiting.append(other)
    return frozenset(found)


def switches_of(fabric: Fabric, node: str) -> list[str]:
    """The switches that a node is cabled to, also by legs that wait."""
    return [link.other(node) for link in fabric.links_at[node] if link.other(node) in fabric.switches]


def meeting(fabric: Fabric, network: Collection[str]) -> int:
    """The tier up to which cables join all nodes of a network; 0 where it has none."""
    inside = [name for name in fabric.nodes if set(switches_of(fabric, name)) & set(network)]
    if not inside:
        return 0
    alone = [fabric.tier(name) for name in network if all(name in switches_of(fabric, node) for node in inside)]
    if alone:
        return max(alone)
    return next(
        tier
        for tier in range(1, 5)
        for start in network
        if all(set(switches_of(fabric, node)) & label(fabric, start, tier) for node in inside)
    )


class Ways:
    """The ways up of one fabric, followed device by device."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.capacity = usable(fabric)
        self.network: dict[str, frozenset[str]] = {
            name: frozenset(network_of(fabric, name)) for name in fabric.switches
        }
        meet = {network: meeting(fabric, network) for network in set(self.network.values())}
        self.meet: dict[str, int] = {name: meet[network] for name, network in self.network.items()}
        self.near = self._near()

    def top(self, switch: str) -> bool:
        return self.fabric.tier(switch) >= self.meet[switch]

    def trunks(self, switch: str, step: int) -> list[tuple[str, float]]:
        """Switches above (``step`` 1) or beside (0) below the top, with usable byte/s."""
        found: dict[str, float] = {}
        for link in self.fabric.links_at[switch]:
            other = link.other(switch)
            own, theirs = self.fabric.tier(switch), self.fabric.tier(other)
            right = own < theirs <= self.meet[switch] if step else own == theirs
            if other in self.fabric.switches and right and self.capacity[link.id]:
                found[other] = found.get(other, 0.0) + self.capacity[link.id]
        return list(found.items())

    def _near(self) -> dict[str, int]:
        """How many cables aside a switch is from one that is the top or has a way up."""
        found: dict[str, int] = {name: 0 for name in self.fabric.switches if self.top(name) or self.trunks(name, 1)}
        step = 0
        while True:
            fresh = {
                name
                for name in self.fabric.switches
                if name not in found and any(found.get(other) == step for other, _ in self.trunks(name, 0))
            }
            if not fresh:
                return found
            step += 1
            found.update(dict.fromkeys(fresh, step))

    def up(self, device: str, network: frozenset[str] = frozenset()) -> list[tuple[str, float]]:
        """The ways up of a switch, or of a node in ``network``."""
        if device in self.fabric.nodes:
            found: dict[str, float] = {}
            for link in self.fabric.links_at[device]:
                other = link.other(device)
                if other in network and other in self.fabric.switches and self.capacity[link.id]:
                    found[other] = found.get(other, 0.0) + self.capacity[link.id]
            return list(found.items())
        if self.top(device):
            return []
        higher = self.trunks(device, 1)
        if higher or device not in self.near:
            return higher
        return [each for each in self.trunks(device, 0) if self.near.get(each[0]) == self.near[device] - 1]

    def crossing(self, device: str, switch: str, network: frozenset[str] = frozenset()) -> float:
        """The part of the capacity of ``device`` that crosses ``switch``."""
        if device == switch:
            return 1.0
        ways = self.up(device, network)
        total = self.total(device, network)
        return sum(capacity / total * self.crossing(upper, switch) for upper, capacity in ways)

    def total(self, device: str, network: frozenset[str]) -> float:
        """byte/s of the ways up; of a node also of its legs into the other planes of the networks that lead there."""
        if device not in self.fabric.nodes:
            return sum(capacity for _, capacity in self.up(device, network))
        legs = [link for link in self.fabric.links_at[device] if link.other(device) in self.fabric.switches]
        names = {link.network for link in legs if link.other(device) in network}
        return sum(self.capacity[link.id] for link in legs if link.network in names)

    def beside(self, switch: str, dead: str | None) -> float:
        """byte/s of cables aside that help when the own ways up of a switch are gone."""
        if not self.trunks(switch, 1):
            return 0.0
        helpers = [(other, capacity) for other, capacity in self.trunks(switch, 0) if not self.top(other)]
        return sum(capacity for other, capacity in helpers if any(upper != dead for upper, _ in self.trunks(other, 1)))

    def left(self, device: str, dead: str, network: frozenset[str] = frozenset()) -> float:
        """The share of the capacity of ``device`` toward the top that is left without the switch ``dead``."""
        if device == dead:
            return 0.0
        ways = self.up(device, network)
        total = self.total(device, network)
        if not ways:
            return 1.0
        if device in self.fabric.switches and {upper for upper, _ in ways} == {dead}:
            return min(self.beside(device, dead) / total, 1.0)
        found = sum(capacity / total * self.left(upper, dead) for upper, capacity in ways)
        found += 1 - sum(capacity for _, capacity in ways) / total
        lost = dict(ways).get(dead, 0.0)
        if device in self.fabric.nodes and lost:
            found += min(self.waiting(device, dead, network), lost) / total
        return found

    def waiting(self, node: str, dead: str, network: frozenset[str]) -> float:
        """byte/s of the standby legs into ``network`` that come into use when ``dead`` takes the active one along."""
        capacity = usable(remove_elements(self.fabric, switches=[dead]))
        legs = [link for link in self.fabric.links_at[node] if link.other(node) in network and link.id in capacity]
        return sum(
            capacity[link.id] - self.capacity[link.id] for link in legs if link.other(node) in self.fabric.switches
        )


def has_other_plane(fabric: Fabric, ways: Ways, node: str, network: frozenset[str]) -> bool:
    """Whether each network of the legs of ``node`` into ``network`` has a leg into another part too."""
    legs = [link for link in fabric.links_at[node] if link.other(node) in fabric.switches]
    parts: dict[str, set[frozenset[str]]] = {}
    for link in legs:
        parts.setdefault(link.network, set()).add(ways.network[link.other(node)])
    return all(len(parts[link.network]) > 1 for link in legs if link.other(node) in network)


def cut_without(fabric: Fabric, ways: Ways, dead: str) -> int:
    """Machines that are cut off when ``dead``, something that forwards, is gone."""
    start = dead if dead in fabric.switches else switches_of(fabric, dead)[0]
    network = ways.network[start]
    inside = {name: set(switches_of(fabric, name)) & network for name in fabric.nodes}
    counted = {
        node: 0 if has_other_plane(fabric, ways, node, network) else number for node, number in machines(fabric).items()
    }
    parts: list[set[str]] = []
    for name in network - {dead}:
        if not any(name in part for part in parts):
            parts.append(network_of(fabric, name, [dead]) & network)
    held = [
        (
            sum(name in fabric.switches and ways.top(name) for name in part),
            sum(counted[node] for node, switches in inside.items() if switches & part),
        )
        for part in parts
    ]
    total = sum(counted[node] for node, switches in inside.items() if switches)
    return total - max(held, default=(0, 0))[1]
