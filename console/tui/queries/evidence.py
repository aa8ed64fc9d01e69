"""The output that a number was read from, as the screens show it: safe lines and the place of the number."""

from benchconsole.topology.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A place in the text: line, column, and how many characters."""

    line: int
    column: int
    length: int


@dataclass(frozen=True, slots=True)
class OutputText:
    """One output of one test as safe lines. ``marked`` is where the value was read, None when it is not found."""

    command: str
    ending: str
    lines: tuple[str, ...]
    marked: MarkedText | None = None
    place: int = 0
    of: int = 0
