"""The map with several racks a line, for a terminal that is too low for one: names, cells, slots."""

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.live_wires import draw_live_wire
from benchconsole.console.tui.fabric_map.map_cells import (
    CellSpacing,
    MapLine,
    MapPicture,
    MapSpot,
    bracketed,
    cells,
    named,
    node_spots,
    slots_of,
)
from benchconsole.console.tui.fabric_map.rack_rows import uplink_names
from benchconsole.console.tui.fabric_map.shape import FabricShape, Rack, RackGroup
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import FAIL_BOLD, MUTED, STRONG, TEXT, WATCH_BOLD
from benchconsole.console.view.run_view import State, worst
from benchconsole.topology.copying import replace
from benchconsole.topology.model.fabric import Fabric

TIGHT = CellSpacing(0, 0)
_RATIO = 5
_FUNNELS = (8, 6, 5, 4, 3)


class RackPairs(Struct, frozen=True):
    """Where everything is: the middle tier at the left, then ``across`` units of one rack each."""

    fabric: Fabric
    shape: FabricShape
    uplinks: tuple[str, ...]
    group: int
    name: int
    cells: int
    slot: int
    across: int
    funnel: int

    @property
    def unit(self) -> int:
        """Columns of one rack."""
        return self.name + 1 + self.cells + 1 + len(self.uplinks) * (self.slot + 1) + _RATIO

    def x(self, place: int) -> int:
        return 1 + self.group + place * self.unit

    def slots_at(self, place: int) -> int:
        return self.x(place) + self.name + 1 + self.cells + 1


def choose_pairs(fabric: Fabric, shape: FabricShape, width: int) -> RackPairs | None:
    """The layout, None when not even two racks fit side by side or their uplinks have no common heading."""
    uplinks = uplink_names(fabric, shape)
    racks = shape.racks
    if not uplinks or len(racks) < 2:
        return None
    links = [link for rack in racks for link in rack.uplinks]
    slot = max([link_glyphs.slots_width(link.count) for link in links], default=0)
    names = max(measure_width(sanitize(rack.name)) for rack in racks)
    most = max(len(rack.nodes) for rack in racks)
    lead = max(measure_width(sanitize(each.name)) for each in shape.groups) + 1 + _RATIO
    for funnel in _FUNNELS:
        group = lead + funnel + 2 if shape.tiered else 0
        made = RackPairs(fabric, shape, uplinks, group, min(names, 12), TIGHT.width(most), slot, 0, funnel)
        across = (width - 1 - group) // made.unit
        if across >= 2:
            return replace(made, across=min(across, 4))
    return None


def _draw_heading(p: RackPairs, picture: MapPicture, width: int) -> Row:
    """The names of the columns, once for each unit."""
    line = CellLine(width).to(1)
    if p.group:
        line.put("down:up", MUTED)
    most = max(len(rack.nodes) for rack in p.shape.racks)
    for place in range(p.across):
        line.to(p.x(place)).put(clip_text(f"nodes 1-{most}" if not place else "", p.name + p.cells), MUTED)
        for index, name in enumerate(p.uplinks):
            short = name if measure_width(name) <= p.slot else name[-p.slot :]
            line.to(p.slots_at(place) + index * (p.slot + 1)).put(short, MUTED, p.slot)
        if picture.loads is not None:
            line.to(p.slots_at(place) + len(p.uplinks) * (p.slot + 1)).put("now", MUTED, _RATIO - 1, ">")
    return line.row()


def _draw_racks(
    p: RackPairs,
    group: RackGroup,
    racks: tuple[Rack, ...],
    place: int,
    spots: Sequence[MapSpot],
    picture: MapPicture,
    width: int,
) -> Row:
    """Some racks of one group side by side."""
    line = CellLine(width)
    if p.group:
        line.extend(_group_part(p, group, place, picture))
    for across, rack in enumerate(racks):
        _draw_one(p, line, across, rack, spots, picture)
    return line.row()


