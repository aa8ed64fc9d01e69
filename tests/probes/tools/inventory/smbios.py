"""Owns tables of SMBIOS as firmware writes them, in the form that ``dmidecode --from-dump`` reads.

Structures and offsets are those of the System Management BIOS Reference Specification (DMTF DSP0134 3.7,
clauses 5.2.2 and 7.1 to 7.18). Refuses to know what ``dmidecode`` prints, or what is parsed out of it.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

MIB = 2**20
KIB = 2**10

DDR3, DDR4, FLASH, LASTING, DDR5 = 0x18, 0x1A, 0x09, 0x1F, 0x22
"""Types of memory devices (7.18.2); the third and the fourth are no main memory."""

_UNKNOWN_SIZE, _EXTENDED_SIZE, _IN_KIB = 0xFFFF, 0x7FFF, 0x8000
_EXTENDED_SPEED = 0xFFFF
_TABLE = 32
"""Where the structures begin in a dump, behind the entry point."""

_FIRST = 0x1000
_ARRAY = _FIRST + 4
"""Handles of the first structure and of the array that every module is part of."""

_ANCHOR = struct.Struct("<5sBBBBBBBIQ")


@dataclass(frozen=True, slots=True)
class Module:
    """A memory device: ``size`` in bytes, 0 for an empty slot, None for unknown; speeds in MT/s, 0 for unknown."""

    locator: str
    size: int | None
    bank: str = "Not Specified"
    kind: int = DDR4
    speed: int = 0
    configured: int = 0
    vendor: str = "Samsung"
    part: str = "M393A4K40DB3-CWE"


@dataclass(frozen=True, slots=True)
class Machine:
    """The fields of the tables besides memory."""

    bios_vendor: str = "Example BIOS Inc."
    bios_version: str = "2.14.3"
    bios_date: str = "03/21/2024"
    bios_release: tuple[int, int] = (2, 14)
    controller_release: tuple[int, int] = (3, 7)
    vendor: str = "Example Systems"
    product: str = "Blade 640"
    serial: str = "SN0004711"
    board: str = "0XYZ12"
    board_version: str = "A05"
    processors: tuple[str, ...] = ("Example CPU 9654",)


def dump(machine: Machine, modules: Sequence[Module]) -> bytes:
    """The bytes of a dump: the 64-bit entry point of SMBIOS 3.7, then the structures."""
    body = [
        _bios(machine),
        _structure(1, _of(1, 2, 0, 3) + bytes(16) + _of(6, 0, 0), machine.vendor, machine.product, machine.serial),
        _structure(
            2,
            _of(1, 2, 3, 0, 0, 9, 0) + struct.pack("<HBB", _FIRST + 3, 10, 0),
            machine.vendor,
            machine.board,
            machine.board_version,
        ),
        _structure(3, _of(1, 0x17, 0, 0, 0, 3, 3, 3, 3) + bytes(4) + _of(2, 1, 0, 0, 0), machine.vendor),
        _structure(16, struct.pack("<BBBIHHQ", 3, 3, 6, 0x8000_0000, 0xFFFE, len(modules), 2**45)),
        *(_processor(number, version) for number, version in enumerate(machine.processors)),
        *map(_module, modules),
        _structure(127, b""),
    ]
    table = b"".join(piece[:2] + struct.pack("<H", handle) + piece[2:] for handle, piece in enumerate(body, _FIRST))
    anchor = _ANCHOR.pack(b"_SM3_", 0, _ANCHOR.size, 3, 7, 0, 1, 0, len(table), _TABLE)
    checked = anchor[:5] + bytes([-sum(anchor) % 256]) + anchor[6:]
    return checked.ljust(_TABLE, b"\0") + table


def _of(*numbers: int) -> bytes:
    return bytes(numbers)


def _structure(kind: int, formatted: bytes, *texts: str) -> bytes:
    """A structure without its handle, which is put in where all of them are numbered (6.1.2, 6.1.3)."""
    strings = b"".join(text.encode("ascii") + b"\0" for text in texts) or b"\0"
    return bytes([kind, 4 + len(formatted)]) + formatted + strings + b"\0"


def _bios(machine: Machine) -> bytes:
    formatted = struct.pack(
        "<BBHBBQHBBBB", 1, 2, 0xF000, 3, 0xFF, 0x8, 0x0D03, *machine.bios_release, *machine.controller_release
    )
    return _structure(0, formatted, machine.bios_vendor, machine.bios_version, machine.bios_date)


def _processor(number: int, version: str) -> bytes:
    ids = struct.pack("<BBBBQBBHHHBB", 1, 3, 0x6B, 2, 0, 3, 0x8C, 100, 3700, 2400, 0x41, 1)
    rest = struct.pack("<HHHBBBBBBHHHHH", 0xFFFF, 0xFFFF, 0xFFFF, 0, 0, 0, 96, 96, 192, 4, 0x6B, 96, 96, 192)
    return _structure(4, ids + rest, f"CPU{number}", "Example", version)


def _module(module: Module) -> bytes:
    size, extended = _size(module.size)
    speed, extended_speed = _speed(module.speed)
    configured, extended_configured = _speed(module.configured)
    formatted = b"".join(
        (
            struct.pack("<HHHHHBBBB", _ARRAY, 0xFFFE, 72, 64, size, 9, 0, 1, 2),
            struct.pack("<BHHBBBBB", module.kind, 0x2080, speed, 3, 4, 0, 5, 1),
            struct.pack("<IHHHH", extended, configured, 1200, 1200, 1200),
            struct.pack("<BHBHHHH", 3, 8, 0, 0x2C80, 0, 0, 0),
            struct.pack("<QQQQII", 0, module.size or 0, 0, 0, extended_speed, extended_configured),
        )
    )
    return _structure(17, formatted, module.locator, module.bank, module.vendor, "00112233", module.part)


def _size(size: int | None) -> tuple[int, int]:
    """The fields Size and Extended Size (7.18.4, 7.18.5)."""
    if size is None:
        return _UNKNOWN_SIZE, 0
    if size % MIB:
        return _IN_KIB | size // KIB, 0
    return (size // MIB, 0) if size // MIB < _EXTENDED_SIZE else (_EXTENDED_SIZE, size // MIB)


def _speed(rate: int) -> tuple[int, int]:
    """The fields Speed and Extended Speed (7.18.7)."""
    return (rate, 0) if rate < _EXTENDED_SPEED else (_EXTENDED_SPEED, rate)
