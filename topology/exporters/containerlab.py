"""Writes a fabric as a containerlab topology: a laboratory twin with one veth pair for each cable.

Nodes and switches are containers of kind ``linux``; which image, and what makes a switch
forward, is up to the laboratory. Facts that containerlab has no word for go where it keeps such
things: of devices into ``labels`` that begin with ``benchconsole.``, of links into ``vars:
{benchconsole: ...}``. ``topology.importers.containerlab`` reads all of it back.

Carried: devices with role, model, ports, addresses, hosts of virtual machines, forwarding and the name of the
class; links with speed, count, LAG, ports, hash, bond, standby, network, cable, WAN line and channels;
networks, MLAG pairs, VLANs, chassis, racks, pods and sites. Not carried: what classes declare, ``addresses`` in
further networks, criteria, suites, storage, claims, access, parameters, and the order of pairs, VLANs and groups.
Raises ExportError for a fabric without cables, which containerlab has no use for.

Source: containerlab's manual, "Topology definition", and its ``clab.schema.json``.
"""

import json
import re
from collections.abc import Iterator, Mapping

from benchconsole.topology.exporters import ExportError
from benchconsole.topology.importers.containerlab import GROUPS, PREFIX
from benchconsole.topology.model.fabric import Fabric, HashPolicy, Link, Node, Switch
from benchconsole.topology.model.network import DATA, Network, NetworkRole, compute_goodput
from benchconsole.topology.model.port_set import PortSet
from benchconsole.topology.selection import expand_ports
from benchconsole.topology.units import format_link_speed, format_metres, format_seconds
from benchconsole.topology.writing.node_set_folding import fold_in_order
from benchconsole.topology.writing.yaml_text import format_comment, format_flow, format_scalar, quote

IMAGE = "alpine:3"
_INTERFACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,14}")
_RESERVED = ("eth0", "lo")
_LAB = re.compile(r"[^A-Za-z0-9_.-]+")


def export(fabric: Fabric) -> str:
    """The text of a ``*.clab.yml``. Raises ExportError for a fabric without cables."""
    if not fabric.links:
        raise ExportError(f"{fabric.name} has no links, and containerlab joins containers by links")
    networks = {f"network.{name}": text for name, each in fabric.networks.items() if (text := _format_network(each))}
    vlans = {f"vlan.{vlan.id}": vlan.name for vlan in fabric.vlans.values()}
    own = {"fabric": fabric.name, "mtu": str(fabric.mtu)} | networks | vlans
    lines = [
        f"# {format_comment(fabric.name)} as a containerlab topology, written by benchconsole.",
        "# Containers have no speed of their own: the speeds in vars are those of the fabric, for tc or netem to set.",
        f"name: {format_scalar(_LAB.sub('-', fabric.name).strip('-.') or 'fabric', flow=False)}",
        "topology:",
        "  kinds:",
        f"    linux: {{image: {quote(IMAGE)}}}",
        *_format_entry("  defaults", {}, own),
        "  nodes:",
    ]
    for switch in fabric.switches.values():
        lines += _format_entry(f"    {format_scalar(switch.id)}", {"kind": "linux"}, _label_switch(fabric, switch))
    for node in fabric.nodes.values():
        lines += _format_entry(f"    {format_scalar(node.id)}", {"kind": "linux"}, _label_node(fabric, node))
    interfaces = _Interfaces(fabric)
    lines += ["  links:", *(line for link in fabric.links.values() for line in _format_cables(link, interfaces))]
    return "\n".join(lines) + "\n"


def _format_entry(key: str, entry: Mapping[str, str], labels: Mapping[str, str | None]) -> Iterator[str]:
    """An entry with the labels that it has below it, each of them text."""
    if not labels:
        yield f"{key}: {format_flow(entry)}"
        return
    indent = " " * (len(key) - len(key.lstrip()) + 2)
    yield f"{key}:"
    yield from (f"{indent}{name}: {format_scalar(value)}" for name, value in entry.items())
    yield f"{indent}labels:"
    yield from (f"{indent}  {PREFIX}{name}: {quote(value)}" for name, value in labels.items() if value is not None)


def _format_network(network: Network) -> str:
    """Facts of a network in the file, as JSON; of the data network those beside its MTU, empty for nothing."""
    own: dict[str, object] = {} if network.name == DATA else {"mtu": network.mtu}
    if network.type is not None:
        own["type"] = network.type
    if network.role is not NetworkRole.DATA and not network.is_role_inferred:
        own["role"] = network.role.value
    if (network.goodput, network.basis) != compute_goodput(network.kind, network.mtu):
        own["goodput"] = repr(network.goodput)
    return json.dumps(own) if own else ""


