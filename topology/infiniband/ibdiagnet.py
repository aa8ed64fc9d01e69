"""Reads files of ``ibdiagnet2``: ``.db_csv``, sections of tables, and ``.net_dump``, ports by switch.

A ``.db_csv`` tells cables where it has the section LINKS, and beside them firmware and virtual lanes. A ``.net_dump``
tells switches only: an adapter is a neighbour in it, and its cables are told by one end. Source: ibdiagnet's manual,
and the sections of files that it wrote.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from benchconsole.topology.copying import replace
from benchconsole.topology.errors import Position
from benchconsole.topology.infiniband.ibnetdiscover import list_lines
from benchconsole.topology.infiniband.rates import EXPECTED, LinkRate, decode_active, find_speed, make_rate
from benchconsole.topology.infiniband.subnet import NodeKind, PortEnd, SubnetNode, normalize_guid
from benchconsole.topology.infiniband.subnet_builder import SubnetBuilder

_EDGE = re.compile(r"(START|END)_([A-Z0-9_]+)")
_KINDS = {"1": NodeKind.ADAPTER, "2": NodeKind.SWITCH, "3": NodeKind.ROUTER}
_NEEDED = {
    "NODES": ("NodeDesc", "NodeType", "NodeGUID"),
    "PORTS": ("NodeGuid", "PortNum"),
    "LINKS": ("NodeGuid1", "PortNum1", "NodeGuid2", "PortNum2"),
    "NODES_INFO": ("NodeGUID",),
}
_FIRMWARE = (
    ("FWInfo_Extended_Major", "FWInfo_Extended_Minor", "FWInfo_Extended_SubMinor"),
    ("FWInfo_Major", "FWInfo_Minor", "FWInfo_SubMinor"),
)
_LANES = {"1": 1, "2": 2, "3": 4, "4": 8, "5": 15}
_SWITCH = re.compile(r'"(?P<name>.*)",\s*(?P<vendor>[^,]*),\s*0x(?P<guid>[0-9a-fA-F]{1,16}),\s*LID\s+(?P<lid>\d{1,5})')
_COLUMNS = re.compile(r"#\s*:\s*IB#\s*:.*")
_FIELDS = 12
_ADAPTER_PORTS = 8


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of one section, by the names of its columns."""

    cells: Mapping[str, str]
    where: Position

    def __getitem__(self, column: str) -> str:
        return self.cells.get(column, "").strip().strip('"').strip()

    def number(self, column: str) -> int | None:
        text = self[column]
        try:
            return int(text, 16) if text.lower().startswith("0x") else int(text)
        except ValueError:
            return None


def _read_sections(builder: SubnetBuilder, text: str) -> dict[str, list[_Row]]:
    """The rows of the sections that are read; a section without an end, or without a column, is a problem."""
    sections: dict[str, list[_Row]] = {}
    current, begun, columns = "", builder.end, list[str]()
    for line, where in list_lines(builder, text, longest=100_000):
        edge = _EDGE.fullmatch(line.strip())
        if edge is not None:
            if current and edge[1] == "START":
                builder.problem(where, f"START_{edge[2]} within {current}", f"END_{current} (this file may be cut)")
            current, begun, columns = (edge[2] if edge[1] == "START" else ""), where, []
        elif current in _NEEDED and line.strip():
            cells = next(csv.reader([line]), [])
            if not columns:
                columns = [cell.strip() for cell in cells]
                missing = [name for name in _NEEDED[current] if name not in columns]
                if missing:
                    builder.problem(
                        where, f"no column {missing[0]} in {current}", f"columns {', '.join(_NEEDED[current])}"
                    )
                    current = ""
            elif len(cells) < len(columns):
                found = f"{len(cells)} cells in a row of {current}"
                builder.problem(where, found, f"{len(columns)}, as its heading has")
            else:
                sections.setdefault(current, []).append(_Row(dict(zip(columns, cells, strict=False)), where))
    if current:
        builder.problem(
            builder.end, f"no END_{current}", f"the end of the section of line {begun.line} (this file may be cut)"
        )
    return sections


def has_links(text: str) -> bool:
    """Whether a ``.db_csv`` tells what is cabled to what."""
    return re.search(r"^START_LINKS\s*$", text, re.MULTILINE) is not None


def read_tables(builder: SubnetBuilder, text: str, *, linked: bool = True) -> None:
    """Read a ``.db_csv``. A link stands there once; both of its ends are taken from it. Without links (``linked``) it
    tells of nodes and ports only.
    """
    sections = _read_sections(builder, text)
    for row in sections.get("NODES", []):
        _add_node(builder, row)
    _add_firmware(builder, sections.get("NODES_INFO", []))
    rates = dict(_read_ports(builder, sections.get("PORTS", [])))
    if linked and "LINKS" not in sections and not builder.problems:
        expected = "a .db_csv with links; read ibdiagnet2.ibnetdiscover, .lst or .net_dump beside it instead"
        builder.problem(builder.end, "no section LINKS", expected)
    for row in sections.get("LINKS", []) if linked else ():
        _add_link(builder, row, rates)


