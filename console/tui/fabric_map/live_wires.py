"""Wires that show what running tests put on links now, in and out, as shares of capacity."""

from collections.abc import Container, Sequence
from typing import TYPE_CHECKING

from benchconsole.console.tui.fabric_map.map_cells import MapPicture
from benchconsole.console.tui.queries import view_queries
from benchconsole.console.tui.rows import link_glyphs
from benchconsole.console.tui.rows.text_rows import CellText, Row
from benchconsole.console.tui.rows.themes import MUTED, TEXT
from benchconsole.topology.model.fabric import Link

if TYPE_CHECKING:
    from benchconsole.console.view.link_loads import LinkLoads

HEADING = "in │ out now, %"
SHORT_HEADING = "in│out, %"
"""The same for columns that are as narrow as ``both_ways`` can be."""


def draw_live_wire(
    width: int, picture: MapPicture, loads: "LinkLoads", links: Sequence[Link], inside: Container[str]
) -> Row:
    """The load of ``links`` together: out is what leaves the devices ``inside``, in what comes to them."""
    lost = view_queries.find_lost_members(picture.view)
    built = sum(link.capacity for link in links)
    now = sum(link.capacity * lost.get(link.id, link.count) / link.count for link in links)
    inward, outward = loads.find_both(links, inside)
    if width < link_glyphs.BOTH_LEAST:
        fuller = max((each.share for each in (inward, outward) if each.share is not None), default=None)
        text = "–" if fuller is None else f"{fuller:.0%}"
        return (CellText(f"{text:>{width}}", MUTED if fuller is None else TEXT),)
    partial = inward.is_partial, outward.is_partial
    return link_glyphs.both_ways(width, inward.share, outward.share, lost=1 - now / built, partial=partial)
