"""``storcli``, ``perccli`` (``/call show J``) and ``omreport storage controller|pdisk|vdisk`` as facts about RAID.

Sizes are rounded and binary: ``3.637 TB`` is 3.637 x 2^40 bytes, as ``TiB`` in later versions. Where ``omreport``, as
text or as ``-fmt ssv``, prints the bytes as well, these count.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from benchconsole.probes.api import Fact, Labels, Unit, labels
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.lines import read_lines, split_fields
from benchconsole.probes.readers.readings import add_labels
from benchconsole.probes.tools.inventory import facts

_ROUNDED = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]+)?) ?(?P<letter>[KMGTP])i?B", re.IGNORECASE)
_STORCLI_VOLUME = {"TYPE": "raid.layout", "State": "raid.state", "Access": "raid.access", "Cache": "raid.cache_policy"}
_STORCLI_DISK = {
    "State": "raid.disk_state", "Intf": "raid.disk_interface", "Med": "raid.disk_media", "Model": "raid.disk_model",
}  # fmt: skip
_STORCLI_LISTS = (
    ("raid", ("DG/VD", "VD"), ("VD LIST", "VDs LIST", "Virtual Drives"), _STORCLI_VOLUME, "raid.size"),
    ("disk", ("EID:Slt",), ("PD LIST", "Drive Information", "UN-CONFIGURED PD LIST"), _STORCLI_DISK, "raid.disk_size"),
)
"""Label, keys of the name that it is given, names of the lists, texts and size of each row."""

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
_OF_ANY_VOLUME = frozenset(("Layout", "Device Name", "Read Policy", "Write Policy", "Stripe Element Size"))
"""A volume has one of these at least; some controllers tell no layout of theirs."""
_OF_CONTROLLER = {"Name": "raid.model", "Firmware Version": "raid.firmware", "Status": "raid.controller_status"}


def find_storcli(text: str) -> Iterator[Fact]:
    """``raid.model``, ``.firmware``, ``.cache_size`` (bytes) with ``controller``; ``raid.layout``, ``.state``,
    ``.size`` with ``raid``; ``raid.disk_state``, ``.disk_size``, ``.disk_model`` ... with ``disk``.
    """
    for document in find_documents(text, first="Controllers"):
        for answer in map(read_mapping, read_array(document.get("Controllers"))):
            status = read_mapping(answer.get("Command Status"))
            number = status.get("Controller")
            if status.get("Status") == "Success" and isinstance(number, int) and not isinstance(number, bool):
                yield from _read_controller(read_mapping(answer.get("Response Data")), labels(controller=number))


def _read_controller(controller: Document, marks: Labels) -> Iterator[Fact]:
    basics, version = read_mapping(controller.get("Basics")), read_mapping(controller.get("Version"))
    yield from facts.make_text("raid.model", controller.get("Product Name") or basics.get("Model"), marks)
    firmware = controller.get("FW Version") or version.get("Firmware Version") or version.get("FW Version")
    yield from facts.make_text("raid.firmware", firmware, marks)
    cache = read_mapping(controller.get("HwCfg")).get("On Board Memory Size")
    yield from _make_rounded("raid.cache_size", cache, marks)
    for label, keys, lists, texts, size in _STORCLI_LISTS:
        for row in (read_mapping(row) for name in lists for row in read_array(controller.get(name))):
            if isinstance(part := next(filter(None, map(row.get, keys)), row.get(keys[-1])), str):
                own = facts.label_part(label, part, marks)
                yield from [*facts.make_texts(texts, row, own), *_make_rounded(size, row.get("Size"), own)]


def _make_rounded(name: str, value: object, marks: Labels) -> list[Fact]:
    size = _ROUNDED.fullmatch(value.strip()) if isinstance(value, str) else None
    return facts.make_size(name, facts.scale_binary(size["number"], size["letter"]), marks) if size else []


def find_omreport(text: str) -> Iterator[Fact]:
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
        for speed in filter(_SPEED.fullmatch, (block.get("Negotiated Speed", ""), block.get("Speed", ""))):
            yield from facts.make_quantity("raid.disk_speed", speed.replace("Gbps", "Gb/s"), Unit.BYTE_RATE, marks)
    elif number.isdigit() and not _OF_ANY_VOLUME.isdisjoint(block):
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
