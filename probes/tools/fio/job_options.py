"""The options of a job as fio lists them, and the conditions that they set: stated, or at a default that is certain.

Source: fio 2.2.10, 3.0 and 3.33, ``options.c``, ``parse.c``, ``os/os.h`` and HOWTO.
"""

import re
from dataclasses import dataclass

from benchconsole.probes.readers.documents import Document
from benchconsole.probes.readers.lines import shorten
from benchconsole.probes.readers.numbers import format_bytes, read_number

_SPREAD_SIZES = ("bsrange", "blocksize_range", "bssplit")
_SIZE = re.compile(r"([0-9]+)\s*(k|m|g|t)?(i)?(b)?", re.IGNORECASE)
_SPREAD = re.compile(r"[0-9]+\s*[kmgt]?i?b?(?=[-:/,]|$)|(?<=/)[0-9]*", re.IGNORECASE)
"""The sizes of a range (``4k-64k``), and the shares of ``bssplit`` (``4k/30:64k/70``), which are none."""
_TIME = re.compile(r"([0-9]+)\s*(ms|us|s|m|h)?")
_SECONDS = {None: 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "m": 60.0, "h": 3600.0}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_CACHED, _DIRECT = (("direct", "0"), ("buffered", "1")), (("direct", "1"), ("buffered", "0"), ("atomic", "1"))
_FLUSHES = ("fsync", "fdatasync", "sync", "end_fsync", "fsync_on_close")
_LIMITS = ("rate", "rate_iops", "thinktime")
"""Options that hold a job below its possible rate."""
_MIXED = ("rw", "readwrite", "randrw")
_HALF = "50"
"""Per cent of reads in a mixed job that is not told otherwise."""
_ENGINE, _ENGINE_SINCE = "psync", 3
"""The engine of a job that names none, on anything but Windows, and the version since which that is certain."""
_SYNCHRONOUS = ("sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "ftruncate", "falloc")
_DEEP = re.compile(r"(?:>=)?([0-9]{1,5})")


def parse_size(text: str, kilo: str = "1024") -> int | None:
    """Bytes of a size as fio reads it: ``4k``, ``4KB`` and ``4Ki`` are 4096, but ``4KiB`` is 4000.

    With ``kilo``, its option ``kb_base``, of 1000 it is the other way round.
    """
    match = _SIZE.fullmatch(text.strip()[:20])
    if match is None:
        return None
    base = 1000 if bool(match[3] and match[4]) is (kilo == "1024") else 1024
    return int(match[1]) * int(base ** _POWERS[(match[2] or "").lower()])


@dataclass(frozen=True, slots=True)
class JobOptions:
    """Options that a job was ``given``; ``whole`` says that these are certainly all: any other is at its default.

    ``version`` is the major one of fio, 0 where it is not told.
    """

    given: Document
    whole: bool = False
    version: int = 0

    def get(self, *names: str, default: str = "") -> str:
        """The first of the options ``names`` that it has."""
        return next((str(self.given[name]) for name in names if name in self.given), default)

    def has(self, name: str) -> bool:
        return name in self.given

    @property
    def kind(self) -> str:
        return self.get("rw", "readwrite").partition(":")[0]

    @property
    def clones(self) -> int:
        return parse_size(self.get("numjobs", default="1")) or 1

    @property
    def blocks(self) -> str:
        return self.get("bs", "blocksize", default="4k")

    def block_size(self, way: str) -> int | None:
        """Bytes of every block of one direction, of ``4k,64k`` one of both; None where they differ or are not told."""
        if any(key in self.given for key in _SPREAD_SIZES):
            return None
        parts = self.blocks.split(",")
        return self.parse_bytes(parts[1] if way == "write" and len(parts) > 1 and parts[1] else parts[0])

    def parse_bytes(self, text: str) -> int | None:
        return parse_size(text, self.get("kb_base", default="1024"))

    def find_seconds(self, name: str) -> float | None:
        """The option ``name`` as a time, 0 where it is not given; None for text that is no time."""
        match = _TIME.fullmatch(self.get(name, default="0")[:20])
        return float(match[1]) * _SECONDS[match[2]] if match else None

    def format_block(self, way: str) -> str:
        """``4k`` as ``4KiB``; of sizes of which one is drawn, each in its place; text that is no size as it is."""
        size = self.block_size(way)
        if size is not None:
            return format_bytes(size)
        drawn = shorten(self.get(*_SPREAD_SIZES, default=self.blocks), 40)
        return _SPREAD.sub(lambda match: self._write_size(match[0]), drawn)

    def _write_size(self, text: str) -> str:
        size = None if text.isdigit() and int(text) <= 100 else self.parse_bytes(text)
        return text if size is None else format_bytes(size)

    def find_conditions(self) -> dict[str, object]:
        """The conditions of the numbers: as the options say, else fio's default where it is certain."""
        found: dict[str, object] = {}
        if any(self.given.get(name) == value for name, value in _DIRECT):
            found["direct"] = 1
        elif self.whole or any(self.given.get(name) == value for name, value in _CACHED):
            found["direct"] = 0
        if engine := self.get("ioengine", default=_ENGINE if self.whole and self.version >= _ENGINE_SINCE else ""):
            found["ioengine"] = shorten(engine, 40)
        if size := self.parse_bytes(self.get("size")):
            found["size"] = format_bytes(size)
        found |= {name: shorten(self.get(name), 20) for name in _LIMITS if self.get(name, default="0") != "0"}
        if self.kind in _MIXED and (mix := self._find_mix()):
            found["mix"] = shorten(mix, 20)
        if self.kind in _MIXED or "write" in self.kind:
            given = ((name, self.get(name, default="0").strip()) for name in _FLUSHES)
            found |= {name: shorten(value, 20) for name, value in given if value not in ("0", "none", "")}
        return found

    def _find_mix(self) -> str:
        """Per cent of reads; empty where it is not certain."""
        written = parse_size(self.get("rwmixwrite"))
        if "rwmixread" not in self.given and written is not None and written <= 100:
            return str(100 - written)
        return self.get("rwmixread", default=_HALF if self.whole else "")

    def find_depth(self, levels: Document) -> int | None:
        """The requests under way: those asked for if most began with as many, else with how many most began.

        ``levels`` is fio's count by depth (``iodepth_level``), in steps (1, 2, 4 ... 64 and more), of which the lower
        end is told. None where nothing tells.
        """
        asked = parse_size(self.get("iodepth", default="1" if self.whole else ""))
        begun = {int(match[1]): read_number(levels[name]) or 0.0 for name in levels if (match := _DEEP.fullmatch(name))}
        if not any(begun.values()):
            return 1 if self.get("ioengine", default=_ENGINE) in _SYNCHRONOUS and asked else asked
        most = max(begun, key=lambda step: (begun[step], step))
        fits = asked is not None and most == max((step for step in begun if step <= asked), default=0)
        return asked if fits else most
