"""Owns the tables of redundancy: what each single loss does, and whether a peer link could stand in."""

import math
from collections.abc import Iterator

from console.checking.capacity import NOTHING
from console.checking.table import Column, Table, number, words
from topology.analysis.peer_links import PeerCheck
from topology.analysis.redundancy import Kind, Loss
from topology.analysis.report import StaticReport
from topology.model import Fabric
from topology.selection import fold
from topology.units import network_rate, percent, ratio

SHOWN = 2
"""Links that fail alike are named up to here, then counted."""


def tables(_fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """Single losses, then peer links."""
    yield _losses(report)
    yield _peers(report)


def _losses(report: StaticReport) -> Table:
    columns = (
        words("loss of one", 22),
        number("alike"),
        number("nodes cut off"),
        number("nodes degraded"),
        number("worst ratio"),
        number("load after"),
        Column("redundant"),
    )
    note = (
        "degraded to so much of their capacity toward the top; load after: what has to take over, of what it can take. "
        "Redundant only if nobody is cut off and the rest can carry it."
    )
    rows = tuple(_loss(each) for each in report.redundancy.losses)
    return Table("Redundancy: every single loss", columns, rows, note if rows else "")


def _loss(each: Loss) -> tuple[str, ...]:
    effect = each.effect
    return (
        f"{each.kind.value} {named(each)}",
        f"{len(each.elements):,}",
        f"{effect.cut:,}" if effect.cut else NOTHING,
        f"{effect.degraded:,} to {percent(effect.left)}" if effect.degraded else NOTHING,
        _ratio(effect.ratio),
        _load(effect.load),
        "yes" if effect.redundant else "no",
    )


def named(each: Loss) -> str:
    """The elements in short: switches and nodes folded, links by the first of them."""
    if each.kind in (Kind.SWITCH, Kind.GATEWAY):
        return fold(each.elements)
    shown = [element.replace("--", " to ") for element in each.elements[:SHOWN]]
    if len(each.elements) <= SHOWN:
        return ", ".join(shown)
    return f"{shown[0]} ... ({each.role})"


def _ratio(value: float | None) -> str:
    if value is None:
        return NOTHING
    return "none" if math.isinf(value) else ratio(value)


def _load(value: float) -> str:
    if not value:
        return NOTHING
    return "none" if math.isinf(value) else percent(value)


def _peers(report: StaticReport) -> Table:
    columns = (
        words("MLAG pair", 10),
        words("nodes", 10),
        words("leg lost on", 7),
        number("across the peer link"),
        number("of its"),
        words("each receives", 12),
        Column("enough"),
    )
    rows = tuple(_peer(each) for each in report.redundancy.peers)
    return Table("Peer links, when all nodes of a role lose one leg", columns, rows)


def _peer(each: PeerCheck) -> tuple[str, ...]:
    return (
        fold(each.pairs),
        f"{each.nodes:,} {each.role}",
        each.lost,
        network_rate(each.offered) if each.offered else NOTHING,
        network_rate(each.capacity) if each.capacity else NOTHING,
        f"{network_rate(each.share)} of {network_rate(each.leg)}",
        {True: "yes", False: "no", None: "unknown"}[each.enough],
    )
