"""Reads the text of ``smartctl -i -H -A`` (5 to 7) of ATA, SAS and NVMe disks.

The text does not say which disk it is about: a line ``smartctl of /dev/sda`` before it does, as
our own script writes it; else the disk is told by its serial number, and nothing is told of one without.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from probes.api import Fact, Labels, Unit, labels
from probes.builtin.captured import ABSURD, fields, one_line, whole_lines
from probes.builtin.inventory.facts import counted, measured, on, said, worded

_HEAD = re.compile(r"smartctl (?:version )?[0-9]+\.[0-9]+ .*")
_NAMED = re.compile(r"smartctl of /dev/(?P<disk>\S+)")
_REFUSED = re.compile(r"Smartctl open device: .*failed|.*Unable to detect device type|.*failed: No such device.*")

NVME_UNIT = 512_000
"""Bytes that NVMe counts as one data unit (NVM Express 1.4, figure 194)."""

_GROUPED = r"(?P<number>[0-9]{1,3}(?:(?P<mark>[,.'\u2019 \u00a0\u202f])[0-9]{3})(?:(?P=mark)[0-9]{3})*|[0-9]+)"
_BYTES = re.compile(_GROUPED + r"(?: bytes(?: \[[^\]]+\])?| \[[^\]]+\])")
_COUNT = re.compile(_GROUPED)
_PERCENT = re.compile(r"(?P<number>[0-9]{1,3})%")
_DEGREES = re.compile(r"(?P<number>-?[0-9]{1,3}) (?:C|Celsius)(?: .*)?")
_TURNS = re.compile(r"(?P<number>[0-9]{3,6}) rpm")
_HOURS = re.compile(r"(?P<hours>[0-9]{1,7}):(?P<minutes>[0-9]{2})")
_ATTRIBUTE = re.compile(
    r"\s*(?P<id>[0-9]{1,3}) (?P<name>\S+)\s+(?:0x[0-9a-f]{4}|[POSRCK-]{6})\s+(?:[0-9-]{1,3}\s+){3}"
    r"(?:(?:Pre-fail|Old_age)\s+(?:Always|Offline)\s+)?\S+\s+(?P<raw>[0-9]{1,15})(?P<more>h\+.*| \(.*\))?"
)
"""A row of ``-A``, and as ``-x`` and ``-f brief`` write it: flags as letters, no type."""

_MINUTES = re.compile(r"h\+(?P<minutes>[0-9]{2})m(?:\+(?P<seconds>[0-9]{2}(?:\.[0-9]+)?)s)?")
"""Behind the hours of attribute 9 where the disk counts minutes or milliseconds."""

_IN_HOURS = frozenset(("Power_On_Hours", "Power_On_Hours_and_Msec", "Power-On_Hours"))
_ANOTHER = re.compile(r"\s*[0-9]{1,3} \S+\s+(?:0x|[POSRCK-]{6} )|\s+\|")

_TEXT = {
    "Device Model": "disk.model", "Model Number": "disk.model", "Firmware Version": "disk.firmware",
    "Revision": "disk.firmware",
}  # fmt: skip
_HEALTH = {
    "SMART overall-health self-assessment test result": {"PASSED": "passed", "FAILED!": "failed"},
    "SMART Health Status": {"OK": "passed"},  # anything else says what is about to fail
}
_ATTRIBUTES = {
    "5": (re.compile(r"Reallocat\w*_Sector\w*"), "disk.reallocated_sectors"),
    "197": (re.compile(r"\w*Pending_Sector\w*"), "disk.pending_sectors"),
    "198": (re.compile(r"\w*(?:Uncorrect|UNC_Sect)\w*"), "disk.uncorrectable_sectors"),
    "199": (re.compile(r"\w*CRC\w*"), "disk.crc_errors"),
}
"""Number and name together: some disks count other things under these numbers, such as all sectors ever read."""


def attribute(number: str, name: str) -> str | None:
    """The fact that an ATA attribute is, or None."""
    names, fact = _ATTRIBUTES.get(number, (None, ""))
    return fact if names is not None and names.fullmatch(name) else None


def facts(text: str) -> Iterator[Fact]:
    """The facts of every disk that is named, or has a serial number; none where the text is not of ``smartctl``."""
    disk, part = "", list[str]()
    for line in whole_lines(text):
        if named := _NAMED.fullmatch(line):
            yield from _disk(part, disk)
            disk, part = named["disk"], []
        elif _HEAD.fullmatch(line) and part:
            yield from _disk(part, disk)
            disk, part = "", [line]
        elif part or _HEAD.fullmatch(line):
            part.append(line)
    yield from _disk(part, disk)


def _disk(lines: Sequence[str], disk: str) -> Iterator[Fact]:
    told: dict[str, str] = {}
    for key, value in fields(lines):
        told.setdefault(key, value)
    serial = told.get("Serial Number") or told.get("Serial number")
    if not (disk or serial) or any(_REFUSED.match(line) for line in lines):
        return
    marks = on("disk", disk) if disk else labels(serial=one_line(serial or "", 60))
    yield from said("disk.serial", serial, marks)
    yield from _information(told, marks)
    yield from _state(told, marks)
    yield from _attributes(lines, marks)


def _information(told: Mapping[str, str], marks: Labels) -> Iterator[Fact]:
    models = [key for key in ("Device Model", "Model Number") if key in told]
    for key, value in told.items():
        if key in _TEXT:
            yield from said(_TEXT[key], value, marks)
    if not models and {"Vendor", "Product"} <= told.keys():
        yield from said("disk.model", f"{told['Vendor']} {told['Product']}", marks)
    for key in ("User Capacity", "Namespace 1 Size/Capacity", "Total NVM Capacity"):
        size = _BYTES.fullmatch(told.get(key, ""))
        if size and int(_digits(size["number"])):
            yield from measured("disk.size", f"{_digits(size['number'])} B", Unit.BYTE, marks)
            break
    if turns := _TURNS.fullmatch(told.get("Rotation Rate", "")):
        yield from worded("disk.rotation", turns["number"], "RPM", marks)


def _state(told: Mapping[str, str], marks: Labels) -> Iterator[Fact]:
    for key, words in _HEALTH.items():
        otherwise = "failed" if key == "SMART Health Status" and key in told else None
        yield from said("disk.health", words.get(told.get(key, ""), otherwise), marks)
    for key in ("Current Drive Temperature", "Temperature"):
        degrees = _DEGREES.fullmatch(told.get(key, ""))
        # a disk without a sensor says 0
        if degrees and int(degrees["number"]):
            yield from worded("disk.temperature", degrees["number"], "degrees C", marks)
            break
    if used := _PERCENT.fullmatch(told.get("Percentage Used", "")):
        yield Fact("disk.wear", int(used["number"]) / 100, Unit.ONE, marks)
    yield from counted("disk.grown_defects", told.get("Elements in grown defect list"), marks)
    if errors := _COUNT.fullmatch(told.get("Media and Data Integrity Errors", "")):
        yield from counted("disk.media_errors", _digits(errors["number"]), marks)
    units = _BYTES.fullmatch(told.get("Data Units Written", ""))
    if units and (written := int(_digits(units["number"]))) < ABSURD / NVME_UNIT:
        yield Fact("disk.written", float(written * NVME_UNIT), Unit.BYTE, marks)
    hours = _COUNT.fullmatch(told.get("Power On Hours", ""))
    # a bare number: the line behind it says that it was whole
    if hours and "Unsafe Shutdowns" in told and int(_digits(hours["number"])) < ABSURD / 3600:
        yield Fact("disk.power_on_time", int(_digits(hours["number"])) * 3600.0, Unit.SECOND, marks)
    powered = _HOURS.fullmatch(told.get("Accumulated power on time, hours", "").removeprefix("minutes "))
    if powered:
        seconds = int(powered["hours"]) * 3600 + int(powered["minutes"]) * 60
        yield Fact("disk.power_on_time", float(seconds), Unit.SECOND, marks)


def _attributes(lines: Sequence[str], marks: Labels) -> Iterator[Fact]:
    """The rows of the ATA table; a row with a foreign line behind it may have been cut in its last number."""
    seen = set[str]()
    for line, follows in itertools.pairwise(lines):
        row = _ATTRIBUTE.fullmatch(line)
        if row and row["id"] not in seen and (not follows.strip() or _ANOTHER.match(follows)):
            seen.add(row["id"])
            if told_of := attribute(row["id"], row["name"]):
                yield from counted(told_of, row["raw"], marks)
            elif row["id"] == "9":
                yield from _powered(row, marks)


def _powered(row: re.Match[str], marks: Labels) -> Iterator[Fact]:
    """Attribute 9: hours, or hours, minutes and seconds; a bare number under another name has another unit."""
    seconds = int(row["raw"]) * 3600.0
    if behind := _MINUTES.fullmatch(row["more"] or ""):
        yield Fact("disk.power_on_time", seconds + _clock(behind), Unit.SECOND, marks)
    elif row["name"] in _IN_HOURS and not (row["more"] or "").startswith("h"):
        yield Fact("disk.power_on_time", seconds, Unit.SECOND, marks)


def _clock(behind: re.Match[str]) -> float:
    return int(behind["minutes"]) * 60 + float(behind["seconds"] or 0)


def _digits(grouped: str) -> str:
    return re.sub(r"[^0-9]", "", grouped)
