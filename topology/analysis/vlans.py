"""The capacity that a link that is split into VLANs has for each, in byte/s on the wire, as the ports are sold."""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.model.cable import Channel
from benchconsole.topology.model.fabric import Fabric, Link, NodeId
from benchconsole.topology.selection import fold
from benchconsole.topology.units import network_rate, ratio

_UNEVEN = 1.1
"""One VLAN loaded so many times more than another of the same link is worth a word."""


@dataclass(frozen=True, slots=True)
class VlanSide:
    """The members of one VLAN on one side of a split link: ``offered`` is the sum of their ports in byte/s."""

    members: tuple[NodeId, ...]
    offered: float


@dataclass(frozen=True, slots=True)
class Lane:
    """The capacity that one VLAN may use of a split link, in each direction.

    ``sides`` are those of ``Link.a`` and ``Link.b``. ``port`` is the fastest port of a member, None
    without members: ``fill`` flows of that speed fit, and fill it to the brim where ``exact``.
    """

    vlan: int
    known: bool
    capacity: float
    sides: tuple[VlanSide, VlanSide]
    port: float | None
    fill: int
    exact: bool

    @property
    def oversubscription(self) -> float:
        """The load that the fuller side offers, over the capacity."""
        return max(side.offered for side in self.sides) / self.capacity


@dataclass(frozen=True, slots=True)
class SplitLink:
    """A link that is split into VLANs. ``carried`` is what all members together get across from each side.

    ``channels`` is the sum of its parts in byte/s. ``stranded`` are VLANs with members on both sides that have no
    part of the link and no way around.
    """

    link: Link
    channels: float
    lanes: tuple[Lane, ...]
    carried: tuple[float, float]
    stranded: tuple[int, ...]


def analyse_vlans(fabric: Fabric) -> tuple[SplitLink, ...]:
    """The links of ``fabric`` that are split into VLANs."""
    return tuple(_split(fabric, link) for link in fabric.links.values() if link.channels)


def _split(fabric: Fabric, link: Link) -> SplitLink:
    near_a, near_b = (_count_hops(fabric, end, without=link) for end in (link.a, link.b))
    sides: dict[NodeId, int | None] = {}
    for node in (node for vlan in fabric.vlans.values() for node in vlan.members):
        # 0 or 1 for the end that it is nearer to, None where it is neither's.
        machine = fabric.nodes[node].host or node
        from_a, from_b = near_a.get(machine, math.inf), near_b.get(machine, math.inf)
        sides[node] = None if from_a == from_b else int(from_b < from_a)
    lanes = tuple(_make_lane(fabric, channel, sides) for channel in link.channels)
    apart = near_a.keys().isdisjoint(near_b)
    others = fabric.vlans.keys() - {channel.vlan for channel in link.channels} if apart else ()
    stranded = (vlan for vlan in fabric.vlans.values() if vlan.id in others)
    carried = [sum(min(lane.sides[end].offered, lane.capacity) for lane in lanes) for end in (0, 1)]
    return SplitLink(
        link=link,
        channels=sum(channel.capacity for channel in link.channels),
        lanes=lanes,
        carried=(min(carried[0], link.capacity), min(carried[1], link.capacity)),
        stranded=tuple(vlan.id for vlan in stranded if {0, 1} <= {sides[node] for node in vlan.members}),
    )


