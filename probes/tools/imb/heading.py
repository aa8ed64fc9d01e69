"""Settings that the heading of an IMB run tells: its command line, data types, operation and thread level.

Options that only choose which rows are printed are no conditions of a row, whose size and processes stand in it:
``-npmin``, ``-msglog``, ``-msglen``, ``-mem``, ``-include``, ``-exclude``.

Source: ``IMB_output.c`` of 3.2, 4.0 and 2018 to 2021 and the user's guide.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

_CALLED = re.compile(r"# Calling sequence was:")
_WRAPPED = re.compile(r"#\s{4,}\S")
"""A further line of the command."""
_NEXT = re.compile(r"# [A-Z]")
"""The line after the command, such as ``# Minimum message length``."""
_NAMED = re.compile(
    r"#\s*(?P<name>MPI_Datatype(?: for reductions)?|MPI_Op|MPI Thread Environment)\s*:\s*(?P<value>MPI_[A-Z_]{1,30})"
)
_REDUCES = re.compile(r"(?i)i?(?:all)?reduce|accumulate")
_UNTYPED = ("Barrier", "Ibarrier")
_OPTIONS = {
    "-iter": "iter", "-iter_policy": "iter_policy", "-time": "seconds", "-off_cache": "off_cache", "-sync": "barriers",
    "-root_shift": "root_shift", "-imb_barrier": "imb_barrier", "-map": "map",
}  # fmt: skip
"""The label that an option of the command line gives."""
_SWITCHES = {
    **dict.fromkeys(("0", "off", "disable", "no"), "0"),
    **dict.fromkeys(("1", "on", "enable", "yes"), "1"),
}
"""How IMB takes the argument of a switch."""
_SWITCHED = ("barriers", "root_shift", "imb_barrier")
_VALUE = re.compile(r"[A-Za-z0-9_.,:+-]{1,40}")


@dataclass(slots=True)
class Heading:
    """The lines of one heading, as they come."""

    command: list[str] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)
    called: bool = False
    """Whether the command line has begun, and has not ended."""

    def read(self, line: str) -> None:
        """Take what one line says; the command line is wrapped, and lines of others may stand between its parts."""
        if _CALLED.fullmatch(line):
            self.called, self.command = True, []
        elif self.called and line.startswith("#"):
            words = line.split()[1:]
            if _WRAPPED.match(line) if self.command else "IMB" in "".join(words[:1]):
                self.command += words
            elif _NEXT.match(line):
                self.called = False  # the command is over, or its line was lost
        if match := _NAMED.fullmatch(line):
            self.named[match["name"]] = match["value"]

    def find_settings(self, benchmark: str) -> Mapping[str, str]:
        """Labels of the numbers of ``benchmark``; none for what this heading does not tell.

        Without ``-off_cache`` messages may come from the processor's cache, in every version.
        """
        found = {"off_cache": "0"} if self.command else {}
        for option, given in pairwise(self.command):
            name = _OPTIONS.get(option.lower(), "")
            value = _SWITCHES.get(given.lower(), "") if name in _SWITCHED else given
            if name and _VALUE.fullmatch(value):
                found[name] = value
        if level := self.named.get("MPI Thread Environment"):
            found["thread_level"] = level
        reduces = _REDUCES.match(benchmark) is not None
        kind = self.named.get("MPI_Datatype for reductions" if reduces else "MPI_Datatype")
        if kind and benchmark not in _UNTYPED:
            found["datatype"] = kind
        if reduces and "MPI_Op" in self.named:
            found["reduction"] = self.named["MPI_Op"]
        return found
