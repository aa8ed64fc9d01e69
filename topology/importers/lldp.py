"""Reads LLDP neighbours of nodes as cables: ``lldpctl -f json0`` of each node, or ``-f json``.

The file of a node is called by its name (``n01.json``), unless the text itself holds the node's own chassis. A
neighbour that has a file of its own is that machine, any other is a switch unless it says that it does not forward.
Source: lldpcli(8), IEEE 802.1AB; texts of operational MAU types as lldpd prints them.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import Document, Imported, Location, source_text
from benchconsole.topology.errors import Position, TopologyError, refuse
from benchconsole.topology.ethernet_speeds import read_mau_type, read_port_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.importers.bundles import SourceCable
from benchconsole.topology.importers.draft import Draft, DraftDevice
from benchconsole.topology.importers.json_text import parse_documents
from benchconsole.topology.importers.management_cables import part_management
from benchconsole.topology.importers.roles import find_switch_role, is_switch
from benchconsole.topology.units import format_link_speed

_SERVER = re.compile(
    r"ubuntu|debian|red hat|centos|rocky linux|almalinux|suse|fedora|oracle linux|amazon linux|proxmox|vmware esx|"
    r"windows server|freebsd|linux \S+ \d+\.\d+",
    re.IGNORECASE,
)
"""Words that tell a server in the description of a system, also one that bridges for its containers."""
_SWITCH_SYSTEM = re.compile(
    r"sonic|cumulus|arista|cisco|juniper|junos|onyx|mlnx|mellanox|dell emc networking|openswitch|dent|hpe? ?comware|"
    r"huawei|extreme|brocade|ruckus|edge-?core|pica8|picos|netgear|openwrt|vyos|routeros|mikrotik|fortinet|nokia",
    re.IGNORECASE,
)
_FORWARDS = {"bridge", "router"}
_BY_NAME = "speed by the name of the port"


@dataclass(frozen=True, slots=True)
class LldpNeighbour:
    """The far end of a cable, as one interface sees it.

    ``switch`` is the name of the other device, its chassis id where it has none. ``speed`` in
    byte/s is None where the other end does not say; ``named`` where only the name of its port tells. ``forwards`` is
    whether it says that it is a bridge or a router, None where it says nothing of the kind; ``server`` that it
    describes itself as the operating system of a server.
    """

    interface: str
    switch: str
    port: str
    speed: float | None
    named: bool
    via: str
    forwards: bool | None
    server: bool
    aggregated: bool
    where: Position


def read(paths: Sequence[Path], speed: str | None = None) -> Imported:
    """Files of several nodes, or directories of ``*.json``. ``speed`` is for cables without one."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    if not files:
        raise refuse(Position(str(paths[0]), 1, 1), "no file *.json", "the output of lldpctl -f json0 of each node")
    draft = Draft(str(files[0]), "")
    draft.name = paths[0].name if paths[0].is_dir() else "cluster"
    return _combine([(file.stem, source_text(file), str(file)) for file in files], draft).finish(speed)


def _combine(sources: Sequence[tuple[str, str, str]], draft: Draft) -> Draft:
    """The draft with what several nodes see: (name of the node, text, name of the file) of each."""
    seen: list[tuple[str, list[LldpNeighbour]]] = []
    for stem, text, name in sources:
        found = parse_documents(text, name)
        for document in found:
            draft.problems.extend(document.problems)
        stem_is_switch = find_switch_role(stem) is not None
        own, forwards = next((own for own in map(_find_own_chassis, found) if own), (stem, stem_is_switch))
        draft.device(DraftDevice(own, found[0].at(()), forwards))
        seen.append((own, [each for document in found for each in _list_neighbours(document)]))
    for own, each in seen:
        add_neighbours(own, each, draft)
    settle_cables(draft)
    return draft


def read_neighbours(text: str, file: str) -> list[LldpNeighbour]:
    """The neighbours of one node, from its output of ``lldpctl``, called ``file`` in messages. Raises TopologyError."""
    documents = parse_documents(text, file)
    problems = [problem for document in documents for problem in document.problems]
    if problems:
        raise TopologyError(problems)
    return [each for document in documents for each in _list_neighbours(document)]


