"""Reads error counters of ports: ``ibqueryerrors``, ``perfquery`` and the section PM_INFO of ``ibdiagnet2.db_csv``.

A counter counts from the last time that it was cleared, and the narrow ones stop at their end.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from benchconsole.topology.description.document import Lines
from benchconsole.topology.errors import Position, refuse
from benchconsole.topology.infiniband.subnet import PortEnd, Subnet, normalize_guid

THRESHOLDS = MappingProxyType(
    dict.fromkeys(
        (
            "SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
            "PortRcvRemotePhysicalErrors", "PortXmitDiscards", "PortXmitConstraintErrors", "PortRcvConstraintErrors",
            "LocalLinkIntegrityErrors", "ExcessiveBufferOverrunErrors", "VL15Dropped",
        ),
        0,
    )
)  # fmt: skip
"""Counter to the most that is no error: 0, as ibqueryerrors(8) has it where no threshold file says otherwise.

Two of its counters are left out: PortRcvSwitchRelayErrors, which its option ``--suppress-common`` leaves out because
multicast counts there, and PortXmitWait, which counts congestion and no error.
"""

_ERRORS_OF = re.compile(r'Errors for (?:0x[0-9a-fA-F]{1,16} )?".*"')
_ERRORS = re.compile(r"\s*GUID 0x(?P<guid>[0-9a-fA-F]{1,16}) port (?P<port>\d{1,3}|ALL):(?P<counters>.*)")
_COUNTER = re.compile(r"\[(?P<name>[A-Za-z0-9]{1,40}) == (?P<value>\d{1,20})(?: \([^)]*\))?\]")
_HEAD = re.compile(r"#\s*Port (?:extended )?counters: Lid (?P<lid>\d{1,5}) port (?P<port>\d{1,3})\b.*")
_VALUE = re.compile(r"(?P<name>[A-Za-z][A-Za-z0-9]{1,40}):\.*(?P<value>\d{1,20})")
_SUMMARY = re.compile(r"^## Summary: \d+ nodes checked", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PortCounters:
    """Counters of one port that are above their thresholds."""

    end: PortEnd
    errors: Mapping[str, int]
    where: Position


def looks_like_counters(text: str) -> bool:
    """Whether ``text`` is one of the outputs that are read here."""
    return bool(
        _SUMMARY.search(text)
        or any(_ERRORS_OF.fullmatch(line) or _HEAD.fullmatch(line) for line in text.splitlines()[:2000])
    )


def read_counters(text: str, file: str, subnet: Subnet) -> Iterator[PortCounters]:
    """The ports with errors that ``text`` tells. TopologyError for a port that ``subnet`` does not have."""
    lines = Lines(text, file)
    if re.search(r"^START_PM_INFO\s*$", text, re.MULTILINE):
        yield from _read_table(text, file, subnet)
        return
    offset, end = 0, PortEnd("", 0)
    found: dict[PortEnd, tuple[dict[str, int], Position]] = {}
    for line in text.split("\n"):
        where = lines.at(offset)
        offset += len(line) + 1
        if match := _ERRORS.fullmatch(line.rstrip()):
            if match["port"] == "ALL":
                continue
            end = _find_port(subnet, subnet.port_guids.get(normalize_guid(match["guid"])), int(match["port"]), where)
            counters, _ = found.setdefault(end, ({}, where))
            for counter in _COUNTER.finditer(match["counters"]):
                _keep_larger(counters, counter["name"], int(counter["value"]))
        elif head := _HEAD.fullmatch(line.rstrip()):
            guid = subnet.lids.get(int(head["lid"]))
            end = _find_port(subnet, PortEnd(guid, 0) if guid else None, int(head["port"]), where)
            found.setdefault(end, ({}, where))
        elif end.guid and (value := _VALUE.fullmatch(line.rstrip())):
            _keep_larger(found[end][0], value["name"], int(value["value"]))
    for port, (errors, where) in found.items():
        if above := _find_above(errors):
            yield PortCounters(port, above, where)


def _keep_larger(counters: dict[str, int], name: str, value: int) -> None:
    counters[name] = max(counters.get(name, 0), value)


def _find_above(counters: Mapping[str, int]) -> dict[str, int]:
    return {name: value for name, value in counters.items() if value > THRESHOLDS.get(name, value)}


def _find_port(subnet: Subnet, known: PortEnd | None, port: int, where: Position) -> PortEnd:
    if known is None or known.guid not in subnet.nodes:
        raise refuse(where, "counters of a port that the dump does not have", f"a port of the subnet in {subnet.file}")
    return PortEnd(known.guid, port)


def _read_table(text: str, file: str, subnet: Subnet) -> Iterator[PortCounters]:
    lines, columns = text.split("\n"), list[str]()
    inside = False
    for number, line in enumerate(lines, start=1):
        where = Position(file, number, 1)
        if line.strip() in ("START_PM_INFO", "END_PM_INFO"):
            inside = line.startswith("START")
        elif inside and not columns:
            columns = [cell.strip() for cell in line.split(",")]
        elif inside and line.strip():
            row = dict(zip(columns, next(csv.reader([line]), []), strict=False))
            port = row.get("PortNumber", "").strip()
            if not port.isdecimal():
                raise refuse(where, f"the port {port!r}", "a number in the column PortNumber of PM_INFO")
            end = _find_port(subnet, PortEnd(normalize_guid(row.get("NodeGUID", "")), 0), int(port), where)
            told = {name.removesuffix("Extended").removesuffix("Ext"): _read_number(cell) for name, cell in row.items()}
            if above := _find_above(told):
                yield PortCounters(end, above, where)


def _read_number(cell: str) -> int:
    """A counter; 0 for what is none, as N/A is written for a counter that a port does not have."""
    text = cell.strip()
    try:
        return int(text, 16) if text.lower().startswith("0x") else int(text)
    except ValueError:
        return 0
