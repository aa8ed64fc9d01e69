"""``smartctl -j`` (7.0 and later), and the text of ``smartctl -i -H -A`` (5 to 7) of ATA, SAS and NVMe disks, as facts.

The text does not say which disk it is about: a line ``smartctl of /dev/sda`` before it does, as our own script writes
it; else the disk is told by its serial number, and nothing is told of one without.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.lines import read_lines
from benchconsole.probes.readers.numbers import ABSURD, parse_count, read_number
from benchconsole.probes.tools.inventory import facts

ANSWERED = frozenset(range(0, 256, 4))
"""The exit status is a mask: with 1 and 2 the disk was not opened or asked, with 4 one of the commands failed; 8 and
more say something of the disk's health while everything was printed.
"""

_BEHIND = re.compile(r"\[(?P<disk>(?:megaraid|cciss|areca|3ware)[^\]]*)\]")

_HEAD = re.compile(r"smartctl (?:version )?[0-9]+\.[0-9]+ .*")
_NAMED = re.compile(r"smartctl of /dev/(?P<disk>\S+)")
_REFUSED = re.compile(r"Smartctl open device: .*failed|.*Unable to detect device type|.*failed: No such device.*")

_NVME_UNIT = 512_000
"""Bytes that NVMe counts as one data unit (NVM Express 1.4, figure 194)."""

_GROUPED = r"(?P<number>[0-9]{1,3}(?:(?P<mark>[,.'\u2019 \u00a0\u202f])[0-9]{3})(?:(?P=mark)[0-9]{3})*|[0-9]+)"
_BYTES = re.compile(_GROUPED + r"(?: bytes(?: \[[^\]]+\])?| \[[^\]]+\])")
_COUNT = re.compile(_GROUPED)
_PERCENT = re.compile(r"(?P<number>[0-9]{1,3})%")
_DEGREES = re.compile(r"(?P<number>-?[0-9]{1,3}) (?:C|Celsius)(?: .*)?")
_TURNS = re.compile(r"(?P<number>[0-9]{3,6}) rpm")
_HOURS = re.compile(r"(?:minutes )?(?P<hours>[0-9]{1,7}):(?P<minutes>[0-9]{2})")
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


def find_facts(text: str) -> Iterator[Fact]:
    """``disk.model``, ``.serial``, ``.firmware``, ``.size`` (bytes), ``.health``, ``.power_on_time`` (s),
    ``.rotation``, ``.temperature`` (text), ``.protocol``, counts of bad sectors, ``.wear`` (share of the rated
    life that is used) and ``.written`` (bytes); with the label ``disk``, in text without a name ``serial``.
    """
    for document in find_documents(text, first=r"json_format_version|device|ata_\w+"):
        status = read_number(_read_path(document, "smartctl", "exit_status"))
        name = _read_path(document, "device", "name")
        was_read = "json_format_version" in document and status is not None and int(status) in ANSWERED
        if was_read and isinstance(name, str):
            # behind a RAID controller all disks have one name: then it is bus/0 megaraid_disk_03
            behind = _BEHIND.search(str(_read_path(document, "device", "info_name")))
            disk = name.removeprefix("/dev/") + (f" {behind['disk']}" if behind else "")
            yield from _read_document(document, facts.label_part("disk", disk))
    yield from _find_in_text(text)


def _read_path(document: Document, *keys: str) -> object:
    """The value at ``keys``, each inside the one before; None where there is none."""
    value: object = document
    for key in keys:
        value = read_mapping(value).get(key)
    return value


def _read_document(disk: Document, marks: Labels) -> Iterator[Fact]:
    vendor, product = disk.get("scsi_vendor"), disk.get("scsi_product")
    both = f"{vendor} {product}" if isinstance(vendor, str) and isinstance(product, str) else None
    yield from facts.make_text("disk.model", disk.get("model_name") or disk.get("scsi_model_name") or both, marks)
    yield from facts.make_text("disk.serial", disk.get("serial_number"), marks)
    yield from facts.make_text("disk.firmware", disk.get("firmware_version") or disk.get("scsi_revision"), marks)
    yield from facts.make_text("disk.protocol", _find_protocol(disk), marks)
    capacity = _read_path(disk, "user_capacity", "bytes") or disk.get("nvme_total_capacity")
    yield from facts.make_size("disk.size", read_number(capacity) or 0, marks)
    if (turns := read_number(disk.get("rotation_rate"))) is not None and turns > 0:
        yield from facts.make_measure("disk.rotation", f"{turns:.0f}", "RPM", marks)
    passed = _read_path(disk, "smart_status", "passed")
    if isinstance(passed, bool):
        yield from facts.make_text("disk.health", "passed" if passed else "failed", marks)
    if degrees := read_number(_read_path(disk, "temperature", "current")):  # a disk without a sensor says 0
        yield Fact("disk.temperature", float(degrees), Unit.DEGREE_CELSIUS, marks)
    hours = read_number(_read_path(disk, "power_on_time", "hours"))
    if hours is not None and hours >= 0:
        minutes = parse_count(str(_read_path(disk, "power_on_time", "minutes")), 59) or 0
        yield Fact("disk.power_on_time", hours * 3600.0 + minutes * 60.0, Unit.SECOND, marks)
    yield from _read_wear_values(disk, marks)


def _find_protocol(disk: Document) -> object:
    protocol = _read_path(disk, "device", "protocol")
    if protocol == "ATA":
        return "SATA" if "sata_version" in disk else "ATA"
    if protocol == "SCSI":
        return "SAS" if str(_read_path(disk, "scsi_transport_protocol", "name")).startswith("SAS") else "SCSI"
    return protocol


def _read_wear_values(disk: Document, marks: Labels) -> Iterator[Fact]:
    for row in map(read_mapping, read_array(_read_path(disk, "ata_smart_attributes", "table"))):
        if name := _find_attribute(str(row.get("id")), str(row.get("name"))):
            # of a raw value 8 (0 12) the 8 counts, while "value" has all three in one
            printed = _read_path(row, "raw", "string")
            raw = printed.partition(" (")[0] if isinstance(printed, str) else _read_path(row, "raw", "value")
            yield from facts.make_count(name, raw, marks)
    yield from facts.make_count("disk.grown_defects", disk.get("scsi_grown_defect_list"), marks)
    nvme = read_mapping(disk.get("nvme_smart_health_information_log"))
    used = read_number(nvme.get("percentage_used"))
    if used is not None and 0 <= used <= 255:
        yield Fact("disk.wear", used / 100, Unit.ONE, marks)
    yield from facts.make_count("disk.media_errors", nvme.get("media_errors"), marks)
    if (units := read_number(nvme.get("data_units_written"))) is not None and units >= 0:
        yield Fact("disk.written", units * _NVME_UNIT, Unit.BYTE, marks)


def _find_attribute(number: str, name: str) -> str | None:
    names, fact = _ATTRIBUTES.get(number, (None, ""))
    return fact if names is not None and names.fullmatch(name) else None


def _find_in_text(text: str) -> Iterator[Fact]:
    """The facts of every disk that is named, or has a serial number; none where the text is not of ``smartctl``."""
    disk, part = "", list[str]()
    for line in read_lines(text):
        if named := _NAMED.fullmatch(line):
            yield from _read_disk(part, disk)
            disk, part = named["disk"], []
        elif _HEAD.fullmatch(line) and part:
            yield from _read_disk(part, disk)
            disk, part = "", [line]
        elif part or _HEAD.fullmatch(line):
            part.append(line)
    yield from _read_disk(part, disk)


def _read_disk(lines: Sequence[str], disk: str) -> Iterator[Fact]:
    fields = facts.read_first_fields(lines)
    serial = fields.get("Serial Number") or fields.get("Serial number")
    if not (disk or serial) or any(_REFUSED.match(line) for line in lines):
        return
    marks = facts.label_part("disk", disk) if disk else facts.label_part("serial", serial)
    yield from facts.make_text("disk.serial", serial, marks)
    yield from facts.make_texts(_TEXT, fields, marks)
    if {"Vendor", "Product"} <= fields.keys():
        yield from facts.make_text("disk.model", f"{fields['Vendor']} {fields['Product']}", marks)
    for key in ("User Capacity", "Namespace 1 Size/Capacity", "Total NVM Capacity"):
        yield from facts.make_size("disk.size", _parse_number(_BYTES, fields, key) or 0, marks)
    if turns := _parse_number(_TURNS, fields, "Rotation Rate"):
        yield from facts.make_measure("disk.rotation", str(turns), "RPM", marks)
    for key, words in _HEALTH.items():
        otherwise = "failed" if key == "SMART Health Status" and key in fields else None
        yield from facts.make_text("disk.health", words.get(fields.get(key, ""), otherwise), marks)
    for key in ("Current Drive Temperature", "Temperature"):
        if degrees := _parse_number(_DEGREES, fields, key):  # a disk without a sensor says 0
            yield Fact("disk.temperature", float(degrees), Unit.DEGREE_CELSIUS, marks)
    yield from _read_wear(fields, marks)
    yield from _read_attributes(lines, marks)


def _parse_number(form: re.Pattern[str], fields: Mapping[str, str], key: str) -> int | None:
    """The number of a field without what groups its digits; None where the field has another form."""
    match = form.fullmatch(fields.get(key, ""))
    return int(re.sub(r"[^0-9-]", "", match["number"])) if match else None


def _read_wear(fields: Mapping[str, str], marks: Labels) -> Iterator[Fact]:
    if (used := _parse_number(_PERCENT, fields, "Percentage Used")) is not None:
        yield Fact("disk.wear", used / 100, Unit.ONE, marks)
    yield from facts.make_count("disk.grown_defects", fields.get("Elements in grown defect list"), marks)
    errors = _parse_number(_COUNT, fields, "Media and Data Integrity Errors")
    yield from facts.make_count("disk.media_errors", errors, marks)
    written = _parse_number(_BYTES, fields, "Data Units Written")
    if written is not None and written < ABSURD / _NVME_UNIT:
        yield Fact("disk.written", float(written * _NVME_UNIT), Unit.BYTE, marks)
    hours = _parse_number(_COUNT, fields, "Power On Hours")
    # a bare number: the line behind it says that it was whole
    if hours is not None and "Unsafe Shutdowns" in fields and hours < ABSURD / 3600:
        yield Fact("disk.power_on_time", hours * 3600.0, Unit.SECOND, marks)
    if powered := _HOURS.fullmatch(fields.get("Accumulated power on time, hours", "")):
        seconds = int(powered["hours"]) * 3600.0 + int(powered["minutes"]) * 60.0
        yield Fact("disk.power_on_time", seconds, Unit.SECOND, marks)


def _read_attributes(lines: Sequence[str], marks: Labels) -> Iterator[Fact]:
    """The rows of the ATA table; a row with a foreign line behind it may have been cut in its last number."""
    seen = set[str]()
    for line, follows in itertools.pairwise(lines):
        row = _ATTRIBUTE.fullmatch(line)
        if row and row["id"] not in seen and (not follows.strip() or _ANOTHER.match(follows)):
            seen.add(row["id"])
            if name := _find_attribute(row["id"], row["name"]):
                yield from facts.make_count(name, row["raw"], marks)
            elif row["id"] == "9":
                yield from _read_hours(row, marks)


def _read_hours(row: re.Match[str], marks: Labels) -> Iterator[Fact]:
    """Attribute 9: hours, or hours, minutes and seconds; a bare number under another name has another unit."""
    seconds, more = int(row["raw"]) * 3600.0, row["more"] or ""
    if clock := _MINUTES.fullmatch(more):
        seconds += int(clock["minutes"]) * 60 + float(clock["seconds"] or 0)
    elif row["name"] not in _IN_HOURS or more.startswith("h"):
        return
    yield Fact("disk.power_on_time", seconds, Unit.SECOND, marks)
