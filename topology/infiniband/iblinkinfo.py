"""Reads what ``iblinkinfo`` prints: its default, node by node, and ``-l``, one line for each port.

By default a neighbour is told by its LID alone, so a subnet without a subnet manager (all LIDs are 0) needs ``-l``.
Source: iblinkinfo(8); rdma-core, infiniband-diags/iblinkinfo.c.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from benchconsole.topology.errors import Position
from benchconsole.topology.infiniband.ibnetdiscover import UNKNOWN, list_lines
from benchconsole.topology.infiniband.rates import EXPECTED, LinkRate, find_speed, make_rate
from benchconsole.topology.infiniband.subnet import NodeKind, PortEnd, SubnetNode
from benchconsole.topology.infiniband.subnet_builder import SubnetBuilder

_KINDS = {"switch": NodeKind.SWITCH, "ca": NodeKind.ADAPTER, "router": NodeKind.ROUTER}
_HEAD = re.compile(r"(?P<kind>Switch|CA|Router):\s+(?:0x(?P<guid>[0-9a-fA-F]{16})\s)?\s*(?P<name>.*):")
_LINE = re.compile(
    r'(?:0x(?P<guid>[0-9a-fA-F]{16})\s+)?(?:"(?P<own>.*?)"\s+)?(?P<lid>\d{1,5})\s+(?P<port>\d{1,3})\[[ \d]*\]\s+'
    r"==\((?P<link>[^=]*)\)==>\s+(?P<rest>.*)"
)
_FAR = re.compile(
    r'(?:0x(?P<guid>[0-9a-fA-F]{16})\s+)?(?P<lid>\d{1,5})\s+(?P<port>\d{1,3})\[[ \d]*\]\s+"(?P<name>.*)"\s+\([^"]*\)'
)
_NOWHERE = re.compile(r'\[\s*\]\s+""\s+\(\s*\)|"Port not available"')
_UP = re.compile(r"\s*(?P<width>\d{1,2})X\s+(?P<speed>[\d.]+ Gbps(?: \(FDR10\))?|\S+)\s+(?P<state>[A-Za-z]+)/\s*\S+\s*")
_DOWN = re.compile(r"\s*(?:Down|No state change|Initialize|\?\?\?|[A-Za-z]+)\s*/\s*[A-Za-z]+\s*")


@dataclass(frozen=True, slots=True)
class _Head:
    """The node whose ports follow. ``guid`` is empty for an adapter: each port has one of its own."""

    kind: NodeKind
    guid: str
    name: str
    where: Position


@dataclass(frozen=True, slots=True)
class _PortLine:
    """A line of one port as it stands, and the node before it; None in the output of ``-l``."""

    match: re.Match[str]
    head: _Head | None
    where: Position

    @property
    def guid(self) -> str:
        """The GUID of the port; all ports of a switch have that of the switch."""
        return (self.match["guid"] or (self.head.guid if self.head else "")).lower()


def read_links(builder: SubnetBuilder, text: str) -> None:
    """Read either output. Neighbours are looked up when all lines were read."""
    lines = list(_list_ports(builder, text))
    times = Counter(line.guid for line in lines)
    for line in lines:
        _add_node(builder, line, several=times[line.guid] > 1)
    for line in lines:
        _add_cable(builder, line)
    last = builder.nodes[lines[-1].guid] if lines else None
    if last is not None and last.kind is NodeKind.SWITCH:
        name = last.called
        builder.partial = f"the dump ends in the ports of a switch, and does not tell how many there are: {name!r}"


def _list_ports(builder: SubnetBuilder, text: str) -> Iterator[_PortLine]:
    head: _Head | None = None
    for line, where in list_lines(builder, text):
        bare = line.strip()
        if not bare or bare.startswith(("#", "ibwarn:", "src/")):
            continue
        if begun := _HEAD.fullmatch(bare):
            head = _Head(_KINDS[begun["kind"].lower()], begun["guid"] or "", begun["name"], where)
            continue
        match = _LINE.fullmatch(bare)
        if match is None or not (match["guid"] or (head and head.guid)):
            builder.problem(where, repr(bare), "a line of iblinkinfo: a node (Switch: or CA:) or a port (==( ... )==>)")
            continue
        yield _PortLine(match, None if match["own"] is not None else head, where)


def _add_node(builder: SubnetBuilder, line: _PortLine, *, several: bool) -> None:
    match, head, guid = line.match, line.head, line.guid
    # A line of -l does not say what its node is, but only a switch has several ports with one GUID.
    several = several or (head is None and match["own"].strip().startswith("MF0;"))
    kind = head.kind if head else NodeKind.SWITCH if several else NodeKind.ADAPTER
    known = builder.nodes.get(guid)
    if known is None:
        name, where = (head.name, head.where) if head else (match["own"].strip(), line.where)
        builder.node(SubnetNode(guid, kind, name, where))
    elif head is not None and known.where != head.where:
        found = f"the GUID {guid} a second time (first in line {known.where.line})"
        builder.problem(line.where, found, "each GUID once: one dump of one subnet, no two nodes with one GUID")
    lid = int(match["lid"])
    if lid and builder.lids.setdefault(lid, guid) != guid and line.head is not None:
        found = f"the LID {lid} a second time (first of {builder.nodes[builder.lids[lid]].called!r})"
        builder.problem(line.where, found, "each LID of one node: one dump of one subnet")
    builder.port_guids.setdefault(guid, PortEnd(guid, 0 if kind is NodeKind.SWITCH else int(match["port"])))


def _add_cable(builder: SubnetBuilder, line: _PortLine) -> None:
    rest = line.match["rest"].strip()
    if _NOWHERE.fullmatch(rest):
        return
    far = _FAR.fullmatch(rest)
    if far is None:
        builder.problem(line.where, repr(rest), 'the far end: LID, port[  ] "name" ( )')
        return
    lid = int(far["lid"])
    if not far["guid"] and not lid:
        expected = "the LIDs of a running subnet manager, or the output of iblinkinfo -l"
        builder.problem(line.where, "a neighbour with the LID 0", expected)
        return
    guid = (far["guid"] or "").lower() or builder.lids.get(lid, f"lid {lid}")
    known = builder.nodes.get(guid)
    neighbour = SubnetNode(guid, known.kind if known else NodeKind.ADAPTER, far["name"], line.where)
    own = PortEnd(line.guid, int(line.match["port"]))
    builder.cable(own, neighbour, int(far["port"]), _read_rate(builder, line.match["link"], line.where), line.where)


def _read_rate(builder: SubnetBuilder, told: str, where: Position) -> LinkRate | None:
    match = _UP.fullmatch(told)
    if match is None:
        if any(unknown in told for unknown in UNKNOWN) or _DOWN.fullmatch(told):
            builder.remark(f"rates that the tool did not know are left open: {told.strip()}, and so on")
        else:
            builder.problem(where, f"the rate {told.strip()!r}", "lanes and Gbps of one, as in 4X 25.78125 Gbps")
        return None
    speed = "FDR10" if "FDR10" in match["speed"] else find_speed(match["speed"].removesuffix(" Gbps"))
    rate = make_rate(int(match["width"]), speed) if speed else None
    if rate is None:
        builder.problem(where, f"the rate {match['width']}X {match['speed']}", EXPECTED)
    return rate
