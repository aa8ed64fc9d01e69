"""Standard output whose reader may go away: the command goes on to its end, and its exit code stays its verdict."""

import os
import sys
from typing import TextIO

from benchconsole.console.exits import complain

JUDGING = frozenset(
    ("run", "watch", "ingest", "judge", "check", "diff", "doctor", "compare", "availability", "checklist", "demo")
)
"""Commands whose exit code says what passed: 0 for a reader that had enough would say so of what was never tested."""


LONG = frozenset(("run", "watch"))
"""Of these, whoever waits for them is told that they go on."""


class LastingOutput:
    """A text stream that writes nowhere from the moment on that nobody reads it; ``notice`` is said then."""

    def __init__(self, stream: TextIO, notice: str = "") -> None:
        self._stream = stream
        self._notice = notice

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._go_on()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._go_on()

    def _go_on(self) -> None:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)
        if self._notice:
            complain(self._notice)

    def __getattr__(self, name: str) -> object:
        return getattr(self._stream, name)


def keep_output(command: str) -> None:
    """Let ``command`` outlast the reader of its standard output, where its exit code is a verdict."""
    if command in JUDGING and sys.stdout is not None:
        notice = f"benchconsole: nobody reads standard output any more; {command} goes on, its exit code is its verdict"
        sys.stdout = LastingOutput(sys.stdout, notice if command in LONG else "")
