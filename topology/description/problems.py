"""Collector of problems at places of one file, so that one mistake does not hide the next."""

from collections.abc import Callable
from dataclasses import dataclass

from benchconsole.topology.description.document import Document, Location
from benchconsole.topology.errors import Problem
from benchconsole.topology.units import UnitError


@dataclass(slots=True)
class ProblemReport:
    """Collects problems at locations of one document."""

    document: Document
    problems: list[Problem]

    def add(self, location: Location, found: str, expected: str, near_match: str | None = None) -> None:
        """Note a problem with the value at ``location``."""
        self.problems.append(Problem(self.document.at(location), found, expected, near_match))

    def add_key(self, location: Location, found: str, expected: str, near_match: str | None = None) -> None:
        """Note a problem with the key at ``location``."""
        self.problems.append(Problem(self.document.key_at(location), found, expected, near_match))

    def quantity(self, text: object, location: Location, read: Callable[[str], float]) -> float | None:
        """``text`` read by ``read``, or None and a problem."""
        try:
            return read(str(text))
        except UnitError as error:
            self.add(location, repr(text), error.expected, error.suggestion)
            return None
