"""``dmidecode`` as facts about the firmware, the machine and its memory modules.

Sizes are powers of 1024 whatever the letter: ``16384 MB``, ``16 GB`` and ``16 GiB`` are the same by version. A fact of
the whole table (how many modules) is told only when its end was seen: ask with ``-t 127`` among the types.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.lines import read_lines
from benchconsole.probes.tools.inventory import facts

_TEXT = {
    ("BIOS Information", "Vendor"): "bios.vendor", ("BIOS Information", "Version"): "bios.version",
    ("BIOS Information", "Release Date"): "bios.date", ("BIOS Information", "BIOS Revision"): "bios.revision",
    ("BIOS Information", "Firmware Revision"): "board.controller_firmware",
    ("System Information", "Manufacturer"): "system.vendor", ("System Information", "Product Name"): "system.product",
    ("System Information", "Serial Number"): "system.serial",
    ("Base Board Information", "Product Name"): "board.product", ("Base Board Information", "Version"): "board.version",
}  # fmt: skip

_NO_RELEASE = "0.0"
"""What firmware writes that numbers no releases."""

_SHORT = 4096
"""Characters of a block that is kept for the next node: all that are kept hold 4 MB at most."""

_HANDLES = "Handle "
_SLOT = "DMI type 17,"
_SIZE = re.compile(r"(?P<number>[0-9]{1,9}) (?:(?P<letter>[kKMGT])i?B|bytes)")
_HANDLE = re.compile(r"Handle 0x[0-9A-F]+, DMI type [0-9]+, [0-9]+ bytes\.?\s*")
_INDENTED = ("\t", "  ")
_FURTHER = re.compile(r"On Board Device [0-9]{1,3} Information\s*")
"""One structure of the old type 10 tells of several devices, each below a title of its own."""
_TELLS_SIZE = re.compile(r"(?!32767 MB)(?:[0-9]+ \S+|No.*)")
"""A size, or none. What is as large as the field of old tables takes (SMBIOS 3.7, 7.18.4) may be any larger one."""

_RATE = re.compile(r"(?P<number>[0-9]{1,6}) (?:MT/s|MHz)")
_NO_RAM = re.compile(r"(?:Flash|E?E?PROM|FEPROM|ROM|VRAM|Logical non-volatile device)", re.IGNORECASE)
"""Types of what stands among the memory devices and is no main memory: the firmware's chip, persistent memory."""

_NAMELESS = ("", "Not Specified", "Unknown")
_OF_MODULE = {"Type": "memory.dimm_type", "Manufacturer": "memory.dimm_vendor", "Part Number": "memory.dimm_part"}


def find_facts(text: str) -> Iterator[Fact]:
    """``bios.*``, ``system.*``, ``memory.dimm*`` with the label ``slot``; of a whole table ``memory.installed``,
    ``memory.dimms``, ``memory.slots`` (with the empty ones).
    """
    sizes: list[int] = []
    lines = read_lines(text)
    # the last of several runs: a module must not be counted in each
    begins = [number for number, line in enumerate(lines) if "# dmidecode " in line]
    lines = lines[begins[-1] :] if begins else lines
    slots = torn = sum(_SLOT in line for line in lines if line.startswith(_HANDLES))
    for title, block in _find_blocks(lines):
        for key, value in block.items():
            if (title, key) in _TEXT and value != _NO_RELEASE:
                yield from facts.make_text(_TEXT[title, key], value)
        if title == "Memory Device":
            torn -= _TELLS_SIZE.fullmatch(block.get("Size", "")) is not None
            if _NO_RAM.fullmatch(block.get("Type", "")):
                slots -= 1
            elif size := _parse_size(block.get("Size", "")):
                sizes.append(size)
                yield from _read_module(block, size)
        # A line in the wrong place can hide a module: then how many there are is not known.
        elif title == "End Of Table" and sizes and not torn and not _is_mixed(lines):
            groups = sorted(Counter(sizes).items(), reverse=True)
            sorts = ", ".join(f"{count} x {size / 2**30:g} GiB" for size, count in groups)
            yield from facts.make_count("memory.dimms", len(sizes))
            yield from facts.make_size("memory.installed", sum(sizes))
            yield from facts.make_text("memory.dimm_sizes", sorts)
            yield from facts.make_count("memory.slots", slots)


def _is_mixed(lines: Sequence[str]) -> bool:
    """Whether a line stands in the table that is neither a handle, nor a title right below one, nor indented."""
    begun = titled = False
    for line in lines:
        if titled and line.strip() == "End Of Table":
            break
        handle = line.startswith(_HANDLES) and _HANDLE.fullmatch(line) is not None
        of_table = not line.strip() or line.startswith((*_INDENTED, "#")) or _FURTHER.fullmatch(line)
        if begun and not (handle or titled or of_table):
            return True
        begun, titled = begun or handle, handle
    return False


def _find_blocks(lines: Sequence[str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Title and fields of every block that was ended by an empty line."""
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
            continue
        rows = tuple(row for row in block if not row.startswith((_HANDLES, "#")))
        block = []
        is_short = sum(map(len, rows)) <= _SHORT
        if read := _read_again(rows) if is_short else _read_block(rows):
            yield read


def _read_block(rows: tuple[str, ...]) -> tuple[str, Mapping[str, str]] | None:
    """Title and fields; None where a line stands in the wrong place."""
    if not rows or rows[0].startswith(_INDENTED) or not all(row.startswith(_INDENTED) for row in rows[1:]):
        return None
    own = (row for row in rows[1:] if not row.startswith("\t\t"))
    return rows[0].strip(), MappingProxyType(facts.read_first_fields(own))


_read_again = lru_cache(maxsize=1024)(_read_block)
"""Modules of one kind say the same on every node but for their numbers."""


def _parse_size(text: str) -> int:
    """Bytes of ``16 GB`` or ``16384 MB``; 0 for an empty slot or an unknown size."""
    size = _SIZE.fullmatch(text) if _TELLS_SIZE.fullmatch(text) else None
    return int(facts.scale_binary(size["number"], size["letter"] or "")) if size else 0


def _read_module(block: Mapping[str, str], size: int) -> Iterator[Fact]:
    if not {"Bank Locator", "Locator"} <= block.keys():
        return  # a block that was torn: its module would stand under the name of another slot, or of none
    names = [block[key] for key in ("Bank Locator", "Locator") if block[key] not in _NAMELESS]
    if names:
        marks = facts.label_part("slot", " ".join(names))
        yield from facts.make_size("memory.dimm_size", size, marks)
        # half of what it can do is not taken: some firmware tells the clock, at which two transfers are made
        speed = _RATE.fullmatch(block.get("Configured Memory Speed") or block.get("Configured Clock Speed", ""))
        most = _RATE.match(block.get("Speed", ""))
        is_clock = speed and most and abs(2 * int(speed["number"]) - int(most["number"])) <= 2
        if speed and int(speed["number"]) and not is_clock:
            yield Fact("memory.dimm_speed", int(speed["number"]) * 1e6, Unit.PER_SECOND, marks)
        yield from facts.make_texts(_OF_MODULE, block, marks)
