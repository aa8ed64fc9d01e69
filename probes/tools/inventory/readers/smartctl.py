"""``smartctl -j`` (7.0 and later) as facts about disks; its text form is read by ``smartctl_text``.

The exit status is a mask: 1 and 2 mean that the disk was not read, 4 that one of the commands
failed, 8 and more say something of the disk's health while everything was printed.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.numbers import parse_count, read_number
from benchconsole.probes.tools.inventory import facts
from benchconsole.probes.tools.inventory.readers import smartctl_text

EXPECTED = "the JSON of smartctl -j, or the text of smartctl -i -H -A"

NOT_READ = 0b11
"""Bits of the exit status that say that the disk could not be opened or asked."""

_BEHIND = re.compile(r"\[(?P<disk>(?:megaraid|cciss|areca|3ware)[^\]]*)\]")


def find_facts(text: str) -> Iterator[Fact]:
    """``disk.model``, ``.serial``, ``.firmware``, ``.size`` (bytes), ``.health``, ``.power_on_time`` (s),

    ``.rotation``, ``.temperature`` (text), ``.protocol``, counts of bad sectors, ``.wear`` (share of the rated
    life that is used) and ``.written`` (bytes); with the label ``disk``, in text without a name ``serial``.
    """
    for document in find_documents(text, first=r"json_format_version|device|ata_\w+"):
        status = read_number(_read_path(document, "smartctl", "exit_status"))
        name = _read_path(document, "device", "name")
        was_read = "json_format_version" in document and status is not None and not int(status) & NOT_READ
        if was_read and isinstance(name, str):
            # behind a RAID controller all disks have one name: then it is bus/0 megaraid_disk_03
            behind = _BEHIND.search(str(_read_path(document, "device", "info_name")))
            disk = name.removeprefix("/dev/") + (f" {behind['disk']}" if behind else "")
            yield from _read_disk(document, facts.label_part("disk", disk))
    yield from smartctl_text.find_facts(text)


def _read_path(document: Document, *keys: str) -> object:
    """The value at ``keys``, each inside the one before; None where there is none."""
    value: object = document
    for key in keys:
        value = read_mapping(value).get(key)
    return value


def _read_disk(disk: Document, marks: Labels) -> Iterator[Fact]:
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
        yield from facts.make_measure("disk.temperature", f"{degrees:.0f}", "degrees C", marks)
    hours = read_number(_read_path(disk, "power_on_time", "hours"))
    if hours is not None and hours >= 0:
        minutes = parse_count(str(_read_path(disk, "power_on_time", "minutes")), 59) or 0
        yield Fact("disk.power_on_time", hours * 3600.0 + minutes * 60.0, Unit.SECOND, marks)
    yield from _read_wear(disk, marks)


def _find_protocol(disk: Document) -> object:
    protocol = _read_path(disk, "device", "protocol")
    if protocol == "ATA":
        return "SATA" if "sata_version" in disk else "ATA"
    if protocol == "SCSI":
        return "SAS" if str(_read_path(disk, "scsi_transport_protocol", "name")).startswith("SAS") else "SCSI"
    return protocol


def _read_wear(disk: Document, marks: Labels) -> Iterator[Fact]:
    for row in map(read_mapping, read_array(_read_path(disk, "ata_smart_attributes", "table"))):
        if name := smartctl_text.find_attribute(str(row.get("id")), str(row.get("name"))):
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
        yield Fact("disk.written", units * smartctl_text.NVME_UNIT, Unit.BYTE, marks)
