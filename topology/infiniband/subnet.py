"""One InfiniBand subnet as a dump tells it: its nodes by GUID, and its cables with the rates that they were trained to.

A node is a switch chip, a channel adapter or a router; a machine may have several. Names of machines are found in
``device_names``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from benchconsole.topology.errors import Position
from benchconsole.topology.infiniband.rates import LinkRate


class NodeKind(StrEnum):
    """The kind of a node of a subnet."""

    SWITCH = "switch"
    ADAPTER = "adapter"
    ROUTER = "router"


@dataclass(frozen=True, slots=True)
class SubnetNode:
    """A node. ``guid`` has 16 hexadecimal digits, or is any word in a file of a simulator.

    ``description`` is what it calls itself, ``mapped`` the name that a node-name-map gives it; ``system`` is the GUID
    of the box that it is in, ``device`` its vendor and type. Empty where the dump does not tell.
    """

    guid: str
    kind: NodeKind
    description: str
    where: Position
    system: str = ""
    device: str = ""
    firmware: str = ""
    mapped: str = ""

    @property
    def called(self) -> str:
        """The name by which people know it."""
        return self.mapped or self.description


@dataclass(frozen=True, slots=True, order=True)
class PortEnd:
    """A port of a node."""

    guid: str
    port: int


@dataclass(frozen=True, slots=True)
class SubnetCable:
    """A cable between two ports. ``rate`` is None where no end tells it."""

    a: PortEnd
    b: PortEnd
    rate: LinkRate | None
    where: Position


@dataclass(frozen=True, slots=True)
class Subnet:
    """A whole subnet. ``lids`` and ``port_guids`` find a node by what counters call it.

    ``lanes`` counts ports by how many virtual lanes they can have (``8`` is VL0 to VL7). ``partial`` says what the dump
    leaves out, empty for a whole one.
    """

    file: str
    nodes: Mapping[str, SubnetNode]
    cables: tuple[SubnetCable, ...]
    remarks: tuple[str, ...] = ()
    partial: str = ""
    lids: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    port_guids: Mapping[str, PortEnd] = field(default_factory=lambda: MappingProxyType({}))
    lanes: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))


def normalize_guid(text: str) -> str:
    """A GUID as 16 lower-case digits, written with ``0x`` and leading zeros or without; other text as it is."""
    digits = text.strip().lower().removeprefix("0x")
    return digits.rjust(16, "0") if digits and len(digits) <= 16 and set(digits) <= set("0123456789abcdef") else text
