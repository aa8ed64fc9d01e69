"""Reads ``dmidecode`` as facts about the firmware, the machine and its memory modules.

Sizes are powers of 1024 whatever the letter: ``16384 MB``, ``16 GB`` and ``16 GiB`` are the same by version.
What needs the whole table (how many modules) is
said only when its end was seen: ask with ``-t 127`` among the types.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import counted, measured, on, once, said, some

_TEXT = {
    ("BIOS Information", "Vendor"): "bios.vendor",
    ("BIOS Information", "Version"): "bios.version",
    ("BIOS Information", "Release Date"): "bios.date",
    ("BIOS Information", "BIOS Revision"): "bios.revision",
    ("BIOS Information", "Firmware Revision"): "board.controller_firmware",
    ("System Information", "Manufacturer"): "system.vendor",
    ("System Information", "Product Name"): "system.product",
    ("System Information", "Serial Number"): "system.serial",
    ("Base Board Information", "Product Name"): "board.product",
    ("Base Board Information", "Version"): "board.version",
}

_NO_RELEASE = "0.0"
"""What firmware writes that numbers no releases."""

_SLOT = "DMI type 17,"
_SIZE = re.compile(r"(?P<number>[0-9]{1,9}) (?:(?P<letter>[kKMGT])i?B|bytes)")
_HANDLE = re.compile(r"Handle 0x[0-9A-F]+, DMI type [0-9]+, [0-9]+ bytes\.?\s*")
_INDENTED = ("\t", "  ")
_SAID = re.compile(r"(?!32767 MB)(?:[0-9]+ \S+|No.*)")
"""A size, or none. What is as large as the field of old tables takes (SMBIOS 3.7, 7.18.4) may be any larger one."""

_RATE = re.compile(r"(?P<number>[0-9]{1,6}) (?:MT/s|MHz)")
_NO_RAM = re.compile(r"(?:Flash|E?E?PROM|FEPROM|ROM|VRAM|Logical non-volatile device)", re.IGNORECASE)
"""Types of what stands among the memory devices and is no main memory: the firmware's chip, persistent memory."""

_NAMELESS = ("", "Not Specified", "Unknown")
_OF_MODULE = {"Type": "memory.dimm_type", "Manufacturer": "memory.dimm_vendor", "Part Number": "memory.dimm_part"}


def parse(text: str) -> Sequence[Fact]:
    """``bios.*``, ``system.*``, ``memory.dimm*`` with the label ``slot``; of a whole table ``memory.installed``,

    ``memory.dimms``, ``memory.slots`` (with the empty ones). ProbeOutputError when none is there.
    """
    found: list[Fact] = []
    sizes: list[int] = []
    lines = _newest(whole_lines(text))
    slots = torn = sum(_SLOT in line for line in lines if line.startswith("Handle "))
    for title, block in _blocks(lines):
        torn -= title == "Memory Device" and _SAID.fullmatch(block.get("Size", "")) is not None
        for key, value in block.items():
            found += said(_TEXT[title, key], value) if (title, key) in _TEXT and value != _NO_RELEASE else ()
        if title == "Memory Device" and _NO_RAM.fullmatch(block.get("Type", "")):
            slots -= 1
        elif title == "Memory Device" and (size := _size(block.get("Size", ""))):
            sizes.append(size)
            found += _module(block, size)
        # A line in the wrong place can hide a module: then how many there are is not known.
        if title == "End Of Table" and sizes and not torn and not _mixed(lines):
            found += [*_modules(sizes), *counted("memory.slots", slots)]
    return some(once(found), "the tables of dmidecode, which needs root")


def _newest(lines: Sequence[str]) -> Sequence[str]:
    """The lines of the last of several runs: a module must not be counted in each."""
    begins = [number for number, line in enumerate(lines) if "# dmidecode " in line]
    return lines[begins[-1] :] if begins else lines


def _mixed(lines: Sequence[str]) -> bool:
    """Whether a line stands in the table that is neither a handle, nor a title right below one, nor indented."""
    begun = titled = False
    for line in lines:
        if titled and line.strip() == "End Of Table":
            break
        handle = _HANDLE.fullmatch(line) is not None
        if begun and not (handle or titled or not line.strip() or line.startswith((*_INDENTED, "#"))):
            return True
        begun, titled = begun or handle, handle
    return False


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Title and fields of every block that was ended by an empty line."""
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
            continue
        rows = [row for row in block if not row.startswith(("Handle ", "#"))]
        whole = all(row.startswith(_INDENTED) for row in rows[1:])
        if whole and rows and not rows[0].startswith(_INDENTED):
            own = [row for row in rows[1:] if not row.startswith("\t\t")]
            yield rows[0].strip(), dict(reversed(list(fields(own))))
        block = []


def _size(text: str) -> int:
    """Bytes of ``16 GB`` or ``16384 MB``; 0 for an empty slot or an unknown size."""
    size = _SIZE.fullmatch(text) if _SAID.fullmatch(text) else None
    return int(size["number"]) * 1024 ** " KMGT".index((size["letter"] or " ").upper()) if size else 0


def _module(block: dict[str, str], size: int) -> Iterator[Fact]:
    if not {"Bank Locator", "Locator"} <= block.keys():
        return  # a block that was torn: its module would stand under the name of another slot, or of none
    names = [block[key] for key in ("Bank Locator", "Locator") if block[key] not in _NAMELESS]
    if not names:
        return
    marks = on("slot", " ".join(names))
    yield from measured("memory.dimm_size", f"{size} B", Unit.BYTE, marks)
    yield from measured("memory.dimm_speed", f"{_speed(block)} M/s", Unit.PER_SECOND, marks) if _speed(block) else ()
    for key, name in _OF_MODULE.items():
        yield from said(name, block.get(key), marks)


def _speed(block: dict[str, str]) -> int:
    """Transfers that are set, in millions per second; 0 where not known.

    Half of what the module can do is not taken: some firmware tells the clock, at which two transfers are made.
    """
    configured = block.get("Configured Memory Speed") or block.get("Configured Clock Speed", "")
    found, most = _RATE.fullmatch(configured), _RATE.match(block.get("Speed", ""))
    is_clock = found and most and abs(2 * int(found["number"]) - int(most["number"])) <= 2
    return int(found["number"]) if found and not is_clock else 0


def _modules(sizes: Sequence[int]) -> Iterator[Fact]:
    yield from counted("memory.dimms", len(sizes))
    yield from measured("memory.installed", f"{sum(sizes)} B", Unit.BYTE)
    groups = sorted(Counter(sizes).items(), reverse=True)
    yield from said("memory.dimm_sizes", ", ".join(f"{count} x {size / 2**30:g} GiB" for size, count in groups))
