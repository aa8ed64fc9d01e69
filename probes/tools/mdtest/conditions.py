"""The conditions of mdtest's numbers: what its command line set or left at a default.

By default all tasks work in one shared directory, every task examines and removes what it created itself, files are
empty, and nothing is flushed. A time (``-W``) stops the creation of files only.

Source: mdtest 1.9.3 ``mdtest.c``; IOR 3.0 to 4.1 ``src/mdtest.c``.
"""

import re
from dataclasses import dataclass

from benchconsole.probes.readers.command_lines import Options, split_command
from benchconsole.probes.readers.numbers import format_bytes
from benchconsole.probes.tools.ior.conditions import read_family_options

_SHORT = "a:b:BcCd:De:Ef:FG:hi:I:kl:Ln:N:p:PrRs:StTuUvV:w:W:x:XyYz:Z"
_SIZE = re.compile(r"([0-9]{1,12})([kmg]?)", re.IGNORECASE)
_POSITIVE = re.compile(r"[1-9][0-9]{0,8}")
_FACTORS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30}


@dataclass(frozen=True, slots=True)
class CommandConditions:
    """The options of a command line; None where it is not known."""

    options: Options | None = None

    def label(self, item: str, operation: str) -> dict[str, str]:
        """The labels of an ``operation`` on an ``item`` (file, directory, tree)."""
        given = self.options
        if given is None:
            return {}
        found = {
            "access": "unique-directory" if "u" in given else "shared-directory",
            "barriers": str(int("B" not in given)),
            "depth": given.get("z", "0"),
            "branch": given.get("b", "1"),
        }
        if operation != "create" and item != "tree":
            found["reorder"] = "random" if "R" in given else str(int(given.get("N", "0") != "0"))
        moved = {"create": "w", "read": "e"}.get(operation) if item == "file" else None
        if moved and (size := _read_size(given.get(moved, "0"))):
            found["bytes"] = size
        if item == "file" and operation == "create":
            found["end_fsync"] = str(int("y" in given))
            found |= {"stonewall": given["W"]} if _POSITIVE.fullmatch(given.get("W", "")) else {}
        return found


UNKNOWN = CommandConditions()
"""Of a command line that was not printed."""


def _read_size(text: str) -> str | None:
    match = _SIZE.fullmatch(text)
    return format_bytes(int(match[1]) * _FACTORS[match[2].lower()]) if match else None


def read_command(text: str) -> CommandConditions:
    """The conditions of a command line as mdtest prints it."""
    return CommandConditions(read_family_options(split_command(text), _SHORT))
