"""Owns the tables of capacity: tiers, switches and groups with their ratios, end to end, ports."""

from collections.abc import Iterable, Iterator

from console.checking.table import Column, Table, number, words
from console.wording import count
from topology.analysis.end_to_end import EndToEnd
from topology.analysis.oversubscription import Failure, GroupShare, Oversubscription
from topology.analysis.report import StaticReport
from topology.model import Fabric
from topology.selection import fold
from topology.units import network_rate, ratio

NOTHING = "–"


def tables(fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """Tiers, switches, groups, end to end."""
    yield _tiers(report)
    yield _switches(fabric, report)
    yield _groups(report)
    yield _end_to_end(report)
    yield _bisection(report)


def _rate(value: float | None) -> str:
    return network_rate(value) if value else NOTHING


def _worst(*failures: Failure | None) -> str:
    worst = max((lost for lost in failures if lost), key=lambda lost: lost.ratio, default=None)
    return NOTHING if worst is None else f"{ratio(worst.ratio)} without {worst.element.replace('--', ' to ')}"


def _tiers(report: StaticReport) -> Table:
    columns = (
        Column("tier"),
        number("switches"),
        number("down"),
        number("up"),
        number("down:up"),
        number("least"),
        number("most"),
        number("ports filled"),
    )
    rows = tuple(
        (
            each.role.value,
            str(each.switches),
            _rate(each.down),
            _rate(each.up),
            ratio(each.ratio),
            NOTHING if each.least is None else ratio(each.least.ratio),
            NOTHING if each.most is None else ratio(each.most.ratio),
            NOTHING if each.filled is None else ratio(each.filled),
        )
        for each in report.oversubscription.tiers
    )
    return Table("Oversubscription by tier", columns, rows)


def _switches(fabric: Fabric, report: StaticReport) -> Table:
    columns = (
        words("switches", 10),
        Column("role"),
        number("down"),
        number("up"),
        number("side"),
        number("down:up"),
        words("worst single failure", 16),
    )
    rows = tuple(
        (
            fold(names),
            fabric.switches[each.switch].role.value,
            _rate(each.down),
            _rate(each.up),
            _rate(each.side),
            ratio(each.ratio),
            _worst(each.cable, each.switch_lost),
        )
        for names, each in _alike(fabric, report.oversubscription)
    )
    return Table("Switches", columns, rows)


def _alike(fabric: Fabric, report: Iterable[Oversubscription]) -> Iterator[tuple[list[str], Oversubscription]]:
    """Switches with equal numbers as one line; the failures shown are those of the first."""
    found: dict[tuple[object, ...], list[Oversubscription]] = {}
    for each in report:
        worst = tuple(None if lost is None else lost.ratio for lost in (each.cable, each.switch_lost))
        key = (fabric.switches[each.switch].role, each.down, each.up, each.side, *worst)
        found.setdefault(key, []).append(each)
    for members in found.values():
        yield [each.switch for each in members], members[0]


def _groups(report: StaticReport) -> Table:
    columns = (
        Column("kind"),
        words("groups"),
        number("down"),
        number("up or across"),
        number("ratio"),
        words("worst single failure", 16),
    )
    found: dict[tuple[object, ...], list[GroupShare]] = {}
    for each in report.oversubscription.groups:
        worst = tuple(None if lost is None else lost.ratio for lost in (each.cable, each.switch_lost))
        found.setdefault((each.kind, each.down, each.up, each.side, worst), []).append(each)
    rows = tuple(
        (
            members[0].kind,
            fold([each.name for each in members]),
            _rate(members[0].down),
            _rate(members[0].up or members[0].side),
            ratio(members[0].ratio),
            _worst(members[0].cable, members[0].switch_lost),
        )
        for members in found.values()
    )
    return Table("Groups, by the cables that leave them", columns, rows)


def _end_to_end(report: StaticReport) -> Table:
    columns = (
        number("nodes"),
        number("product"),
        words("on the way of", 16),
        words("fair share", 12),
        number("share:NIC"),
        words("worst single failure", 16),
    )
    rows = tuple(_network(each) for each in report.end_to_end.networks)
    note = (
        "product: the ratios on the worst way upward, multiplied; fair share: what a node of the worst place gets "
        "when all send through the top at once (max-min, model fluid, on the wire)."
    )
    return Table("End to end", columns, rows, note if rows else "")


def _network(each: EndToEnd) -> tuple[str, ...]:
    way = " > ".join((each.worst.node, *each.worst.switches))
    share = f"{network_rate(each.share.fair)} of {network_rate(each.share.legs)}"
    return (
        f"{each.nodes:,}",
        ratio(each.worst.ratio),
        way,
        share,
        ratio(each.share.ratio),
        _worst(each.cable, each.switch_lost),
    )


def _bisection(report: StaticReport) -> Table:
    columns = (words("cut", 20), number("at most, one way"), words("through", 20))
    halves = report.bisection.halves
    rows = []
    if halves is not None:
        places = (
            f"{count(each.cables, 'cable')} {each.low} to {each.high}, {_rate(each.capacity)}" for each in halves.where
        )
        rows.append((f"halves of {halves.near:,} and {halves.far:,} nodes", _rate(halves.bound), ", ".join(places)))
    rows += [
        (f"all ways up from {each.below}", _rate(each.bound), f"half of {_rate(each.up)}")
        for each in report.bisection.tiers
    ]
    note = "An upper bound: what fits through the narrowest place, whatever the routing; flows may get less."
    return Table("Bisection", columns, tuple(rows), note if rows else "")
