"""The parts of a map that can be drawn alone: a site, a pod, a leaf or a chassis, nodes that stand in no rack.

They come from the description, through the shape of the map. A level that holds all that the one outside it holds is
none.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchconsole.console.tui.fabric_map.map_cells import MapMark
from benchconsole.console.tui.fabric_map.shape import FabricPart, FabricShape, Rack, RackGroup, ServerRow
from benchconsole.topology.copying import replace
from benchconsole.topology.model.device_group import Group
from benchconsole.topology.model.fabric import Fabric, Link, NodeId


@dataclass(frozen=True)
class MapSection:
    """``path`` are the names of the levels that lead to it, its own last; ``rack`` is there at the innermost one."""

    path: tuple[str, ...]
    shape: FabricShape
    rack: Rack | None = None

    @property
    def name(self) -> str:
        return self.path[-1]

    @cached_property
    def nodes(self) -> tuple[NodeId, ...]:
        """Every node that stands in it."""
        apart = (node for row in self.shape.servers for node in row.nodes)
        return (*(node for rack in self.shape.racks for node in rack.nodes), *apart)

    @cached_property
    def uplinks(self) -> tuple[Link, ...]:
        """The links that lead out of it, or up inside it, each once."""
        groups = (link for group in self.shape.groups for link in group.uplinks)
        racks = (link for rack in self.shape.racks for link in (*rack.uplinks, *rack.peers))
        return tuple({link.id: link for link in (*groups, *racks)}.values())


def list_sections(fabric: Fabric, shape: FabricShape, mark: MapMark) -> tuple[MapSection, ...]:
    """The parts that a place of the map is in, from the outside inwards; none where it stands above all of them."""
    group, rack, row = _find_place(shape, mark)
    levels = [
        _cut_site(fabric, shape, rack, group, row),
        _cut_pod(fabric, shape, rack, group),
        None if rack is None else (rack.name, FabricShape((), (RackGroup("", (), (rack,), (), 0.0),), ()), rack),
        None if row is None else _cut_row(row),
    ]
    made: list[MapSection] = []
    path: tuple[str, ...] = ()
    around = _count(shape)
    for level in levels:
        if level is None:
            continue
        name, part, alone = level
        if _count(part) != around or alone is not None:
            path = (*path, name)
            made.append(MapSection(path, part, alone))
            around = _count(part)
    return tuple(made)


def find_inner_section(
    fabric: Fabric, shape: FabricShape, mark: MapMark, path: Sequence[str] = ()
) -> MapSection | None:
    """The part that is one level in from ``path``: of a node the next one towards it, of a name or slots their own."""
    inner = [
        each
        for each in list_sections(fabric, shape, mark)
        if len(each.path) > len(path) and each.path[: len(path)] == tuple(path)
    ]
    if not inner:
        return None
    return inner[0] if mark.node is not None else inner[-1]


def list_named_sections(fabric: Fabric, shape: FabricShape) -> Mapping[str, MapSection]:
    """Every part by its name, and by its whole path (``p06/p06l19``); of several with one name the first."""
    found: dict[str, MapSection] = {}
    for mark in _list_marks(shape):
        for section in list_sections(fabric, shape, mark):
            found.setdefault(section.name, section)
            found.setdefault("/".join(section.path), section)
    return found


def _list_marks(shape: FabricShape) -> Iterator[MapMark]:
    """A place in each rack and each row of nodes that stand in none."""
    for rack in shape.racks:
        yield MapMark(switch=rack.switches[0]) if not rack.nodes else MapMark(node=rack.nodes[0])
    for row in shape.servers:
        yield MapMark(node=row.nodes[0])


_Place = tuple[RackGroup | None, Rack | None, ServerRow | None]
_Level = tuple[str, FabricShape, Rack | None]


def _find_place(shape: FabricShape, mark: MapMark) -> _Place:
    """The group, the rack and the row apart that ``mark`` is in, or is the name or an uplink of."""
    for group in shape.groups:
        if mark.node is None and (mark.switch in group.switches or any(each.id == mark.link for each in group.uplinks)):
            return group, None, None
        for rack in group.racks:
            is_port = mark.link is not None and any(each.id == mark.link for each in (*rack.uplinks, *rack.peers))
            if is_port or mark.switch in rack.switches or mark.node in rack.nodes:
                return group, rack, None
    return None, None, next((row for row in shape.servers if mark.node in row.nodes), None)


def _count(shape: FabricShape) -> tuple[int, int]:
    return len(shape.racks), sum(len(row.nodes) for row in shape.servers)


def _select_racks(shape: FabricShape, is_in: Callable[[Rack], bool]) -> tuple[RackGroup, ...]:
    """Groups with those of their racks that are meant; a whole group as it is."""
    made = []
    for group in shape.groups:
        racks = tuple(rack for rack in group.racks if is_in(rack))
        if len(racks) == len(group.racks):
            made.append(group)
        elif racks:
            made.append(replace(group, racks=racks))
    return tuple(made)


def _find_name(groups: Mapping[str, Group], *devices: Sequence[str]) -> str:
    """The name of the first group that one of ``devices`` is in; empty where none is."""
    return next((groups[each].name for some in devices for each in some if each in groups), "")


def _cut_site(
    fabric: Fabric, shape: FabricShape, rack: Rack | None, group: RackGroup | None, row: ServerRow | None
) -> _Level | None:
    """The site that a rack, a group or a row stands in, with its own upper switches."""
    sites = fabric.group_of("site")
    if len({site.name for site in sites.values()}) < 2:
        return None

    def find_site(of: Rack | ServerRow) -> str:
        return _find_name(sites, of.switches, of.nodes)

    inner = rack if rack is not None else row
    name = find_site(inner) if inner is not None else ""
    if inner is None and group is not None:
        name = _find_name(sites, group.switches) or find_site(group.racks[0])
    if not name:
        return None
    tiers = []
    for tier in shape.tiers:
        switches = tuple(switch for switch in tier.switches if _find_name(sites, (switch,)) == name)
        if switches:
            own = {*switches}
            below = tuple(link for link in tier.below if link.a in own or link.b in own)
            cross = tuple(link for link in tier.cross if link.a in own and link.b in own)
            tiers.append(replace(tier, switches=switches, cross=cross, below=below))
    servers = tuple(each for each in shape.servers if find_site(each) == name)
    return name, FabricShape(tuple(tiers), _select_racks(shape, lambda each: find_site(each) == name), servers), None


def _cut_pod(fabric: Fabric, shape: FabricShape, rack: Rack | None, group: RackGroup | None) -> _Level | None:
    """Racks under one middle switch, or those of a pod of the description where there is no middle tier."""
    if group is not None and group.name:
        return group.name, FabricShape((), (group,), ()), None
    pods = fabric.group_of("pod")
    name = _find_name(pods, rack.switches, rack.nodes) if rack is not None else ""
    if not name:
        return None
    return (
        name,
        FabricShape((), _select_racks(shape, lambda each: _find_name(pods, each.switches, each.nodes) == name), ()),
        None,
    )


def _cut_row(row: ServerRow) -> _Level:
    rack = Rack(row.name, row.switches, (FabricPart(row.kind, row.nodes),), (), (), 0.0)
    return row.name, FabricShape((), (RackGroup("", (), (rack,), (), 0.0),), ()), rack