def _label_switch(fabric: Fabric, switch: Switch) -> dict[str, str | None]:
    pair = fabric.mlag_of.get(switch.id)
    return {
        "role": switch.role.value,
        "model": switch.model,
        "ports": json.dumps(_format_ports(switch.ports)) if switch.ports else None,
        "mlag": None if pair is None else pair.name,
        **dict(_list_groups(fabric, switch.id)),
    }


def _format_ports(ports: tuple[PortSet, ...]) -> object:
    """The number of ports where no more was declared, else sets of names with their speed."""
    if len(ports) == 1 and ports[0].speed is None:
        return len(ports[0].names)
    return {
        fold_in_order(each.names, expand_ports): {
            "speed": format_link_speed(each.speed or 0.0),
            "breakout": each.breakout,
        }
        for each in ports
    }


def _label_node(fabric: Fabric, node: Node) -> dict[str, str | None]:
    return {
        "role": node.role.value,
        "class": None if node.hardware.name == "unclassed" else node.hardware.name,
        "address": None if node.address == node.id else node.address,
        "data-address": None if node.data_address == node.address else node.data_address,
        "host": node.host,
        "forwards": "true" if node.forwards else None,
        "vlans": ",".join(map(str, fabric.vlans_of.get(node.id, ()))) or None,
        **dict(_list_groups(fabric, node.id)),
    }


def _list_groups(fabric: Fabric, device: str) -> Iterator[tuple[str, str]]:
    for kind in GROUPS:
        group = fabric.group_of(kind).get(device)
        if group is not None:
            yield kind, group.name
            if group.model is not None:
                yield f"{kind}-model", group.model


class _Interfaces:
    """Names of interfaces inside the containers: the port where Linux can call one so, else a made-up one."""

    def __init__(self, fabric: Fabric) -> None:
        self._taken: dict[str, set[str]] = {}
        for link in fabric.links.values():
            for device, ports in ((link.a, link.ports_a), (link.b, link.ports_b)):
                self._taken.setdefault(device, set()).update(ports)
        self._next: dict[str, int] = {}

    def of(self, device: str, port: str | None) -> str:
        """The interface of one cable."""
        if port is not None and _INTERFACE.fullmatch(port) and port not in _RESERVED:
            return port
        number = self._next.get(device, 1)
        while f"eth{number}" in self._taken.get(device, ()):
            number += 1
        self._next[device] = number + 1
        return f"eth{number}"


def _format_cables(link: Link, interfaces: _Interfaces) -> Iterator[str]:
    """One line for each cable of a link."""
    for index, speed in enumerate(link.members):
        own: dict[str, object] = {"speed": format_link_speed(speed)}
        ends = []
        for device, ports, key in ((link.a, link.ports_a, "from-port"), (link.b, link.ports_b, "to-port")):
            port = ports[index] if ports else None
            interface = interfaces.of(device, port)
            ends.append(f"{device}:{interface}")
            if interface != port:
                own[key] = port
        own |= dict(_list_further(link))
        yield f"    - {{endpoints: {format_flow(ends)}, vars: {{benchconsole: {format_flow(own)}}}}}"


def _list_further(link: Link) -> Iterator[tuple[str, object]]:
    """The keys of a ``links`` entry that go beyond speed, count and ports."""
    if not link.counted:
        yield "count", "unknown"
    if link.is_lag or link.lag is not None:
        yield "lag", link.lag
    if link.hash is not HashPolicy.UNKNOWN:
        yield "hash", link.hash.value
    if link.bond is not None:
        yield "bond", link.bond.value
    if link.standby:
        yield "standby", True
    if link.network != DATA:
        yield "network", link.network
    if link.cable is not None:
        length = {} if link.cable.length is None else {"length": format_metres(link.cable.length)}
        yield "cable", ({} if link.cable.kind is None else {"type": link.cable.kind}) | length
    if link.wan is not None and link.wan.rtt is not None:
        yield "rtt", format_seconds(link.wan.rtt)
    if link.wan is not None and link.wan.available is not None:
        yield "available", format_link_speed(link.wan.available)
    if link.channels:
        yield "channels", {str(each.vlan): format_link_speed(each.capacity) for each in link.channels}
