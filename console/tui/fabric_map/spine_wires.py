"""The switches above all racks as wires: one for each, with the members of its link to every rack on it. Pure.

The same links stand on the cards below, where the cursor goes; here one sees what a spine has in common.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from benchconsole.console.text.cells import clip_text, measure_width
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.tui.fabric_map.map_cells import MapLine, MapPicture, slots_of
from benchconsole.console.tui.fabric_map.shape import FabricShape
from benchconsole.console.tui.fabric_map.tiers import draw_cables
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellLine, Row
from benchconsole.console.tui.rows.themes import MUTED, TEXT, TRACK
from benchconsole.topology.model.fabric import Link, SwitchId

MOST_SPINES, MOST_RACKS = 8, 24
"""Bounds of a picture that is seen at a glance: more wires, or more names on one, are a table to be read."""

_LONGEST_NAME, _CABLES, _GAP, _WIDEST_STEP = 16, 26, 3, 24
"""Cells of the name of a spine, of the words behind a wire, beside slots, and from one rack to the next."""


class _Wires(NamedTuple):
    """Where everything stands: the column of the first rack, and columns from one to the next.

    ``counts``: there is room for the number of cables behind a wire.
    """

    start: int
    step: int
    names: tuple[str, ...]
    counts: bool


def list_spine_wires(shape: FabricShape, width: int) -> list[MapLine]:
    """A line with the names of racks, then a wire for each spine; empty where it would not be seen at a glance."""
    links = _find_links(shape)
    if not links:
        return []
    names = tuple(sanitize(rack.name) for rack in shape.racks)
    start = 1 + min(max(measure_width(sanitize(spine)) for spine in shape.top), _LONGEST_NAME) + _GAP
    slots = max(link_glyphs.slots_width(link.count) for row in links.values() for link in row.values())
    least = max(slots + _GAP, *(measure_width(name) + 1 for name in names))
    steps = [(min((width - start - room) // len(names), _WIDEST_STEP), room) for room in (_CABLES, 1)]
    step, room = next((each for each in steps if each[0] >= least), (0, 0))
    if not step:
        return []
    wires = _Wires(start, step, names, room == _CABLES)
    rails = [MapLine(partial(_draw_wire, wires, spine, row), is_live=True) for spine, row in links.items()]
    return [MapLine(partial(_draw_names, wires)), *rails]


def _find_links(shape: FabricShape) -> dict[SwitchId, dict[int, Link]]:
    """The one link of each spine to each rack, by the place of the rack; empty for a fabric of another form."""
    racks, spines = shape.racks, shape.top
    if (
        shape.tiered
        or len(shape.tiers) != 1
        or not 2 <= len(spines) <= MOST_SPINES
        or not 2 <= len(racks) <= MOST_RACKS
    ):
        return {}
    found: dict[SwitchId, dict[int, Link]] = {spine: {} for spine in spines}
    for place, rack in enumerate(racks):
        for link in rack.uplinks:
            spine = next((each for each in spines if each in (link.a, link.b)), None)
            if spine is None or place in found[spine]:
                return {}
            found[spine][place] = link
    return found if all(found.values()) else {}


def _draw_names(wires: _Wires, _picture: MapPicture, width: int) -> Row:
    """``wires    leaf1    leaf2``."""
    line = CellLine(width).to(1).put("wires", MUTED)
    for place, name in enumerate(wires.names):
        line.to(wires.start + place * wires.step).put(name, MUTED)
    return line.row()


def _draw_wire(wires: _Wires, spine: SwitchId, links: Mapping[int, Link], picture: MapPicture, width: int) -> Row:
    """``spine1 ─ ▮▮ ────── ▮▯ ───  3 of 4 cables``; no slots where no cable goes to a rack."""
    line = CellLine(width).to(1).put(clip_text(sanitize(spine), _LONGEST_NAME), TEXT).put(" ")
    for place, link in links.items():
        at = wires.start + place * wires.step
        line.put("─" * max(at - 1 - line.at, 0), TRACK)
        line.to(at).extend(slots_of(picture.view, link)).put(" ")
    end = wires.start + len(wires.names) * wires.step - _GAP
    line.put("─" * max(end - line.at, 0), TRACK).put("  ")
    return line.extend(draw_cables(picture, tuple(links.values()), _CABLES) if wires.counts else ()).row()
