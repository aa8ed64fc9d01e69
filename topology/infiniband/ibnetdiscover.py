"""Reads what ``ibnetdiscover`` prints: nodes with their ports (also ``-f`` and ``-g``), and ``-p``, ports alone.

The blocks are also the language of ``ibsim``, where any word names a node and rates may be left out. Comments of people
are passed over. Source: ibnetdiscover(8); rdma-core, infiniband-diags/ibnetdiscover.c.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from benchconsole.topology.errors import Position
from benchconsole.topology.infiniband.rates import EXPECTED, LinkRate, parse_rate
from benchconsole.topology.infiniband.subnet import NodeKind, PortEnd, SubnetNode, normalize_guid
from benchconsole.topology.infiniband.subnet_builder import SubnetBuilder

_KINDS = {
    "switch": NodeKind.SWITCH, "ca": NodeKind.ADAPTER, "hca": NodeKind.ADAPTER, "rt": NodeKind.ROUTER,
    "router": NodeKind.ROUTER, "sw": NodeKind.SWITCH,
}  # fmt: skip
_LETTERS = {"S": NodeKind.SWITCH, "H": NodeKind.ADAPTER, "R": NodeKind.ROUTER}
_ID = re.compile(
    r"(vendid|devid|sysimgguid|switchguid|caguid|rtguid)=(0x[0-9a-fA-F]{1,16})(?:\(([0-9a-fA-F]{1,16})\))?"
)
_NODE = re.compile(r'(Switch|Ca|Hca|Rt|Router)\s+(\d{1,3})\s*"([^"]{1,128})"(?:\s*#\s*"(.*)"(.*))?\s*', re.IGNORECASE)
_PORT = re.compile(
    r"\[(\d{1,3})\](?:\[ext \d{1,4}\])?(?:\((?P<own>(?:0x)?[0-9a-fA-F]{1,16})\))?\s*"
    r'"(?P<far>[^"]{1,128})"\s*\[(?P<port>\d{1,3})\](?:\[ext \d{1,4}\])?\s*(?:\((?:0x)?[0-9a-fA-F]{1,16}\))?'
    r"\s*(?P<width>w=\d{1,2})?\s*(?:#(?P<comment>.*))?"
)
_TELLS = re.compile(
    r'\s*(?:lid (?P<own>\d{1,5}) lmc \d\s+)?"(?P<name>.*)"\s+lid (?P<far>\d{1,5})(?:\s+(?P<rate>\S+))?(?P<rest>.*)'
)
_OWN_LID = re.compile(r"\blid (\d{1,5})\b")
_LANES = re.compile(r" v=(\d{1,2})\b")
_VL_CAPS = {1: 1, 2: 2, 3: 4, 4: 8, 5: 15}
"""VLCap as the standard counts it to the number of virtual lanes that carry data."""
_HEADS = ("non-chassis nodes", "chassis ", "hostname:")
_LISTED = re.compile(
    r"(?P<kind>SW|CA|RT)\s+(?P<lid>\d{1,5})\s+(?P<port>\d{1,3})\s+0x(?P<guid>[0-9a-fA-F]{16})\s+"
    r"(?P<width>\S{1,3})\s(?P<speed>\S{1,6})\s+"
    r"(?:-\s+(?P<far_kind>SW|CA|RT|\?\?)\s+(?P<far_lid>\d{1,5})\s+(?P<far_port>\d{1,3})\s+"
    r"0x(?P<far>[0-9a-fA-F]{16})\s+\(\s'(?P<name>.*)'\s-\s'(?P<far_name>.*)'\s\)|'(?P<alone>.*)')\s*"
)
UNKNOWN = ("???", "??")
"""The words that the tools print for a rate that they do not know themselves."""


def list_lines(builder: SubnetBuilder, text: str, longest: int = 4096) -> Iterator[tuple[str, Position]]:
    """The lines without their ends, each with its place; one of more than ``longest`` characters is a problem."""
    for number, line in enumerate(text.split("\n"), start=1):
        where = Position(builder.file, number, 1)
        if len(line) > longest:
            builder.problem(where, f"a line of {len(line):,} characters", f"at most {longest:,}")
        else:
            yield line.rstrip("\r"), where


def read_told_rate(builder: SubnetBuilder, told: str, where: Position) -> LinkRate | None:
    """A rate such as ``4xEDR``; None with a problem for any other, and without one where the tool did not know it."""
    if any(unknown in told for unknown in UNKNOWN):
        builder.remark(f"rates that the tool did not know are left open: {told} in line {where.line}, and so on")
        return None
    rate = parse_rate(told)
    if rate is None:
        builder.problem(where, f"the rate {told!r}", EXPECTED)
    return rate


@dataclass(slots=True)
class _Block:
    """The node whose ports are being read, and the ids that stand before the next one."""

    guid: str = ""
    kind: NodeKind = NodeKind.SWITCH
    ids: dict[str, str] = field(default_factory=dict)
    grouped: bool = False
    repeated: bool = False
    ends: dict[str, set[tuple[int, str, int]]] = field(default_factory=dict)


def read_blocks(builder: SubnetBuilder, text: str) -> None:
    """Read the default output, or a file of ``ibsim``."""
    block, begun = _Block(), 0
    builder.lists_switches = True
    for line, where in list_lines(builder, text):
        bare = line.strip()
        if bare.startswith("# Topology file: generated"):
            begun = _refuse_second(builder, where, begun)
        if not bare or bare.startswith(("#", "ibwarn:", "src/")):
            continue
        if bare.lower().startswith(_HEADS):
            block.grouped = block.grouped or not bare.lower().startswith("non-chassis")
        elif known := _ID.match(bare):
            block.ids[known[1]] = normalize_guid(known[2])
            if known[3]:
                block.ids["port"] = normalize_guid(known[3])
        elif node := _NODE.fullmatch(bare):
            _begin_node(builder, block, node, where)
        elif port := _PORT.fullmatch(bare):
            _add_port(builder, block, port, where)
        else:
            builder.problem(where, repr(bare), 'a node (Switch, Ca or Rt), a port ([1] "S-..."[2]) or a comment (#)')


def _refuse_second(builder: SubnetBuilder, where: Position, first: int) -> int:
    if first:
        found = f"the beginning of a second dump (the first began in line {first})"
        builder.problem(where, found, "one dump in a file")
    return first or where.line


def _identify(told: str) -> tuple[str, NodeKind | None]:
    """GUID and kind of ``S-0002c903000fe480``; any other word as it is, of no kind that is known."""
    letter, dash, digits = told.partition("-")
    guid = normalize_guid(digits)
    if dash and letter in _LETTERS and re.fullmatch(r"[0-9a-f]{16}", guid):
        return guid, _LETTERS[letter]
    return told, None


def _begin_node(builder: SubnetBuilder, block: _Block, match: re.Match[str], where: Position) -> None:
    guid, kind = _identify(match[3])
    block.guid, block.kind = guid, kind or _KINDS[match[1].lower()]
    ids, block.ids = block.ids, {}
    system = ids.get("sysimgguid", "")
    device = ":".join(ids[key].lstrip("0") for key in ("vendid", "devid") if key in ids)
    described = match[4] if match[4] is not None else guid
    block.repeated = block.grouped and guid in builder.nodes and builder.nodes[guid].description == described
    if not block.repeated:
        builder.node(SubnetNode(guid, block.kind, described, where, system.strip("0") and system, device))
    if block.kind is NodeKind.SWITCH and match[5] and (lid := _OWN_LID.search(match[5])) and int(lid[1]):
        builder.lids.setdefault(int(lid[1]), guid)
    if "port" in ids:
        builder.port_guids.setdefault(ids["port"], PortEnd(guid, 0))


def _add_port(builder: SubnetBuilder, block: _Block, match: re.Match[str], where: Position) -> None:
    if not block.guid:
        builder.problem(where, "a port before any node", "the line of its node (Switch, Ca or Rt) before it")
        return
    own, far_port = PortEnd(block.guid, int(match[1])), int(match["port"])
    far, kind = _identify(match["far"])
    line = (own.port, far, far_port)
    known = block.ends.setdefault(block.guid, set())
    if block.repeated and line in known:
        return
    known.add(line)
    tells = _TELLS.fullmatch(match["comment"] or "")
    rate = None
    if tells is not None:
        rate = read_told_rate(builder, tells["rate"], where) if tells["rate"] else None
        if tells["own"] and int(tells["own"]):
            builder.lids.setdefault(int(tells["own"]), block.guid)
        if lanes := _LANES.search(tells["rest"]):
            builder.lanes[_VL_CAPS.get(int(lanes[1]), 0)] += 1
    if match["own"]:
        builder.port_guids.setdefault(normalize_guid(match["own"]), own)
    described = tells["name"] if tells is not None else far
    neighbour = SubnetNode(far, kind or _guess_kind(block.kind), described, where)
    builder.cable(own, neighbour, far_port, rate, where)


def _guess_kind(kind: NodeKind) -> NodeKind:
    """The kind of the neighbour of a ``kind`` when its own word does not say: a switch, as its line would have told."""
    return NodeKind.SWITCH if kind is not NodeKind.SWITCH else kind


def read_port_list(builder: SubnetBuilder, text: str) -> None:
    """Read ``ibnetdiscover -p``, where a port of an adapter is told by its own GUID and not by that of its adapter.

    All ports of a switch are listed, the last one first: a list that does not come down to port 1 was cut.
    """
    lowest: dict[str, int] = {}
    for line, where in list_lines(builder, text):
        if not line.strip() or line.startswith(("#", "ibwarn:", "src/")):
            continue
        match = _LISTED.fullmatch(line.strip())
        if match is None:
            builder.problem(
                where, repr(line.strip()), "a port as ibnetdiscover -p lists it: SW 12 1 0x... 4x EDR - ..."
            )
            continue
        kind, guid = _KINDS[match["kind"].lower()], match["guid"].lower()
        described = match["alone"] if match["alone"] is not None else match["name"]
        if guid not in builder.nodes:
            builder.node(SubnetNode(guid, kind, described, where))
        if kind is NodeKind.SWITCH:
            lowest[guid] = min(lowest.get(guid, 255), int(match["port"]))
        if int(match["lid"]):
            builder.lids.setdefault(int(match["lid"]), guid)
        builder.port_guids.setdefault(guid, PortEnd(guid, 0 if kind is NodeKind.SWITCH else int(match["port"])))
        if match["far"]:
            far_kind = _KINDS.get(match["far_kind"].lower(), NodeKind.ADAPTER)
            far = SubnetNode(match["far"].lower(), far_kind, match["far_name"], where)
            rate = read_told_rate(builder, f"{match['width']}{match['speed']}", where)
            builder.cable(PortEnd(guid, int(match["port"])), far, int(match["far_port"]), rate, where)
    for guid, port in lowest.items():
        if port > 1:
            found = f"no line for the ports 1 to {port - 1} of {guid}"
            builder.problem(builder.end, found, "every port of a switch (this list may be cut: save it again)")
