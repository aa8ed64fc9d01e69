"""Reads the partitions of a subnet as OpenSM is told them: ``partitions.conf``.

A statement is ``NAME=KEY, FLAG... : MEMBER=full, MEMBER=limited, ... ;``; members are GUIDs of ports or words such as
``ALL``. Source: opensm(8), section PARTITION CONFIGURATION.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchconsole.topology.errors import Position, refuse
from benchconsole.topology.infiniband.subnet import Subnet, normalize_guid

_STATEMENT = re.compile(
    r"\s*(?P<name>[A-Za-z0-9_.-]{0,64})\s*(?:=\s*(?P<key>0[xX][0-9a-fA-F]{1,4}|\d{1,5}))?\s*(?P<flags>,[^:;]*)?:"
    r"(?P<members>[^;]*)"
)
_MEMBER = re.compile(r"(?P<who>0[xX][0-9a-fA-F]{1,16}|[A-Z_]{3,16})\s*(?:=\s*(?P<how>full|limited|both))?")
_RECOGNISED = re.compile(
    r"^[ \t]*[A-Za-z0-9_.-]+[ \t]*=[ \t]*(?:0[xX][0-9a-fA-F]{1,4}|\d{1,5})[^:;\n]*:[^;]*;", re.MULTILINE
)
_FULL = 0x8000


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition. ``key`` has 15 bits, None where OpenSM chooses it; ``members`` are (port GUID or word, how)."""

    name: str
    key: int | None
    members: tuple[tuple[str, str], ...]


def looks_like_partitions(text: str) -> bool:
    """Whether ``text`` is a ``partitions.conf``."""
    return _RECOGNISED.search(text) is not None


def read_partitions(text: str, file: str) -> Iterator[Partition]:
    """The partitions in order. TopologyError for a statement that is none, or that has no end."""
    bare = re.sub(r"#[^\n]*", "", text)
    offset = 0
    for statement in bare.split(";"):
        solid = len(statement) - len(statement.lstrip())
        where = Position(file, bare.count("\n", 0, offset + solid) + 1, 1)
        offset += len(statement) + 1
        if not statement.strip():
            continue
        if offset > len(bare):
            raise refuse(where, "a partition without ';' at its end", "a whole file (this one may be cut)")
        match = _STATEMENT.fullmatch(statement)
        if match is None:
            raise refuse(where, repr(statement.strip()[:60]), "NAME=0x8001 : 0xGUID=full, ALL=limited ;")
        key = int(match["key"], 0) & ~_FULL if match["key"] else None
        default = re.search(r"defmember\s*=\s*(full|limited|both)", match["flags"] or "")
        members = tuple(_read_members(match["members"], default[1] if default else "limited", where))
        yield Partition(match["name"], key, members)


def _read_members(text: str, default: str, where: Position) -> Iterator[tuple[str, str]]:
    for member in filter(None, (part.strip() for part in text.split(","))):
        match = _MEMBER.fullmatch(member)
        if match is None:
            raise refuse(where, f"the member {member[:60]!r}", "a port GUID, ALL, ALL_CAS, ALL_SWITCHES or SELF")
        who = normalize_guid(match["who"]) if match["who"].lower().startswith("0x") else match["who"]
        yield who, match["how"] or default


def list_members(partition: Partition, subnet: Subnet) -> dict[str, list[str]]:
    """How members belong to it, to their node GUIDs, or to the words and the GUIDs that ``subnet`` does not have."""
    found: dict[str, list[str]] = {}
    for who, how in partition.members:
        port = subnet.port_guids.get(who)
        found.setdefault(how, []).append(port.guid if port is not None else who)
    return found