def _count_hops(fabric: Fabric, start: str, *, without: Link) -> Mapping[str, int]:
    """Distance in cables of everything that reaches ``start`` otherwise than over ``without``."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        node = fabric.nodes.get(NodeId(here))
        if node is not None and not node.forwards and here != start:
            continue
        for link in fabric.links_at[here]:
            if link is not without and link.other(here) not in found:
                found[link.other(here)] = found[here] + 1
                queue.append(link.other(here))
    return found


def _make_lane(fabric: Fabric, channel: Channel, sides: Mapping[NodeId, int | None]) -> Lane:
    vlan = fabric.vlans.get(channel.vlan)
    members = [node for node in fabric.nodes if vlan is not None and node in vlan.members]
    both = [tuple(node for node in members if sides[node] == end) for end in (0, 1)]
    speeds = [max(link.members) for node in (*both[0], *both[1]) for link in fabric.legs(node)]
    flows = channel.capacity / max(speeds) if speeds else 0.0
    return Lane(
        vlan=channel.vlan,
        known=vlan is not None,
        capacity=channel.capacity,
        sides=(VlanSide(both[0], _sum_offered(fabric, both[0])), VlanSide(both[1], _sum_offered(fabric, both[1]))),
        port=max(speeds, default=None),
        fill=int(flows + 1e-9),
        exact=abs(flows - round(flows)) < 1e-9,
    )


def _sum_offered(fabric: Fabric, nodes: tuple[NodeId, ...]) -> float:
    """byte/s of the ports of ``nodes``; those of a host count once, however many virtual machines share them."""
    machines = dict.fromkeys(fabric.nodes[node].host or node for node in nodes)
    return sum(link.capacity for machine in machines for link in fabric.links_at[machine] if not link.standby)


def list_findings(fabric: Fabric, split: Iterable[SplitLink]) -> Iterator[StaticFinding]:
    """VLANs without members, nodes in several, and for split links: mistakes, fill and balance."""
    for vlan in fabric.vlans.values():
        if vlan.members.isdisjoint(fabric.nodes):
            text = f"VLAN {vlan.id} ({vlan.name}) has no members"
            yield StaticFinding(Severity.WARNING, "vlan-empty", f"VLAN {vlan.id}", text)
    vlans_of = fabric.vlans_of
    several = [node for node in fabric.nodes if len(vlans_of.get(node, ())) > 1] if vlans_of else []
    if several:
        nodes = fold(several)
        text = f"{nodes} are in several VLANs: flows between two of them use the first that both share"
        yield StaticFinding(Severity.NOTE, "vlan-several", nodes, text)
    for each in split:
        yield from _describe_mistakes(each)
        yield from _describe_fill(each)
        yield from _describe_balance(each)


def _describe_mistakes(split: SplitLink) -> Iterator[StaticFinding]:
    link, cabled = split.link.id, sum(split.link.members)
    for lane in split.lanes:
        if not lane.known:
            text = f"{link} has a part for VLAN {lane.vlan}, which is not described"
            yield StaticFinding(Severity.ERROR, "channel-vlan-unknown", link, text)
    if split.channels > cabled * (1 + 1e-9):
        text = f"the VLANs of {link} add up to {network_rate(split.channels)}, it has {network_rate(cabled)}"
        yield StaticFinding(Severity.ERROR, "channels-exceed-link", link, text)
    for vlan in split.stranded:
        text = f"VLAN {vlan} has members on both sides of {link}, no part of it and no other way"
        yield StaticFinding(Severity.WARNING, "vlan-stranded", link, text)


def _describe_fill(split: SplitLink) -> Iterator[StaticFinding]:
    for lane in split.lanes:
        if lane.port is not None and lane.oversubscription > 1:
            fuller = max(lane.sides, key=lambda side: side.offered)
            text = (
                f"{lane.fill} flows of {network_rate(lane.port)} {'fill' if lane.exact else 'fit into'} the"
                f" {network_rate(lane.capacity)} of VLAN {lane.vlan}: flow {lane.fill + 1} is over; its"
                f" {len(fuller.members)} members on one side offer {network_rate(fuller.offered)}"
                f" ({ratio(lane.oversubscription)})"
            )
            yield StaticFinding(Severity.NOTE, "vlan-fill", split.link.id, text)


def _describe_balance(split: SplitLink) -> Iterator[StaticFinding]:
    """Of the two ends, the one whose VLANs are loaded the most unevenly."""
    loads = [[lane.sides[end].offered / lane.capacity for lane in split.lanes] for end in (0, 1)]
    end = max((0, 1), key=lambda each: max(loads[each]) - min(loads[each]))
    if max(loads[end]) <= _UNEVEN * min(loads[end]):
        return
    counts = ":".join(str(len(lane.sides[end].members)) for lane in split.lanes)
    numbers = ", ".join(str(lane.vlan) for lane in split.lanes)
    # When all on the side of a member send.
    shares = ", ".join(
        network_rate(min(side.offered, lane.capacity) / len(side.members)) if side.members else "nothing"
        for lane, side in ((lane, lane.sides[end]) for lane in split.lanes)
    )
    text = (
        f"{counts} members in the VLANs {numbers} on the side of {(split.link.a, split.link.b)[end]}: all together get"
        f" {network_rate(split.carried[end])} of {network_rate(split.link.capacity)} across, one gets {shares}"
    )
    yield StaticFinding(Severity.WARNING, "vlan-unbalanced", split.link.id, text)
