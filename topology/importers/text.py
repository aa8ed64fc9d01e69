"""Owns getting the text of a foreign source: its size, its encoding, and whether it may have been cut.

Refuses more than 16 MiB, anything but UTF-8, and a last line without an end: a name that was
cut short is another name.
"""

from bisect import bisect_right
from pathlib import Path

from topology.errors import Position, Problem, TopologyError
from topology.importers.native import MAX_BYTES


class Lines:
    """Turns offsets of one text into positions."""

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self._starts = [0]
        end = text.find("\n")
        while end >= 0:
            self._starts.append(end + 1)
            end = text.find("\n", end + 1)

    def at(self, offset: int) -> Position:
        """The line and column of ``offset``, both from 1."""
        line = bisect_right(self._starts, offset)
        return Position(self.name, line, offset - self._starts[line - 1] + 1)


def refuse(where: Position, found: str, expected: str) -> TopologyError:
    """The error for a source that cannot be read any further."""
    return TopologyError([Problem(where, found, expected)])


def source_text(path: Path) -> str:
    """The text of one file. Raises TopologyError for what cannot be read, is no UTF-8, or is too large."""
    start = Position(str(path), 1, 1)
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise refuse(start, f"a file that cannot be read ({error.strerror})", "a readable file") from None
    if len(raw) > MAX_BYTES:
        raise refuse(start, f"a file of more than {MAX_BYTES // 2**20} MiB", "a smaller one")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        column = error.start - (raw.rfind(b"\n", 0, error.start) + 1) + 1
        found = f"the byte 0x{raw[error.start]:02x}"
        raise refuse(Position(str(path), line, column), found, "text in UTF-8") from None


def refuse_cut(text: str, name: str, closing: str = "") -> None:
    """Raise TopologyError when ``text`` stops within a line.

    ``closing`` are characters that end something by themselves, as a bracket does in YAML.
    """
    if text and not text.endswith(("\n", *closing)):
        raise refuse(Lines(text, name).at(len(text)), "no end of the last line", "a whole file (this one may be cut)")
