"""Finds which port of a node is which of its described cables, by the neighbour that announces itself there.

Names decide, the likeliest first; speed only between cables to the same device.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from benchconsole.topology.model.fabric import Fabric, Link, LinkId
from benchconsole.topology.wire.observations import HeardNeighbour, Observed, ObservedPort, SysNames, is_same_port

SAME_SPEED = 0.01
"""Share by which two speeds may differ and still be one."""


class CableOutcome(StrEnum):
    """The result for a described cable; ``MODE`` and ``EXTRA`` are about a node and a cable that is in no file."""

    CONFIRMED = "as described"
    SWAPPED = "swapped"
    WRONG_SWITCH = "wrong switch"
    WRONG_LEG = "wrong leg"
    UNKNOWN_SWITCH = "unknown switch"
    WRONG_PORT = "wrong port"
    MISSING = "missing"
    FEWER = "fewer members"
    SLOWER = "slower"
    FASTER = "faster"
    MODE = "bond mode"
    EXTRA = "not described"
    UNHEARD = "not heard"


@dataclass(frozen=True, slots=True)
class DescribedCable:
    """One described cable of ``node``: where it should end, and at which ports where the file says so.

    ``bundle`` is alike for cables that share the load (a LAG, the legs of a bond), empty for one
    alone; ``mates`` are the other switches that its bundle ends at, and the other one of its MLAG.
    """

    node: str
    link: LinkId
    member: int
    device: str
    speed: float
    own_port: str = ""
    far_port: str = ""
    bundle: str = ""
    network: str = "data"
    mates: frozenset[str] = frozenset()

    @property
    def place(self) -> str:
        """``leaf1`` or ``leaf1:Eth3``."""
        return f"{self.device}:{self.far_port}" if self.far_port else self.device


@dataclass(frozen=True, slots=True)
class Plug:
    """Where a port really goes; ``device`` is None when the file has none of that name."""

    port: ObservedPort
    neighbour: HeardNeighbour
    device: str | None

    @property
    def alone(self) -> bool:
        """Whether one neighbour only is heard there: several mean that something passes LLDP on."""
        return len({neighbour.device for neighbour in self.port.neighbours}) == 1


@dataclass(frozen=True, slots=True)
class Spare:
    """Beside their described cables settled nodes have ``devices`` and ``ports``; cables have the ports ``used``."""

    devices: frozenset[str] = frozenset()
    ports: frozenset[str] = frozenset()
    used: frozenset[str] = frozenset()


def is_ethernet(fabric: Fabric, link: Link) -> bool:
    """Whether a link is of Ethernet, the only kind on which LLDP speaks."""
    network = fabric.networks.get(link.network)
    return network is None or network.is_ethernet


def list_cables(fabric: Fabric, node: str) -> tuple[DescribedCable, ...]:
    """The Ethernet cables that ``node`` is described to have, one by one; a virtual machine has none."""
    links = [link for link in fabric.links_at[node] if is_ethernet(fabric, link)]
    legs: dict[str, set[str]] = {}
    for link in links:
        if link.bond:
            legs.setdefault(link.network, set()).add(link.other(node))
    return tuple(
        cable
        for link in links
        for cable in _count_members(fabric, link, node, legs[link.network] if link.bond else frozenset())
    )


def _count_members(fabric: Fabric, link: Link, node: str, legs: Collection[str]) -> Iterator[DescribedCable]:
    own, far = (link.ports_a, link.ports_b) if link.a == node else (link.ports_b, link.ports_a)
    device = link.other(node)
    pair = fabric.mlag_of.get(device)
    mates = frozenset((*legs, *(pair.switches if pair else ()))) - {device}
    bundle = f"bond in {link.network}" if link.bond else link.id if link.is_lag else ""
    for index, speed in enumerate(link.members):
        yield DescribedCable(
            node, link.id, index + 1, device, speed,
            own[index] if own else "", far[index] if far else "", bundle, link.network, mates,
        )  # fmt: skip


Fits = Callable[[DescribedCable, Plug], bool]


def matches_far_port(cable: DescribedCable, plug: Plug) -> bool | None:
    """Whether ``plug`` is at the described port of the far end; None where that is not described or not told."""
    return is_same_port(cable.far_port, plug.neighbour.ports) if cable.far_port else None


def matches_own_port(cable: DescribedCable, plug: Plug) -> bool:
    """Whether ``plug`` is the node's own port that the file names."""
    return bool(cable.own_port) and cable.own_port.casefold() == plug.port.name.casefold()


def is_same_speed(cable: DescribedCable, speed: float) -> bool:
    """Whether ``speed`` is that of ``cable``."""
    return abs(speed - cable.speed) <= SAME_SPEED * cable.speed


_RIGHT: tuple[Fits, ...] = (
    lambda cable, plug: matches_far_port(cable, plug) is True and (matches_own_port(cable, plug) or not cable.own_port),
    lambda cable, plug: matches_own_port(cable, plug) and matches_far_port(cable, plug) is not False,
    lambda cable, plug: matches_far_port(cable, plug) is True,
    lambda cable, plug: (
        plug.port.speed is not None
        and is_same_speed(cable, plug.port.speed)
        and matches_far_port(cable, plug) is not False
    ),
    lambda cable, plug: matches_far_port(cable, plug) is not False,
    matches_own_port,
    lambda cable, plug: True,
)
"""The signs that a port to the described device is a cable's own, surest first."""


