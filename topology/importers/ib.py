"""Reads an InfiniBand subnet from what its tools saved: switches, hosts, cables and the rates that cables trained to.

The files are those of ``topology.infiniband``: one dump, and beside it a node-name-map and forwarding tables. A host
with several adapters is one node; the chips of one switch are switches of one chassis. A switch that a cable leads from
to a host is a leaf, unless its name or its place in its chassis says what it is.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import Imported
from benchconsole.topology.errors import Position
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.importers.bundles import SourceCable
from benchconsole.topology.importers.draft import Draft, DraftDevice
from benchconsole.topology.importers.ib_tables import add_tables
from benchconsole.topology.importers.roles import find_switch_role
from benchconsole.topology.infiniband.device_names import SubnetDevice, SubnetDevices, find_devices, format_partitions
from benchconsole.topology.infiniband.dump_files import read_dump, read_files
from benchconsole.topology.infiniband.forwarding_dumps import ForwardingDump
from benchconsole.topology.infiniband.subnet import NodeKind, Subnet, SubnetCable
from benchconsole.topology.model.fabric import SwitchRole
from benchconsole.topology.units import counted as count

NETWORK = "ib"
_PLACES = {"L": SwitchRole.LEAF, "S": SwitchRole.SPINE}
_EMBEDDED = re.compile(r"superspine|spine|leaf|core", re.IGNORECASE)


def read(paths: Sequence[Path], speed: str | None = None) -> Imported:
    """Saved files, or a directory of them. ``speed`` is for cables whose rate is not told. Raises TopologyError."""
    found = read_files(paths)
    draft = Draft(found.subnet.file, "")
    _fill(draft, found.subnet, found.forwarding)
    if found.partitions:
        told = format_partitions(found.partitions, found.subnet, find_devices(found.subnet))
        draft.remark(f"partitions: {'. '.join(told)}")
    return draft.finish(speed)


def fill(draft: Draft) -> None:
    """Read the text of one dump. Raises TopologyError."""
    _fill(draft, read_dump(draft.text, draft.file))


def _fill(draft: Draft, subnet: Subnet, forwarding: ForwardingDump | None = None) -> None:
    devices = find_devices(subnet)
    where = {device.name: min(subnet.nodes[guid].where for guid in device.guids) for device in devices.by_name.values()}
    for device in sorted(devices.by_name.values(), key=lambda device: (device.kind.value, device.name)):
        draft.device(_make_device(device, where[device.name]))
    cables = [cable for cable in subnet.cables if not devices.left_out & {cable.a.guid, cable.b.guid}]
    pairs = Counter(_name_pair(cable, devices) for cable in cables)
    inside, number = 0, Counter[tuple[str, str]]()
    for cable in sorted(cables, key=lambda cable: (_name_pair(cable, devices), cable.a)):
        pair = _name_pair(cable, devices)
        if pair[0] == pair[1]:
            inside += 1
            continue
        made = _make_cable(cable, devices, draft, parallel=pairs[pair] > 1)
        if forwarding is not None and pairs[pair] > 1:  # tables choose among cables, so each is a link of its own
            number[pair] += 1
            made = replace(made, lag=str(number[pair]), joined=False, fields={"network": NETWORK})
        draft.cable(made)
    draft.section("networks", NETWORK, {"type": "InfiniBand"}, draft.start)
    if forwarding is not None:
        add_tables(draft, forwarding, subnet, devices, NETWORK)
    _add_chassis(draft, devices, where)
    _add_remarks(draft, subnet, devices, pairs if forwarding is None else {}, inside)


def _name_pair(cable: SubnetCable, devices: SubnetDevices) -> tuple[str, str]:
    """The two machines that a cable joins, sorted."""
    first, second = sorted((devices.of[cable.a.guid].name, devices.of[cable.b.guid].name))
    return first, second


def _make_device(device: SubnetDevice, where: Position) -> DraftDevice:
    if device.kind is not NodeKind.SWITCH:
        fields: dict[str, object] = {"forwards": True} if device.kind is NodeKind.ROUTER else {}
        role = "gateway" if device.kind is NodeKind.ROUTER else None
        why = "a router to other subnets" if role else ""
        return DraftDevice(device.name, where, switch=False, role=role, why=why, fields=fields)
    role, why = _find_role(device)
    model = {"model": device.model} if device.model else {}
    return DraftDevice(device.name, where, switch=True, role=role, why=why, fields=model)


def _find_role(device: SubnetDevice) -> tuple[str | None, str]:
    """The role that the name of a switch tells, or its place in a director; None where neither does."""
    place = _PLACES.get(device.tells[:1].upper()) if device.tells else None
    if place is not None:
        return place.value, f"role inferred from its place in the chassis: {device.tells}"
    if device.nameless:
        return None, ""
    embedded = _EMBEDDED.search(device.name)
    found = find_switch_role(device.name) or (find_switch_role(embedded[0]) if embedded else None)
    return (found.value, "role inferred from its name") if found is not None else (None, "")


def _make_cable(cable: SubnetCable, devices: SubnetDevices, draft: Draft, *, parallel: bool) -> SourceCable:
    # The policy of a LAG that comes nearest to a table of destinations: streams of one pair of nodes keep together.
    fields: dict[str, object] = {"network": NETWORK, **({"hash": "l2"} if parallel else {})}
    ends = sorted((cable.a, cable.b), key=lambda end: (devices.of[end.guid].name, end))
    lower, upper = ends
    return SourceCable(
        devices.of[lower.guid].name, devices.of[upper.guid].name, cable.where,
        port_a=draft.port(devices.port(lower)), port_b=draft.port(devices.port(upper)),
        speed=None if cable.rate is None else cable.rate.text, joined=True, fields=fields,
    )  # fmt: skip


def _add_chassis(draft: Draft, devices: SubnetDevices, where: Mapping[str, Position]) -> None:
    boxes = group_by_key((each.chassis, each) for each in devices.by_name.values() if each.chassis)
    for name, chips in sorted(boxes.items()):
        members = sorted(chip.name for chip in chips)
        body: dict[str, object] = {"members": ",".join(members)}
        if models := {chip.model for chip in chips if chip.model}:
            body["model"] = min(models)
        draft.section("chassis", name, body, where[members[0]])


def _add_remarks(
    draft: Draft, subnet: Subnet, devices: SubnetDevices, pairs: Mapping[tuple[str, str], int], inside: int
) -> None:
    if subnet.partial:
        draft.remark(f"partial: {subnet.partial}")
    for text in (*subnet.remarks, *devices.remarks):
        draft.remark(text)
    if any(number > 1 for number in pairs.values()):
        draft.remark(
            "parallel cables stand as one link with hash l2: InfiniBand sends all to one destination over one of them"
        )
    if inside:
        draft.remark(f"cables from a machine to itself are left out: {count(inside, 'cable')}")
    draft.remark(_format_rates(subnet, devices))
    if subnet.lanes:
        told = ", ".join(f"{lanes} on {count(ports, 'port')}" for lanes, ports in sorted(subnet.lanes.items()))
        draft.remark(f"virtual lanes that carry data: {told}")
    if versions := list(_count_firmware(subnet)):
        draft.remark(f"firmware: {'; '.join(versions)}")


def _format_rates(subnet: Subnet, devices: SubnetDevices) -> str:
    rates = Counter(
        cable.rate for cable in subnet.cables if cable.rate and not devices.left_out & {cable.a.guid, cable.b.guid}
    )
    told = (f"{rate} on {count(number, 'cable')} ({rate.text})" for rate, number in sorted(rates.items(), key=_order))
    return f"speeds are what cables were trained to, after the line code: {', '.join(told) or 'none is told'}"


def _order(item: tuple[object, int]) -> tuple[int, str]:
    return -item[1], str(item[0])


def _count_firmware(subnet: Subnet) -> Iterator[str]:
    """Versions of firmware with how many nodes have each, by kind of device."""
    alike = group_by_key(((node.device, node.kind), node.firmware) for node in subnet.nodes.values() if node.firmware)
    for (device, kind), versions in sorted(alike.items()):
        told = ", ".join(f"{version} on {number:,}" for version, number in sorted(Counter(versions).items()))
        yield f"{kind}{f' {device}' if device else ''}: {told}"
