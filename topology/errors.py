"""Errors of a topology: place, what was found, what was expected; the caller formats them."""

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from msgspec import Struct

_NUMBER = re.compile(r"[0-9]+")


class Position(NamedTuple):
    """A place in a file; ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Problem(Struct, frozen=True):
    """One thing that is wrong: where, what was found, what was expected, what it may have meant."""

    where: Position
    found: str
    expected: str
    near: str | None = None

    def __str__(self) -> str:
        hint = f"; did you mean {self.near}?" if self.near else ""
        return f"{self.where}: {self.found}, expected {self.expected}{hint}"


class TopologyError(Exception):
    """A topology that cannot be used; ``problems`` holds every one that was found, in file order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda problem: problem.where))
        super().__init__("\n".join(str(problem) for problem in self.problems))


def refuse(where: Position, found: str, expected: str, near_match: str | None = None) -> TopologyError:
    """The error for a source that cannot be read any further."""
    return TopologyError([Problem(where, found, expected, near_match)])


class SelectionError(Exception):
    """A node selection that is empty, malformed, or names what the topology does not have."""


class RoutingError(Exception):
    """Two nodes between which the described links give no path."""


class NoPeerLinkError(RoutingError):
    """Traffic at one switch of an MLAG pair that could go on over the other only, and no peer link is described."""


def find_near(word: str, known: Iterable[str]) -> str | None:
    """The known name that ``word`` most likely meant, if any is close: one of the same numbers before all others."""
    known = list(known)
    if _NUMBER.search(word):
        plain = drop_zeros(word)
        same = next((name for name in known if name != word and drop_zeros(name) == plain), None)
        if same is not None:
            return same
    found = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    return found[0] if found else None


def drop_zeros(name: str) -> str:
    """``name`` without the zeros before its numbers: ``n01`` is n1."""
    return _NUMBER.sub(lambda number: number[0].lstrip("0") or "0", name)
