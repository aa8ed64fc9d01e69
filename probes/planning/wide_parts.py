"""The parts of stages that are left out because they take more tests at once than may run: elements, points of sweeps.

A limit of one run (``--tests-at-once``) must not be passed, and half of such a part would say nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from benchconsole.probes.model.omission import Omission, OmissionReason
from benchconsole.probes.planning.sweeps import Point

_NAMED = 2
"""So many parts are all named; of more the first, and how many more there are."""


@dataclass(slots=True)
class WideParts:
    """Loads and points that take more than ``most`` tests at once, each with the number of its tests.

    ``loads`` are elements that a bundle fills, and clients of a point; ``points`` are those of sweeps of which nothing
    is left to run.
    """

    most: int
    loads: dict[str, int] = field(default_factory=dict)
    points: dict[Point, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.loads or self.points)

    @property
    def tests(self) -> int:
        """The tests of the widest of them; 0 where there is none."""
        return max((*self.loads.values(), *self.points.values()), default=0)

    def describe(self) -> str:
        """Why they are left out, in words; empty where there is none."""
        return "; ".join(self._list_reasons())

    def _list_reasons(self) -> Iterator[str]:
        limit = f"and the limit is --tests-at-once {self.most:,}"
        if self.loads:
            named = _name_some(list(self.loads))
            yield f"to fill {named} takes up to {max(self.loads.values()):,} tests at once, {limit}"
        if self.points:
            points = [" ".join(f"{name}={value}" for name, value in point) for point in self.points]
            take = "takes" if len(points) == 1 else "take up to"
            yield f"{_name_some(points)} {take} {max(self.points.values()):,} tests at once, {limit}"


def _name_some(names: Sequence[str]) -> str:
    """One or two names, else the first and how many more there are."""
    return " and ".join(names) if len(names) <= _NAMED else f"{names[0]} and {len(names) - 1:,} more"


def leave_out(what: str, why: str) -> Omission:
    """The omission of ``what`` because too few tests may run at once; ``why`` says which."""
    return Omission(f"{what} is not run: {why}", OmissionReason.TESTS_AT_ONCE)
