"""Reads ``/proc/meminfo``, whose kB are KiB, as facts about memory."""

import re
from collections.abc import Sequence

from probes.api import Fact, Unit
from probes.builtin.captured import fields, whole_lines
from probes.builtin.inventory.facts import counted, measured, once, settled, some

_KIB = re.compile(r"([0-9]{1,15}) kB")
_NAMES = {"MemTotal": "memory.total", "SwapTotal": "memory.swap", "Hugepagesize": "memory.hugepage_size"}
_OWN = re.compile(r"[A-Za-z][\w()]*:\s+[0-9]+(?: kB)?$")


def parse(text: str) -> Sequence[Fact]:
    """``memory.total`` (bytes that the kernel uses), ``memory.swap``, ``memory.hugepage_size``, ``.hugepages``."""
    found: list[Fact] = []
    for key, value in fields(settled(whole_lines(text), _OWN)):
        size = _KIB.fullmatch(value)
        if key in _NAMES and size and (int(size[1]) or key != "MemTotal"):
            found += measured(_NAMES[key], f"{size[1]} KiB", Unit.BYTE)
        elif key == "HugePages_Total":
            found += counted("memory.hugepages", value)
    return some(once(found), "the lines of /proc/meminfo")
