"""Positions in the text of a foreign source, and the check that the text was not cut.

A last line without an end is an error: a name that was cut short is another name.
"""

from bisect import bisect_right

from benchconsole.topology.errors import Position, Problem, TopologyError


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


def refuse_cut(text: str, name: str, closing: str = "") -> None:
    """Raise TopologyError when ``text`` stops within a line.

    ``closing`` are characters that end something by themselves, as a bracket does in YAML.
    """
    if text and not text.endswith(("\n", *closing)):
        raise refuse(Lines(text, name).at(len(text)), "no end of the last line", "a whole file (this one may be cut)")
