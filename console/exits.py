"""Exit codes, and every line on standard error; standard output belongs to results."""

import sys
from enum import IntEnum

from benchconsole.console.text.sanitize import sanitize


class Exit(IntEnum):
    """What a command ends with; scripts stand on it."""

    PASSED = 0
    BELOW = 1
    BAD_INPUT = 2
    UNTESTED = 3
    INTERNAL = 4
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


def complain(text: str) -> None:
    """Say ``text`` on standard error, each line made safe for a terminal."""
    for line in text.splitlines() or [""]:
        sys.stderr.write(f"{sanitize(line)}\n")
    sys.stderr.flush()


class BadInput(Exception):
    """Ends a command with exit code 2 and ``text`` on standard error; nothing was started."""
