"""Reads saved files of a subnet: finds out what each one is, takes one dump, and names nodes by a node-name-map.

Of a directory of ibdiagnet2 the dump that tells most is taken, and firmware from its ``.db_csv``.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchconsole.topology.copying import replace
from benchconsole.topology.description.document import source_text
from benchconsole.topology.errors import Position, TopologyError, refuse
from benchconsole.topology.infiniband.counters import PortCounters, looks_like_counters, read_counters
from benchconsole.topology.infiniband.device_names import match_name_line
from benchconsole.topology.infiniband.forwarding_dumps import ForwardingDump, looks_like_tables, read_forwarding
from benchconsole.topology.infiniband.ibdiagnet import has_links, read_net_dump, read_tables
from benchconsole.topology.infiniband.iblinkinfo import read_links
from benchconsole.topology.infiniband.ibnetdiscover import read_blocks, read_port_list
from benchconsole.topology.infiniband.link_list import read_link_list
from benchconsole.topology.infiniband.partitions import Partition, looks_like_partitions, read_partitions
from benchconsole.topology.infiniband.subnet import Subnet, normalize_guid
from benchconsole.topology.infiniband.subnet_builder import SubnetBuilder

NAMES = "node-name-map"
PARTITIONS = "partitions.conf"
COUNTERS = "counters"
FORWARDING = "forwarding tables"
TABLES = "ibdiagnet2.db_csv"

_BLOCKS = r'^(?:Switch|Ca|Hca|Rt|Router)\s+\d{1,3}\s*"|^# Topology file: generated'
_DUMPS: Mapping[str, tuple[re.Pattern[str], Callable[[SubnetBuilder, str], None]]] = {
    "ibnetdiscover": (re.compile(_BLOCKS, re.MULTILINE | re.IGNORECASE), read_blocks),
    "ibnetdiscover -p": (re.compile(r"^(?:SW|CA|RT)\s+\d+\s+\d+ 0x[0-9a-fA-F]{16} ", re.MULTILINE), read_port_list),
    "iblinkinfo": (re.compile(r"^[^#\n]*==\([^\n]*\)==>", re.MULTILINE), read_links),
    "subnet.lst": (re.compile(r"^\{ (?:CA|SW|RT)[^\n]*NodeGUID:", re.MULTILINE), read_link_list),
    TABLES: (re.compile(r"^START_(?:NODES|LINKS)\s*$", re.MULTILINE), read_tables),
    "ibdiagnet2.net_dump": (re.compile(r'^".*", *[^,\n]*, *0x[0-9a-fA-F]+, *LID ', re.MULTILINE), read_net_dump),
}
"""Name of a dump, to its mark and its reader, the one that tells most first."""

EXPECTED = (
    "the output of ibnetdiscover, iblinkinfo, ibqueryerrors or perfquery, an opensm-subnet.lst, "
    "files of ibdiagnet2, forwarding tables (dump_fts, opensm-lfts.dump, .fdbs), a partitions.conf or a node-name-map"
)
_SUFFIXES = (".ibnetdiscover", ".db_csv", ".lst", ".net_dump", ".fdbs")
_LOOKED_AT = 256 * 1024


@dataclass(frozen=True, slots=True)
class SubnetFiles:
    """Contents of saved files: the subnet, the name of its dump, and what else was given: counters (None for none),
    of which the ports with errors are kept, partitions, and forwarding tables (None without any).
    """

    subnet: Subnet
    dump: str
    counters: tuple[PortCounters, ...] | None = None
    partitions: tuple[Partition, ...] = ()
    forwarding: ForwardingDump | None = None


def recognize(text: str) -> str | None:
    """The kind of a saved file: a name of a dump, ``node-name-map``, ``counters``, ``partitions.conf``,
    ``forwarding tables``; None for others.
    """
    start = text[:_LOOKED_AT]
    for name, (mark, _) in _DUMPS.items():
        if mark.search(start):
            return name
    if looks_like_counters(start):
        return COUNTERS
    if looks_like_tables(start):
        return FORWARDING
    if looks_like_partitions(start):
        return PARTITIONS
    lines = [line for line in start.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return NAMES if lines and all(match_name_line(line) for line in lines[:20]) else None


def recognize_dump(text: str) -> bool:
    """Whether a saved file tells a subnet."""
    return recognize(text) in _DUMPS


def read_dump(text: str, file: str) -> Subnet:
    """The subnet that one text tells, whichever dump it is. Raises TopologyError with every problem."""
    name = recognize(text)
    if name is None or name not in _DUMPS:
        raise refuse(Position(file, 1, 1), _describe(text), EXPECTED)
    return _read_as(name, text, file)


def _read_as(name: str, text: str, file: str) -> Subnet:
    builder = SubnetBuilder(file, text)
    _DUMPS[name][1](builder, text)
    return builder.finish()


def _describe(text: str) -> str:
    """Words for a text of no known kind."""
    if not text.strip():
        return "an empty file"
    return f"a file that begins with {text.strip().splitlines()[0][:60]!r}"


def read_files(paths: Sequence[Path]) -> SubnetFiles:
    """Contents of saved files together: one dump, and beside it a node-name-map and counters. Raises TopologyError."""
    texts = [(str(path), source_text(path)) for path in _list_files(paths)]
    kinds = [(file, text, recognize(text)) for file, text in texts]
    for file, text, kind in kinds:
        if kind is None:
            raise refuse(Position(file, 1, 1), _describe(text), EXPECTED)
    order = list(_DUMPS)
    dumps = sorted((order.index(kind), file, text) for file, text, kind in kinds if kind is not None and kind in order)
    whole = [each for each in dumps if list(_DUMPS)[each[0]] != TABLES or has_links(each[2])] or dumps
    if not whole:
        raise refuse(Position(texts[0][0], 1, 1), "no dump of the subnet", "the output of ibnetdiscover beside it")
    directories = {Path(file).parent for _, file, _ in dumps}
    if len(whole) > 1 and not (len(directories) == 1 and any(path.is_dir() for path in paths)):
        raise refuse(
            Position(whole[1][1], 1, 1), f"a second dump (the first is {whole[0][1]})", "one dump of one subnet"
        )
    number, file, text = whole[0]
    subnet = _read_as(list(_DUMPS)[number], text, file)
    for index, beside, told in dumps:
        if list(_DUMPS)[index] == TABLES and beside != file:
            subnet = _take_firmware(subnet, _read_tables_alone(told, beside))
    subnet = name_nodes(subnet, [(each, told) for each, told, kind in kinds if kind == NAMES])
    counted = [(each, told) for each, told, kind in kinds if kind == COUNTERS or _has_counters(told)]
    counters = [found for each, told in counted for found in read_counters(told, each, subnet)]
    partitions = [found for each, told, kind in kinds if kind == PARTITIONS for found in read_partitions(told, each)]
    tables = {each: told for each, told, kind in kinds if kind == FORWARDING}
    forwarding = read_forwarding(tables) if tables else None
    dump = list(_DUMPS)[number]
    return SubnetFiles(subnet, dump, tuple(counters) if counted else None, tuple(partitions), forwarding)


def _has_counters(text: str) -> bool:
    return re.search(r"^START_PM_INFO\s*$", text, re.MULTILINE) is not None


def _list_files(paths: Sequence[Path]) -> list[Path]:
    """The files, and of a directory those that ibdiagnet2 names so, or all of a directory that has none of them."""
    found = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(each for each in path.iterdir() if each.is_file() and not each.name.startswith("."))
        known = [each for each in inside if each.suffix in _SUFFIXES]
        if not inside:
            raise refuse(Position(str(path), 1, 1), "an empty directory", EXPECTED)
        found += known or inside
    return found


def _read_tables_alone(text: str, file: str) -> Subnet:
    """The nodes of a ``.db_csv`` that tells no links, for their firmware."""
    builder = SubnetBuilder(file, text)
    read_tables(builder, text, linked=False)
    if builder.problems:
        raise TopologyError(builder.problems)
    return Subnet(file, builder.nodes, (), lanes=builder.lanes)


def _take_firmware(subnet: Subnet, tables: Subnet) -> Subnet:
    nodes = {
        guid: replace(node, firmware=tables.nodes[guid].firmware) if guid in tables.nodes else node
        for guid, node in subnet.nodes.items()
    }
    return replace(subnet, nodes=nodes, lanes=subnet.lanes or tables.lanes)


def name_nodes(subnet: Subnet, maps: Sequence[tuple[str, str]]) -> Subnet:
    """The subnet with the names of node-name-maps, each a file and its text. TopologyError for a line that is none."""
    nodes = dict(subnet.nodes)
    for file, text in maps:
        for number, line in enumerate(text.splitlines(), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            match = match_name_line(line)
            if match is None:
                raise refuse(Position(file, number, 1), repr(line.strip()[:80]), '0xGUID "NAME", or a comment (#)')
            guid = normalize_guid(match["guid"])
            known = nodes.get(guid)
            if known is not None:
                nodes[guid] = replace(known, mapped=match["name"].strip())
    return replace(subnet, nodes=nodes)
