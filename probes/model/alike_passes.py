"""Verdicts that passed and are alike, in columns: reports count them and tell their range, and list none of them.

Lists and sessions on screen have none, and do without numpy.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from benchconsole.probes.model.judgement import Verdict
from benchconsole.probes.model.measuring import Result
from benchconsole.topology.grouping import group_by_key

if TYPE_CHECKING:
    from benchconsole.topology.arrays import Floats, Indices


class AlikePasses(Struct, frozen=True, eq=False):
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
    import numpy as np

    found = np.concatenate([np.array([*values], np.float64), *(each.value for each in passed)])
    found.sort()
    return found


def list_tested(passed: Iterable[AlikePasses]) -> Iterator[Result]:
    """The results that these verdicts are of, each once."""
    for results, places in _list_places(passed):
        yield from (results[place] for place in places.tolist())


def _list_places(passed: Iterable[AlikePasses]) -> Iterator[tuple[Sequence[Result], "Indices"]]:
    """The results of each round, with the places of those that have any of these verdicts."""
    by_round = group_by_key((id(each.results), each) for each in passed).values()
    if not by_round:
        return
    import numpy as np

    for own in by_round:
        results = own[0].results
        is_tested = np.zeros(len(results), bool)
        for each in own:
            is_tested[each.result] = True
        yield results, np.flatnonzero(is_tested)


class TestedNames:
    """The names of what verdicts in columns are of. Those of a round are read once, for however many columns it has."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[Sequence[Result], tuple[list[str], list[str]]]] = {}

    def list_tests(self, passed: Iterable[AlikePasses]) -> set[str]:
        """The ids of the tests that these verdicts are of."""
        return self._list(passed, 0)

    def list_nodes(self, passed: Iterable[AlikePasses]) -> set[str]:
        """The ids of the nodes that these verdicts are of."""
        return self._list(passed, 1)

    def _list(self, passed: Iterable[AlikePasses], which: int) -> set[str]:
        found: set[str] = set()
        for results, places in _list_places(passed):
            found.update(map(self._read_round(results)[which].__getitem__, places.tolist()))
        return found

    def _read_round(self, results: Sequence[Result]) -> tuple[list[str], list[str]]:
        # Beside the names stand the results, so that no others take their number.
        if id(results) not in self._read:
            tests = [result.test for result in results]
            names = [test.id for test in tests], [str(test.target.node.id) for test in tests]
            self._read[id(results)] = results, names
        return self._read[id(results)][1]
