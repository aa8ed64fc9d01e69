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
    ("BIOS Information", "Firmware Revision"): "bmc.firmware",
    ("System Information", "Manufacturer"): "system.vendor",
    ("System Information", "Product Name"): "system.product",
    ("System Information", "Serial Number"): "system.serial",
    ("Base Board Information", "Product Name"): "board.product",
    ("Base Board Information", "Version"): "board.version",
}

_SLOT = "DMI type 17,"
_SIZE = re.compile(r"(?P<number>[0-9]{1,9}) (?:(?P<letter>[kKMGT])i?B|bytes)")
_RATE = re.compile(r"(?P<number>[0-9]{1,6}) (?:MT/s|MHz)")
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
        torn -= title == "Memory Device" and "Size" in block
        for key, value in block.items():
            found += said(_TEXT[title, key], value) if (title, key) in _TEXT else ()
        if title == "Memory Device" and (size := _size(block.get("Size", ""))):
            sizes.append(size)
            found += _module(block, size)
        # A line in the wrong place can hide a module: then how many there are is not known.
        if title == "End Of Table" and sizes and not torn:
            found += [*_modules(sizes), *counted("memory.slots", slots)]
    return some(once(found), "the tables of dmidecode, which needs root")


def _newest(lines: Sequence[str]) -> Sequence[str]:
    """The lines of the last of several runs: a module must not be counted in each."""
    begins = [number for number, line in enumerate(lines) if "# dmidecode " in line]
    return lines[begins[-1] :] if begins else lines


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Title and fields of every block that was ended by an empty line."""
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line)
            continue
        rows = [row for row in block if not row.startswith(("Handle ", "#"))]
        if rows and not rows[0].startswith(("\t", " ")):
            own = [row for row in rows[1:] if not row.startswith("\t\t")]
            yield rows[0].strip(), dict(reversed(list(fields(own))))
        block = []


def _size(text: str) -> int:
    """Bytes of ``16 GB`` or ``16384 MB``; 0 for an empty slot or an unknown size."""
    size = _SIZE.fullmatch(text)
    return int(size["number"]) * 1024 ** " KMGT".index((size["letter"] or " ").upper()) if size else 0


def _module(block: dict[str, str], size: int) -> Iterator[Fact]:
    if not {"Bank Locator", "Locator"} <= block.keys():
        return  # a block that was torn: its module would stand under the name of another slot, or of none
    slot = f"{block['Bank Locator']} {block['Locator']}"
    marks = on("slot", slot)
    yield from measured("memory.dimm_size", f"{size} B", Unit.BYTE, marks)
    for key in ("Configured Memory Speed", "Configured Clock Speed"):
        if (rate := _RATE.fullmatch(block.get(key, ""))) and int(rate["number"]):
            yield from measured("memory.dimm_speed", f"{rate['number']} M/s", Unit.PER_SECOND, marks)
    for key, name in _OF_MODULE.items():
        yield from said(name, block.get(key), marks)


def _modules(sizes: Sequence[int]) -> Iterator[Fact]:
    yield from counted("memory.dimms", len(sizes))
    yield from measured("memory.installed", f"{sum(sizes)} B", Unit.BYTE)
    groups = sorted(Counter(sizes).items(), reverse=True)
    yield from said("memory.dimm_sizes", ", ".join(f"{count} x {size / 2**30:g} GiB" for size, count in groups))
