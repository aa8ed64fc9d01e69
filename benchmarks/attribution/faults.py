"""Faults that are planted: their kinds, the cables that each of them harms, and draws of several at once."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from benchconsole.topology.model.fabric import Fabric, NodeRole
from benchmarks.attribution.cable_paths import Cabling
from benchmarks.attribution.cable_simulator import Damage

Member = tuple[str, int]
"""The id of a link and one of its cables, from 0, whatever the direction."""


class FaultKind(StrEnum):
    """The kind of a fault."""

    NIC_ONE_WAY = "NIC 30 % one way"
    NIC = "NIC 30 %"
    LEG_LOST = "bond leg lost"
    MEMBER_LOST = "LAG member lost"
    CABLE = "cable 10 %"
    CABLE_ONE_WAY = "cable 10 % one way"
    SWITCH = "switch 50 %"
    STORAGE = "storage server 30 %"


@dataclass(frozen=True, slots=True)
class Fault:
    """One broken element: a node, a link or a switch by its id, and the ``cables`` that it harms.

    ``left`` is the share that a directed cable still carries, by its number; 0 for one that is lost.
    """

    kind: FaultKind
    element: str
    cables: frozenset[Member]
    left: Mapping[int, float]

    @property
    def links(self) -> frozenset[str]:
        """The ids of the links that it harms."""
        return frozenset(link for link, _ in self.cables)


class FaultDraw:
    """Draws faults of one fabric, on cables that flows between its nodes cross."""

    def __init__(self, cabling: Cabling) -> None:
        self._cabling = cabling
        used = _list_used(cabling)
        fabric = cabling.fabric
        trunks = [link for link in fabric.links.values() if link.a in fabric.switches and link.id in used]
        bonded = [node for node in fabric.nodes if len(cabling.legs(node)) > 1]
        stores = [node.id for node in fabric.nodes.values() if node.role is NodeRole.STORAGE]
        switches = sorted({end for link in trunks for end in (link.a, link.b)})
        nodes = [node for node in fabric.nodes if node not in stores]
        tiers = _by_tier(fabric, [link.id for link in trunks])
        lags = _by_tier(fabric, [link.id for link in trunks if link.is_lag])
        self._elements: Mapping[FaultKind, Sequence[Sequence[str]]] = {
            FaultKind.NIC_ONE_WAY: [nodes],
            FaultKind.NIC: [nodes],
            FaultKind.LEG_LOST: [bonded],
            FaultKind.MEMBER_LOST: lags,
            FaultKind.CABLE: tiers,
            FaultKind.CABLE_ONE_WAY: tiers,
            FaultKind.SWITCH: [switches],
            FaultKind.STORAGE: [stores],
        }

    @property
    def kinds(self) -> tuple[FaultKind, ...]:
        """The kinds that this fabric can have."""
        return tuple(kind for kind, groups in self._elements.items() if any(groups))

    def draw(self, chance: random.Random, count: int, kinds: Sequence[FaultKind] = ()) -> tuple[Fault, ...]:
        """``count`` faults that share no link; every kind, and every tier of it, is as likely."""
        found: list[Fault] = []
        while len(found) < count:
            kind = chance.choice(kinds or self.kinds)
            element = chance.choice(chance.choice([group for group in self._elements[kind] if group]))
            fault = Fault(kind, element, *_PLANTED[kind](self._cabling, element, chance))
            if all(fault.links.isdisjoint(each.links) for each in found):
                found.append(fault)
        return tuple(found)


def make_damage(faults: Sequence[Fault]) -> Damage:
    """The damage that faults on different cables do to a fabric together."""
    left = {cable: share for fault in faults for cable, share in fault.left.items()}
    lost = frozenset(cable for cable, share in left.items() if share == 0)
    return Damage(lost, MappingProxyType({cable: share for cable, share in left.items() if share > 0}))


_Harm = tuple[frozenset[Member], Mapping[int, float]]


def _harm(cabling: Cabling, left: Mapping[int, float]) -> _Harm:
    cables = (cabling.cables[number] for number in left)
    return frozenset((cable.link, cable.member) for cable in cables), left


def _slow_nic(cabling: Cabling, node: str, _chance: random.Random) -> _Harm:
    return _harm(cabling, dict.fromkeys(cabling.cables_at(node), 0.3))


def _slow_nic_one_way(cabling: Cabling, node: str, chance: random.Random) -> _Harm:
    back = chance.randrange(2)
    return _harm(cabling, {leg ^ back: 0.3 for leg in cabling.legs(node)})


def _lost_leg(cabling: Cabling, node: str, chance: random.Random) -> _Harm:
    leg = chance.choice(cabling.legs(node))
    return _harm(cabling, {leg: 0.0, leg ^ 1: 0.0})


def _lost_member(cabling: Cabling, link: str, chance: random.Random) -> _Harm:
    first = chance.choice(cabling.cables_of(link)[::2])
    return _harm(cabling, {first: 0.0, first ^ 1: 0.0})


def _slow_cable(cabling: Cabling, link: str, chance: random.Random) -> _Harm:
    first = chance.choice(cabling.cables_of(link)[::2])
    return _harm(cabling, {first: 0.1, first ^ 1: 0.1})


def _slow_cable_one_way(cabling: Cabling, link: str, chance: random.Random) -> _Harm:
    return _harm(cabling, {chance.choice(cabling.cables_of(link)): 0.1})


def _slow_switch(cabling: Cabling, switch: str, _chance: random.Random) -> _Harm:
    return _harm(cabling, dict.fromkeys(cabling.cables_at(switch), 0.5))


_PLANTED: Mapping[FaultKind, Callable[[Cabling, str, random.Random], _Harm]] = {
    FaultKind.NIC_ONE_WAY: _slow_nic_one_way,
    FaultKind.NIC: _slow_nic,
    FaultKind.LEG_LOST: _lost_leg,
    FaultKind.MEMBER_LOST: _lost_member,
    FaultKind.CABLE: _slow_cable,
    FaultKind.CABLE_ONE_WAY: _slow_cable_one_way,
    FaultKind.SWITCH: _slow_switch,
    FaultKind.STORAGE: _slow_nic,
}


def _by_tier(fabric: Fabric, links: Sequence[str]) -> list[list[str]]:
    """Links in groups by the roles of the switches at their ends."""
    found: dict[tuple[str, ...], list[str]] = {}
    for name in links:
        link = next(each for each in fabric.links.values() if each.id == name)
        roles = sorted(switch.role for switch in fabric.switches.values() if switch.id in {link.a, link.b})
        found.setdefault(tuple(roles), []).append(name)
    return list(found.values())


def _list_used(cabling: Cabling) -> set[str]:
    """The links that data between nodes crosses: of the nodes of one switch one speaks for all."""
    ends: dict[frozenset[str], list[str]] = {}
    for node in cabling.fabric.nodes:
        ends.setdefault(frozenset(cabling.cables[leg].end for leg in cabling.legs(node)), []).append(node)
    pairs = [(own[0], other[-1]) for own in ends.values() for other in ends.values() if own[0] != other[-1]]
    return {
        cabling.cables[cable].link
        for source, sink in pairs
        for _, path in cabling.list_paths(source, sink)
        for cable in path
    }
