"""Compares the forwarding tables of a file with those that the switches have: which of them route otherwise now."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchconsole.topology.infiniband.device_names import SubnetDevices
from benchconsole.topology.infiniband.forwarding_dumps import ForwardingDump, find_destinations
from benchconsole.topology.infiniband.subnet import PortEnd, Subnet
from benchconsole.topology.model.fabric import Fabric, Link


@dataclass(frozen=True, slots=True)
class Rerouted:
    """A switch that sends ``changed`` of ``told`` destinations over other ports; the first of them in words."""

    switch: str
    changed: int
    told: int
    described: str
    seen: str


def find_rerouted(
    fabric: Fabric, dump: ForwardingDump, subnet: Subnet, devices: SubnetDevices, names: Mapping[str, str]
) -> Iterator[Rerouted]:
    """The switches of the file whose tables are not as described, in their order; ``names`` are those of the file."""
    tables = {names[devices.of[guid].name]: table for guid, table in dump.tables.items() if guid in devices.of}
    lids: dict[str, int] = {}
    for lid, end in find_destinations(dump, subnet).items():
        if end.guid in devices.of:
            node = names[devices.of[end.guid].name]
            lids[f"{node}:{devices.port(end)}"] = lid
            lids.setdefault(node, lid)
    far = {end: other for cable in subnet.cables for end, other in ((cable.a, cable.b), (cable.b, cable.a))}
    for switch, described in fabric.tables.items():
        table = tables.get(switch)
        if table is None:
            continue
        changed, told = list[tuple[str, str, str]](), 0
        for name, link in described.items():
            port = table.ports.get(lids.get(name, -1))
            if port is None:
                continue
            told += 1
            wanted, other = fabric.links[link], far.get(PortEnd(table.guid, port))
            owner = devices.of.get(other.guid) if other is not None else None
            device = names[owner.name] if owner is not None else ""
            if not _is_same(wanted, switch, port, device):
                own = _find_port(wanted, switch) or f"that to {wanted.other(switch)}"
                changed.append((name, own, f"{port}{f' to {device}' if device else ''}"))
        if changed:
            name, own, seen = min(changed)
            yield Rerouted(switch, len(changed), told, f"{name} over port {own}", f"over port {seen}")


def _find_port(link: Link, switch: str) -> str:
    ports = link.ports_a if link.a == switch else link.ports_b
    return ports[0] if ports else ""


def _is_same(link: Link, switch: str, port: int, device: str) -> bool:
    """Whether a port of the subnet is that of a link: by its number, else by the device that it leads to."""
    own = _find_port(link, switch)
    return own == str(port) if own.isdecimal() else link.other(switch) == device
