"""Owns the tables of what flows share by chance or over distance: LAGs and their hash, VLANs on a link, WAN lines."""

from collections.abc import Iterator

from console.checking.capacity import NOTHING
from console.checking.table import Column, Table, number, words
from topology.analysis.report import StaticReport
from topology.analysis.vlans import Lane, SplitLink
from topology.model import Fabric
from topology.selection import fold
from topology.units import disk_size, duration, network_rate, percent, ratio


def tables(_fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """LAGs, split links, lines over distance."""
    yield _lags(report)
    yield _lanes(report)
    yield _lines(report)


def _lags(report: StaticReport) -> Table:
    columns = (
        words("LAGs", 14),
        number("number"),
        number("members"),
        Column("hash"),
        number("nodes below"),
        number("members used"),
        number("fullest : mean"),
        number("flows for 95 %"),
    )
    rows = tuple(
        (
            f"{kind.lower} to {kind.upper}",
            str(len(kind.links)),
            f"{kind.members} x {network_rate(kind.speed)}",
            kind.policy.value,
            str(kind.nodes),
            percent(kind.use) if kind.nodes else NOTHING,
            f"{kind.imbalance:.2f}" if kind.nodes else NOTHING,
            str(kind.flows_95),
        )
        for kind in report.hashing.lags
    )
    note = "One flow of each node below, hashed uniformly over the members (model hash, exact expectation)."
    return Table("LAGs and what a hash makes of them", columns, rows, note if rows else "")


def _lanes(report: StaticReport) -> Table:
    columns = (
        words("link", 12),
        number("VLAN"),
        number("capacity"),
        number("members"),
        number("offered"),
        number("offered : capacity"),
        words("fills it"),
    )
    rows = tuple(_lane(split, lane) for split in report.vlans.split for lane in split.lanes)
    return Table("Links split into VLANs", columns, rows)


def _lane(split: SplitLink, lane: Lane) -> tuple[str, ...]:
    fuller = max(lane.sides, key=lambda side: side.offered)
    fills = NOTHING
    if lane.port is not None:
        fills = f"{lane.fill} flows of {network_rate(lane.port)}{' exactly' if lane.exact else ''}"
    return (
        split.link.replace("--", " to "),
        str(lane.vlan),
        network_rate(lane.capacity),
        str(len(fuller.members)),
        network_rate(fuller.offered),
        ratio(lane.oversubscription),
        fills,
    )


def _lines(report: StaticReport) -> Table:
    columns = (
        words("line", 12),
        number("RTT"),
        number("capacity"),
        number("in flight: line"),
        number("one flow"),
        words("buffers of"),
        number("one stream gets"),
        number("streams to fill"),
        number("loss allowed"),
    )
    rows = tuple(
        (
            line.link.replace("--", " to "),
            duration(line.rtt),
            network_rate(line.capacity),
            disk_size(line.line_in_flight),
            disk_size(line.flow_in_flight),
            fold([window.nodes]) if "[" not in window.nodes else window.nodes,
            NOTHING if window.rate is None else network_rate(window.rate),
            NOTHING if window.streams is None else str(window.streams),
            f"{line.loss:.2g} for {network_rate(line.wanted)}",
        )
        for line in report.wan.lines
        for window in line.windows
    )
    return Table("Lines over distance", columns, rows)
