"""The frozen fabric: nodes, switches, links and their groups, resolved and checked, with lookups only.

Rates are byte/s per direction, sizes are bytes, times are seconds, lengths are metres.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import attrgetter
from types import MappingProxyType
from typing import NewType

from msgspec import Struct

from benchconsole.topology.copying import replace
from benchconsole.topology.errors import Position
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.access import Access, Caps
from benchconsole.topology.model.baseline import BaselineNumbers
from benchconsole.topology.model.cable import Cable, Channel, Wan
from benchconsole.topology.model.ceiling import Ceiling
from benchconsole.topology.model.claims import Claim, ReportedResult
from benchconsole.topology.model.device_group import Group
from benchconsole.topology.model.fact_rule import FactRule
from benchconsole.topology.model.grouped_word import GroupedWord
from benchconsole.topology.model.network import DATA, Network, NetworkRole, tcp_goodput
from benchconsole.topology.model.node_groups import list_groups
from benchconsole.topology.model.port_set import PortSet
from benchconsole.topology.model.routing_rule import RoutingRule
from benchconsole.topology.model.storage import LayerLimit, Storage
from benchconsole.topology.model.sweep import Sweep
from benchconsole.topology.units import Unit

NodeId = NewType("NodeId", str)
SwitchId = NewType("SwitchId", str)
LinkId = NewType("LinkId", str)

ForwardingTables = Mapping[str, Mapping[str, LinkId]]
"""Switch to its table: a destination, which is a node or one of its ports (``n01:mlx5_0/1``), to the link to take."""


class NodeRole(GroupedWord):
    """The purpose of a node."""

    COMPUTE = "compute"
    STORAGE = "storage"
    MANAGEMENT = "management"
    LOGIN = "login"
    GATEWAY = "gateway"


class SwitchRole(GroupedWord):
    """Where a switch stands; ``tier`` numbers them upward from the nodes."""

    CHASSIS = "chassis"
    LEAF = "leaf"
    SPINE = "spine"
    CORE = "core"

    @property
    def tier(self) -> int:
        """1 for a chassis switch, then leaf, spine, core."""
        return _TIERS[self]


_TIERS = {role: number for number, role in enumerate(SwitchRole, start=1)}


class Hardware(Struct, frozen=True):
    """The declared hardware of a node class; None where nothing was declared.

    ``facts`` maps a declared fact (``cpu.model``, ``memory.total``, ``nic.speed`` ...) to its value: text, or a number
    in the base unit of that fact. ``peak`` is FLOP/s with its basis in words. ``rules`` are what is asked of any other
    fact, by its name.
    """

    name: str
    facts: Mapping[str, str | float] = MappingProxyType({})
    peak: float | None = None
    peak_basis: str | None = None
    rules: Mapping[str, FactRule] = MappingProxyType({})


class Node(Struct, frozen=True, gc=False):
    """A machine that can be asked. ``address`` is where SSH goes, ``data_address`` where tests go.

    ``host`` is the machine whose cables a virtual machine shares (it has none of its own). ``forwards``: it routes
    between the networks that it is cabled to, as a switch would. ``production``: it serves others, and nothing may load
    it unasked. ``blank_disks`` are the serial numbers of its disks that a destructive test may overwrite; none, unless
    the file names them. ``cohorts`` are dimension and name of each cohort that it is in, sorted; one of each dimension.
    ``addresses`` are networks (where it is in several) and ports, each with the address that it has there (``at``).
    """

    id: NodeId
    role: NodeRole
    hardware: Hardware
    address: str
    data_address: str
    host: NodeId | None = None
    forwards: bool = False
    production: bool = False
    blank_disks: tuple[str, ...] = ()
    cohorts: tuple[tuple[str, str], ...] = ()
    addresses: tuple[tuple[str, str], ...] = ()

    def find_address(self, place: str) -> str | None:
        """Its address in a network, or of a port; None where the file tells none."""
        return dict(self.addresses).get(place)

    def at(self, place: str) -> "Node":
        """The same node for tests over a network or a port: they go to its address there, where it has one."""
        found = self.find_address(place) if self.addresses else None
        return self if found in (None, self.data_address) else replace(self, data_address=found)


class Switch(Struct, frozen=True, gc=False):
    """A switch of the fabric; it is described, never asked. ``ports`` is empty where none were declared."""

    id: SwitchId
    role: SwitchRole
    model: str | None = None
    ports: tuple[PortSet, ...] = ()


class HashPolicy(GroupedWord):
    """The rule that chooses a flow's member of a LAG, or its next hop.

    ``STEERED``: the tests choose source ports so that members are used in turn.
    """

    L2 = "l2"
    L3 = "l3"
    L3L4 = "l3l4"
    STEERED = "steered"
    UNKNOWN = "unknown"

    @property
    def sees_ports(self) -> bool:
        """Whether streams of one pair of nodes may take different ways; so it is taken where nobody described it."""
        return self not in (HashPolicy.L2, HashPolicy.L3)


class Bond(GroupedWord):
    """How the legs of a node that is cabled to several switches are used."""

    LACP = "lacp"
    XOR = "balance-xor"
    BACKUP = "active-backup"


class Link(Struct, frozen=True, gc=False):
    """``count`` cables between ``a`` and ``b``; more than one is a LAG. ``a`` is the lower end.

    Where ``counted`` is False nobody knows how many cables there are: ``count`` is 1, and the capacity is the least
    that the link can have.
    ``speed`` is one member in byte/s and one direction, on the wire (before headers); where
    members differ, ``mixed`` holds each and ``speed`` is the lowest. ``ports_a`` and ``ports_b``
    name one port per member where the file does. ``standby`` legs carry nothing while an
    active one is up. ``network`` names the network that it belongs to (``Fabric.networks``). Of several links between
    two switches those of the highest ``preference`` (from ``a`` to ``b``, and back) carry the traffic of a direction.
    """

    id: LinkId
    a: str
    b: str
    speed: float
    ports_a: tuple[str, ...] = ()
    ports_b: tuple[str, ...] = ()
    standby: bool = False
    preference: tuple[int, int] = (0, 0)
    count: int = 1
    counted: bool = True
    mixed: tuple[float, ...] = ()
    lag: str | None = None
    hash: HashPolicy = HashPolicy.UNKNOWN
    bond: Bond | None = None
    network: str = DATA
    cable: Cable | None = None
    wan: Wan | None = None
    channels: tuple[Channel, ...] = ()

    @property
    def members(self) -> tuple[float, ...]:
        return self.mixed or (self.speed,) * self.count

    @property
    def fastest(self) -> float:
        """byte/s of its fastest member."""
        return max(self.mixed) if self.mixed else self.speed

    def with_members(self, members: tuple[float, ...], ports_a: tuple[str, ...], ports_b: tuple[str, ...]) -> "Link":
        """The same link of these member cables, each of its own byte/s, and their ports."""
        mixed = members if len(set(members)) > 1 else ()
        return replace(self, speed=min(members), count=len(members), mixed=mixed, ports_a=ports_a, ports_b=ports_b)

    @property
    def capacity(self) -> float:
        """byte/s in one direction with every member up; no more than is left to us on a shared WAN."""
        cabled = sum(self.mixed) if self.mixed else self.speed * self.count
        if self.wan is None or self.wan.available is None:
            return cabled
        return min(cabled, self.wan.available)

    @property
    def is_lag(self) -> bool:
        return self.count > 1

    def other(self, device: str) -> str:
        return self.b if device == self.a else self.a

    def port_at(self, device: str) -> str:
        """The name of the port of ``device`` that it is plugged in; empty for a LAG, and where the file names none."""
        ports = self.ports_a if device == self.a else self.ports_b
        return ports[0] if ports and self.count == 1 else ""


class Direction(Struct, frozen=True, order=True):
    """A link taken from the device ``source`` to its other end: what a flow loads."""

    link: LinkId
    source: str


class Flow(Struct, frozen=True):
    """Data going from one node to another; ``demand`` in byte/s of payload, None for all it can get.

    ``leg`` and ``last_leg`` pin the first and the last link, as the address of one port does: each is the id of a link,
    or the name of the port of its node (``Fabric.find_leg``). Without them it is the traffic of all ports together from
    which the other end is nearest, in even parts. ``vlan`` is what it is sent in; None for the first that both ends
    share. ``network`` names the one that it takes; empty for the one of ``role`` that both ends are in
    (``routing.network_choice``).
    """

    source: NodeId
    sink: NodeId
    demand: float | None = None
    leg: str | None = None
    last_leg: str | None = None
    vlan: int | None = None
    network: str = ""
    role: NetworkRole = NetworkRole.DATA

    def turned(self) -> "Flow":
        """The flow the other way."""
        return replace(self, source=self.sink, sink=self.source, leg=self.last_leg, last_leg=self.leg)


class Mlag(Struct, frozen=True):
    """Two switches that act as one toward what is cabled to both (MLAG, VLT, vPC).

    Traffic that arrives at one of them leaves by its own links where it has one (local
    preference), else over the ``peer`` links to the other; empty where none is described.
    """

    name: str
    switches: tuple[SwitchId, SwitchId]
    peer: tuple[LinkId, ...]

    def other(self, switch: str) -> SwitchId:
        return self.switches[1] if switch == self.switches[0] else self.switches[0]


class Vlan(Struct, frozen=True):
    """A broadcast domain and the nodes in it."""

    id: int
    name: str
    members: frozenset[NodeId]


class Basis(StrEnum):
    """The base that a criterion's number is counted against."""

    ABSOLUTE = "absolute"
    CAPACITY = "capacity"
    PEAK = "peak"
    CEILING = "ceiling"
    """Of the storage system, for the operation and the clients."""
    RTT = "rtt"
    """The round trip with which the lines between two nodes are described."""
    REFERENCE = "reference"
    """A number of the criterion itself."""
    METRIC = "metric"
    """Another metric of the same nodes."""
    PEERS = "peers"
    """The median of the nodes of the same class and cohorts."""
    BASELINE = "baseline"
    """The median of the same nodes in the session that is named as baseline."""


