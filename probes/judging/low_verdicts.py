"""The low verdicts of a session that still count: a repeat takes back what it measured again.

A verdict rests on the tests whose numbers it is made of: one, or those of all flows of a bundle. It counts until every
one of them gave a result in a later round. So a repeat of a part of a bundle, or one that gave no result, leaves it
standing beside what the repeat shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from benchconsole.probes.model.judgement import ClosedRound, Level, Verdict, Yardstick
from benchconsole.probes.model.repeats import TestKey, make_test_key
from benchconsole.topology.grouping import group_by_key

LOW = (Level.FAIL, Level.WATCH)
"""Levels that a finding may speak of."""


def is_low(verdict: Verdict) -> bool:
    """Whether a finding may speak of it."""
    return verdict.level in LOW


@dataclass(slots=True, eq=False)
class _Low:
    """A low verdict, and the tests that it rests on which no later round measured again."""

    verdict: Verdict
    tests: set[TestKey]


class LowVerdicts:
    """Takes in the rounds of a session; within a stage in the order of their numbers, which is that of being newer."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._low: dict[str, list[_Low]] = {}
        self._resting: dict[str, dict[TestKey, list[_Low]]] = {}

    def is_next(self, judged: ClosedRound) -> bool:
        """Whether no newer round of the same stage was taken in before."""
        return self._last.get(judged.round.stage, 0) <= judged.round.number

    def add_round(self, judged: ClosedRound) -> None:
        """Take back what the tests of a round repeat, better or worse, and take in what is low in it."""
        stage = judged.round.stage
        self._last[stage] = judged.round.number
        resting = self._resting.setdefault(stage, {})
        if resting:
            self._take_back(stage, judged)
        low = [verdict for verdict in judged.verdicts if is_low(verdict)]
        if not low:
            return
        owners = {reading.id: result.test for result in judged.results for reading in result.measurements}
        tests = {test.id: test for test in judged.round.tests}
        for verdict in low:
            # A stored measurement may have been deleted by hand since.
            rests_on = [owners[name] for name in verdict.evidence if name in owners] or [tests[verdict.test]]
            added = _Low(verdict, {make_test_key(test, stage) for test in rests_on})
            self._low.setdefault(stage, []).append(added)
            for key in added.tests:
                resting.setdefault(key, []).append(added)

    def _take_back(self, stage: str, judged: ClosedRound) -> None:
        resting = self._resting[stage]
        for result in judged.results:
            if result.failure is None:
                key = make_test_key(result.test, stage)
                for each in resting.pop(key, ()):
                    each.tests.discard(key)
        self._low[stage] = [each for each in self._low[stage] if each.tests]

    def clear(self) -> None:
        """Forget every round."""
        self._last.clear()
        self._low.clear()
        self._resting.clear()

    def list_by_kind(self) -> dict[Yardstick, list[Verdict]]:
        """The verdicts that count, in the order of their rounds."""
        return group_by_key((each.kind, each) for each in sorted(self._list(), key=lambda each: each.round))

    def _list(self) -> Iterator[Verdict]:
        return (each.verdict for low in self._low.values() for each in low)
