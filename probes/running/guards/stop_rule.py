"""The stop rule: the share of failed tests from which a run stops, because going on would do harm.

Only failures on the nodes count: a test that was not tried (unreachable, tool missing, held back, cancelled) and
one whose output only our own code failed to read are left out.

A running test counts as good. Rules that look at results as they come in stop too early, because tests that
fail end first: of 1,000 tests started together the first ten to end may be the only ten that fail.
"""

from collections import OrderedDict
from dataclasses import dataclass

from benchconsole.probes.model.measuring import FailedAt, Result, Test, TestOutcome
from benchconsole.topology.units import counted, percent

WINDOW = 100
"""Tests that the share is counted over; more while more are under way."""

_OURS = frozenset((FailedAt.PROBE, FailedAt.OUTPUT))
"""Failures of a probe's own code: they say nothing about the nodes."""


@dataclass(frozen=True, slots=True)
class StopRule:
    """Stop when at least ``share`` of the newest tests failed on the nodes, and at least ``least`` have ended.

    ``share`` is in (0, 1]; 1 stops only when every test fails. ValueError for anything else.
    """

    share: float = 0.2
    least: int = 10

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ValueError(f"stop rule: found a share of {self.share}, expected more than 0 and at most 1")
        if self.least < 1:
            raise ValueError(f"stop rule: found at least {self.least} tests, expected 1 or more")


class ErrorShare:
    """The newest tests in the order in which they were started, and whether each failed.

    ``because`` is a sentence with the reason to stop; empty while there is none.
    """

    def __init__(self, rule: StopRule) -> None:
        self.rule = rule
        self.because = ""
        self._failed: OrderedDict[str, bool | None] = OrderedDict()
        self._ended = 0
        self._errors = 0

    def note_start(self, test: Test) -> None:
        """Count a test that begins; the oldest that have ended make room for it."""
        self._forget(test.id)
        self._failed[test.id] = None
        under_way = len(self._failed) - self._ended
        while len(self._failed) > max(WINDOW, under_way):
            oldest, failed = next(iter(self._failed.items()))
            if failed is None:
                self._failed.move_to_end(oldest)
            else:
                self._forget(oldest)

    def note_result(self, result: Result) -> None:
        """Count a test that has ended, if its start was counted."""
        failure = result.failure
        if self._failed.get(result.test.id, True) is not None:
            return
        if failure is not None and (failure.stage.outcome is not TestOutcome.FAILED or failure.stage in _OURS):
            del self._failed[result.test.id]
        else:
            self._failed[result.test.id] = failure is not None
            self._ended += 1
            self._errors += failure is not None
        self._check()

    def _forget(self, test: str) -> None:
        failed = self._failed.pop(test, None)
        self._ended -= failed is not None
        self._errors -= failed is True

    def _check(self) -> None:
        tried = len(self._failed)
        if self.because or self._ended < self.rule.least or self._errors < self.rule.share * tried:
            return
        if self._errors:
            share = percent(self._errors / tried)
            self.because = (
                f"{self._errors:,} of the newest {counted(tried, 'test')} failed on the nodes ({share}; "
                f"the limit is {percent(self.rule.share)})"
            )
