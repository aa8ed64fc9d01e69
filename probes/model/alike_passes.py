"""Verdicts that passed and are alike, in columns: reports count them and tell their range, and list none of them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import Result
from benchconsole.topology.grouping import group_by_key

if TYPE_CHECKING:
    from benchconsole.topology.arrays import Floats, Indices


@dataclass(frozen=True, slots=True, eq=False)
class AlikePasses:
    """Verdicts of one round that passed, and differ in test, value and wording only; each is of a test on one node.

    ``like`` is one of them. Of each: its ``result`` (a place in ``results``, those of the round) and its ``value`` in
    the unit of ``like``.
    """

    like: Verdict
    results: Sequence[Result]
    result: "Indices"
    value: "Floats"

    @property
    def lowest_share(self) -> float:
        """The lowest value / expected; 1 where that is no number."""
        return float((self.value / self.like.expected).min()) if self.like.expected else 1.0

    @property
    def lowest(self) -> Iterator[Result]:
        """The results with the lowest share; several where they are alike."""
        if not self.like.expected:
            return self.tested
        shares = self.value / self.like.expected
        return (self.results[place] for place in self.result[shares == shares.min()].tolist())

    @property
    def tested(self) -> Iterator[Result]:
        """The result that each is of."""
        return (self.results[place] for place in self.result.tolist())

    @property
    def nodes(self) -> Iterator[str]:
        """The node that each is of, by its id."""
        return (self.results[place].test.target.node.id for place in self.result.tolist())


def sort_values(values: Iterable[float], passed: Iterable[AlikePasses]) -> "Floats":
    """``values`` and those of ``passed``, the lowest first."""
    import numpy as np  # here: lists and sessions on screen do without it

    found = np.concatenate([np.array([*values], np.float64), *(each.value for each in passed)])
    found.sort()
    return found


def list_tested(passed: Iterable[AlikePasses]) -> Iterator[Result]:
    """The results that these verdicts are of, each once."""
    for own in group_by_key((id(each.results), each) for each in passed).values():
        places = set[int]().union(*(each.result.tolist() for each in own))
        yield from (own[0].results[place] for place in sorted(places))
