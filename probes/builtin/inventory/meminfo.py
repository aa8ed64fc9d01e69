"""Reads ``/proc/meminfo``, whose kB are KiB, as facts about memory."""

import re
from collections.abc import Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import measured, some

_KIB = re.compile(r"([0-9]{1,15}) kB")
_NAMES = {"MemTotal": "memory.total", "SwapTotal": "memory.swap", "Hugepagesize": "memory.hugepage_size"}


def parse(text: str) -> Sequence[Fact]:
    """``memory.total`` (bytes that the kernel uses), ``memory.swap``, ``memory.hugepage_size``."""
    found: list[Fact] = []
    for key, value in fields(whole_lines(text)):
        size = _KIB.fullmatch(value)
        if key in _NAMES and size:
            found += measured(_NAMES[key], f"{size[1]} KiB", Unit.BYTE)
    return some(found, "the lines of /proc/meminfo")
