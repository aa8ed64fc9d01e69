"""Reads ``storcli /call show J`` (also ``show all``, ``perccli``) as facts about RAID controllers, volumes and disks.

Sizes are rounded and binary: ``3.637 TB`` is 3.637 x 2^40 bytes, as ``TiB`` in later versions.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from probes.api import Fact, Labels, Unit, labels
from probes.builtin.captured import Document, documents, mapping, one_line, sequence
from probes.builtin.inventory.facts import measured, once, said, some

_SIZE = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<letter>[KMGTP])i?B", re.IGNORECASE)
_VOLUME = {"TYPE": "raid.layout", "State": "raid.state", "Access": "raid.access", "Cache": "raid.cache_policy"}
_DISK = {
    "State": "raid.disk_state", "Intf": "raid.disk_interface", "Med": "raid.disk_media", "Model": "raid.disk_model",
}  # fmt: skip


def parse(text: str) -> Sequence[Fact]:
    """``raid.model``, ``.firmware``, ``.cache_size`` (bytes) with ``controller``; ``raid.layout``, ``.state``,

    ``.size`` with ``raid``; ``raid.disk_state``, ``.disk_size``, ``.disk_model`` ... with ``disk``.
    """
    found: list[Fact] = []
    for document in documents(text, first="Controllers"):
        for answer in map(mapping, sequence(document.get("Controllers"))):
            status = mapping(answer.get("Command Status"))
            number = status.get("Controller")
            if status.get("Status") == "Success" and isinstance(number, int) and not isinstance(number, bool):
                found += _controller(mapping(answer.get("Response Data")), labels(controller=number))
    return some(once(found), "the JSON of storcli /call show J with Status Success")


def _controller(told: Document, marks: Labels) -> Iterator[Fact]:
    basics, version = mapping(told.get("Basics")), mapping(told.get("Version"))
    yield from said("raid.model", _text(told.get("Product Name") or basics.get("Model")), marks)
    firmware = told.get("FW Version") or version.get("Firmware Version") or version.get("FW Version")
    yield from said("raid.firmware", _text(firmware), marks)
    yield from _sized("raid.cache_size", mapping(told.get("HwCfg")).get("On Board Memory Size"), marks)
    for row in _rows(told, "VD LIST", "VDs LIST", "Virtual Drives"):
        name = _text(row.get("DG/VD") or row.get("VD"))
        if name:
            yield from _part(row, _VOLUME, "raid.size", (*marks, *labels(raid=one_line(name, 60))))
    for row in _rows(told, "PD LIST", "Drive Information", "UN-CONFIGURED PD LIST"):
        name = _text(row.get("EID:Slt"))
        if name:
            yield from _part(row, _DISK, "raid.disk_size", tuple(sorted((*marks, *labels(disk=one_line(name, 60))))))


def _rows(told: Document, *names: str) -> Iterator[Document]:
    for name in names:
        yield from map(mapping, sequence(told.get(name)))


def _part(row: Document, names: Mapping[str, str], size: str, marks: Labels) -> Iterator[Fact]:
    for key, name in names.items():
        yield from said(name, _text(row.get(key)), marks)
    yield from _sized(size, row.get("Size"), marks)


def _sized(name: str, value: object, marks: Labels) -> Iterator[Fact]:
    size = _SIZE.fullmatch(_text(value))
    if size and float(size["number"]) > 0:
        yield from measured(name, f"{size['number']} {size['letter'].upper()}iB", Unit.BYTE, marks)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
