"""A leaf, a chassis or a row of nodes drawn alone: its uplinks with every member, each node with name and number."""

from functools import partial

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map import live_wires
from benchconsole.console.tui.fabric_map.map_cells import (
    BLANK_LINE,
    MapLine,
    MapPicture,
    MapSpot,
    bracketed,
    named,
)
from benchconsole.console.tui.fabric_map.node_cards import choose_grid, list_card_lines
from benchconsole.console.tui.fabric_map.rack_rows import gigabits, one_wire
from benchconsole.console.tui.fabric_map.shape import FabricShape, Rack
from benchconsole.console.tui.fabric_map.tiers import gigabits_of
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, CellText, Row, row_width, value_tone
from benchconsole.console.tui.rows.themes import FAIL_BOLD, MUTED, STRONG, TEXT, WATCH_BOLD
from benchconsole.console.view.run_view import State, worst
from benchconsole.topology.model.fabric import Fabric, Link
from benchconsole.topology.units import counted

_WIRE, _SHORT_WIRE, _WIDE = 20, 12, 100
_MOST_MEMBERS = 32
"""Members of a link up to which each has a slot of its own; more are a number."""


def lay_out_section(fabric: Fabric, shape: FabricShape, width: int, height: int, **_folding: object) -> list[MapLine]:
    """The lines of the one rack of ``shape``; cards are as wide as lets all of them be in sight, if that can be."""
    rack = shape.racks[0]
    made = [_title_line(rack)]
    links = (*rack.uplinks, *rack.peers)
    names = [_name_link(rack, link) for link in links]
    wide = max(map(measure_width, names), default=0)
    made += [_link_line(rack, link, name, wide) for link, name in zip(links, names, strict=True)]
    for part in rack.parts:
        made.append(BLANK_LINE)
        if len(rack.parts) > 1:
            made.append(MapLine(partial(_draw_part, part.name, len(part.nodes))))
        grid = choose_grid(part.nodes, width, max(height - len(made), 1))
        made += list_card_lines(part.nodes, grid)
    return made


# -- switches and links


def _title_line(rack: Rack) -> MapLine:
    spot = MapSpot(1, measure_width(sanitize(rack.name)), switches=rack.switches)
    return MapLine(partial(_draw_title, rack, spot), (spot,) if rack.switches else (), is_live=True)


def _draw_title(rack: Rack, spot: MapSpot, picture: MapPicture, width: int) -> Row:
    """``leaf3  S4048   16 nodes   down:up 2.67:1 built 2.00   leaves at 118.9 of 158.4 Gb/s``."""
    line = CellLine(width)
    named(line, spot, sanitize(rack.name), STRONG, picture.mark)
    switches = [picture.view.fabric.switches[each] for each in rack.switches]
    models = dict.fromkeys(sanitize(each.model) for each in switches if each.model)
    line.put(f"  {' '.join(models)}" if models else "", MUTED).put(f"   {counted(len(rack.nodes), 'node')}", TEXT)
    if not rack.uplinks:
        return line.row()
    lost = view_queries.find_lost_members(picture.view)
    state = worst(view_queries.find_link(picture.view, link.id).state for link in rack.uplinks)
    built, now = rack.up(), rack.up(lost)
    tone = MUTED if now == built else FAIL_BOLD if state is State.FAIL else WATCH_BOLD
    line.put("   down:up ", MUTED).put(link_glyphs.ratio(rack.down, now), tone)
    if now < built:
        line.put(f" built {link_glyphs.ratio(rack.down, built).removesuffix(':1')}", MUTED)
    if picture.loads is None:
        full = view_queries.sum_payload(picture.view, rack.uplinks)
        load = view_queries.find_rack_load(picture.view, rack.uplinks).total
        said = (
            CellText("   leaves at ", MUTED),
            CellText(gigabits(load, full), TEXT if load is not None else MUTED),
            CellText(f" of {gigabits(full, full)} Gb/s", MUTED),
        )
        return line.extend(said if row_width(said) < line.room else ()).row()
    return line.put(f"   links: {live_wires.HEADING}", MUTED).row()


def _name_link(rack: Rack, link: Link) -> str:
    """``spine1``; with the near end where the rack has several switches, both ends between two of them."""
    near, far = (link.a, link.b) if link.a in rack.switches else (link.b, link.a)
    word = "peer" if far in rack.switches else "up"
    ends = f"{sanitize(near)} to {sanitize(far)}" if len(rack.switches) > 1 else sanitize(far)
    return f"{word}  {ends}"


def _link_line(rack: Rack, link: Link, name: str, wide: int) -> MapLine:
    slots = _count_slots(link)
    spot = MapSpot(1 + wide + 2, slots, links=(link.id,))
    return MapLine(partial(_draw_link, rack, link, name, spot), (spot,), is_live=True)


def _count_slots(link: Link) -> int:
    return link.count if link.count <= _MOST_MEMBERS else link_glyphs.slots_width(link.count)


def _draw_link(rack: Rack, link: Link, name: str, spot: MapSpot, picture: MapPicture, width: int) -> Row:
    """``up  spine1  ▮▯  1 of 2 members up   ━━━━━━━━××××   39.6 of 79.2 Gb/s   2 x 40 G``, then what is wrong."""
    view = picture.view
    seen = view_queries.find_link(view, link.id)
    up = link.count if seen.members_up is None else seen.members_up
    line = CellLine(width).to(1).put(name, MUTED)
    slots = link_glyphs.slots(link.count, up, seen.state, most=_MOST_MEMBERS)
    bracketed(line, spot.x, spot.width, slots, picture.mark, (link,))
    tone = FAIL_BOLD if seen.state is State.FAIL else WATCH_BOLD if up < link.count else MUTED
    words = counted(link.count, "member") if up == link.count else f"{up} of {counted(link.count, 'member')} up"
    line.to(spot.x + max(spot.width, 4) + 2).put(words, tone if up < link.count else MUTED, 18).put(" ")
    of = rack.uplinks if link in rack.uplinks else (link,)
    wire = _WIRE if width >= _WIDE else _SHORT_WIRE
    line.extend(one_wire(wire, picture, link, rack, view_queries.find_rack_load(view, of).links[link.id]))
    if picture.loads is None:
        full = view_queries.sum_payload(view, (link,))
        line.put(f" of {gigabits(full, full)} Gb/s", MUTED)
    each = gigabits_of(link.capacity / link.count)
    speed = f"   {link.count} x {each}" if link.count > 1 else f"   {each}"
    line.put(speed if measure_width(speed) < line.room else "", MUTED)
    if seen.finding is not None and line.room > 12:
        line.put("   ").put(clip_text(sanitize(seen.finding.what), line.room - 1), value_tone(seen.state))
    return line.row()


# -- nodes


def _draw_part(name: str, nodes: int, _picture: MapPicture, width: int) -> Row:
    return CellLine(width).to(1).put(f"{sanitize(name)}, {counted(nodes, 'node')}", MUTED).row()