class Comparator(StrEnum):
    """Which side of the bound is good; the bound itself is on the good side."""

    AT_LEAST = "at_least"
    AT_MOST = "at_most"


class OtherMetric(Struct, frozen=True):
    """The metric that a criterion is a share of: its name, and labels that a measurement of it must carry."""

    metric: str
    where: tuple[tuple[str, str], ...] = ()


class Criterion(Struct, frozen=True):
    """A bound for one metric. ``required`` and ``target`` are in ``unit``, or shares of the basis.

    ``rounding`` (in ``unit``, with ``rounds_share`` a share of the basis; 0 for none) is applied to the measurement
    before it is compared. ``where`` are labels that a measurement must carry, ``nodes`` the nodes that it applies to
    (empty: all). ``source`` is the clause that asks for it; ``author`` and ``date`` say who set it, and when.
    ``statistic`` (a name of ``model.statistic``; empty for each number by itself) is what is compared of all numbers.
    ``reference`` is the number of basis REFERENCE, in ``unit``; ``other`` is that of basis METRIC.
    """

    metric: str
    comparator: Comparator
    required: float
    unit: Unit
    basis: Basis = Basis.ABSOLUTE
    target: float | None = None
    rounding: float = 0.0
    rounds_share: bool = False
    where: tuple[tuple[str, str], ...] = ()
    nodes: frozenset[NodeId] = frozenset()
    source: str = ""
    statistic: str = ""
    reference: float = 0.0
    other: OtherMetric | None = None
    author: str = ""
    date: str = ""

    @property
    def is_of_session(self) -> bool:
        """Whether it asks all numbers of a session together, and no single one."""
        return bool(self.statistic) or self.basis in (Basis.METRIC, Basis.PEERS, Basis.BASELINE)

    def step(self, basis: float) -> float:
        """The step to whose multiples a measurement is rounded, where shares are of ``basis``; 0 for no rounding."""
        return self.rounding * basis if self.rounds_share else self.rounding


