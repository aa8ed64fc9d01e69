"""The map with one rack a line: its columns, which of them are dropped as it narrows, heading, rack, note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map import live_wires
from benchconsole.console.tui.fabric_map.map_cells import (
    CellSpacing,
    MapPicture,
    MapSpot,
    bracketed,
    cells,
    named,
    node_spots,
    slots_of,
)
from benchconsole.console.tui.fabric_map.shape import FabricShape, Rack, RackGroup
from benchconsole.console.tui.fabric_map.tiers import GIGABIT
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, word_tone
from benchconsole.console.tui.rows.themes import FAIL_BOLD, MUTED, STRONG, TEXT, TRACK, WATCH_BOLD
from benchconsole.console.view.run_view import State, worst
from benchconsole.topology.model.fabric import Fabric, Link, SwitchId

_NUMBER = 7
"""Columns of the number behind the wire of one link."""


@dataclass(frozen=True)
class MapColumns:
    """Where everything is, worked out once.

    ``wire`` 0 leaves the wire out, ``number`` 0 the number, ``group`` 0 the middle tier.
    """

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

    @cached_property
    def group_name(self) -> int:
        """Width of the names of the middle tier."""
        return max([3, *(measure_width(sanitize(group.name)) for group in self.shape.groups)])

    @cached_property
    def name_at(self) -> int:
        return 1 + self.group

    @cached_property
    def name(self) -> int:
        """Width of the names."""
        servers = [row.name for row in self.shape.servers] if not self.group else []
        longest = max([4, *(measure_width(sanitize(text)) for text in (*(r.name for r in self.shape.racks), *servers))])
        return min(longest, 14)

    @cached_property
    def cells_at(self) -> int:
        return self.name_at + self.name + 2

    @cached_property
    def most(self) -> int:
        """Nodes in the largest rack."""
        return max([len(rack.nodes) for rack in self.shape.racks], default=0)

    @cached_property
    def slots_at(self) -> int:
        return self.cells_at + max(self.spacing.width(self.most), 9) + 2

    @cached_property
    def uplinks(self) -> tuple[str, ...]:
        """Headings of the uplinks; none when they are too many or differ from rack to rack."""
        return uplink_names(self.fabric, self.shape)

    @cached_property
    def slot_width(self) -> int:
        """Width of one uplink's slots with its heading."""
        links = [link for rack in self.shape.racks for link in rack.uplinks]
        widest = max([link_glyphs.slots_width(link.count) for link in links], default=0)
        return max([widest, *(measure_width(name) for name in self.uplinks)])

    @cached_property
    def slots(self) -> int:
        """Width of all uplinks."""
        if not self.uplinks:
            total = max([sum(link.count for link in rack.uplinks) for rack in self.shape.racks], default=0)
            return 2 * len(str(total)) + 1 if total else 0
        one = self.slot_width + (self.each + 7 if self.each else 0)
        return len(self.uplinks) * (one + 2) - 2

    @cached_property
    def wire_at(self) -> int:
        return self.slots_at + (self.slots + 3 if self.slots else 0)

    @cached_property
    def number_at(self) -> int:
        return self.wire_at + (self.wire if self.wire else 0)

    @cached_property
    def ratio_at(self) -> int:
        return self.number_at + (self.number + 2 if self.number else 0)

    @cached_property
    def total(self) -> int:
        """Columns that are needed."""
        if not self.slots:
            return self.slots_at
        return self.ratio_at + self.ratio + self.built + 1


def uplink_names(fabric: Fabric, shape: FabricShape) -> tuple[str, ...]:
    """The headings of the slots: the upper switches, or the sides of a pair, when every rack has the same."""
    seen: set[tuple[str, ...]] = set()
    for rack in shape.racks:
        if not rack.uplinks:
            continue
        uppers = tuple(link.b if link.a in rack.switches else link.a for link in rack.uplinks)
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


