"""The tables of redundancy: the effect of each single loss, and whether a peer link could stand in."""

import math
from collections.abc import Callable, Iterator

from benchconsole.console.static_report.capacity_tables import NOTHING
from benchconsole.console.text.table import Column, Table, make_table, number, words
from benchconsole.topology.analysis.redundancy import ElementLoss
from benchconsole.topology.analysis.static_analysis import StaticReport
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold
from benchconsole.topology.tables.single_failures import Effect, FailureKind
from benchconsole.topology.units import network_rate, percent, ratio

SHOWN = 2
"""Links that fail alike are named up to here, then counted."""


def make_tables(_fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """Single losses, then peer links."""
    yield make_table(
        "Redundancy: every single loss",
        report.losses,
        (words("loss of one", 22), lambda each: f"{each.kind} {_format_elements(each)}"),
        (number("alike"), lambda each: f"{len(each.elements):,}"),
        (number("nodes cut off"), lambda each: f"{each.effect.cut:,}" if each.effect.cut else NOTHING),
        (number("nodes degraded"), lambda each: _format_degraded(each.effect)),
        (
            number("worst ratio"),
            lambda each: NOTHING if each.effect.ratio is None else _format_finite(each.effect.ratio, ratio),
        ),
        (
            number("load after"),
            lambda each: _format_finite(each.effect.load, percent) if each.effect.load else NOTHING,
        ),
        (Column("redundant"), lambda each: "yes" if each.effect.redundant else "no"),
        note="degraded to so much of their capacity toward the top; load after: what has to take over, of what it can "
        "take. Redundant only if nobody is cut off and the rest can carry it.",
    )
    yield make_table(
        "Peer links, when all nodes of a role lose one leg",
        report.peers,
        (words("MLAG pair", 10), lambda each: fold(each.pairs)),
        (words("nodes", 10), lambda each: f"{each.nodes:,} {each.role}"),
        (words("leg lost on", 7), lambda each: each.lost),
        (number("across the peer link"), lambda each: network_rate(each.offered) if each.offered else NOTHING),
        (number("of its"), lambda each: network_rate(each.capacity) if each.capacity else NOTHING),
        (words("each receives", 12), lambda each: f"{network_rate(each.share)} of {network_rate(each.leg)}"),
        (Column("enough"), lambda each: {True: "yes", False: "no", None: "unknown"}[each.enough]),
    )


def _format_elements(each: ElementLoss) -> str:
    """The elements in short: switches and nodes folded, links by the first of them."""
    if each.kind in (FailureKind.SWITCH, FailureKind.GATEWAY):
        return fold(each.elements)
    shown = [element.replace("--", " to ") for element in each.elements[:SHOWN]]
    if len(each.elements) <= SHOWN:
        return ", ".join(shown)
    return f"{shown[0]} ... ({each.role})"


def _format_degraded(effect: Effect) -> str:
    return f"{effect.degraded:,} to {percent(effect.left)}" if effect.degraded else NOTHING


def _format_finite(value: float, form: Callable[[float], str]) -> str:
    return "none" if math.isinf(value) else form(value)
