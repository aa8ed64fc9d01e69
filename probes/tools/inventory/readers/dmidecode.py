"""``dmidecode`` as facts about the firmware, the machine and its memory modules.

Sizes are powers of 1024 whatever the letter: ``16384 MB``, ``16 GB`` and ``16 GiB`` are the same by version. A fact of
the whole table (how many modules) is told only when its end was seen: ask with ``-t 127`` among the types.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from benchconsole.probes.api import Fact, Unit
from benchconsole.probes.readers.lines import join_lines, read_lines
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
"""The release number of firmware that numbers no releases."""

_SHORT = 4096
"""Characters of a block that is kept for the next node: all that are kept hold 4 MB at most."""

_HANDLES = "Handle "
_EMPTY = re.compile(r"\n\s*\n")
_SLOT = re.compile(r"^Handle .*DMI type 17,", re.MULTILINE)
_OWN_NUMBER = re.compile(r"(?P<before>(?:Handle .*\n)?Memory Device\n(?:.*\n)*?)\tSerial Number: .*\n")
"""A module's own number, which no fact tells, and which would make each module another block."""
_END = "End Of Table"
_SIZE = re.compile(r"(?P<number>[0-9]{1,9}) (?:(?P<letter>[kKMGT])i?B|bytes)")
_HANDLE = re.compile(r"Handle 0x[0-9A-F]+, DMI type [0-9]+, [0-9]+ bytes\.?\s*")
_INDENTED = ("\t", "  ")
_FURTHER = re.compile(r"On Board Device [0-9]{1,3} Information\s*")
"""One structure of the old type 10 tells of several devices, each below a title of its own."""
_TELLS_SIZE = re.compile(r"(?!32767 MB)(?:[0-9]+ \S+|No.*)")
"""A size, or none. A size as large as the field of old tables takes (SMBIOS 3.7, 7.18.4) may be any larger one."""

_RATE = re.compile(r"(?P<number>[0-9]{1,6}) (?:MT/s|MHz)")
_NO_RAM = re.compile(r"(?:Flash|E?E?PROM|FEPROM|ROM|VRAM|Logical non-volatile device)", re.IGNORECASE)
"""Types of what stands among the memory devices and is no main memory: the firmware's chip, persistent memory."""

_NAMELESS = ("", "Not Specified", "Unknown")
_OF_MODULE = {"Type": "memory.dimm_type", "Manufacturer": "memory.dimm_vendor", "Part Number": "memory.dimm_part"}


class _Block(NamedTuple):
    """The lines up to an empty one; without title and facts where a line stands in the wrong place."""

    has_handle: bool
    is_mixed: bool
    """Whether a line of somebody else is among them."""
    title: str = ""
    found: Sequence[Fact] = ()
    size: int = 0
    """Bytes of the module of main memory that it tells of, 0 where there is none."""
    tells_size: bool = False
    is_chip: bool = False
    """Whether it tells of a memory device that is no main memory."""


def find_facts(text: str) -> Iterator[Fact]:
    """``bios.*``, ``system.*``, ``memory.dimm*`` with the label ``slot``; of a whole table ``memory.installed``,
    ``memory.dimms``, ``memory.slots`` (with the empty ones).
    """
    sizes: list[int] = []
    is_mixed = False
    table = join_lines(read_lines(text))
    # the last of several runs: a module must not be counted in each
    table = table[table.rfind("\n", 0, max(table.rfind("# dmidecode "), 0)) + 1 :]
    slots = torn = len(_SLOT.findall(table))
    for block in _find_blocks(table):
        yield from block.found
        is_mixed = is_mixed or block.is_mixed
        torn -= block.tells_size
        slots -= block.is_chip
        if block.size:
            sizes.append(block.size)
        # A line in the wrong place can hide a module: then how many there are is not known.
        if block.title == _END and sizes and not torn and not is_mixed:
            yield from _sum_modules(sizes, slots)


def _sum_modules(sizes: Sequence[int], slots: int) -> Iterator[Fact]:
    groups = sorted(Counter(sizes).items(), reverse=True)
    sorts = ", ".join(f"{count} x {size / 2**30:g} GiB" for size, count in groups)
    yield from facts.make_count("memory.dimms", len(sizes))
    yield from facts.make_size("memory.installed", sum(sizes))
    yield from facts.make_text("memory.dimm_sizes", sorts)
    yield from facts.make_count("memory.slots", slots)


def _find_blocks(table: str) -> Iterator[_Block]:
    """Every block that was ended by an empty line."""
    begun = False
    for whole in _EMPTY.split(table)[:-1]:
        number = _OWN_NUMBER.match(whole)
        text = whole[: number.end("before")] + whole[number.end() :] if number else whole
        block = _read_again(text, begun) if len(text) <= _SHORT else _read_block(text, begun)
        yield block
        begun = begun or block.has_handle


def _read_block(text: str, begun: bool) -> _Block:
    """One block; ``begun`` where a handle stands in an earlier one."""
    lines = [line for line in text.split("\n") if line.strip()]
    has_handle = any(map(_HANDLE.fullmatch, lines))
    is_mixed = _is_mixed(lines, begun)
    rows = [line for line in lines if not line.startswith((_HANDLES, "#"))]
    if not rows or rows[0].startswith(_INDENTED) or not all(row.startswith(_INDENTED) for row in rows[1:]):
        return _Block(has_handle, is_mixed)
    title, fields = rows[0].strip(), facts.read_first_fields(row for row in rows[1:] if not row.startswith("\t\t"))
    if title != "Memory Device":
        named = [(_TEXT[title, key], value) for key, value in fields.items() if (title, key) in _TEXT]
        told = tuple(fact for name, value in named if value != _NO_RELEASE for fact in facts.make_text(name, value))
        return _Block(has_handle, is_mixed, title, told)
    tells_size = _TELLS_SIZE.fullmatch(fields.get("Size", "")) is not None
    is_chip = _NO_RAM.fullmatch(fields.get("Type", "")) is not None
    size = 0 if is_chip else _parse_size(fields.get("Size", ""))
    module = tuple(_read_module(fields, size)) if size else ()
    return _Block(has_handle, is_mixed, title, module, size, tells_size, is_chip)


_read_again = lru_cache(maxsize=1024)(_read_block)
"""Modules of one kind say the same on every node but for their numbers."""


def _is_mixed(lines: Sequence[str], begun: bool) -> bool:
    """Whether a line of a block is neither a handle, nor a title right below one, nor indented."""
    titled = False
    for line in lines:
        handle = _HANDLE.fullmatch(line) is not None
        of_table = line.startswith((*_INDENTED, "#")) or _FURTHER.fullmatch(line)
        if begun and not (handle or titled or of_table):
            return True
        begun, titled = begun or handle, handle
    return False


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
