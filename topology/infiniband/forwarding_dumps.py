"""Reads forwarding tables as tools saved them: what each switch sends where, by LID.

``ibroute`` of one switch, ``dump_fts`` and ``dump_lfts`` of all, ``opensm-lfts.dump``, and the ``.fdbs`` of OpenSM and
of ibdiagnet2. Source: ibroute(8), dump_fts(8); OpenSM, osm_dump.c.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from benchconsole.topology.errors import Position, Problem, TopologyError
from benchconsole.topology.infiniband.subnet import PortEnd, Subnet, normalize_guid

_SWITCH = re.compile(r"Unicast lids \[.*\] of switch .*guid 0x(?P<guid>[0-9a-fA-F]{1,16})\b.*")
_FDB_SWITCH = re.compile(r"\w*dump_ucast_routes: Switch 0x(?P<guid>[0-9a-fA-F]{1,16})")
_ENTRY = re.compile(r"0x(?P<lid>[0-9a-fA-F]{1,4}) +(?P<port>\d{3}|-)(?:\s*[:#]\s*(?P<told>.*))?")
_FDB_ENTRY = re.compile(r"0x(?P<lid>[0-9a-fA-F]{1,4})\s*:\s*(?:(?P<port>\d{3})\s*:.*|UNREACHABLE)")
_PORT_GUID = re.compile(r"portguid 0x(?P<guid>[0-9a-fA-F]{1,16})")
_END = re.compile(r"(?P<count>\d+) (?P<valid>valid )?lids dumped")
_PLANE = re.compile(r"PLFT_NUM:\s*(?P<number>\d+)")
_PASSED_OVER = re.compile(r"\s*|#.*|LID\s*:.*|Lid\s+Out\s+Destination|Port\s+Info|ibwarn:.*|src/.*|\*\*\*.*")
_NOWHERE = 255
"""The port of a LID that is sent nowhere."""
MAX_PROBLEMS = 100
EXPECTED = "a switch (Unicast lids [...] of switch ... guid 0x...), an entry (0x0012 009 : ...) or a count of lids"


@dataclass(slots=True)
class SwitchTable:
    """The table of a switch, in the file that has it: LID to port. ``ends`` are ports of destinations, where told."""

    guid: str
    where: Position
    ports: dict[int, int] = field(default_factory=dict)
    is_whole: bool = False


@dataclass(slots=True)
class ForwardingDump:
    """The tables of a subnet by the GUID of the switch, and the GUIDs of the ports that the LIDs were told to be."""

    tables: dict[str, SwitchTable] = field(default_factory=dict)
    port_guids: dict[int, str] = field(default_factory=dict)


def looks_like_tables(text: str) -> bool:
    """Whether a text is forwarding tables."""
    return any(_SWITCH.fullmatch(line.strip()) or _FDB_SWITCH.fullmatch(line.strip()) for line in text.splitlines())


def read_forwarding(files: Mapping[str, str]) -> ForwardingDump:
    """The tables that these files (by name) hold together. TopologyError with what is wrong in them."""
    dump, problems = ForwardingDump(), list[Problem]()
    for file, text in files.items():
        _read(file, text, dump, problems)
    if problems:
        raise TopologyError(problems[:MAX_PROBLEMS])
    return dump


def _read(file: str, text: str, dump: ForwardingDump, problems: list[Problem]) -> None:
    table: SwitchTable | None = None
    counts, plane, where = False, 0, Position(file, 1, 1)
    for number, line in enumerate(text.splitlines(), start=1):
        where, bare = Position(file, number, 1), line.strip()
        if begun := _SWITCH.fullmatch(bare) or _FDB_SWITCH.fullmatch(bare):
            _check_end(table, counts, problems, where)
            counts, plane = begun.re is _SWITCH, 0
            table = SwitchTable(normalize_guid(begun["guid"]), where)
            first = dump.tables.setdefault(table.guid, table)
            if first is not table:
                found = f"the switch 0x{table.guid} a second time (first in {first.where})"
                problems.append(Problem(where, found, "the table of each switch once"))
        elif told := _PLANE.search(bare):
            plane = int(told["number"])
        elif table is not None and (end := _END.fullmatch(bare)):
            table.is_whole = True
            if end["valid"] and int(end["count"]) != len(table.ports):
                found = f"{end['count']} lids dumped, and {len(table.ports)} entries before"
                problems.append(Problem(where, found, "as many entries as the count says (lines may be missing)"))
        elif table is not None and (entry := _ENTRY.fullmatch(bare) or _FDB_ENTRY.fullmatch(bare)):
            if plane == 0:  # further tables are those of other service levels
                _add_entry(table, dump, entry)
        elif not _PASSED_OVER.fullmatch(bare):
            problems.append(Problem(where, repr(bare[:80]), EXPECTED))
    _check_end(table, counts, problems, where)


def _add_entry(table: SwitchTable, dump: ForwardingDump, entry: re.Match[str]) -> None:
    lid, told = int(entry["lid"], 16), entry.groupdict().get("told")
    port = _NOWHERE if entry["port"] in (None, "-") else int(entry["port"])
    table.ports[lid] = port
    if told and (guid := _PORT_GUID.search(told)):
        dump.port_guids.setdefault(lid, normalize_guid(guid["guid"]))


def _check_end(table: SwitchTable | None, counts: bool, problems: list[Problem], where: Position) -> None:
    if table is not None and counts and not table.is_whole:
        found = f"no count of lids at the end of the table of 0x{table.guid}"
        problems.append(
            Problem(where, found, "'40 valid lids dumped' or the like (the file may be cut: save it again)")
        )


def find_destinations(dump: ForwardingDump, subnet: Subnet) -> dict[int, PortEnd]:
    """The port of an adapter or router that each LID leads to; of several LIDs of one port the lowest.

    By the GUIDs that the tables tell, else by the LIDs of the subnet, where the adapter has one cable.
    """
    ports: dict[str, list[PortEnd]] = {}
    for cable in subnet.cables:
        for own_end in (cable.a, cable.b):
            ports.setdefault(own_end.guid, []).append(own_end)
    found: dict[int, PortEnd] = {}
    led_to: set[PortEnd] = set()
    for lid in sorted({lid for table in dump.tables.values() for lid in table.ports}):
        end: PortEnd | None = subnet.port_guids.get(dump.port_guids.get(lid, ""))
        guid = end.guid if end is not None else subnet.lids.get(lid, "")
        own = ports.get(guid, [])
        if len(own) == 1:
            end = own[0]
        if end is not None and end.port and end not in led_to:
            found[lid] = end
            led_to.add(end)
    return found
