"""The map as cards: racks side by side, in the column of their group where there are groups.

A card has the rack's name and ratio, its cells part by part, and a wire for each uplink; what
does not fit goes in steps (blank lines, the line of words, wires, gaps between cells).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest
from typing import NamedTuple

from msgspec import Struct

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.live_wires import HEADING, draw_live_wire
from benchconsole.console.tui.fabric_map.map_cells import (
    BLANK_LINE,
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
from benchconsole.console.tui.fabric_map.rack_rows import one_wire
from benchconsole.console.tui.fabric_map.shape import FabricShape, Rack, RackGroup
from benchconsole.console.tui.fabric_map.tiers import gigabits_of
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, word_tone
from benchconsole.console.tui.rows.themes import FAIL_BOLD, MUTED, STRONG, TRACK, WATCH_BOLD, Tone
from benchconsole.console.view.run_view import State, worst
from benchconsole.topology.model.fabric import Fabric, Link, SwitchId
from benchconsole.topology.units import counted as count

_NUMBER = 7
_LONGEST_WIRE = 20
_SHORTEST_WIRE = 8


class CardPorts(NamedTuple):
    """The columns before the wires of a card: the width of the names, and of the slots."""

    name: int
    slots: int

    @property
    def least(self) -> int:
        """Columns of a line with the shortest wire and its number."""
        return self.name + self.slots + 2 + _NUMBER + _SHORTEST_WIRE

    def wire(self, width: int) -> int:
        """Columns of the wire on a card of ``width``; there is room for what stands behind the number, too."""
        return max(min(width - self.name - self.slots - 2 - _NUMBER - 4, _LONGEST_WIRE), _SHORTEST_WIRE)


class CardPart(NamedTuple):
    """One line of one card; it is drawn from the column before ``x`` on, where brackets may stand."""

    x: int
    draw: Callable[[MapPicture], Row]
    spots: tuple[MapSpot, ...] = ()


def _draw_beside(parts: tuple[CardPart, ...], picture: MapPicture, width: int) -> Row:
    """The same line of several cards."""
    line = CellLine(width)
    for part in parts:
        line.to(part.x - 1).extend(part.draw(picture))
    return line.row()


def _shifted(spot: MapSpot, x: int) -> MapSpot:
    """``spot`` counted from the column before ``x``."""
    return spot._replace(x=spot.x - x + 1)


def _draw_title(
    width: int, x: int, of: Rack | RackGroup, spots: Sequence[MapSpot], models: bool, picture: MapPicture
) -> Row:
    """``c07 ━━━━──── 2.67:1``: the name of switches and how far they are oversubscribed."""
    line = CellLine(width + 1)
    spot = _shifted(spots[0], x)
    named(line, spot, clip_text(sanitize(of.name), spot.width), STRONG, picture.mark)
    for port in spots[1:]:
        here = _shifted(port, x)
        bracketed(line, here.x, here.width, _ports(picture, port), picture.mark, _links(picture, port))
    words, tone = _title_words(of, picture)
    model = picture.view.fabric.switches[of.switches[0]].model if models and of.switches else None
    if model is not None and line.room > measure_width(model) + measure_width(words) + _SHORTEST_WIRE + 4:
        line.to(line.at + (not spot.holds(picture.mark))).put(sanitize(model), MUTED)
    line.to(line.at + 1).put("─" * max(line.room - max(measure_width(words), 6) - 2, 0), TRACK)
    return line.to(width + 1 - measure_width(words)).put(words, tone).row()


def _title_words(of: Rack | RackGroup, picture: MapPicture) -> tuple[str, Tone]:
    """The ratio as it is now; how many nodes there are where nothing goes up."""
    lost = view_queries.find_lost_members(picture.view)
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


def _draw_cells(x: int, name: str, label: int, width: int, spots: tuple[MapSpot, ...], picture: MapPicture) -> Row:
    """Some nodes of one part; the first line of a part has its name where a rack has several."""
    line = CellLine(width + 1)
    if label:
        line.to(1).put(name, MUTED).to(label)
    origin = x - 1 + label
    return line.extend(cells(picture, spots, origin, width + 1 - label)).row()


def _draw_remark(width: int, rack: Rack, picture: MapPicture) -> Row:
    """The worst that a node of the rack has of its own, in words."""
    found = view_queries.describe_own_fault(picture.view, {*rack.nodes})
    if found is None:
        return ()
    return CellLine(width + 1).to(1).put(clip_text(found[1], width), word_tone(found[0])).row()


def _draw_port(
    x: int, width: int, name: str, ports: CardPorts, of: Rack | RackGroup, spot: MapSpot, picture: MapPicture
) -> Row:
    """``a ▮▮ ━━━━━━━━ 78.9``; the speed where its load cannot be told from that of others."""
    links, here = _links(picture, spot), _shifted(spot, x)
    line = CellLine(width + 1).to(1).put(clip_text(name, ports.name), MUTED)
    bracketed(line, here.x, ports.slots, _ports(picture, spot), picture.mark, links)
    line.to(here.x + ports.slots + 1)
    if len(links) > 1:
        return line.extend(_draw_sum(ports.wire(width), picture, links, of)).row()
    link = links[0]
    loads = view_queries.find_rack_load(picture.view, of.uplinks if link in of.uplinks else links)
    line.extend(one_wire(ports.wire(width), picture, link, of, loads.links[link.id]))
    left = view_queries.find_lost_members(picture.view).get(link.id)
    return line.put("" if left is None else f" {left}/{link.count}", FAIL_BOLD).row()


def _draw_sum(wire: int, picture: MapPicture, links: Sequence[Link], of: Rack | RackGroup) -> Row:
    """Several links together: what they move now, else how fast they are."""
    is_between = all({link.a, link.b} <= {*of.switches} for link in links)
    if picture.loads is None or is_between:
        return (CellText(gigabits_of(sum(link.capacity for link in links)), MUTED),)
    return draw_live_wire(wire + _NUMBER, picture, picture.loads, links, of.switches)


def _draw_funnel(width: int, group: RackGroup, picture: MapPicture) -> Row:
    """A middle switch: what its ports below offer against what goes up: ``━━━━┄┄┄┄┄┄┄┄┄┄┄┄ 640 : 160 G``."""
    lost = view_queries.find_lost_members(picture.view)
    down, up, built = group.down_now(lost), group.up(lost), group.up()
    line = CellLine(width + 1).to(1)
    line.extend(link_glyphs.funnel(16, max(down, group.down), up, built))
    return line.put(f" {gigabits_of(down).removesuffix(' G')} : {gigabits_of(up)}", MUTED).row()


def slots_width(links: Sequence[Link]) -> int:
    """Cells that the members of one link take, or the number of all where there are several."""
    if len(links) == 1:
        return link_glyphs.slots_width(links[0].count)
    return link_glyphs.slots_width(max(sum(link.count for link in links), link_glyphs.MOST_SLOTS + 1))


_GAP = 3
_MOST_UPLINKS = 4
_LONGEST_NAME = 16
_WIDEST = 60
_SPACED, _GROUPED, _TIGHT = CellSpacing(1, 1), CellSpacing(0, 1), CellSpacing(0, 0)


class CardRoom(Struct, frozen=True):
    """How much a card may take: lines of words, blank lines after it, a line for each uplink."""

    words: bool = True
    blanks: int = 2
    wires: bool = True


_STEPS = (
    (_SPACED, CardRoom()),
    (_SPACED, CardRoom(blanks=1)),
    (_SPACED, CardRoom(words=False, blanks=1)),
    (_SPACED, CardRoom(words=False, blanks=0)),
    (_SPACED, CardRoom(words=False, blanks=1, wires=False)),
    (_SPACED, CardRoom(words=False, blanks=0, wires=False)),
    (_GROUPED, CardRoom(words=False, blanks=1, wires=False)),
    (_GROUPED, CardRoom(words=False, blanks=0, wires=False)),
    (_TIGHT, CardRoom(words=False, blanks=0, wires=False)),
)


_Key = tuple[bool, tuple[SwitchId, ...]]
_PortsOf = Mapping[_Key, Sequence[tuple[str, tuple[Link, ...]]]]
"""A rack or group to what leaves it: names and links."""


class CardPlan(Struct, frozen=True):
    """Where everything is: ``across`` cards of ``width`` columns; a cell line holds ``cells`` nodes after ``label``."""

    fabric: Fabric
    shape: FabricShape
    ports: _PortsOf
    spacing: CellSpacing
    room: CardRoom
    cells: int
    label: int
    width: int
    across: int
    of_racks: CardPorts
    of_groups: CardPorts

    def x(self, place: int) -> int:
        return 1 + place * (self.width + _GAP)

    @property
    def bands(self) -> tuple[tuple[tuple[RackGroup, tuple[Rack, ...]], ...], ...]:
        """Bands of columns: one for each group, or equal parts of all racks where there are none."""
        if self.shape.tiered:
            every = [(group, group.racks) for group in self.shape.groups]
            return tuple(tuple(every[i : i + self.across]) for i in range(0, len(every), self.across))
        some = [(group, rack) for group in self.shape.groups for rack in group.racks]
        return (tuple((some[0][0], tuple(rack for _, rack in some[i :: self.across])) for i in range(self.across)),)


def _draw_heading(plan: CardPlan, picture: MapPicture, width: int) -> Row:
    """``leaf, and under each its chassis: nodes, what leaves over each uplink in Gb/s, down:up``."""
    shape, switches = plan.shape, plan.fabric.switches
    shown = [each.switches for each in shape.groups[:1]] + [each.switches for each in shape.racks[:1]]
    roles = [switches[some[0]].role.value for some in shown if some]
    words = ", and under each its ".join(dict.fromkeys(roles)) + ": nodes"
    if plan.of_racks.slots:
        wires = "what leaves over each uplink in Gb/s" if picture.loads is None else f"over each uplink {HEADING}"
        words += f", {wires}" if plan.room.wires else ", uplinks"
    words += ", down:up" if any(rack.uplinks for rack in shape.racks) else ""
    return CellLine(width).to(1).put(clip_text(words, width - 2), MUTED).row()


def choose_cards(fabric: Fabric, shape: FabricShape, width: int, height: int) -> list[MapLine] | None:
    """The airiest cards that fit; None when not even the tightest do."""
    ports = _all_ports(fabric, shape)
    for spacing, room in _STEPS:
        for cells_in_line in _line_lengths(shape):
            plan = _plan(fabric, shape, ports, (spacing, room, cells_in_line), width)
            if plan is not None and _height(plan) + 1 <= height:
                return [MapLine(partial(_draw_heading, plan), is_live=True), *_card_lines(plan)]
    return None


def _all_ports(fabric: Fabric, shape: FabricShape) -> _PortsOf:
    every: list[Rack | RackGroup] = [*shape.racks, *(group for group in shape.groups if group.name)]
    return {_key(of): _ports_of(fabric, shape, of) for of in every}


def _key(of: Rack | RackGroup) -> _Key:
    """A rack of nodes on a middle switch has the switches of its group."""
    return isinstance(of, Rack), of.switches


def _height(plan: CardPlan) -> int:
    """Lines of all bands, without the blank ones at the end."""
    bands = (max(_column_height(plan, group, racks) for group, racks in band) for band in plan.bands)
    return sum(bands) - plan.room.blanks


def _column_height(plan: CardPlan, group: RackGroup, racks: Sequence[Rack]) -> int:
    room = plan.room
    head = 1 + room.wires + min(room.blanks, 1) if group.name else 0
    every: list[Rack | RackGroup] = [group, *racks] if group.name else [*racks]
    if room.wires:
        head += sum(len(plan.ports[_key(of)]) for of in every)
    cells_of = sum(-(-len(part.nodes) // plan.cells) for rack in racks for part in rack.parts)
    return head + cells_of + len(racks) * (1 + room.words + room.blanks)


def _line_lengths(shape: FabricShape) -> list[int]:
    """Nodes in one line of cells, from all of the largest part down."""
    most = max([len(part.nodes) for rack in shape.racks for part in rack.parts], default=1)
    return [most, *(number for number in (64, 48, 40, 32, 24, 20, 16, 12, 8) if number < most)]


def _plan(
    fabric: Fabric, shape: FabricShape, ports: _PortsOf, step: tuple[CellSpacing, CardRoom, int], width: int
) -> CardPlan | None:
    """Cards at one ``step``: spacing, room, nodes in a line; None where not even one of them fits into ``width``."""
    spacing, room, cells_in_line = step
    names = [part.name for rack in shape.racks for part in rack.parts]
    label = max(map(measure_width, names)) + 2 if shape.mixed else 0
    groups = [group for group in shape.groups if group.name]
    of_racks, of_groups = _widths(ports, shape.racks), _widths(ports, groups)
    least = [each.least for each in (of_racks, of_groups) if room.wires and each.slots]
    every: list[Rack | RackGroup] = [*shape.racks, *groups]
    wide = max(label + spacing.width(cells_in_line), *least, *(_title_width(ports, of, room) for of in every))
    wanted = len(shape.groups) if shape.tiered else len(shape.racks)
    across = min((width - 2 + _GAP) // (wide + _GAP), wanted)
    if across < 1:
        return None
    even = -(-wanted // -(-wanted // across))
    wide = max(wide, min((width - 2 + _GAP) // even - _GAP, _WIDEST))
    return CardPlan(fabric, shape, ports, spacing, room, cells_in_line, label, wide, even, of_racks, of_groups)


def _widths(ports: _PortsOf, some: Sequence[Rack | RackGroup]) -> CardPorts:
    every = [port for of in some for port in ports[_key(of)]]
    longest = max([0, *(measure_width(name) for name, _ in every)])
    return CardPorts(min(longest, _LONGEST_NAME), max([0, *(slots_width(links) for _, links in every)]))


def _title_width(ports: _PortsOf, of: Rack | RackGroup, room: CardRoom) -> int:
    """Name, rule and ratio; with the slots of every uplink where these have no lines of their own."""
    slots = 0 if room.wires else sum(slots_width(links) + 1 for _, links in ports[_key(of)])
    return min(measure_width(sanitize(of.name)), _LONGEST_NAME) + slots + 12


def _ports_of(fabric: Fabric, shape: FabricShape, of: Rack | RackGroup) -> list[tuple[str, tuple[Link, ...]]]:
    """Names and links of what leaves some switches, all in one where they are many; then what is between them."""
    mine = {*of.switches}
    joins = [link for link in shape.joins if link.a in mine or link.b in mine] if isinstance(of, Rack) else []
    links = of.uplinks or tuple(joins)
    ends = [(SwitchId(link.a), link.b) if link.a in mine else (SwitchId(link.b), link.a) for link in links]
    if len(ends) > _MOST_UPLINKS:
        made = [("up", links)]
    else:
        short, single = _suffixes(of), len({end for end, _ in ends}) == 1
        alone = len(ends) == len({end for end, _ in ends}) and not single
        names = [
            sanitize(far) if single else short[end] if alone else f"{short[end]} {sanitize(far)}" for end, far in ends
        ]
        made = [(name, (link,)) for name, link in zip(names, links, strict=True)]
    return [*made, ("peer", of.peers)] if isinstance(of, Rack) and of.peers else made


def _suffixes(of: Rack | RackGroup) -> dict[SwitchId, str]:
    """The names that tell the switches of a pair apart: ``a`` of c07a; their whole names where the card has another."""
    same = len(of.name) if all(switch.startswith(of.name) and switch != of.name for switch in of.switches) else 0
    return {switch: sanitize(switch[same:].lstrip("-_.") or switch) for switch in of.switches}


def _card_lines(plan: CardPlan) -> list[MapLine]:
    made: list[MapLine] = []
    for band in plan.bands:
        columns = [list(_column(plan, plan.x(place), group, racks)) for place, (group, racks) in enumerate(band)]
        for together in zip_longest(*columns):
            parts = tuple(part for part in together if part is not None)
            spots = tuple(spot for part in parts for spot in part.spots)
            made.append(MapLine(partial(_draw_beside, parts), spots, is_live=True) if parts else BLANK_LINE)
    while made and made[-1] is BLANK_LINE:
        made.pop()
    return made


def _column(plan: CardPlan, x: int, group: RackGroup, racks: Sequence[Rack]) -> Iterator[CardPart | None]:
    """A group's own lines, then its cards."""
    if group.name:
        yield _title(plan, x, group)
        if plan.room.wires:
            yield CardPart(x, partial(_draw_funnel, plan.width, group))
            yield from _port_lines(plan, x, group)
        yield from [None] * min(plan.room.blanks, 1)
    for rack in racks:
        yield from _card(plan, x, rack)
        yield from [None] * plan.room.blanks


