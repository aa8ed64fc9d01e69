"""The map with one rack a line: heading, rack, note."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.map_cells import MapPicture, MapSpot, bracketed, cells, named, slots_of
from benchconsole.console.tui.fabric_map.map_columns import MapColumns
from benchconsole.console.tui.fabric_map.shape import Rack, RackGroup
from benchconsole.console.tui.fabric_map.tiers import GIGABIT
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, word_tone
from benchconsole.console.tui.rows.themes import FAIL_BOLD, MUTED, STRONG, TEXT, TRACK, WATCH_BOLD
from benchconsole.console.view.run_view import State, worst
from benchconsole.topology.model.fabric import Link, SwitchId


@dataclass(frozen=True, slots=True)
class RackHeading:
    """The names of the columns."""

    columns: MapColumns
    spots: tuple[MapSpot, ...] = ()

    def draw(self, picture: MapPicture, width: int) -> Row:
        c = self.columns
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
        self._uplinks(line)
        unit = "leaves at, Gb/s" if c.wire > 12 else "leaves at" if c.wire else "Gb/s"
        line.to(c.wire_at if c.wire else c.number_at + c.number - 4)
        if c.number or c.wire:
            line.put(unit, MUTED)
        if c.ratio:
            line.to(c.ratio_at).put("down:up", MUTED)
        return line.row()

    def _uplinks(self, line: CellLine) -> None:
        c = self.columns
        x = c.slots_at
        for name in c.uplinks:
            line.to(x).put(name, MUTED)
            x += c.slot_width + (c.each + 7 if c.each else 0) + 2
        if not c.uplinks and c.slots:
            line.to(c.slots_at).put("up"[: c.slots], MUTED)


def _role(picture: MapPicture, switches: Sequence[SwitchId]) -> str:
    return next((picture.view.fabric.switches[each].role.value for each in switches), "switch")


@dataclass(frozen=True, slots=True)
class RackLine:
    """One rack: cells, uplinks, what leaves it, its ratio; and a part of its group at the left."""

    columns: MapColumns
    rack: Rack
    group: RackGroup
    place: int
    spots: tuple[MapSpot, ...] = field(default=())

    def draw(self, picture: MapPicture, width: int) -> Row:
        c, rack, view = self.columns, self.rack, picture.view
        seen = [view_queries.find_link(view, link.id).state for link in rack.uplinks]
        state = worst(seen) if seen else State.PASS
        faulty = state in (State.FAIL, State.WATCH)
        here = any(spot.holds(picture.mark) for spot in self.spots)
        line = CellLine(width)
        if c.group:
            line.extend(_group_part(c, self.group, self.place, picture))
        name = next(spot for spot in self.spots if spot.switches and spot.x == c.name_at)
        named(line, name, clip_text(sanitize(rack.name), c.name), STRONG if faulty or here else MUTED, picture.mark)
        origin = c.cells_at - 1
        nodes = [spot for spot in self.spots if spot.nodes]
        line.to(origin).extend(cells(picture, nodes, origin, c.slots_at - 1 - origin))
        if rack.uplinks:
            self._uplinks(line, picture)
            self._leaves(line, picture, state)
        return line.row()

    def _uplinks(self, line: CellLine, picture: MapPicture) -> None:
        c, view = self.columns, picture.view
        if not c.uplinks:
            lost = view_queries.find_lost_members(view)
            total = sum(link.count for link in self.rack.uplinks)
            up = sum(lost.get(link.id, link.count) for link in self.rack.uplinks)
            worst_state = worst(view_queries.find_link(view, link.id).state for link in self.rack.uplinks)
            text = (
                link_glyphs.slots(max(total, 9), up, worst_state) if up < total else (CellText(f"{up}/{total}", MUTED),)
            )
            bracketed(line, c.slots_at, c.slots, text, picture.mark, self.rack.uplinks)
            return
        x, loads = c.slots_at, view_queries.find_rack_load(view, self.rack.uplinks)
        for link in self.rack.uplinks[: len(c.uplinks)]:
            width = link_glyphs.slots_width(link.count) if c.each else c.slot_width
            bracketed(line, x, width, slots_of(view, link), picture.mark, (link,))
            if c.each:
                room = c.slot_width - link_glyphs.slots_width(link.count) + c.each - 2
                wire_at = x + link_glyphs.slots_width(link.count) + 1
                line.to(wire_at).extend(one_wire(room, picture, link, loads.links[link.id]))
                x += c.each + 7
            x += c.slot_width + 2

    def _leaves(self, line: CellLine, picture: MapPicture, state: State) -> None:
        c, rack, view = self.columns, self.rack, picture.view
        lost = view_queries.find_lost_members(view)
        built, now = rack.up(), rack.up(lost)
        load = view_queries.find_rack_load(view, rack.uplinks).total
        full = view_queries.sum_payload(view, rack.uplinks)
        tone = FAIL_BOLD if state is State.FAIL else WATCH_BOLD if state is State.WATCH else TEXT
        if c.wire:
            line.to(c.wire_at).extend(
                link_glyphs.wire(c.wire, load / full if load and full else 0.0, lost=1 - now / built if built else 0.0)
            )
        if c.number:
            text = gigabits(load, full)
            line.to(c.number_at).put(text, MUTED if load is None else tone, c.number, ">")
        if c.ratio:
            changed = now < built
            line.to(c.ratio_at).put(link_glyphs.ratio(rack.down, now), FAIL_BOLD if changed and state is State.FAIL
                                    else WATCH_BOLD if changed else MUTED, c.ratio, ">")  # fmt: skip
            if changed and c.built:
                line.put(f" built {link_glyphs.ratio(rack.down, built).removesuffix(':1')}", MUTED)


def one_wire(width: int, picture: MapPicture, link: Link, load: float | None) -> Row:
    """What a link carries of what it could, and the number."""
    seen = view_queries.find_link(picture.view, link.id)
    full = view_queries.sum_payload(picture.view, (link,))
    up = link.count if seen.members_up is None else seen.members_up
    share = load / full if load and full else 0.0
    tone = FAIL_BOLD if seen.state is State.FAIL else WATCH_BOLD if seen.state is State.WATCH else MUTED
    number = f"{gigabits(load, full):>7}"
    return (*link_glyphs.wire(width, share, lost=1 - up / link.count), CellText(number, tone))


def _group_part(c: MapColumns, group: RackGroup, place: int, picture: MapPicture) -> Row:
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
    elif place == 1 and group.uplinks:
        line.to(text_at).extend(link_glyphs.funnel(c.group - text_at - 2, max(down, group.down), up, built))
    elif place == 2 and group.uplinks and link_glyphs.ratio(down, up) != link_glyphs.ratio(group.down, built):
        line.to(text_at).put(f"built {link_glyphs.ratio(group.down, built).removesuffix(':1')}", MUTED)
    last = len(group.racks) - 1
    tree = "─" if not last else "┌" if place == 0 else "└" if place == last else "├"
    return line.to(c.group - 1).put(tree, TRACK).row()


@dataclass(frozen=True, slots=True)
class RackNote:
    """Under a rack: its worst node's own trouble in words."""

    columns: MapColumns
    rack: Rack
    spots: tuple[MapSpot, ...] = ()

    def draw(self, picture: MapPicture, width: int) -> Row:
        """Empty when nothing is wrong with any of its nodes."""
        found = view_queries.describe_own_fault(picture.view, {*self.rack.nodes})
        if found is None:
            return ()
        state, text = found
        room = self.columns.slots_at - self.columns.cells_at - 1
        if measure_width(text) > room:
            room = width - self.columns.cells_at - 1
        return CellLine(width).to(self.columns.cells_at).put(clip_text(text, room), word_tone(state)).row()


def gigabits(value: float | None, like: float) -> str:
    """byte/s as Gb/s with the decimals that fit a column of values up to ``like``."""
    if value is None:
        return "–"
    places = 2 if like < 10 * GIGABIT else 1 if like < 1000 * GIGABIT else 0
    return f"{value / GIGABIT:,.{places}f}"
