"""Tables of ``expect --links`` and ``--ends``: how full every link is, and what every node sends and receives."""

from collections.abc import Iterator, Sequence

from benchconsole.console.static_report.json_values import Record
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import format_table, make_table, number, words
from benchconsole.topology.capacity.link_loads import LinkLoad, NodeSum
from benchconsole.topology.element_names import direction_name
from benchconsole.topology.grouping import group_by_key
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import network_rate, percent

MOST_ROWS = 40
"""Rows of a table; what follows is counted."""


def format_loads(fabric: Fabric, loads: Sequence[LinkLoad], width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """Links of the same load between the same tiers together, the fullest first."""
    alike = group_by_key((_find_likeness(fabric, each), each) for each in loads)
    rows = sorted(alike.values(), key=lambda same: -float(f"{same[0].share:.6g}"))
    table = make_table(
        "Links",
        rows[:MOST_ROWS],
        (number("used"), lambda same: percent(same[0].share)),
        (number("carries"), lambda same: network_rate(same[0].load)),
        (number("of"), lambda same: network_rate(same[0].capacity)),
        (number("links"), lambda same: f"{len(same):,}"),
        (words("which", 20), lambda same: _name_links(fabric, same)),
    )
    yield from format_table(table, width, ascii_only=ascii_only)
    if len(rows) > MOST_ROWS:
        rest = sum(map(len, rows[MOST_ROWS:]))
        yield from wrap_text(sanitize(f"{count(rest, 'link')} more are used less; all are in the JSON."), width)


def _find_likeness(fabric: Fabric, each: LinkLoad) -> tuple[float, float, int, int]:
    tiers = fabric.tier(each.way.source), fabric.tier(fabric.links[each.way.link].other(each.way.source))
    return (float(f"{each.load:.6g}"), float(f"{each.capacity:.6g}"), *tiers)


def _name_links(fabric: Fabric, same: Sequence[LinkLoad]) -> str:
    """One link by its name, several by the devices at both ends."""
    if len(same) == 1:
        return direction_name(fabric, same[0].way)
    heads = [fabric.links[each.way.link].other(each.way.source) for each in same]
    return f"{fold(each.way.source for each in same)} to {fold(heads)}"


def format_sums(sums: Sequence[NodeSum], width: int, *, ascii_only: bool = False) -> Iterator[str]:
    """Nodes of the same sums together, those that send most first."""
    alike = group_by_key(((float(f"{each.sent:.6g}"), float(f"{each.received:.6g}")), each.node) for each in sums)
    rows = sorted(alike.items(), key=lambda row: (-row[0][0], -row[0][1]))
    table = make_table(
        "Senders and receivers",
        rows[:MOST_ROWS],
        (number("nodes"), lambda row: f"{len(row[1]):,}"),
        (number("each sends"), lambda row: network_rate(row[0][0])),
        (number("receives"), lambda row: network_rate(row[0][1])),
        (words("which", 20), lambda row: fold(row[1])),
    )
    yield from format_table(table, width, ascii_only=ascii_only)
    if len(rows) > MOST_ROWS:
        rest = sum(len(nodes) for _, nodes in rows[MOST_ROWS:])
        yield from wrap_text(sanitize(f"{count(rest, 'node')} more send less; all are in the JSON."), width)


def make_loads_record(fabric: Fabric, loads: Sequence[LinkLoad]) -> list[Record]:
    """The same for scripts, every directed link."""
    return [
        {
            "link": each.way.link,
            "way": direction_name(fabric, each.way),
            "load_bps": each.load,
            "capacity_bps": each.capacity,
            "used": each.share,
        }
        for each in loads
    ]


def make_sums_record(sums: Sequence[NodeSum]) -> list[Record]:
    """The same for scripts, every node."""
    return [{"node": each.node, "sent_bps": each.sent, "received_bps": each.received} for each in sums]
