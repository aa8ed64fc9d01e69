"""``lshw -json``: one object, a list, objects one after the other; and the text of the version that writes no commas.

Sizes are bytes and network speeds bit/s, as the entry's ``units`` say; a size without is not taken.
"""

import json
import re
from collections.abc import Iterator, Sequence

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.documents import Document, find_documents, read_array, read_mapping
from benchconsole.probes.readers.numbers import parse_count
from benchconsole.probes.tools.inventory import facts

_OF_SYSTEM = {"vendor": "system.vendor", "product": "system.product", "serial": "system.serial"}
_OF_FIRMWARE = {"vendor": "bios.vendor", "version": "bios.version", "date": "bios.date"}
_OF_DISK = {"product": "disk.model", "vendor": "disk.vendor", "serial": "disk.serial"}
_OF_NIC = {"product": "nic.model", "vendor": "nic.vendor", "serial": "nic.mac"}
_OF_DRIVER = {"driver": "nic.driver", "firmware": "nic.firmware", "duplex": "nic.duplex"}

_LONGEST = 8 * 2**20
_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<word>true|false|null|-?[0-9][0-9.eE+-]*)|(?P<mark>[{}\[\]:,]))'
)
_SPEED = re.compile(r"(?P<number>[0-9]+(?:\.[0-9]+)?)(?P<letter>[MG])bit/s")
_BEGIN = re.compile(r"^[^\"\n{\[]*(?P<open>[{\[])", re.MULTILINE)


def find_facts(text: str) -> Iterator[Fact]:
    """``system.*``, ``bios.*``, ``cpu.model`` with ``socket``, ``memory.installed``, ``memory.dimm_size``
    with ``slot``, ``disk.*`` with ``disk`` and ``nic.*`` with ``nic``.
    """
    values = _parse_mended(text)
    tops = [top for value in values for top in read_array(value) or [value]]
    # where the text was cut, the objects inside that are whole
    for entry in facts.walk_tree(tops or list(find_documents(text, first="id"))):
        yield from _read_entry(entry)
    is_tree = len(values) == 1 and (bool(read_array(values[0])) or read_mapping(values[0]).get("class") == "system")
    yield from _read_installed(list(facts.walk_tree(tops)), is_tree=is_tree)


def _parse_mended(text: str) -> list[object]:
    """The values in ``text`` from its first brace, with a comma wherever one follows another without; else none.

    The end has to be there: every brace that was opened is closed, else the text was cut.
    """
    begin = _BEGIN.search(text) if len(text) <= _LONGEST else None
    parts: list[str] = []
    place, depth, ended = begin.start("open") if begin else len(text), 0, False
    while token := _TOKEN.match(text, place):
        mark = token["mark"] or ""
        parts += [","] if ended and mark not in ("}", "]", ":", ",") else []
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(mark, 0)
        ended = mark not in ("{", "[", ":", ",")
        parts.append(token.group().strip())
        place = token.end()
    while parts[-1:] == [","]:
        parts.pop()
    try:
        values: list[object] = json.loads(f"[{''.join(parts)}]") if depth == 0 else []
    except (ValueError, RecursionError):
        return []
    return values


def _read_entry(entry: Document) -> Iterator[Fact]:
    kind, name = entry.get("class"), str(entry.get("id", ""))
    if kind == "system" and isinstance(entry.get("children"), list):
        yield from facts.make_texts(_OF_SYSTEM, entry)
    elif kind == "memory" and name == "firmware":
        yield from facts.make_texts(_OF_FIRMWARE, entry)
    elif kind == "memory" and name.startswith("bank") and entry.get("slot") and not _is_lasting(entry):
        yield from facts.make_size("memory.dimm_size", _read_bytes(entry), facts.label_part("slot", entry["slot"]))
    elif kind == "processor":
        socket = entry.get("slot") or entry.get("businfo", name)
        yield from facts.make_text("cpu.model", entry.get("product"), facts.label_part("socket", socket))
    elif kind in ("disk", "storage", "volume") and name.startswith(("disk", "namespace")):
        where = next((name for name in _read_names(entry) if name.startswith("/dev/")), "")
        if where:
            marks = facts.label_part("disk", where.removeprefix("/dev/"))
            yield from facts.make_size("disk.size", _read_bytes(entry), marks)
            yield from facts.make_texts(_OF_DISK, entry, marks)
    elif kind == "network" and (names := _read_names(entry)):
        marks, settings = facts.label_part("nic", names[0]), read_mapping(entry.get("configuration"))
        yield from facts.make_texts(_OF_NIC, entry, marks)
        yield from facts.make_texts(_OF_DRIVER, settings, marks)
        # without a link a speed is the one that the port is set to, and nothing runs at it
        if settings.get("link") != "no" and (speed := _SPEED.fullmatch(str(settings.get("speed")))):
            rate = f"{speed['number']} {speed['letter']}b/s"
            yield from facts.make_quantity("nic.speed", rate, Unit.BYTE_RATE, marks)


def _read_names(entry: Document) -> list[str]:
    """The names that the system has for a device: one, or a list with the usual one first."""
    value = entry.get("logicalname")
    return [name for name in read_array(value) or [value] if isinstance(name, str)]


def _is_lasting(entry: Document) -> bool:
    """Whether a module keeps its content without power: firmware's chips, persistent memory."""
    return re.search(r"non-volatile|flash", str(entry.get("description")), re.IGNORECASE) is not None


def _read_installed(entries: Sequence[Document], *, is_tree: bool) -> Iterator[Fact]:
    """Main memory, which boards with several processors have as several entries; of whole trees and lists only.

    Of loose objects one after the other the last may be cut away: then only an entry without number counts.
    """
    arrays = [entry for entry in entries if str(entry.get("description")).lower() == "system memory"]
    modules = [list(map(read_mapping, read_array(array.get("children")))) for array in arrays]
    # an entry that has no size of its own has that of its modules together
    sizes = [
        sum(_read_bytes(part) for part in ([array] if "size" in array else inside))
        for array, inside in zip(arrays, modules, strict=True)
    ]
    known = all(sizes) and not any(_is_lasting(module) for inside in modules for module in inside)
    if known and (is_tree or [array.get("id") for array in arrays] == ["memory"]):
        yield from facts.make_size("memory.installed", sum(sizes))


def _read_bytes(entry: Document) -> int:
    """The size of the entry in bytes; 0 when it is not known."""
    return parse_count(str(entry.get("size")), 10**15) or 0 if entry.get("units") == "bytes" else 0
