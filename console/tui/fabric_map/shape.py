"""A fabric as it is drawn: tiers, groups, racks, and the nodes that stand in none.

Filled by ``console.tui.fabric_map.shape_builder`` once for each fabric. It holds no state.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from benchconsole.topology.model.fabric import Link, LinkId, NodeId, SwitchId, SwitchRole

VIRTUAL = "virtual"


@dataclass(frozen=True, slots=True)
class FabricPart:
    """Nodes of one rack that are alike: a role, or virtual machines."""

    name: str
    nodes: tuple[NodeId, ...]


@dataclass(frozen=True, slots=True)
class Rack:
    """One row of the map: nodes that hang on the same switch, or on the same pair of switches.

    ``down`` is byte/s that its nodes can offer. ``uplinks`` are the links of those switches
    to the tier above, ``peers`` the links between them.
    """

    name: str
    switches: tuple[SwitchId, ...]
    parts: tuple[FabricPart, ...]
    uplinks: tuple[Link, ...]
    peers: tuple[Link, ...]
    down: float

    @property
    def nodes(self) -> tuple[NodeId, ...]:
        """Every node, part by part."""
        return self.parts[0].nodes if len(self.parts) == 1 else tuple(n for part in self.parts for n in part.nodes)

    def up(self, members: Mapping[LinkId, int] | None = None) -> float:
        """byte/s that goes up, as built or with as many members as are said to be up."""
        return capacity(self.uplinks, members)


@dataclass(frozen=True, slots=True)
class RackGroup:
    """Racks under the same middle switch; ``name`` is empty where there is no middle tier."""

    name: str
    switches: tuple[SwitchId, ...]
    racks: tuple[Rack, ...]
    uplinks: tuple[Link, ...]
    down: float

    def up(self, members: Mapping[LinkId, int] | None = None) -> float:
        """byte/s that goes up from the middle switches."""
        return capacity(self.uplinks, members)

    def down_now(self, members: Mapping[LinkId, int]) -> float:
        """byte/s that the ports below offer with lost members counted out."""
        below = [link for rack in self.racks for link in rack.uplinks]
        return self.down - capacity(below) + capacity(below, members)


@dataclass(frozen=True, slots=True)
class ServerRow:
    """Nodes in no rack: on upper switches, between networks, or on nothing. One row for each kind and place."""

    kind: str
    switches: tuple[SwitchId, ...]
    nodes: tuple[NodeId, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Tier:
    """Switches of one role above all racks. ``cross`` are links among them, ``below`` those to lower switches."""

    role: SwitchRole
    switches: tuple[SwitchId, ...]
    cross: tuple[Link, ...]
    below: tuple[Link, ...]


@dataclass(frozen=True, slots=True)
class Plane:
    """Another network of nodes that stand in racks already: its switches, and the links of those nodes to them."""

    network: str
    switches: tuple[SwitchId, ...]
    links: tuple[Link, ...]


@dataclass(frozen=True)
class FabricShape:
    """A fabric as rows. ``tiers`` come from the top down; ``joins`` are links between racks or groups of one tier,
    and cables from node to node.
    """

    tiers: tuple[Tier, ...]
    groups: tuple[RackGroup, ...]
    servers: tuple[ServerRow, ...]
    joins: tuple[Link, ...] = ()
    planes: tuple[Plane, ...] = ()

    @property
    def top(self) -> tuple[SwitchId, ...]:
        """The switches of every tier."""
        return tuple(switch for tier in self.tiers for switch in tier.switches)

    @cached_property
    def racks(self) -> tuple[Rack, ...]:
        return tuple(rack for group in self.groups for rack in group.racks)

    @property
    def tiered(self) -> bool:
        """Whether there is a middle tier to show."""
        return any(group.name for group in self.groups)

    @property
    def mixed(self) -> bool:
        """Whether some rack holds nodes of several kinds."""
        return any(len(rack.parts) > 1 for rack in self.racks)


def capacity(links: Iterable[Link], members: Mapping[LinkId, int] | None = None) -> float:
    """byte/s in one direction over ``links``."""
    if members is None:
        return sum(link.capacity for link in links)
    return sum(link.capacity * members.get(link.id, link.count) / link.count for link in links)