def draw_rack_heading(c: MapColumns, picture: MapPicture, width: int) -> Row:
    """The names of the columns."""
    line = CellLine(width).to(1)
    if c.group:
        line.put(_role(picture, [each for group in c.shape.groups for each in group.switches]), MUTED)
        line.to(c.group_name + 3).put("down:up", MUTED)
    role = _role(picture, [each for rack in c.shape.racks for each in rack.switches])
    nodes = f"nodes 1-{c.most}" if c.most else ""
    line.to(c.name_at)
    if measure_width(role) > c.name:
        line.put(clip_text(f"{role}, {nodes}" if nodes else role, c.slots_at - c.name_at - 2), MUTED)
    else:
        line.put(role, MUTED).to(c.cells_at).put(clip_text(nodes, c.slots_at - c.cells_at - 2), MUTED)
    if not c.slots:
        return line.row()
    _head_uplinks(c, line)
    unit = "leaves at, Gb/s" if c.wire > 12 else "leaves at" if c.wire else "Gb/s"
    if picture.loads is not None:
        unit = live_wires.HEADING if c.wire > 12 else live_wires.SHORT_HEADING if c.wire else "%"
    line.to(c.wire_at if c.wire else c.number_at + c.number - len(unit))
    if c.number or c.wire:
        line.put(unit, MUTED)
    if c.ratio:
        line.to(c.ratio_at).put("down:up", MUTED)
    return line.row()


def _head_uplinks(c: MapColumns, line: CellLine) -> None:
    x = c.slots_at
    for name in c.uplinks:
        line.to(x).put(name, MUTED)
        x += c.slot_width + (c.each + 7 if c.each else 0) + 2
    if not c.uplinks and c.slots:
        line.to(c.slots_at).put("up"[: c.slots], MUTED)


def _role(picture: MapPicture, switches: Sequence[SwitchId]) -> str:
    return next((picture.view.fabric.switches[each].role.value for each in switches), "switch")


def draw_rack(
    c: MapColumns, rack: Rack, group: RackGroup, place: int, spots: Sequence[MapSpot], picture: MapPicture, width: int
) -> Row:
    """One rack: cells, uplinks, what leaves it, its ratio; and a part of its group at the left."""
    view = picture.view
    seen = [view_queries.find_link(view, link.id).state for link in rack.uplinks]
    state = worst(seen) if seen else State.PASS
    faulty = state in (State.FAIL, State.WATCH)
    here = any(spot.holds(picture.mark) for spot in spots)
    line = CellLine(width)
    if c.group:
        line.extend(_draw_group(c, group, place, picture))
    name = next(spot for spot in spots if spot.switches and spot.x == c.name_at)
    named(line, name, clip_text(sanitize(rack.name), c.name), STRONG if faulty or here else MUTED, picture.mark)
    origin = c.cells_at - 1
    nodes = [spot for spot in spots if spot.nodes]
    line.to(origin).extend(cells(picture, nodes, origin, c.slots_at - 1 - origin))
    if rack.uplinks:
        _draw_uplinks(c, rack, line, picture)
        _draw_leaves(c, rack, line, picture, state)
    return line.row()


def _draw_uplinks(c: MapColumns, rack: Rack, line: CellLine, picture: MapPicture) -> None:
    view = picture.view
    if not c.uplinks:
        lost = view_queries.find_lost_members(view)
        total = sum(link.count for link in rack.uplinks)
        up = sum(lost.get(link.id, link.count) for link in rack.uplinks)
        worst_state = worst(view_queries.find_link(view, link.id).state for link in rack.uplinks)
        text = link_glyphs.slots(max(total, 9), up, worst_state) if up < total else (CellText(f"{up}/{total}", MUTED),)
        bracketed(line, c.slots_at, c.slots, text, picture.mark, rack.uplinks)
        return
    x, loads = c.slots_at, view_queries.find_rack_load(view, rack.uplinks)
    for link in rack.uplinks[: len(c.uplinks)]:
        width = link_glyphs.slots_width(link.count) if c.each else c.slot_width
        bracketed(line, x, width, slots_of(view, link), picture.mark, (link,))
        if c.each:
            room = c.slot_width - link_glyphs.slots_width(link.count) + c.each - 2
            wire_at = x + link_glyphs.slots_width(link.count) + 1
            line.to(wire_at).extend(one_wire(room, picture, link, rack, loads.links[link.id]))
            x += c.each + 7
        x += c.slot_width + 2


