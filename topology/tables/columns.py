"""Shapes of the flat tables of a fabric: arrays of equal length.

``topology.tables.fabric_tables`` fills them. Devices are given by their numbers, capacities in byte/s on the
wire in one direction.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

from benchconsole.topology.arrays import Floats, Indices


@dataclass(frozen=True, slots=True)
class LinkKind:
    """What links that are built alike have in common.

    ``capacity`` is all members, ``fastest`` what is lost with the fastest of them (less than
    its speed where a WAN line carries no more anyway).
    """

    speed: float
    members: int
    mixed: tuple[float, ...]
    standby: bool
    network: str
    capacity: float
    fastest: float


@dataclass(frozen=True, slots=True, eq=False)
class Chosen(Sequence[str]):
    """Some of many names; each is looked up when it is asked for, which may be never."""

    names: tuple[str, ...]
    numbers: Indices

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> "Chosen": ...

    def __getitem__(self, index: int | slice) -> "str | Chosen":
        if isinstance(index, slice):
            return Chosen(self.names, self.numbers[index])
        return self.names[int(self.numbers[index])]

    def __len__(self) -> int:
        return len(self.numbers)

    def __repr__(self) -> str:
        return f"Chosen({len(self)} names{', the first ' + self[0] if len(self) else ''})"


@dataclass(frozen=True, slots=True)
class Trunks:
    """All links between the same two switches as one; ``low`` is the end nearer to the nodes.

    Arrays of one length: ``low``, ``high`` (devices), ``capacity`` (usable), ``cables``,
    ``links`` (how many), ``first`` (a link). ``of`` maps a link to its trunk, -1 for a leg.
    """

    low: Indices
    high: Indices
    capacity: Floats
    cables: Indices
    links: Indices
    first: Indices
    of: Indices


@dataclass(frozen=True, slots=True)
class NodeGroups:
    """Nodes that are cabled alike (same switches, links of the same kinds, as many virtual machines), by first node.

    ``group`` maps a node to its number, -1 without a leg; ``size`` counts machines with cables,
    ``nodes`` also the virtual ones on them, ``first`` is a node of each. The legs of group g are
    ``start[g]:start[g + 1]`` of ``switch``, ``kind``, ``capacity`` (usable, of one node) and
    ``owner`` (g again). ``legs`` lists every leg link, ``leg_of`` the entry that each is.
    """

    group: Indices
    size: Indices
    nodes: Indices
    first: Indices
    start: Indices
    switch: Indices
    kind: Indices
    capacity: Floats
    owner: Indices
    legs: Indices
    leg_of: Indices

    def __len__(self) -> int:
        return len(self.size)


@dataclass(frozen=True, slots=True)
class Forwarding:
    """The graph of what forwards: switches, and nodes that do. Vertices are numbered in the order of devices.

    ``vertex`` maps a device to its number (-1: it does not forward), ``device`` back. The edges
    ``a``-``b`` are pairs of devices, each once: the trunks, in their order, then the legs of
    forwarding nodes. ``tier`` is that of the higher end; ``links``, ``cables`` and ``capacity``
    (usable) are those of all links that an edge stands for.
    """

    vertex: Indices
    device: Indices
    a: Indices
    b: Indices
    tier: Indices
    links: Indices
    cables: Indices
    capacity: Floats
