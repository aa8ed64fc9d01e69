"""``omreport storage controller|pdisk|vdisk``, as text and as ``-fmt ssv``, as facts about RAID.

Its GB are 2^30 bytes and its MB and KB 2^20 and 2^10; where it prints the bytes as well, these count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from benchconsole.probes.api import Fact, Labels, Unit
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.tools.inventory import facts

EXPECTED = "the blocks or the rows of omreport storage"

_SIZE = re.compile(
    r"(?P<rounded>[0-9]{1,3}(?:,[0-9]{3}){0,5}(?:\.[0-9]+)?|[0-9]{1,15}(?:\.[0-9]+)?) (?P<unit>[KMGT])B"
    r"(?: \((?P<bytes>[0-9]{1,18}) bytes\))?"
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


def find_facts(text: str) -> Iterator[Fact]:
    """``raid.model``, ``.firmware``, ``.cache_size`` (bytes); ``raid.layout``, ``.size``, ``.stripe`` with ``raid``;

    ``raid.disk_size``, ``.disk_state``, ``.disk_speed`` (byte/s) ... with ``disk``; all with ``controller``.
    """
    controller: Labels = ()
    for line, block in _find_blocks(read_lines(text)):
        if named := _CONTROLLER.fullmatch(line):
            controller = facts.label_part("controller", named["name"])
        yield from _read_block(block, controller)


def _find_blocks(lines: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
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
            for key, value in split_fields([line], " : "):
                if key == "ID":
                    block = {}
                block.setdefault(key, value)


def _read_block(block: Mapping[str, str], controller: Labels) -> Iterator[Fact]:
    number = block.get("ID", "")
    if _DISK.fullmatch(number) and "Capacity" in block:
        marks = add_labels(controller, disk=number)
        yield from facts.make_texts(_OF_DISK, block, marks)
        yield from _make_size("raid.disk_size", block["Capacity"], marks)
        for key in ("Negotiated Speed", "Speed"):
            if _SPEED.fullmatch(block.get(key, "")):
                yield from facts.make_quantity(
                    "raid.disk_speed", block[key].replace("Gbps", "Gb/s"), Unit.BYTE_RATE, marks
                )
    elif number.isdigit() and "Layout" in block:
        marks = add_labels(controller, raid=number)
        yield from facts.make_texts(_OF_VOLUME, block, marks)
        yield from _make_size("raid.size", block.get("Size", ""), marks)
        yield from _make_size("raid.stripe", block.get("Stripe Element Size", ""), marks)
    elif number.isdigit() and "Firmware Version" in block and "Name" in block:
        marks = facts.label_part("controller", block["Name"])
        yield from facts.make_texts(_OF_CONTROLLER, block, marks)
        yield from _make_size("raid.cache_size", block.get("Cache Memory Size", ""), marks)


def _make_size(name: str, text: str, marks: Labels) -> list[Fact]:
    """A size; the exact bytes where they agree with the rounded size before them."""
    size = _SIZE.fullmatch(text)
    if size is None:
        return []
    rounded = facts.scale_binary(size["rounded"].replace(",", ""), size["unit"])
    exact = float(size["bytes"]) if size["bytes"] else rounded
    return facts.make_size(name, round(exact), marks) if abs(exact - rounded) <= 0.01 * rounded else []