def _add_node(builder: SubnetBuilder, row: _Row) -> None:
    kind = _KINDS.get(row["NodeType"])
    if kind is None:
        builder.problem(row.where, f"the node type {row['NodeType']!r}", "1 (adapter), 2 (switch) or 3 (router)")
        return
    guid, system = normalize_guid(row["NodeGUID"]), normalize_guid(row["SystemImageGUID"])
    device = ":".join(part for part in (row["VendorID"], row["DeviceID"]) if part)
    builder.node(SubnetNode(guid, kind, row["NodeDesc"], row.where, system.strip("0") and system, device))


def _add_firmware(builder: SubnetBuilder, rows: list[_Row]) -> None:
    for row in rows:
        node = builder.nodes.get(normalize_guid(row["NodeGUID"]))
        told = ([_read_hexadecimal(row[name]) for name in columns] for columns in _FIRMWARE)
        found = next((parts for parts in told if None not in parts), [])
        if node is not None and any(found):
            builder.nodes[node.guid] = replace(node, firmware=".".join(str(part) for part in found))


def _read_hexadecimal(text: str) -> int | None:
    try:
        return int(text, 16)
    except ValueError:
        return None


def _read_ports(builder: SubnetBuilder, rows: list[_Row]) -> Iterator[tuple[PortEnd, LinkRate]]:
    for row in rows:
        guid, port = normalize_guid(row["NodeGuid"]), row.number("PortNum")
        if port is None:
            builder.problem(row.where, f"the port {row['PortNum']!r}", "a number")
            continue
        builder.port_guids.setdefault(normalize_guid(row["PortGuid"]), PortEnd(guid, port))
        if lid := row.number("LID"):
            builder.lids.setdefault(lid, guid)
        if row["VLCap"] in _LANES and port:
            builder.lanes[_LANES[row["VLCap"]]] += 1
        width, speed = row.number("LinkWidthActv"), row.number("LinkSpeedActv")
        rate = decode_active(width, speed) if width and speed else None
        if rate is not None:
            yield PortEnd(guid, port), rate
        elif width and speed and row["PortState"] in ("", "4"):
            builder.problem(row.where, f"the rate LinkWidthActv {width}, LinkSpeedActv {speed}", EXPECTED)


def _add_link(builder: SubnetBuilder, row: _Row, rates: Mapping[PortEnd, LinkRate]) -> None:
    ends = []
    for n in ("1", "2"):
        guid, port = normalize_guid(row[f"NodeGuid{n}"]), row.number(f"PortNum{n}")
        if guid not in builder.nodes or port is None:
            builder.problem(row.where, f"a link to port {row[f'PortNum{n}']} of {guid}", "a node of the section NODES")
            return
        ends.append(PortEnd(guid, port))
    for own, far in (ends, reversed(ends)):
        builder.cable(own, builder.nodes[far.guid], far.port, rates.get(own), row.where)


def read_net_dump(builder: SubnetBuilder, text: str) -> None:
    """Read a ``.net_dump``: blocks of switches with a line for each of their ports."""
    switch = ""
    builder.lists_switches = True
    for line, where in list_lines(builder, text):
        bare = line.strip()
        if not bare or _COLUMNS.fullmatch(bare) or bare.startswith(("# ", "-I-", "-W-")):
            continue
        if head := _SWITCH.fullmatch(bare):
            switch = normalize_guid(head["guid"])
            builder.node(SubnetNode(switch, NodeKind.SWITCH, head["name"], where))
            builder.port_guids.setdefault(switch, PortEnd(switch, 0))
            if int(head["lid"]):
                builder.lids.setdefault(int(head["lid"]), switch)
        else:
            _add_port(builder, switch, [cell.strip() for cell in bare.split(" : ", _FIELDS)], bare, where)


def _add_port(builder: SubnetBuilder, switch: str, cells: list[str], bare: str, where: Position) -> None:
    if not switch or len(cells) <= _FIELDS or not cells[1].isdecimal():
        expected = f'a switch ("NAME", VENDOR, 0xGUID, LID n) or a port with {_FIELDS + 1} fields parted by " : "'
        builder.problem(where, repr(bare), expected)
        return
    state, width, told, guid, port = cells[2], cells[5], cells[6], cells[9], cells[10]
    if "DOW" in state or not guid.lower().startswith("0x"):
        return
    speed = find_speed(told)
    lanes = width.lower().removesuffix("x")
    rate = make_rate(int(lanes), speed) if speed and lanes.isdecimal() else None
    if rate is None or not port.isdecimal():
        builder.problem(where, f"the rate {width} {told} to port {port}", EXPECTED)
        return
    name = cells[_FIELDS].strip('"')
    # The line does not say what the neighbour is; a switch names itself so, or has more ports than an adapter.
    kind = NodeKind.SWITCH if name.startswith("MF0;") or int(port) > _ADAPTER_PORTS else NodeKind.ADAPTER
    far = SubnetNode(normalize_guid(guid), kind, name, where)
    builder.cable(PortEnd(switch, int(cells[1])), far, int(port), rate, where)
