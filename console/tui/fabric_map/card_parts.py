"""The lines of one card of the map: title, cells, remark, a port with its wire, a funnel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.map_cells import MapPicture, MapSpot, bracketed, cells, named, slots_of
from benchconsole.console.tui.fabric_map.rack_rows import one_wire
from benchconsole.console.tui.fabric_map.shape import Rack, RackGroup
from benchconsole.console.tui.fabric_map.tiers import gigabits_of
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, Row, word_tone
from benchconsole.console.tui.rows.themes import FAIL_BOLD, MUTED, STRONG, TRACK, WATCH_BOLD, Tone
from benchconsole.console.view.run_view import State, worst
from benchconsole.topology.model.fabric import Link
from benchconsole.topology.units import counted as count

_NUMBER = 7
_LONGEST_WIRE = 20
_SHORTEST_WIRE = 8


class CardPorts(NamedTuple):
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


class CardPart(Protocol):
    """One line of one card; drawn from the column before it, where brackets may stand."""

    @property
    def x(self) -> int:
        """Its first column."""

    @property
    def spots(self) -> tuple[MapSpot, ...]:
        """Where the cursor can stand."""

    def draw(self, picture: MapPicture) -> Row:
        """Its pieces, from column ``x`` - 1 on."""


@dataclass(frozen=True, slots=True)
class Beside:
    """The same line of several cards."""

    parts: tuple[CardPart, ...]
    spots: tuple[MapSpot, ...]

    def draw(self, picture: MapPicture, width: int) -> Row:
        line = CellLine(width)
        for part in self.parts:
            line.to(part.x - 1).extend(part.draw(picture))
        return line.row()


def _shifted(spot: MapSpot, x: int) -> MapSpot:
    """``spot`` counted from the column before ``x``."""
    return spot._replace(x=spot.x - x + 1)


@dataclass(frozen=True, slots=True)
class CardTitle:
    """``c07 ━━━━──── 2.67:1``: the name of switches and how far they are oversubscribed."""

    width: int
    x: int
    of: Rack | RackGroup
    spots: tuple[MapSpot, ...]
    models: bool

    def draw(self, picture: MapPicture) -> Row:
        """Bold; the ratio is coloured where it is not as built."""
        of, width = self.of, self.width
        line = CellLine(width + 1)
        spot = _shifted(self.spots[0], self.x)
        named(line, spot, clip_text(sanitize(of.name), spot.width), STRONG, picture.mark)
        for port in self.spots[1:]:
            here = _shifted(port, self.x)
            bracketed(line, here.x, here.width, _ports(picture, port), picture.mark, _links(picture, port))
        words, tone = self._words(picture)
        model = picture.view.fabric.switches[of.switches[0]].model if self.models and of.switches else None
        if model is not None and line.room > measure_width(model) + measure_width(words) + _SHORTEST_WIRE + 4:
            line.to(line.at + (not spot.holds(picture.mark))).put(sanitize(model), MUTED)
        line.to(line.at + 1).put("─" * max(line.room - max(measure_width(words), 6) - 2, 0), TRACK)
        return line.to(width + 1 - measure_width(words)).put(words, tone).row()

    def _words(self, picture: MapPicture) -> tuple[str, Tone]:
        """The ratio as it is now; how many nodes there are where nothing goes up."""
        of, lost = self.of, view_queries.find_lost_members(picture.view)
        if not of.uplinks:
            return (count(len(of.nodes), "node") if isinstance(of, Rack) else "", MUTED)
        down = of.down_now(lost) if isinstance(of, RackGroup) else of.down
        state = worst(view_queries.find_link(picture.view, link.id).state for link in of.uplinks)
        changed = of.up(lost) < of.up()
        tone = MUTED if not changed else FAIL_BOLD if state is State.FAIL else WATCH_BOLD
        return (link_glyphs.ratio(down, of.up(lost)) if down else f"{gigabits_of(of.up(lost))} up", tone)


def _links(picture: MapPicture, spot: MapSpot) -> tuple[Link, ...]:
    return tuple(picture.view.fabric.links[name] for name in spot.links)


def _ports(picture: MapPicture, spot: MapSpot) -> Row:
    """The members of one link, or how many of all where there are many links."""
    links = _links(picture, spot)
    if len(links) == 1:
        return slots_of(picture.view, links[0])
    lost = view_queries.find_lost_members(picture.view)
    total = sum(link.count for link in links)
    up = sum(lost.get(link.id, link.count) for link in links)
    state = worst(view_queries.find_link(picture.view, link.id).state for link in links)
    return link_glyphs.slots(
        max(total, link_glyphs.MOST_SLOTS + 1), up + max(link_glyphs.MOST_SLOTS + 1 - total, 0), state
    )


@dataclass(frozen=True, slots=True)
class CardCells:
    """Some nodes of one part; the first line of a part has its name where a rack has several."""

    x: int
    name: str
    label: int
    width: int
    spots: tuple[MapSpot, ...]

    def draw(self, picture: MapPicture) -> Row:
        line = CellLine(self.width + 1)
        if self.label:
            line.to(1).put(self.name, MUTED).to(self.label)
        origin = self.x - 1 + self.label
        return line.extend(cells(picture, self.spots, origin, self.width + 1 - self.label)).row()


@dataclass(frozen=True, slots=True)
class CardRemark:
    """The worst that a node of the rack has of its own, in words."""

    x: int
    width: int
    rack: Rack
    spots: tuple[MapSpot, ...] = ()

    def draw(self, picture: MapPicture) -> Row:
        """Empty when nothing is wrong with any of its nodes."""
        found = view_queries.describe_own_fault(picture.view, {*self.rack.nodes})
        if found is None:
            return ()
        return CellLine(self.width + 1).to(1).put(clip_text(found[1], self.width), word_tone(found[0])).row()


@dataclass(frozen=True, slots=True)
class CardPort:
    """One uplink, or all where they are many: its name, members, load and number."""

    x: int
    width: int
    name: str
    ports: CardPorts
    uplinks: tuple[Link, ...]
    spots: tuple[MapSpot, ...]

    def draw(self, picture: MapPicture) -> Row:
        """``a ▮▮ ━━━━━━━━ 78.9``; the speed where its load cannot be told from that of others."""
        links, spot = _links(picture, self.spots[0]), _shifted(self.spots[0], self.x)
        line = CellLine(self.width + 1).to(1).put(clip_text(self.name, self.ports.name), MUTED)
        bracketed(line, spot.x, self.ports.slots, _ports(picture, self.spots[0]), picture.mark, links)
        line.to(spot.x + self.ports.slots + 1)
        if len(links) > 1:
            return line.put(gigabits_of(sum(link.capacity for link in links)), MUTED).row()
        link = links[0]
        loads = view_queries.find_rack_load(picture.view, self.uplinks if link in self.uplinks else links)
        line.extend(one_wire(self.ports.wire(self.width), picture, link, loads.links[link.id]))
        left = view_queries.find_lost_members(picture.view).get(link.id)
        return line.put("" if left is None else f" {left}/{link.count}", FAIL_BOLD).row()


@dataclass(frozen=True, slots=True)
class CardFunnel:
    """A middle switch: what its ports below offer against what goes up."""

    width: int
    x: int
    group: RackGroup
    spots: tuple[MapSpot, ...] = ()

    def draw(self, picture: MapPicture) -> Row:
        """``━━━━┄┄┄┄┄┄┄┄┄┄┄┄ 640 : 160 G``."""
        lost = view_queries.find_lost_members(picture.view)
        down, up, built = self.group.down_now(lost), self.group.up(lost), self.group.up()
        line = CellLine(self.width + 1).to(1)
        line.extend(link_glyphs.funnel(16, max(down, self.group.down), up, built))
        return line.put(f" {gigabits_of(down).removesuffix(' G')} : {gigabits_of(up)}", MUTED).row()


def slots_width(links: Sequence[Link]) -> int:
    """Cells that the members of one link take, or the number of all where there are several."""
    if len(links) == 1:
        return link_glyphs.slots_width(links[0].count)
    return link_glyphs.slots_width(max(sum(link.count for link in links), link_glyphs.MOST_SLOTS + 1))
