"""The guard of a run: one stop rule, one canary, and the event that ends the running tests.

The runner of tests waits for ``tripped`` (``probes.running.runner``); whoever starts rounds asks it before each.
"""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Protocol, Self

from benchconsole.probes.model.log_records import ModuleLog
from benchconsole.probes.model.measuring import Result, Test
from benchconsole.probes.running.guards.canary import Canary
from benchconsole.probes.running.guards.stop_rule import ErrorShare, StopRule

_LOG = ModuleLog(__name__)


class RoundGuard(Protocol):
    """The part of a guard that a runner uses."""

    tripped: asyncio.Event
    because: str

    def note_start(self, test: Test) -> None:
        """Count a test that begins."""

    def note_result(self, result: Result) -> None:
        """Count a result, which may not be stored yet."""


class Guard:
    """Trips when the error share or the canary says so; ``because`` is then the reason in words.

    Entered as a context around all rounds of a run: the first of ``canaries`` that answers measures the usual round
    trip before anything is loaded, and watches until the context is left. ``canary`` is that one, None where
    there is none. Tripped once, it stays tripped: a run that goes on gets a guard of its own.
    """

    def __init__(self, rule: StopRule | None = None, canaries: Sequence[Canary] = ()) -> None:
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
        """Count a test that begins."""
        self._share.note_start(test)

    def note_result(self, result: Result) -> None:
        """Count a result; it may trip the guard."""
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
