"""Columns of the map with one rack a line, and which of them are dropped as it narrows."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchconsole.console.text.cells import measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.map_cells import CellSpacing, MapSpot, node_spots
from benchconsole.console.tui.fabric_map.shape import FabricShape, Rack, RackGroup
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.topology.model.fabric import Fabric, Link


@dataclass(frozen=True, slots=True)
class MapColumns:
    """Where everything is. ``wire`` 0 leaves the wire out, ``number`` 0 the number, ``group`` 0 the middle tier."""

    fabric: Fabric
    shape: FabricShape
    spacing: CellSpacing
    wire: int
    number: int
    ratio: int
    built: int
    group: int
    group_slots: bool
    each: int = 0

    @property
    def group_name(self) -> int:
        """Width of the names of the middle tier."""
        return max([3, *(measure_width(sanitize(group.name)) for group in self.shape.groups)])

    @property
    def name_at(self) -> int:
        return 1 + self.group

    @property
    def name(self) -> int:
        """Width of the names."""
        servers = [row.name for row in self.shape.servers] if not self.group else []
        longest = max([4, *(measure_width(sanitize(text)) for text in (*(r.name for r in self.shape.racks), *servers))])
        return min(longest, 14)

    @property
    def cells_at(self) -> int:
        return self.name_at + self.name + 2

    @property
    def most(self) -> int:
        """Nodes in the largest rack."""
        return max([len(rack.nodes) for rack in self.shape.racks], default=0)

    @property
    def slots_at(self) -> int:
        return self.cells_at + max(self.spacing.width(self.most), 9) + 2

    @property
    def uplinks(self) -> tuple[str, ...]:
        """Headings of the uplinks; none when they are too many or differ from rack to rack."""
        return uplink_names(self.fabric, self.shape)

    @property
    def slot_width(self) -> int:
        """Width of one uplink's slots with its heading."""
        links = [link for rack in self.shape.racks for link in rack.uplinks]
        widest = max([link_glyphs.slots_width(link.count) for link in links], default=0)
        return max([widest, *(measure_width(name) for name in self.uplinks)])

    @property
    def slots(self) -> int:
        """Width of all uplinks."""
        if not self.uplinks:
            total = max([sum(link.count for link in rack.uplinks) for rack in self.shape.racks], default=0)
            return 2 * len(str(total)) + 1 if total else 0
        one = self.slot_width + (self.each + 7 if self.each else 0)
        return len(self.uplinks) * (one + 2) - 2

    @property
    def wire_at(self) -> int:
        return self.slots_at + (self.slots + 3 if self.slots else 0)

    @property
    def number_at(self) -> int:
        return self.wire_at + (self.wire if self.wire else 0)

    @property
    def ratio_at(self) -> int:
        return self.number_at + (self.number + 2 if self.number else 0)

    @property
    def total(self) -> int:
        """Columns that are needed."""
        if not self.slots:
            return self.slots_at
        return self.ratio_at + self.ratio + self.built + 1


def uplink_names(fabric: Fabric, shape: FabricShape) -> tuple[str, ...]:
    """What heads the slots: the upper switches, or the sides of a pair, when every rack has the same."""
    seen: set[tuple[str, ...]] = set()
    for rack in shape.racks:
        if not rack.uplinks:
            continue
        uppers = tuple(link.other(_lower(rack, link)) for link in rack.uplinks)
        if len(rack.switches) == 1:
            seen.add(uppers)
        elif len(rack.uplinks) == len(rack.switches):
            seen.add(tuple(switch[-1:] for switch in rack.switches))
        else:
            seen.add(tuple(str(index + 1) for index in range(len(uppers))))
    lengths = {len(names) for names in seen}
    if len(lengths) != 1 or max(lengths) > 4:
        return ()
    if len(seen) == 1:
        return tuple(sanitize(name) for name in next(iter(seen)))
    return tuple(str(index + 1) for index in range(max(lengths)))


