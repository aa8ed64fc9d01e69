"""Owns the lines of one card of the map: title, cells, remark, a port with its wire, a funnel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from console.tui import reading, wires
from console.tui.drawing import FAIL_BOLD, MUTED, STRONG, TRACK, WATCH_BOLD, Line, Row, clip, width_of, word_tone
from console.tui.shape import Group, Rack
from console.tui.themes import Tone
from console.tui.widgets.fabric_rows import one_wire
from console.tui.widgets.fabric_tiers import gigabits_of
from console.tui.widgets.spots import Picture, Spot, bracketed, cells, named, slots_of
from console.view import State, worst
from console.wording import count, plain
from topology.model import Link

_NUMBER = 7
_LONGEST_WIRE = 20
_SHORTEST_WIRE = 8


class Ports(NamedTuple):
    """What stands before the wires of a card: the width of the names, and of the slots."""

    name: int
    slots: int

    @property
    def least(self) -> int:
        """Columns of a line with the shortest wire and its number."""
        return self.name + self.slots + 2 + _NUMBER + _SHORTEST_WIRE

    def wire(self, width: int) -> int:
        """Columns of the wire on a card of ``width``; there is room for what stands behind the number, too."""
        return max(min(width - self.name - self.slots - 2 - _NUMBER - 4, _LONGEST_WIRE), _SHORTEST_WIRE)


class Part(Protocol):
    """One line of one card; drawn from the column before it, where brackets may stand."""

    @property
    def x(self) -> int:
        """Its first column."""

    @property
    def spots(self) -> tuple[Spot, ...]:
        """Where the cursor can stand."""

    def draw(self, picture: Picture) -> Row:
        """Its pieces, from column ``x`` - 1 on."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The same line of several cards."""

    parts: tuple[Part, ...]
    spots: tuple[Spot, ...]

    def draw(self, picture: Picture, width: int) -> Row:
        """Each part at its place."""
        line = Line(width)
        for part in self.parts:
            line.to(part.x - 1).extend(part.draw(picture))
        return line.row()


def _shifted(spot: Spot, x: int) -> Spot:
    """``spot`` counted from the column before ``x``."""
    return spot._replace(x=spot.x - x + 1)


@dataclass(frozen=True, slots=True)
class Title:
    """``c07 ━━━━──── 2.67:1``: the name of switches and how far they are oversubscribed."""

    width: int
    x: int
    of: Rack | Group
    spots: tuple[Spot, ...]
    models: bool

    def draw(self, picture: Picture) -> Row:
        """Bold; the ratio is coloured where it is not as built."""
        of, width = self.of, self.width
        line = Line(width + 1)
        spot = _shifted(self.spots[0], self.x)
        named(line, spot, clip(plain(of.name), spot.width), STRONG, picture.mark)
        for port in self.spots[1:]:
            here = _shifted(port, self.x)
            bracketed(line, here.x, here.width, _ports(picture, port), picture.mark, _links(picture, port))
        words, tone = self._words(picture)
        model = picture.view.fabric.switches[of.switches[0]].model if self.models and of.switches else None
        if model is not None and line.room > width_of(model) + width_of(words) + _SHORTEST_WIRE + 4:
            line.to(line.at + (not spot.holds(picture.mark))).put(plain(model), MUTED)
        line.to(line.at + 1).put("─" * max(line.room - max(width_of(words), 6) - 2, 0), TRACK)
        return line.to(width + 1 - width_of(words)).put(words, tone).row()

    def _words(self, picture: Picture) -> tuple[str, Tone]:
        """The ratio as it is now; how many nodes there are where nothing goes up."""
        of, lost = self.of, reading.members(picture.view)
        if not of.uplinks:
            return (count(len(of.nodes), "node") if isinstance(of, Rack) else "", MUTED)
        down = of.down_now(lost) if isinstance(of, Group) else of.down
        state = worst(reading.link_of(picture.view, link.id).state for link in of.uplinks)
        changed = of.up(lost) < of.up()
        tone = MUTED if not changed else FAIL_BOLD if state is State.FAIL else WATCH_BOLD
        return (wires.ratio(down, of.up(lost)) if down else f"{gigabits_of(of.up(lost))} up", tone)


