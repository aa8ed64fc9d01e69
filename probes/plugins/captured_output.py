"""The reading of an output that stands in a file, whose end is the end of the output.

A shell that keeps an output (``$(...)``) and copying from a screen take the last line ends away. A channel that ended
in the middle of a line was cut; of a file that ends so only its last line may have been. It is read where its parser
takes it for whole, and told in any case: words and whole numbers do not show that they lost their end.

A file that was cut between two lines shows it only where its tool ends with a line of its own (``Probe.closing``).
"""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from benchconsole.probes.model.errors import ProbeOutputError
from benchconsole.probes.model.measuring import Output
from benchconsole.probes.readers.lines import shorten, strip_colours
from benchconsole.topology.copying import replace

_Found = TypeVar("_Found")

_ENDS = b"\n\n"
"""The end of the last line, and the blank line by which many tools end a record."""
_RULES = frozenset("-=*# ")
"""Lines of these stand behind the last words of some tools."""
_CLOSING = frozenset("]}")
"""A line of these ends a document, whose own grammar says that it is whole."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The last line of a file as one short line, and what it lacks: its own end, or that of the output.

    ``was_read``: whether something that was found stands on a line without end. ``unclosed``: the tool ends with
    another line than the last one here, or numbers stand behind that.
    """

    line: str
    was_read: bool
    unclosed: bool = False

    @property
    def may_be_partial(self) -> bool:
        """Whether the output may have gone on: what was found is then some of its numbers."""
        return self.unclosed or not self.was_read

    def __str__(self) -> str:
        if self.unclosed:
            return f"it does not end as its tool does, so the result may be partial; its last line: {self.line}"
        how = "was read as it is" if self.was_read else "gave nothing, so the result may be partial"
        return f"its last line has no end and {how}: {self.line}"


def read_captured(
    read: Callable[[Output], _Found], output: Output, closing: re.Pattern[str] | None = None
) -> tuple[_Found, Ending | None]:
    """The result of ``read`` on ``output``, and its ending where that may have been lost.

    ``closing`` is the last line of a whole output of the tool, where it has one. ProbeOutputError as ``read`` raises
    it for the output with all its line ends.
    """
    found, ending = _read_unended(read, output)
    if closing is None:
        return found, ending
    closed = _find_closed(closing, output)
    with suppress(ProbeOutputError):
        if closed is not None and read(closed) == found:
            return found, ending if ending and ending.was_read else None
    if ending and not ending.was_read:
        return found, ending
    last = output.stdout.rstrip().rpartition(b"\n")[2].decode("utf-8-sig", errors="replace")
    return found, Ending(shorten(last), was_read=True, unclosed=True)


def _find_closed(closing: re.Pattern[str], output: Output) -> Output | None:
    """``output`` up to its last line that is ``closing``, where but for blanks and rules nothing follows; else None."""
    lines = output.stdout.splitlines(keepends=True)
    for number in range(len(lines), 0, -1):
        text = strip_colours(lines[number - 1].decode("utf-8-sig", errors="replace")).rstrip()
        if closing.fullmatch(text):
            return replace(output, stdout=_end_lines(b"".join(lines[:number])), stderr=_end_lines(output.stderr))
        if not set(text) <= _RULES:
            return None
    return None


def _read_unended(read: Callable[[Output], _Found], output: Output) -> tuple[_Found, Ending | None]:
    """The result of ``read`` on ``output``, and its last line where that has no end."""
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
