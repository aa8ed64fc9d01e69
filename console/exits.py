"""Exit codes, the standard streams, and every line on standard error; standard output belongs to results."""

import os
import sys
from enum import IntEnum

from benchconsole.console.text.sanitize import sanitize


class Exit(IntEnum):
    """The exit codes of commands; scripts rely on them."""

    PASSED = 0
    BELOW = 1
    BAD_INPUT = 2
    UNTESTED = 3
    INTERNAL = 4
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


def complain(text: str) -> None:
    """Say ``text`` on standard error, each line made safe for a terminal.

    Where that takes nothing (a full device, a reader that has gone) nobody can be told, and the exit code stays.
    """
    try:
        for line in text.splitlines() or [""]:
            sys.stderr.write(f"{sanitize(line)}\n")
        sys.stderr.flush()
    except OSError:
        _connect(2, os.O_WRONLY)


def open_standard_streams() -> None:
    """Give each standard stream that is closed (``<&-``, ``>&-``) the null device.

    Else the next file to be opened, a database or a key, would get its number, and be written to as the output.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            _connect(number, os.O_RDONLY if mode == "r" else os.O_WRONLY)
        if getattr(sys, name) is None:
            stream = open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as we run
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)


def _connect(number: int, flags: int) -> None:
    """The null device as the descriptor ``number``."""
    nowhere = os.open(os.devnull, flags)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
    os.set_inheritable(number, True)


class BadInput(Exception):
    """Ends a command with exit code 2 and ``text`` on standard error; nothing was started."""
