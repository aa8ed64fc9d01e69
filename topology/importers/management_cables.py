"""Puts cables of management NICs into a network of their own, for sources that do not say what a port is for.

In one network with the ports for data, flows would be routed over them and held to their speed. A switch is taken for
one of management where most cables of nodes there are slow ports beside a much faster one of the same node, and none
is faster than these.
"""

from collections.abc import Collection, Sequence
from types import MappingProxyType

from benchconsole.topology.copying import replace
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.importers.bundles import SourceCable
from benchconsole.topology.importers.draft import Draft
from benchconsole.topology.model.network import NetworkRole
from benchconsole.topology.units import parse_link_speed

FASTER = 4.0
"""Times the speed of a port from which another one of its node is more likely the one for data."""

NETWORK = "mgmt"
NOTE = "taken for management: slower than the ports for data"

_FASTEST = 10e9 / 8
"""byte/s of a port that may be one for management; a faster one is there for data."""


def part_management(draft: Draft) -> None:
    """Move the cables to switches of management, and those between two of these, into the network for it."""
    switches = _find_switches(draft)
    if not switches:
        return
    draft.section("networks", NETWORK, {"role": NetworkRole.MANAGEMENT.value}, draft.start)
    inside = switches | {name for name, device in draft.devices.items() if not device.switch}
    draft.cables = [
        _move(cable) if inside.issuperset(ends := (cable.a, cable.b)) and not switches.isdisjoint(ends) else cable
        for cable in draft.cables
    ]


def _move(cable: SourceCable) -> SourceCable:
    note = "; ".join(filter(None, (cable.note, NOTE)))
    return replace(cable, fields=MappingProxyType({**cable.fields, "network": NETWORK}), note=note)


def _find_switches(draft: Draft) -> set[str]:
    """The switches that nothing but slow second ports of nodes says anything of."""
    is_switch = {name: device.switch for name, device in draft.devices.items()}
    legs = [
        (*ends, cable)
        for cable in draft.cables
        for ends in ((cable.a, cable.b), (cable.b, cable.a))
        if is_switch.get(ends[0]) is False and is_switch.get(ends[1]) is True
    ]
    of_node = group_by_key((node, cable) for node, _, cable in legs)
    slow = {id(cable) for cables in of_node.values() for cable in _list_slow(cables)}
    found: set[str] = set()
    for switch, cables in group_by_key((switch, cable) for _, switch, cable in legs).items():
        speeds = [_read_speed(cable) for cable in cables if id(cable) in slow]
        others = [_read_speed(cable) for cable in cables if id(cable) not in slow]
        if len(speeds) > len(others) and all(each <= max(speeds) for each in others):
            found.add(switch)
    return found


def _list_slow(cables: Sequence[SourceCable]) -> list[SourceCable]:
    """The cables of one node that are much slower than another one of it, and in no bond with such a one."""
    speeds = {id(cable): _read_speed(cable) for cable in cables}
    fastest = max(speeds.values())
    fast_bonds = [cable.fields.get("bond") for cable in cables if FASTER * speeds[id(cable)] > fastest]
    return [
        cable
        for cable in cables
        if 0 < speeds[id(cable)] <= min(fastest / FASTER, _FASTEST) and not _is_bonded_with(cable, fast_bonds)
    ]


def _is_bonded_with(cable: SourceCable, bonds: Collection[object]) -> bool:
    return cable.fields.get("bond") is not None and cable.fields.get("bond") in bonds


def _read_speed(cable: SourceCable) -> float:
    """byte/s; 0 where the source does not say."""
    return parse_link_speed(cable.speed) if cable.speed is not None else 0.0