def _links(picture: Picture, spot: Spot) -> tuple[Link, ...]:
    return tuple(picture.view.fabric.links[name] for name in spot.links)


def _ports(picture: Picture, spot: Spot) -> Row:
    """The members of one link, or how many of all where there are many links."""
    links = _links(picture, spot)
    if len(links) == 1:
        return slots_of(picture.view, links[0])
    lost = reading.members(picture.view)
    total = sum(link.count for link in links)
    up = sum(lost.get(link.id, link.count) for link in links)
    state = worst(reading.link_of(picture.view, link.id).state for link in links)
    return wires.slots(max(total, wires.MOST_SLOTS + 1), up + max(wires.MOST_SLOTS + 1 - total, 0), state)


@dataclass(frozen=True, slots=True)
class Cells:
    """Some nodes of one part; the first line of a part has its name where a rack has several."""

    x: int
    name: str
    label: int
    width: int
    spots: tuple[Spot, ...]

    def draw(self, picture: Picture) -> Row:
        """Name and cells."""
        line = Line(self.width + 1)
        if self.label:
            line.to(1).put(self.name, MUTED).to(self.label)
        origin = self.x - 1 + self.label
        return line.extend(cells(picture, self.spots, origin, self.width + 1 - self.label)).row()


@dataclass(frozen=True, slots=True)
class Remark:
    """The worst that a node of the rack has of its own, in words."""

    x: int
    width: int
    rack: Rack
    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture) -> Row:
        """Empty when nothing is wrong with any of its nodes."""
        mine = {*self.rack.nodes}
        for fault in reading.faults(picture.view):
            own = next((node for node in fault.nodes if node in mine), None)
            if own is not None:
                text = clip(f"{plain(own)} {fault.what}", self.width)
                return Line(self.width + 1).to(1).put(text, word_tone(fault.state)).row()
        return ()


@dataclass(frozen=True, slots=True)
class Port:
    """One uplink, or all where they are many: its name, members, load and number."""

    x: int
    width: int
    name: str
    ports: Ports
    uplinks: tuple[Link, ...]
    spots: tuple[Spot, ...]

    def draw(self, picture: Picture) -> Row:
        """``a ▮▮ ━━━━━━━━ 78.9``; the speed where its load cannot be told from that of others."""
        links, spot = _links(picture, self.spots[0]), _shifted(self.spots[0], self.x)
        line = Line(self.width + 1).to(1).put(clip(self.name, self.ports.name), MUTED)
        bracketed(line, spot.x, self.ports.slots, _ports(picture, self.spots[0]), picture.mark, links)
        line.to(spot.x + self.ports.slots + 1)
        if len(links) > 1:
            return line.put(gigabits_of(sum(link.capacity for link in links)), MUTED).row()
        link = links[0]
        loads = reading.load(picture.view, self.uplinks if link in self.uplinks else links)
        line.extend(one_wire(self.ports.wire(self.width), picture, link, loads.each[link.id]))
        left = reading.members(picture.view).get(link.id)
        return line.put("" if left is None else f" {left}/{link.count}", FAIL_BOLD).row()


@dataclass(frozen=True, slots=True)
class Funnel:
    """A middle switch: what its ports below offer against what goes up."""

    width: int
    x: int
    group: Group
    spots: tuple[Spot, ...] = ()

    def draw(self, picture: Picture) -> Row:
        """``━━━━┄┄┄┄┄┄┄┄┄┄┄┄ 640 : 160 G``."""
        lost = reading.members(picture.view)
        down, up, built = self.group.down_now(lost), self.group.up(lost), self.group.up()
        line = Line(self.width + 1).to(1)
        line.extend(wires.funnel(16, max(down, self.group.down), up, built))
        return line.put(f" {gigabits_of(down).removesuffix(' G')} : {gigabits_of(up)}", MUTED).row()


def slots_width(links: Sequence[Link]) -> int:
    """Cells that the members of one link take, or the number of all where there are several."""
    if len(links) == 1:
        return wires.slots_width(links[0].count)
    return wires.slots_width(max(sum(link.count for link in links), wires.MOST_SLOTS + 1))