class Cabling:
    """The described cables of one node, and the ports that they were found on."""

    def __init__(self, fabric: Fabric, node: str, observed: Observed, names: SysNames) -> None:
        self.observed = observed
        self.described = list_cables(fabric, node)
        self.found: dict[DescribedCable, Plug] = {}
        self.unheard: dict[DescribedCable, ObservedPort] = {}
        self._open = list(self.described)
        # The port that carries the data address comes first: links are mostly of the data network.
        # Who is heard where there is no carrier was there before, and is not forgotten yet.
        self.free = [
            Plug(port, neighbour, names.device(neighbour.device))
            for port in sorted(observed.ports, key=lambda port: not port.data)
            for neighbour in port.neighbours
            if port.carrier is not False
        ]
        for right in _RIGHT:
            self._match(right, at_home=True)
        self.settled = not self._open and bool(self.found)

    @property
    def taken(self) -> frozenset[str]:
        """Names of the ports that are described cables."""
        return frozenset(plug.port.name for plug in self.found.values())

    def settle(self, spare: Spare) -> None:
        """Give the ports that are left to the cables that are left: these end where they should not."""

        def likely(plug: Plug) -> bool:
            return plug.alone and plug.port.name not in spare.ports

        wrong: tuple[Fits, ...] = (
            matches_own_port,
            lambda cable, plug: likely(plug) and plug.device in cable.mates,
            lambda cable, plug: likely(plug) and plug.device is not None,
            lambda cable, plug: (
                likely(plug) and (plug.port.name in spare.used or plug.neighbour.device not in spare.devices)
            ),
        )
        for fits in wrong:
            self._match(fits)
        for cable in self._open:
            silent = next(self._silent(cable, spare), None)
            if silent is not None:
                self.unheard[cable] = silent

    def down(self, spare: Spare) -> tuple[str, ...]:
        """Ports without a carrier, but for those that confirmed nodes do not use for their cables either."""
        return tuple(
            port.name for port in self.observed.ports if port.carrier is False and port.name not in spare.ports
        )

    def _match(self, fits: Fits, *, at_home: bool = False) -> None:
        for cable in list(self._open):
            plugs = (plug for plug in self.free if not at_home or plug.device == cable.device)
            plug = next((plug for plug in plugs if fits(cable, plug)), None)
            if plug is not None:
                self.found[cable] = plug
                self._open.remove(cable)
                self.free = [each for each in self.free if each.port is not plug.port]

    def _silent(self, cable: DescribedCable, spare: Spare) -> Iterator[ObservedPort]:
        """Ports that may well be ``cable``'s: they have a carrier, and nobody announces himself there."""
        data_known = cable.network == "data" and any(port.data for port in self.observed.ports)
        others = {port.name for port in self.unheard.values()} | spare.ports
        for port in self.observed.ports:
            own = port.name == cable.own_port if cable.own_port else port.data or not data_known
            if own and port.carrier and not port.neighbours and port.name not in others:
                yield port


def find_spare(cablings: Collection[Cabling]) -> Spare:
    """Devices and ports of settled nodes beside their cables, less the ports that another one uses for its own."""
    settled = [cabling for cabling in cablings if cabling.settled]
    used = frozenset(name for cabling in settled for name in cabling.taken)
    devices = {plug.neighbour.device for cabling in settled for plug in cabling.free if plug.device is None}
    ports = {port.name for cabling in settled for port in cabling.observed.ports}
    return Spare(frozenset(devices), frozenset(ports - used), used)


@dataclass(frozen=True, slots=True)
class CableState:
    """One described cable and what became of it. ``here`` is where it ends (device, port), None when not known."""

    cable: DescribedCable
    kind: CableOutcome
    plug: Plug | None = None
    here: tuple[str, str] | None = None

    @property
    def home(self) -> tuple[str, str]:
        """Where it should end."""
        return self.cable.device, self.cable.far_port


Ends = Mapping[str, Mapping[str, str]]
"""Device to its described ports to the node at the other end of each."""


def list_ends(fabric: Fabric) -> Ends:
    """The ports that nodes are described to be cabled to; a device whose ports are not named has none."""
    found: dict[str, dict[str, str]] = {}
    for cable in (cable for node in fabric.nodes for cable in list_cables(fabric, node)):
        if cable.far_port:
            found.setdefault(cable.device, {})[cable.far_port] = cable.node
    return found


def find_end(plug: Plug, known: Ends) -> tuple[str, str] | None:
    """The end of a cable in the words of the file; the port is empty where the device's ports are not described."""
    if plug.device is None:
        return None
    ports = known.get(plug.device, {})
    described = next((port for port in ports if is_same_port(port, plug.neighbour.ports)), None)
    if described is None and ports and plug.neighbour.ports:
        return plug.device, plug.neighbour.ports[0]
    return plug.device, described or ""
