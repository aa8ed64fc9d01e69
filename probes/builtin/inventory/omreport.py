"""Reads ``omreport storage controller|pdisk|vdisk``, as text and as ``-fmt ssv``, as facts about RAID.

Its GB are 2^30 bytes and its MB and KB 2^20 and 2^10; where it prints the bytes as well, these count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from probes.api import Fact, Labels, Unit, labels
from probes.builtin.captured import fields, one_line, whole_lines
from probes.builtin.inventory.facts import measured, on, once, said, some

_SIZE = re.compile(
    r"(?P<rounded>[0-9]{1,3}(?:,[0-9]{3})*(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?) (?P<unit>[KMGT])B"
    r"(?: \((?P<bytes>[0-9]+) bytes\))?"
)
_SPEED = re.compile(r"[0-9]+(?:\.[0-9]+)? Gbps")
_DISK = re.compile(r"[0-9]+(?::[0-9]+){1,3}")
_CONTROLLER = re.compile(r"(?:List of (?:Physical|Virtual) Disks on )?Controller (?P<name>[^:]+?)\s*")

_OF_DISK = {
    "Status": "raid.disk_status", "State": "raid.disk_state", "Media": "raid.disk_media",
    "Revision": "raid.disk_firmware",
    "Bus Protocol": "raid.disk_interface", "Failure Predicted": "raid.disk_failure_predicted",
    "Product ID": "raid.disk_model", "Serial No.": "raid.disk_serial", "Hot Spare": "raid.disk_spare",
}  # fmt: skip
_OF_VOLUME = {
    "Status": "raid.status", "State": "raid.state", "Layout": "raid.layout", "Device Name": "raid.device",
    "Read Policy": "raid.read_policy", "Write Policy": "raid.write_policy", "Disk Cache Policy": "raid.disk_cache",
}  # fmt: skip
_OF_CONTROLLER = {"Name": "raid.model", "Firmware Version": "raid.firmware", "Status": "raid.controller_status"}


def parse(text: str) -> Sequence[Fact]:
    """``raid.model``, ``.firmware``, ``.cache_size`` (bytes); ``raid.layout``, ``.size``, ``.stripe`` with ``raid``;

    ``raid.disk_size``, ``.disk_state``, ``.disk_speed`` (byte/s) ... with ``disk``; all with ``controller``.
    """
    return some(once(_facts(whole_lines(text))), "the blocks or the rows of omreport storage")


def _facts(lines: Sequence[str]) -> Iterator[Fact]:
    controller: Labels = ()
    for line, block in _blocks(lines):
        named = _CONTROLLER.fullmatch(line) if line else None
        if named:
            controller = on("controller", named["name"])
        elif block:
            yield from _part(block, controller)


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Lines that stand alone, and the fields of every block that an empty line ended or a row has whole."""
    block: dict[str, str] = {}
    head: list[str] = []
    for line in lines:
        cells = [cell.strip() for cell in line.split(";")]
        if cells[0] == "ID" and len(cells) > 2:
            head = cells
        elif head and len(cells) == len(head):
            yield "", dict(zip(head, cells, strict=True))
        elif not line.strip():
            yield "", block
            block = {}
        elif _CONTROLLER.fullmatch(line):
            yield line, {}
        else:
            for key, value in fields([line], " : "):
                if key == "ID":
                    block = {}
                block.setdefault(key, value)


def _part(block: Mapping[str, str], controller: Labels) -> Iterator[Fact]:
    number = block.get("ID", "")
    if _DISK.fullmatch(number) and "Capacity" in block:
        yield from _disk(block, (*controller, *labels(disk=number)))
    elif number.isdigit() and "Layout" in block:
        yield from _volume(block, (*controller, *labels(raid=number)))
    elif number.isdigit() and "Firmware Version" in block and "Name" in block:
        marks = on("controller", one_line(block["Name"], 60))
        for key, name in _OF_CONTROLLER.items():
            yield from said(name, block.get(key), marks)
        yield from _sized("raid.cache_size", block.get("Cache Memory Size", ""), marks)


def _disk(block: Mapping[str, str], marks: Labels) -> Iterator[Fact]:
    for key, name in _OF_DISK.items():
        yield from said(name, block.get(key), marks)
    yield from _sized("raid.disk_size", block["Capacity"], marks)
    for key in ("Negotiated Speed", "Speed"):
        if _SPEED.fullmatch(block.get(key, "")):
            yield from measured("raid.disk_speed", block[key].replace("Gbps", "Gb/s"), Unit.BYTE_RATE, marks)


def _volume(block: Mapping[str, str], marks: Labels) -> Iterator[Fact]:
    for key, name in _OF_VOLUME.items():
        yield from said(name, block.get(key), marks)
    yield from _sized("raid.size", block.get("Size", ""), marks)
    yield from _sized("raid.stripe", block.get("Stripe Element Size", ""), marks)


def _sized(name: str, text: str, marks: Labels) -> Iterator[Fact]:
    """A size; the exact bytes where they agree with what is rounded before them."""
    size = _SIZE.fullmatch(text)
    if size is None:
        return
    rounded = float(size["rounded"].replace(",", "")) * 2.0 ** (10 * ("KMGT".index(size["unit"]) + 1))
    exact = float(size["bytes"]) if size["bytes"] else rounded
    if rounded > 0 and abs(exact - rounded) <= 0.01 * rounded:
        yield from measured(name, f"{exact:.0f} B", Unit.BYTE, marks)