def add_neighbours(own: str, seen: Sequence[LldpNeighbour], draft: Draft) -> None:
    """The neighbours of ``own`` as devices and cables of ``draft``, less those that cannot be told apart."""
    _add(own, _drop_ambiguous(own, seen, draft), draft)


def settle_cables(draft: Draft) -> None:
    """Keep each cable once, also where both ends told of it, and no port that several cables seem to end in; those for
    management in a network of their own.
    """
    draft.cables = list(_take_ports(list(_drop_repeated(draft.cables)), draft))
    part_management(draft)


def _list_neighbours(document: Document) -> Iterator[LldpNeighbour]:
    for section, here in _find_section(document, "lldp"):
        for interface, body, at in _find_name(section.get("interface"), (*here, "interface")):
            for chassis_name, chassis, _ in _find_name(body.get("chassis"), (*at, "chassis")):
                yield _read_neighbour(interface, body, chassis_name, chassis, document.key_at(at))


def _read_neighbour(
    interface: str, body: Mapping[str, object], switch: str, chassis: Mapping[str, object], where: Position
) -> LldpNeighbour:
    port = _find_body(body.get("port"))
    told = read_mau_type(_find_text(_find_body(port.get("auto-negotiation")).get("current")))
    return LldpNeighbour(
        interface=interface,
        switch=switch or _find_text(chassis.get("id")),
        port=_read_port(port),
        speed=told if told is not None else _name_speed(port),
        named=told is None,
        via=_find_text(body.get("via")) or "LLDP",
        forwards=_read_forwards(chassis),
        server=_is_server(chassis),
        aggregated=_find_text(port.get("aggregation")) not in ("", "0"),
        where=where,
    )


def _read_port(port: Mapping[str, object]) -> str:
    """The name of the far port: its id, or its description where the id is a hardware address."""
    identity = next((body for body, _ in _list_items(port.get("id"), ()) if isinstance(body, dict)), {})
    described = _find_text(port.get("descr"))
    return described if identity.get("type") == "mac" and described else _find_text(port.get("id"))


def _name_speed(port: Mapping[str, object]) -> float | None:
    """byte/s by the name or the description of the far port; None where neither tells."""
    texts = [_read_port(port), _find_text(port.get("id")), _find_text(port.get("descr"))]
    found = (read for text in texts for read in (read_port_name(text), read_mau_type(text)))
    return next((speed for speed in found if speed is not None), None)


def _read_forwards(chassis: Mapping[str, object]) -> bool | None:
    """Whether a bridge or a router is enabled; None where no capability is told."""
    told = [body for body, _ in _list_items(chassis.get("capability"), ()) if isinstance(body, dict)]
    if not told:
        return None
    return any(str(each.get("type")).lower() in _FORWARDS and each.get("enabled") is True for each in told)


def _is_server(chassis: Mapping[str, object]) -> bool:
    """Whether a chassis describes itself as a server, and neither that nor its name speaks of a switch."""
    described, name = _find_text(chassis.get("descr")), _find_text(chassis.get("name"))
    if _SWITCH_SYSTEM.search(described) or is_switch(name) is True:
        return False
    return _SERVER.search(described) is not None


def _find_own_chassis(document: Document) -> tuple[str, bool] | None:
    for section, here in _find_section(document, "local-chassis"):
        for name, body, _ in _find_name(section.get("chassis"), (*here, "chassis")):
            if name:
                return name, bool(_read_forwards(body)) and not _is_server({"name": name, **body})
    return None


def _find_section(document: Document, name: str) -> list[tuple[Mapping[str, object], Location]]:
    """The bodies of one section. Raises TopologyError when the document is none of lldpctl's."""
    data = document.data
    if not isinstance(data, dict) or not data.keys() & {"lldp", "local-chassis"}:
        raise refuse(document.at(()), "JSON without lldp", "the output of lldpctl -f json0")
    return [(body, here) for body, here in _list_items(data.get(name), (name,)) if isinstance(body, dict)]


def _list_items(value: object, here: Location) -> list[tuple[object, Location]]:
    """The items of a list; a single value is one, as in plain ``json``."""
    if isinstance(value, list):
        return [(item, (*here, index)) for index, item in enumerate(value)]
    return [] if value is None else [(value, here)]


