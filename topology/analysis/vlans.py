"""Members of each VLAN, and the capacity that a link that is split into VLANs has for each.

Rates are byte/s on the wire, as the ports are sold.
"""

import math
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchconsole.topology.analysis.static_finding import Severity, StaticFinding
from benchconsole.topology.model.fabric import Channel, Fabric, Link, LinkId, NodeId
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
    """What one VLAN may use of a split link, in each direction.

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
        """What the fuller side offers over the capacity."""
        return max(side.offered for side in self.sides) / self.capacity


@dataclass(frozen=True, slots=True)
class SplitLink:
    """A link that is split into VLANs. ``carried`` is what all members together get across from each side.

    ``stranded`` are VLANs with members on both sides that have no part of the link and no way around.
    ``ends`` are those of the link, ``cabled`` is byte/s of its members.
    """

    link: LinkId
    capacity: float
    channels: float
    lanes: tuple[Lane, ...]
    carried: tuple[float, float]
    stranded: tuple[int, ...]
    ends: tuple[str, str]
    cabled: float


@dataclass(frozen=True, slots=True)
class Membership:
    """One VLAN and its members, in the order of the nodes."""

    vlan: int
    name: str
    members: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True)
class VlanReport:
    """Every VLAN, the nodes that are in several, and the links that are split."""

    vlans: tuple[Membership, ...]
    in_several: tuple[NodeId, ...]
    split: tuple[SplitLink, ...]


def analyse_vlans(fabric: Fabric) -> VlanReport:
    """The VLANs of ``fabric`` and the links that are split into them."""
    return VlanReport(
        vlans=tuple(
            Membership(vlan.id, vlan.name, tuple(node for node in fabric.nodes if node in vlan.members))
            for vlan in fabric.vlans.values()
        ),
        in_several=tuple(node for node in fabric.nodes if len(fabric.vlans_of.get(node, ())) > 1),
        split=tuple(_split(fabric, link) for link in fabric.links.values() if link.channels),
    )


def _split(fabric: Fabric, link: Link) -> SplitLink:
    near_a, near_b = (_count_hops(fabric, end, without=link) for end in (link.a, link.b))
    sides = {node: _find_side(fabric, node, near_a, near_b) for vlan in fabric.vlans.values() for node in vlan.members}
    lanes = tuple(_make_lane(fabric, channel, sides) for channel in link.channels)
    apart = near_a.keys().isdisjoint(near_b)
    carried = [sum(min(lane.sides[end].offered, lane.capacity) for lane in lanes) for end in (0, 1)]
    return SplitLink(
        link=link.id,
        capacity=link.capacity,
        channels=sum(channel.capacity for channel in link.channels),
        lanes=lanes,
        carried=(min(carried[0], link.capacity), min(carried[1], link.capacity)),
        stranded=tuple(_find_stranded(fabric, link, sides)) if apart else (),
        ends=(link.a, link.b),
        cabled=sum(link.members),
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


def _find_side(fabric: Fabric, node: NodeId, near_a: Mapping[str, int], near_b: Mapping[str, int]) -> int | None:
    """0 or 1 for the end that ``node`` is nearer to, None where it is neither's."""
    machine = fabric.nodes[node].host or node
    from_a, from_b = (hops.get(machine, math.inf) for hops in (near_a, near_b))
    return None if from_a == from_b else int(from_b < from_a)


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


def _find_stranded(fabric: Fabric, link: Link, sides: Mapping[NodeId, int | None]) -> Iterator[int]:
    carried = {channel.vlan for channel in link.channels}
    for vlan in fabric.vlans.values():
        if vlan.id not in carried and {0, 1} <= {sides[node] for node in vlan.members}:
            yield vlan.id


def list_findings(report: VlanReport) -> list[StaticFinding]:
    """VLANs without members, nodes in several, and for split links: mistakes, fill and balance."""
    found = [
        StaticFinding(
            Severity.WARNING, "vlan-empty", f"VLAN {vlan.vlan}", f"VLAN {vlan.vlan} ({vlan.name}) has no members"
        )
        for vlan in report.vlans
        if not vlan.members
    ]
    if report.in_several:
        nodes = fold(report.in_several)
        text = f"{nodes} are in several VLANs: flows between two of them use the first that both share"
        found.append(StaticFinding(Severity.NOTE, "vlan-several", nodes, text))
    for split in report.split:
        found.extend(_describe_mistakes(split))
        found.extend(finding for lane in split.lanes for finding in _describe_fill(split, lane))
        found.extend(_describe_balance(split))
    return found


def _describe_mistakes(split: SplitLink) -> Iterator[StaticFinding]:
    for lane in split.lanes:
        if not lane.known:
            text = f"{split.link} has a part for VLAN {lane.vlan}, which is not described"
            yield StaticFinding(Severity.ERROR, "channel-vlan-unknown", split.link, text)
    if split.channels > split.cabled * (1 + 1e-9):
        text = (
            f"the VLANs of {split.link} add up to {network_rate(split.channels)}, it has {network_rate(split.cabled)}"
        )
        yield StaticFinding(Severity.ERROR, "channels-exceed-link", split.link, text)
    for vlan in split.stranded:
        text = f"VLAN {vlan} has members on both sides of {split.link}, no part of it and no other way"
        yield StaticFinding(Severity.WARNING, "vlan-stranded", split.link, text)


def _describe_fill(split: SplitLink, lane: Lane) -> Iterator[StaticFinding]:
    if lane.port is None or lane.oversubscription <= 1:
        return
    fuller = max(lane.sides, key=lambda side: side.offered)
    room = "fill" if lane.exact else "fit into"
    text = (
        f"{lane.fill} flows of {network_rate(lane.port)} {room} the {network_rate(lane.capacity)} of VLAN {lane.vlan}:"
        f" flow {lane.fill + 1} is over; its {len(fuller.members)} members on one side offer"
        f" {network_rate(fuller.offered)} ({ratio(lane.oversubscription)})"
    )
    yield StaticFinding(Severity.NOTE, "vlan-fill", split.link, text)


def _describe_balance(split: SplitLink) -> Iterator[StaticFinding]:
    """Of the two ends, the one whose VLANs are loaded the most unevenly."""
    loads = [[lane.sides[end].offered / lane.capacity for lane in split.lanes] for end in (0, 1)]
    end = max((0, 1), key=lambda each: max(loads[each]) - min(loads[each]))
    if max(loads[end]) <= _UNEVEN * min(loads[end]):
        return
    counts = ":".join(str(len(lane.sides[end].members)) for lane in split.lanes)
    numbers = ", ".join(str(lane.vlan) for lane in split.lanes)
    shares = [_format_share(lane, end) for lane in split.lanes]
    text = (
        f"{counts} members in the VLANs {numbers} on the side of {split.ends[end]}: all together get"
        f" {network_rate(split.carried[end])} of {network_rate(split.capacity)} across, one gets {', '.join(shares)}"
    )
    yield StaticFinding(Severity.WARNING, "vlan-unbalanced", split.link, text)


def _format_share(lane: Lane, end: int) -> str:
    """What one member gets when all on its side send."""
    side = lane.sides[end]
    return network_rate(min(side.offered, lane.capacity) / len(side.members)) if side.members else "nothing"
