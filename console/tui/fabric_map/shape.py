"""A fabric as it is drawn, read once from its description: tiers, groups, racks, and the nodes that stand in none.

A pure reading without state. Ratios as built are those of tier to tier; this module only groups.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from msgspec import Struct

from benchconsole.topology.model.fabric import Fabric, Link, LinkId, NodeId, SwitchId, SwitchRole

VIRTUAL = "virtual"


class FabricPart(Struct, frozen=True):
    """Nodes of one rack that are alike: a role, or virtual machines."""

    name: str
    nodes: tuple[NodeId, ...]


class Rack(Struct, frozen=True):
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


class RackGroup(Struct, frozen=True):
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


class ServerRow(Struct, frozen=True):
    """Nodes in no rack: on upper switches, between networks, or on nothing. One row for each kind and place."""

    kind: str
    switches: tuple[SwitchId, ...]
    nodes: tuple[NodeId, ...]
    name: str


class Tier(Struct, frozen=True):
    """Switches of one role above all racks. ``cross`` are links among them, ``below`` those to lower switches."""

    role: SwitchRole
    switches: tuple[SwitchId, ...]
    cross: tuple[Link, ...]
    below: tuple[Link, ...]


class Plane(Struct, frozen=True):
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


_MAIN = "data"
_LONGEST = 14
_Bundles = dict[tuple[SwitchId, ...], list[NodeId]]
"""Nodes by the switches that they are cabled to."""


def read_shape(fabric: Fabric) -> FabricShape:
    """Group the nodes of ``fabric`` into rows."""
    return _Reader(fabric).shape()


class _Reader:
    """Reads one fabric: first where every node is cabled, then which switches make racks, groups and tiers."""

    def __init__(self, fabric: Fabric) -> None:
        self.fabric = fabric
        self.tier: dict[str, int] = dict.fromkeys(fabric.nodes, 0)
        self.tier.update((name, switch.role.tier) for name, switch in fabric.switches.items())
        self.legs, self.trunks = _part_links(fabric)
        self.uppers = {switch: self._neighbours(switch, above=True) for switch in fabric.switches}
        self.lowers = {switch: self._neighbours(switch, above=False) for switch in fabric.switches}
        self.at = _attachments(fabric, self.legs)
        self.between = {node: at for node, at in self.at.items() if len(at) > 1 and fabric.nodes[node].forwards}

    def _neighbours(self, switch: SwitchId, *, above: bool) -> tuple[SwitchId, ...]:
        own = self.tier[switch]
        found = []
        for link in self.trunks[switch]:
            other = SwitchId(link.other(switch))
            tier = self.tier[other]
            if (tier > own) if above else (tier < own):
                found.append(other)
        return tuple(dict.fromkeys(found))

    def shape(self) -> FabricShape:
        fabric = self.fabric
        bundles = self._bundles()
        middles = self._middles(bundles)
        upper = {switch for switch in fabric.switches if self.lowers[switch] or self._bare(switch)}
        upper -= {switch for middle in middles.values() for switch in middle}
        racks, others = self._homes(bundles, upper)
        for node in self.between:
            others.setdefault(self.at[node], []).append(node)
        tiers = self._tiers(upper)
        groups = self._groups(racks, middles)
        shown = {link.id for tier in tiers for link in (*tier.cross, *tier.below)}
        shown |= {link.id for group in groups for rack in group.racks for link in (*rack.uplinks, *rack.peers)}
        shown |= {link.id for group in groups for link in group.uplinks}
        joins = tuple(link for link in fabric.links.values() if link.id not in shown and self._joins(link))
        return FabricShape(tiers, groups, _servers(fabric, others), joins, _planes(fabric, self.at))

    def _bundles(self) -> _Bundles:
        """Nodes by the switches that they are cabled to, and the switches at the bottom that have none."""
        found: _Bundles = {}
        for node, at in self.at.items():
            if node not in self.between:
                found.setdefault(at, []).append(node)
        return found | self._empty(found)

    def _homes(self, bundles: _Bundles, upper: Container[SwitchId]) -> tuple[_Bundles, _Bundles]:
        """Bundles that are racks, and those that are not. A switch belongs to the rack in which most nodes hang on it.

        Nodes on one switch of a pair stand with those on both; a switch at the bottom without nodes is a rack too.
        """
        low = {at: nodes for at, nodes in bundles.items() if at and not any(switch in upper for switch in at)}
        home: dict[SwitchId, tuple[SwitchId, ...]] = {}
        for at in sorted(low, key=lambda at: (-len(low[at]), -len(at))):
            for switch in at:
                home.setdefault(switch, at)
        racks: _Bundles = {at: [] for at in low if all(home[switch] == at for switch in at)}
        others: _Bundles = {}
        for at, nodes in bundles.items():
            wide = home[at[0]] if at in low else ()
            if wide in racks and {*at} <= {*wide}:
                racks[wide] += nodes
            else:
                others[at] = [*nodes]
        return racks | self._empty(racks), others

    def _empty(self, racks: Iterable[tuple[SwitchId, ...]]) -> _Bundles:
        taken = {switch for at in racks for switch in at}
        low = (switch for switch in self.fabric.switches if switch not in taken and not self.lowers[switch])
        return {(switch,): [] for switch in low if self.uppers[switch]}

    def _bare(self, switch: SwitchId) -> bool:
        """Whether nothing hangs on a switch, neither above nor below."""
        return not self.uppers[switch] and not any(True for _ in self.fabric.attached(switch))

    def _middles(self, bundles: Iterable[tuple[SwitchId, ...]]) -> dict[tuple[SwitchId, ...], tuple[SwitchId, ...]]:
        """Switches of a rack to the switches between them and the top; a middle that all share is the top itself."""
        found = {}
        for at in bundles:
            if at and not any(self.lowers[switch] for switch in at):
                parents = tuple(dict.fromkeys(parent for switch in at for parent in self.uppers[switch]))
                found[at] = parents if all(self.uppers[parent] for parent in parents) else ()
        distinct = set(found.values())
        only = next(iter(distinct)) if len(distinct) == 1 else ()
        if len(only) > 1 or any(True for switch in only for _ in self.fabric.attached(switch)):
            return dict.fromkeys(found, ())
        return found

    def _tiers(self, upper: set[SwitchId]) -> tuple[Tier, ...]:
        by_role: dict[SwitchRole, list[SwitchId]] = {}
        for switch, described in self.fabric.switches.items():
            if switch in upper:
                by_role.setdefault(described.role, []).append(switch)
        return tuple(
            Tier(role, tuple(by_role[role]), self._among(by_role[role]), self._down_from(by_role[role]))
            for role in sorted(by_role, key=lambda role: -role.tier)
        )

    def _among(self, switches: Iterable[SwitchId]) -> tuple[Link, ...]:
        mine = set(switches)
        found = (link for switch in mine for link in self.trunks[switch] if link.a in mine and link.b in mine)
        return tuple(sorted(dict.fromkeys(found), key=lambda link: link.id))

    def _down_from(self, switches: Iterable[SwitchId]) -> tuple[Link, ...]:
        return tuple(
            link
            for switch in switches
            for link in self.trunks[switch]
            if self.tier[link.other(switch)] < self.tier[switch]
        )

    def _up_from(self, switches: Iterable[SwitchId]) -> tuple[Link, ...]:
        return tuple(
            link
            for switch in switches
            for link in self.trunks[switch]
            if self.tier[link.other(switch)] > self.tier[switch]
        )

    def _offered_to(self, switches: Iterable[SwitchId]) -> float:
        """byte/s that the cabled ports toward the nodes can take."""
        links = ((switch, link) for switch in switches for link in self.fabric.links_at[switch])
        return sum(link.capacity for switch, link in links if self.tier[link.other(switch)] < self.tier[switch])

    def _joins(self, link: Link) -> bool:
        """Whether a link is between switches, or between nodes without any."""
        return (self.tier[link.a] > 0) == (self.tier[link.b] > 0)

    def _groups(
        self, racks: _Bundles, middles: Mapping[tuple[SwitchId, ...], tuple[SwitchId, ...]]
    ) -> tuple[RackGroup, ...]:
        """Racks by the middle switches that they hang on, in the order of the file."""
        of_switch = {switch: middle for middle in middles.values() for switch in middle}
        by_middle: dict[tuple[SwitchId, ...], list[Rack]] = {}
        for at, nodes in racks.items():
            middle = middles.get(at, of_switch.get(at[0], ()))
            by_middle.setdefault(middle, []).append(self._rack(at, nodes, inside=at[0] in middle))
        return tuple(
            RackGroup(
                _name(middle) if middle else "", middle, tuple(under), self._up_from(middle), self._offered_to(middle)
            )
            for middle, under in by_middle.items()
        )

    def _rack(self, at: tuple[SwitchId, ...], nodes: list[NodeId], *, inside: bool) -> Rack:
        """``inside``: nodes on a middle switch itself, whose links upward are those of the group."""
        fabric = self.fabric
        down = sum(link.capacity for node in nodes for link in self.legs.get(node, ()) if link.b in at)
        parts: dict[str, list[NodeId]] = {}
        for node in nodes:
            parts.setdefault(_kind(fabric, node), []).append(node)
        made = tuple(FabricPart(kind, tuple(some)) for kind, some in parts.items())
        name = _enclosure(fabric, at) or _name(at)
        return Rack(name, at, made, () if inside else self._up_from(at), () if inside else self._among(at), down)


def _part_links(fabric: Fabric) -> tuple[dict[str, list[Link]], dict[SwitchId, list[Link]]]:
    """The links of each node to switches, of those that have any, and the links of each switch to others."""
    switches = fabric.switches
    legs: dict[str, list[Link]] = {}
    trunks: dict[SwitchId, list[Link]] = {switch: [] for switch in switches}
    for link in fabric.links.values():
        if link.b not in switches:
            continue  # its lower end stands first: it joins two nodes
        if link.a in switches:
            trunks[SwitchId(link.a)].append(link)
            trunks[SwitchId(link.b)].append(link)
        else:
            legs.setdefault(link.a, []).append(link)
    return legs, trunks


def _attachments(fabric: Fabric, legs: Mapping[str, Sequence[Link]]) -> dict[NodeId, tuple[SwitchId, ...]]:
    """Node to the switches of its row: all where it forwards between them, else those of one network.

    That is the data network where it is in that. A virtual machine stands where its host does.
    """
    found = {}
    for name, node in fabric.nodes.items():
        own = legs.get(node.host or name, ())
        if not node.forwards and len(own) > 1:
            networks = {link.network for link in own}
            main = _MAIN if _MAIN in networks else own[0].network
            own = [link for link in own if link.network == main]
        # one link is the rule, of which the end is taken at once
        found[name] = (SwitchId(own[0].b),) if len(own) == 1 else tuple(dict.fromkeys(SwitchId(link.b) for link in own))
    return found


def _kind(fabric: Fabric, node: NodeId) -> str:
    described = fabric.nodes[node]
    return VIRTUAL if described.host is not None else described.role.value


def _servers(fabric: Fabric, above: _Bundles) -> tuple[ServerRow, ...]:
    """Called by their kind; by kind and switch where a kind stands in several rows."""
    rows: dict[tuple[str, tuple[SwitchId, ...]], list[NodeId]] = {}
    for at, nodes in above.items():
        for node in nodes:
            rows.setdefault((_kind(fabric, node), at), []).append(node)
    kinds = [kind for kind, _ in rows]
    return tuple(
        ServerRow(kind, at, tuple(nodes), kind if kinds.count(kind) == 1 else " ".join([kind, *at]))
        for (kind, at), nodes in rows.items()
    )


def _planes(fabric: Fabric, at: Mapping[NodeId, tuple[SwitchId, ...]]) -> tuple[Plane, ...]:
    """Links of nodes to switches that are not those of their row, by network."""
    found: dict[str, list[Link]] = {}
    for link in fabric.links.values():
        here = at.get(NodeId(link.a))
        if here is not None and link.b in fabric.switches and link.b not in here:
            found.setdefault(link.network, []).append(link)
    return tuple(
        Plane(network, tuple(dict.fromkeys(SwitchId(link.b) for link in links)), tuple(links))
        for network, links in found.items()
    )


def _enclosure(fabric: Fabric, switches: tuple[SwitchId, ...]) -> str:
    """The chassis that all of ``switches`` stand in; empty where there is none."""
    boxes = fabric.group_of("chassis")
    names = {box.name if (box := boxes.get(switch)) is not None else "" for switch in switches}
    return next(iter(names)) if len(names) == 1 else ""


def _name(switches: tuple[SwitchId, ...]) -> str:
    """The name of several switches: ``c07`` for c07a and c07b, ``leaf[1-2]``, else the first one and a count."""
    if len(switches) == 1:
        return switches[0]
    first, last = min(switches), max(switches)
    shared = "".join(a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(first, last, strict=False)))
    stem = shared.rstrip("-_.")
    if len(stem) > 1 and stem[-1].isdigit() and not any(switch[len(shared) :].isdigit() for switch in switches):
        return stem
    from benchconsole.topology.selection import fold  # here: it imports ClusterShell

    return folded if len(folded := fold(switches)) <= _LONGEST else f"{switches[0]} +{len(switches) - 1}"
