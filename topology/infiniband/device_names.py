"""Finds the machines of a subnet and their names: which adapters are one host, which chips one chassis.

A node is called by the node-name-map, else by its description. The description of an adapter is the host and the
adapter (``n01 mlx5_0``), that of a managed switch ``MF0;NAME:MODEL/U1``. A text of the maker is no name: such a node is
called by its GUID, so that its name does not depend on others. Source: ibnetdiscover(8) on node-name-map; rdma-ndd(8)
on descriptions of hosts.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.infiniband.partitions import Partition, list_members
from benchconsole.topology.infiniband.subnet import NodeKind, PortEnd, Subnet, SubnetNode
from benchconsole.topology.selection import NAME, fold

_MANAGED = re.compile(
    r"(?:MF0;)?(?P<name>[^:;]{1,64}):(?P<model>[A-Za-z0-9_.+-]{1,32})(?P<parts>(?:/[A-Za-z]{1,3}\d{1,3})*)"
)
_ADAPTER = re.compile(
    r"'?(?P<host>\S.*?)'?[\s(]+(?P<adapter>HCA-?\d+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+|ib[a-z0-9]{1,14}|rocep\w{1,14})\)?"
)
_MADE = re.compile(
    r"\b(?:Mellanox|NVIDIA|Nvidia|Voltaire|QLogic|Intel|Cisco|Topspin|SilverStorm|Infini[Ss]cale|SwitchIB|SwitchX|Quantum|"
    r"ConnectX|InfiniHost|InfiniBand|Infiniband|Oracle|Chelsio)",
)
_INTERNAL = re.compile(r".*(?:Aggregation Node|/RT)\s*")
_LETTERS = {NodeKind.SWITCH: "switch", NodeKind.ADAPTER: "ca", NodeKind.ROUTER: "router"}


@dataclass(frozen=True, slots=True)
class SubnetDevice:
    """A machine of the subnet. ``guids`` are its adapters, or the one chip of a switch.

    ``nameless``: it is called by its GUID, because it does not tell a name. ``chassis`` is the box that several chips
    are in; ``tells`` says what part of it a chip is (``L01``), empty where that is not told.
    """

    name: str
    kind: NodeKind
    guids: tuple[str, ...]
    model: str = ""
    chassis: str = ""
    tells: str = ""
    nameless: bool = False


@dataclass(frozen=True, slots=True)
class SubnetDevices:
    """The machines of a subnet by name. ``left_out`` are nodes that are a part of a switch itself."""

    by_name: Mapping[str, SubnetDevice]
    of: Mapping[str, SubnetDevice]
    left_out: frozenset[str]
    remarks: tuple[str, ...] = ()
    adapters: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    def port(self, end: PortEnd) -> str:
        """A port in the words of our file: ``12`` of a switch, ``mlx5_0/1`` of a host."""
        adapter = self.adapters.get(end.guid, "")
        return f"{adapter}/{end.port}" if adapter else str(end.port)


def find_devices(subnet: Subnet) -> SubnetDevices:
    """The machines of ``subnet``; the same nodes have the same names in whatever order a dump tells them."""
    internal = {
        node.guid for node in subnet.nodes.values() if _INTERNAL.fullmatch(node.description) and not node.mapped
    }
    nodes = sorted((node for node in subnet.nodes.values() if node.guid not in internal), key=lambda node: node.guid)
    switches = [node for node in nodes if node.kind is NodeKind.SWITCH]
    hosts = [node for node in nodes if node.kind is not NodeKind.SWITCH]
    ports = group_by_key((end.guid, end.port) for cable in subnet.cables for end in (cable.a, cable.b))
    remarks: list[str] = []
    adapters: dict[str, str] = {}
    devices = [*_name_switches(switches, remarks), *_name_hosts(hosts, ports, adapters, remarks)]
    devices = list(_part_alike(devices))
    if internal:
        remarks.append(f"parts of switches that look like adapters or routers are left out: {len(internal):,} of them")
    return SubnetDevices(
        {device.name: device for device in devices},
        {guid: device for device in devices for guid in device.guids},
        frozenset(internal),
        tuple(remarks),
        adapters,
    )


def make_name(text: str) -> str:
    """``text`` as a name of our file: what is not allowed becomes ``-``; empty where nothing is left."""
    words = re.sub(r"[^A-Za-z0-9_.-]+", "-", text)
    labels = (label.strip("-_")[:63].strip("-_") for label in words.split("."))
    name = ".".join(label for label in labels if label)[:253].strip(".-_")
    return name if NAME.fullmatch(name) else ""


def _call_by_guid(node: SubnetNode) -> str:
    return make_name(f"{_LETTERS[node.kind]}-{node.guid}") or _LETTERS[node.kind]


def _is_name(node: SubnetNode) -> bool:
    """Whether a description was given by somebody: makers write what a thing is, and an administrator who it is."""
    return bool(node.mapped) or not _MADE.search(node.description)


def _name_switches(nodes: Sequence[SubnetNode], remarks: list[str]) -> Iterator[SubnetDevice]:
    managed = {node.guid: match for node in nodes if (match := _MANAGED.fullmatch(node.called.strip()))}
    chips = Counter(match["name"] for match in managed.values())
    plain = {node.guid: make_name(node.called) if _is_name(node) else "" for node in nodes if node.guid not in managed}
    times = Counter(name for name in plain.values() if name)
    for node in nodes:
        match = managed.get(node.guid)
        if match is not None and make_name(match["name"]):
            parts = [part for part in match["parts"].split("/") if part]
            several = chips[match["name"]] > 1
            name = "-".join([make_name(match["name"]), *(parts if several else [])])
            chassis = make_name(match["name"]) if several else ""
            yield SubnetDevice(name, node.kind, (node.guid,), match["model"], chassis, parts[0] if several else "")
            continue
        name = plain.get(node.guid, "")
        if name and times[name] > 1:
            remarks.append(f"switches of one name have their GUIDs behind it: {name}, {times[name]} times")
            name = f"{name}-{node.guid}"
        if not name:
            remarks.append(
                f"switches that tell no name are called by their GUID: {node.guid} is {node.called!r}, and so on"
            )
        yield SubnetDevice(name or _call_by_guid(node), node.kind, (node.guid,), nameless=not name)


def _name_hosts(
    nodes: Sequence[SubnetNode], ports: Mapping[str, Sequence[int]], adapters: dict[str, str], remarks: list[str]
) -> Iterator[SubnetDevice]:
    """Adapters of one host name are one host, unless two of them have the same adapter and port: then it is no name."""
    called = {node.guid: _split_description(node) for node in nodes}
    taken = Counter(
        (*called[node.guid], port) for node in nodes for port in set(ports.get(node.guid, ())) if called[node.guid][0]
    )
    alike = {(host, adapter) for (host, adapter, _), times in taken.items() if times > 1}
    of: dict[str, list[SubnetNode]] = {}
    for node in nodes:
        host, adapter = called[node.guid]
        adapters[node.guid] = adapter
        if (host, adapter) in alike:
            what = f"{node.called!r} is told by several"
            remarks.append(
                f"adapters that call themselves alike are hosts of their own with their GUID: {what}, and so on"
            )
            of.setdefault(f"{host}-{node.guid}", []).append(node)
        elif host:
            of.setdefault(host, []).append(node)
        else:
            what = f"{node.guid} is {node.called!r}"
            remarks.append(
                f"adapters that tell no host are hosts of their own, called by their GUID: {what}, and so on"
            )
            of.setdefault(_call_by_guid(node), []).append(node)
    for name, those in of.items():
        nameless = not called[those[0].guid][0]
        yield SubnetDevice(name, those[0].kind, tuple(node.guid for node in those), nameless=nameless)


def _split_description(node: SubnetNode) -> tuple[str, str]:
    """Host and adapter; the host is empty where the description does not tell one."""
    text = node.called.strip()
    match = _ADAPTER.fullmatch(text)
    host, adapter = (match["host"], match["adapter"]) if match else (text, "")
    if not node.mapped and _MADE.search(host):
        return "", adapter
    return make_name(host), adapter


def _part_alike(devices: Sequence[SubnetDevice]) -> Iterator[SubnetDevice]:
    """The devices; of several with one name each has its GUID behind it."""
    times = Counter(device.name for device in devices)
    for device in devices:
        if times[device.name] == 1:
            yield device
            continue
        name = f"{device.name}-{device.guids[0]}"
        yield SubnetDevice(name, device.kind, device.guids, device.model, device.chassis, device.tells, device.nameless)


def format_partitions(partitions: Sequence[Partition], subnet: Subnet, devices: SubnetDevices) -> list[str]:
    """Each partition in words, its members by the names of their machines: ``io (0x0080): full oss[1-2]``."""
    found = []
    for partition in partitions:
        key = f" (0x{partition.key:04x})" if partition.key is not None else ""
        told = []
        for how, guids in list_members(partition, subnet).items():
            names = dict.fromkeys(devices.of[guid].name if guid in devices.of else guid for guid in guids)
            told.append(f"{how} {fold(names)}")
        found.append(f"{partition.name or 'without a name'}{key}: {'; '.join(told) or 'no member'}")
    return found


_MAPPED = re.compile(r'\s*(?P<guid>0[xX][0-9a-fA-F]{1,16}|[0-9a-fA-F]{16})\s+"(?P<name>.*)"\s*(?:#.*)?')


def match_name_line(line: str) -> re.Match[str] | None:
    """A line of a node-name-map, ``0x0002c903000fe480 "leaf 1"``."""
    return _MAPPED.fullmatch(line)
