"""Owns the map with one rack a line: its columns, what is dropped as it narrows, and each line's drawing."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from console.tui import reading, wires
from console.tui.drawing import (
    ACCENT,
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
    sign,
    width_of,
    word_tone,
)
from console.tui.shape import Group, Rack, Servers, Shape
from console.tui.widgets.fabric_columns import Columns
from console.tui.widgets.spots import Picture, Spot, bracketed, cells
from console.view import State, worst
from console.wording import plain
from topology.model import Link, SwitchId

GIGABIT = 1e9 / 8


class MapLine(Protocol):
    """One line of the map."""

    @property
    def spots(self) -> Sequence[Spot]:
        """What the cursor can stand on, from left to right."""

    def draw(self, picture: Picture, width: int) -> Row:
        """The line as it stands."""


@dataclass(frozen=True, slots=True)
class Blank:
    """An empty line."""

    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture, width: int) -> Row:
        """Nothing."""
        return ()


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
        line = Line(width).to(1)
        if c.group:
            line.extend(_group_part(c, self.group, self.place, picture))
        line.to(c.name_at).put(plain(rack.name), STRONG if faulty or here else MUTED, c.name)
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
            seen = reading.link_of(view, link.id)
            up = link.count if seen.members_up is None else seen.members_up
            width = wires.slots_width(link.count) if c.each else c.slot_width
            bracketed(line, x, width, wires.slots(link.count, up, seen.state), picture.mark, (link,))
            if c.each:
                room = c.slot_width - wires.slots_width(link.count) + c.each - 2
                wire_at = x + wires.slots_width(link.count) + 1
                line.to(wire_at).extend(_one_wire(room, picture, link, loads.each[link.id]))
                x += c.each + 7
            x += c.slot_width + 2

    def _leaves(self, line: Line, picture: Picture, state: State) -> None:
        c, rack, view = self.columns, self.rack, picture.view
        lost = reading.members(view)
        built, now = rack.up(), rack.up(lost)
        load = reading.load(view, rack.uplinks).total
        full = built * view.fabric.goodput
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


def _one_wire(width: int, picture: Picture, link: Link, load: float | None) -> Row:
    seen = reading.link_of(picture.view, link.id)
    full = link.capacity * picture.view.fabric.goodput
    up = link.count if seen.members_up is None else seen.members_up
    share = load / full if load and full else 0.0
    tone = FAIL_BOLD if seen.state is State.FAIL else WATCH_BOLD if seen.state is State.WATCH else MUTED
    number = f"{gigabits(load, full):>7}"
    return (*wires.wire(width, share, lost=1 - up / link.count), Piece(number, tone))


def _group_part(c: Columns, group: Group, place: int, picture: Picture) -> Row:
    """The middle tier beside its racks: name, ratio and slots; then its funnel; then what was built."""
    line = Line(c.group)
    lost = reading.members(picture.view)
    down, up, built = group.down_now(lost), group.up(lost), group.up()
    text_at = c.group_name + 2
    if place == 0:
        line.put(plain(group.name), TEXT, c.group_name).to(text_at).put(wires.ratio(down, up) if group.uplinks else "")
        if c.group_slots:
            x = text_at + 9
            for link in group.uplinks[:4]:
                seen = reading.link_of(picture.view, link.id)
                up_now = link.count if seen.members_up is None else seen.members_up
                slots = wires.slots(link.count, up_now, seen.state)
                bracketed(line, x, 3, slots, picture.mark, (link,))
                x += max(wires.slots_width(link.count), 3) + 1
    elif place == 1 and group.uplinks:
        line.to(text_at).extend(wires.funnel(c.group - text_at - 3, max(down, group.down), up, built))
    elif place == 2 and group.uplinks and wires.ratio(down, up) != wires.ratio(group.down, built):
        line.to(text_at).put(f"built {wires.ratio(group.down, built).removesuffix(':1')}", MUTED)
    last = len(group.racks) - 1
    tree = "─" if not last else "┌" if place == 0 else "└" if place == last else "├"
    return line.to(c.group - 2).put(tree, TRACK).row()


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


@dataclass(frozen=True, slots=True)
class ServerLine:
    """Nodes on the top switches."""

    servers: Servers
    cells_at: int
    name_at: int
    end: int
    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture, width: int) -> Row:
        """Role, the switches it hangs on, cells, and what its worst nodes have."""
        line = Line(width).to(1)
        under = " ".join(plain(switch) for switch in self.servers.switches)
        line.put(clip(plain(self.servers.name), self.cells_at - 2), MUTED)
        if under not in self.servers.name and line.at + 2 + width_of(under) < self.cells_at:
            line.put("  ").put(under, MUTED)
        origin = self.cells_at - 1
        used = self.spots[-1].x + 2 - origin if self.spots else 1
        line.to(origin).extend(cells(picture, self.spots, origin, min(used, max(width - origin - 1, 1))))
        words = _server_words(picture, self.servers)
        if line.room > 12 and words:
            line.to(max(line.at + 2, self.end))
            for text, tone in words:
                line.put(clip(text, max(line.room - 1, 0)), tone)
        return line.row()


def _server_words(picture: Picture, servers: Servers) -> Row:
    """The nodes of a row that stand worst, by name."""
    seen = [picture.view.nodes.get(node) for node in servers.nodes]
    state = worst(reading.standing(node, picture.busy) for node in seen if node is not None)
    if state not in (State.FAIL, State.UNREACHABLE, State.WATCH, State.HELD, State.UNKNOWN):
        return ()
    nodes = [node.node.id for node in seen if node is not None and reading.standing(node) is state]
    first = next((node for node in seen if node is not None and reading.standing(node) is state), None)
    what = plain(first.finding.what) if first is not None and first.finding is not None else ""
    return (Piece(f"{reading.names(nodes)} ", word_tone(state)), Piece(what or state.value, MUTED))


@dataclass(frozen=True, slots=True)
class Spines:
    """The top switches and what joins them."""

    shape: Shape
    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture, width: int) -> Row:
        """``spine  sp1 ── ▮▮▯ ── sp2   ▲ cross-link 80 of 120 G``."""
        view, shape = picture.view, self.shape
        role = view.fabric.switches[shape.top[0]].role.value if shape.top else ""
        line = Line(width).to(1).put(role, MUTED).to(10)
        if len(shape.top) > 4:
            line.put(f"{len(shape.top)} switches, {plain(shape.top[0])} to {plain(shape.top[-1])}")
        elif len(shape.top) == 2 and len(shape.cross) == 1:
            self._cross(line, picture, shape.cross[0])
        else:
            line.put("  ".join(plain(switch) for switch in shape.top))
        line.put("   ").extend(_lags(picture, shape))
        return line.row()

    def _cross(self, line: Line, picture: Picture, link: Link) -> None:
        seen = reading.link_of(picture.view, link.id)
        up = link.count if seen.members_up is None else seen.members_up
        stroke = "─" * (5 if line.width >= 100 else 3)
        line.put(plain(link.a)).put(f" {stroke} ", MUTED)
        slots = wires.slots(link.count, up, seen.state)
        if picture.mark is not None and picture.mark.link == link.id:
            line.put("[", ACCENT).extend(slots).put("]", ACCENT)
        else:
            line.extend(slots)
        line.put(f" {stroke} ", MUTED).put(plain(link.b)).put("   ")
        built = link.capacity / GIGABIT
        if up < link.count:
            line.extend((sign(seen.state), Piece(f" cross-link {built * up / link.count:.0f} of {built:.0f} G")))
        else:
            line.put(f"cross-link {built:.0f} G", MUTED)


def _lags(picture: Picture, shape: Shape) -> Row:
    """How many links go up to the top switches, and how many of their members are missing."""
    links = [link for group in shape.groups for link in group.uplinks] if shape.tiered else []
    links = links or [link for rack in shape.racks for link in rack.uplinks]
    if not links:
        return ()
    lost = reading.members(picture.view)
    total = sum(link.count for link in links)
    up = sum(lost.get(link.id, link.count) for link in links)
    if up == total:
        return (Piece(f"all {total:,} cables of {len(links):,} links below", MUTED),)
    return (Piece(f"{up:,} of {total:,} cables of {len(links):,} links below"),)


def gigabits(value: float | None, like: float) -> str:
    """byte/s as Gb/s with the decimals that fit a column of values up to ``like``."""
    if value is None:
        return "–"
    places = 2 if like < 10 * GIGABIT else 1 if like < 1000 * GIGABIT else 0
    return f"{value / GIGABIT:,.{places}f}"