def _lower(rack: Rack, link: Link) -> str:
    return link.a if link.a in rack.switches else link.b


def choose_columns(fabric: Fabric, shape: FabricShape, width: int) -> MapColumns | None:
    """The richest set of columns that fits into ``width``; None when not even the poorest does."""
    for candidate in _candidates(fabric, shape, width):
        if candidate.total <= width:
            return candidate
    return None


def _candidates(fabric: Fabric, shape: FabricShape, width: int) -> Iterator[MapColumns]:
    names = max([3, *(measure_width(sanitize(group.name)) for group in shape.groups)])
    slots = _group_slots_width(fabric, shape)
    wide_group = names + 2 + 7 + 2 + slots + 3 if shape.tiered else 0
    small_group = names + 2 + 7 + 3 if shape.tiered else 0
    number = 6
    spaced, grouped, tight = CellSpacing(1, 1), CellSpacing(0, 1), CellSpacing(0, 0)

    def made(
        spacing: CellSpacing, wire: int, number: int, ratio: int, built: int, group: int, each: int = 0
    ) -> MapColumns:
        return MapColumns(fabric, shape, spacing, wire, number, ratio, built, group, group == wide_group, each)

    if not shape.tiered and len(uplink_names(fabric, shape)) <= 4:
        yield made(spaced, 24, number, 7, 11, 0, 16)
        yield made(spaced, 20, number, 7, 11, 0, 12)
    for wire in (40, 32, 24, 16, 12, 8):
        yield made(spaced, wire, number, 7, 11, wide_group)
    for wire in (12, 8):
        yield made(spaced, wire, number, 7, 0, wide_group)
    yield made(grouped, 12, number, 7, 0, wide_group)
    yield made(spaced, 8, number, 7, 0, small_group)
    yield made(grouped, 8, number, 7, 0, small_group)
    for spacing in (tight, CellSpacing(0, 0, 2), CellSpacing(0, 0, 4), CellSpacing(0, 0, 8)):
        yield made(spacing, 8, number, 7, 0, small_group)
        yield made(spacing, 0, number, 7, 0, small_group)
        yield made(spacing, 0, 0, 7, 0, small_group)
        yield made(spacing, 0, 0, 0, 0, 0)


def _group_slots_width(fabric: Fabric, shape: FabricShape) -> int:
    widest = 0
    for group in shape.groups:
        if 0 < len(group.uplinks) <= 4:
            widest = max(widest, sum(max(link_glyphs.slots_width(link.count), 3) + 1 for link in group.uplinks) - 1)
    return widest


def rack_spots(columns: MapColumns, rack: Rack, place: int, group: RackGroup) -> tuple[MapSpot, ...]:
    """Everything on a rack's line that can be chosen, from left to right."""
    made: list[MapSpot] = []
    if columns.group and group.name and place == 0:
        made.append(MapSpot(1, measure_width(sanitize(group.name)), switches=group.switches))
    if columns.group and columns.group_slots and place == 0:
        x = 1 + columns.group_name + 2 + 9
        for link in group.uplinks[:4]:
            made.append(MapSpot(x, link_glyphs.slots_width(link.count), links=(link.id,)))
            x += max(link_glyphs.slots_width(link.count), 3) + 1
    peers = tuple(link.id for link in rack.peers)
    wide = min(measure_width(sanitize(rack.name)), columns.name)
    made.append(MapSpot(columns.name_at, wide, links=peers, switches=rack.switches))
    made += node_spots(rack.nodes, columns.cells_at, columns.spacing)
    x = columns.slots_at
    if columns.slots:
        every = tuple(link.id for link in rack.uplinks)
        for name in every[: len(columns.uplinks)] if columns.uplinks else every[:1]:
            made.append(MapSpot(x, columns.slot_width, links=(name,) if columns.uplinks else every))
            x += columns.slot_width + (columns.each + 7 if columns.each else 0) + 2
    return tuple(made)
