"""Owns how a fabric is laid out for the eye: who stands under whom, which nodes make one row.

A pure reading of the description, done once for each fabric. Ratios as built come from
``topology.analysis.oversubscription``; this module only groups. Refuses to know any state.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import takewhile

from topology.analysis.oversubscription import oversubscription
from topology.model import Fabric, Link, LinkId, NodeId, NodeRole, SwitchId


@dataclass(frozen=True, slots=True)
class Rack:
    """One row of the map: nodes that hang on the same switch, or on the same pair of switches.

    ``down`` is byte/s that its nodes can offer. ``uplinks`` are the links of those switches
    to the tier above.
    """

    name: str
    switches: tuple[SwitchId, ...]
    nodes: tuple[NodeId, ...]
    uplinks: tuple[Link, ...]
    down: float

    def up(self, members: Mapping[LinkId, int] | None = None) -> float:
        """byte/s that goes up, as built or with as many members as are said to be up."""
        return capacity(self.uplinks, members)


@dataclass(frozen=True, slots=True)
class Group:
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
class Servers:
    """Nodes on the top switches, or on none: one row for each role and set of switches."""

    role: NodeRole
    switches: tuple[SwitchId, ...]
    nodes: tuple[NodeId, ...]
    name: str


@dataclass(frozen=True, slots=True)
class Shape:
    """A fabric as rows. ``cross`` are links between top switches."""

    top: tuple[SwitchId, ...]
    cross: tuple[Link, ...]
    groups: tuple[Group, ...]
    servers: tuple[Servers, ...]

    @property
    def racks(self) -> tuple[Rack, ...]:
        """Every rack, in order."""
        return tuple(rack for group in self.groups for rack in group.racks)

    @property
    def tiered(self) -> bool:
        """Whether there is a middle tier to show."""
        return any(group.name for group in self.groups)


def capacity(links: Iterable[Link], members: Mapping[LinkId, int] | None = None) -> float:
    """byte/s in one direction over ``links``."""
    if members is None:
        return sum(link.capacity for link in links)
    return sum(link.speed * members.get(link.id, link.count) for link in links)


def shape_of(fabric: Fabric) -> Shape:
    """Group the nodes of ``fabric`` into rows."""
    uppers = {switch: _neighbours(fabric, switch, above=True) for switch in fabric.switches}
    lowers = {switch: _neighbours(fabric, switch, above=False) for switch in fabric.switches}
    top = tuple(switch for switch in fabric.switches if not uppers[switch] and lowers[switch])
    cross = tuple(link for link in fabric.links.values() if link.a in top and link.b in top)
    bundles: dict[tuple[SwitchId, ...], list[NodeId]] = {}
    servers: dict[tuple[NodeRole, tuple[SwitchId, ...]], list[NodeId]] = {}
    for node in fabric.nodes.values():
        at = tuple(dict.fromkeys(fabric.switch_of(node.id)))
        if not at or any(switch in top for switch in at):
            servers.setdefault((node.role, at), []).append(node.id)
        else:
            bundles.setdefault(at, []).append(node.id)
    racks = [_rack(fabric, at, tuple(nodes)) for at, nodes in bundles.items()]
    return Shape(top, cross, _groups(fabric, racks, uppers), _servers(servers))


def _servers(rows: Mapping[tuple[NodeRole, tuple[SwitchId, ...]], list[NodeId]]) -> tuple[Servers, ...]:
    """Called by their role; by role and switch where a role stands in several rows."""
    roles = [role for role, _ in rows]
    return tuple(
        Servers(role, at, tuple(nodes), role.value if roles.count(role) == 1 else " ".join([role.value, *at]))
        for (role, at), nodes in rows.items()
    )


def _neighbours(fabric: Fabric, switch: SwitchId, *, above: bool) -> tuple[SwitchId, ...]:
    own = fabric.tier(switch)
    found = []
    for link in fabric.links_at[switch]:
        other = SwitchId(link.other(switch))
        tier = fabric.tier(other)
        if (tier > own) if above else (0 < tier < own):
            found.append(other)
    return tuple(dict.fromkeys(found))


def _uplinks(fabric: Fabric, switches: Iterable[SwitchId]) -> tuple[Link, ...]:
    found = []
    for switch in switches:
        own = fabric.tier(switch)
        found += [link for link in fabric.links_at[switch] if fabric.tier(link.other(switch)) > own]
    return tuple(found)


def _rack(fabric: Fabric, at: tuple[SwitchId, ...], nodes: tuple[NodeId, ...]) -> Rack:
    mine = set(nodes)
    down = sum(link.capacity for switch in at for link in fabric.links_at[switch] if link.other(switch) in mine)
    return Rack(_name(at), at, nodes, _uplinks(fabric, at), down)


def _name(switches: tuple[SwitchId, ...]) -> str:
    """The name that several switches share: ``c07`` for c07a and c07b, else the first one and a count."""
    if len(switches) == 1:
        return switches[0]
    first, last = min(switches), max(switches)
    shared = "".join(a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    shared = shared.rstrip("-_.")
    return shared if len(shared) > 1 else f"{switches[0]} +{len(switches) - 1}"


def _groups(fabric: Fabric, racks: list[Rack], uppers: Mapping[SwitchId, tuple[SwitchId, ...]]) -> tuple[Group, ...]:
    """Racks by the middle switches that they hang on, in the order of the file."""
    static = {each.switch: each for each in oversubscription(fabric)}
    by_parents: dict[tuple[SwitchId, ...], list[Rack]] = {}
    for rack in racks:
        parents = dict.fromkeys(parent for switch in rack.switches for parent in uppers[switch])
        middle = tuple(parent for parent in parents if uppers[parent])
        if not middle and any(rack.switches[0] in each for each in by_parents):
            middle = next(each for each in by_parents if rack.switches[0] in each)
        by_parents.setdefault(middle, []).append(rack)
    return tuple(
        Group(
            _name(middle) if middle else "",
            middle,
            tuple(under),
            _uplinks(fabric, middle),
            sum(static[switch].down for switch in middle),
        )
        for middle, under in by_parents.items()
    )
