"""The tables of shared capacity: LAGs and their hash, VLANs on a link, WAN lines."""

from collections.abc import Iterator

from benchconsole.console.static_report.capacity_tables import NOTHING
from benchconsole.console.text.table import Column, Table, make_table, number, words
from benchconsole.topology.analysis.static_analysis import StaticReport
from benchconsole.topology.analysis.vlans import Lane, VlanSide
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold
from benchconsole.topology.units import disk_size, duration, network_rate, percent, ratio


def make_tables(_fabric: Fabric, report: StaticReport) -> Iterator[Table]:
    """LAGs, split links, lines over distance."""
    yield make_table(
        "LAGs and what a hash makes of them",
        report.lags,
        (words("LAGs", 14), lambda kind: f"{kind.lower} to {kind.upper}"),
        (number("number"), lambda kind: str(len(kind.links))),
        (number("members"), lambda kind: f"{kind.members} x {network_rate(kind.speed)}"),
        (Column("hash"), lambda kind: kind.policy),
        (number("nodes below"), lambda kind: str(kind.nodes)),
        (number("members used"), lambda kind: percent(kind.use) if kind.nodes else NOTHING),
        (number("fullest : mean"), lambda kind: f"{kind.imbalance:.2f}" if kind.nodes else NOTHING),
        (number("flows for 95 %"), lambda kind: str(kind.flows_95)),
        note="One flow of each node below, hashed uniformly over the members (model hash, exact expectation).",
    )
    yield make_table(
        "Links split into VLANs",
        [(split.link.id, lane, _find_fuller(lane)) for split in report.vlans for lane in split.lanes],
        (words("link", 12), lambda row: row[0].replace("--", " to ")),
        (number("VLAN"), lambda row: str(row[1].vlan)),
        (number("capacity"), lambda row: network_rate(row[1].capacity)),
        (number("members"), lambda row: str(len(row[2].members))),
        (number("offered"), lambda row: network_rate(row[2].offered)),
        (number("offered : capacity"), lambda row: ratio(row[1].oversubscription)),
        (words("fills it"), lambda row: _format_fill(row[1])),
    )
    yield make_table(
        "Lines over distance",
        [(line, window) for line in report.wan for window in line.windows],
        (words("line", 12), lambda row: row[0].link.replace("--", " to ")),
        (number("RTT"), lambda row: duration(row[0].rtt)),
        (number("capacity"), lambda row: network_rate(row[0].capacity)),
        (number("in flight: line"), lambda row: disk_size(row[0].line_in_flight)),
        (number("one flow"), lambda row: disk_size(row[0].flow_in_flight)),
        (words("buffers of"), lambda row: row[1].nodes if "[" in row[1].nodes else fold([row[1].nodes])),
        (number("one stream gets"), lambda row: NOTHING if row[1].rate is None else network_rate(row[1].rate)),
        (number("streams to fill"), lambda row: NOTHING if row[1].streams is None else str(row[1].streams)),
        (number("loss allowed"), lambda row: f"{row[0].loss:.2g} for {network_rate(row[0].flow)}"),
    )


def _find_fuller(lane: Lane) -> VlanSide:
    return max(lane.sides, key=lambda side: side.offered)


def _format_fill(lane: Lane) -> str:
    if lane.port is None:
        return NOTHING
    return f"{lane.fill} flows of {network_rate(lane.port)}{' exactly' if lane.exact else ''}"
