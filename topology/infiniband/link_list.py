"""Reads lists of links, one direction in a line: ``opensm-subnet.lst`` of OpenSM and ``ibdiagnet2.lst``.

Numbers of ports and LIDs are hexadecimal there. Source: OpenSM, osm_dump.c; ibdiagnet's manual.
"""

import re

from benchconsole.topology.errors import Position
from benchconsole.topology.infiniband.ibnetdiscover import list_lines
from benchconsole.topology.infiniband.rates import EXPECTED, LinkRate, find_speed, make_rate
from benchconsole.topology.infiniband.subnet import NodeKind, PortEnd, SubnetNode, normalize_guid
from benchconsole.topology.infiniband.subnet_builder import SubnetBuilder

_GUID = r"(?:0x)?[0-9a-fA-F]{{1,16}}"
_NODE = (
    r"\{{ (?P<kind{n}>CA|SW|RTR?)(?:-[A-Z]+)? Ports:(?P<ports{n}>[0-9a-fA-F]{{1,4}}) "
    rf"SystemGUID:(?P<system{{n}}>{_GUID}) NodeGUID:(?P<guid{{n}}>{_GUID}) PortGUID:(?P<own{{n}}>{_GUID}) "
    r"VenID:(?P<vendor{n}>[0-9a-fA-F]{{1,8}}) DevID:(?P<device{n}>[0-9a-fA-F]{{1,8}}) Rev:[0-9a-fA-F]{{1,8}} "
    r"(?:\{{(?P<name{n}>.*)\}})? ?LID:(?P<lid{n}>[0-9a-fA-F]{{1,4}}) PN:(?P<port{n}>[0-9a-fA-F]{{1,4}}) \}}"
)
_LINK = re.compile(
    _NODE.format(n=1) + " " + _NODE.format(n=2) + r" PHY=(?P<width>\S+) LOG=(?P<state>\S+) SPD=(?P<speed>\S+)\s*"
)
_KINDS = {"CA": NodeKind.ADAPTER, "SW": NodeKind.SWITCH, "RT": NodeKind.ROUTER, "RTR": NodeKind.ROUTER}


def read_link_list(builder: SubnetBuilder, text: str) -> None:
    """Read a file of either tool. Behind the ports of a switch nothing tells whether the list was cut there."""
    for line, where in list_lines(builder, text):
        bare = line.strip()
        if not bare or bare.startswith("#"):
            continue
        match = _LINK.fullmatch(bare)
        if match is None:
            builder.problem(
                where, repr(bare), "a link: { CA Ports:.. NodeGUID:.. PN:.. } { SW .. } PHY=4x LOG=ACT SPD=10"
            )
            continue
        near, far = (_read_node(builder, match, n, where) for n in (1, 2))
        if near.guid not in builder.nodes:
            builder.node(near)
        rate = _read_rate(builder, match["width"], match["speed"], where)
        own = PortEnd(near.guid, int(match["port1"], 16))
        builder.cable(own, far, int(match["port2"], 16), rate, where)
        ends = near.kind is not NodeKind.SWITCH or own.port >= int(match["ports1"], 16)
        builder.partial = (
            "" if ends else f"the list ends at port {own.port} of {near.called!r}, a switch with more ports"
        )


def _read_node(builder: SubnetBuilder, match: re.Match[str], n: int, where: Position) -> SubnetNode:
    guid, kind = normalize_guid(match[f"guid{n}"]), _KINDS[match[f"kind{n}"]]
    port = 0 if kind is NodeKind.SWITCH else int(match[f"port{n}"], 16)
    builder.port_guids.setdefault(normalize_guid(match[f"own{n}"]), PortEnd(guid, port))
    if lid := int(match[f"lid{n}"], 16):
        builder.lids.setdefault(lid, guid)
    system = normalize_guid(match[f"system{n}"])
    device = ":".join(match[f"{key}{n}"].lower().lstrip("0") for key in ("vendor", "device"))
    return SubnetNode(guid, kind, match[f"name{n}"] or "", where, system.strip("0") and system, device)


def _read_rate(builder: SubnetBuilder, width: str, told: str, where: Position) -> LinkRate | None:
    speed = find_speed(told)
    lanes = width.removesuffix("x")
    rate = make_rate(int(lanes), speed) if speed and lanes.isdecimal() else None
    if rate is None:
        builder.problem(where, f"the rate PHY={width} SPD={told}", EXPECTED)
    return rate
