"""Owns the map with one rack a line: its columns, what is dropped as it narrows, and each line's drawing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from console.tui import reading, wires
from console.tui.drawing import (
    FAIL_BOLD,
    MUTED,
    STRONG,
    TEXT,
    TRACK,
    WATCH_BOLD,
    Line,
    Piece,
    Row,
    clip,
    width_of,
    word_tone,
)
from console.tui.shape import Group, Rack
from console.tui.widgets.fabric_columns import Columns
from console.tui.widgets.fabric_tiers import GIGABIT
from console.tui.widgets.spots import Picture, Spot, bracketed, cells, named, slots_of
from console.view import State, worst
from console.wording import plain
from topology.model import Link, SwitchId


@dataclass(frozen=True, slots=True)
class Heading:
    """The names of the columns."""

    columns: Columns
    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture, width: int) -> Row:
        """Lower case, muted."""
        c = self.columns
        line = Line(width).to(1)
        if c.group:
            line.put(_role(picture, [each for group in c.shape.groups for each in group.switches]), MUTED)
            line.to(c.group_name + 3).put("down:up", MUTED)
        role = _role(picture, [each for rack in c.shape.racks for each in rack.switches])
        nodes = f"nodes 1-{c.most}" if c.most else ""
        line.to(c.name_at)
        if width_of(role) > c.name:
            line.put(clip(f"{role}, {nodes}" if nodes else role, c.slots_at - c.name_at - 2), MUTED)
        else:
            line.put(role, MUTED).to(c.cells_at).put(clip(nodes, c.slots_at - c.cells_at - 2), MUTED)
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

    def _uplinks(self, line: Line) -> None:
        c = self.columns
        x = c.slots_at
        for name in c.uplinks:
            line.to(x).put(name, MUTED)
            x += c.slot_width + (c.each + 7 if c.each else 0) + 2
        if not c.uplinks and c.slots:
            line.to(c.slots_at).put("up"[: c.slots], MUTED)


def _role(picture: Picture, switches: Sequence[SwitchId]) -> str:
    return next((picture.view.fabric.switches[each].role.value for each in switches), "switch")


@dataclass(frozen=True, slots=True)
class RackLine:
    """One rack: cells, uplinks, what leaves it, its ratio; and a part of its group at the left."""

    columns: Columns
    rack: Rack
    group: Group
    place: int
    spots: tuple[Spot, ...] = field(default=())

    def draw(self, picture: Picture, width: int) -> Row:
        """The row."""
        c, rack, view = self.columns, self.rack, picture.view
        seen = [reading.link_of(view, link.id).state for link in rack.uplinks]
        state = worst(seen) if seen else State.PASS
        faulty = state in (State.FAIL, State.WATCH)
        here = any(spot.holds(picture.mark) for spot in self.spots)
        line = Line(width)
        if c.group:
            line.extend(_group_part(c, self.group, self.place, picture))
        name = next(spot for spot in self.spots if spot.switches and spot.x == c.name_at)
        named(line, name, clip(plain(rack.name), c.name), STRONG if faulty or here else MUTED, picture.mark)
        origin = c.cells_at - 1
        nodes = [spot for spot in self.spots if spot.nodes]
        line.to(origin).extend(cells(picture, nodes, origin, c.slots_at - 1 - origin))
        if rack.uplinks:
            self._uplinks(line, picture)
            self._leaves(line, picture, state)
        return line.row()

    def _uplinks(self, line: Line, picture: Picture) -> None:
        c, view = self.columns, picture.view
        if not c.uplinks:
            lost = reading.members(view)
            total = sum(link.count for link in self.rack.uplinks)
            up = sum(lost.get(link.id, link.count) for link in self.rack.uplinks)
            worst_state = worst(reading.link_of(view, link.id).state for link in self.rack.uplinks)
            text = wires.slots(max(total, 9), up, worst_state) if up < total else (Piece(f"{up}/{total}", MUTED),)
            bracketed(line, c.slots_at, c.slots, text, picture.mark, self.rack.uplinks)
            return
        x, loads = c.slots_at, reading.load(view, self.rack.uplinks)
        for link in self.rack.uplinks[: len(c.uplinks)]:
            width = wires.slots_width(link.count) if c.each else c.slot_width
            bracketed(line, x, width, slots_of(view, link), picture.mark, (link,))
            if c.each:
                room = c.slot_width - wires.slots_width(link.count) + c.each - 2
                wire_at = x + wires.slots_width(link.count) + 1
                line.to(wire_at).extend(one_wire(room, picture, link, loads.each[link.id]))
                x += c.each + 7
            x += c.slot_width + 2

    def _leaves(self, line: Line, picture: Picture, state: State) -> None:
        c, rack, view = self.columns, self.rack, picture.view
        lost = reading.members(view)
        built, now = rack.up(), rack.up(lost)
        load = reading.load(view, rack.uplinks).total
        full = reading.payload(view, rack.uplinks)
        tone = FAIL_BOLD if state is State.FAIL else WATCH_BOLD if state is State.WATCH else TEXT
        if c.wire:
            line.to(c.wire_at).extend(
                wires.wire(c.wire, load / full if load and full else 0.0, lost=1 - now / built if built else 0.0)
            )
        if c.number:
            text = gigabits(load, full)
            line.to(c.number_at).put(text, MUTED if load is None else tone, c.number, ">")
        if c.ratio:
            changed = now < built
            line.to(c.ratio_at).put(wires.ratio(rack.down, now), FAIL_BOLD if changed and state is State.FAIL
                                    else WATCH_BOLD if changed else MUTED, c.ratio, ">")  # fmt: skip
            if changed and c.built:
                line.put(f" built {wires.ratio(rack.down, built).removesuffix(':1')}", MUTED)


def one_wire(width: int, picture: Picture, link: Link, load: float | None) -> Row:
    """What a link carries of what it could, and the number."""
    seen = reading.link_of(picture.view, link.id)
    full = reading.payload(picture.view, (link,))
    up = link.count if seen.members_up is None else seen.members_up
    share = load / full if load and full else 0.0
    tone = FAIL_BOLD if seen.state is State.FAIL else WATCH_BOLD if seen.state is State.WATCH else MUTED
    number = f"{gigabits(load, full):>7}"
    return (*wires.wire(width, share, lost=1 - up / link.count), Piece(number, tone))


def _group_part(c: Columns, group: Group, place: int, picture: Picture) -> Row:
    """The middle tier beside its racks: name, ratio and slots; then its funnel; then what was built."""
    line = Line(c.group + 1)
    lost = reading.members(picture.view)
    down, up, built = group.down_now(lost), group.up(lost), group.up()
    text_at = c.group_name + 3
    if place == 0:
        if group.name:
            spot = Spot(1, width_of(plain(group.name)), switches=group.switches)
            named(line, spot, plain(group.name), TEXT, picture.mark)
        line.to(text_at).put(wires.ratio(down, up) if group.uplinks else "")
        if c.group_slots:
            x = text_at + 9
            for link in group.uplinks[:4]:
                bracketed(line, x, 3, slots_of(picture.view, link), picture.mark, (link,))
                x += max(wires.slots_width(link.count), 3) + 1
    elif place == 1 and group.uplinks:
        line.to(text_at).extend(wires.funnel(c.group - text_at - 2, max(down, group.down), up, built))
    elif place == 2 and group.uplinks and wires.ratio(down, up) != wires.ratio(group.down, built):
        line.to(text_at).put(f"built {wires.ratio(group.down, built).removesuffix(':1')}", MUTED)
    last = len(group.racks) - 1
    tree = "─" if not last else "┌" if place == 0 else "└" if place == last else "├"
    return line.to(c.group - 1).put(tree, TRACK).row()


@dataclass(frozen=True, slots=True)
class Note:
    """Under a rack: its worst node's own trouble in words."""

    columns: Columns
    rack: Rack
    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture, width: int) -> Row:
        """Empty when nothing is wrong with any of its nodes."""
        mine = set(self.rack.nodes)
        for fault in reading.faults(picture.view):
            own = [node for node in fault.nodes if node in mine]
            if own:
                text = f"{plain(own[0])} {fault.what}"
                room = self.columns.slots_at - self.columns.cells_at - 1
                if width_of(text) > room:
                    room = width - self.columns.cells_at - 1
                return Line(width).to(self.columns.cells_at).put(clip(text, room), word_tone(fault.state)).row()
        return ()


def gigabits(value: float | None, like: float) -> str:
    """byte/s as Gb/s with the decimals that fit a column of values up to ``like``."""
    if value is None:
        return "–"
    places = 2 if like < 10 * GIGABIT else 1 if like < 1000 * GIGABIT else 0
    return f"{value / GIGABIT:,.{places}f}"