def _draw_leaves(c: MapColumns, rack: Rack, line: CellLine, picture: MapPicture, state: State) -> None:
    view = picture.view
    lost = view_queries.find_lost_members(view)
    built, now = rack.up(), rack.up(lost)
    load = view_queries.find_rack_load(view, rack.uplinks).total
    full = view_queries.sum_payload(view, rack.uplinks)
    tone = FAIL_BOLD if state is State.FAIL else WATCH_BOLD if state is State.WATCH else TEXT
    if picture.loads is not None and c.wire + c.number:
        line.to(c.wire_at if c.wire else c.number_at)
        line.extend(live_wires.draw_live_wire(c.wire + c.number, picture, picture.loads, rack.uplinks, rack.switches))
    elif c.wire:
        line.to(c.wire_at).extend(
            link_glyphs.wire(c.wire, load / full if load and full else 0.0, lost=1 - now / built if built else 0.0)
        )
    if c.number and picture.loads is None:
        text = gigabits(load, full)
        line.to(c.number_at).put(text, MUTED if load is None else tone, c.number, ">")
    if c.ratio:
        changed = now < built
        line.to(c.ratio_at).put(link_glyphs.ratio(rack.down, now), FAIL_BOLD if changed and state is State.FAIL
                                else WATCH_BOLD if changed else MUTED, c.ratio, ">")  # fmt: skip
        if changed and c.built:
            line.put(f" built {link_glyphs.ratio(rack.down, built).removesuffix(':1')}", MUTED)


def one_wire(width: int, picture: MapPicture, link: Link, of: Rack | RackGroup, load: float | None) -> Row:
    """The wire of a link, filled by its share, and the number: ``load`` as measured, or what ``of`` moves now."""
    if picture.loads is not None:
        return live_wires.draw_live_wire(width + _NUMBER, picture, picture.loads, (link,), of.switches)
    seen = view_queries.find_link(picture.view, link.id)
    full = view_queries.sum_payload(picture.view, (link,))
    up = link.count if seen.members_up is None else seen.members_up
    share = load / full if load and full else 0.0
    tone = FAIL_BOLD if seen.state is State.FAIL else WATCH_BOLD if seen.state is State.WATCH else MUTED
    number = f"{gigabits(load, full):>{_NUMBER}}"
    return (*link_glyphs.wire(width, share, lost=1 - up / link.count), CellText(number, tone))


def _draw_group(c: MapColumns, group: RackGroup, place: int, picture: MapPicture) -> Row:
    """The middle tier beside its racks: name, ratio and slots; then its funnel; then what was built."""
    line = CellLine(c.group + 1)
    lost = view_queries.find_lost_members(picture.view)
    down, up, built = group.down_now(lost), group.up(lost), group.up()
    text_at = c.group_name + 3
    if place == 0:
        if group.name:
            spot = MapSpot(1, measure_width(sanitize(group.name)), switches=group.switches)
            named(line, spot, sanitize(group.name), TEXT, picture.mark)
        line.to(text_at).put(link_glyphs.ratio(down, up) if group.uplinks else "")
        if c.group_slots:
            x = text_at + 9
            for link in group.uplinks[:4]:
                bracketed(line, x, 3, slots_of(picture.view, link), picture.mark, (link,))
                x += max(link_glyphs.slots_width(link.count), 3) + 1
    elif place == 1 and group.uplinks and picture.loads is not None:
        room = c.group - text_at - 2
        line.to(text_at).extend(live_wires.draw_live_wire(room, picture, picture.loads, group.uplinks, group.switches))
    elif place == 1 and group.uplinks:
        line.to(text_at).extend(link_glyphs.funnel(c.group - text_at - 2, max(down, group.down), up, built))
    elif place == 2 and group.uplinks and link_glyphs.ratio(down, up) != link_glyphs.ratio(group.down, built):
        line.to(text_at).put(f"built {link_glyphs.ratio(group.down, built).removesuffix(':1')}", MUTED)
    last = len(group.racks) - 1
    tree = "─" if not last else "┌" if place == 0 else "└" if place == last else "├"
    return line.to(c.group - 1).put(tree, TRACK).row()


def draw_rack_note(c: MapColumns, rack: Rack, picture: MapPicture, width: int) -> Row:
    """Under a rack: its worst node's own trouble in words."""
    found = view_queries.describe_own_fault(picture.view, {*rack.nodes})
    if found is None:
        return ()
    state, text = found
    room = c.slots_at - c.cells_at - 1
    if measure_width(text) > room:
        room = width - c.cells_at - 1
    return CellLine(width).to(c.cells_at).put(clip_text(text, room), word_tone(state)).row()


def gigabits(value: float | None, like: float) -> str:
    """byte/s as Gb/s with the decimals that fit a column of values up to ``like``."""
    if value is None:
        return "–"
    places = 2 if like < 10 * GIGABIT else 1 if like < 1000 * GIGABIT else 0
    return f"{value / GIGABIT:,.{places}f}"
