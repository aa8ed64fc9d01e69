"""The guard of a run: one stop rule, one canary, and the event that ends the running tests.

The rule counts failures on the nodes only: tests that were not tried (unreachable, tool missing, held back,
cancelled) and those whose output only our own code failed to read are left out. A running test counts as good. Rules
that look at results as they come in stop too early, because tests that fail end first: of 1,000 tests started
together the first ten to end may be the only ten that fail.

The runner of tests waits for ``tripped`` (``probes.running.runner``); whoever starts rounds asks it before each.
"""

import asyncio
import sys
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import FailedAt, Result, Test, TestOutcome
from benchconsole.probes.running.guards.canary import Canary
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


NEVER = StopRule(least=sys.maxsize)
"""The rule that stops nothing."""


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


_LOG = ModuleLog(__name__)


class Guard:
    """Trips when the error share or the canary says so; ``because`` is then the reason in words.

    Entered as a context around all rounds of a run: the first of ``canaries`` that answers measures the usual round
    trip before anything is loaded, and watches until the context is left. ``canary`` is that one, None where
    there is none; ``wants_canary`` says that one was wanted. Tripped once, it stays tripped: a run that goes on gets a
    guard of its own.
    """

    def __init__(
        self, rule: StopRule | None = None, canaries: Sequence[Canary] = (), *, wants_canary: bool = False
    ) -> None:
        self.wants_canary = wants_canary or bool(canaries)
        self.tripped = asyncio.Event()
        self.because = ""
        self.canary: Canary | None = None
        self._share = ErrorShare(rule or StopRule())
        self._canaries = tuple(canaries)
        self._watch: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        for canary in self._canaries:
            if await canary.measure_usual():
                self.canary = canary
                self._watch = asyncio.create_task(self._follow(canary), name=str(canary))
                break
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait((self._watch,))

    def note_start(self, test: Test) -> None:
        self._share.note_start(test)

    def note_result(self, result: Result) -> None:
        """Count a result, which may not be stored yet; it may trip the guard."""
        self._share.note_result(result)
        if self._share.because:
            self.trip(self._share.because)

    def trip(self, because: str) -> None:
        """End the running tests; the first reason is kept."""
        if not self.tripped.is_set():
            _LOG.warning("", "hold: %s", because)
            self.because = because
            self.tripped.set()

    async def _follow(self, canary: Canary) -> None:
        """Trip also when the canary itself raises: without it nothing sees harm to others."""
        try:
            await canary.watch()
        except Exception as error:
            self.trip(f"{canary} is no longer watching: {type(error).__name__}: {error}")
            raise
        if canary.alarm.is_set():
            self.trip(canary.because)
