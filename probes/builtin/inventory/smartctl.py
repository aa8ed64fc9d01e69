"""Reads ``smartctl -j`` (7.0 and later) as facts about disks; its text form is read by ``smartctl_text``.

The exit status is a mask: 1 and 2 mean that the disk was not read, 4 that one of the commands
failed, 8 and more say something of the disk's health while everything was printed.
"""

import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Labels, Unit
from probes.builtin.captured import Document, documents, mapping, real, sequence, whole
from probes.builtin.inventory import smartctl_text
from probes.builtin.inventory.facts import counted, measured, on, said, some, worded

NOT_READ = 0b11
"""Bits of the exit status that say that the disk could not be opened or asked."""

_BEHIND = re.compile(r"\[(?P<disk>(?:megaraid|cciss|areca|3ware)[^\]]*)\]")


def parse(text: str) -> Sequence[Fact]:
    """``disk.model``, ``.serial``, ``.firmware``, ``.size`` (bytes), ``.health``, ``.power_on_time`` (s),

    ``.rotation``, ``.temperature`` (text), ``.protocol``, counts of bad sectors, ``.wear`` (share of the rated
    life that is used) and ``.written`` (bytes); with the label ``disk``, in text without a name ``serial``.
    """
    found: list[Fact] = []
    for document in documents(text, first=r"json_format_version|device|ata_\w+"):
        status = real(mapping(document.get("smartctl")).get("exit_status"))
        device = mapping(document.get("device"))
        read = "json_format_version" in document and status is not None and not int(status) & NOT_READ
        if read and isinstance(device.get("name"), str):
            found += _facts(document, on("disk", _name(device)))
    return some([*found, *smartctl_text.facts(text)], "the JSON of smartctl -j, or the text of smartctl -i -H -A")


def _name(device: Document) -> str:
    """``sda``; behind a RAID controller ``bus/0 megaraid_disk_03``, for all of its disks have one name."""
    name = str(device["name"]).removeprefix("/dev/")
    behind = _BEHIND.search(str(device.get("info_name", "")))
    return f"{name} {behind['disk']}" if behind else name


def _facts(told: Document, marks: Labels) -> Iterator[Fact]:
    vendor, product = told.get("scsi_vendor"), told.get("scsi_product")
    both = f"{vendor} {product}" if isinstance(vendor, str) and isinstance(product, str) else None
    yield from said("disk.model", told.get("model_name") or told.get("scsi_model_name") or both, marks)
    yield from said("disk.serial", told.get("serial_number"), marks)
    yield from said("disk.firmware", told.get("firmware_version") or told.get("scsi_revision"), marks)
    yield from said("disk.protocol", _interface(told), marks)
    capacity = mapping(told.get("user_capacity")).get("bytes") or told.get("nvme_total_capacity")
    if (size := real(capacity)) is not None and size > 0:
        yield from measured("disk.size", f"{size:.0f} B", Unit.BYTE, marks)
    if (turns := real(told.get("rotation_rate"))) is not None and turns > 0:
        yield from worded("disk.rotation", f"{turns:.0f}", "RPM", marks)
    passed = mapping(told.get("smart_status")).get("passed")
    if isinstance(passed, bool):
        yield from said("disk.health", "passed" if passed else "failed", marks)
    if degrees := real(mapping(told.get("temperature")).get("current")):  # a disk without a sensor says 0
        yield from worded("disk.temperature", f"{degrees:.0f}", "degrees C", marks)
    powered = mapping(told.get("power_on_time"))
    if (hours := real(powered.get("hours"))) is not None and hours >= 0:
        minutes = whole(str(powered.get("minutes", 0)), 59) or 0
        yield Fact("disk.power_on_time", hours * 3600.0 + minutes * 60.0, Unit.SECOND, marks)
    yield from _wear(told, marks)


def _interface(told: Document) -> str | None:
    protocol = mapping(told.get("device")).get("protocol")
    if protocol == "ATA":
        return "SATA" if "sata_version" in told else "ATA"
    transport = mapping(told.get("scsi_transport_protocol")).get("name")
    if protocol == "SCSI":
        return "SAS" if isinstance(transport, str) and transport.startswith("SAS") else "SCSI"
    return protocol if isinstance(protocol, str) else None


def _raw(raw: Document) -> object:
    """The number that ``smartctl`` prints first: of ``8 (0 12)`` the 8, while ``value`` has all three in one."""
    printed = raw.get("string")
    return printed.partition(" (")[0] if isinstance(printed, str) else raw.get("value")


def _wear(told: Document, marks: Labels) -> Iterator[Fact]:
    for row in map(mapping, sequence(mapping(told.get("ata_smart_attributes")).get("table"))):
        if told_of := smartctl_text.attribute(str(row.get("id")), str(row.get("name"))):
            yield from counted(told_of, _raw(mapping(row.get("raw"))), marks)
    yield from counted("disk.grown_defects", told.get("scsi_grown_defect_list"), marks)
    nvme = mapping(told.get("nvme_smart_health_information_log"))
    used = real(nvme.get("percentage_used"))
    if used is not None and 0 <= used <= 255:
        yield Fact("disk.wear", used / 100, Unit.ONE, marks)
    yield from counted("disk.media_errors", nvme.get("media_errors"), marks)
    if (units := real(nvme.get("data_units_written"))) is not None and units >= 0:
        yield Fact("disk.written", units * smartctl_text.NVME_UNIT, Unit.BYTE, marks)