def _draw_one(
    p: RackPairs, line: CellLine, place: int, rack: Rack, spots: Sequence[MapSpot], picture: MapPicture
) -> None:
    view = picture.view
    states = [view_queries.find_link(view, link.id).state for link in rack.uplinks]
    state = worst(states) if states else State.PASS
    mine = set(rack.nodes)
    here = [spot for spot in spots if spot.nodes and spot.nodes[0] in mine]
    marked = any(spot.holds(picture.mark) for spot in here)
    strong = marked or state in (State.FAIL, State.WATCH)
    name = next(spot for spot in spots if spot.switches == rack.switches)
    named(line, name, clip_text(sanitize(rack.name), p.name), STRONG if strong else MUTED, picture.mark)
    origin = max(line.at, p.x(place) + p.name)
    line.to(origin).extend(cells(picture, here, origin, p.x(place) + p.name + p.cells + 1 - origin))
    for index, link in enumerate(rack.uplinks[: len(p.uplinks)]):
        at = p.slots_at(place) + index * (p.slot + 1)
        bracketed(line, at, p.slot, slots_of(view, link), picture.mark, (link,))
    lost = view_queries.find_lost_members(view)
    end = p.slots_at(place) + len(p.uplinks) * (p.slot + 1)
    if picture.loads is not None and rack.uplinks:
        line.to(end).extend(draw_live_wire(_RATIO - 1, picture, picture.loads, rack.uplinks, rack.switches))
    elif rack.up(lost) < rack.up():
        tone = FAIL_BOLD if state is State.FAIL else WATCH_BOLD
        line.to(end).put(link_glyphs.ratio(rack.down, rack.up(lost)).removesuffix(":1"), tone)


def _group_part(p: RackPairs, group: RackGroup, place: int, picture: MapPicture) -> Row:
    """Name, ratio and funnel; under them the slots of the middle tier."""
    line = CellLine(p.group + 1)
    lost = view_queries.find_lost_members(picture.view)
    down, up = group.down_now(lost), group.up(lost)
    spots = _group_spots(p, group, place)
    if place == 0 and group.name:
        named(line, spots[0], sanitize(group.name), TEXT, picture.mark)
        line.to(spots[0].x + spots[0].width + 1)
        if group.uplinks:
            line.put(link_glyphs.ratio(down, up).removesuffix(":1")).put(" ")
            if picture.loads is not None:
                line.extend(draw_live_wire(p.funnel, picture, picture.loads, group.uplinks, group.switches))
            else:
                line.extend(link_glyphs.funnel(p.funnel, max(down, group.down), up, group.up()))
    for spot, link in zip(spots if place == 1 else (), group.uplinks, strict=False):
        bracketed(line, spot.x, spot.width, slots_of(picture.view, link), picture.mark, (link,))
    return line.row()


def _group_spots(p: RackPairs, group: RackGroup, place: int) -> list[MapSpot]:
    """The name on a group's first line, its uplinks on the second."""
    if not p.group or not group.name or place > 1:
        return []
    name = measure_width(sanitize(group.name))
    if place == 0:
        return [MapSpot(1, name, switches=group.switches)]
    made: list[MapSpot] = []
    x = name + 2
    for link in group.uplinks if len(group.uplinks) <= 4 else ():
        wide = link_glyphs.slots_width(link.count)
        if x + wide > p.group - 1:
            break
        made.append(MapSpot(x, wide, links=(link.id,)))
        x += wide + 1
    return made


def pair_lines(pairs: RackPairs) -> list[MapLine]:
    """Every line of the racks."""
    made = [MapLine(partial(_draw_heading, pairs), is_live=True)]
    for group in pairs.shape.groups:
        for place, start in enumerate(range(0, len(group.racks), pairs.across)):
            some = group.racks[start : start + pairs.across]
            spots = _group_spots(pairs, group, place)
            spots += [spot for index, rack in enumerate(some) for spot in _spots(pairs, index, rack)]
            made.append(MapLine(partial(_draw_racks, pairs, group, some, place, spots), spots, is_live=True))
    return made


def _spots(pairs: RackPairs, place: int, rack: Rack) -> list[MapSpot]:
    name = min(measure_width(sanitize(rack.name)), pairs.name)
    made = [MapSpot(pairs.x(place), name, links=tuple(link.id for link in rack.peers), switches=rack.switches)]
    made += node_spots(rack.nodes, pairs.x(place) + pairs.name + 1, TIGHT)
    for index, link in enumerate(rack.uplinks[: len(pairs.uplinks)]):
        made.append(MapSpot(pairs.slots_at(place) + index * (pairs.slot + 1), pairs.slot, links=(link.id,)))
    return made
