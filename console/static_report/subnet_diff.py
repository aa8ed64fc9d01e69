"""The page and the JSON of ``diff --from ib``: the described cabling beside an InfiniBand subnet."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from benchconsole.console.exits import Exit
from benchconsole.console.static_report.json_values import Record, encode_record
from benchconsole.console.text.cells import wrap_text
from benchconsole.console.text.sanitize import sanitize
from benchconsole.console.text.table import Column, Table, format_body, words
from benchconsole.topology.infiniband.counters import THRESHOLDS
from benchconsole.topology.infiniband.device_names import find_devices, format_partitions
from benchconsole.topology.infiniband.dump_files import SubnetFiles
from benchconsole.topology.model.fabric import Fabric
from benchconsole.topology.selection import fold
from benchconsole.topology.units import counted as count
from benchconsole.topology.wire.subnet_comparison import SubnetDifference, SubnetReport, compare_subnet

_COLUMNS = (Column("what"), words("where"), words("described", 16), words("in the subnet", 20))


@dataclass(frozen=True, slots=True)
class SubnetComparison:
    """A comparison with what it was made from; ``source`` names the files or the node that told the subnet.

    ``partitions`` are those that a ``partitions.conf`` names, in words.
    """

    fabric: Fabric
    report: SubnetReport
    source: str
    partitions: tuple[str, ...] = ()

    @property
    def code(self) -> Exit:
        """0 all compared and equal, 1 differences, 3 not everything compared; 1 wins over 3."""
        if self.report.differences:
            return Exit.BELOW
        return Exit.PASSED if self.report.complete else Exit.UNTESTED


def compare_files(fabric: Fabric, files: SubnetFiles, source: str) -> SubnetComparison:
    """Hold what saved files, or one node, told against ``fabric``."""
    partitions = format_partitions(files.partitions, files.subnet, find_devices(files.subnet))
    return SubnetComparison(
        fabric, compare_subnet(fabric, files.subnet, files.counters, files.forwarding), source, tuple(partitions)
    )


def format_subnet(found: SubnetComparison, width: int) -> Iterator[str]:
    """The comparison for a terminal of ``width`` columns; everything from outside is made plain."""
    report = found.report
    told = f"{count(report.devices, 'device')} told by {sanitize(found.source)}"
    yield f"{sanitize(found.fabric.name)}: {count(report.described, 'cable')} described, {told}"
    if report.differences:
        yield ""
        yield from format_body(Table("", _COLUMNS, tuple(map(_make_row, report.differences))), width)
    elif report.described:
        yield "no difference in what was compared"
    yield ""
    yield from wrap_text(f"coverage: {_format_coverage(report)}", width, indent="  ")
    for partition in found.partitions:
        yield from wrap_text(f"partition {sanitize(partition)}", width, indent="  ")
    for remark in report.remarks:
        yield from wrap_text(f"note: {sanitize(remark)}", width, indent="  ")


def _make_row(difference: SubnetDifference) -> tuple[str, str, str, str]:
    seen = ": ".join(part for part in (difference.seen, difference.text) if part)
    where = fold(difference.devices) if len(difference.devices) > 2 else ", ".join(difference.devices)
    return difference.kind, sanitize(where), sanitize(difference.described), sanitize(seen)


def _format_coverage(report: SubnetReport) -> str:
    parts = [f"{report.confirmed:,} of {count(report.described, 'cable')} as described"]
    if not report.described:
        parts = ["the file describes no link that may be InfiniBand, so nothing was compared"]
    if report.open_speeds:
        parts.append(f"nobody told the rate of {count(report.open_speeds, 'cable')}")
    parts.append("error counters were read" if report.counted else "no error counters were given")
    if report.lanes:
        told = ", ".join(f"{lanes} on {count(ports, 'port')}" for lanes, ports in report.lanes.items())
        parts.append(f"virtual lanes that carry data: {told}")
    if report.partial:
        parts.append(f"partial: {sanitize(report.partial)}")
    return "; ".join(parts)


def make_subnet_record(found: SubnetComparison) -> Record:
    """The comparison for JSON: text as the subnet gave it."""
    report = found.report
    return encode_record(
        {
            "fabric": found.fabric.name,
            "simulated": found.fabric.simulated,
            "source": found.source,
            "complete": report.complete,
            "partial": report.partial or None,
            "cables": {
                "described": report.described,
                "as_described": report.confirmed,
                "without_rate": report.open_speeds,
            },
            "devices": report.devices,
            "differences": [asdict(each) for each in report.differences],
            "counters_read": report.counted,
            "thresholds": dict(THRESHOLDS),
            "virtual_lanes": {str(lanes): ports for lanes, ports in report.lanes.items()},
            "partitions": found.partitions,
            "remarks": report.remarks,
        }
    )
