"""The reading of an output that stands in a file, whose end is the end of the output.

A shell that keeps an output (``$(...)``) and copying from a screen take the last line ends away. A channel that ended
in the middle of a line was cut; of a file that ends so only its last line may have been. It is read where its parser
takes it for whole, and told in any case: words and whole numbers do not show that they lost their end.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.readers.lines import shorten

_Found = TypeVar("_Found")

_ENDS = b"\n\n"
"""The end of the last line, and the blank line by which many tools end a record."""
_CLOSING = frozenset("]}")
"""A line of these ends a document, whose own grammar says that it is whole."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The last line of a file, which has no end, as one short line; whether what was found stands on it."""

    line: str
    was_read: bool

    def __str__(self) -> str:
        how = "was read as it is" if self.was_read else "gave nothing, so the result may be partial"
        return f"its last line has no end and {how}: {self.line}"


def read_captured(read: Callable[[Output], _Found], output: Output) -> tuple[_Found, Ending | None]:
    """What ``read`` finds in ``output``, and its last line where that has no end.

    ProbeOutputError as ``read`` raises it for the output with all its line ends.
    """
    ended = replace(output, stdout=_end_lines(output.stdout), stderr=_end_lines(output.stderr))
    if ended == output:
        return read(output), None
    whole, last = _split_last(output.stdout)
    before = replace(ended, stdout=whole + b"\n")
    try:
        found = read(ended)
    except ProbeOutputError:
        if last:
            with suppress(ProbeOutputError):
                return read(before), Ending(last, was_read=False)
        raise
    if not last or set(last) <= _CLOSING:
        return found, None
    try:
        return found, Ending(last, was_read=read(before) != found)
    except ProbeOutputError:
        return found, Ending(last, was_read=True)


def _end_lines(stream: bytes) -> bytes:
    return stream if not stream or stream.endswith(b"\n") else stream + _ENDS


def _split_last(stream: bytes) -> tuple[bytes, str]:
    """A stream without its last line, and that line where it has no end and is not blank."""
    at = stream.rfind(b"\n") + 1
    return stream[:at], shorten(stream[at:].decode("utf-8-sig", errors="replace"))