def _title(plan: CardPlan, x: int, of: Rack | RackGroup) -> CardPart:
    name = MapSpot(x, min(measure_width(sanitize(of.name)), _LONGEST_NAME), switches=of.switches)
    spots, at = [name], x + name.width + 1
    for _, links in () if plan.room.wires else plan.ports[_key(of)]:
        spots.append(MapSpot(at, slots_width(links), links=tuple(link.id for link in links)))
        at += slots_width(links) + 1
    return CardPart(x, partial(_draw_title, plan.width, x, of, spots, plan.room.wires), tuple(spots))


def _card(plan: CardPlan, x: int, rack: Rack) -> Iterator[CardPart]:
    yield _title(plan, x, rack)
    for part in rack.parts:
        for start in range(0, len(part.nodes), plan.cells):
            spots = node_spots(part.nodes[start : start + plan.cells], x + plan.label, plan.spacing)
            name = part.name if plan.label and not start else ""
            yield CardPart(x, partial(_draw_cells, x, name, plan.label, plan.width, spots), spots)
    if plan.room.words:
        yield CardPart(x, partial(_draw_remark, plan.width, rack))
    if plan.room.wires:
        yield from _port_lines(plan, x, rack)


def _port_lines(plan: CardPlan, x: int, of: Rack | RackGroup) -> Iterator[CardPart]:
    ports = plan.of_racks if isinstance(of, Rack) else plan.of_groups
    for name, links in plan.ports[_key(of)]:
        spot = MapSpot(x + ports.name + 1, slots_width(links), links=tuple(link.id for link in links))
        yield CardPart(x, partial(_draw_port, x, plan.width, name, ports, of, spot), (spot,))
