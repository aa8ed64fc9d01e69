"""Owns the frozen fabric: nodes, switches, links, criteria and suites, with lookups only.

Everything here is already resolved and checked (``topology.resolve`` does that); rates are
byte/s per direction, sizes are bytes. Refuses to compute: capacity, paths and expectations
live in ``topology.analysis`` and ``topology.expect``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import NewType

from topology.units import Unit

NodeId = NewType("NodeId", str)
SwitchId = NewType("SwitchId", str)
LinkId = NewType("LinkId", str)


class NodeRole(StrEnum):
    """What a node is for."""

    COMPUTE = "compute"
    STORAGE = "storage"
    MANAGEMENT = "management"
    LOGIN = "login"
    GATEWAY = "gateway"


class SwitchRole(StrEnum):
    """Where a switch stands; ``tier`` numbers them upward from the nodes."""

    CHASSIS = "chassis"
    LEAF = "leaf"
    SPINE = "spine"
    CORE = "core"

    @property
    def tier(self) -> int:
        """1 for a chassis switch, then leaf, spine, core."""
        return list(SwitchRole).index(self) + 1


@dataclass(frozen=True, slots=True)
class Hardware:
    """What a node class is declared to have; None where nothing was declared.

    ``facts`` maps a declared fact (``cpu.model``, ``memory.total``, ``nic.speed`` ...) to its
    value: text, or a number in the base unit of that fact. ``peak`` is FLOP/s with its basis
    in words.
    """

    name: str
    facts: Mapping[str, str | float] = field(default_factory=lambda: MappingProxyType({}))
    peak: float | None = None
    peak_basis: str | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A machine that can be asked. ``address`` is where SSH goes, ``data_address`` where tests go."""

    id: NodeId
    role: NodeRole
    hardware: Hardware
    address: str
    data_address: str


@dataclass(frozen=True, slots=True)
class Switch:
    """A switch of the fabric; it is described, never asked."""

    id: SwitchId
    role: SwitchRole
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """``count`` equal cables between ``a`` and ``b``; more than one is a LAG. ``a`` is the lower end.

    ``speed`` is one member in byte/s and one direction, on the wire (before headers).
    """

    id: LinkId
    a: str
    b: str
    speed: float
    count: int = 1

    @property
    def capacity(self) -> float:
        """byte/s in one direction with every member up."""
        return self.speed * self.count

    @property
    def is_lag(self) -> bool:
        """Whether several cables share the load."""
        return self.count > 1

    def other(self, device: str) -> str:
        """The device at the far end."""
        return self.b if device == self.a else self.a


@dataclass(frozen=True, slots=True, order=True)
class Direction:
    """A link taken from the device ``source`` to its other end: what a flow loads."""

    link: LinkId
    source: str


@dataclass(frozen=True, slots=True)
class Flow:
    """Data going from one node to another; ``demand`` in byte/s of payload, None for all it can get."""

    source: NodeId
    sink: NodeId
    demand: float | None = None


class Basis(StrEnum):
    """What a criterion's number is counted against."""

    ABSOLUTE = "absolute"
    CAPACITY = "capacity"
    PEAK = "peak"


class Comparator(StrEnum):
    """Which side of the bound is good; the bound itself is on the good side."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"


@dataclass(frozen=True, slots=True)
class Criterion:
    """A bound for one metric. ``required`` and ``target`` are in ``unit``, or shares of the basis.

    ``rounding`` (in ``unit``; 0 for none) is applied to the measurement before it is compared.
    ``where`` are labels that a measurement must carry, ``nodes`` the nodes that it applies to
    (empty: all). ``source`` is the clause that asks for it.
    """

    metric: str
    comparator: Comparator
    required: float
    unit: Unit
    basis: Basis = Basis.ABSOLUTE
    target: float | None = None
    rounding: float = 0.0
    where: tuple[tuple[str, str], ...] = ()
    nodes: frozenset[NodeId] = frozenset()
    source: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a suite: a probe, the nodes it runs on, and its options as written."""

    probe: str
    nodes: tuple[NodeId, ...]
    options: Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Suite:
    """Named stages, run in order."""

    name: str
    stages: tuple[Stage, ...]


@dataclass(frozen=True, slots=True)
class Access:
    """How the nodes are reached when the file says so; paths are absolute."""

    user: str | None = None
    port: int | None = None
    config: str | None = None
    known_hosts: str | None = None
    identity: str | None = None


@dataclass(frozen=True)
class Fabric:
    """One described machine. Order of ``nodes``, ``switches`` and ``links`` is that of the file."""

    name: str
    nodes: Mapping[NodeId, Node]
    switches: Mapping[SwitchId, Switch]
    links: Mapping[LinkId, Link]
    criteria: tuple[Criterion, ...]
    suites: Mapping[str, Suite]
    access: Access
    mtu: int
    text: str
    simulated: bool = False
    file: str = ""

    @cached_property
    def links_at(self) -> Mapping[str, tuple[Link, ...]]:
        """Device name to its links, in file order."""
        found: dict[str, list[Link]] = {name: [] for name in (*self.nodes, *self.switches)}
        for link in self.links.values():
            found[link.a].append(link)
            found[link.b].append(link)
        return {name: tuple(links) for name, links in found.items()}

    @cached_property
    def goodput(self) -> float:
        """TCP payload share of the wire with timestamps over IPv4: (MTU-52)/(MTU+38)."""
        return (self.mtu - 52) / (self.mtu + 38)

    def attached(self, switch: str) -> Iterator[Node]:
        """The nodes cabled to ``switch``."""
        for link in self.links_at[switch]:
            node = self.nodes.get(NodeId(link.other(switch)))
            if node is not None:
                yield node

    def switch_of(self, node: str) -> tuple[SwitchId, ...]:
        """The switches that ``node`` is cabled to."""
        return tuple(SwitchId(link.other(node)) for link in self.links_at[node] if link.other(node) in self.switches)

    def tier(self, device: str) -> int:
        """0 for a node, else the tier of the switch."""
        switch = self.switches.get(SwitchId(device))
        return switch.role.tier if switch else 0
