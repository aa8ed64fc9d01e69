"""The output that a number was read from, as the screens show it: safe lines and the place of the number."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A place in the text: line, column, and how many characters.

    ``is_heading``: the value was read from what follows it, as a whole.
    """

    line: int
    column: int
    length: int
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class OutputText:
    """One output of one test as safe lines. ``marked`` is where the value was read, None when it is not found.

    ``is_cut``: the command wrote more than is kept of one.
    """

    command: str
    ending: str
    lines: tuple[str, ...]
    marked: MarkedText | None = None
    place: int = 0
    of: int = 0
    is_cut: bool = False
