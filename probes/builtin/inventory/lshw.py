"""Reads ``lshw -json``: one object, a list, objects one after the other; and what one version writes without commas.

Sizes are bytes and network speeds bit/s, as the entry's ``units`` say; a size without is not taken.
"""

import json
import re
from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import Document, documents, mapping, sequence, whole
from probes.builtin.inventory.facts import measured, on, once, said, some

_LONGEST = 8 * 2**20
_TOKEN = re.compile(
    r'\s*(?:(?P<text>"(?:[^"\\\x00-\x1f]|\\.)*")|(?P<word>true|false|null|-?[0-9][0-9.eE+-]*)|(?P<mark>[{}\[\]:,]))'
)
_SPEED = re.compile(r"[0-9]+(?:\.[0-9]+)?[MG]bit/s")
_BEGIN = re.compile(r"^[^\"\n{\[]*(?P<open>[{\[])", re.MULTILINE)


def parse(text: str) -> Sequence[Fact]:
    """``system.*``, ``bios.*``, ``cpu.model`` with ``socket``, ``memory.installed``, ``memory.dimm_size``

    with ``slot``, ``disk.*`` with ``disk`` and ``nic.*`` with ``nic``.
    """
    entries = [entry for top in _tops(text) for entry in _walk(top)]
    found = [fact for entry in entries for fact in _facts(entry)]
    return some(once([*found, *_installed(text)]), "the JSON of lshw -json")


def _tops(text: str) -> Iterator[Document]:
    """The whole objects at the top; where the text was cut, those inside that are whole."""
    mended = _mended(text)
    for value in mended:
        yield from map(mapping, sequence(value) or [value])
    if not mended:
        yield from documents(text, first="id")


def _mended(text: str) -> list[object]:
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


def _walk(top: Document) -> Iterator[Document]:
    waiting: list[object] = [top]
    while waiting:
        entry = mapping(waiting.pop())
        yield entry
        waiting.extend(reversed(sequence(entry.get("children"))))


def _facts(entry: Document) -> Iterator[Fact]:
    kind, name = entry.get("class"), str(entry.get("id", ""))
    if kind == "system" and isinstance(entry.get("children"), list):
        yield from said("system.vendor", entry.get("vendor"))
        yield from said("system.product", entry.get("product"))
        yield from said("system.serial", entry.get("serial"))
    elif kind == "memory":
        yield from _memory(entry, name)
    elif kind == "processor" and entry.get("product"):
        yield from said(
            "cpu.model", entry.get("product"), on("socket", entry.get("slot") or entry.get("businfo", name))
        )
    elif kind in ("disk", "storage", "volume"):
        yield from _disk(entry, name)
    elif kind == "network":
        yield from _nic(entry)


def _memory(entry: Document, name: str) -> Iterator[Fact]:
    if name == "firmware":
        yield from said("bios.vendor", entry.get("vendor"))
        yield from said("bios.version", entry.get("version"))
        yield from said("bios.date", entry.get("date"))
    elif name.startswith("bank") and entry.get("slot") and not _is_lasting(entry):
        yield from _sized("memory.dimm_size", entry, "slot", str(entry["slot"]))


def _is_lasting(entry: Document) -> bool:
    """Whether a module keeps what is in it without power: firmware's chips, persistent memory."""
    return re.search(r"non-volatile|flash", str(entry.get("description")), re.IGNORECASE) is not None


def _installed(text: str) -> Iterator[Fact]:
    """Main memory, which boards with several processors have as several entries; of whole trees and lists only.

    Of loose objects one after the other the last may be cut away: then only an entry without number counts.
    """
    values = _mended(text)
    entries = [entry for value in values for top in sequence(value) or [value] for entry in _walk(mapping(top))]
    arrays = [entry for entry in entries if entry.get("description") == "System Memory"]
    tree = len(values) == 1 and (bool(sequence(values[0])) or mapping(values[0]).get("class") == "system")
    sizes = [_array_size(entry) for entry in arrays]
    modules = [mapping(module) for entry in arrays for module in sequence(entry.get("children"))]
    known = bool(sizes) and all(sizes) and not any(map(_is_lasting, modules))
    if known and (tree or [entry.get("id") for entry in arrays] == ["memory"]):
        yield from measured("memory.installed", f"{sum(sizes)} B", Unit.BYTE)


def _array_size(entry: Document) -> int:
    """Bytes of the entry, or of its modules together where it does not say; 0 when neither is known."""
    parts = [entry] if "size" in entry else list(map(mapping, sequence(entry.get("children"))))
    sizes = [whole(str(part.get("size"))) or 0 for part in parts if part.get("units") == "bytes"]
    return sum(sizes)


def _disk(entry: Document, name: str) -> Iterator[Fact]:
    where = entry.get("logicalname")
    if not name.startswith(("disk", "namespace")) or not isinstance(where, str) or not where.startswith("/dev/"):
        return
    disk = where.removeprefix("/dev/")
    yield from _sized("disk.size", entry, "disk", disk)
    yield from said("disk.model", entry.get("product"), on("disk", disk))
    yield from said("disk.vendor", entry.get("vendor"), on("disk", disk))
    yield from said("disk.serial", entry.get("serial"), on("disk", disk))


def _sized(name: str, entry: Document, kind: str, part: str) -> Iterator[Fact]:
    if entry.get("units") == "bytes" and isinstance(entry.get("size"), int) and entry["size"]:
        yield from measured(name, f"{entry['size']} B", Unit.BYTE, on(kind, part))


def _nic(entry: Document) -> Iterator[Fact]:
    if not isinstance(entry.get("logicalname"), str):
        return
    marks, settings = on("nic", entry["logicalname"]), mapping(entry.get("configuration"))
    yield from said("nic.model", entry.get("product"), marks)
    yield from said("nic.vendor", entry.get("vendor"), marks)
    yield from said("nic.mac", entry.get("serial"), marks)
    yield from said("nic.driver", settings.get("driver"), marks)
    yield from said("nic.firmware", settings.get("firmware"), marks)
    yield from said("nic.duplex", settings.get("duplex"), marks)
    # without a link a speed is what the port is set to, and nothing that runs
    if settings.get("link") != "no" and _SPEED.fullmatch(str(settings.get("speed"))):
        speed = str(settings["speed"]).replace("Mbit/s", " Mb/s").replace("Gbit/s", " Gb/s")
        yield from measured("nic.speed", speed, Unit.BYTE_RATE, marks)