def _find_name(value: object, here: Location) -> Iterator[tuple[str, Mapping[str, object], Location]]:
    """Name, body and place of each item: ``{"name": ...}`` in json0, ``{NAME: {...}}`` in json.

    An item with an ``id`` and no name is a chassis that does not tell its name.
    """
    for item, at in _list_items(value, here):
        if not isinstance(item, dict):
            continue
        if "name" in item or "id" in item:
            yield _find_text(item.get("name")), item, at
            continue
        for name, body in item.items():
            if isinstance(body, dict):
                yield name, body, (*at, name)


def _find_body(value: object) -> Mapping[str, object]:
    return next((item for item, _ in _list_items(value, ()) if isinstance(item, dict)), {})


def _find_text(value: object) -> str:
    """The text of ``"x"``, ``{"value": "x"}`` or a list of one of them; empty where there is none."""
    for item, _ in _list_items(value, ()):
        text = item.get("value") if isinstance(item, dict) else item
        return str(text) if isinstance(text, str | int) and not isinstance(text, bool) else ""
    return ""


def _drop_ambiguous(own: str, seen: Sequence[LldpNeighbour], draft: Draft) -> list[LldpNeighbour]:
    """The neighbours without those that share an interface; what speaks LLDP goes before what speaks CDP."""
    found = []
    for interface, several in group_by_key((each.interface, each) for each in seen).items():
        spoken = [each for each in several if each.via == "LLDP"] or several
        devices = {each.switch for each in spoken}
        if len(devices) == 1:
            found.append(spoken[0])
        else:
            what = f"{interface} of {own} sees {', '.join(sorted(devices))}"
            draft.remark(f"interfaces that see several devices are left out: {what}, and so on")
    return found


def _add(own: str, seen: Sequence[LldpNeighbour], draft: Draft) -> None:
    for each in seen:
        if not each.switch:
            draft.remark(f"neighbours without any name are left out: the one of {each.interface} of {own}, and so on")
            continue
        name = _name_known(each.switch, draft)
        if name not in draft.devices:
            bridges = each.server and each.forwards is True
            taken = "taken for a node: it bridges, and describes itself as a server" if bridges else ""
            switch = each.forwards is not False and not each.server
            draft.device(DraftDevice(name, each.where, switch, taken=taken))
            if each.forwards is None and not each.server:
                draft.remark(f"neighbours that do not say what they are are taken for switches: {name}, and so on")
        draft.cable(
            SourceCable(
                own, name, each.where,
                port_a=draft.port(each.interface),
                port_b=draft.port(each.port) if each.port else None,
                joined=each.aggregated,
                speed=None if each.speed is None else format_link_speed(each.speed),
                note=_BY_NAME if each.named and each.speed is not None else "",
            )
        )  # fmt: skip


def _name_known(told: str, draft: Draft) -> str:
    """The name of a neighbour here: the one of its own file also where it tells its domain, no colons."""
    short = told.partition(".")[0]
    if told not in draft.devices and short in draft.devices:
        return short
    if ":" in told:
        draft.remark(f"neighbours that tell no name are called by their chassis id: {told}, and so on")
    return told.replace(":", "-")


def _take_ports(cables: Sequence[SourceCable], draft: Draft) -> Iterator[SourceCable]:
    """The cables without the names of ports that several of them seem to end in."""
    times = Counter(end for cable in cables for end in ((cable.a, cable.port_a), (cable.b, cable.port_b)))
    for cable in cables:
        shared = [end for end in ((cable.a, cable.port_a), (cable.b, cable.port_b)) if times[end] > 1 and end[1]]
        for device, port in shared:
            draft.remark(f"ports that several cables seem to end in are left out: {port} of {device}, and so on")
        yield replace(
            cable,
            port_a=None if (cable.a, cable.port_a) in shared else cable.port_a,
            port_b=None if (cable.b, cable.port_b) in shared else cable.port_b,
        )


def _drop_repeated(cables: Sequence[SourceCable]) -> Iterator[SourceCable]:
    """The cables without those that the machine at the other end has told already."""
    known: set[frozenset[tuple[str, str | None]]] = set()
    for cable in cables:
        ends = frozenset(((cable.a, cable.port_a), (cable.b, cable.port_b)))
        if ends not in known:
            yield cable
        known.add(ends)