class Stage(Struct, frozen=True):
    """One step of a suite: a probe, the nodes it runs on, its options as written, and what it varies.

    ``because`` is why it has these options, where they were computed; plans say it. Stages that follow each other and
    have the same name in ``at_once`` share their rounds.
    """

    probe: str
    nodes: tuple[NodeId, ...]
    options: Mapping[str, str | int | float]
    sweep: Sweep | None = None
    because: str = ""
    at_once: str = ""


class Suite(Struct, frozen=True):
    """Named stages, run in order."""

    name: str
    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class Fabric:
    """One described machine, or several that share something.

    Order of ``nodes``, ``switches`` and ``links`` is that of the file. ``places`` says where in it a device, link,
    group or storage system stands. ``ceilings`` are those inside each device that has any, ``layer_limits`` the layers
    of storage systems where these are to limit flows too (``capacity.storage_limits``). ``whole`` is the fabric as it
    was described, where elements of this one are down (``model.failed_elements``), ``baseline`` what an earlier session
    measured, where criteria ask for it.
    """

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
    networks: Mapping[str, Network] = field(default_factory=lambda: MappingProxyType({}))
    groups: tuple[Group, ...] = ()
    mlags: tuple[Mlag, ...] = ()
    vlans: Mapping[int, Vlan] = field(default_factory=lambda: MappingProxyType({}))
    storage: Mapping[str, Storage] = field(default_factory=lambda: MappingProxyType({}))
    ceilings: Mapping[str, tuple[Ceiling, ...]] = field(default_factory=lambda: MappingProxyType({}))
    layer_limits: tuple[LayerLimit, ...] = ()
    claims: tuple[Claim, ...] = ()
    reported: tuple[ReportedResult, ...] = ()
    parameters: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    caps: Caps = field(default_factory=Caps)
    places: Mapping[str, Position] = field(default_factory=lambda: MappingProxyType({}), compare=False)
    whole: "Fabric | None" = None
    baseline: BaselineNumbers | None = None
    tables: ForwardingTables = field(default_factory=lambda: MappingProxyType({}))

    @property
    def described(self) -> "Fabric":
        """The fabric with everything up: what a node is meant to be cabled to does not change with what is down."""
        return self.whole or self

    @cached_property
    def links_at(self) -> Mapping[str, Sequence[Link]]:
        """The links of every device, in the order of the file."""
        found: dict[str, list[Link]] = {name: [] for devices in (self.nodes, self.switches) for name in devices}
        for link in self.links.values():
            found[link.a].append(link)
            found[link.b].append(link)
        return found

    @cached_property
    def node_groups(self) -> Mapping[str, Sequence[str]]:
        """The members of each group that a node set may name."""
        return list_groups(self)

    @cached_property
    def used_networks(self) -> frozenset[str]:
        """The networks that any cable belongs to."""
        return frozenset(map(attrgetter("network"), self.links.values()))

    @cached_property
    def goodput(self) -> float:
        """Payload share of the wire of the network that links belong to where they name none."""
        return self.networks[DATA].goodput if DATA in self.networks else tcp_goodput(self.mtu)

    def goodput_of(self, link: Link) -> float:
        network = self.networks.get(link.network)
        return self.goodput if network is None else network.goodput

    def routing_of(self, link: Link) -> RoutingRule:
        """The rule of the network that ``link`` belongs to."""
        network = self.networks.get(link.network)
        return RoutingRule.SHORTEST if network is None or network.routing is None else network.routing

    def payload(self, link: Link, wire: float | None = None) -> float:
        """byte/s of payload in ``wire`` byte/s of ``link``; without ``wire`` in one direction with every member up."""
        return (link.capacity if wire is None else wire) * self.goodput_of(link)

    def member_payload(self, link: Link) -> float:
        """byte/s of payload of the fastest member of ``link``: the most that one stream gets there."""
        return self.payload(link, link.fastest)

    @cached_property
    def mlag_of(self) -> Mapping[str, Mlag]:
        return {switch: pair for pair in self.mlags for switch in pair.switches}

    @cached_property
    def vlans_of(self) -> Mapping[NodeId, tuple[int, ...]]:
        """Node to the VLANs that it is in, in the order of the file."""
        found = group_by_key((member, vlan.id) for vlan in self.vlans.values() for member in vlan.members)
        return {node: tuple(vlans) for node, vlans in found.items()}

    def group_of(self, kind: str) -> Mapping[str, Group]:
        return {member: group for group in self.groups if group.kind == kind for member in group.members}

    def legs(self, node: str) -> Sequence[Link]:
        """The links that a node sends over: its own, or those of the host of a virtual machine."""
        found = self.nodes.get(NodeId(node))
        return self.links_at[found.host if found is not None and found.host is not None else node]

    def find_leg(self, node: str, leg: str) -> Link | None:
        """The leg of a node by the id of its link or the name of its port; None where it has no such leg."""
        device = self.nodes[NodeId(node)].host or node
        return next((link for link in self.legs(node) if leg in (link.id, link.port_at(device))), None)

    def attached(self, switch: str) -> Iterator[Node]:
        for link in self.links_at[switch]:
            node = self.nodes.get(NodeId(link.other(switch)))
            if node is not None:
                yield node

    def active_legs(self, node: str) -> Sequence[Link]:
        """The links of its own that a node sends over while all is well; none for a virtual machine."""
        own = self.links_at[node]
        return own if len(own) == 1 else tuple(link for link in own if not link.standby) or own

    def switch_of(self, node: str) -> tuple[SwitchId, ...]:
        return tuple(SwitchId(link.other(node)) for link in self.links_at[node] if link.other(node) in self.switches)

    def tier(self, device: str) -> int:
        """0 for a node, else the tier of the switch."""
        switch = self.switches.get(SwitchId(device))
        return 0 if switch is None else switch.role.tier
