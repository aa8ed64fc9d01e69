"""Reads ``dmidecode`` as facts about the firmware, the machine and its memory modules.

Sizes are powers of 1024 whatever the letter. What needs the whole table (how many modules) is
said only when its end was seen: ask with ``-t 127`` among the types.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from probes.api import Fact, Unit, UnitError
from probes.api import parse as quantity
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import counted, measured, on, said, some

_TEXT = {
    ("BIOS Information", "Vendor"): "bios.vendor",
    ("BIOS Information", "Version"): "bios.version",
    ("BIOS Information", "Release Date"): "bios.date",
    ("System Information", "Manufacturer"): "system.vendor",
    ("System Information", "Product Name"): "system.product",
    ("System Information", "Serial Number"): "system.serial",
}

_SLOT = "DMI type 17,"


def parse(text: str) -> Sequence[Fact]:
    """``bios.*``, ``system.*``, ``memory.dimm*`` and ``memory.installed``; ProbeOutputError when none is there."""
    found: list[Fact] = []
    sizes: list[int] = []
    lines = whole_lines(text)
    slots = sum(_SLOT in line for line in lines if line.startswith("Handle "))
    for title, block in _blocks(lines):
        slots -= title == "Memory Device" and "Size" in block
        for key, value in block.items():
            found += said(_TEXT[title, key], value) if (title, key) in _TEXT else ()
        if title == "Memory Device" and (size := _size(block.get("Size", ""))):
            sizes.append(size)
            found += _module(block, size)
        # A line in the wrong place can hide a module: then how many there are is not known.
        if title == "End Of Table" and sizes and not slots:
            found += _modules(sizes)
    return some(found, "the tables of dmidecode, which needs root")


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
    number, _, letter = text.partition(" ")
    try:
        return round(quantity(f"{number} {letter[:1].replace('k', 'K')}iB", Unit.BYTE))
    except UnitError:
        return 0


def _module(block: dict[str, str], size: int) -> Iterator[Fact]:
    if not {"Bank Locator", "Locator"} <= block.keys():
        return  # a block that was torn: its module would stand under the name of another slot, or of none
    slot = f"{block['Bank Locator']} {block['Locator']}"
    marks = on("slot", slot)
    yield from measured("memory.dimm_size", f"{size} B", Unit.BYTE, marks)
    for key in ("Configured Memory Speed", "Configured Clock Speed"):
        number, _, unit = block.get(key, "").partition(" ")
        if unit in ("MT/s", "MHz"):
            yield from measured("memory.dimm_speed", f"{number} M/s", Unit.PER_SECOND, marks)


def _modules(sizes: Sequence[int]) -> Iterator[Fact]:
    yield from counted("memory.dimms", len(sizes))
    yield from measured("memory.installed", f"{sum(sizes)} B", Unit.BYTE)
    groups = sorted(Counter(sizes).items(), reverse=True)
    yield from said("memory.dimm_sizes", ", ".join(f"{count} x {size / 2**30:g} GiB" for size, count in groups))
