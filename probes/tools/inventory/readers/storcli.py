"""``storcli /call show J`` (also ``show all``, ``perccli``) as facts about RAID.

Sizes are rounded and binary: ``3.637 TB`` is 3.637 x 2^40 bytes, as ``TiB`` in later versions.
"""

import re
from collections.abc import Iterator

from benchconsole.probes.api import Fact, Labels, labels
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.tools.inventory.facts import label_part, make_size, make_text, make_texts, scale_binary

EXPECTED = "the JSON of storcli /call show J with Status Success"

_SIZE = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]+)?) ?(?P<letter>[KMGTP])i?B", re.IGNORECASE)
_VOLUME = {"TYPE": "raid.layout", "State": "raid.state", "Access": "raid.access", "Cache": "raid.cache_policy"}
_DISK = {
    "State": "raid.disk_state", "Intf": "raid.disk_interface", "Med": "raid.disk_media", "Model": "raid.disk_model",
}  # fmt: skip


def find_facts(text: str) -> Iterator[Fact]:
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
    yield from make_text("raid.model", controller.get("Product Name") or basics.get("Model"), marks)
    firmware = controller.get("FW Version") or version.get("Firmware Version") or version.get("FW Version")
    yield from make_text("raid.firmware", firmware, marks)
    cache = read_mapping(controller.get("HwCfg")).get("On Board Memory Size")
    yield from _make_size("raid.cache_size", cache, marks)
    for row in _list_rows(controller, "VD LIST", "VDs LIST", "Virtual Drives"):
        if isinstance(name := row.get("DG/VD") or row.get("VD"), str):
            part = label_part("raid", name, marks)
            yield from [*make_texts(_VOLUME, row, part), *_make_size("raid.size", row.get("Size"), part)]
    for row in _list_rows(controller, "PD LIST", "Drive Information", "UN-CONFIGURED PD LIST"):
        if isinstance(name := row.get("EID:Slt"), str):
            part = label_part("disk", name, marks)
            yield from [*make_texts(_DISK, row, part), *_make_size("raid.disk_size", row.get("Size"), part)]


def _list_rows(controller: Document, *names: str) -> Iterator[Document]:
    for name in names:
        yield from map(read_mapping, read_array(controller.get(name)))


def _make_size(name: str, value: object, marks: Labels) -> list[Fact]:
    size = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    return make_size(name, scale_binary(size["number"], size["letter"]), marks) if size else []
