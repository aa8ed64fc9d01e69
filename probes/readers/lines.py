"""Lines of a captured output: those that were ended, without colour codes and overwritten progress.

A line without its end may be cut inside a number, so it is left out here and no parser sees it.
"""

import re
from collections.abc import Iterable, Iterator

from benchconsole.probes.api import ProbeOutputError

_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_RANK = re.compile(r"\[(?:[\w.-]{1,99}@)?\d+,\d+\](?:\[[\w.-]{1,80}:\d+\])?<stdout>: ?")
"""The tag that ``--tag-output`` of Open MPI puts in front of every line."""


def shorten(text: str, limit: int = 160) -> str:
    """``text`` as one printable line of at most ``limit`` characters, for a message."""
    printable = text[: 8 * limit]
    if not printable.isprintable():
        printable = "".join(letter if letter.isprintable() else " " for letter in printable)
    joined = " ".join(printable.split())
    return joined if len(joined) <= limit else joined[: limit - 1] + "…"


def strip_colours(text: str) -> str:
    """``text`` without the codes for colours and modes of the terminal that it was captured in."""
    return _COLOUR.sub("", text) if "\x1b" in text else text


def read_lines(text: str, longest: int | None = None) -> list[str]:
    """The ended lines of ``text`` without colour codes, each cut after ``longest`` characters.

    A line that progress overwrote is given in its last state.
    """
    ended = strip_colours(text).split("\n")[:-1]
    if "\r" in text:
        ended = [line.rstrip("\r").rpartition("\r")[2] for line in ended]
    return ended if longest is None else [line[:longest] for line in ended]


def join_lines(lines: Iterable[str]) -> str:
    """The text of ``lines``, each ended."""
    return "\n".join((*lines, ""))


def split_lines(text: str, longest: int | None = None) -> list[str]:
    """All lines of ``text``, also overwritten ones and the last without its end, to search them for complaints."""
    return [line[:longest] for line in strip_colours(text).splitlines()]


def strip_lines(text: str) -> list[str]:
    """``read_lines`` without the tag of an MPI rank and without blanks around each line."""
    return [_RANK.sub("", line.strip(), count=1).strip() for line in read_lines(text)]


def dedent_lines(text: str) -> list[str]:
    """``read_lines`` without the indentation that all lines share."""
    lines = read_lines(text)
    shared = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    return [line[shared:] for line in lines]


def split_fields(lines: Iterable[str], separator: str = ":") -> Iterator[tuple[str, str]]:
    """The ``key: value`` of every line that has both, without the blanks around them."""
    for line in lines:
        key, found, value = line.partition(separator)
        if found and key.strip() and value.strip():
            yield key.strip(), value.strip()


def find_matches(pattern: re.Pattern[str], lines: Iterable[str]) -> Iterator[re.Match[str]]:
    """The match of every line that is ``pattern`` from its begin to its end."""
    return filter(None, map(pattern.fullmatch, lines))


def find_match(pattern: re.Pattern[str], lines: Iterable[str]) -> re.Match[str] | None:
    """The match of the first line that is ``pattern`` from its begin to its end."""
    return next(find_matches(pattern, lines), None)


def search_lines(pattern: re.Pattern[str], lines: Iterable[str]) -> re.Match[str] | None:
    """The first place where a line holds ``pattern``."""
    return next(filter(None, map(pattern.search, lines)), None)


def refuse_lines(pattern: re.Pattern[str], lines: Iterable[str], expected: str) -> None:
    """Raise ProbeOutputError with the first line that holds ``pattern``."""
    if match := search_lines(pattern, lines):
        raise ProbeOutputError(shorten(match.string), expected)
