"""The tables of capacity: tiers, switches and groups with their ratios, end to end, bisection."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TypeVar

from benchconsole.console.text.table import Column, Table, make_table, number, words
from benchconsole.topology.analysis.bisection import BisectionReport
from benchconsole.topology.analysis.oversubscription import GroupOversubscription, Oversubscription, WorstFailure
from benchconsole.topology.analysis.static_analysis import StaticReport
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted as count
from benchconsole.topology.units import network_rate, ratio

NOTHING = "–"


def make_tables(fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """Tiers, switches, groups, end to end, bisection."""
    yield make_table(
        "Oversubscription by tier",
        report.oversubscription.tiers,
        (Column("tier"), lambda each: each.role),
        (number("switches"), lambda each: str(each.switches)),
        (number("down"), lambda each: _format_rate(each.down)),
        (number("up"), lambda each: _format_rate(each.up)),
        (number("down:up"), lambda each: ratio(each.ratio)),
        (number("least"), lambda each: ratio(each.least.ratio) if each.least else NOTHING),
        (number("most"), lambda each: ratio(each.most.ratio) if each.most else NOTHING),
        (number("ports filled"), lambda each: NOTHING if each.filled is None else ratio(each.filled)),
    )
    yield _make_switches(fabric, report)
    yield make_table(
        "Groups, by the cables that leave them",
        _group_alike(report.oversubscription.groups, lambda each: each.kind),
        (Column("kind"), lambda alike: alike[0].kind),
        (words("groups"), lambda alike: fold([each.name for each in alike])),
        (number("down"), lambda alike: _format_rate(alike[0].down)),
        (number("up or across"), lambda alike: _format_rate(alike[0].up or alike[0].side)),
        (number("ratio"), lambda alike: ratio(alike[0].ratio)),
        (words("worst single failure", 16), lambda alike: _format_worst(alike[0].cable, alike[0].switch_lost)),
    )
    yield make_table(
        "End to end",
        report.end_to_end,
        (number("nodes"), lambda each: f"{each.nodes:,}"),
        (number("product"), lambda each: ratio(each.worst.ratio)),
        (words("on the way of", 16), lambda each: " > ".join((each.worst.node, *each.worst.switches))),
        (
            words("fair share", 12),
            lambda each: f"{network_rate(each.share.fair)} of {network_rate(each.share.legs)}",
        ),
        (number("share:NIC"), lambda each: ratio(each.share.ratio)),
        (words("worst single failure", 16), lambda each: _format_worst(each.cable, each.switch_lost)),
        note="product: the ratios on the worst way upward, multiplied; fair share: what a node of the worst place gets "
        "when all send through the top at once (max-min, model fluid, on the wire).",
    )
    yield make_table(
        "Bisection",
        _list_cuts(report.bisection),
        (words("cut", 20), lambda cut: cut[0]),
        (number("at most, one way"), lambda cut: cut[1]),
        (words("through", 20), lambda cut: cut[2]),
        note="An upper bound: what fits through the narrowest place, whatever the routing; flows may get less.",
    )


def _format_rate(value: float | None) -> str:
    return network_rate(value) if value else NOTHING


def _format_worst(*failures: WorstFailure | None) -> str:
    worst = max((lost for lost in failures if lost), key=lambda lost: lost.ratio, default=None)
    return NOTHING if worst is None else f"{ratio(worst.ratio)} without {worst.element.replace('--', ' to ')}"


def _make_switches(fabric: Fabric, report: StaticReport) -> Table:
    def find_role(each: Oversubscription) -> str:
        return fabric.switches[each.switch].role

    return make_table(
        "Switches",
        _group_alike(report.oversubscription, find_role),
        (words("switches", 10), lambda alike: fold([each.switch for each in alike])),
        (Column("role"), lambda alike: find_role(alike[0])),
        (number("down"), lambda alike: _format_rate(alike[0].down)),
        (number("up"), lambda alike: _format_rate(alike[0].up)),
        (number("side"), lambda alike: _format_rate(alike[0].side)),
        (number("down:up"), lambda alike: ratio(alike[0].ratio)),
        (words("worst single failure", 16), lambda alike: _format_worst(alike[0].cable, alike[0].switch_lost)),
    )


_Ratios = TypeVar("_Ratios", Oversubscription, GroupOversubscription)


def _group_alike(items: Iterable[_Ratios], find_kind: Callable[[_Ratios], Hashable]) -> Iterable[list[_Ratios]]:
    """Switches or groups with equal numbers together; the failures shown are those of the first."""
    alike: dict[tuple[Hashable, ...], list[_Ratios]] = {}
    for each in items:
        worst = tuple(None if lost is None else lost.ratio for lost in (each.cable, each.switch_lost))
        alike.setdefault((find_kind(each), each.down, each.up, each.side, worst), []).append(each)
    return alike.values()


def _list_cuts(bisection: BisectionReport) -> Iterator[tuple[str, str, str]]:
    halves = bisection.halves
    if halves is not None:
        places = ", ".join(
            f"{count(each.cables, 'cable')} {each.low} to {each.high}, {_format_rate(each.capacity)}"
            for each in halves.where
        )
        yield f"halves of {halves.near:,} and {halves.far:,} nodes", _format_rate(halves.bound), places
    for each in bisection.tiers:
        yield f"all ways up from {each.below}", _format_rate(each.bound), f"half of {_format_rate(each.up)}"
